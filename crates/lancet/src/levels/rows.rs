//! Rows inside a run of entries: which entries and which values belong to them.
//!
//! ```text
//! rep      0 0 | 2 1 0 | 2 | 2 0        max_rep = 2: a row begins at every 2
//!        preamble  row 0  row 1  row 2
//! ```
//!
//! Rows are counted from the first one that begins in the run; the entries before it (the preamble) continue a row of
//! the run before.

use std::borrow::Cow;
use std::ops::Range;

use crate::bits::{Bits, Planes};
use crate::error::{Error, Result};
use crate::levels::Numbering;

/// The rows of a run.
pub(crate) struct Rows<'a> {
    /// The entries that begin a row.
    starts: Cow<'a, Bits>,
    /// Number of rows that begin in the run.
    pub(crate) num_started: usize,
    /// The entries that own no value, if there may be some.
    hidden: Option<Cow<'a, Bits>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(rep: &'a Planes, def: Option<&'a Planes>, numbering: &Numbering) -> Self {
        let starts = rep.at_least(numbering.max_rep);
        let num_started = starts.count();
        let hidden = def.map(|def| def.above(numbering.max_visible));
        Self { starts, num_started, hidden }
    }

    /// Number of entries that own a value.
    pub(crate) fn num_values(&self) -> usize {
        self.values_in(0..self.starts.len())
    }

    /// Whether the run continues a row; none if it has no entries.
    pub(crate) fn continues(&self) -> Option<bool> {
        (self.starts.len() > 0).then(|| !self.starts.get(0))
    }

    /// Entries and values before the first row that begins in the run: all of them if none begins.
    pub(crate) fn preamble(&self) -> (usize, usize) {
        let entries = self.starts.nth(0, 0).unwrap_or(self.starts.len());
        (entries, self.values_in(0..entries))
    }

    fn values_in(&self, entries: Range<usize>) -> usize {
        let num_entries = entries.len();
        let num_hidden = self.hidden.as_ref().map_or(0, |hidden| hidden.count_in(entries));
        num_entries.saturating_sub(num_hidden)
    }

    /// Calls `on(entries, values)` for each of the wanted row ranges, which must be in order and must not overlap.
    /// The last row goes to the end of the run.
    pub(crate) fn select(
        &self,
        wanted: &[Range<usize>],
        mut on: impl FnMut(Range<usize>, Range<usize>),
    ) -> Result<()> {
        let (entry, value) = self.preamble();
        let mut walk = RowWalk { rows: self, row: 0, entry, value };
        for wanted in wanted {
            walk.advance_to(wanted.start)?;
            let (entry, value) = (walk.entry, walk.value);
            walk.advance_to(wanted.end)?;
            on(entry..walk.entry, value..walk.value);
        }
        Ok(())
    }
}

/// Stands at the first entry of `row`, or at the end.
struct RowWalk<'a> {
    rows: &'a Rows<'a>,
    row: usize,
    entry: usize,
    value: usize,
}

impl RowWalk<'_> {
    fn advance_to(&mut self, row: usize) -> Result<()> {
        let Some(skipped) = row.checked_sub(self.row) else {
            return Err(Error::invalid("row ranges are out of order"));
        };
        if skipped == 0 {
            return Ok(());
        }
        let Rows { starts, num_started, .. } = self.rows;
        if row > *num_started {
            let rule = format!("row {row} is wanted where {num_started} rows begin");
            return Err(Error::corrupt(rule));
        }
        let entry = if row == *num_started { None } else { starts.nth(self.entry, skipped) };
        let entry = entry.unwrap_or(starts.len());
        let passed = self.rows.values_in(self.entry..entry);
        self.value = self.value.saturating_add(passed);
        (self.row, self.entry) = (row, entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::Layer::{AllValidItem, EmptyableList, NullAndEmptyList, NullableItem};
    use proptest::prelude::*;

    type Selected = Vec<(Range<usize>, Range<usize>)>;

    fn with_rows<T>(rep: &[u16], def: Option<&[u16]>, look: impl FnOnce(&Rows<'_>) -> T) -> T {
        let numbering = Numbering::new(&[AllValidItem, NullAndEmptyList]).unwrap();
        look(&Rows::new(&rep.into(), def.map(Planes::from).as_ref(), &numbering))
    }

    fn num_started(rep: &[u16]) -> usize {
        with_rows(rep, None, |rows| rows.num_started)
    }

    fn select(rep: &[u16], def: Option<&[u16]>, rows: &[Range<usize>]) -> Result<Selected> {
        let mut selected = Vec::new();
        let on = |entries, values| selected.push((entries, values));
        with_rows(rep, def, |run| run.select(rows, on))?;
        Ok(selected)
    }

    #[test]
    fn rows_of_the_chunks_of_the_repetition_index_example() {
        let (rep, def) = ([1, 0, 1, 1], [0; 4]);
        assert_eq!(num_started(&rep), 3);
        assert_eq!(select(&rep, Some(&def), &[0..1, 2..3]).unwrap(), [(0..2, 0..2), (3..4, 3..4)]);

        let (rep, def) = ([0; 4], [0; 4]);
        assert_eq!(num_started(&rep), 0);
        assert_eq!(with_rows(&rep, Some(&def), |rows| rows.preamble()), (4, 4));

        let (rep, def) = ([1, 1, 1, 1, 0], [2, 1, 0, 0, 0]);
        assert_eq!(num_started(&rep), 4);
        assert_eq!(with_rows(&rep, Some(&def), |rows| rows.preamble()), (0, 0));
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
            let numbering = Numbering::new(&[NullableItem, NullAndEmptyList, EmptyableList]).unwrap();
            let def_stream = with_def.then(|| Planes::from(&def[..]));
            let rep_stream = Planes::from(&rep[..]);
            let run = Rows::new(&rep_stream, def_stream.as_ref(), &numbering);
            run.select(&rows, |e, v| selected.push((e, v))).unwrap();
            prop_assert_eq!(selected, expected);
            prop_assert_eq!(run.num_started, num_rows);
            prop_assert_eq!(run.num_values(), values_before(rep.len()));
            prop_assert_eq!(run.continues(), rep.first().map(|rep| *rep != 2));
        }
    }
}
