//! What a data file of a table holds: some fields of the table, each under its id.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field as ArrowField, FieldRef, Fields, Schema, SchemaRef};
use lancet::Version;
use prost::Message;

use crate::blob_write::{as_second_kind, stored_field};
use crate::columns::is_row_column;
use crate::conform::conform;
use crate::data_file::FileVersion;
use crate::error::{Error, Result};
use crate::fields::{self, Field};
use crate::proto;
use crate::schema::{Kind, Node, TableSchema};
use crate::unknown::Kept;

/// The metadata of a field that tells files its id.
const ID_KEY: &str = "lance:field_id";

/// Some top-level fields of a table, as a data file holds them.
#[derive(Debug, Clone)]
pub(crate) struct FileSchema {
    /// As rows are given.
    pub(crate) arrow: SchemaRef,
    /// As the file is told, with ids, and with blobs of the second kind as where they lie.
    pub(crate) with_ids: SchemaRef,
    /// The fields as a tree.
    pub(crate) nodes: Vec<Node>,
    pub(crate) version: Version,
    /// The fields with columns of their own, and their columns: what a manifest says of the file.
    pub(crate) fields: Arc<[i32]>,
    pub(crate) columns: Arc<[i32]>,
}

impl FileSchema {
    /// The whole schema of a table.
    pub(crate) fn new(fields: &[Field], version: Version) -> Result<Self> {
        let schema = TableSchema::of_fields(fields, &Default::default())
            .map_err(|problem| problem.in_file("the schema"))?;
        Self::of_nodes(&schema.nodes, version)
    }

    /// The fields of a table that some rows have: by name, in the order of the table. Fields that are missing must allow
    /// nulls.
    pub(crate) fn of_rows(schema: &TableSchema, rows: &Schema, version: Version) -> Result<Self> {
        let is_missing = |node: &&Node| rows.column_with_name(node.field.name()).is_none();
        let mut missing = schema.nodes.iter().filter(is_missing);
        if let Some(missing) = missing.find(|node| !node.field.is_nullable()) {
            let name = missing.field.name();
            return Err(Error::invalid(format!(
                "the rows have no column `{name}`, which must not be null"
            )));
        }
        Self::of_some_rows(schema, rows, version)
    }

    /// The same for rows that are there already, whose other columns stay as they are.
    pub(crate) fn of_some_rows(
        schema: &TableSchema,
        rows: &Schema,
        version: Version,
    ) -> Result<Self> {
        let mut given = HashSet::new();
        for field in rows.fields() {
            let name = field.name();
            if !given.insert(name.as_str()) {
                return Err(Error::invalid(format!("the rows have two columns `{name}`")));
            }
            if !schema.nodes.iter().any(|node| node.field.name() == name) {
                return Err(Error::invalid(format!("the table has no column `{name}`")));
            }
        }
        let is_given = |node: &&Node| given.contains(node.field.name().as_str());
        let nodes: Vec<Node> = schema.nodes.iter().filter(is_given).cloned().collect();
        if nodes.is_empty() {
            return Err(Error::invalid("the rows have no columns"));
        }
        Self::of_nodes(&nodes, version)
    }

    pub(crate) fn of_nodes(nodes: &[Node], version: Version) -> Result<Self> {
        let plain: Fields = nodes.iter().map(|node| node.field.clone()).collect();
        let with_ids: Fields = nodes.iter().map(with_id).collect();
        let with_ids = Arc::new(Schema::new(with_ids));
        let fields: Arc<[i32]> = lancet::column_owners(&with_ids, version)?.into();
        let columns = (0_i32..).take(fields.len()).collect();
        let (arrow, nodes) = (Arc::new(Schema::new(plain)), nodes.to_vec());
        Ok(Self { arrow, with_ids, nodes, version, fields, columns })
    }

    /// Rows with the types and the order of the file; an error names the field that does not fit.
    pub(crate) fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.arrow.fields().len());
        for field in self.arrow.fields() {
            let Some(array) = batch.column_by_name(field.name()) else {
                let name = field.name();
                return Err(Error::invalid(format!("a batch has no column `{name}`")));
            };
            arrays.push(conform(array, field, field.name())?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.arrow.clone(), arrays, &options)?)
    }
}

