//! Rows, as they are asked for and found.

use std::fmt;
use std::ops::{Range, RangeFull};

use arrow_buffer::BooleanBuffer;

/// A set of rows: ranges from first to last, none empty, none touching the next.
///
/// ```
/// use lancet::RowRanges;
///
/// let a = RowRanges::from_iter([10..20, 0..5, 20..25]);
/// assert_eq!(a.ranges(), [0..5, 10..25]);
/// assert_eq!(a.count(), 20);
///
/// let b = RowRanges::from(3..12);
/// assert_eq!(a.intersection(&b).ranges(), [3..5, 10..12]);
/// assert_eq!(a.union(&b).ranges(), [0..25]);
///
/// // Parts that are read one after the other.
/// let (first, rest) = a.split_at(7);
/// assert_eq!(first.ranges(), [0..5, 10..12]);
/// assert_eq!(rest.ranges(), [12..25]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RowRanges {
    ranges: Vec<Range<u64>>,
}

impl RowRanges {
    /// No rows.
    pub const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    /// The ranges, from first to last.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// The ranges one by one, from first to last.
    pub fn iter(&self) -> std::slice::Iter<'_, Range<u64>> {
        self.ranges.iter()
    }

    /// How many rows there are.
    pub fn count(&self) -> u64 {
        // Disjoint ranges of 64-bit numbers: the sum cannot overflow.
        self.ranges.iter().map(len).fold(0, u64::wrapping_add)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The row after the last one; 0 if there are none.
    pub fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |last| last.end)
    }

    /// Whether a row is among them.
    pub fn contains(&self, row: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.end <= row);
        self.ranges.get(after).is_some_and(|range| range.start <= row)
    }

    /// The rows that are in one of two sets, or in both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.ranges.iter().chain(&other.ranges).cloned().collect()
    }

    /// The rows that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut both = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let rows = x.start.max(y.start)..x.end.min(y.end);
            if !rows.is_empty() {
                both.push(rows);
            }
            if x.end <= y.end {
                a.next()
            } else {
                b.next()
            };
        }
        Self { ranges: both }
    }

    /// The first `count` rows, and the others.
    #[must_use]
    pub fn split_at(&self, count: u64) -> (Self, Self) {
        let mut first = self.clone();
        let rest = first.split_off(count);
        (first, rest)
    }

    /// Keeps the first `count` rows and gives the others.
    #[must_use]
    pub fn split_off(&mut self, count: u64) -> Self {
        let mut left = count;
        let whole = |range: &Range<u64>| match left.checked_sub(len(range)) {
            Some(less) => {
                left = less;
                true
            }
            None => false,
        };
        let num_whole = self.ranges.iter().map(whole).take_while(|is_whole| *is_whole).count();
        let mut rest = self.ranges.split_off(num_whole);
        if let Some(cut) = rest.first_mut().filter(|_| left > 0) {
            let middle = cut.start.saturating_add(left);
            self.ranges.push(cut.start..middle);
            cut.start = middle;
        }
        Self { ranges: rest }
    }

    /// The rows for which the mask holds; it has one value for each row, in order.
    #[must_use]
    pub fn select(&self, mask: &BooleanBuffer) -> Self {
        let mut selected = Self::new();
        let mut ranges = self.ranges.iter();
        let mut range = ranges.next().cloned().unwrap_or_default();
        let mut position = 0_u64; // of the first row of `range` in the mask
        for (start, end) in mask.set_slices() {
            let (mut start, end) = (start as u64, end as u64);
            while start < end {
                let after = position.saturating_add(len(&range));
                if start >= after {
                    position = after;
                    let Some(next) = ranges.next() else { return selected };
                    range = next.clone();
                    continue;
                }
                let stop = end.min(after);
                let row = |at: u64| range.start.saturating_add(at.saturating_sub(position));
                selected.push(row(start)..row(stop));
                start = stop;
            }
        }
        selected
    }

    /// Adds rows that lie behind all others, or touch them.
    pub(crate) fn push(&mut self, rows: Range<u64>) {
        debug_assert!(self.end() <= rows.start, "{self:?} and {rows:?}");
        match self.ranges.last_mut() {
            _ if rows.is_empty() => {}
            Some(last) if last.end >= rows.start => last.end = last.end.max(rows.end),
            _ => self.ranges.push(rows),
        }
    }

    /// Rows from first to last, none twice.
    pub(crate) fn from_sorted(rows: &[u64]) -> Self {
        let mut ranges = Self::new();
        for &row in rows {
            ranges.push(row..row.saturating_add(1));
        }
        ranges
    }
}

