//! Row ids and row versions that rows take along when a compaction moves them. Pure.

use lancet_row_ids::{Result, RowIdSequence, RowVersionSequence};

use crate::fragment::Fragment;
use crate::row_ids::Stored;

/// The version of rows of which nothing is noted.
const FIRST_VERSION: u64 = 1;

/// What is known of the rows of a fragment beside their values, in a table with stable row ids.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lineage {
    pub(crate) row_ids: RowIdSequence,
    /// The version each row was made in; none where nothing is noted.
    pub(crate) created: Option<RowVersionSequence>,
    /// The version each row was last changed in.
    pub(crate) last_updated: Option<RowVersionSequence>,
}

impl Lineage {
    /// Takes out the deleted rows, whose offsets increase.
    pub(crate) fn mask(&mut self, deleted: &[u32]) -> Result<()> {
        self.row_ids.mask(deleted)?;
        for versions in [&mut self.created, &mut self.last_updated].into_iter().flatten() {
            versions.mask(deleted)?;
        }
        Ok(())
    }

    /// The rows of several fragments, one after the other, cut into fragments of these sizes.
    pub(crate) fn rechunk(parts: &[Self], sizes: &[u64]) -> Result<Vec<Self>> {
        let row_ids = parts.iter().map(|part| &part.row_ids);
        let row_ids = RowIdSequence::rechunk(row_ids, sizes.iter().copied(), false)?;
        let created = Self::versions(parts, sizes, |part| part.created.as_ref())?;
        let last_updated = Self::versions(parts, sizes, |part| part.last_updated.as_ref())?;
        let all = row_ids.into_iter().zip(created).zip(last_updated);
        let all =
            all.map(|((row_ids, created), last_updated)| Self { row_ids, created, last_updated });
        Ok(all.collect())
    }

    /// Nothing is noted of the new fragments if nothing was of any of the old ones.
    fn versions(
        parts: &[Self],
        sizes: &[u64],
        of: impl Fn(&Self) -> Option<&RowVersionSequence>,
    ) -> Result<Vec<Option<RowVersionSequence>>> {
        if parts.iter().all(|part| of(part).is_none()) {
            return Ok(vec![None; sizes.len()]);
        }
        let known = parts.iter().map(|part| {
            let first = || RowVersionSequence::uniform(part.row_ids.len(), FIRST_VERSION);
            of(part).cloned().unwrap_or_else(first)
        });
        let known: Vec<RowVersionSequence> = known.collect();
        let cut = RowVersionSequence::rechunk(&known, sizes.iter().copied(), false)?;
        Ok(cut.into_iter().map(Some).collect())
    }

    /// Notes it in a fragment.
    pub(crate) fn store(&self, fragment: &mut Fragment) {
        let versions = |versions: &Option<RowVersionSequence>| {
            versions.as_ref().map(|versions| Stored::Inline(versions.encode()))
        };
        fragment.row_ids = Some(Stored::Inline(self.row_ids.encode()));
        fragment.created = versions(&self.created);
        fragment.last_updated = versions(&self.last_updated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(ids: &[u64], created: Option<&[u64]>) -> Lineage {
        Lineage {
            row_ids: RowIdSequence::from_ids(ids).unwrap(),
            created: created.map(RowVersionSequence::from_versions),
            last_updated: None,
        }
    }

    fn rows(found: &Lineage) -> (Vec<u64>, Option<Vec<u64>>) {
        let created = found.created.as_ref().map(|versions| versions.iter().collect());
        (found.row_ids.iter().collect(), created)
    }

    #[test]
    fn live_rows_keep_what_is_known_of_them() {
        let mut first = lineage(&[5, 6, 7, 8], Some(&[2, 2, 3, 3]));
        first.mask(&[0, 2]).unwrap();
        let second = lineage(&[1, 0, 9], None);
        let cut = Lineage::rechunk(&[first, second], &[3, 2]).unwrap();
        assert_eq!(rows(&cut[0]), (vec![6, 8, 1], Some(vec![2, 3, 1])));
        assert_eq!(rows(&cut[1]), (vec![0, 9], Some(vec![1, 1])));
        assert!(cut.iter().all(|part| part.last_updated.is_none()));
    }

    #[test]
    fn sizes_must_be_those_of_the_rows() {
        let parts = [lineage(&[1, 2, 3], None)];
        assert!(Lineage::rechunk(&parts, &[4]).is_err());
        assert!(Lineage::rechunk(&parts, &[2]).is_err());
        assert_eq!(Lineage::rechunk(&parts, &[2, 1]).unwrap().len(), 2);
    }
}
