//! Small numbers, bit by bit.

use std::borrow::Cow;
use std::ops::Range;

use super::{Bits, WORD, is_set};

/// Numbers of 16 bits, of which most bits are zero: plane `p` holds bit `p` of every number, and planes
/// that are not there are zero.
///
/// ```text
/// numbers   0 1 3 2 0
/// plane 0   0 1 1 0 0
/// plane 1   0 0 1 1 0
/// ```
#[derive(Debug, Clone, Default)]
pub(crate) struct Planes {
    planes: Vec<Bits>,
    len: usize,
}

impl Planes {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn clear(&mut self) {
        self.planes.iter_mut().for_each(Bits::clear);
        self.len = 0;
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.planes.iter().map(|plane| size_of_val(plane.words())).sum()
    }

    /// A number; 0 behind the last one.
    pub(crate) fn get(&self, position: usize) -> u16 {
        let bit =
            |(number, plane): (u32, &Bits)| u16::from(plane.get(position)).wrapping_shl(number);
        (0..).zip(&self.planes).map(bit).fold(0, |number, bit| number | bit)
    }

    /// The numbers of a range, one by one.
    pub(crate) fn iter(&self, range: Range<usize>) -> impl Iterator<Item = u16> {
        (range.start..range.end.min(self.len)).map(|position| self.get(position))
    }

    /// Appends the first `count` numbers of those whose bits `p` are in words `p`.
    pub(crate) fn push_words<const N: usize>(&mut self, words: &[[u64; N]], count: usize) {
        let last = words.iter().rposition(|words| words.iter().any(|word| *word != 0));
        self.grow(last.map_or(0, |last| last.saturating_add(1)));
        for (at, plane) in self.planes.iter_mut().enumerate() {
            let words = words.get(at).unwrap_or(&[0; N]);
            plane.push_words(words.iter().copied(), count);
        }
        self.len = self.len.saturating_add(count);
    }

    /// Appends one number.
    pub(crate) fn push(&mut self, number: u16) {
        self.push_run(number, 1);
    }

    /// Appends `count` equal numbers.
    pub(crate) fn push_run(&mut self, number: u16, count: usize) {
        let used = number.checked_ilog2().map_or(0, |log| log.saturating_add(1));
        self.grow(usize::try_from(used).unwrap_or(0));
        for (at, plane) in self.planes.iter_mut().enumerate() {
            plane.push_run(is_set(number.into(), at), count);
        }
        self.len = self.len.saturating_add(count);
    }

    /// Appends a range of other numbers.
    pub(crate) fn extend(&mut self, other: &Self, range: Range<usize>) {
        let range = range.start..range.end.min(other.len);
        self.grow(other.planes.len());
        for (at, plane) in self.planes.iter_mut().enumerate() {
            match other.planes.get(at) {
                Some(other) => plane.extend(other, range.clone()),
                None => plane.push_run(false, range.len()),
            }
        }
        self.len = self.len.saturating_add(range.len());
    }

    #[inline]
    fn grow(&mut self, num_planes: usize) {
        while self.planes.len() < num_planes {
            let mut plane = Bits::default();
            plane.push_run(false, self.len);
            self.planes.push(plane);
        }
    }

    /// The first number above `limit`.
    pub(crate) fn first_above(&self, limit: u16) -> Option<u16> {
        let num_bits = u32::try_from(self.planes.len()).unwrap_or(u32::MAX);
        let largest = 1_u32.checked_shl(num_bits).map_or(u32::MAX, |end| end.saturating_sub(1));
        if largest <= u32::from(limit) {
            return None;
        }
        self.above(limit).nth(0, 0).map(|position| self.get(position))
    }

