//! Values of one width, back to back.

use std::ops::Range;

use arrow_buffer::{ArrowNativeType, Buffer, MutableBuffer, bit_mask};

use super::values::too_many;
use super::{ValueBuffer, byte_len, product};
use crate::error::{Result, ensure};

/// Fixed-width values back to back; a width of one bit is a bitmap (least significant bit first).
///
/// Whatever is done to them, there are exactly the bytes that they need: `ceil(len * bits / 8)`, aligned
/// for Arrow.
#[derive(Debug)]
pub(crate) struct FixedValues {
    bits: u64,
    len: usize,
    data: ValueBuffer,
}

impl PartialEq for FixedValues {
    fn eq(&self, other: &Self) -> bool {
        // Buffers themselves would also compare their capacities.
        (self.bits, self.len, &*self.data) == (other.bits, other.len, &*other.data)
    }
}

impl FixedValues {
    /// No values yet.
    pub(crate) fn new(bits: u64) -> Self {
        Self { bits, len: 0, data: ValueBuffer::new() }
    }

    /// Bytes as they are; there must be as many as the values need.
    pub(crate) fn from_data(bits: u64, len: usize, data: ValueBuffer) -> Result<Self> {
        ensure!(
            data.len() == byte_len(len, bits)?,
            "{len} values of {bits} bits in {} bytes",
            data.len()
        );
        Ok(Self { bits, len, data })
    }

    /// Numbers, each of the width of its type.
    pub(crate) fn from_words<T: ArrowNativeType>(words: impl IntoIterator<Item = T>) -> Self {
        let mut values = Self::new(word_bits::<T>());
        values.extend(words);
        values
    }

    /// Bits of one value.
    #[inline]
    pub(crate) fn bits(&self) -> u64 {
        self.bits
    }

    /// Number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of one value; `None` for bitmaps.
    #[inline]
    pub(crate) fn width_bytes(&self) -> Option<usize> {
        (self.bits.is_multiple_of(8)).then(|| usize::try_from(self.bits.checked_div(8)?).ok())?
    }

