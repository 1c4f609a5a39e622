//! Codes to values.
//!
//! A string ends in every other step of a few codes, which no processor foresees. So codes are
//! decoded in blocks, whatever the bounds of the values, and the place of each code is noted; where
//! values end is looked up afterwards.

use super::{ESCAPE, SymbolTable};
use crate::error::{Error, Result, ensure};

/// Codes decoded in one step.
const STEP: usize = 8;
/// What one step may write: eight symbols, and a whole word for the last of them.
const STEP_BYTES: usize = 72;
/// Codes decoded at once where none is an escape, and what they may write.
const BLOCK: usize = 64;
const BLOCK_BYTES: usize = 520;
/// Output is made room for in pieces of this size, so that a forged stream reserves no more than
/// it fills.
const MAX_GROWTH: usize = 4096;
/// Coded bytes that are decoded together at most. Chunks have some thousand, pages of 2.0 millions.
pub(super) const MAX_RUN: usize = 64 << 10;
/// The place of the byte behind an escape, where no value ends.
const INSIDE: u32 = u32::MAX;

impl SymbolTable {
    /// Appends the value that `coded` stands for.
    pub(crate) fn decode_value(&self, coded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if self.verbatim {
            out.extend_from_slice(coded);
            return Ok(());
        }
        let len_before = out.len();
        let decoded = self.decode_codes::<false>(coded, &mut Vec::new(), out);
        out.truncate(*decoded.as_ref().unwrap_or(&len_before));
        decoded.map(|_| ())
    }

    /// Appends all values of `coded`. Value after value, `ends` says where in `coded` it ends (the
    /// last one at the end of `coded`) and `on_end` hears where in `out` it ends. `places` is room
    /// to work in.
    ///
    /// After an error `out` is as it was.
    pub(crate) fn decode_run(
        &self,
        coded: &[u8],
        ends: impl Iterator<Item = usize>,
        places: &mut Vec<u32>,
        out: &mut Vec<u8>,
        on_end: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let len_before = out.len();
        let ends = Ends { ends, last: 0, coded_len: coded.len() };
        let decoded = if self.verbatim {
            copy_run(coded, ends, out, on_end)
        } else if coded.len() > MAX_RUN {
            self.decode_in_parts(coded, ends, places, out, on_end)
        } else {
            self.decode_together(coded, ends, places, out, on_end)
        };
        if decoded.is_err() {
            out.truncate(len_before);
        }
        decoded
    }

    /// Decodes whatever the bounds of the values, and then looks up where they are.
    fn decode_together(
        &self,
        coded: &[u8],
        mut ends: Ends<impl Iterator<Item = usize>>,
        places: &mut Vec<u32>,
        out: &mut Vec<u8>,
        mut on_end: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let start = out.len();
        let len = self.decode_codes::<true>(coded, places, out)?;
        out.truncate(len);
        while let Some(end) = ends.next()? {
            let place = places.get(end).copied().unwrap_or(INSIDE);
            ensure!(place != INSIDE, "a coded value ends with an escape");
            on_end(start.saturating_add(usize::try_from(place).unwrap_or(usize::MAX)))?;
        }
        ends.finish()
    }

    /// Decodes together what is not too long for it.
    fn decode_in_parts(
        &self,
        coded: &[u8],
        mut ends: Ends<impl Iterator<Item = usize>>,
        places: &mut Vec<u32>,
        out: &mut Vec<u8>,
        mut on_end: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let mut start = 0_usize;
        let mut part: Vec<usize> = Vec::new();
        loop {
            let end = ends.next()?;
            let is_far = |end: usize, start: usize| end.saturating_sub(start) > MAX_RUN;
            if end.is_none_or(|end| is_far(end, start))
                && let Some(coded_len) = part.last().copied()
            {
                let stop = start.saturating_add(coded_len);
                let ends = Ends { ends: part.drain(..), last: 0, coded_len };
                let coded = coded.get(start..stop).unwrap_or_default();
                self.decode_together(coded, ends, places, out, &mut on_end)?;
                start = stop;
            }
            match end {
                None => return ends.finish(),
                Some(end) if is_far(end, start) => {
                    self.decode_value(coded.get(start..end).unwrap_or_default(), out)?;
                    on_end(out.len())?;
                    start = end;
                }
                Some(end) => part.push(end.saturating_sub(start)),
            }
        }
    }

