//! Numbers of one width: offsets of 2 or 4 bytes from a base, or 8 bytes each.
//!
//! The base need not be the smallest number; what is read keeps its base and its width.
//! Invariant, checked on the way in: `base + offset` does not overflow.

use std::slice;

use crate::error::{Result, ensure};
use crate::iter::{ArrayIter, OffsetIter};

/// How wide the numbers of an [`EncodedArray`] are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// 2 bytes each, from a base.
    U16,
    /// 4 bytes each, from a base.
    U32,
    /// 8 bytes each.
    U64,
}

impl Width {
    /// `u16`, `u32` or `u64`.
    pub fn name(self) -> &'static str {
        match self {
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
        }
    }
}

/// A list of numbers, stored narrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedArray {
    values: Values,
    /// The smallest and the largest number; 0 when there are none.
    low: u64,
    high: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    U16(Offsets<u16>),
    U32(Offsets<u32>),
    /// The base is 0.
    U64(Offsets<u64>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Offsets<T> {
    base: u64,
    offsets: Vec<T>,
}

/// Runs the same expression on the offsets of whatever width.
macro_rules! each {
    ($values:expr, $offsets:ident => $result:expr) => {
        match $values {
            Values::U16($offsets) => $result,
            Values::U32($offsets) => $result,
            Values::U64($offsets) => $result,
        }
    };
}

/// An unsigned integer as it is stored.
trait Offset: Copy + Ord + Into<u64> + TryFrom<u64> {
    fn read(bytes: &[u8]) -> Vec<Self>;
    fn write(values: &[Self]) -> Vec<u8>;
    /// The low bits.
    fn cut(value: u64) -> Self;
}

macro_rules! offset {
    ($($type:ty),*) => { $(
        impl Offset for $type {
            fn read(bytes: &[u8]) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks();
                chunks.iter().map(|chunk| Self::from_le_bytes(*chunk)).collect()
            }
            fn write(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            #[allow(clippy::cast_possible_truncation, reason = "the callers chose the width")]
            fn cut(value: u64) -> Self {
                value as Self
            }
        }
    )* };
}
offset!(u16, u32, u64);

/// A number; that it does not overflow was checked.
pub(crate) fn plus(base: u64, offset: impl Into<u64>) -> u64 {
    base.wrapping_add(offset.into())
}

impl<T: Offset> Offsets<T> {
    fn read(base: u64, bytes: &[u8]) -> Result<Self> {
        let width = size_of::<T>();
        ensure!(
            bytes.len().is_multiple_of(width),
            "an array of {width}-byte numbers has {} bytes",
            bytes.len()
        );
        Ok(Self { base, offsets: T::read(bytes) })
    }

    /// The smallest and the largest offset, in one pass.
    fn bounds(&self) -> Option<(u64, u64)> {
        let (first, rest) = self.offsets.split_first()?;
        let wider = |(low, high): (T, T), &offset: &T| (low.min(offset), high.max(offset));
        let (low, high) = rest.iter().fold((*first, *first), wider);
        Some((low.into(), high.into()))
    }

    fn collect(base: u64, count: usize, values: impl Iterator<Item = u64>) -> Self {
        let mut offsets = Vec::with_capacity(count);
        values.for_each(|value| offsets.push(T::cut(value.wrapping_sub(base))));
        Self { base, offsets }
    }

    fn get(&self, index: usize) -> Option<u64> {
        self.offsets.get(index).map(|&offset| plus(self.base, offset))
    }

    /// How many numbers are below `value`, when they increase.
    fn rank(&self, value: u64) -> usize {
        match value.checked_sub(self.base).map(T::try_from) {
            None => 0,
            Some(Err(_)) => self.offsets.len(),
            Some(Ok(target)) => self.offsets.partition_point(|&offset| offset < target),
        }
    }

    /// The same, when the answer is at least `from` and likely near: doubling steps from there.
    fn rank_from(&self, from: usize, value: u64) -> usize {
        let target = match value.checked_sub(self.base).map(T::try_from) {
            None => return from,
            Some(Err(_)) => return self.offsets.len(),
            Some(Ok(target)) => target,
        };
        let rest = self.offsets.get(from..).unwrap_or_default();
        let mut bound = 1_usize;
        while rest.get(bound).is_some_and(|&offset| offset < target) {
            bound = bound.saturating_mul(2);
        }
        let known = bound >> 1;
        let window = rest.get(known..bound.min(rest.len())).unwrap_or_default();
        let found = window.partition_point(|&offset| offset < target);
        from.saturating_add(known).saturating_add(found)
    }

    /// The first place of `value`, in any order: whole blocks at a time, then the place in the block.
    fn find(&self, value: u64) -> Option<usize> {
        const BLOCK: usize = 64;
        let target = T::try_from(value.checked_sub(self.base)?).ok()?;
        let here =
            |block: &[T]| block.iter().fold(false, |found, &offset| found | (offset == target));
        let block = self.offsets.chunks(BLOCK).position(here)?;
        let start = block.saturating_mul(BLOCK);
        let rest = self.offsets.get(start..)?;
        Some(start.saturating_add(rest.iter().position(|&offset| offset == target)?))
    }

    fn iter(&self, from: usize, to: usize) -> slice::Iter<'_, T> {
        self.offsets.get(from..to.min(self.offsets.len())).unwrap_or_default().iter()
    }

    /// Whether the number could be added at this width.
    fn push(&mut self, value: u64) -> bool {
        let offset = value.checked_sub(self.base).and_then(|offset| T::try_from(offset).ok());
        self.offsets.extend(offset);
        offset.is_some()
    }
}