/// How many rows a range has.
fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl<'a> IntoIterator for &'a RowRanges {
    type Item = &'a Range<u64>;
    type IntoIter = std::slice::Iter<'a, Range<u64>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Range<u64>> for RowRanges {
    fn from(rows: Range<u64>) -> Self {
        let ranges = if rows.is_empty() { Vec::new() } else { vec![rows] };
        Self { ranges }
    }
}

impl From<&RowRanges> for RowRanges {
    fn from(rows: &RowRanges) -> Self {
        rows.clone()
    }
}

/// In any order; they may overlap.
impl FromIterator<Range<u64>> for RowRanges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Self { ranges }
    }
}

impl fmt::Debug for RowRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ranges.fmt(f)
    }
}

/// Which rows a read gives: all, a set in the order of the file, or a list in any order.
///
/// Methods take what becomes one: `..`, a range, [`RowRanges`], or numbers of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rows {
    /// All rows.
    All,
    /// A set, in the order of the file.
    Ranges(RowRanges),
    /// Rows in the order asked for, as often as asked for.
    List(Vec<u64>),
}

impl From<RangeFull> for Rows {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<Range<u64>> for Rows {
    fn from(rows: Range<u64>) -> Self {
        Self::Ranges(rows.into())
    }
}

impl From<RowRanges> for Rows {
    fn from(rows: RowRanges) -> Self {
        Self::Ranges(rows)
    }
}

impl From<&RowRanges> for Rows {
    fn from(rows: &RowRanges) -> Self {
        Self::Ranges(rows.clone())
    }
}

impl From<Vec<u64>> for Rows {
    fn from(rows: Vec<u64>) -> Self {
        Self::List(rows)
    }
}

impl From<&[u64]> for Rows {
    fn from(rows: &[u64]) -> Self {
        Self::List(rows.to_vec())
    }
}

impl<const N: usize> From<[u64; N]> for Rows {
    fn from(rows: [u64; N]) -> Self {
        Self::List(rows.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rows(ranges: &RowRanges) -> BTreeSet<u64> {
        ranges.ranges().iter().cloned().flatten().collect()
    }

    /// All sets of rows below 8.
    fn all_sets() -> impl Iterator<Item = RowRanges> {
        (0..256_u64).map(|bits| (0..8).filter(|i| bits >> i & 1 == 1).map(|i| i..i + 1).collect())
    }

    #[test]
    fn sets_are_what_they_are_for_sets_of_numbers() {
        for a in all_sets() {
            let numbers = rows(&a);
            assert!(a.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
            assert_eq!(a.count(), numbers.len() as u64);
            assert_eq!(a.end(), numbers.last().map_or(0, |last| last + 1));
            assert!((0..9).all(|row| a.contains(row) == numbers.contains(&row)));
            assert_eq!(RowRanges::from_sorted(&Vec::from_iter(numbers.clone())), a);
            for count in 0..10 {
                let (first, rest) = a.split_at(count);
                assert_eq!(rows(&first), numbers.iter().take(count as usize).copied().collect());
                assert_eq!(rows(&rest), numbers.iter().skip(count as usize).copied().collect());
            }
            for b in all_sets() {
                let others = rows(&b);
                assert_eq!(rows(&a.intersection(&b)), &numbers & &others);
                assert_eq!(rows(&a.union(&b)), &numbers | &others);
                let mask = BooleanBuffer::collect_bool(numbers.len(), |i| {
                    others.contains(numbers.iter().nth(i).unwrap())
                });
                assert_eq!(a.select(&mask), a.intersection(&b));
            }
        }
    }

    #[test]
    fn ranges_come_in_any_order() {
        let (start, end) = (9, 3);
        let ranges = RowRanges::from_iter([7..9, 0..0, 1..4, 2..3, 4..5, start..end, 8..12]);
        assert_eq!(ranges.ranges(), [1..5, 7..12]);
        let all = RowRanges::from_iter([5..u64::MAX, 0..5]);
        assert_eq!(all.count(), u64::MAX);
        assert_eq!(all.split_at(u64::MAX).1, RowRanges::new());
        // A mask that is longer than the rows selects none beyond them.
        assert_eq!(RowRanges::from(3..5).select(&BooleanBuffer::new_set(9)).ranges(), [3..5]);
    }
}
