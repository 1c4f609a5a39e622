//! The next version of a table, built out of the latest one and a transaction. Pure: it reads nothing.
//!
//! Ids of fragments, row ids and row versions are given here, and not when files are written: who commits second takes
//! the numbers behind those of the first.

mod carried;
mod draft;
mod numbers;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;

use crate::data_file::FileVersion;
use crate::error::Result;
use crate::indexes::Indexes;
use crate::manifest::Manifest;
use crate::transaction::Transaction;
use crate::version_file::{self, VersionFile};
use draft::{Draft, Slot};

/// A new version before it has a file.
pub(crate) struct Next<'a> {
    /// Without fragments.
    pub(crate) manifest: Manifest,
    fragments: Vec<Slot<'a>>,
    /// The version that fragments were kept from.
    source: Option<&'a VersionFile>,
    indexes: Indexes,
}

/// What a transaction does not say, but its version needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// Of a new table: whether rows keep their ids.
    pub(crate) stable_row_ids: bool,
    /// Of a new or overwritten table: the version of its data files.
    pub(crate) data_format: Option<FileVersion>,
    /// Of a restored one: the version that comes back.
    pub(crate) restored: Option<Arc<VersionFile>>,
}

impl<'a> Next<'a> {
    /// The bytes of the version's file, which is to have a name. Fragments that nobody touched are copied as bytes.
    pub(crate) fn into_bytes(mut self, file: String, transaction: &Transaction) -> Result<Bytes> {
        self.manifest.file = file;
        let encoded = match self.source {
            Some(source) => source.encoded_fragments()?,
            None => Vec::new(),
        };
        let fragments = self.fragments.iter().map(|slot| match slot {
            Slot::Kept(place, fragment) => {
                encoded.get(*place).map_or_else(|| fragment.encoded(), |bytes| (*bytes).into())
            }
            Slot::New(fragment) => fragment.encoded(),
        });
        version_file::encode(&mut self.manifest, fragments, &self.indexes, transaction)
    }

    /// The first version of a table, or the one behind `latest`.
    pub(crate) fn build(
        latest: Option<&'a VersionFile>,
        transaction: &Transaction,
        given: &'a Given,
        now_nanos: i128,
    ) -> Result<Self> {
        let file = latest.map_or("the new table", |latest| latest.manifest.file.as_str());
        let draft = Draft::new(latest, given);
        let draft = draft.and_then(|mut draft| {
            draft.apply(&transaction.operation, given)?;
            Ok(draft)
        });
        let draft = draft.map_err(|problem| problem.in_file(file))?;
        let no_files = draft.contents().no_transaction_files;
        let mut next = draft.finish();
        next.manifest.timestamp_nanos = Some(now_nanos);
        next.manifest.transaction_file =
            if no_files { String::new() } else { transaction.file_name() };
        Ok(next)
    }
}
