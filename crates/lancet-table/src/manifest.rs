//! The manifest: one version of a table.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use bytes::Bytes;
use prost::Message;

use crate::data_file::{FileVersion, LastColumns, Rules};
use crate::error::{Error, Problem, Result, ensure};
use crate::fields::{self, Field};
use crate::flags::{self, Flags};
use crate::fragment::Fragment;
use crate::message::FRAGMENTS;
use crate::names::VersionName;
use crate::schema::TableSchema;
use crate::unknown::{Kept, UnknownFields};
use crate::version_file::VersionFile;
use crate::wire::{Parts, Value, unreadable};
use crate::{container, cost, proto};

/// Names of data files share the bytes of a manifest that has no more than this for each fragment.
const SHARED_BYTES: usize = 512;

/// What parsing may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes that a decoded manifest may take. 1 GiB by default, enough for about a million
    /// fragments.
    pub max_metadata_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_metadata_bytes: 1 << 30 }
    }
}

/// One version of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Manifest {
    /// The file it was read from, as the caller named it.
    pub file: String,
    /// The version.
    pub version: u64,
    /// When it was written: nanoseconds since 1970.
    pub timestamp_nanos: Option<i128>,
    /// The program that wrote it, with its version.
    pub writer: Option<Writer>,
    /// A name of the version, in old tables.
    pub tag: String,
    /// The branch it belongs to; `None` for the main one.
    pub branch: Option<String>,
    /// What a reader must know.
    pub reader_flags: Flags,
    /// What a writer must know.
    pub writer_flags: Flags,
    /// The schema, flattened.
    pub fields: Vec<Field>,
    /// The Arrow metadata of the schema.
    pub schema_metadata: BTreeMap<String, Vec<u8>>,
    /// The rows. Versions that follow each other share what they have in common.
    pub fragments: Vec<Arc<Fragment>>,
    /// The version of the data files, where the manifest tells it.
    pub data_format: Option<FileVersion>,
    /// The highest fragment id used so far.
    pub max_fragment_id: Option<u32>,
    /// The highest field id used so far.
    pub max_field_id: Option<i32>,
    /// The first row id that is not used yet.
    pub next_row_id: u64,
    /// The settings of the table.
    pub config: BTreeMap<String, String>,
    /// What its users noted about the table.
    pub table_metadata: BTreeMap<String, String>,
    /// Other places where files of the table lie.
    pub base_paths: Vec<BasePath>,
    /// The transaction that made this version, in `_transactions/`.
    pub transaction_file: String,
    /// Where in the file the indexes are listed.
    pub index_section: Option<u64>,
    /// Where in the file the transaction is.
    pub transaction_section: Option<u64>,
    /// The same, as old writers say it.
    pub(crate) old_transaction_section: Option<u64>,
    /// What else the manifest says.
    pub unknown: UnknownFields,
}

/// The program that wrote a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Writer {
    /// Its name.
    pub library: String,
    /// Its version.
    pub version: String,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

/// Another place where files of the table lie. It is what the manifest says: do not follow it unless
/// you trust its writer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasePath {
    /// What files name it by.
    pub id: u32,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Whether it is the folder of a table, with `data/` and `_deletions/` below.
    pub is_table: bool,
    /// The folder.
    pub path: String,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

impl Manifest {
    /// The manifest in the bytes of a version file. `file` is its name or path: errors begin with it,
    /// and the version that it tells must be that of the manifest.
    pub fn parse(file: &str, bytes: &[u8], limits: &Limits) -> Result<Self> {
        Self::parse_sharing(None, file, bytes, None, limits)
    }

    /// The same, of a version that may follow another one: fragments that are the same bytes are shared with it. If none does
    /// and they are mostly names, names share the bytes.
    pub(crate) fn parse_after(
        before: Option<&VersionFile>,
        file: &str,
        bytes: &Bytes,
        limits: &Limits,
    ) -> Result<Self> {
        Self::parse_sharing(before, file, bytes, Some(bytes), limits)
    }

