//! One version of a table, and its fragments as the files of a scan.

use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::{exec_err, internal_datafusion_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnv;
use lancet_object_store::{FetchCounter, FetchOptions};
use lancet_table::{At, Fragment as Listed, StoreTable};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use tokio::sync::OnceCell;

use super::{LanceTableOptions, of_table};
use crate::files::fetch_options;
use crate::readable::Fragment;

/// What stands before the id of a fragment in the name of its file.
const FRAGMENT: &str = "fragment-";
/// Bytes of a row, where the manifest does not tell the sizes of files.
const ROW_BYTES: u64 = 64;

/// One version of a table, which all parts of a scan share. It is open, or will be opened by the first who reads it.
pub struct OpenTable {
    store: ObjectStoreUrl,
    path: Path,
    /// They name one version, which is the same whenever it is opened.
    options: LanceTableOptions,
    counter: Arc<FetchCounter>,
    table: OnceCell<Opened>,
}

/// What is known when it is open.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) table: StoreTable,
    schema: SchemaRef,
}

impl OpenTable {
    /// Opens a table at the version that the options ask for.
    pub(super) async fn open(
        runtime: &RuntimeEnv,
        store: ObjectStoreUrl,
        path: Path,
        options: LanceTableOptions,
    ) -> Result<Self> {
        let mut open = Self::unopened(store, path, options);
        let version = open.opened(runtime).await?.table.clone();
        open.options = open.options.with_version(exactly(&version));
        Ok(open)
    }

    /// A version that was opened elsewhere: the options name it by its number.
    pub fn unopened(store: ObjectStoreUrl, path: Path, options: LanceTableOptions) -> Self {
        Self { store, path, options, counter: Arc::default(), table: OnceCell::new() }
    }

    /// The version that is asked for now, if it is another one.
    pub(super) async fn newer(&self, runtime: &RuntimeEnv, at: &At) -> Result<Option<Self>> {
        let known = self.opened(runtime).await?;
        let is_newest_wanted = match (at, self.options.at()) {
            (At::Latest, At::Version(_)) => true,
            (At::Branch(wanted), At::BranchVersion(branch, _)) => wanted == branch,
            _ => false,
        };
        if is_newest_wanted && known.table.is_latest().await.map_err(of_table)? {
            return Ok(None);
        }
        let table = known.table.checkout(at.clone()).await.map_err(of_table)?;
        if exactly(&table) == *self.options.at() {
            return Ok(None);
        }
        let options = self.options.clone().with_version(exactly(&table));
        let schema = options.schema(&table.schema())?;
        Ok(Some(Self {
            store: self.store.clone(),
            path: self.path.clone(),
            options,
            counter: self.counter.clone(),
            table: OnceCell::new_with(Some(Opened { table, schema })),
        }))
    }

    /// The same version, whose rows have their addresses beside them.
    pub(super) async fn with_addresses(&self, runtime: &RuntimeEnv) -> Result<Self> {
        let table = self.opened(runtime).await?.table.clone();
        let options = self.options.clone().with_row_addresses(true);
        let schema = options.schema(&table.schema())?;
        Ok(Self {
            store: self.store.clone(),
            path: self.path.clone(),
            options,
            counter: self.counter.clone(),
            table: OnceCell::new_with(Some(Opened { table, schema })),
        })
    }

    /// The store that the table lies in.
    pub fn store(&self) -> &ObjectStoreUrl {
        &self.store
    }

    /// Where in the store it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The options that it is opened with; they name its version.
    pub fn options(&self) -> &LanceTableOptions {
        &self.options
    }

    /// Its version, as people write it.
    pub(super) fn version(&self) -> String {
        match self.options.at() {
            At::Version(version) => version.to_string(),
            At::BranchVersion(branch, version) => format!("{branch}:{version}"),
            other => format!("{other:?}"),
        }
    }

