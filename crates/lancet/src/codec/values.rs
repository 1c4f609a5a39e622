//! The values of one leaf column as codecs see them: widths, offsets and bytes, no Arrow types.
//!
//! The same type is what decoders append to and what encoders read from. A decoder appends the
//! values of one chunk after another, over page boundaries, so a batch is built in place.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

use std::ops::Range;

use arrow_buffer::bit_mask;

use super::{ValueBuffer, byte_len, product, size};
use crate::error::{Error, Result, ensure};

/// What one value of a leaf looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Nothing is stored for a value (the null type, structs without fields).
    Nothing,
    /// `bits` bits a value: 1, or a multiple of 8.
    Fixed { bits: u64 },
    /// Bytes of any length, addressed by offsets of 32 or 64 bits.
    Variable { offset_bits: u64 },
    /// `dimension` items a value; items may be null.
    FixedSizeList { dimension: u64, item: Box<ValueType> },
    /// One value of each child (packed structs).
    Struct(Vec<ValueType>),
}

/// Values of one leaf.
#[derive(Debug, PartialEq)]
pub(crate) enum Values {
    Nothing { len: usize },
    Fixed(FixedValues),
    Variable(VariableValues),
    FixedSizeList(FixedSizeListValues),
    Struct { len: usize, children: Vec<Values> },
}

/// Fixed-width values back to back; a width of one bit is a bitmap (least significant bit first).
#[derive(Debug)]
pub(crate) struct FixedValues {
    pub(crate) bits: u64,
    pub(crate) len: usize,
    /// `ceil(len * bits / 8)` bytes, aligned for Arrow.
    pub(crate) data: ValueBuffer,
}

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

/// Fixed-size lists: `len * dimension` items and, when some item was stored with a validity
/// bitmap, one bit for each item (1 = valid).
#[derive(Debug, PartialEq)]
pub(crate) struct FixedSizeListValues {
    pub(crate) dimension: u64,
    pub(crate) len: usize,
    /// One-bit values, one for each item; `None` while every item is valid.
    pub(crate) item_validity: Option<FixedValues>,
    pub(crate) items: Box<Values>,
}

impl Values {
    /// No values yet.
    pub(crate) fn new(value_type: &ValueType) -> Self {
        match value_type {
            ValueType::Nothing => Self::Nothing { len: 0 },
            ValueType::Fixed { bits } => Self::Fixed(FixedValues::new(*bits)),
            ValueType::Variable { offset_bits } => {
                Self::Variable(VariableValues::new(*offset_bits))
            }
            ValueType::FixedSizeList { dimension, item } => {
                Self::FixedSizeList(FixedSizeListValues {
                    dimension: *dimension,
                    len: 0,
                    item_validity: None,
                    items: Box::new(Self::new(item)),
                })
            }
            ValueType::Struct(children) => {
                Self::Struct { len: 0, children: children.iter().map(Self::new).collect() }
            }
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nothing { len } | Self::Struct { len, .. } => *len,
            Self::Fixed(fixed) => fixed.len,
            Self::Variable(variable) => variable.len(),
            Self::FixedSizeList(list) => list.len,
        }
    }

    /// The bytes of all values, if they are fixed-width values back to back.
    pub(crate) fn into_flat_bytes(self) -> std::result::Result<ValueBuffer, Self> {
        match self {
            Self::Fixed(fixed) if fixed.width_bytes().is_some() => Ok(fixed.data),
            Self::FixedSizeList(mut list) if list.item_validity.is_none() => {
                let nothing = Box::new(Self::Nothing { len: 0 });
                let items = std::mem::replace(&mut list.items, nothing);
                items.into_flat_bytes().map_err(|items| {
                    *list.items = items;
                    Self::FixedSizeList(list)
                })
            }
            other => Err(other),
        }
    }

