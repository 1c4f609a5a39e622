//! Rows inside a run of entries: which entries and which values belong to them.
//!
//! ```text
//! rep      0 0 | 2 1 0 | 2 | 2 0        max_rep = 2: a row begins at every 2
//!        preamble  row 0  row 1  row 2
//! ```
//!
//! Rows are counted from the first one that begins in the run; the entries before it (the preamble) continue a row of
//! the run before.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::levels::bits::{BLOCK, at_most, blocks, count, ones, positions};

/// Number of rows that begin in the run.
pub(crate) fn count_rows(rep: &[u16], max_rep: u16) -> usize {
    count(rep, |level| level == max_rep)
}

/// Number of entries that own a value.
pub(crate) fn count_visible(def: &[u16], max_visible: u16) -> usize {
    count(def, |level| level <= max_visible)
}

/// Entries and values before the first row that begins in the run: all of them if none begins.
pub(crate) fn preamble(
    rep: &[u16],
    def: Option<&[u16]>,
    max_rep: u16,
    max_visible: u16,
) -> (usize, usize) {
    let entries = nth_start(rep, max_rep, 0).unwrap_or(rep.len());
    (entries, values_in(def, 0..entries, max_visible))
}

/// Calls `on(entries, values)` for each of the wanted row ranges, which must be in order and must not overlap.
/// The last row goes to the end of the run.
pub(crate) fn select_rows(
    rep: &[u16],
    def: Option<&[u16]>,
    max_rep: u16,
    max_visible: u16,
    rows: &[Range<usize>],
    mut on: impl FnMut(Range<usize>, Range<usize>),
) -> Result<()> {
    let (entry, value) = preamble(rep, def, max_rep, max_visible);
    let mut cursor = Cursor { rep, def, max_rep, max_visible, row: 0, entry, value };
    for wanted in rows {
        cursor.advance_to(wanted.start)?;
        let (entry, value) = (cursor.entry, cursor.value);
        cursor.advance_to(wanted.end)?;
        on(entry..cursor.entry, value..cursor.value);
    }
    Ok(())
}

/// Stands at the first entry of `row`, or at the end.
struct Cursor<'a> {
    rep: &'a [u16],
    def: Option<&'a [u16]>,
    max_rep: u16,
    max_visible: u16,
    row: usize,
    entry: usize,
    value: usize,
}

impl Cursor<'_> {
    fn advance_to(&mut self, row: usize) -> Result<()> {
        let Some(skipped) = row.checked_sub(self.row) else {
            return Err(Error::invalid("row ranges are out of order"));
        };
        if skipped == 0 {
            return Ok(());
        }
        let rest = self.rep.get(self.entry..).unwrap_or_default();
        let entry = match nth_start(rest, self.max_rep, skipped) {
            Some(distance) => self.entry.saturating_add(distance),
            None if count_rows(rest, self.max_rep) == skipped => self.rep.len(),
            None => {
                let found = self.row.saturating_add(count_rows(rest, self.max_rep));
                let rule = format!("row {row} is wanted where {found} rows begin");
                return Err(Error::corrupt(rule));
            }
        };
        let passed = values_in(self.def, self.entry..entry, self.max_visible);
        self.value = self.value.saturating_add(passed);
        (self.row, self.entry) = (row, entry);
        Ok(())
    }
}

/// Position of the `n`-th row start, counted from 0.
fn nth_start(rep: &[u16], max_rep: u16, mut n: usize) -> Option<usize> {
    for (i, (block, len)) in blocks(rep).enumerate() {
        let below = max_rep.checked_sub(1).map_or(0, |limit| at_most(&block, limit));
        let starts = !below & ones(len);
        let in_block = starts.count_ones() as usize;
        if n < in_block {
            let position = positions(starts).nth(n)?;
            return i.checked_mul(BLOCK)?.checked_add(position);
        }
        n = n.saturating_sub(in_block);
    }
    None
}

fn values_in(def: Option<&[u16]>, entries: Range<usize>, max_visible: u16) -> usize {
    match def {
        Some(def) => count_visible(def.get(entries).unwrap_or_default(), max_visible),
        None => entries.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Selected = Vec<(Range<usize>, Range<usize>)>;

    fn select(rep: &[u16], def: Option<&[u16]>, rows: &[Range<usize>]) -> Result<Selected> {
        let mut selected = Vec::new();
        select_rows(rep, def, 1, 0, rows, |entries, values| selected.push((entries, values)))?;
        Ok(selected)
    }

    #[test]
    fn rows_of_the_chunks_of_the_repetition_index_example() {
        let (rep, def) = ([1, 0, 1, 1], [0; 4]);
        assert_eq!(count_rows(&rep, 1), 3);
        assert_eq!(select(&rep, Some(&def), &[0..1, 2..3]).unwrap(), [(0..2, 0..2), (3..4, 3..4)]);

        let (rep, def) = ([0; 4], [0; 4]);
        assert_eq!(count_rows(&rep, 1), 0);
        assert_eq!(preamble(&rep, Some(&def), 1, 0), (4, 4));

        let (rep, def) = ([1, 1, 1, 1, 0], [2, 1, 0, 0, 0]);
        assert_eq!(count_rows(&rep, 1), 4);
        assert_eq!(preamble(&rep, Some(&def), 1, 0), (0, 0));
        assert_eq!(
            select(&rep, Some(&def), &[0..1, 1..3, 3..4]).unwrap(),
            [(0..1, 0..0), (1..3, 0..1), (3..5, 1..3)]
        );
    }

    #[test]
    fn rows_that_are_not_there_are_refused() {
        let rep = [0, 1, 0, 1];
        assert_eq!(select(&rep, None, &[0..2, 2..2]).unwrap(), [(1..4, 1..4), (4..4, 4..4)]);
        assert!(matches!(select(&rep, None, &[1..3]), Err(Error::Corrupt(_))));
        assert!(matches!(select(&rep, None, &[1..2, 0..1]), Err(Error::Invalid(_))));
        assert!(matches!(select(&[], None, &[0..1]), Err(Error::Corrupt(_))));
        assert!(matches!(select(&[0, 0], None, &[0..1]), Err(Error::Corrupt(_))));
    }

    proptest! {
        #[test]
        fn selection_agrees_with_a_walk_over_the_entries(
            levels in proptest::collection::vec((0u16..3, 0u16..4), 0..300),
            mut cuts in proptest::collection::vec(0usize..150, 0..8),
            with_def in any::<bool>(),
        ) {
            let (rep, def): (Vec<u16>, Vec<u16>) = levels.into_iter().unzip();
            let mut starts: Vec<usize> = (0..rep.len()).filter(|i| rep[*i] == 2).collect();
            let num_rows = starts.len();
            starts.push(rep.len());
            let values_before =
                |entry: usize| def[..entry].iter().filter(|d| !with_def || **d <= 1).count();

            for cut in &mut cuts { *cut = (*cut).min(num_rows); }
            cuts.sort();
            let rows: Vec<Range<usize>> = cuts.chunks_exact(2).map(|c| c[0]..c[1]).collect();
            let expected: Selected = rows.iter().map(|r| {
                let entries = starts[r.start]..starts[r.end];
                (entries.clone(), values_before(entries.start)..values_before(entries.end))
            }).collect();
            let mut selected = Vec::new();
            let def_stream = with_def.then_some(&def[..]);
            select_rows(&rep, def_stream, 2, 1, &rows, |e, v| selected.push((e, v))).unwrap();
            prop_assert_eq!(selected, expected);
            prop_assert_eq!(count_rows(&rep, 2), num_rows);
        }
    }
}
