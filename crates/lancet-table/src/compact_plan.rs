//! Which fragments a compaction joins. Pure: it is handed counts and gives places.
//!
//! A fragment is worth rewriting if it has fewer live rows than the target, or if a good share of its rows is deleted.
//! Neighbours that are worth it are taken together until they fill a new fragment. Rows that an index covers are not
//! mixed with rows that it does not: where nothing is gained, what is covered stays so.

use std::ops::Range;

/// What a compaction aims at.
///
/// ```
/// use lancet_table::CompactOptions;
///
/// let nightly = CompactOptions::default().with_target_rows(500_000).with_deleted_share(0.25);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompactOptions {
    pub(crate) target_rows: u64,
    pub(crate) deleted_share: f64,
}

impl Default for CompactOptions {
    fn default() -> Self {
        Self { target_rows: 1 << 20, deleted_share: 0.1 }
    }
}

impl CompactOptions {
    /// Rows of a new fragment, at most. Fragments with fewer rows are joined with their neighbours. 1,048,576 by default.
    #[must_use]
    pub fn with_target_rows(mut self, rows: u64) -> Self {
        self.target_rows = rows.max(1);
        self
    }

    /// A fragment of which a larger share of rows is deleted is written again, even alone. 0.1 by default; with 1,
    /// deleted rows alone are no reason.
    #[must_use]
    pub fn with_deleted_share(mut self, share: f64) -> Self {
        self.deleted_share = share;
        self
    }
}

/// What is known of a fragment before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Its rows without deleted ones.
    pub(crate) live: u64,
    pub(crate) deleted: u64,
    /// The indexes that cover it, by their places.
    pub(crate) indexes: Vec<usize>,
}

/// How much a fragment asks for being rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    None,
    /// It is small: only together with others.
    WithOthers,
    /// It holds many deleted rows.
    Alone,
}

impl CompactOptions {
    fn need(&self, counts: &Counts) -> Need {
        let all = counts.live.saturating_add(counts.deleted);
        let share = counts.deleted as f64 / all.max(1) as f64;
        // Without live rows there is nothing to keep, however small the share may be.
        if share > self.deleted_share || (counts.live == 0 && counts.deleted > 0) {
            Need::Alone
        } else if counts.live < self.target_rows {
            Need::WithOthers
        } else {
            Need::None
        }
    }

    /// The places of fragments that become new ones together, in order.
    pub(crate) fn groups(&self, fragments: &[Counts]) -> Vec<Range<usize>> {
        let mut groups = Vec::new();
        let mut start = 0_usize;
        for stretch in fragments.chunk_by(|one, next| {
            (self.need(one) == Need::None) == (self.need(next) == Need::None)
                && one.indexes == next.indexes
        }) {
            let end = start.saturating_add(stretch.len());
            if stretch.first().is_some_and(|first| self.need(first) != Need::None) {
                self.cut(start, stretch, &mut groups);
            }
            start = end;
        }
        groups
    }

    /// Cuts neighbours into groups that each fill a new fragment; what would be left over joins the last.
    fn cut(&self, start: usize, stretch: &[Counts], groups: &mut Vec<Range<usize>>) {
        let mut left: u64 = stretch.iter().map(|counts| counts.live).fold(0, u64::saturating_add);
        let (mut first, mut rows) = (start, 0_u64);
        let mut add = |group: Range<usize>| {
            let members = stretch
                .get(group.start.saturating_sub(start)..group.end.saturating_sub(start))
                .unwrap_or_default();
            let is_worth = match members {
                [] => false,
                [alone] => self.need(alone) == Need::Alone,
                _ => true,
            };
            if is_worth {
                groups.push(group);
            }
        };
        for (place, counts) in (start..).zip(stretch) {
            rows = rows.saturating_add(counts.live);
            left = left.saturating_sub(counts.live);
            if rows >= self.target_rows && left >= self.target_rows {
                let end = place.saturating_add(1);
                add(first..end);
                (first, rows) = (end, 0);
            }
        }
        add(first..start.saturating_add(stretch.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(live: u64, deleted: u64, indexes: &[usize]) -> Counts {
        Counts { live, deleted, indexes: indexes.to_vec() }
    }

    fn groups(target: u64, fragments: &[(u64, u64)]) -> Vec<Range<usize>> {
        let fragments: Vec<Counts> =
            fragments.iter().map(|(live, deleted)| counts(*live, *deleted, &[])).collect();
        CompactOptions::default().with_target_rows(target).groups(&fragments)
    }

    #[test]
    fn small_neighbours_are_joined() {
        assert_eq!(groups(100, &[(10, 0), (20, 0), (30, 0)]), [0..3]);
        // A full one stands between them.
        assert_eq!(groups(100, &[(10, 0), (20, 0), (100, 0), (30, 0), (1, 0)]), [0..2, 3..5]);
        // Nothing is gained by writing one again.
        assert!(groups(100, &[(10, 0), (100, 0), (30, 1)]).is_empty());
        assert!(groups(100, &[]).is_empty());
        assert!(groups(100, &[(100, 0), (5000, 0)]).is_empty());
    }

    #[test]
    fn many_deleted_rows_are_a_reason_alone() {
        assert_eq!(groups(100, &[(900, 101)]), [0..1]);
        assert!(groups(100, &[(900, 100)]).is_empty());
        assert_eq!(groups(100, &[(200, 0), (900, 101), (900, 0), (0, 1)]), [1..2, 3..4]);
        assert_eq!(groups(100, &[(10, 0), (900, 101), (10, 0)]), [0..3]);
        let never = CompactOptions::default().with_target_rows(1).with_deleted_share(1.0);
        assert!(never.groups(&[counts(5, 900, &[])]).is_empty());
        assert_eq!(never.groups(&[counts(0, 900, &[])]), [0..1]);
    }

    #[test]
    fn groups_fill_new_fragments() {
        assert_eq!(groups(100, &[(60, 0); 10]), [0..2, 2..4, 4..6, 6..8, 8..10]);
        // What is left over would be small again.
        assert_eq!(groups(100, &[(60, 0); 5]), [0..2, 2..5]);
        assert_eq!(groups(100, &[(60, 0); 3]), [0..3]);
    }

    #[test]
    fn what_an_index_covers_stays_apart() {
        let fragments = [
            counts(1, 0, &[0]),
            counts(1, 0, &[0]),
            counts(1, 0, &[0, 1]),
            counts(1, 0, &[]),
            counts(1, 0, &[]),
        ];
        assert_eq!(CompactOptions::default().groups(&fragments), [0..2, 3..5]);
    }

    #[test]
    fn what_was_compacted_is_left_alone() {
        // Any mixture, compacted again and again, comes to rest, and no row is in two groups.
        let mut seed = 9_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..2_000 {
            let mut fragments: Vec<(u64, u64)> =
                (0..random(12)).map(|_| (random(300), random(30))).collect();
            for round in 0.. {
                let found = groups(100, &fragments);
                if found.is_empty() {
                    break;
                }
                assert!(round < 20, "{fragments:?}");
                assert!(found.is_sorted_by(|one, next| one.end <= next.start));
                let mut after = Vec::new();
                for (place, fragment) in fragments.iter().enumerate() {
                    if !found.iter().any(|group| group.contains(&place)) {
                        after.push(*fragment);
                    }
                }
                for group in found {
                    let mut rows: u64 = fragments[group].iter().map(|(live, _)| live).sum();
                    while rows > 0 {
                        after.push((rows.min(100), 0));
                        rows -= rows.min(100);
                    }
                }
                fragments = after;
            }
        }
    }
}