    /// Bytes the values take in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Nothing { .. } => 0,
            Self::Fixed(fixed) => fixed.data.len(),
            Self::Variable(variable) => {
                variable.offsets.size_bytes().saturating_add(variable.bytes.len())
            }
            Self::FixedSizeList(list) => {
                let validity = list.item_validity.as_ref().map_or(0, |v| v.data.len());
                validity.saturating_add(list.items.size_bytes())
            }
            Self::Struct { children, .. } => {
                children.iter().map(Self::size_bytes).fold(0, usize::saturating_add)
            }
        }
    }

    /// Bytes that `count` placeholders take at most.
    ///
    /// Widths come from the schema of a file and placeholders from no bytes at all, so nothing
    /// else bounds them: claim this before [`Values::push_default`].
    pub(crate) fn default_bytes(&self, count: u64) -> u64 {
        match self {
            Self::Nothing { .. } => 0,
            Self::Fixed(fixed) => count.saturating_mul(fixed.bits).div_ceil(8),
            Self::Variable(variable) => count.saturating_mul(variable.offsets.bits()).div_ceil(8),
            Self::FixedSizeList(list) => {
                let num_items = count.saturating_mul(list.dimension);
                list.items.default_bytes(num_items).saturating_add(num_items.div_ceil(8))
            }
            Self::Struct { children, .. } => {
                children.iter().map(|child| child.default_bytes(count)).fold(0, u64::saturating_add)
            }
        }
    }

    /// Appends `count` placeholders, zero or empty, for rows that are null.
    pub(crate) fn push_default(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Nothing { len } => *len = len.saturating_add(count),
            Self::Fixed(fixed) => fixed.push_zeros(count)?,
            Self::Variable(variable) => variable.offsets.repeat_last(count),
            Self::FixedSizeList(list) => {
                list.push_items(count, |items, count| items.push_default(count))?;
            }
            Self::Struct { len, children } => {
                children.iter_mut().try_for_each(|child| child.push_default(count))?;
                *len = len.saturating_add(count);
            }
        }
        Ok(())
    }

    /// Appends the values `range` of other values of the same type.
    pub(crate) fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        ensure!(
            range.start <= range.end && range.end <= from.len(),
            "values {range:?} do not exist, there are {}",
            from.len()
        );
        match (self, from) {
            (Self::Nothing { len }, Self::Nothing { .. }) => *len = len.saturating_add(range.len()),
            (Self::Fixed(fixed), Self::Fixed(from)) => fixed.append_range(from, range)?,
            (Self::Variable(variable), Self::Variable(from)) => {
                variable.append_range(from, range)?;
            }
            (Self::FixedSizeList(list), Self::FixedSizeList(from)) => {
                list.append_range(from, range)?;
            }
            (Self::Struct { len, children }, Self::Struct { children: from, .. }) => {
                for (child, from) in children.iter_mut().zip(from) {
                    child.append_range(from, range.clone())?;
                }
                *len = len.saturating_add(range.len());
            }
            _ => return Err(Error::invalid("values of different types cannot be joined")),
        }
        Ok(())
    }
}

impl PartialEq for FixedValues {
    fn eq(&self, other: &Self) -> bool {
        // Buffers themselves would also compare their capacities.
        (self.bits, self.len, &*self.data) == (other.bits, other.len, &*other.data)
    }
}

impl FixedValues {
    pub(crate) fn new(bits: u64) -> Self {
        Self { bits, len: 0, data: ValueBuffer::new() }
    }

    /// Bytes of one value; `None` for bitmaps.
    pub(crate) fn width_bytes(&self) -> Option<usize> {
        (self.bits.is_multiple_of(8)).then(|| usize::try_from(self.bits.checked_div(8)?).ok())?
    }

    /// Appends `count` zeros.
    pub(crate) fn push_zeros(&mut self, count: usize) -> Result<()> {
        let len = self.len.checked_add(count).ok_or_else(too_many)?;
        self.data.to_mut().resize(byte_len(len, self.bits)?, 0);
        self.len = len;
        Ok(())
    }

    /// Appends the values `range` of values of the same width that lie back to back in `source`.
    pub(crate) fn append_flat(&mut self, source: &[u8], range: Range<usize>) -> Result<()> {
        let Some(width) = self.width_bytes() else {
            return self.append_bits(source, range);
        };
        let span = product(range.start, width)?..product(range.end, width)?;
        let bytes = source.get(span);
        ensure!(bytes.is_some(), "values {range:?} end beyond {} bytes", source.len());
        self.data.to_mut().extend_from_slice(bytes.unwrap_or_default());
        self.len = self.len.checked_add(range.len()).ok_or_else(too_many)?;
        Ok(())
    }