    pub(super) fn counter(&self) -> &FetchCounter {
        &self.counter
    }

    pub(super) async fn opened(&self, runtime: &RuntimeEnv) -> Result<&Opened> {
        let (store, fetch) = (runtime.object_store(&self.store)?, fetch_options(&self.store));
        self.opened_in(&store, &fetch).await
    }

    async fn opened_in(
        &self,
        store: &Arc<dyn ObjectStore>,
        fetch: &FetchOptions,
    ) -> Result<&Opened> {
        let open = || async {
            let fetch = fetch.clone().with_counter(self.counter.clone());
            let (path, options) = (self.path.clone(), self.options.for_table());
            let table = match self.store.as_str().starts_with("file:") {
                true => StoreTable::open_on_disk(store.clone(), path, options, fetch).await,
                false => StoreTable::open_with(store.clone(), path, options, fetch).await,
            };
            let table = table.map_err(of_table)?;
            let schema = self.options.schema(&table.schema())?;
            Ok(Opened { table, schema })
        };
        self.table.get_or_try_init(open).await
    }

    /// Its columns, with those that rows have of themselves.
    pub(super) async fn schema(&self, runtime: &RuntimeEnv) -> Result<SchemaRef> {
        Ok(self.opened(runtime).await?.schema.clone())
    }

    /// Its fragments that have rows, as files of a scan. The size of such a file is that of the data files together: a
    /// range of its bytes stands for as large a part of its rows.
    pub(super) async fn fragments(&self, runtime: &RuntimeEnv) -> Result<Vec<PartitionedFile>> {
        let table = &self.opened(runtime).await?.table;
        let mut files = Vec::with_capacity(table.manifest().fragments.len());
        for listed in &table.manifest().fragments {
            if listed.num_rows() == Some(0) {
                continue;
            }
            let rows = match listed.physical_rows {
                Some(rows) => rows,
                None => {
                    let fragment = table.fragment(listed.id).map_err(of_table)?;
                    fragment.physical_rows().await.map_err(of_table)?
                }
            };
            let size = size_of(listed).unwrap_or_else(|| rows.saturating_mul(ROW_BYTES));
            let name = format!("{}@{}/{FRAGMENT}{}", self.path, self.version(), listed.id);
            files.push(PartitionedFile::new(name, size.clamp(1, i64::MAX as u64)));
        }
        Ok(files)
    }

    /// The fragment that a file of a scan stands for.
    pub(crate) async fn fragment(
        &self,
        store: &Arc<dyn ObjectStore>,
        fetch: &FetchOptions,
        file: &ObjectMeta,
    ) -> Result<Fragment> {
        let name = file.location.filename();
        let id = name.and_then(|name| name.strip_prefix(FRAGMENT)?.parse().ok());
        let id: u32 =
            id.ok_or_else(|| internal_datafusion_err!("{}: is no fragment", file.location))?;
        let Opened { table, schema } = self.opened_in(store, fetch).await?.clone();
        let fragment = table.fragment(id).map_err(of_table)?;
        let physical_rows = fragment.physical_rows().await.map_err(of_table)?;
        if i64::try_from(physical_rows).is_err() {
            return exec_err!("{}: has more rows than a query can count", file.location);
        }
        Ok(Fragment { table, fragment, schema, physical_rows, counter: self.counter.clone() })
    }
}

/// The version of an open table, by its number.
fn exactly(table: &StoreTable) -> At {
    let manifest = table.manifest();
    match &manifest.branch {
        Some(branch) => At::BranchVersion(branch.clone(), manifest.version),
        None => At::Version(manifest.version),
    }
}

/// The bytes of the data files of a fragment, if the manifest tells them.
fn size_of(fragment: &Listed) -> Option<u64> {
    let sizes = fragment.files.iter().map(|file| file.size_bytes);
    sizes.sum::<Option<u64>>()
}

impl fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenTable")
            .field("path", &self.path)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
