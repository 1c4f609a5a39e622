//! Lance tables: folders with versions, as tables of DataFusion.
//!
//! A scan of a table is a scan of files in which each file is a fragment, so that whatever DataFusion does with files it does
//! with fragments too: share them out, cut them into parts, push columns, filters and limits down. `open` turns the names
//! of such files back into fragments.

mod catalog;
mod change;
mod factory;
mod find;
mod open;
mod options;
mod statistics;

use std::fmt;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{exec_err, not_impl_err, plan_err, project_schema};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableType, WriteOp};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use lancet_table::{At, TableChange};
use object_store::path::Path;
use tokio::sync::Mutex;

use crate::source::LanceSource;

pub(crate) use catalog::with_tables;
pub(crate) use change::{CopySink, TableChanges};
pub use factory::LanceTableFactory;
pub(crate) use find::{check_is_file, is_table};
pub use open::OpenTable;
pub use options::LanceTableOptions;

/// A Lance table: one of its versions, or for each query the latest one.
///
/// Statements can change it, unless a version or a tag was asked for: `INSERT`, `UPDATE`, `DELETE`, each in one new version.
/// The table moves to that version.
///
/// ```no_run
/// # use datafusion::datasource::listing::ListingTableUrl;
/// # use datafusion::prelude::SessionContext;
/// # async fn read() -> datafusion::error::Result<()> {
/// use lancet_datafusion::{At, LanceTable, LanceTableOptions};
///
/// let ctx = SessionContext::new();
/// let options = LanceTableOptions::default().with_version(At::Tag("released".into())).with_row_ids(true);
/// let url = ListingTableUrl::parse("cities.lance")?;
/// let table = LanceTable::open(&ctx.runtime_env(), &url, options).await?;
/// ctx.register_table("cities", std::sync::Arc::new(table))?;
/// ctx.sql("SELECT _rowid, name FROM cities WHERE population > 1000000").await?.show().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LanceTable {
    store: ObjectStoreUrl,
    path: Path,
    /// They name the version that is open, or what is followed.
    options: LanceTableOptions,
    /// What was asked for when it was opened.
    asked: At,
    schema: SchemaRef,
    /// Whether a query reads the latest version there is when it is planned.
    follows: bool,
    /// Clones are the same table.
    now: Arc<Mutex<Option<Now>>>,
    changed: Arc<StdMutex<Option<TableChange>>>,
}

/// The version that queries read now.
struct Now {
    table: Arc<OpenTable>,
    /// When the query began that asked for it: all scans of a query are of one version.
    query: Option<i64>,
}

impl LanceTable {
    /// Opens the table at a URL. What is opened stays: queries read this version, even when there are newer ones.
    pub async fn open(
        runtime: &RuntimeEnv,
        url: &ListingTableUrl,
        options: LanceTableOptions,
    ) -> Result<Self> {
        Self::open_at(runtime, url.object_store(), url.prefix().clone(), options).await
    }

    pub(crate) async fn open_at(
        runtime: &RuntimeEnv,
        store: ObjectStoreUrl,
        path: Path,
        options: LanceTableOptions,
    ) -> Result<Self> {
        let asked = options.at().clone();
        let table = OpenTable::open(runtime, store.clone(), path.clone(), options).await?;
        let (schema, options) = (table.schema(runtime).await?, table.options().clone());
        let now = Arc::new(Mutex::new(Some(Now { table: Arc::new(table), query: None })));
        let changed = Arc::default();
        Ok(Self { store, path, options, asked, schema, follows: false, now, changed })
    }

    /// A table that was opened elsewhere, and has this schema. It is opened again by the first query.
    pub fn unopened(
        store: ObjectStoreUrl,
        path: Path,
        options: LanceTableOptions,
        schema: SchemaRef,
    ) -> Self {
        let asked = options.at().clone();
        let (now, changed) = Default::default();
        Self { store, path, options, asked, schema, follows: true, now, changed }
    }

