//! The schema of a table: a tree of fields, each with its id, and as Arrow has it.
//!
//! Only some fields have values of their own in a data file: those without children, packed structs and blobs. The
//! others live in the levels of those below them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema, SchemaRef};
use lancet::StoredField;

use crate::error::{Problem, ensure};
use crate::fields::Field;
use crate::manifest::Manifest;

pub(crate) const EXTENSION_NAME: &str = "ARROW:extension:name";
pub(crate) const BLOB_V2: &str = "lance.blob.v2";
pub(crate) const BLOB_KEY: &str = "lance-encoding:blob";
const PACKED_KEYS: [&str; 2] = ["lance-encoding:packed", "packed"];

/// What a field is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values in a column of its own.
    Leaf,
    /// Long values in the data file, outside the pages.
    Blob,
    /// Long values in the data file or in files beside it; the column says where.
    BlobV2,
    /// A struct in one column; old files may have its children in columns of their own all the same.
    PackedStruct,
    Struct,
    List,
    LargeList,
    Map,
    FixedSizeList,
}

/// A field and what is below it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) id: i32,
    /// As a read gives it.
    pub(crate) field: FieldRef,
    pub(crate) kind: Kind,
    pub(crate) children: Vec<Node>,
}

/// The schema of one version of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableSchema {
    pub(crate) arrow: SchemaRef,
    pub(crate) nodes: Vec<Node>,
}

impl TableSchema {
    /// The fields of a manifest as a tree; they stand parents before children.
    pub(crate) fn new(manifest: &Manifest) -> Result<Self, Problem> {
        Self::of_fields(&manifest.fields, &manifest.schema_metadata)
    }

    /// The same for fields that are not in a manifest.
    pub(crate) fn of_fields(
        fields: &[Field],
        metadata: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, Problem> {
        let places: HashMap<i32, usize> =
            fields.iter().enumerate().map(|(place, field)| (field.id, place)).collect();
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); fields.len()];
        let mut top = Vec::new();
        for (place, field) in fields.iter().enumerate() {
            let parent = field.parent.and_then(|parent| places.get(&parent));
            match parent.and_then(|parent| below.get_mut(*parent)) {
                Some(children) => children.push(place),
                None => top.push(place),
            }
        }
        let tree = Tree { fields, below };
        let nodes = top.into_iter().map(|place| tree.node(place));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let metadata = metadata
            .iter()
            .map(|(key, value)| (key.clone(), String::from_utf8_lossy(value).into_owned()));
        let arrow = schema_of(&nodes).with_metadata(metadata.collect());
        Ok(Self { arrow: Arc::new(arrow), nodes })
    }
}

/// The Arrow schema of some fields.
pub(crate) fn schema_of(nodes: &[Node]) -> Schema {
    Schema::new(nodes.iter().map(|node| node.field.clone()).collect::<Fields>())
}

/// The fields of a manifest with the places of their children.
struct Tree<'a> {
    fields: &'a [Field],
    below: Vec<Vec<usize>>,
}

impl Tree<'_> {
    /// Depth is bounded: the fields were checked.
    fn node(&self, place: usize) -> Result<Node, Problem> {
        let (Some(field), Some(below)) = (self.fields.get(place), self.below.get(place)) else {
            return Err(Problem::corrupt(format!("there is no field {place}")));
        };
        let children = below.iter().map(|child| self.node(*child));
        let children = children.collect::<Result<Vec<_>, _>>()?;
        node(field, children)
            .map_err(|problem| problem.within(&format!("field `{}`", field.name.escape_debug())))
    }
}

fn node(field: &Field, children: Vec<Node>) -> Result<Node, Problem> {
    let stored = StoredField {
        name: &field.name,
        logical_type: &field.logical_type,
        nullable: field.nullable,
        extension_name: &field.extension_name,
        metadata: &field.metadata,
    };
    let below = children.iter().map(|child| child.field.clone()).collect();
    let arrow = lancet::field_of_message(stored, below)?;
    let kind = kind_of(&arrow);
    if kind == Kind::BlobV2 {
        return Ok(Node { id: field.id, field: bytes_of(&arrow), kind, children: Vec::new() });
    }
    if let DataType::FixedSizeList(_, size) = arrow.data_type() {
        ensure!(*size >= 0, "lists of {size} items");
    }
    Ok(Node { id: field.id, field: arrow, kind, children })
}

