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

use std::fmt;

use crate::cursor::Cursor;
use crate::error::{Error, Result, ensure};

/// Bytes of a stored table.
pub(crate) const TABLE_BYTES: usize = 2312;

/// Bytes that a coded byte stands for at most.
pub(crate) const MAX_EXPANSION: u64 = 8;

const MAGIC: [u8; 4] = *b"TSSF";
const ESCAPE: u8 = 255;
/// Codes decoded in one step.
const STEP: usize = 8;
/// What one step may write: eight symbols, and a whole word for the last of them.
const STEP_BYTES: usize = 72;
/// Output is made room for in pieces of this size, so that a forged stream reserves no more than
/// it fills.
const MAX_GROWTH: usize = 4096;

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

    /// Appends the value that `coded` stands for.
    pub(crate) fn decode_value(&self, coded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.decode_run(coded, std::iter::once(coded.len()), out, |_| Ok(()))
    }

    /// Appends all values of `coded`. Value after value, `ends` says where in `coded` it ends (the
    /// last one at the end of `coded`) and `on_end` hears where in `out` it ends.
    ///
    /// After an error `out` is as it was.
    pub(crate) fn decode_run(
        &self,
        coded: &[u8],
        ends: impl Iterator<Item = usize>,
        out: &mut Vec<u8>,
        on_end: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let len_before = out.len();
        let ends = Ends { ends, last: 0, coded_len: coded.len() };
        let decoded = if self.verbatim {
            copy_run(coded, ends, out, on_end)
        } else {
            self.decode_codes(coded, ends, out, on_end)
        };
        out.truncate(*decoded.as_ref().unwrap_or(&len_before));
        decoded.map(|_| ())
    }

    /// Walks the codes in steps of eight, whatever the bounds of the values: a value that ends
    /// within a step finds its end among the sums of the step. Returns the length of the output;
    /// `out` itself is longer, by room for the next step.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`position` stays in `coded` and not behind the next end, `len` stays in `out`"
    )]
    fn decode_codes(
        &self,
        coded: &[u8],
        mut ends: Ends<impl Iterator<Item = usize>>,
        out: &mut Vec<u8>,
        mut on_end: impl FnMut(usize) -> Result<()>,
    ) -> Result<usize> {
        let mut len = out.len();
        let mut position = 0;
        let mut next_end = ends.next()?;
        while let Some(end) = next_end {
            let rest = coded.get(position..).unwrap_or_default();
            let room = room_for_step(out, len, rest.len())?;
            let codes = next_codes(rest);
            let bytes = self.store_symbols(codes, room);
            let known = (self.without_symbol(codes).trailing_zeros() >> 3) as usize;
            if end - position <= known {
                let sums = self.sum_lengths(codes);
                while let Some(end) = next_end.filter(|end| end - position <= known) {
                    on_end(len + bytes_of(sums, end - position))?;
                    next_end = ends.next()?;
                }
            }
            // The processor foresees this branch, and does not wait for `known`.
            if known == STEP {
                position += STEP;
                len += bytes;
                continue;
            }
            position += known;
            len += bytes_of(self.sum_lengths(codes), known);
            if let Some(end) = next_end {
                let literal = self.escaped(coded.get(position..end).unwrap_or_default())?;
                if let Some(byte) = out.get_mut(len) {
                    *byte = literal;
                }
                position += 2;
                len += 1;
            }
        }
        ends.finish()?;
        Ok(len)
    }

    /// Stores the symbols of eight codes one after the other, and returns how many bytes they are.
    /// Each is stored as a whole word, over the unused end of the one before.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 entries")]
    #[expect(clippy::arithmetic_side_effects, reason = "eight lengths of at most 8")]
    fn store_symbols(&self, codes: u64, room: &mut [u8; STEP_BYTES]) -> usize {
        let mut len = 0;
        for i in 0..STEP {
            let code = code_at(codes, i);
            // The mask changes nothing; it spares the bounds check.
            let start = len & 63;
            if let Some(word) = room.get_mut(start..start + 8) {
                word.copy_from_slice(&self.symbols[code].to_le_bytes());
            }
            len += usize::from(self.lengths[code]);
        }
        len
    }

    /// Byte `i` of the sums: output bytes of the codes up to and with `i`.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 entries")]
    fn sum_lengths(&self, codes: u64) -> u64 {
        let lengths = (0..STEP)
            .rev()
            .fold(0, |higher: u64, i| higher << 8 | u64::from(self.lengths[code_at(codes, i)]));
        // Lengths are at most 8: no byte overflows into the next.
        lengths.wrapping_mul(0x0101_0101_0101_0101)
    }

    /// Marks the codes that have no symbol, the escape among them, by the top bit of their byte.
    #[inline]
    fn without_symbol(&self, codes: u64) -> u64 {
        const TOP: u64 = 0x8080_8080_8080_8080;
        // The top bit of a byte of `reached` says that its lower seven bits reach those of `N`.
        let reached = (codes & !TOP).wrapping_add(self.to_top);
        (if self.num_symbols > 128 { reached & codes } else { reached | codes }) & TOP
    }

    /// The byte behind an escape; `rest` is what is left of the value.
    #[cold]
    fn escaped(&self, rest: &[u8]) -> Result<u8> {
        match rest {
            &[ESCAPE, literal, ..] => Ok(literal),
            &[ESCAPE] => Err(Error::corrupt("a coded value ends with an escape")),
            rest => Err(Error::corrupt(format!(
                "code {} stands for no symbol; the table has {}",
                rest.first().copied().unwrap_or_default(),
                self.num_symbols
            ))),
        }
    }
}

