//! Which version of which table is read, and how, as bytes.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{internal_datafusion_err, plan_datafusion_err};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::object_store::path::Path;
use lancet_datafusion::{At, LanceTable, LanceTableOptions, OpenTable};
use prost::Message;

use crate::reading::ReadMessage;

/// A table at a version.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct VersionedMessage {
    #[prost(string, tag = "1")]
    store: String,
    #[prost(string, tag = "2")]
    path: String,
    #[prost(uint64, optional, tag = "3")]
    version: Option<u64>,
    #[prost(string, optional, tag = "4")]
    branch: Option<String>,
    #[prost(string, optional, tag = "5")]
    tag: Option<String>,
    #[prost(message, optional, tag = "6")]
    read: Option<ReadMessage>,
    #[prost(bool, tag = "7")]
    row_ids: bool,
    #[prost(bool, tag = "8")]
    row_addresses: bool,
    #[prost(bool, tag = "9")]
    row_versions: bool,
    #[prost(message, repeated, tag = "10")]
    bases: Vec<BaseMessage>,
}

/// A folder that the table may read: where it was, and where it is.
#[derive(Clone, PartialEq, Message)]
struct BaseMessage {
    #[prost(string, tag = "1")]
    recorded: String,
    #[prost(string, tag = "2")]
    actual: String,
}

impl VersionedMessage {
    pub(crate) fn new(
        store: &ObjectStoreUrl,
        path: &Path,
        options: &LanceTableOptions,
    ) -> Result<Self> {
        let (version, branch, tag) = match options.at().clone() {
            At::Latest => (None, None, None),
            At::Version(version) => (Some(version), None, None),
            At::Branch(branch) => (None, Some(branch), None),
            At::BranchVersion(branch, version) => (Some(version), Some(branch), None),
            At::Tag(tag) => (None, None, Some(tag)),
            other => {
                return Err(plan_datafusion_err!(
                    "{path}: {other:?} cannot be sent to other machines; name a version by its number"
                ));
            }
        };
        let text = |folder: &std::path::Path| folder.to_string_lossy().into_owned();
        let bases = options.bases().iter().map(|(recorded, actual)| BaseMessage {
            recorded: text(recorded),
            actual: text(actual),
        });
        Ok(Self {
            store: store.as_str().to_owned(),
            path: path.to_string(),
            version,
            branch,
            tag,
            read: Some(options.read_options().into()),
            row_ids: options.row_ids(),
            row_addresses: options.row_addresses(),
            row_versions: options.row_versions(),
            bases: bases.collect(),
        })
    }

    fn parts(self) -> Result<(ObjectStoreUrl, Path, LanceTableOptions)> {
        let at = match (self.version, self.branch, self.tag) {
            (None, None, None) => At::Latest,
            (Some(version), None, None) => At::Version(version),
            (None, Some(branch), None) => At::Branch(branch),
            (Some(version), Some(branch), None) => At::BranchVersion(branch, version),
            (None, None, Some(tag)) => At::Tag(tag),
            _ => return Err(internal_datafusion_err!("a table is asked for at two versions")),
        };
        let options = LanceTableOptions::default()
            .with_version(at)
            .with_read_options(self.read.map_or_else(Default::default, Into::into))
            .with_row_ids(self.row_ids)
            .with_row_addresses(self.row_addresses)
            .with_row_versions(self.row_versions);
        let options = self
            .bases
            .into_iter()
            .fold(options, |options, base| options.with_moved_base(base.recorded, base.actual));
        Ok((ObjectStoreUrl::parse(&self.store)?, Path::parse(&self.path)?, options))
    }

    /// The table, as a scheduler plans queries over it.
    pub(crate) fn table(self, schema: SchemaRef) -> Result<LanceTable> {
        let (store, path, options) = self.parts()?;
        Ok(LanceTable::unopened(store, path, options, schema))
    }

    /// The version, as an executor reads it.
    pub(crate) fn open_table(self) -> Result<OpenTable> {
        let (store, path, options) = self.parts()?;
        Ok(OpenTable::unopened(store, path, options))
    }
}