    /// Lets each query read the version that is the latest when it is planned: of the table, of the branch or of the tag
    /// that the options name. If the columns are others by then, that is an error.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.follows = true;
        self.options = self.options.with_version(self.asked.clone());
        self
    }

    /// The store that the table lies in.
    pub fn store(&self) -> &ObjectStoreUrl {
        &self.store
    }

    /// Where in the store it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The options that it is opened with. They name the version that was opened, or what queries follow.
    pub fn options(&self) -> &LanceTableOptions {
        &self.options
    }

    /// What the last statement that changed this table did, and which version it made.
    pub fn last_change(&self) -> Option<TableChange> {
        *self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version that a query is to read.
    async fn now(&self, state: &dyn Session) -> Result<Arc<OpenTable>> {
        let runtime = state.runtime_env();
        let began = state.execution_props().query_execution_start_time;
        let query = began.and_then(|time| time.timestamp_nanos_opt());
        let mut now = self.now.lock().await;
        let table = match now.take() {
            None => {
                let (store, path) = (self.store.clone(), self.path.clone());
                Arc::new(OpenTable::open(runtime, store, path, self.options.clone()).await?)
            }
            Some(known) if self.is_current(&known, query) => known.table,
            Some(known) => match known.table.newer(runtime, self.options.at()).await? {
                Some(newer) => Arc::new(newer),
                None => known.table,
            },
        };
        if table.schema(runtime).await? != self.schema {
            return exec_err!(
                "{}: version {} has other columns than the table had when it was named; create the \
                 external table or the view again, or name a version",
                self.path,
                table.version()
            );
        }
        *now = Some(Now { table: table.clone(), query });
        Ok(table)
    }

    /// Fails unless the newest version was asked for: an older one cannot be changed.
    fn check_can_change(&self) -> Result<()> {
        let asked = match &self.asked {
            At::Latest | At::Branch(_) => return Ok(()),
            At::Version(version) => format!("version {version}"),
            At::BranchVersion(branch, version) => format!("version {version} of `{branch}`"),
            At::Tag(tag) => format!("the version that `{tag}` names"),
            _ => "an older version".into(),
        };
        plan_err!(
            "{}: only the newest version of a table can be changed, and {asked} was asked for; name \
             the table without a version",
            self.path
        )
    }

    /// Fails if there are columns that nobody can give values.
    fn check_can_insert(&self) -> Result<()> {
        let shown = self.options.row_columns();
        match shown.is_empty() {
            true => Ok(()),
            false => plan_err!(
                "{}: its columns {} are made by the table; name it without them to add rows",
                self.path,
                shown.join(", ")
            ),
        }
    }

    /// Notes a change, and reads the version that it made from now on. An error here must not look like one of the change:
    /// who then reads the version before can open the table again.
    async fn changed(&self, from: &OpenTable, change: TableChange, runtime: &RuntimeEnv) {
        *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = Some(change);
        let made = match from.options().at() {
            At::BranchVersion(branch, _) => At::BranchVersion(branch.clone(), change.version),
            _ => At::Version(change.version),
        };
        let Ok(Some(newer)) = from.newer(runtime, &made).await else { return };
        // Whoever else has written may have changed the columns.
        if newer.schema(runtime).await.is_ok_and(|schema| schema == self.schema) {
            *self.now.lock().await = Some(Now { table: Arc::new(newer), query: None });
        }
    }

    fn is_current(&self, known: &Now, query: Option<i64>) -> bool {
        let is_fixed = matches!(self.options.at(), At::Version(_) | At::BranchVersion(..));
        !self.follows || is_fixed || query.is_some() && known.query == query
    }
}

#[async_trait]
impl TableProvider for LanceTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        scan(self.now(state).await?, &self.schema, state, projection, limit).await
    }

    /// Adds rows, or replaces all of them. DataFusion has put columns where the table has them: by position, or by the names
    /// behind that of the table.
    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.check_can_change()?;
        self.check_can_insert()?;
        let change = match op {
            InsertOp::Append => change::Change::Append,
            InsertOp::Overwrite => change::Change::Overwrite,
            InsertOp::Replace => {
                return not_impl_err!(
                    "Lance tables have no keys by which rows could be replaced; MERGE INTO names them"
                );
            }
        };
        let version = self.now(state).await?;
        Ok(change::plan(self.clone(), version, change, input))
    }

    /// Deletes the rows for which all filters are true. Statements come here only through sessions that
    /// [`register`](crate::register) did not prepare, and are refused: of their conditions only a part arrives.
    async fn delete_from(
        &self,
        state: &dyn Session,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        change::by_filters(self, state, WriteOp::Delete, Vec::new(), filters).await
    }

    /// Gives rows new values where all filters are true; see [`LanceTable::delete_from`](TableProvider::delete_from).
    async fn update(
        &self,
        state: &dyn Session,
        assignments: Vec<(String, Expr)>,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        change::by_filters(self, state, WriteOp::Update, assignments, filters).await
    }

    async fn truncate(&self, state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        change::by_filters(self, state, WriteOp::Truncate, Vec::new(), Vec::new()).await
    }
}