    /// Walks the codes in blocks, and in steps of eight where a block has an escape or is the last.
    /// Returns the length of the output; `out` itself is longer, by room for the next step.
    ///
    /// With `PLACES`, place `i` says where the output of code `i` starts, and the last one where all
    /// of it ends.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "`position` stays in `coded`, `len` in `out`; places are those of a short run"
    )]
    fn decode_codes<const PLACES: bool>(
        &self,
        coded: &[u8],
        places: &mut Vec<u32>,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        // All places up to the end are written below, so that old ones do no harm.
        if PLACES && places.len() < coded.len() + BLOCK {
            places.resize(coded.len() + BLOCK, 0);
        }
        let start = out.len();
        let mut len = start;
        let mut position = 0;
        while position < coded.len() {
            let rest = coded.get(position..).unwrap_or_default();
            let here = places.get_mut(position..).unwrap_or_default();
            let first = (len - start) as u32;
            if let Some(codes) = rest.first_chunk()
                && self.all_known(codes)
            {
                let room = room_for::<BLOCK_BYTES>(out, len, rest.len())?;
                len += self.store_symbols::<PLACES, BLOCK, BLOCK_BYTES>(codes, room, here, first);
                position += BLOCK;
                continue;
            }
            let room = room_for::<STEP_BYTES>(out, len, rest.len())?;
            let codes = next_codes(rest);
            let word = u64::from_le_bytes(codes);
            self.store_symbols::<PLACES, STEP, STEP_BYTES>(&codes, room, here, first);
            let known = (self.without_symbol(word).trailing_zeros() >> 3) as usize;
            position += known;
            len += bytes_of(self.sum_lengths(word), known);
            if known < STEP && position < coded.len() {
                let literal = self.escaped(coded.get(position..).unwrap_or_default())?;
                if let Some(byte) = out.get_mut(len) {
                    *byte = literal;
                }
                if let Some(inside) = places.get_mut(position + 1).filter(|_| PLACES) {
                    *inside = INSIDE;
                }
                position += 2;
                len += 1;
            }
        }
        if let Some(last) = places.get_mut(coded.len()).filter(|_| PLACES) {
            *last = (len - start) as u32;
        }
        Ok(len)
    }

    /// Whether all codes of a block have a symbol.
    #[inline]
    fn all_known(&self, codes: &[u8; BLOCK]) -> bool {
        let words = codes.as_chunks().0.iter().map(|codes| u64::from_le_bytes(*codes));
        words.fold(0, |unknown, codes| unknown | self.without_symbol(codes)) == 0
    }

    /// Stores the symbols of `N` codes one after the other, and returns how many bytes they are.
    /// Each is stored as a whole word, over the unused end of the one before. `places` hears where
    /// each starts, counted from `first`.
    #[inline(always)]
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a byte is an index of 256 entries; lengths of at most 8"
    )]
    fn store_symbols<const PLACES: bool, const N: usize, const BYTES: usize>(
        &self,
        codes: &[u8; N],
        room: &mut [u8; BYTES],
        places: &mut [u32],
        first: u32,
    ) -> usize {
        let mut unused = [0; N];
        let starts = if PLACES { places.first_chunk_mut() } else { None };
        let starts = starts.unwrap_or(&mut unused);
        let mut len = 0;
        for (code, start) in codes.iter().zip(starts) {
            let code = usize::from(*code);
            if PLACES {
                *start = first + len as u32;
            }
            if let Some(word) = room.get_mut(len..len + 8) {
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

/// The next eight codes; escapes stand in for what is missing.
#[inline]
fn next_codes(rest: &[u8]) -> [u8; STEP] {
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut codes = [ESCAPE; STEP];
        codes.iter_mut().zip(rest).for_each(|(code, &coded)| *code = coded);
        codes
    })
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
    #[inline(always)]
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

/// The verbatim form of [`SymbolTable::decode_together`].
fn copy_run(
    coded: &[u8],
    mut ends: Ends<impl Iterator<Item = usize>>,
    out: &mut Vec<u8>,
    mut on_end: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(coded);
    while let Some(end) = ends.next()? {
        on_end(start.saturating_add(end))?;
    }
    ends.finish()
}

/// The bytes of `out` from `start` on, which are made to suffice for `BYTES`; `codes` are left.
#[inline(always)]
fn room_for<const BYTES: usize>(
    out: &mut Vec<u8>,
    start: usize,
    codes: usize,
) -> Result<&mut [u8; BYTES]> {
    let end = start.saturating_add(BYTES);
    if out.len() < end {
        let growth = codes.saturating_mul(8).min(MAX_GROWTH);
        out.resize(end.saturating_add(growth), 0);
    }
    let room = out.get_mut(start..).and_then(|room| room.first_chunk_mut());
    room.ok_or_else(|| Error::invalid("values too long for this machine"))
}