impl EncodedArray {
    /// Reads the stored offsets.
    pub(crate) fn read(width: Width, base: u64, bytes: &[u8]) -> Result<Self> {
        let values = match width {
            Width::U16 => Values::U16(Offsets::read(base, bytes)?),
            Width::U32 => Values::U32(Offsets::read(base, bytes)?),
            Width::U64 => Values::U64(Offsets::read(base, bytes)?),
        };
        let bounds = each!(&values, o => o.bounds());
        let Some((smallest, largest)) = bounds else {
            return Ok(Self { values, low: 0, high: 0 });
        };
        let high = base.checked_add(largest);
        ensure!(high.is_some(), "base {base} and offset {largest} of an array exceed 64 bits");
        Ok(Self { values, low: plus(base, smallest), high: high.unwrap_or_default() })
    }

    /// Width, base and bytes as they are stored.
    pub(crate) fn write(&self) -> (Width, u64, Vec<u8>) {
        each!(&self.values, o => (self.width(), o.base, Offset::write(&o.offsets)))
    }

    /// Stores `count` numbers between `low` and `high` at the narrowest width.
    pub(crate) fn collect(
        low: u64,
        high: u64,
        count: usize,
        values: impl Iterator<Item = u64>,
    ) -> Self {
        // Bounds of nothing would make equal arrays differ.
        let (low, high) = if count > 0 { (low, high) } else { (0, 0) };
        let values = match high.wrapping_sub(low) {
            0..=0xffff if count > 0 => Values::U16(Offsets::collect(low, count, values)),
            0..=0xffff_ffff if count > 0 => Values::U32(Offsets::collect(low, count, values)),
            _ => Values::U64(Offsets::collect(0, count, values)),
        };
        Self { values, low, high }
    }

    /// How wide the numbers are stored.
    pub fn width(&self) -> Width {
        match self.values {
            Values::U16(_) => Width::U16,
            Values::U32(_) => Width::U32,
            Values::U64(_) => Width::U64,
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        each!(&self.values, o => o.offsets.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at `index`.
    pub fn get(&self, index: usize) -> Option<u64> {
        each!(&self.values, o => o.get(index))
    }

    /// The numbers in the order in which they are stored.
    pub fn iter(&self) -> ArrayIter<'_> {
        self.iter_in(0, self.len())
    }

    pub(crate) fn iter_in(&self, from: usize, to: usize) -> ArrayIter<'_> {
        let base = each!(&self.values, o => o.base);
        let offsets = match &self.values {
            Values::U16(o) => OffsetIter::U16(o.iter(from, to)),
            Values::U32(o) => OffsetIter::U32(o.iter(from, to)),
            Values::U64(o) => OffsetIter::U64(o.iter(from, to)),
        };
        ArrayIter::new(base, offsets)
    }

    /// The smallest and the largest number.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        (!self.is_empty()).then_some((self.low, self.high))
    }

    pub(crate) fn is_increasing(&self) -> bool {
        each!(&self.values, o => o.offsets.is_sorted_by(|a, b| a < b))
    }

    /// How many numbers are below `value`; only when they increase.
    pub(crate) fn rank(&self, value: u64) -> usize {
        each!(&self.values, o => o.rank(value))
    }

    /// The same, searched from a rank that is not above the answer.
    pub(crate) fn rank_from(&self, from: usize, value: u64) -> usize {
        each!(&self.values, o => o.rank_from(from, value))
    }

    /// The first place of `value`, whatever the order.
    pub(crate) fn find(&self, value: u64) -> Option<usize> {
        each!(&self.values, o => o.find(value))
    }

    /// How many numbers from `from` on, in order, satisfy a condition that holds up to some place.
    pub(crate) fn count_while(&self, from: usize, holds: impl Fn(usize, u64) -> bool) -> usize {
        let (mut low, mut high) = (from, self.len().max(from));
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) {
                Some(value) if holds(middle, value) => low = middle.saturating_add(1),
                _ => high = middle,
            }
        }
        low
    }

    /// Adds a number; widens when it does not fit.
    pub(crate) fn push(&mut self, value: u64) {
        let (low, high) =
            self.bounds().map_or((value, value), |(l, h)| (l.min(value), h.max(value)));
        if each!(&mut self.values, o => o.push(value)) {
            (self.low, self.high) = (low, high);
        } else {
            let count = self.len().saturating_add(1);
            *self = Self::collect(low, high, count, self.iter().chain([value]));
        }
    }
}