/// The field and those below it with their ids.
fn with_id(node: &Node) -> FieldRef {
    if node.kind == Kind::BlobV2 {
        let field = stored_field(node);
        let mut metadata = field.metadata().clone();
        metadata.insert(ID_KEY.into(), node.id.to_string());
        return Arc::new(field.as_ref().clone().with_metadata(metadata));
    }
    let below = node.children.iter().map(|child| {
        let field = with_id(child);
        Node { field, children: Vec::new(), ..child.clone() }
    });
    let node = node.with_children(below.collect());
    let mut metadata = node.field.metadata().clone();
    metadata.insert(ID_KEY.into(), node.id.to_string());
    Arc::new(node.field.as_ref().clone().with_metadata(metadata))
}

/// The fields of a new schema, with ids from `first_id` on, depth first.
pub(crate) fn fields_of(schema: &Schema, version: Version, first_id: i32) -> Result<Vec<Field>> {
    if let Some(field) = schema.fields().iter().find(|field| is_row_column(field.name())) {
        let name = field.name();
        return Err(Error::invalid(format!(
            "no column can be called `{name}`: every table has one of this name"
        )));
    }
    let plain: Fields = schema.fields().iter().map(without_id).collect();
    let messages = lancet::field_messages(&Schema::new(plain), version)?;
    let mut decoded = Vec::with_capacity(messages.len());
    for message in messages {
        let field = Kept::<proto::Field>::decode(&*message)
            .map_err(|error| Error::invalid(format!("a field does not decode: {error}")))?;
        decoded.push(field);
    }
    if version == Version::V2_2 {
        decoded = as_second_kind(decoded);
    }
    // They are numbered in their order, whatever ids they came with.
    let mut ids = HashMap::from([(fields::NO_PARENT, fields::NO_PARENT)]);
    let mut fields = Vec::with_capacity(decoded.len());
    for (id, mut field) in (first_id..=i32::MAX).map(Some).chain([None]).zip(decoded) {
        let id = id.ok_or_else(out_of_ids)?;
        ids.insert(field.id, id);
        field.id = id;
        field.parent_id = ids.get(&field.parent_id).copied().unwrap_or(fields::NO_PARENT);
        fields.push(field);
    }
    fields::check(fields).map_err(|problem| problem.in_file("the schema"))
}

/// A schema may come out of a file that has ids of its own.
fn without_id(field: &FieldRef) -> FieldRef {
    use arrow_schema::DataType::*;
    let data_type = match field.data_type() {
        Struct(fields) => Struct(fields.iter().map(without_id).collect()),
        List(item) => List(without_id(item)),
        LargeList(item) => LargeList(without_id(item)),
        FixedSizeList(item, n) => FixedSizeList(without_id(item), *n),
        Map(entries, sorted) => Map(without_id(entries), *sorted),
        other => other.clone(),
    };
    let mut metadata = field.metadata().clone();
    metadata.remove(ID_KEY);
    let field: ArrowField = field.as_ref().clone();
    Arc::new(field.with_data_type(data_type).with_metadata(metadata))
}

fn out_of_ids() -> Error {
    Error::invalid("the table has no field ids left")
}

impl FileVersion {
    /// The version of files that lancet writes.
    pub(crate) fn of(version: Version) -> Self {
        match version {
            Version::V2_0 => Self::V2_0,
            Version::V2_1 => Self::V2_1,
            _ => Self::V2_2,
        }
    }

    /// The version that lancet writes, if it is one.
    pub(crate) fn writable(self) -> Option<Version> {
        match self {
            Self::V2_0 => Some(Version::V2_0),
            Self::V2_1 => Some(Version::V2_1),
            Self::V2_2 => Some(Version::V2_2),
            Self::Legacy | Self::V2_3 => None,
        }
    }

    /// The numbers that a manifest has for it.
    pub(crate) fn numbers(self) -> (u32, u32) {
        match self {
            Self::Legacy => (0, 1),
            Self::V2_0 => (2, 0),
            Self::V2_1 => (2, 1),
            Self::V2_2 => (2, 2),
            Self::V2_3 => (2, 3),
        }
    }
}
