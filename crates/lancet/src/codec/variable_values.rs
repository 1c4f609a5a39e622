//! Byte strings of any length: offsets and bytes as Arrow has them.

use std::ops::Range;

use super::size;
use crate::error::{Error, Result, ensure};

/// Byte strings: value `i` is `bytes[offsets[i]..offsets[i + 1]]`; `offsets` starts as `[0]`.
#[derive(Debug, PartialEq)]
pub(crate) struct VariableValues {
    pub(crate) offsets: Offsets,
    pub(crate) bytes: Vec<u8>,
}

/// Offsets in the width of the Arrow type, so that no conversion is needed at the end.
#[derive(Debug, PartialEq)]
pub(crate) enum Offsets {
    Bits32(Vec<i32>),
    Bits64(Vec<i64>),
}

impl Offsets {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Bits32(offsets) => size_of_val(offsets.as_slice()),
            Self::Bits64(offsets) => size_of_val(offsets.as_slice()),
        }
    }

    /// Appends `count` empty values.
    pub(super) fn repeat_last(&mut self, count: usize) {
        match self {
            Self::Bits32(o) => {
                o.resize(o.len().saturating_add(count), o.last().copied().unwrap_or(0));
            }
            Self::Bits64(o) => {
                o.resize(o.len().saturating_add(count), o.last().copied().unwrap_or(0));
            }
        }
    }

    /// Ends the next value at `end`.
    pub(crate) fn push(&mut self, end: usize) -> Result<()> {
        match self {
            Self::Bits32(offsets) => {
                offsets.push(i32::try_from(end).map_err(|_| offsets_overflow())?);
            }
            Self::Bits64(offsets) => {
                offsets.push(i64::try_from(end).map_err(|_| offsets_overflow())?);
            }
        }
        Ok(())
    }

    /// Bits of one offset.
    pub(crate) fn bits(&self) -> u64 {
        match self {
            Self::Bits32(_) => 32,
            Self::Bits64(_) => 64,
        }
    }
}

impl VariableValues {
    pub(crate) fn new(offset_bits: u64) -> Self {
        let offsets =
            if offset_bits == 64 { Offsets::Bits64(vec![0]) } else { Offsets::Bits32(vec![0]) };
        Self { offsets, bytes: Vec::new() }
    }

    /// Values that lie back to back in `bytes`; `ends` says where each ends.
    pub(crate) fn from_ends(bytes: Vec<u8>, ends: &[u64], offset_bits: u64) -> Result<Self> {
        fn offsets<T: OffsetWord>(first: T, ends: &[u64]) -> Result<Vec<T>> {
            let ends = ends.iter().map(|end| T::from_size(size(*end)?));
            std::iter::once(Ok(first)).chain(ends).collect()
        }
        let offsets = match offset_bits {
            64 => Offsets::Bits64(offsets(0_i64, ends)?),
            _ => Offsets::Bits32(offsets(0_i32, ends)?),
        };
        Ok(Self { offsets, bytes })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.offsets {
            Offsets::Bits32(offsets) => offsets.len(),
            Offsets::Bits64(offsets) => offsets.len(),
        }
        .saturating_sub(1)
    }

    /// Bytes of the offsets and of the values.
    pub(crate) fn size_bytes(&self) -> usize {
        self.offsets.size_bytes().saturating_add(self.bytes.len())
    }

