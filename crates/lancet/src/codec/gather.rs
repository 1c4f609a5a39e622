//! Dictionary lookup: indices into values.
//!
//! Indices are checked once, all of them, into a list in which a null slot has an index that no
//! dictionary has. The copying loops then need one test for both. Numbers without nulls are copied
//! at once, and looked at again only if an index was wrong.

use std::ops::Range;

use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;

use super::bitpack::Word;
use super::dictionary::Dictionary;
use super::variable_values::OffsetWord;
use super::{FixedValues, Offsets, Scratch, Values, VariableValues, size_u64};
use crate::error::{Error, Result, ensure};

/// The index of a null slot.
const NULL: u32 = u32::MAX;

impl Values {
    /// Appends `dictionary[index]` for each of `indices`, and a placeholder for each null slot.
    ///
    /// `validity` is a bitmap with a bit for each index, from bit 0 on; indices of null slots are
    /// not looked at. The new bytes are claimed: few bytes of indices make many of those.
    pub(crate) fn gather(
        &mut self,
        dictionary: &Dictionary,
        indices: &FixedValues,
        validity: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if validity.is_none() && self.gather_numbers(&dictionary.items, indices, scratch)? {
            return Ok(());
        }
        let mut checked = std::mem::take(&mut scratch.indices);
        checked.clear();
        check_indices(indices, dictionary.items.len(), &mut checked)?;
        if let Some(validity) = validity {
            ensure!(
                validity.len() >= indices.len().div_ceil(8),
                "{} indices have only {} bytes of validity",
                indices.len(),
                validity.len()
            );
            mask(&mut checked, validity);
        }
        ensure_found(&checked, indices, validity, dictionary.items.len())?;
        self.gather_checked(dictionary, &checked, scratch)?;
        scratch.indices = checked;
        Ok(())
    }

    /// Appends the numbers that the indices name, or nothing if an index names none; returns which.
    fn gather_numbers(
        &mut self,
        items: &Self,
        indices: &FixedValues,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let (Self::Fixed(out), Self::Fixed(items)) = (self, items) else { return Ok(false) };
        let copy = match (out.bits() == items.bits(), out.bits()) {
            (true, 16) => copy_numbers::<2>,
            (true, 32) => copy_numbers::<4>,
            (true, 64) => copy_numbers::<8>,
            (true, 128) => copy_numbers::<16>,
            _ => return Ok(false),
        };
        let bytes = size_u64(indices.len()).saturating_mul(out.bits() / 8);
        scratch.claim(bytes, "the values of a dictionary page")?;
        let len = out.len();
        let found = copy(items.data(), indices, out.push_room(indices.len())?);
        if !found {
            out.truncate(len);
            scratch.release(bytes);
        }
        Ok(found)
    }

    /// Appends a value `n` times; it is the only one of `item`.
    pub(crate) fn repeat(
        &mut self,
        item: &Dictionary,
        n: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match (self, &item.items) {
            (Self::Fixed(out), Self::Fixed(item))
                if out.bits() == item.bits() && out.width_bytes().is_some() =>
            {
                let bytes = size_u64(n.saturating_mul(item.data().len()));
                scratch.claim(bytes, "a constant column")?;
                repeat_fixed(item, n, out)
            }
            (out, _) => {
                let bytes = size_u64(n).saturating_mul(4);
                scratch.claim(bytes, "a constant column")?;
                out.gather_checked(item, &vec![0; n], scratch)?;
                scratch.release(bytes);
                Ok(())
            }
        }
    }

    fn gather_checked(
        &mut self,
        dictionary: &Dictionary,
        indices: &[u32],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !matches!(self, Self::Variable(_)) {
            let bytes = self.default_bytes(size_u64(indices.len()));
            scratch.claim(bytes, "the values of a dictionary page")?;
        }
        match (self, &dictionary.items) {
            (Self::Fixed(out), Self::Fixed(dictionary)) if out.bits() == dictionary.bits() => {
                gather_fixed(dictionary, indices, out)
            }
            (Self::Variable(out), Self::Variable(items)) => {
                match dictionary.short(indices.len(), scratch)? {
                    Some(short) => short.append(indices, out, scratch),
                    None => gather_variable(items, indices, out, scratch),
                }
            }
            // Lists and structs as dictionaries are rare: one by one is good enough.
            (out, dictionary) => indices.iter().try_for_each(|&index| match position(index) {
                Some(at) if index != NULL => out.append_range(dictionary, at..at.saturating_add(1)),
                _ => out.push_default(1),
            }),
        }
    }
}

