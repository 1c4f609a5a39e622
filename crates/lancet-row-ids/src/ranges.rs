//! Sets of ids as ranges.

use std::ops::{Range, RangeInclusive};

use crate::RowIdSequence;
use crate::run::{Filter, Rule, Run};

/// A set of ids, kept as ranges that increase and do not touch.
///
/// ```
/// use lancet_row_ids::{IdRanges, RowIdSequence};
///
/// let wanted: IdRanges = [10..20, 15..30, 90..95].into_iter().collect();
/// assert!(wanted.contains(29) && !wanted.contains(30));
/// let ids = RowIdSequence::from(25..1_000_000_000);
/// assert_eq!(ids.positions_in(&wanted), [0..5, 65..70]);
/// assert_eq!(wanted.union(&IdRanges::from(&ids)).ranges().next(), Some(10..=999_999_999));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdRanges {
    runs: Vec<Run>,
}

impl IdRanges {
    /// The set of these ids; they may come in any order and repeat.
    pub fn from_ids(ids: &[u64]) -> Self {
        Self::new(ids.iter().map(|&id| Run::one(id)).collect())
    }

    /// Sorts, and joins what touches or overlaps.
    fn new(mut runs: Vec<Run>) -> Self {
        // Stable, because it merges lists that are sorted already.
        runs.sort_by_key(|run| run.first);
        runs.dedup_by(|next, run| {
            let joins = next.first <= run.last.saturating_add(1);
            run.last = if joins { run.last.max(next.last) } else { run.last };
            joins
        });
        Self { runs }
    }

    /// The ranges, in order. None touches the next.
    pub fn ranges(
        &self,
    ) -> impl ExactSizeIterator<Item = RangeInclusive<u64>> + DoubleEndedIterator {
        self.runs.iter().map(|run| run.first..=run.last)
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: u64) -> bool {
        let at = self.runs.partition_point(|run| run.last < id);
        self.runs.get(at).is_some_and(|run| run.first <= id)
    }

    /// The ids of both sets.
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.runs.iter().chain(&other.runs).copied().collect())
    }

    /// The ids that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.filter(other, Rule::Keep)
    }

    /// The ids of this set that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.filter(other, Rule::Remove)
    }

    fn filter(&self, other: &Self, rule: Rule) -> Self {
        Self { runs: Filter::new(self.runs.iter().copied(), &other.runs, rule).collect() }
    }

    /// The runs that meet `bounds`.
    pub(crate) fn within(&self, bounds: Run) -> &[Run] {
        let from = seek(&self.runs, 0, bounds.first);
        let rest = self.runs.get(from..).unwrap_or_default();
        rest.get(..rest.partition_point(|run| run.first <= bounds.last)).unwrap_or_default()
    }
}

impl FromIterator<RangeInclusive<u64>> for IdRanges {
    fn from_iter<I: IntoIterator<Item = RangeInclusive<u64>>>(ranges: I) -> Self {
        let runs = ranges.into_iter().filter(|range| !range.is_empty());
        Self::new(runs.map(|range| Run { first: *range.start(), last: *range.end() }).collect())
    }
}

impl FromIterator<Range<u64>> for IdRanges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        ranges.map(|range| range.start..=range.end.saturating_sub(1)).collect()
    }
}

impl From<&RowIdSequence> for IdRanges {
    fn from(sequence: &RowIdSequence) -> Self {
        Self::new(sequence.segments().iter().flat_map(|segment| segment.all_runs()).collect())
    }
}

/// The first of the increasing runs that does not end before `id`. Looks near `at` first: doubling
/// steps onwards, or everything before it.
pub(crate) fn seek(runs: &[Run], at: usize, id: u64) -> usize {
    let ends_before = |run: &Run| run.last < id;
    let passed = at.checked_sub(1).and_then(|last| runs.get(last));
    if passed.is_some_and(|run| !ends_before(run)) {
        return runs.get(..at).unwrap_or_default().partition_point(ends_before);
    }
    let rest = runs.get(at..).unwrap_or_default();
    let mut bound = 1_usize;
    while rest.get(bound).is_some_and(ends_before) {
        bound = bound.saturating_mul(2);
    }
    let known = bound >> 1;
    let window = rest.get(known..bound.min(rest.len())).unwrap_or_default();
    at.saturating_add(known).saturating_add(window.partition_point(ends_before))
}
