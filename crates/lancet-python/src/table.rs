//! Tables.

use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use lancet::Filter;
use lancet_table::{At, Table, TableOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batches::{Batches, Source};
use crate::blobs::Blobs;
use crate::data::Data;
use crate::errors::{OrRaise, looked_up, no_column, unknown_column};
use crate::filter::{filter, type_in};
use crate::memory::Memory;
use crate::options::read_options;
use crate::reader::{ScanOptions, described};
use crate::rows::{row_names, row_numbers};
use crate::schema::Schema;
use crate::work::{run, run_long};

/// Takes of more rows than these may take so long that Ctrl-C must be looked for.
const LONG_ROWS: usize = 1024;

/// One version of a table.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct TableReader {
    pub(crate) inner: Table,
    pub(crate) num_rows: u64,
}

/// Columns of a table that were looked up.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct TableProjection {
    inner: lancet_table::TableProjection,
}

#[pymethods]
impl TableProjection {
    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.inner.schema() }
    }
}

/// Which version is meant, by what the caller has said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    version: Option<u64>,
    tag: Option<String>,
    branch: Option<String>,
    /// Nanoseconds since 1970.
    instant: Option<u64>,
}

impl Wanted {
    fn at(self) -> PyResult<At> {
        Ok(match (self.version, self.tag, self.branch, self.instant) {
            (None, None, None, None) => At::Latest,
            (Some(version), None, None, None) => At::Version(version),
            (None, Some(tag), None, None) => At::Tag(tag),
            (None, None, Some(branch), None) => At::Branch(branch),
            (Some(version), None, Some(branch), None) => At::BranchVersion(branch, version),
            (None, None, None, Some(nanos)) => {
                At::Instant(UNIX_EPOCH + Duration::from_nanos(nanos))
            }
            _ => {
                return Err(PyValueError::new_err(
                    "name one of version, tag, branch (with a version of it) and timestamp",
                ));
            }
        })
    }
}

/// The number of a version, when it was made, its rows.
type VersionEntry = (u64, Option<i128>, Option<u64>);
/// The id of a fragment, its rows, its deleted rows, its data files.
type FragmentEntry = (u32, Option<u64>, Option<u64>, Vec<String>);

/// How rows are named in a take.
#[derive(Clone, Copy)]
enum Names {
    Rows,
    Ids,
    Addresses,
}

impl TableReader {
    pub(crate) fn new(py: Python<'_>, inner: Table) -> PyResult<Self> {
        let num_rows = run(py, || inner.num_rows())?;
        Ok(Self { inner, num_rows })
    }

    pub(crate) fn filter(&self, tree: &Bound<'_, PyAny>) -> PyResult<Filter> {
        filter(tree, &|name| {
            let found = self.columns(&[name.to_owned()])?;
            type_in(&found.schema(), name).ok_or_else(|| {
                let what = format!("`{name}` is inside a list, so a row has many of it");
                unknown_column(&what)
            })
        })
    }

    /// Looks up columns.
    pub(crate) fn columns(&self, names: &[String]) -> PyResult<lancet_table::TableProjection> {
        looked_up(names, &self.inner.schema(), |names| self.inner.project(names))
    }

    /// Fails where rows have a column that the table has not.
    pub(crate) fn check_columns(&self, rows: &arrow_schema::Schema) -> PyResult<()> {
        let schema = self.inner.schema();
        let other =
            rows.fields().iter().find(|field| schema.field_with_name(field.name()).is_err());
        other.map_or(Ok(()), |field| Err(no_column(field.name(), " in the table", &schema)))
    }

    fn take_named(
        &self,
        py: Python<'_>,
        rows: Vec<u64>,
        columns: &TableProjection,
        names: Names,
    ) -> PyResult<Data> {
        let (table, columns, is_long) =
            (self.inner.clone(), columns.inner.clone(), rows.len() > LONG_ROWS);
        let work = move || match names {
            Names::Rows => table.take(&rows, &columns),
            Names::Ids => table.take_row_ids(&rows, &columns),
            Names::Addresses => table.take_addresses(&rows, &columns),
        };
        let batch = if is_long { run_long(py, work)? } else { run(py, work)? };
        Ok(Data::of_batch(batch, Memory::Own))
    }
}