/// Copies numbers of `W` bytes; returns whether there are all of them.
fn copy_numbers<const W: usize>(items: &[u8], indices: &FixedValues, to: &mut [u8]) -> bool {
    let (items, to) = (items.as_chunks::<W>().0, to.as_chunks_mut::<W>().0);
    let data = indices.data();
    match indices.bits() {
        8 => copy_all(items, data.iter().map(|index| usize::from(*index)), to),
        16 => {
            let words = data.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word));
            copy_all(items, words.map(usize::from), to)
        }
        32 => {
            let words = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            copy_all(items, words.map(|word| position(word).unwrap_or(usize::MAX)), to)
        }
        _ => false,
    }
}

/// Copies the items that are there; returns whether all are.
#[inline(always)]
fn copy_all<const W: usize>(
    items: &[[u8; W]],
    indices: impl ExactSizeIterator<Item = usize>,
    to: &mut [[u8; W]],
) -> bool {
    let mut found = indices.len() == to.len();
    for (to, index) in to.iter_mut().zip(indices) {
        match items.get(index) {
            Some(item) => *to = *item,
            None => found = false,
        }
    }
    found
}

pub(super) fn position(index: u32) -> Option<usize> {
    usize::try_from(index).ok()
}

/// Copies indices of any width; those that are no position in the dictionary become [`NULL`].
fn check_indices(indices: &FixedValues, num_items: usize, out: &mut Vec<u32>) -> Result<()> {
    let num_items = u32::try_from(num_items)
        .map_err(|_| Error::corrupt(format!("a dictionary has {num_items} items")))?;
    let data = indices.data();
    match indices.bits() {
        8 => check_words::<u8>(data, num_items, out),
        16 => check_words::<u16>(data, num_items, out),
        32 => check_words::<u32>(data, num_items, out),
        64 => check_words::<u64>(data, num_items, out),
        bits => return Err(Error::corrupt(format!("dictionary indices have {bits} bits"))),
    }
    Ok(())
}

fn check_words<T: Word>(data: &[u8], num_items: u32, out: &mut Vec<u32>) {
    out.extend(data.chunks_exact(size_of::<T>()).map(|word| {
        let index = u32::try_from(T::read(word).widen()).unwrap_or(NULL);
        if index < num_items { index } else { NULL }
    }));
}

/// Makes null slots [`NULL`].
fn mask(indices: &mut [u32], validity: &[u8]) {
    for (indices, bits) in indices.chunks_mut(8).zip(validity) {
        for (bit, index) in indices.iter_mut().enumerate() {
            // All bits, which is what `NULL` is, or none. A branch here was a sixth of a scan of nested columns.
            *index |= u32::from(bits >> bit & 1).wrapping_sub(1);
        }
    }
}

/// Every valid slot must have found its item.
fn ensure_found(
    checked: &[u32],
    indices: &FixedValues,
    validity: Option<&[u8]>,
    num_items: usize,
) -> Result<()> {
    let is_valid = |slot: usize| validity.is_none_or(|bits| is_set(bits, slot));
    // Nearly always there is nothing to find, which two counts tell.
    let num_lost = checked.iter().filter(|index| **index == NULL).count();
    let num_valid = validity.map_or(checked.len(), |bits| count_ones(bits, checked.len()));
    if num_lost.saturating_add(num_valid) == checked.len() {
        return Ok(());
    }
    let lost = |&(slot, &index): &(usize, &u32)| index == NULL && is_valid(slot);
    if let Some((slot, _)) = checked.iter().enumerate().find(lost) {
        let index = indices.bytes(slot..slot.saturating_add(1)).map(|bytes| {
            bytes.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        })?;
        return Err(Error::corrupt(format!(
            "slot {slot} has index {index}, but the dictionary has {num_items} items"
        )));
    }
    Ok(())
}

/// How many of the first `len` bits are set.
fn count_ones(bits: &[u8], len: usize) -> usize {
    let len = len.min(bits.len().saturating_mul(8));
    UnalignedBitChunk::new(bits, 0, len).count_ones()
}

/// Whether a bit is there and set.
pub(crate) fn is_set(bits: &[u8], place: usize) -> bool {
    bits.get(place >> 3).is_some_and(|byte| byte >> (place & 7) & 1 == 1)
}

