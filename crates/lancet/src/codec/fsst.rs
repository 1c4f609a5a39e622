//! Strings coded with a symbol table (FSST): one byte stands for up to eight.
//!
//! The table, one for a page, is always 2,312 bytes:
//!
//! | offset | bytes | meaning |
//! |---|---|---|
//! | 0 | 1 | `N`, the number of symbols, 0 to 255 |
//! | 1 | 2 | hints for encoders, not looked at |
//! | 3 | 1 | bit 0: 1 = values are coded, 0 = values are stored verbatim |
//! | 4 | 4 | `54 53 53 46` |
//! | 8 | 8·N | symbols, each padded to eight bytes |
//! | 8+8N | N | symbol lengths, each 1 to 8 |
//! | 8+9N | rest | zeros |
//!
//! A coded value is a sequence of codes: `c < N` stands for symbol `c`, 255 for the byte that
//! follows it. A code never belongs to two values.

mod decode;

use std::fmt;

use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

/// Bytes of a stored table.
pub(crate) const TABLE_BYTES: usize = 2312;

/// Bytes that a coded byte stands for at most.
pub(crate) const MAX_EXPANSION: u64 = 8;

const MAGIC: [u8; 4] = *b"TSSF";
const ESCAPE: u8 = 255;

/// A symbol table, checked, ready to decode with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SymbolTable {
    verbatim: bool,
    num_symbols: u8,
    /// In each byte, what takes the lower seven bits of `num_symbols` to 128.
    to_top: u64,
    /// Symbols by code, first byte lowest.
    symbols: [u64; 256],
    /// Symbol lengths by code; 0 for codes without a symbol and for the escape.
    lengths: [u8; 256],
}

impl SymbolTable {
    /// Reads a stored table.
    pub(crate) fn parse(table: &[u8]) -> Result<Self> {
        ensure!(
            table.len() == TABLE_BYTES,
            "a symbol table has {TABLE_BYTES} bytes, this one {}",
            table.len()
        );
        let mut cursor = Cursor::new(table);
        let header = cursor.take(8, "symbol table header")?;
        let &[num_symbols, _, _, switch, ref magic @ ..] = header else {
            return Err(Error::corrupt("the symbol table has no header"));
        };
        ensure!(*magic == MAGIC, "a symbol table starts with {MAGIC:02x?}, this one {magic:02x?}");
        let mut parsed = Self::verbatim();
        if switch & 1 == 0 {
            return Ok(parsed);
        }
        parsed.verbatim = false;
        parsed.set_num_symbols(num_symbols);
        for symbol in parsed.symbols.iter_mut().take(usize::from(num_symbols)) {
            *symbol = cursor.u64("symbol")?;
        }
        let lengths = cursor.take(usize::from(num_symbols), "symbol lengths")?;
        for (code, (length, &stored)) in parsed.lengths.iter_mut().zip(lengths).enumerate() {
            ensure!((1..=8).contains(&stored), "symbol {code} has {stored} bytes, not 1 to 8");
            *length = stored;
        }
        Ok(parsed)
    }

    /// The table of values that are stored as they are.
    pub(crate) fn verbatim() -> Self {
        Self { verbatim: true, num_symbols: 0, to_top: 0, symbols: [0; 256], lengths: [0; 256] }
    }

    fn set_num_symbols(&mut self, num_symbols: u8) {
        self.num_symbols = num_symbols;
        let low = if num_symbols > 128 { num_symbols & 127 } else { num_symbols };
        self.to_top = u64::from_le_bytes([128_u8.saturating_sub(low); 8]);
    }

    /// The stored form of the table.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(TABLE_BYTES);
        bytes.extend_from_slice(&[self.num_symbols, 0, 0, u8::from(!self.verbatim)]);
        bytes.extend_from_slice(&MAGIC);
        let num_symbols = usize::from(self.num_symbols);
        bytes.extend(self.symbols.iter().take(num_symbols).flat_map(|symbol| symbol.to_le_bytes()));
        bytes.extend(self.lengths.iter().take(num_symbols));
        bytes.resize(TABLE_BYTES, 0);
        bytes
    }
}

/// A table trained on values, and what codes values with it.
pub(crate) struct Trained {
    pub(crate) table: SymbolTable,
    compressor: fsst::Compressor,
}

impl fmt::Debug for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trained").field("num_symbols", &self.table.num_symbols).finish()
    }
}

impl Trained {
    /// Values looked at in training; the same ones whatever the machine.
    const MAX_SAMPLE: usize = 8192;

    /// Trains a table on (a sample of) the values.
    pub(crate) fn train<'a>(values: impl Iterator<Item = &'a [u8]>) -> Self {
        let compressor = fsst::Compressor::train(&spread_sample(values, Self::MAX_SAMPLE));
        let mut table = SymbolTable::verbatim();
        table.verbatim = false;
        // A compressor has no more than 255 symbols.
        table.set_num_symbols(u8::try_from(compressor.n_symbols()).unwrap_or(ESCAPE));
        let trained = compressor.symbol_table().iter().zip(compressor.symbol_lengths());
        let places = table.symbols.iter_mut().zip(&mut table.lengths);
        for ((symbol, length), (trained_symbol, &trained_length)) in places.zip(trained) {
            *symbol = trained_symbol.to_u64();
            *length = trained_length;
        }
        Self { table, compressor }
    }

    /// Appends the codes of many values, and for each where it ends in `out`. Several values are
    /// coded at a time, which is faster than one after the other; the bytes are the same.
    pub(crate) fn encode_values(&self, values: &[&[u8]], out: &mut Vec<u8>, ends: &mut Vec<u64>) {
        const LANES: usize = fsst::Compressor::DEFAULT_BULK_LANES;
        self.compressor.compress_bulk_into::<LANES>(values, out, ends);
    }
}

/// Keeps every `2^k`-th of the values that are not empty, with `k` such that at most `max` stay.
#[expect(clippy::arithmetic_side_effects, reason = "counts values in memory; the step is > 0")]
fn spread_sample<'a>(values: impl Iterator<Item = &'a [u8]>, max: usize) -> Vec<&'a [u8]> {
    let mut sample: Vec<&[u8]> = Vec::new();
    let mut step = 1;
    for (index, value) in values.filter(|value| !value.is_empty()).enumerate() {
        if index % step != 0 {
            continue;
        }
        if sample.len() == max {
            let mut keep = false;
            sample.retain(|_| {
                keep = !keep;
                keep
            });
            step *= 2;
        }
        if index % step == 0 {
            sample.push(value);
        }
    }
    sample
}

#[cfg(test)]
#[path = "fsst_tests.rs"]
mod tests;
