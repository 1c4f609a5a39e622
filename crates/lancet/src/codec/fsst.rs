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

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table of a page of 1,100 strings, as the reference wrote it.
    const REFERENCE: &[u8] = include_bytes!("../../tests/data/fsst_table.bin");

    const CODED: [&[u8]; 4] = [
        &[0x7c, 0xae, 0x81, 0xa5, 0xad, 0x22, 0x71, 0xe6, 0xd5],
        &[0xa5, 0xab, 0xa8, 0xa9, 0x77, 0xa3, 0xb7, 0x82, 0x76, 0x15, 0x8b, 0xe5],
        &[0xa2, 0x7d, 0x90, 0xfb, 0x05, 0x6d, 0xdb],
        &[0x86, 0x85, 0x93, 0xa3, 0x51],
    ];
    const PLAIN: [&str; 4] = [
        "east user-agent category temperature=0",
        "category https://example.org/path/ 2024-01-0 temperature= epsilon1",
        "temperature= delta item2",
        "item north item 2024-01-03",
    ];

    fn table_of(symbols: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![symbols.len() as u8, 7, 7, 1];
        bytes.extend(MAGIC);
        for symbol in symbols {
            bytes.extend_from_slice(symbol);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes.extend(symbols.iter().map(|symbol| symbol.len() as u8));
        bytes.resize(TABLE_BYTES, 0);
        bytes
    }

    /// Decodes the values one by one and in one run; both must agree.
    fn decode(table: &SymbolTable, values: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let mut run = b"before".to_vec();
        let mut run_ends = vec![run.len()];
        let ends = values.iter().scan(0, |end, value| {
            *end += value.len();
            Some(*end)
        });
        let whole = table.decode_run(&values.concat(), ends, &mut run, |end| {
            run_ends.push(end);
            Ok(())
        });
        let one_by_one: Result<Vec<_>> = values
            .iter()
            .map(|value| {
                let mut out = Vec::new();
                table.decode_value(value, &mut out).map(|()| out)
            })
            .collect();
        match &one_by_one {
            Ok(one_by_one) => {
                whole.unwrap();
                assert_eq!(run.len(), *run_ends.last().unwrap());
                let in_run: Vec<_> =
                    run_ends.windows(2).map(|w| run[w[0]..w[1]].to_vec()).collect();
                assert_eq!(&in_run, one_by_one);
            }
            Err(_) => {
                whole.unwrap_err();
                assert_eq!(run, b"before");
            }
        }
        one_by_one
    }

    fn rule(result: Result<impl fmt::Debug>) -> String {
        match result.unwrap_err() {
            Error::Corrupt(corrupt) => corrupt.rule,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn reads_the_table_and_the_values_of_the_reference() {
        let table = SymbolTable::parse(REFERENCE).unwrap();
        assert_eq!(table.num_symbols, 255);
        assert_eq!(decode(&table, &CODED).unwrap(), PLAIN.map(|plain| plain.as_bytes().to_vec()));
        // The hints of the encoder are all that is lost.
        let mut expected = REFERENCE.to_vec();
        expected[1..3].fill(0);
        assert_eq!(table.to_bytes(), expected);
    }

    #[test]
    fn a_table_that_is_switched_off_stands_for_verbatim_values() {
        let mut stored = vec![0; TABLE_BYTES];
        stored[4..8].copy_from_slice(&[0x54, 0x53, 0x53, 0x46]);
        let table = SymbolTable::parse(&stored).unwrap();
        assert_eq!(table, SymbolTable::verbatim());
        assert_eq!(table.to_bytes(), stored);
        let values: [&[u8]; 3] = [b"\xff\x00", b"", b"plain"];
        assert_eq!(decode(&table, &values).unwrap(), values.map(<[u8]>::to_vec));
    }

    #[test]
    fn symbols_escapes_and_ends_anywhere_in_a_step() {
        let table = SymbolTable::parse(&table_of(&[b"12345678", b"a", b"bc\0"])).unwrap();
        let symbols: [&[u8]; 3] = [b"12345678", b"a", b"bc\0"];
        for escape_at in 0..20 {
            for len in 0..20 {
                let mut coded = Vec::new();
                let mut plain = Vec::new();
                for i in 0..len {
                    if i == escape_at {
                        coded.extend([255, 255]);
                        plain.push(255);
                    } else {
                        coded.push((i % 3) as u8);
                        plain.extend_from_slice(symbols[i % 3]);
                    }
                }
                let decoded = decode(&table, &[&coded, b"", &coded, &[1], &coded]).unwrap();
                assert_eq!(decoded, [&plain[..], b"", &plain, b"a", &plain]);
            }
        }
    }

    #[test]
    fn every_number_of_symbols_has_its_first_unknown_code() {
        for num_symbols in 0..=255_usize {
            let symbols: Vec<[u8; 1]> = (0..num_symbols).map(|code| [code as u8]).collect();
            let symbols: Vec<&[u8]> = symbols.iter().map(|symbol| &symbol[..]).collect();
            let table = SymbolTable::parse(&table_of(&symbols)).unwrap();
            for code in 0..255_u8 {
                for coded in [&[code][..], &[255, 0, 255, 9, 255, 7, 255, 6, code, 255, 3]] {
                    let result = decode(&table, &[coded]);
                    if usize::from(code) < num_symbols {
                        assert!(result.unwrap()[0].contains(&code));
                    } else {
                        let expected = format!(
                            "code {code} stands for no symbol; the table has {num_symbols}"
                        );
                        assert_eq!(rule(result), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn an_escape_needs_its_byte_in_the_same_value() {
        let table = SymbolTable::parse(REFERENCE).unwrap();
        for len in 0..18 {
            let coded = [vec![0; len], vec![255]].concat();
            assert_eq!(
                rule(decode(&table, &[&coded, &[1, 2, 3]])),
                "a coded value ends with an escape"
            );
        }
    }

    #[test]
    fn ends_must_lie_in_order_and_reach_the_end() {
        for table in [SymbolTable::parse(REFERENCE).unwrap(), SymbolTable::verbatim()] {
            for ends in [&[4, 3, 20][..], &[21], &[20, 12, 20], &[19], &[], &[usize::MAX]] {
                let run =
                    table.decode_run(&[0; 20], ends.iter().copied(), &mut Vec::new(), |_| Ok(()));
                rule(run);
            }
        }
    }

    #[test]
    fn an_error_of_the_listener_ends_the_run() {
        for table in [SymbolTable::parse(REFERENCE).unwrap(), SymbolTable::verbatim()] {
            let mut out = vec![1];
            let full = |_| Err(Error::invalid("full"));
            table.decode_run(&[0; 20], [4, 20].into_iter(), &mut out, full).unwrap_err();
            assert_eq!(out, [1]);
        }
    }

    #[test]
    fn broken_tables() {
        for len in [0, 8, TABLE_BYTES - 1, TABLE_BYTES + 1] {
            let mut table = REFERENCE.to_vec();
            table.resize(len, 0);
            assert!(rule(SymbolTable::parse(&table)).contains("2312 bytes"));
        }
        for (position, byte) in [(4, 0x53), (7, 0)] {
            let mut table = REFERENCE.to_vec();
            table[position] = byte;
            assert!(rule(SymbolTable::parse(&table)).contains("starts with"));
        }
        for length in [0, 9, 255] {
            let mut table = REFERENCE.to_vec();
            table[8 + 9 * 255 - 1] = length;
            assert_eq!(
                rule(SymbolTable::parse(&table)),
                format!("symbol 254 has {length} bytes, not 1 to 8")
            );
        }
    }

    #[test]
    fn training_is_deterministic_and_shrinks_text() {
        let values: Vec<String> = (0..20_000)
            .map(|i| format!("https://example.org/path/{}", i * 7919 % 10_007))
            .collect();
        let bytes = || values.iter().map(String::as_bytes);
        let trained = Trained::train(bytes());
        assert_eq!(trained.table, Trained::train(bytes()).table);
        assert_eq!(SymbolTable::parse(&trained.table.to_bytes()).unwrap(), trained.table);
        let mut coded = Vec::new();
        trained.encode_values(&bytes().collect::<Vec<_>>(), &mut coded, &mut Vec::new());
        assert!(coded.len() * 3 < values.concat().len(), "{} coded bytes", coded.len());
    }

    #[test]
    fn samples_are_spread_evenly() {
        let values: Vec<[u8; 1]> = (0..100).map(|i| [i]).collect();
        let sample = |n: usize| -> Vec<u8> {
            let values = values[..n].iter().flat_map(|value| [&value[..], &[]]);
            spread_sample(values, 8).concat()
        };
        assert_eq!(sample(0), [0_u8; 0]);
        assert_eq!(sample(8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(sample(9), [0, 2, 4, 6, 8]);
        assert_eq!(sample(17), [0, 4, 8, 12, 16]);
        assert_eq!(sample(100), [0, 16, 32, 48, 64, 80, 96]);
    }

    fn values() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop_oneof![Just(0), Just(255), b'a'..=b'd', any::<u8>()];
        prop::collection::vec(prop::collection::vec(byte, 0..40), 0..60)
    }

    proptest! {
        #[test]
        fn values_round_trip(values in values()) {
            let values: Vec<&[u8]> = values.iter().map(|value| &value[..]).collect();
            let trained = Trained::train(values.iter().copied());
            let coded: Vec<Vec<u8>> = values
                .iter()
                .map(|value| {
                    let mut coded = Vec::new();
                    trained.encode_values(&[*value], &mut coded, &mut Vec::new());
                    prop_assert!(coded.len() <= 2 * value.len());
                    Ok(coded)
                })
                .collect::<std::result::Result<_, TestCaseError>>()?;
            let coded: Vec<&[u8]> = coded.iter().map(|coded| &coded[..]).collect();
            prop_assert_eq!(decode(&trained.table, &coded).unwrap(), values.as_slice());

            let (mut bulk, mut ends) = (vec![1, 2], Vec::new());
            trained.encode_values(&values, &mut bulk, &mut ends);
            prop_assert_eq!(&bulk[2..], &coded.concat()[..]);
            let starts = [2].into_iter().chain(ends.iter().map(|&end| end as usize));
            let lens: Vec<_> = starts.zip(&ends).map(|(start, &end)| end as usize - start).collect();
            prop_assert_eq!(lens, coded.iter().map(|coded| coded.len()).collect::<Vec<_>>());
        }

        #[test]
        fn forged_codes_decode_or_fail(coded in prop::collection::vec(any::<u8>(), 0..100)) {
            let table = SymbolTable::parse(&table_of(&[&b"abc"[..]; 200])).unwrap();
            let _ = decode(&table, &[&coded, &coded]);
        }
    }
}