fn gather_fixed(dictionary: &FixedValues, indices: &[u32], out: &mut FixedValues) -> Result<()> {
    let Some(width) = out.width_bytes() else {
        return gather_bits(dictionary, indices, out);
    };
    let to = out.push_room(indices.len())?;
    let items = dictionary.data();
    match width {
        1 => copy::<1>(items, indices, to),
        2 => copy::<2>(items, indices, to),
        4 => copy::<4>(items, indices, to),
        8 => copy::<8>(items, indices, to),
        16 => copy::<16>(items, indices, to),
        32 => copy::<32>(items, indices, to),
        _ => {
            for (to, &index) in to.chunks_exact_mut(width.max(1)).zip(indices) {
                let item = position(index).and_then(|at| {
                    let start = at.checked_mul(width)?;
                    items.get(start..start.checked_add(width)?)
                });
                if let Some(item) = item {
                    to.copy_from_slice(item);
                }
            }
        }
    }
    Ok(())
}

fn repeat_fixed(item: &FixedValues, n: usize, out: &mut FixedValues) -> Result<()> {
    let item = item.bytes(0..1)?;
    let to = out.push_room(n)?;
    match item.len() {
        1 => fill::<1>(item, to),
        2 => fill::<2>(item, to),
        4 => fill::<4>(item, to),
        8 => fill::<8>(item, to),
        16 => fill::<16>(item, to),
        width => to.chunks_exact_mut(width.max(1)).for_each(|to| to.copy_from_slice(item)),
    }
    Ok(())
}

fn fill<const W: usize>(item: &[u8], to: &mut [u8]) {
    if let Some(item) = item.first_chunk::<W>() {
        to.as_chunks_mut::<W>().0.fill(*item);
    }
}

/// Copies what is found; a null slot stays as it is.
fn copy<const W: usize>(items: &[u8], indices: &[u32], to: &mut [u8]) {
    let places = indices.iter().map(|&index| position(index).unwrap_or(usize::MAX));
    copy_all(items.as_chunks::<W>().0, places, to.as_chunks_mut::<W>().0);
}

fn gather_bits(dictionary: &FixedValues, indices: &[u32], out: &mut FixedValues) -> Result<()> {
    let mut found = indices.iter().map(|&i| position(i).is_some_and(|at| dictionary.bit(at)));
    let bits = arrow_buffer::MutableBuffer::collect_bool(indices.len(), |_| {
        found.next().unwrap_or_default()
    });
    out.append_bits(&bits, 0..indices.len())
}

fn gather_variable(
    dictionary: &VariableValues,
    indices: &[u32],
    out: &mut VariableValues,
    scratch: &mut Scratch,
) -> Result<()> {
    let items = dictionary.bytes.as_slice();
    match (&dictionary.offsets, &mut out.offsets) {
        (Offsets::Bits32(offsets), Offsets::Bits32(ends)) => {
            Items { offsets, bytes: items }.append(indices, ends, &mut out.bytes, scratch)
        }
        (Offsets::Bits64(offsets), Offsets::Bits64(ends)) => {
            Items { offsets, bytes: items }.append(indices, ends, &mut out.bytes, scratch)
        }
        _ => Err(Error::corrupt("a dictionary has offsets of another width than its column")),
    }
}

/// The strings of a dictionary.
struct Items<'a, T> {
    offsets: &'a [T],
    bytes: &'a [u8],
}

impl<T: OffsetWord> Items<'_, T> {
    fn append(
        &self,
        indices: &[u32],
        ends: &mut Vec<T>,
        bytes: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let lengths = indices.iter().map(|&index| self.span(index).len());
        let total = lengths.fold(0, usize::saturating_add);
        T::from_size(claim(total, bytes, scratch)?)?;
        ends.reserve(indices.len());
        bytes.reserve(total);
        for &index in indices {
            bytes.extend_from_slice(self.bytes.get(self.span(index)).unwrap_or_default());
            ends.push(T::from_checked(bytes.len()));
        }
        Ok(())
    }

    /// Where an item lies; nowhere for a null slot.
    #[inline]
    fn span(&self, index: u32) -> Range<usize> {
        let pair = position(index).and_then(|at| self.offsets.get(at..at.saturating_add(2)));
        match pair {
            Some(&[start, end]) => start.to_size().unwrap_or(0)..end.to_size().unwrap_or(0),
            _ => 0..0,
        }
    }
}

/// Claims the bytes that are appended; returns how many there will be.
pub(super) fn claim(total: usize, bytes: &[u8], scratch: &mut Scratch) -> Result<usize> {
    scratch.claim(size_u64(total), "the strings of a dictionary page")?;
    bytes.len().checked_add(total).ok_or_else(|| Error::corrupt("more bytes than memory has"))
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