    fn parse_sharing(
        before: Option<&VersionFile>,
        file: &str,
        bytes: &[u8],
        shared: Option<&Bytes>,
        limits: &Limits,
    ) -> Result<Self> {
        let broken = |problem: Problem| problem.in_file(file);
        let message = container::message(bytes).map_err(broken)?;
        let limit = limits.max_metadata_bytes;
        if !cost::is_short(message, limit) {
            let needed = cost::manifest_bytes(message).map_err(broken)?;
            if needed > limit {
                let (file, option) = (file.to_owned(), "max_metadata_bytes");
                return Err(Error::Limit { file, needed, limit, option });
            }
        }
        Self::decode(before, file, message, shared).map_err(broken)
    }

    /// The schema as Arrow has it, with field and schema metadata.
    pub fn schema(&self) -> Result<SchemaRef> {
        let schema = TableSchema::new(self).map_err(|problem| problem.in_file(&self.file))?;
        Ok(schema.arrow)
    }

    /// Whether rows keep their ids when they move. Readers and writers must agree on it, and readers go by their word.
    pub fn has_stable_row_ids(&self) -> bool {
        self.reader_flags.contains(Flags::STABLE_ROW_IDS)
    }

    /// Refuses to build on a version that needs more of a writer.
    pub(crate) fn check_writable(&self) -> Result<(), Problem> {
        flags::check_writable(self.reader_flags, self.writer_flags)
    }

    /// Rows of the table without deleted ones; `None` if only the files tell.
    pub fn num_rows(&self) -> Option<u64> {
        self.sum(|fragment| fragment.num_rows())
    }

    /// Deleted rows that still lie in the files; `None` if only the files tell.
    pub fn num_deleted_rows(&self) -> Option<u64> {
        self.sum(|fragment| fragment.num_deleted_rows())
    }

    fn sum(&self, rows: impl Fn(&Fragment) -> Option<u64>) -> Option<u64> {
        self.fragments.iter().try_fold(0_u64, |sum, fragment| sum.checked_add(rows(fragment)?))
    }

    fn decode(
        before: Option<&VersionFile>,
        file: &str,
        message: &[u8],
        shared: Option<&Bytes>,
    ) -> Result<Self, Problem> {
        let (fragments, rest) = split(message)?;
        let message = Kept::<proto::Manifest>::decode(&*rest).map_err(unreadable)?;
        let Kept { message, unknown } = message;
        check_version(file, message.version)?;
        let (reader_flags, writer_flags) =
            (Flags(message.reader_feature_flags), Flags(message.writer_feature_flags));
        flags::check(reader_flags, writer_flags, message.max_allocated_field_id.is_some())?;
        if message.fragment_tree.is_some() {
            return Err(Problem::unsupported("the table uses a fragment tree"));
        }
        let data_format = message.data_format.map(data_format).transpose()?;
        let fields = fields::check(message.fields)?;
        let base_paths = base_paths(message.base_paths)?;
        let mixed = reader_flags.contains(Flags::MIXED_FILE_VERSIONS);
        let rules = Rules {
            leaves: Some(&fields::leaves(&fields)),
            bases: Some(&base_paths.iter().map(|base| base.id).collect()),
            version: if mixed { None } else { data_format },
        };
        // What was checked by the same rules is not checked again.
        let known = before.filter(|before| {
            let before = &before.manifest;
            (before.reader_flags, before.data_format) == (reader_flags, data_format)
                && before.fields == fields
                && before.base_paths == base_paths
        });
        let known = known.map_or_else(Vec::new, VersionFile::each_fragment);
        // Names keep all bytes in memory, which may be many that nobody needs: fragments of many versions that follow each other
        // would keep each a version.
        let most = fragments.len().saturating_mul(SHARED_BYTES);
        let shared = shared.filter(|bytes| known.is_empty() && bytes.len() <= most);
        let last = LastColumns::sharing(shared);
        let fragments = decode_fragments(&fragments, &known, &rules, last, reader_flags)?;
        Ok(Self {
            file: file.to_owned(),
            version: message.version,
            timestamp_nanos: message.timestamp.map(nanos),
            writer: message.writer_version.map(writer),
            tag: message.tag,
            branch: message.branch,
            reader_flags,
            writer_flags,
            fields,
            schema_metadata: message.schema_metadata,
            fragments,
            data_format,
            max_fragment_id: message.max_fragment_id,
            max_field_id: message.max_allocated_field_id,
            next_row_id: message.next_row_id,
            config: message.config,
            table_metadata: message.table_metadata,
            base_paths,
            transaction_file: message.transaction_file,
            index_section: message.index_section,
            transaction_section: message.transaction_section,
            old_transaction_section: message.old_transaction_section,
            unknown,
        })
    }
}