    /// Appends the bits `range` of a bitmap.
    pub(crate) fn append_bits(&mut self, source: &[u8], range: Range<usize>) -> Result<()> {
        ensure!(self.bits == 1, "values of {} bits are no bitmap", self.bits);
        ensure!(
            range.end.div_ceil(8) <= source.len() && range.start <= range.end,
            "bits {range:?} end beyond {} bytes",
            source.len()
        );
        let start = self.len;
        self.push_zeros(range.len())?;
        bit_mask::set_bits(
            self.data.to_mut().as_slice_mut(),
            source,
            start,
            range.start,
            range.len(),
        );
        Ok(())
    }

    /// Appends `count` set bits to a bitmap.
    pub(crate) fn push_ones(&mut self, count: usize) -> Result<()> {
        ensure!(self.bits == 1, "values of {} bits are no bitmap", self.bits);
        const ONES: [u8; 64] = [0xff; 64];
        let mut left = count;
        while left > 0 {
            let step = left.min(512);
            self.append_bits(&ONES, 0..step)?;
            left = left.saturating_sub(step);
        }
        Ok(())
    }

    /// Appends the values `range` of others of the same width.
    pub(crate) fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        ensure!(
            self.bits == from.bits && range.end <= from.len,
            "values {range:?} of {} bits do not exist, there are {} of {} bits",
            self.bits,
            from.len,
            from.bits
        );
        self.append_flat(&from.data, range)
    }

    /// The bytes of the values `range`; not for bitmaps.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Result<&[u8]> {
        let width = self.width_bytes().unwrap_or_default();
        let span = product(range.start, width)?..product(range.end, width)?;
        let bytes = self.data.get(span).filter(|_| width > 0);
        ensure!(bytes.is_some(), "values {range:?} do not exist, there are {}", self.len);
        Ok(bytes.unwrap_or_default())
    }

    /// Whether bit `index` of a bitmap is set.
    pub(crate) fn bit(&self, index: usize) -> bool {
        let byte = index.checked_div(8).and_then(|byte| self.data.get(byte));
        let mask = 1_u8.rotate_left(u32::try_from(index.checked_rem(8).unwrap_or(0)).unwrap_or(0));
        self.bits == 1 && index < self.len && byte.is_some_and(|byte| byte & mask != 0)
    }
}

impl FixedSizeListValues {
    /// Appends `count` rows of valid items, which `append_items` appends to the items it is given.
    pub(crate) fn push_items(
        &mut self,
        count: usize,
        append_items: impl FnOnce(&mut Values, usize) -> Result<()>,
    ) -> Result<()> {
        let num_items = product(count, size(self.dimension)?)?;
        append_items(&mut self.items, num_items)?;
        if let Some(validity) = &mut self.item_validity {
            validity.push_ones(num_items)?;
        }
        self.len = self.len.checked_add(count).ok_or_else(too_many)?;
        Ok(())
    }

    /// The bitmap of the items, which from now on exists.
    pub(crate) fn validity_mut(&mut self) -> Result<&mut FixedValues> {
        if self.item_validity.is_none() {
            let mut validity = FixedValues::new(1);
            validity.push_ones(product(self.len, size(self.dimension)?)?)?;
            self.item_validity = Some(validity);
        }
        self.item_validity.as_mut().ok_or_else(too_many)
    }

    fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        let dimension = size(self.dimension)?;
        ensure!(self.dimension == from.dimension, "lists of different sizes cannot be joined");
        let items = product(range.start, dimension)?..product(range.end, dimension)?;
        let Some(validity) = &from.item_validity else {
            return self.push_items(range.len(), |to, _| to.append_range(&from.items, items));
        };
        self.validity_mut()?.append_range(validity, items.clone())?;
        self.items.append_range(&from.items, items)?;
        self.len = self.len.checked_add(range.len()).ok_or_else(too_many)?;
        Ok(())
    }
}

