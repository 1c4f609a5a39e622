//! Values from bytes, in pieces of any size.

use crate::bits::GROUP;
use crate::cursor::Cursor;
use crate::error::{Result, Rule};
use crate::integer::Integer;

/// Decodes all values of a page; returns how many bytes they took.
///
/// `values` has as many places as the page has values. For INT32 pages of writers that compute with
/// 64 bits (widths above 32), decode as `i64` and keep the low half of each value.
pub fn decode<T: Integer>(bytes: &[u8], values: &mut [T]) -> Result<usize> {
    let mut decoder = Decoder::new(bytes, values.len())?;
    decoder.read(values)?;
    decoder.finish()
}

/// Decodes the values `start .. start + values.len()` of a page of `num_values`.
pub fn decode_range<T: Integer>(
    bytes: &[u8],
    num_values: usize,
    start: usize,
    values: &mut [T],
) -> Result<()> {
    let mut decoder = Decoder::new(bytes, num_values)?;
    decoder.skip(start)?;
    decoder.read(values)
}

/// A walk over the values of a stream. It holds no buffer.
#[derive(Clone, Debug)]
pub struct Decoder<'a, T> {
    cursor: Cursor<'a>,
    miniblocks: usize,
    values_per_miniblock: usize,
    /// Values that were not handed out yet.
    remaining: usize,
    /// The header's value is next.
    at_first: bool,
    /// The value handed out last; before that, the first.
    last: T,
    min_delta: T,
    /// Widths of the miniblocks of this block that were not entered yet.
    widths: &'a [u8],
    width: u8,
    /// Data of this miniblock, from the group on that is next.
    packed: &'a [u8],
    /// Values of this miniblock that were not handed out, padding included.
    in_miniblock: usize,
}

impl<'a, T: Integer> Decoder<'a, T> {
    /// Reads the header of a stream that has to hold `num_values` values.
    pub fn new(bytes: &'a [u8], num_values: usize) -> Result<Self> {
        Self::at(bytes, 0, num_values)
    }

    /// The same for a stream that begins at `start`.
    pub(crate) fn at(bytes: &'a [u8], start: usize, num_values: usize) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, start);
        let start = cursor.at();
        let size =
            |number: u64, rule: Rule| usize::try_from(number).map_err(|_| rule.broken(start));
        let block_size = size(cursor.uleb128()?, Rule::BlockSize)?;
        if block_size == 0 || !block_size.is_multiple_of(128) {
            return Err(Rule::BlockSize.broken(start));
        }
        let miniblocks = size(cursor.uleb128()?, Rule::MiniblockCount)?;
        let values_per_miniblock = block_size.checked_div(miniblocks).unwrap_or(0);
        if !block_size.is_multiple_of(miniblocks) || !values_per_miniblock.is_multiple_of(GROUP) {
            return Err(Rule::MiniblockCount.broken(start));
        }
        if size(cursor.uleb128()?, Rule::ValueCount)? != num_values {
            return Err(Rule::ValueCount.broken(start));
        }
        let last = integer(&mut cursor)?;
        // Every block has at least a minimum and its widths.
        let blocks = num_values.saturating_sub(1).div_ceil(block_size);
        if blocks.saturating_mul(miniblocks.saturating_add(1)) > cursor.rest().len() {
            return Err(Rule::Complete.broken(cursor.at()));
        }
        Ok(Self {
            cursor,
            miniblocks,
            values_per_miniblock,
            remaining: num_values,
            at_first: true,
            last,
            min_delta: T::default(),
            widths: &[],
            width: 0,
            packed: &[],
            in_miniblock: 0,
        })
    }

    /// The next values, as many as there are places.
    pub fn read(&mut self, mut values: &mut [T]) -> Result<()> {
        let Some(remaining) = self.remaining.checked_sub(values.len()) else {
            return Err(Rule::Range.broken(self.cursor.at()));
        };
        self.remaining = remaining;
        if self.at_first && !values.is_empty() {
            let (first, rest) = values.split_at_mut(1);
            first.fill(self.last);
            self.at_first = false;
            values = rest;
        }
        while !values.is_empty() {
            if self.in_miniblock == 0 {
                self.next_miniblock()?;
            }
            let here = self.in_miniblock.min(values.len());
            let (now, later) = values.split_at_mut(here);
            self.read_here(now);
            values = later;
        }
        Ok(())
    }

