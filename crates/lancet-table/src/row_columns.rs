//! Columns that tables have of themselves: ids and addresses of rows, and the versions they are of.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use lancet::Rows;

use crate::columns::RowColumn;
use crate::error::{Problem, Result};
use crate::row_ids::{RowIds, Stored};
use crate::snapshot::Snapshot;

/// The version of rows of which nothing is noted.
const FIRST_VERSION: u64 = 1;

/// How a column of this kind is found in a fragment.
pub(crate) enum Found {
    Values(ArrayRef),
    /// The values of a hidden column.
    Hidden {
        /// The data file, by its place in the fragment.
        file: usize,
        column: u32,
    },
}

/// Offsets of rows, in the order asked for.
pub(crate) fn offsets(rows: &Rows, physical_rows: u64) -> Box<dyn Iterator<Item = u64> + '_> {
    match rows {
        Rows::Ranges(ranges) => Box::new(ranges.iter().cloned().flatten()),
        Rows::List(list) => Box::new(list.iter().copied()),
        _ => Box::new(0..physical_rows),
    }
}

/// A column of some rows of a fragment, or where it has to be read.
pub(crate) fn find(
    snapshot: &Snapshot,
    place: usize,
    column: RowColumn,
    offsets: impl Iterator<Item = u64>,
) -> Result<Found> {
    let fragment = snapshot.fragment(place)?;
    let values = match column {
        RowColumn::Address => addresses(fragment.id, offsets),
        RowColumn::Id => match snapshot.row_ids(place)?.as_ref() {
            RowIds::Addresses => addresses(fragment.id, offsets),
            RowIds::Sequence(sequence) => sequence
                .select(offsets)
                .map_err(|error| snapshot.problem(fragment, Problem::from(error)))?,
            RowIds::Column { file, column } => {
                return Ok(Found::Hidden { file: *file, column: *column });
            }
        },
        RowColumn::Created | RowColumn::LastUpdated => {
            let is_created = column == RowColumn::Created;
            let stored = if is_created { &fragment.created } else { &fragment.last_updated };
            match stored {
                None => offsets.map(|_| FIRST_VERSION).collect(),
                Some(Stored::Column { file, column }) => {
                    return Ok(Found::Hidden { file: *file, column: *column });
                }
                Some(Stored::Inline(bytes)) => {
                    let sequence = if is_created {
                        snapshot.created(place, bytes)?
                    } else {
                        snapshot.last_updated(place, bytes)?
                    };
                    versions(&sequence, offsets).ok_or_else(|| {
                        let rule = "its versions of rows are fewer than its rows";
                        snapshot.problem(fragment, Problem::corrupt(rule))
                    })?
                }
            }
        }
    };
    Ok(Found::Values(Arc::new(UInt64Array::from(values))))
}

fn addresses(fragment: u32, offsets: impl Iterator<Item = u64>) -> Vec<u64> {
    let base = u64::from(fragment) << 32;
    offsets.map(|offset| base | offset).collect()
}

/// Offsets mostly increase, and are then found in one walk.
fn versions(
    sequence: &lancet_row_ids::RowVersionSequence,
    offsets: impl Iterator<Item = u64>,
) -> Option<Vec<u64>> {
    let mut runs = sequence.counts();
    let mut run: (Range<u64>, u64) = (0..0, 0);
    let mut found = Vec::with_capacity(offsets.size_hint().0);
    for offset in offsets {
        if offset < run.0.start {
            found.push(sequence.version_at(offset)?);
            continue;
        }
        while offset >= run.0.end {
            let (count, version) = runs.next()?;
            run = (run.0.end..run.0.end.saturating_add(count), version);
        }
        found.push(run.1);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use lancet_row_ids::RowVersionSequence;

    use super::*;

    #[test]
    fn versions_come_in_any_order() {
        let sequence = RowVersionSequence::from_versions(&[1, 1, 4, 2, 2, 2]);
        let found = versions(&sequence, [5, 0, 2, 3, 1, 1].into_iter());
        assert_eq!(found, Some(vec![2, 1, 4, 2, 1, 1]));
        assert_eq!(versions(&sequence, [6].into_iter()), None);
    }
}
