//! A version file as a whole: the manifest, and the sections beside it that only writers need.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::container::{self, NewFile};
use crate::cost::each_field;
use crate::error::{Problem, Result};
use crate::fragment::Fragment;
use crate::indexes::Indexes;
use crate::manifest::{Limits, Manifest};
use crate::message::FRAGMENTS;
use crate::storage::Storage;
use crate::transaction::Transaction;

/// A version file, read or about to be written.
#[derive(Debug, Clone)]
pub(crate) struct VersionFile {
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) bytes: Bytes,
}

impl VersionFile {
    pub(crate) fn parse(file: &str, bytes: Bytes, limits: &Limits) -> Result<Self> {
        Self::parse_after(None, file, bytes, limits)
    }

    /// The same of a version that follows another one, of which it keeps most.
    pub(crate) fn parse_after(
        before: Option<&Self>,
        file: &str,
        bytes: Bytes,
        limits: &Limits,
    ) -> Result<Self> {
        let manifest = Manifest::parse_after(before, file, &bytes, limits)?;
        Ok(Self { manifest: Arc::new(manifest), bytes })
    }

    /// Whether it is still the file at a path, and not one of another table that came into the place of this one. The transaction
    /// in it tells, which has a uuid.
    pub(crate) async fn is_at<S: Storage>(&self, storage: &S, path: &Path) -> bool {
        let position = self.manifest.transaction_section;
        let section =
            position.map(|position| (position, container::section(&self.bytes, position)));
        let Some((position, Ok(section))) = section else { return false };
        let start = position.saturating_add(container::LENGTH_BYTES);
        match storage.read_range(path, start, section.len() as u64).await {
            Ok((there, size)) => there == section && size == self.bytes.len() as u64,
            Err(_) => false,
        }
    }

    fn problem(&self, problem: Problem) -> crate::Error {
        problem.in_file(&self.manifest.file)
    }

    /// The indexes that the version lists.
    pub(crate) fn indexes(&self) -> Result<Indexes> {
        let Some(position) = self.manifest.index_section else { return Ok(Indexes::default()) };
        let section = container::section(&self.bytes, position);
        section.and_then(Indexes::parse).map_err(|problem| self.problem(problem))
    }

    /// The transaction that made the version, if it is in the file.
    pub(crate) fn transaction(&self, limits: &Limits) -> Result<Option<Transaction>> {
        let manifest = &self.manifest;
        let section = manifest.transaction_section.or(manifest.old_transaction_section);
        let Some(position) = section else { return Ok(None) };
        let section = container::section(&self.bytes, position);
        let section = section.map_err(|problem| self.problem(problem))?;
        Transaction::parse(&manifest.file, section, limits).map(Some)
    }

    /// The fragments, as they stand in the file and as they were read.
    pub(crate) fn each_fragment(&self) -> Vec<(&[u8], &Arc<Fragment>)> {
        // It was walked when it was read.
        let encoded = self.encoded_fragments().unwrap_or_default();
        encoded.into_iter().zip(&self.manifest.fragments).collect()
    }

    /// The fragments as they stand in the file, in its order.
    pub(crate) fn encoded_fragments(&self) -> Result<Vec<&[u8]>> {
        let mut fragments = Vec::with_capacity(self.manifest.fragments.len());
        let walked = container::message(&self.bytes).and_then(|message| {
            each_field(message, |number, value| {
                if number == FRAGMENTS {
                    fragments.push(value);
                }
                Ok(())
            })
        });
        walked.map_err(|problem| self.problem(problem))?;
        Ok(fragments)
    }
}

/// The bytes of the file of a new version. `manifest` gets the places of its sections; `fragments` are those of the version,
/// encoded.
pub(crate) fn encode<'a>(
    manifest: &mut Manifest,
    fragments: impl IntoIterator<Item = Cow<'a, [u8]>>,
    indexes: &Indexes,
    transaction: &Transaction,
) -> Result<Bytes> {
    let encode = || {
        let mut file = NewFile::default();
        let section = indexes.encode().map(|section| file.add(&section)).transpose();
        manifest.index_section = section?;
        manifest.transaction_section = Some(file.add(&transaction.encode())?);
        manifest.old_transaction_section = None;
        file.finish(&manifest.encode_with(fragments))
    };
    let bytes = encode();
    bytes.map(Bytes::from).map_err(|problem: Problem| problem.in_file(&manifest.file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{Naming, VersionName};
    use crate::next::{Given, Next};
    use crate::transaction::{Append, Operation};

    /// Damaged version files are refused, or a version on top of them is built: nothing in between.
    #[test]
    fn damaged_versions_do_no_harm() {
        let limits = Limits::default();
        let append = Operation::Append(Append::default());
        let (mut random, mut built, mut refused) = (0x9e37_79b9_u64, 0, 0);
        let mut roll = |sides: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random).unwrap() % sides
        };
        for (name, bytes) in crate::golden::version_files() {
            for _ in 0..40 {
                let mut damaged = bytes.clone();
                for _ in 0..=roll(3) {
                    let at = roll(damaged.len());
                    damaged[at] ^= 1 << roll(8);
                }
                let Ok(file) = VersionFile::parse(&name, damaged.into(), &limits) else {
                    refused += 1;
                    continue;
                };
                let _ = file.transaction(&limits);
                let transaction =
                    Transaction::new(file.manifest.version, "u".into(), append.clone());
                let given = Given::default();
                let next = Next::build(Some(&file), &transaction, &given, 0);
                let path = VersionName { version: file.manifest.version + 1, naming: Naming::V2 };
                let path = path.file_name();
                match next.and_then(|next| next.into_bytes(path.clone(), &transaction)) {
                    Ok(next) => {
                        // A commit reads it again before it writes it.
                        let Ok(next) = VersionFile::parse(&path, next, &limits) else {
                            refused += 1;
                            continue;
                        };
                        let indexes = next.indexes().unwrap();
                        assert_eq!(indexes, file.indexes().unwrap(), "{name}");
                        built += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(built > 100 && refused > 100, "{built} built, {refused} refused");
    }
}