    /// Goes past values.
    pub fn skip(&mut self, mut count: usize) -> Result<()> {
        let Some(remaining) = self.remaining.checked_sub(count) else {
            return Err(Rule::Range.broken(self.cursor.at()));
        };
        self.remaining = remaining;
        if self.at_first && count > 0 {
            self.at_first = false;
            count = count.saturating_sub(1);
        }
        let mut passed = [T::default(); GROUP];
        while count > 0 {
            if self.in_miniblock == 0 {
                self.next_miniblock()?;
            }
            let mut here = self.in_miniblock.min(count);
            if self.width == 0 {
                self.last = self.last.add(self.min_delta.times(here));
                self.in_miniblock = self.in_miniblock.saturating_sub(here);
            } else {
                here = here.min(GROUP);
                self.read_here(passed.get_mut(..here).unwrap_or_default());
            }
            count = count.saturating_sub(here);
        }
        Ok(())
    }

    /// Goes past all values that are left, without adding them up; returns where the stream ends.
    pub fn finish(mut self) -> Result<usize> {
        if self.at_first {
            self.remaining = self.remaining.saturating_sub(1);
        }
        self.remaining = self.remaining.saturating_sub(self.in_miniblock);
        while self.remaining > 0 {
            self.next_miniblock()?;
            self.remaining = self.remaining.saturating_sub(self.values_per_miniblock);
        }
        Ok(self.cursor.at())
    }

    /// Enters a miniblock, and the block it is in. All of its bytes are there, padding included.
    #[inline]
    fn next_miniblock(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.min_delta = integer(&mut self.cursor)?;
            self.widths = self.cursor.take(self.miniblocks)?;
        }
        let Some((&width, widths)) = self.widths.split_first() else { return Ok(()) };
        if width > T::BITS {
            let offset = self.cursor.at().saturating_sub(self.widths.len());
            return Err(Rule::BitWidth.broken(offset));
        }
        self.widths = widths;
        self.width = width;
        let group_bytes = usize::from(width).saturating_mul(GROUP / 8);
        let bytes = (self.values_per_miniblock / GROUP).saturating_mul(group_bytes);
        self.packed = self.cursor.take(bytes)?;
        self.in_miniblock = self.values_per_miniblock;
        Ok(())
    }

    /// The next values of this miniblock; it has as many.
    #[inline]
    fn read_here(&mut self, mut values: &mut [T]) {
        // Most miniblocks are read in one piece.
        if values.len() == self.values_per_miniblock {
            self.in_miniblock = 0;
            self.last = T::unpack(self.width, self.packed, self.min_delta, self.last, values);
            return;
        }
        // The rest of a group, a run of whole groups, the start of a group.
        let of_group = self.in_miniblock % GROUP;
        self.in_miniblock = self.in_miniblock.saturating_sub(values.len());
        if of_group > 0 {
            let (now, later) = values.split_at_mut(of_group.min(values.len()));
            self.read_part(GROUP.saturating_sub(of_group), now);
            values = later;
        }
        let (groups, part) = values.split_at_mut(values.len().saturating_sub(values.len() % GROUP));
        if !groups.is_empty() {
            let bytes = (groups.len() / GROUP).saturating_mul(self.group_bytes());
            let (now, later) = self.packed.split_at_checked(bytes).unwrap_or((self.packed, &[]));
            self.last = T::unpack(self.width, now, self.min_delta, self.last, groups);
            self.packed = later;
        }
        self.read_part(0, part);
    }

    /// The values from `from` on of the next group, which is unpacked again for every part of it.
    fn read_part(&mut self, from: usize, values: &mut [T]) {
        let until = from.saturating_add(values.len());
        if values.is_empty() {
            return;
        }
        let mut sums = [T::default(); GROUP];
        let bytes = self.group_bytes();
        let packed = self.packed.get(..bytes).unwrap_or_default();
        T::unpack(self.width, packed, self.min_delta, T::default(), &mut sums);
        let passed = from.checked_sub(1).and_then(|at| sums.get(at)).copied().unwrap_or_default();
        let start = self.last.sub(passed);
        for (value, sum) in values.iter_mut().zip(sums.get(from..).unwrap_or_default()) {
            *value = start.add(*sum);
            self.last = *value;
        }
        if until == GROUP {
            self.packed = self.packed.get(bytes..).unwrap_or_default();
        }
    }

    fn group_bytes(&self) -> usize {
        usize::from(self.width).saturating_mul(GROUP / 8)
    }
}

fn integer<T: Integer>(cursor: &mut Cursor<'_>) -> Result<T> {
    let offset = cursor.at();
    T::narrow(cursor.zigzag()?).ok_or_else(|| Rule::IntegerRange.broken(offset))
}
