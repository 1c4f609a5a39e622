//! Columns, as they are asked for and resolved.

use std::fmt;
use std::ops::RangeFull;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use crate::error::{Error, Result, ensure};
use crate::schema::columns::Node;
use crate::schema::descriptions::describe_blobs;
use crate::schema::leaves::{LeafColumnType, leaves_of};
use crate::schema::projection::FileFields;
use crate::set_once::SetOnce;

/// Fewer fields than this are not worth a thread of their own.
const GROUP_FIELDS: usize = 64;

/// Columns of one file, resolved: their names are looked up once, and not again for every read.
///
/// [`OpenFile::project`](crate::OpenFile::project) makes one. It is cheap to clone.
#[derive(Clone)]
pub struct Projection(Arc<ProjectedColumns>);

/// The fields a reader was asked for, and the columns they are made of.
#[derive(Debug)]
struct ProjectedColumns {
    /// The schema of the file, which tells it from others.
    of_file: SchemaRef,
    schema: SchemaRef,
    nodes: Vec<Node>,
    leaves: Vec<LeafColumnType>,
    /// The number of rows that all columns have; known once their metadata is loaded.
    num_rows: SetOnce<u64>,
    /// The same fields in groups; see [`Projection::groups`].
    groups: SetOnce<Arc<[Projection]>>,
    /// The same fields, one by one.
    fields: SetOnce<Arc<[Projection]>>,
}

impl Projection {
    /// The schema of what is read.
    pub fn schema(&self) -> SchemaRef {
        self.0.schema.clone()
    }

    /// The same columns with blobs as structs of `position` and `size` instead of their bytes, which are
    /// then not read.
    pub fn with_blobs_described(&self) -> Result<Self> {
        let (schema, nodes) = (self.0.schema.clone(), self.0.nodes.clone());
        Self::new(&self.0.of_file, describe_blobs(&FileFields { schema, nodes }))
    }

    /// Some fields of the file that has this schema.
    pub(super) fn new(of_file: &SchemaRef, fields: FileFields) -> Result<Self> {
        let FileFields { schema, nodes } = fields;
        let leaves = leaves_of(&nodes)?;
        Ok(Self(Arc::new(ProjectedColumns {
            of_file: of_file.clone(),
            schema,
            nodes,
            leaves,
            num_rows: SetOnce::new(),
            groups: SetOnce::new(),
            fields: SetOnce::new(),
        })))
    }

    /// The fields.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// The columns, in the order in which they are assembled.
    pub(super) fn leaves(&self) -> &[LeafColumnType] {
        &self.0.leaves
    }

    /// The number of rows that all columns have; known once their metadata is loaded.
    pub(super) fn num_rows(&self) -> Option<u64> {
        self.0.num_rows.get().copied()
    }

    /// The columns are loaded, and have this many rows.
    pub(super) fn set_num_rows(&self, num_rows: u64) {
        self.0.num_rows.set(num_rows);
    }

    /// An error unless the columns are those of the file that has this schema.
    pub(super) fn check_file(&self, schema: &SchemaRef) -> Result<()> {
        if Arc::ptr_eq(&self.0.of_file, schema) {
            return Ok(());
        }
        Err(Error::invalid("the columns were resolved for another file; ask this one for them"))
    }

    /// The fields in groups, each of which is enough work for a thread; none where all of them are one.
    /// The threads of the first caller decide.
    pub(super) fn groups(&self, num_threads: usize) -> Result<Arc<[Self]>> {
        if let Some(groups) = self.0.groups.get() {
            return Ok(groups.clone());
        }
        let most = self.0.nodes.len().checked_div(GROUP_FIELDS).unwrap_or(0);
        // Two for each thread, so that none waits long for another.
        let num_groups = num_threads.saturating_mul(2).min(most);
        let groups = if num_threads > 1 && num_groups > 1 {
            self.in_groups(self.0.nodes.len().div_ceil(num_groups))?
        } else {
            Arc::default()
        };
        Ok(self.0.groups.set(groups.clone()).cloned().unwrap_or(groups))
    }

    /// The fields one by one.
    pub(super) fn fields(&self) -> Result<Arc<[Self]>> {
        if let Some(fields) = self.0.fields.get() {
            return Ok(fields.clone());
        }
        let fields = self.in_groups(1)?;
        Ok(self.0.fields.set(fields.clone()).cloned().unwrap_or(fields))
    }

    /// The fields in groups of so many.
    fn in_groups(&self, size: usize) -> Result<Arc<[Self]>> {
        let nodes = self.0.nodes.chunks(size.max(1));
        let fields = self.0.schema.fields().chunks(size.max(1));
        let group = |(nodes, fields): (&[Node], &[FieldRef])| {
            let (schema, nodes) = (Arc::new(Schema::new(fields.to_vec())), nodes.to_vec());
            Self::new(&self.0.of_file, FileFields { schema, nodes })
        };
        nodes.zip(fields).map(group).collect()
    }

    /// The arrays of some rows as a batch.
    pub(super) fn batch(&self, arrays: Vec<ArrayRef>, num_rows: u64) -> Result<RecordBatch> {
        let num_rows = usize::try_from(num_rows)
            .map_err(|_| Error::invalid(format!("{num_rows} rows are too many for one batch")))?;
        for (array, field) in arrays.iter().zip(self.0.schema.fields()) {
            ensure!(
                array.len() == num_rows,
                "field `{}` has {} rows where {num_rows} were asked for",
                field.name(),
                array.len()
            );
        }
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(self.0.schema.clone(), arrays, &options)
            .map_err(|error| Error::corrupt(error.to_string()))
    }
}

impl fmt::Debug for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.schema.fields().iter().map(|field| field.name());
        f.debug_tuple("Projection").field(&names.collect::<Vec<_>>()).finish()
    }
}

/// Which columns a read gives, in which order: all, those with some names, or a [`Projection`] that was made
/// before. Nested fields are named with dots (`doc.title`).
///
/// Methods take what becomes one: `..`, or names in an array, a slice or a vector.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Columns {
    /// All columns.
    All,
    /// By name.
    Names(Vec<String>),
    /// Resolved before.
    Resolved(Projection),
}

impl Columns {
    fn names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::Names(names.into_iter().map(|name| name.as_ref().to_owned()).collect())
    }
}

impl From<RangeFull> for Columns {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<Projection> for Columns {
    fn from(columns: Projection) -> Self {
        Self::Resolved(columns)
    }
}

impl From<&Projection> for Columns {
    fn from(columns: &Projection) -> Self {
        Self::Resolved(columns.clone())
    }
}

impl<S: AsRef<str>> From<&[S]> for Columns {
    fn from(names: &[S]) -> Self {
        Self::names(names)
    }
}

impl<S: AsRef<str>> From<Vec<S>> for Columns {
    fn from(names: Vec<S>) -> Self {
        Self::names(names)
    }
}

impl<S: AsRef<str>> From<&Vec<S>> for Columns {
    fn from(names: &Vec<S>) -> Self {
        Self::names(names)
    }
}

impl<S: AsRef<str>, const N: usize> From<[S; N]> for Columns {
    fn from(names: [S; N]) -> Self {
        Self::names(names)
    }
}

impl<S: AsRef<str>, const N: usize> From<&[S; N]> for Columns {
    fn from(names: &[S; N]) -> Self {
        Self::names(names)
    }
}