    /// Appends values that lie back to back in `bytes`; `offsets` says where each starts, and where
    /// the last one ends.
    pub(crate) fn append_spans(
        &mut self,
        bytes: &[u8],
        mut offsets: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Result<()> {
        fn extend<T: OffsetWord>(to: &mut Vec<T>, ends: impl Iterator<Item = usize>) {
            to.extend(ends.map(T::from_checked));
        }
        let Some(first) = offsets.next() else { return Ok(()) };
        let bytes = bytes.get(first..offsets.clone().last().unwrap_or(first));
        ensure!(bytes.is_some(), "strings end beyond their bytes");
        let bytes = bytes.unwrap_or_default();
        self.reserve_bytes(bytes.len())?;
        let start = self.bytes.len();
        let ends = offsets.map(|offset| offset.saturating_sub(first).saturating_add(start));
        match &mut self.offsets {
            Offsets::Bits32(to) => extend(to, ends),
            Offsets::Bits64(to) => extend(to, ends),
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends the current value where `bytes` ends now.
    pub(crate) fn close_value(&mut self) -> Result<()> {
        self.offsets.push(self.bytes.len())
    }

    /// Where value `index` starts, or ends for `index - 1`.
    fn offset(&self, index: usize) -> Option<usize> {
        match &self.offsets {
            Offsets::Bits32(o) => o.get(index).and_then(|&o| usize::try_from(o).ok()),
            Offsets::Bits64(o) => o.get(index).and_then(|&o| usize::try_from(o).ok()),
        }
    }

    /// The bytes of the values `range`, back to back.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Result<&[u8]> {
        let span = self.offset(range.start).zip(self.offset(range.end));
        let bytes = span.and_then(|(start, end)| self.bytes.get(start..end));
        ensure!(bytes.is_some(), "values {range:?} do not exist, there are {}", self.len());
        Ok(bytes.unwrap_or_default())
    }

    /// Makes sure that `additional` more bytes can be addressed, then reserves them.
    pub(crate) fn reserve_bytes(&mut self, additional: usize) -> Result<()> {
        let end = self.bytes.len().checked_add(additional).ok_or_else(offsets_overflow)?;
        let fits = match &self.offsets {
            Offsets::Bits32(_) => i32::try_from(end).is_ok(),
            Offsets::Bits64(_) => i64::try_from(end).is_ok(),
        };
        if !fits {
            return Err(offsets_overflow());
        }
        self.bytes.reserve(additional);
        Ok(())
    }

    pub(super) fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        let bytes = from.bytes(range.clone())?;
        self.reserve_bytes(bytes.len())?;
        let (start, end) = (self.bytes.len(), range.end.saturating_add(1));
        match (&mut self.offsets, &from.offsets) {
            (Offsets::Bits32(to), Offsets::Bits32(from)) => {
                extend_rebased(to, from.get(range.start..end).unwrap_or_default(), start)?;
            }
            (Offsets::Bits64(to), Offsets::Bits64(from)) => {
                extend_rebased(to, from.get(range.start..end).unwrap_or_default(), start)?;
            }
            _ => return Err(Error::invalid("offsets of different widths cannot be joined")),
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends one value.
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(value);
        self.close_value()
    }

    /// Appends a value whose bytes are there already, after those of the value before.
    pub(crate) fn push_placed(&mut self, len: usize) -> Result<()> {
        let end = self.offset(self.len()).and_then(|start| start.checked_add(len));
        let end = end.filter(|end| *end <= self.bytes.len());
        self.offsets.push(end.ok_or_else(|| Error::corrupt("values end beyond their bytes"))?)
    }

    /// The bytes of value `index`.
    pub(crate) fn value(&self, index: usize) -> Result<&[u8]> {
        self.bytes(index..index.saturating_add(1))
    }

    /// Where the value lies that has the byte at `position`.
    pub(crate) fn span_at(&self, position: usize) -> Option<Range<usize>> {
        fn find<T: OffsetWord>(offsets: &[T], position: usize) -> Option<Range<usize>> {
            let at = T::from_size(position).ok()?;
            let end = offsets.partition_point(|offset| *offset <= at);
            let start = offsets.get(end.checked_sub(1)?)?.to_size().ok()?;
            Some(start..offsets.get(end)?.to_size().ok()?)
        }
        match &self.offsets {
            Offsets::Bits32(offsets) => find(offsets, position),
            Offsets::Bits64(offsets) => find(offsets, position),
        }
    }
}

/// An offset in one of the two widths.
pub(super) trait OffsetWord: Copy + Ord {
    /// Reads a stored offset; `bytes` has the size of one.
    fn read(bytes: &[u8]) -> Self;
    fn from_size(size: usize) -> Result<Self>;
    /// As [`OffsetWord::from_size`], for a size that is not larger than one that was checked.
    fn from_checked(size: usize) -> Self;
    fn to_size(self) -> Result<usize>;
    /// The offset as seen from `start` instead of `first`. Wraps: callers check both ends.
    fn rebase(self, first: Self, start: Self) -> Self;
}

macro_rules! offset_word {
    ($word:ty) => {
        impl OffsetWord for $word {
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0, Self::from_le_bytes)
            }

            #[inline]
            fn from_size(size: usize) -> Result<Self> {
                Self::try_from(size).map_err(|_| offsets_overflow())
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "a larger size was checked")]
            fn from_checked(size: usize) -> Self {
                size as Self
            }

            #[inline]
            fn to_size(self) -> Result<usize> {
                usize::try_from(self).map_err(|_| out_of_range(self))
            }

            #[inline]
            fn rebase(self, first: Self, start: Self) -> Self {
                self.wrapping_sub(first).wrapping_add(start)
            }
        }
    };
}
offset_word!(i32);
offset_word!(i64);

/// Appends the offsets `from`, less the first one, to values whose bytes end at `start` so far.
fn extend_rebased<T: OffsetWord>(to: &mut Vec<T>, from: &[T], start: usize) -> Result<()> {
    let start = T::from_size(start)?;
    if let Some((&first, rest)) = from.split_first() {
        to.extend(rest.iter().map(|offset| offset.rebase(first, start)));
    }
    Ok(())
}

#[cold]
fn out_of_range(offset: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the offset {offset} is out of range"))
}

fn offsets_overflow() -> Error {
    Error::invalid(
        "one batch of this column holds more than 2 GiB, too much for its 32-bit offsets; \
         ask for fewer rows at a time",
    )
}