/// The scan of a version that has this schema.
async fn scan(
    open: Arc<OpenTable>,
    schema: &SchemaRef,
    state: &dyn Session,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let fragments = open.fragments(state.runtime_env()).await?;
    if fragments.is_empty() {
        return Ok(Arc::new(EmptyExec::new(project_schema(schema, projection)?)));
    }
    let all: Vec<usize> = (0..schema.fields().len()).collect();
    let columns = projection.unwrap_or(&all);
    // A query with a limit may end long before it would have opened all files.
    let wanted: &[usize] = if limit.is_some() { &[] } else { columns };
    let statistics = statistics::of_table_columns(&open, schema, wanted, state).await?;
    let groups = shared_out(fragments, state.config().target_partitions());
    let source = LanceSource::new(TableSchema::from(schema.clone()))
        .with_read_options(open.options().read_options().clone())
        .with_table(open.clone());
    let scan = FileScanConfigBuilder::new(open.store().clone(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_limit(limit)
        .with_projection_indices(projection.cloned())?
        .build();
    // What was asked for to plan is not part of the scan.
    let _ = open.counter().take();
    Ok(DataSourceExec::from_data_source(scan))
}

/// Fragments in at most so many groups of about the same size, in their order.
fn shared_out(
    fragments: Vec<datafusion::datasource::listing::PartitionedFile>,
    groups: usize,
) -> Vec<FileGroup> {
    let size = |fragment: &datafusion::datasource::listing::PartitionedFile| {
        u128::from(fragment.object_meta.size.max(1))
    };
    let total: u128 = fragments.iter().map(size).sum();
    let groups = groups.max(1) as u128;
    let (mut shared, mut before, mut last) = (Vec::<FileGroup>::new(), 0_u128, None);
    for fragment in fragments {
        let middle = before + size(&fragment) / 2;
        before += size(&fragment);
        let group = middle * groups / total.max(1);
        match shared.last_mut().filter(|_| last == Some(group)) {
            Some(files) => files.push(fragment),
            None => shared.push(FileGroup::new(vec![fragment])),
        }
        last = Some(group);
    }
    shared
}

impl fmt::Debug for LanceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanceTable")
            .field("path", &self.path)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// An error of a table as one of DataFusion.
pub(crate) fn of_table(error: lancet_table::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use datafusion::datasource::listing::PartitionedFile;

    use super::*;

    #[test]
    fn fragments_are_shared_out_by_size_and_keep_their_order() {
        let sizes = |sizes: &[u64], groups: usize| -> Vec<Vec<u64>> {
            let files = sizes.iter().map(|size| PartitionedFile::new("x", *size)).collect();
            let groups = shared_out(files, groups);
            groups.iter().map(|g| g.iter().map(|file| file.object_meta.size).collect()).collect()
        };
        assert_eq!(sizes(&[1, 2, 3, 4], 1), [[1, 2, 3, 4]]);
        assert_eq!(sizes(&[10, 10, 10, 10], 2), [[10, 10], [10, 10]]);
        assert_eq!(sizes(&[100, 1, 1, 1], 2), [vec![100], vec![1, 1, 1]].as_slice());
        assert_eq!(sizes(&[5, 5, 100, 5], 3), [vec![5, 5], vec![100], vec![5]].as_slice());
        assert_eq!(sizes(&[0, 0], 2), [[0], [0]]);
        assert_eq!(sizes(&[7; 10], 64).len(), 10);
        assert!(sizes(&[], 3).is_empty());
    }
}