#[pymethods]
impl TableReader {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        wanted: Wanted,
        bases: Vec<PathBuf>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut table = TableOptions::default()
            .with_version(wanted.at()?)
            .with_read_options(read_options(options)?);
        for base in bases {
            table = table.with_base(base);
        }
        let inner = run(py, || Table::open_with(path, table))?;
        Self::new(py, inner)
    }

    fn checkout(&self, py: Python<'_>, wanted: Wanted) -> PyResult<Self> {
        let at = wanted.at()?;
        let inner = run(py, || self.inner.checkout(at))?;
        Self::new(py, inner)
    }

    /// The newest version of the same table or branch.
    fn newest(&self, py: Python<'_>) -> PyResult<Self> {
        let inner = run(py, || self.inner.newest())?;
        Self::new(py, inner)
    }

    /// The folder of the version: that of the table, or of a branch.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    #[getter]
    fn num_rows(&self) -> u64 {
        self.num_rows
    }

    #[getter]
    fn version(&self) -> u64 {
        self.inner.version()
    }

    #[getter]
    fn branch(&self) -> Option<&str> {
        self.inner.manifest().branch.as_deref()
    }

    /// When the version was made: nanoseconds since 1970.
    #[getter]
    fn timestamp(&self) -> Option<i128> {
        self.inner.manifest().timestamp_nanos
    }

    #[getter]
    fn config(&self) -> std::collections::BTreeMap<String, String> {
        self.inner.manifest().config.clone()
    }

    #[getter]
    fn version_numbers(&self) -> Vec<u64> {
        self.inner.versions().to_vec()
    }

    /// When each of all versions that are still there was made, and how many rows it has where its manifest tells.
    fn versions(&self, py: Python<'_>) -> PyResult<Vec<VersionEntry>> {
        let table = self.inner.clone();
        run_long(py, move || {
            let mut found = Vec::new();
            for version in table.versions() {
                match table.manifest_of(*version) {
                    Ok(manifest) => {
                        found.push((*version, manifest.timestamp_nanos, manifest.num_rows()));
                    }
                    // It was cleaned up since the table was opened.
                    Err(lancet_table::Error::Io { source, .. })
                        if source.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok::<_, lancet_table::Error>(found)
        })
    }

    /// Names, branches and versions.
    fn tags(&self, py: Python<'_>) -> PyResult<Vec<(String, Option<String>, u64)>> {
        let tags = run(py, || self.inner.tags())?;
        Ok(tags.into_iter().map(|tag| (tag.name, tag.branch, tag.version)).collect())
    }

    /// Names, and the branches and versions that they were made from.
    fn branches(&self, py: Python<'_>) -> PyResult<Vec<(String, Option<String>, u64)>> {
        let branches = run(py, || self.inner.branches())?;
        let branches = branches.into_iter();
        Ok(branches.map(|branch| (branch.name, branch.parent, branch.parent_version)).collect())
    }

    /// All fragments, in the order of the rows.
    fn fragments(&self) -> Vec<FragmentEntry> {
        let fragments = self.inner.manifest().fragments.iter();
        fragments
            .map(|fragment| {
                let files = fragment.files.iter().map(|file| file.path.to_string()).collect();
                (fragment.id, fragment.num_rows(), fragment.num_deleted_rows(), files)
            })
            .collect()
    }

    /// Looks up columns; all by default.
    #[pyo3(signature = (names=None))]
    fn project(&self, names: Option<Vec<String>>) -> PyResult<TableProjection> {
        let inner = match names {
            None => self.inner.project(..).or_raise()?,
            Some(names) => self.columns(&names)?,
        };
        Ok(TableProjection { inner })
    }

    fn take(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        columns: &TableProjection,
    ) -> PyResult<Data> {
        self.take_named(py, row_numbers(rows, self.num_rows)?, columns, Names::Rows)
    }

    fn take_row_ids(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        columns: &TableProjection,
    ) -> PyResult<Data> {
        self.take_named(py, row_names(ids)?, columns, Names::Ids)
    }

    fn take_addresses(
        &self,
        py: Python<'_>,
        addresses: &Bound<'_, PyAny>,
        columns: &TableProjection,
    ) -> PyResult<Data> {
        self.take_named(py, row_names(addresses)?, columns, Names::Addresses)
    }

    #[pyo3(signature = (columns, options, fragments=None))]
    fn scan(
        &self,
        py: Python<'_>,
        columns: &TableProjection,
        options: ScanOptions<'_>,
        fragments: Option<Vec<u32>>,
    ) -> PyResult<Batches> {
        let mut scan = self.inner.scan().columns(&columns.inner);
        let is_slow = options.filter.is_some();
        if let Some(tree) = &options.filter {
            scan = scan.filter(self.filter(tree)?);
        }
        scan = described!(scan, options, self.num_rows);
        if let Some(fragments) = fragments {
            scan = scan.fragments(fragments);
        }
        Ok(Batches::new(Source::Table(run(py, || scan.build())?), is_slow, Memory::Own))
    }

    /// The rows outside of which none matches, as pairs.
    fn prune(&self, py: Python<'_>, tree: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        let (filter, table) = (self.filter(tree)?, self.inner.clone());
        // It opens the files of all fragments.
        let left = run_long(py, move || table.prune(&filter))?;
        Ok(left.iter().map(|rows| (rows.start, rows.end)).collect())
    }

    fn blobs(&self, py: Python<'_>, column: String) -> PyResult<Blobs> {
        self.columns(std::slice::from_ref(&column))?;
        Ok(Blobs::of_table(run(py, || self.inner.blobs(&column))?, self.num_rows))
    }

    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.inner.clone();
        let found = run_long(py, move || table.verify(|_| {}))?;
        let pairs = |problems: &[lancet_table::TableProblem]| -> Vec<(String, String)> {
            problems.iter().map(|found| (found.file.clone(), found.what.clone())).collect()
        };
        let dict = PyDict::new(py);
        dict.set_item("problems", pairs(&found.problems))?;
        dict.set_item("unread", pairs(&found.unread))?;
        dict.set_item("num_data_files", found.num_data_files)?;
        dict.set_item("num_deletion_files", found.num_deletion_files)?;
        Ok(dict)
    }
}
