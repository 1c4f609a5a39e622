//! Row ids and row versions of new fragments.

use lancet_row_ids::{RowIdSequence, RowVersionSequence};

use super::draft::Draft;
use crate::error::Problem;
use crate::fragment::Fragment;
use crate::row_ids::Stored;

/// What is known of the rows of a new fragment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NewRows {
    /// Nobody has seen them before.
    Fresh,
    /// The first ones were elsewhere, and have changed.
    Changed,
    /// All were elsewhere, and are the same.
    Moved,
}

impl Draft<'_> {
    /// Gives row ids and versions to a new fragment.
    pub(super) fn number_rows(
        &mut self,
        fragment: &mut Fragment,
        rows: NewRows,
    ) -> Result<(), Problem> {
        let version = self.manifest.version;
        let num_rows = rows_of(fragment)?;
        if rows == NewRows::Moved {
            return match &fragment.row_ids {
                Some(_) => Ok(()),
                None => Err(Problem::corrupt("a rewritten fragment has no row ids")),
            };
        }
        let (mut ids, mut created) = (RowIdSequence::new(), RowVersionSequence::new());
        if rows == NewRows::Changed {
            ids = match &fragment.row_ids {
                Some(Stored::Inline(bytes)) => RowIdSequence::decode(bytes)?,
                _ => ids,
            };
            created = match &fragment.created {
                Some(Stored::Inline(bytes)) => RowVersionSequence::decode(bytes)?,
                _ => RowVersionSequence::uniform(ids.len(), 1),
            };
        }
        let fresh = num_rows.checked_sub(ids.len());
        let fresh = fresh.filter(|_| created.len() == ids.len());
        let fresh = fresh.ok_or_else(|| Problem::corrupt("a new fragment has too many row ids"))?;
        if fresh > 0 {
            let first = self.manifest.next_row_id;
            // The last id is never that of a row.
            let end = first.checked_add(fresh).filter(|end| *end < u64::MAX);
            let end = end.ok_or_else(|| Problem::unsupported("the table has no row ids left"))?;
            ids.extend(&RowIdSequence::from(first..end))?;
            created.extend(&RowVersionSequence::uniform(fresh, version))?;
            self.manifest.next_row_id = end;
        }
        fragment.row_ids = Some(Stored::Inline(ids.encode()));
        fragment.created = Some(Stored::Inline(created.encode()));
        fragment.last_updated = Some(uniform(num_rows, version));
        Ok(())
    }
}

pub(super) fn rows_of(fragment: &Fragment) -> Result<u64, Problem> {
    let rows = fragment.physical_rows;
    rows.ok_or_else(|| {
        Problem::corrupt(format!("the rows of fragment {} are not known", fragment.id))
    })
}

/// One version for all rows.
pub(super) fn uniform(rows: u64, version: u64) -> Stored {
    Stored::Inline(RowVersionSequence::uniform(rows, version).encode())
}