    /// Which numbers are above `limit`.
    pub(crate) fn above(&self, limit: u16) -> Cow<'_, Bits> {
        // Numbers of one and two bits are what there mostly is.
        let bits = match self.planes.as_slice() {
            [low] if limit == 0 => return Cow::Borrowed(low),
            [_, high] if limit == 1 => return Cow::Borrowed(high),
            [low, high] if limit == 0 => low.join(high, |low, high| low | high),
            [low, high] if limit == 2 => low.join(high, |low, high| low & high),
            planes => compare(planes, limit, self.len),
        };
        Cow::Owned(bits)
    }

    /// Which numbers are at least `limit`.
    pub(crate) fn at_least(&self, limit: u16) -> Cow<'_, Bits> {
        match limit.checked_sub(1) {
            Some(below) => self.above(below),
            None => Cow::Owned(Bits::ones(self.len)),
        }
    }

    /// Which numbers are at most `limit`.
    pub(crate) fn at_most(&self, limit: u16) -> Bits {
        let mut bits = self.above(limit).into_owned();
        bits.invert();
        bits
    }

    /// How many numbers are at most `limit`.
    pub(crate) fn count_at_most(&self, limit: u16) -> usize {
        self.len.saturating_sub(self.above(limit).count())
    }

    /// The numbers that `mask` selects.
    pub(crate) fn select(&self, mask: &Bits) -> Self {
        let planes = self.planes.iter().map(|plane| plane.select(mask)).collect();
        Self { planes, len: mask.count() }
    }
}

/// Which of `len` numbers are above `limit`.
fn compare(planes: &[Bits], limit: u16, len: usize) -> Bits {
    let mut above = vec![0; len.div_ceil(WORD)];
    let limit_bits = limit.checked_ilog2().map_or(0, |log| log.saturating_add(1));
    // Where the limit has bits that no number has, none is above it.
    if limit_bits as usize <= planes.len() {
        let mut equal = vec![u64::MAX; above.len()];
        // From the highest bit on: the first one that differs decides.
        for (at, plane) in planes.iter().enumerate().rev() {
            for ((bits, above), equal) in plane.words.iter().zip(&mut above).zip(&mut equal) {
                if is_set(limit.into(), at) {
                    *equal &= bits;
                } else {
                    *above |= *equal & bits;
                    *equal &= !bits;
                }
            }
        }
    }
    Bits { words: above, len }
}

#[cfg(test)]
impl From<&[u16]> for Planes {
    fn from(numbers: &[u16]) -> Self {
        let mut planes = Self::default();
        numbers.iter().for_each(|number| planes.push(*number));
        planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn planes_are_numbers(
            mut numbers in proptest::collection::vec(0u16..9, 0..200), limit in 0u16..10, wide in any::<u16>(),
            cut in 0usize..200, keep in any::<u64>(),
        ) {
            let mut planes = Planes::from(numbers.as_slice());
            planes.push(wide);
            planes.push_run(3, 70);
            numbers.push(wide);
            numbers.extend([3; 70]);
            let len = numbers.len();
            let copy = planes.clone();
            planes.extend(&copy, cut..len);
            numbers.extend_from_within(cut.min(len)..);
            prop_assert_eq!((planes.len(), planes.iter(0..usize::MAX).collect::<Vec<_>>()), (numbers.len(), numbers.clone()));
            for limit in [limit, wide] {
                let (above, at_least, at_most) = (planes.above(limit), planes.at_least(limit), planes.at_most(limit));
                for (i, number) in numbers.iter().enumerate() {
                    prop_assert_eq!((above.get(i), at_least.get(i), at_most.get(i)), (*number > limit, *number >= limit, *number <= limit));
                }
                prop_assert_eq!(above.count() + at_most.count(), numbers.len());
                prop_assert_eq!(planes.count_at_most(limit), at_most.count());
                prop_assert_eq!(planes.first_above(limit), numbers.iter().copied().find(|n| *n > limit));
            }
            let mut mask = Bits::default();
            numbers.iter().enumerate().for_each(|(i, _)| mask.push(keep >> (i % 61) & 1, 1));
            let kept: Vec<u16> = numbers.iter().enumerate().filter(|(i, _)| mask.get(*i)).map(|(_, n)| *n).collect();
            prop_assert_eq!(planes.select(&mask).iter(0..kept.len()).collect::<Vec<_>>(), kept);
            prop_assert_eq!(planes.get(numbers.len()), 0);
        }
    }
}