impl Offsets {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Bits32(offsets) => size_of_val(offsets.as_slice()),
            Self::Bits64(offsets) => size_of_val(offsets.as_slice()),
        }
    }

    /// Appends `count` empty values.
    fn repeat_last(&mut self, count: usize) {
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

    fn append_range(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
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

fn too_many() -> Error {
    Error::invalid("one batch of this column holds more values than fit into memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(bits: &[bool]) -> FixedValues {
        let mut values = FixedValues::new(1);
        for &bit in bits {
            values.append_bits(&[u8::from(bit)], 0..1).unwrap();
        }
        values
    }

    #[test]
    fn bits_are_copied_from_any_offset_to_any_offset() {
        let source: Vec<bool> = (0..700).map(|i| i * i % 7 < 3).collect();
        let from = bitmap(&source);
        for (before, range) in
            [(0, 0..700), (1, 0..1), (3, 13..17), (7, 64..640), (9, 5..699), (64, 8..8)]
        {
            let mut to = bitmap(&source[..before]);
            to.append_range(&from, range.clone()).unwrap();
            let expected = [&source[..before], &source[range]].concat();
            let seen: Vec<bool> = (0..to.len).map(|i| to.bit(i)).collect();
            assert_eq!(seen, expected);
            assert_eq!(to.data.len(), to.len.div_ceil(8));
        }
        assert!(!from.bit(700));
    }

    #[test]
    fn ranges_of_every_type_are_appended() {
        let list = ValueType::FixedSizeList {
            dimension: 2,
            item: Box::new(ValueType::Fixed { bits: 24 }),
        };
        let variable = |offset_bits| ValueType::Variable { offset_bits };
        let all = ValueType::Struct(vec![
            ValueType::Nothing,
            ValueType::Fixed { bits: 24 },
            variable(32),
            variable(64),
            list,
        ]);
        let mut from = Values::new(&all);
        from.push_default(1).unwrap();
        let Values::Struct { children, .. } = &mut from else { panic!() };
        let [_, Values::Fixed(fixed), Values::Variable(a), Values::Variable(b), _] =
            &mut children[..]
        else {
            panic!()
        };
        fixed.append_flat(&[0, 0, 0, 1, 2, 3, 4, 5, 6], 1..3).unwrap();
        for variable in [a, b] {
            variable.push(b"ab").unwrap();
            variable.push(b"cde").unwrap();
        }
        let mut to = Values::new(&all);
        to.append_range(&from, 0..1).unwrap();
        let Values::Struct { len, children } = &mut from else { panic!() };
        *len = 3;
        let Values::FixedSizeList(list) = &mut children[4] else { panic!() };
        list.validity_mut().unwrap().append_bits(&[0b1001], 0..4).unwrap();
        list.items.push_default(4).unwrap();
        list.len = 3;
        assert_eq!(list.item_validity, Some(bitmap(&[true, true, true, false, false, true])));
        children[0].push_default(2).unwrap();

        to.append_range(&from, 1..2).unwrap();
        to.append_range(&from, 2..3).unwrap();
        assert_eq!(to, from);
        assert_eq!(to.size_bytes(), 9 + (4 * 4 + 5) + (4 * 8 + 5) + (1 + 18));
        assert!(to.append_range(&from, 2..4).is_err());
    }

    #[test]
    fn placeholders_are_zero_or_empty() {
        let mut strings = VariableValues::new(32);
        strings.push(b"abc").unwrap();
        let mut values = Values::Variable(strings);
        values.push_default(2).unwrap();
        let Values::Variable(strings) = &values else { panic!() };
        assert_eq!(strings.offsets, Offsets::Bits32(vec![0, 3, 3, 3]));
        assert_eq!((strings.value(0).unwrap(), strings.value(2).unwrap()), (&b"abc"[..], &b""[..]));
        assert!(strings.value(3).is_err());
        assert_eq!(values.default_bytes(3), 12);
        let item = Box::new(ValueType::Fixed { bits: 24 });
        let list = Values::new(&ValueType::FixedSizeList { dimension: 5, item });
        assert_eq!(list.default_bytes(2), 30 + 2);
        let item = Box::new(ValueType::Fixed { bits: 24 });
        let wide = Values::new(&ValueType::FixedSizeList { dimension: u64::MAX, item });
        assert!(wide.default_bytes(2) > 1 << 60);
    }
}