fn kind_of(field: &ArrowField) -> Kind {
    let metadata = field.metadata();
    let is_packed = || PACKED_KEYS.iter().any(|key| metadata.get(*key).is_some_and(|v| is_true(v)));
    match field.data_type() {
        DataType::Struct(_) if metadata.get(EXTENSION_NAME).is_some_and(|name| name == BLOB_V2) => {
            Kind::BlobV2
        }
        DataType::Struct(fields) if fields.is_empty() => Kind::Leaf,
        DataType::Struct(_) if is_packed() => Kind::PackedStruct,
        DataType::Struct(_) => Kind::Struct,
        DataType::List(_) => Kind::List,
        DataType::LargeList(_) => Kind::LargeList,
        DataType::Map(..) => Kind::Map,
        DataType::FixedSizeList(item, _) if matches!(item.data_type(), DataType::Struct(_)) => {
            Kind::FixedSizeList
        }
        DataType::LargeBinary if metadata.contains_key(BLOB_KEY) => Kind::Blob,
        _ => Kind::Leaf,
    }
}

fn is_true(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// A blob of the second kind as its bytes: the struct is how it is stored.
fn bytes_of(field: &ArrowField) -> FieldRef {
    let mut metadata = field.metadata().clone();
    metadata.remove(EXTENSION_NAME);
    metadata.insert(BLOB_KEY.into(), "true".into());
    let bytes = ArrowField::new(field.name(), DataType::LargeBinary, field.is_nullable());
    Arc::new(bytes.with_metadata(metadata))
}

/// Where a blob of the second kind lies, as its column says it.
pub(crate) fn blob_v2_fields() -> Fields {
    let number = |name: &str, data_type| ArrowField::new(name, data_type, false);
    Fields::from(vec![
        number("kind", DataType::UInt8),
        number("position", DataType::UInt64),
        number("size", DataType::UInt64),
        number("blob_id", DataType::UInt32),
        number("blob_uri", DataType::Utf8),
    ])
}

impl Node {
    /// The same with blobs as where they lie.
    #[must_use]
    pub(crate) fn described(&self) -> Self {
        let with_type = |data_type| {
            let field = self.field.as_ref().clone().with_data_type(data_type);
            let mut metadata = field.metadata().clone();
            metadata.remove(BLOB_KEY);
            Arc::new(field.with_metadata(metadata))
        };
        match self.kind {
            Kind::BlobV2 => {
                Self { field: with_type(DataType::Struct(blob_v2_fields())), ..self.clone() }
            }
            Kind::Blob => {
                let number = |name: &str| ArrowField::new(name, DataType::UInt64, false);
                let fields = vec![number("position"), number("size")];
                Self { field: with_type(DataType::Struct(fields.into())), ..self.clone() }
            }
            _ => self.with_children(self.children.iter().map(Self::described).collect()),
        }
    }

    /// The same with other children: fewer, or changed ones.
    pub(crate) fn with_children(&self, children: Vec<Self>) -> Self {
        let fields = || children.iter().map(|child| child.field.clone()).collect::<Fields>();
        let data_type = match (self.field.data_type(), children.first()) {
            (DataType::Struct(_), Some(_)) => DataType::Struct(fields()),
            (DataType::List(_), Some(item)) => DataType::List(item.field.clone()),
            (DataType::LargeList(_), Some(item)) => DataType::LargeList(item.field.clone()),
            (DataType::FixedSizeList(_, n), Some(item)) => {
                DataType::FixedSizeList(item.field.clone(), *n)
            }
            (DataType::Map(_, sorted), Some(entries)) => {
                DataType::Map(entries.field.clone(), *sorted)
            }
            (other, _) => other.clone(),
        };
        let field = Arc::new(self.field.as_ref().clone().with_data_type(data_type));
        Self { id: self.id, field, kind: self.kind, children }
    }

    /// Whether the field owns a column wherever it is stored.
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf | Kind::Blob | Kind::BlobV2 | Kind::PackedStruct)
    }
}