/// The next eight codes, first one lowest; escapes stand in for what is missing.
#[inline]
fn next_codes(rest: &[u8]) -> u64 {
    u64::from_le_bytes(rest.first_chunk().copied().unwrap_or_else(|| {
        let mut codes = [ESCAPE; STEP];
        codes.iter_mut().zip(rest).for_each(|(code, &coded)| *code = coded);
        codes
    }))
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "one byte is wanted")]
fn code_at(codes: u64, i: usize) -> usize {
    usize::from((codes >> i.wrapping_mul(8)) as u8)
}

/// Output bytes of the first `num_codes` codes of a step.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "one byte")]
fn bytes_of(sums: u64, num_codes: usize) -> usize {
    // Lifts byte `num_codes - 1` to the top; nothing is left of it for no codes.
    let unwanted_bits = 64_u32.wrapping_sub((num_codes as u32).wrapping_mul(8));
    (sums.unbounded_shl(unwanted_bits) >> 56) as usize
}

/// Where values end in the coded bytes, checked.
struct Ends<I> {
    ends: I,
    last: usize,
    coded_len: usize,
}

impl<I: Iterator<Item = usize>> Ends<I> {
    #[inline]
    fn next(&mut self) -> Result<Option<usize>> {
        let Some(end) = self.ends.next() else { return Ok(None) };
        ensure!(
            self.last <= end && end <= self.coded_len,
            "a coded value ends at byte {end}, outside of {} to {}",
            self.last,
            self.coded_len
        );
        self.last = end;
        Ok(Some(end))
    }

    fn finish(&self) -> Result<()> {
        ensure!(
            self.last == self.coded_len,
            "the last coded value ends at byte {} of {}",
            self.last,
            self.coded_len
        );
        Ok(())
    }
}

/// The verbatim form of [`SymbolTable::decode_codes`].
fn copy_run(
    coded: &[u8],
    mut ends: Ends<impl Iterator<Item = usize>>,
    out: &mut Vec<u8>,
    mut on_end: impl FnMut(usize) -> Result<()>,
) -> Result<usize> {
    let start = out.len();
    out.extend_from_slice(coded);
    while let Some(end) = ends.next()? {
        on_end(start.saturating_add(end))?;
    }
    ends.finish()?;
    Ok(out.len())
}

/// The bytes of `out` from `start` on, which are made to suffice for a step; `codes` are left.
#[inline(always)]
fn room_for_step(out: &mut Vec<u8>, start: usize, codes: usize) -> Result<&mut [u8; STEP_BYTES]> {
    let end = start.saturating_add(STEP_BYTES);
    if out.len() < end {
        let growth = codes.saturating_mul(8).min(MAX_GROWTH);
        out.resize(end.saturating_add(growth), 0);
    }
    let room = out.get_mut(start..).and_then(|room| room.first_chunk_mut());
    room.ok_or_else(|| Error::invalid("values too long for this machine"))
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
