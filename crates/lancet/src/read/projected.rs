//! What a reader was asked for.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};

use crate::error::{Error, Result, ensure};
use crate::schema::columns::Node;
use crate::schema::descriptions::describe_blobs;
use crate::schema::leaves::{LeafColumnType, leaves_of};
use crate::schema::projection::Projection;
use crate::set_once::SetOnce;

/// Fewer fields than this are not worth a thread of their own.
const GROUP_FIELDS: usize = 64;

/// The fields a reader was asked for, and the columns they are made of.
#[derive(Debug)]
pub(crate) struct ProjectedColumns {
    pub(crate) schema: SchemaRef,
    pub(crate) nodes: Vec<Node>,
    pub(crate) leaves: Vec<LeafColumnType>,
    /// The number of rows that all columns have; known once their metadata is loaded.
    pub(crate) num_rows: SetOnce<u64>,
    /// The same fields in groups; see [`ProjectedColumns::groups`].
    groups: SetOnce<Arc<[Arc<Self>]>>,
}

impl ProjectedColumns {
    pub(crate) fn new(projection: Projection) -> Result<Arc<Self>> {
        let Projection { schema, nodes } = projection;
        let leaves = leaves_of(&nodes)?;
        let (num_rows, groups) = (SetOnce::new(), SetOnce::new());
        Ok(Arc::new(Self { schema, nodes, leaves, num_rows, groups }))
    }

    /// The fields in groups, each of which is enough work for a thread; none where all of them are one.
    /// The threads of the first caller decide.
    pub(super) fn groups(&self, num_threads: usize) -> Result<Arc<[Arc<Self>]>> {
        if let Some(groups) = self.groups.get() {
            return Ok(groups.clone());
        }
        let most = self.nodes.len().checked_div(GROUP_FIELDS).unwrap_or(0);
        // Two for each thread, so that none waits long for another.
        let num_groups = num_threads.saturating_mul(2).min(most);
        let mut groups = Vec::new();
        if num_threads > 1 && num_groups > 1 {
            let size = self.nodes.len().div_ceil(num_groups).max(1);
            for (nodes, fields) in self.nodes.chunks(size).zip(self.schema.fields().chunks(size)) {
                let schema = Arc::new(Schema::new(fields.to_vec()));
                groups.push(Self::new(Projection { schema, nodes: nodes.to_vec() })?);
            }
        }
        let groups: Arc<[Arc<Self>]> = groups.into();
        Ok(self.groups.set(groups.clone()).cloned().unwrap_or(groups))
    }

    /// The arrays of some rows as a batch.
    pub(super) fn batch(&self, arrays: Vec<ArrayRef>, num_rows: u64) -> Result<RecordBatch> {
        let num_rows = usize::try_from(num_rows)
            .map_err(|_| Error::invalid(format!("{num_rows} rows are too many for one batch")))?;
        for (array, field) in arrays.iter().zip(self.schema.fields()) {
            ensure!(
                array.len() == num_rows,
                "field `{}` has {} rows where {num_rows} were asked for",
                field.name(),
                array.len()
            );
        }
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| Error::corrupt(error.to_string()))
    }

    /// The same fields, with blobs described.
    pub(crate) fn describe_blobs(&self) -> Result<Arc<Self>> {
        let (schema, nodes) = (self.schema.clone(), self.nodes.clone());
        Self::new(describe_blobs(&Projection { schema, nodes }))
    }
}