    /// The bytes of all values.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        self.data.as_slice()
    }

    /// The bytes of all values, to be changed.
    #[inline]
    pub(crate) fn data_mut(&mut self) -> &mut [u8] {
        self.data.to_mut().as_slice_mut()
    }

    /// The values as numbers of their width.
    #[inline]
    pub(crate) fn words<T: ArrowNativeType>(&self) -> &[T] {
        self.data.typed_data()
    }

    /// The bytes of all values, to keep.
    pub(super) fn into_data(self) -> ValueBuffer {
        self.data
    }

    /// The bytes of all values, for Arrow.
    pub(crate) fn into_buffer(self) -> Buffer {
        self.data.into()
    }

    /// Makes room for `bytes` more bytes.
    pub(super) fn reserve_bytes(&mut self, bytes: usize) {
        self.data.to_mut().reserve(bytes);
    }

    /// Drops all values and keeps the room they took.
    pub(crate) fn clear(&mut self) {
        self.data.to_mut().truncate(0);
        self.len = 0;
    }

    /// Drops all values but the first `len`; not for bitmaps.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        debug_assert!(self.width_bytes().is_some(), "bits that are appended must find zeros");
        if let Some(width) = self.width_bytes().filter(|_| len < self.len) {
            self.data.to_mut().truncate(len.saturating_mul(width));
            self.len = len;
        }
    }

    /// Appends `count` zeros.
    #[inline]
    pub(crate) fn push_zeros(&mut self, count: usize) -> Result<()> {
        let len = self.len.checked_add(count).ok_or_else(too_many)?;
        self.data.to_mut().resize(byte_len(len, self.bits)?, 0);
        self.len = len;
        Ok(())
    }

    /// Appends `count` zeros and gives the bytes they take, to be filled; not for bitmaps.
    #[inline]
    pub(super) fn push_room(&mut self, count: usize) -> Result<&mut [u8]> {
        let start = self.data.len();
        self.push_zeros(count)?;
        Ok(self.data_mut().get_mut(start..).unwrap_or_default())
    }

    /// Appends the bytes of one value; not for bitmaps.
    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) {
        debug_assert_eq!(Some(value.len()), self.width_bytes());
        self.data.to_mut().extend_from_slice(value);
        self.len = self.len.saturating_add(1);
    }

    /// Appends a number of the width of the values.
    #[inline]
    pub(crate) fn push_word<T: ArrowNativeType>(&mut self, word: T) {
        debug_assert_eq!(word_bits::<T>(), self.bits);
        self.data.to_mut().push(word);
        self.len = self.len.saturating_add(1);
    }

    /// Appends numbers of the width of the values.
    pub(crate) fn extend<T: ArrowNativeType>(&mut self, words: impl IntoIterator<Item = T>) {
        debug_assert_eq!(word_bits::<T>(), self.bits);
        let data = self.data.to_mut();
        data.extend(words);
        self.len = data.len().checked_div(size_of::<T>()).unwrap_or(0);
    }

    /// Appends `count` values whose bytes `append` appends; what is more than they need is cut off. Not for bitmaps.
    #[inline]
    pub(crate) fn append_with(
        &mut self,
        count: usize,
        append: impl FnOnce(&mut MutableBuffer) -> Result<()>,
    ) -> Result<()> {
        ensure!(self.width_bytes().is_some(), "values of {} bits have no bytes", self.bits);
        let len = self.len.checked_add(count).ok_or_else(too_many)?;
        let (start, end) = (self.data.len(), byte_len(len, self.bits)?);
        let data = self.data.to_mut();
        let appended = append(data);
        let complete = appended.is_ok() && data.len() >= end;
        data.truncate(if complete { end } else { start });
        appended?;
        ensure!(complete, "{count} values of {} bits lack some of their bytes", self.bits);
        self.len = len;
        Ok(())
    }

    /// Appends the values `range` of values of the same width that lie back to back in `source`.
    #[inline]
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
    #[inline]
    pub(crate) fn bytes(&self, range: Range<usize>) -> Result<&[u8]> {
        let width = self.width_bytes();
        let span =
            product(range.start, width.unwrap_or(0))?..product(range.end, width.unwrap_or(0))?;
        // Values of no bytes take no room, so what tells of too many of them is their number.
        let bytes = self.data.get(span).filter(|_| width.is_some() && range.end <= self.len);
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

/// Bits of a number.
fn word_bits<T: ArrowNativeType>() -> u64 {
    super::size_u64(size_of::<T>()).saturating_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn bytes_must_be_as_many_as_the_values_need() {
        let data = |len: usize| ValueBuffer::from(MutableBuffer::from_len_zeroed(len));
        assert!(FixedValues::from_data(32, 2, data(8)).is_ok());
        assert!(FixedValues::from_data(1, 9, data(2)).is_ok());
        for (bits, len, bytes) in [(32, 2, 7), (32, 2, 9), (1, 9, 1), (64, usize::MAX, 8)] {
            assert!(FixedValues::from_data(bits, len, data(bytes)).is_err(), "{bits} {len}");
        }
    }

    #[test]
    fn what_is_appended_fits_or_is_gone() {
        let mut values = FixedValues::from_words([1_u16, 2]);
        let append = |values: &mut FixedValues, bytes: &[u8], failed: bool| {
            values.append_with(2, |data| {
                data.extend_from_slice(bytes);
                if failed { Err(Error::corrupt("no more")) } else { Ok(()) }
            })
        };
        append(&mut values, &[3, 0, 4, 0, 9, 9, 9], false).unwrap();
        assert!(append(&mut values, &[5, 0, 6], false).is_err());
        assert!(append(&mut values, &[5, 0, 6, 0], true).is_err());
        assert_eq!((values.len(), values.words::<u16>()), (4, &[1, 2, 3, 4][..]));
        values.truncate(3);
        values.push(&[7, 0]);
        values.push_word(8_u16);
        assert_eq!(values, FixedValues::from_words([1_u16, 2, 3, 7, 8]));
        assert!(FixedValues::new(1).append_with(8, |_| Ok(())).is_err());
    }
}