/// A manifest under the name of another version was moved there by mistake.
fn check_version(file: &str, version: u64) -> Result<(), Problem> {
    let name = Path::new(file).file_name().and_then(|name| name.to_str());
    if let Some(named) = name.and_then(VersionName::parse) {
        let named = named.version;
        ensure!(version == named, "it holds version {version}, but its name is that of {named}");
    }
    Ok(())
}

fn data_format(message: Kept<proto::DataFormat>) -> Result<FileVersion, Problem> {
    let name = &message.file_format;
    if name != "lance" {
        let what = format!("the data files are `{}` files, not Lance files", name.escape_debug());
        return Err(Problem::Unsupported(what));
    }
    FileVersion::from_name(&message.version)
}

fn writer(Kept { message, unknown }: Kept<proto::WriterVersion>) -> Writer {
    Writer { library: message.library, version: message.version, unknown }
}

fn nanos(time: proto::Timestamp) -> i128 {
    let seconds = i128::from(time.seconds).saturating_mul(1_000_000_000);
    seconds.saturating_add(i128::from(time.nanos))
}

pub(crate) fn base_paths(messages: Vec<Kept<proto::BasePath>>) -> Result<Vec<BasePath>, Problem> {
    let mut ids = HashSet::with_capacity(messages.len());
    let mut bases = Vec::with_capacity(messages.len());
    for message in messages {
        let Kept { message, unknown } = message;
        let id = message.id;
        ensure!(ids.insert(id), "base path {id} is listed twice");
        let is_table = message.is_dataset_root;
        bases.push(BasePath { id, name: message.name, is_table, path: message.path, unknown });
    }
    Ok(bases)
}

/// The fragments of a manifest message as they stand there, and all that is not one.
fn split(message: &[u8]) -> Result<(Vec<&[u8]>, Vec<u8>), Problem> {
    let (mut fragments, mut rest) = (Vec::new(), Vec::new());
    let mut parts = Parts::new(message);
    while let Some(part) = parts.next()? {
        match part.value {
            Value::Bytes(fragment) if part.field == FRAGMENTS => fragments.push(fragment),
            _ => rest.extend_from_slice(part.whole),
        }
    }
    Ok((fragments, rest))
}

fn decode_fragments<'a>(
    messages: &[&'a [u8]],
    mut known: &[(&[u8], &Arc<Fragment>)],
    rules: &Rules<'_>,
    mut last: LastColumns<'a>,
    flags: Flags,
) -> Result<Vec<Arc<Fragment>>, Problem> {
    let mut fragments: Vec<Arc<Fragment>> = Vec::with_capacity(messages.len());
    for message in messages {
        if let Some(((bytes, fragment), rest)) = known.split_first()
            && bytes == message
        {
            fragments.push((*fragment).clone());
            known = rest;
            continue;
        }
        let mut fragment = Fragment::decode(message, rules, &mut last)?;
        if let (Some(before), Some(fragment)) = (fragments.last(), Arc::get_mut(&mut fragment)) {
            fragment.share_lists(before);
        }
        let id = fragment.id;
        let has_ids = fragment.row_ids.is_some() || !flags.contains(Flags::STABLE_ROW_IDS);
        ensure!(has_ids, "fragment {id} has no row ids, but the table says that all have");
        fragments.push(fragment);
        // Both are sorted, mostly.
        while let Some(((_, passed), rest)) = known.split_first()
            && passed.id <= id
        {
            known = rest;
        }
    }
    // Writers sort them, so that mostly a look at the neighbours is enough.
    if !fragments.is_sorted_by(|one, next| one.id < next.id) {
        let mut ids = HashSet::with_capacity(fragments.len());
        for id in fragments.iter().map(|fragment| fragment.id) {
            ensure!(ids.insert(id), "fragment {id} is listed twice");
        }
    }
    Ok(fragments)
}
