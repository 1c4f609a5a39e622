//! The tree of fields, flattened into messages and back.
//!
//! Messages stand parents before children; a child names its parent by id. Ids count 0, 1, 2, …
//! in that order unless the field's metadata brings one (`lance:field_id`), so they are names, never
//! places.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::columns::{BLOB_KEY, Node, PACKED_KEYS, columns_of, is_truthy};
use super::logical::{self, Logical};
use super::{EXTENSION_NAME, MAX_DEPTH, in_field, writable};
use crate::error::{Error, Result, ensure};
use crate::proto::file;
use crate::version::Version;

/// The key that brings an id.
const ID_KEY: &str = "lance:field_id";
const PRIMARY_KEY: &str = "lance-schema:unenforced-primary-key";
const PRIMARY_KEY_POSITION: &str = "lance-schema:unenforced-primary-key:position";
const CLUSTERING_KEY_POSITION: &str = "lance-schema:unenforced-clustering-key:position";

/// The parent id of top-level fields.
const NO_PARENT: i32 = -1;
/// Top-level columns of tables whose ids are negative.
const LINEAGE: [(&str, i32); 3] =
    [("_rowid", -3), ("_row_created_at_version", -4), ("_row_last_updated_at_version", -5)];

/// The children of a blob of the second kind, which files store as top-level fields.
const BLOB_V2_FIELDS: [&str; 5] = ["kind", "position", "size", "blob_id", "blob_uri"];

/// A schema as a file stores it.
#[derive(Debug, Clone)]
pub(crate) struct StoredSchema {
    /// The Arrow schema that a reader of the file sees.
    pub(crate) schema: SchemaRef,
    /// Ids of all stored fields, parents before children.
    pub(crate) ids: Vec<i32>,
}

/// The messages of a schema and what they stand for, or why `version` cannot hold it.
pub(crate) fn from_arrow(
    schema: &Schema,
    version: Version,
) -> Result<(file::Schema, StoredSchema)> {
    writable::check(schema, version)?;
    let ids = assign_ids(schema)?;
    let mut fields = Vec::with_capacity(ids.len());
    let mut unused = ids.iter().copied();
    for field in schema.fields() {
        flatten(field, NO_PARENT, &mut unused, &mut fields)?;
    }
    let metadata = bytes_map(schema.metadata());
    let plain: Fields = schema.fields().iter().map(plain_field).collect();
    let schema = Arc::new(Schema::new_with_metadata(plain, schema.metadata().clone()));
    Ok((file::Schema { fields, metadata }, StoredSchema { schema, ids }))
}

/// The ids of the fields that own columns, in the order of the columns. In 2.0 these are all but the children of packed
/// structs.
pub(crate) fn column_owners(schema: &Schema, version: Version) -> Result<Vec<i32>> {
    let (_, stored) = from_arrow(schema, version)?;
    let nodes = columns_of(&stored.schema)?;
    let mut ids = stored.ids.into_iter();
    let mut owners = Vec::new();
    for node in &nodes {
        own_columns(node, version == Version::V2_0, &mut ids, &mut owners);
    }
    Ok(owners)
}

fn own_columns(
    node: &Node,
    all_own: bool,
    ids: &mut impl Iterator<Item = i32>,
    owners: &mut Vec<i32>,
) {
    let id = ids.next().unwrap_or(NO_PARENT);
    let is_leaf = matches!(node, Node::Leaf(_));
    if is_leaf || all_own {
        owners.push(id);
    }
    if is_leaf {
        // What is below is in the same column.
        skip_ids(node.field(), ids);
    }
    node.children().iter().for_each(|child| own_columns(child, all_own, ids, owners));
}

fn skip_ids(field: &Field, ids: &mut impl Iterator<Item = i32>) {
    for child in stored_children(field) {
        ids.next();
        skip_ids(child, ids);
    }
}

/// The field as it is stored: views as their twins, without the key that brings an id.
fn plain_field(field: &FieldRef) -> FieldRef {
    let children = |fields: &Fields| fields.iter().map(plain_field).collect::<Fields>();
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(children(fields)),
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::LargeList(item) => DataType::LargeList(plain_field(item)),
        DataType::FixedSizeList(item, n) => DataType::FixedSizeList(plain_field(item), *n),
        DataType::Map(entries, sorted) => DataType::Map(plain_field(entries), *sorted),
        other => logical::plain_twin(other),
    };
    let mut metadata = field.metadata().clone();
    metadata.remove(ID_KEY);
    Arc::new(field.as_ref().clone().with_data_type(data_type).with_metadata(metadata))
}

/// The child fields that are stored; the item of most fixed-size lists is not.
fn stored_children(field: &Field) -> Vec<&FieldRef> {
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::List(child) | DataType::LargeList(child) | DataType::Map(child, _) => vec![child],
        DataType::FixedSizeList(item, _) if matches!(item.data_type(), DataType::Struct(_)) => {
            vec![item]
        }
        _ => vec![],
    }
}

/// One id a stored field, parents before children.
fn assign_ids(schema: &Schema) -> Result<Vec<i32>> {
    let mut brought = Vec::new();
    for field in schema.fields() {
        brought_ids(field, true, &mut brought)?;
    }
    let mut seen = HashSet::new();
    if let Some(id) = brought.iter().flatten().find(|id| !seen.insert(**id)) {
        return Err(Error::invalid(format!("two fields have the id {id} in `{ID_KEY}`")));
    }
    let mut next = i64::from(brought.iter().flatten().copied().max().unwrap_or(-1).max(-1));
    let too_many = |_| Error::invalid("the ids of the fields do not fit 32 bits");
    let id = |id: Option<i32>| match id {
        Some(id) => Ok(id),
        None => {
            next = next.saturating_add(1);
            i32::try_from(next).map_err(too_many)
        }
    };
    brought.into_iter().map(id).collect()
}

fn brought_ids(field: &Field, top: bool, out: &mut Vec<Option<i32>>) -> Result<()> {
    let name = field.name();
    let id = match field.metadata().get(ID_KEY) {
        None => None,
        Some(text) => {
            let lineage = |id: i32| top && LINEAGE.iter().any(|known| *known == (name, id));
            let id = text.parse::<i32>().ok().filter(|&id| id >= 0 || lineage(id));
            Some(id.ok_or_else(|| {
                Error::invalid(format!("field `{name}`: `{ID_KEY}` is `{text}`, not an id"))
            })?)
        }
    };
    out.push(id);
    stored_children(field).into_iter().try_for_each(|child| brought_ids(child, false, out))
}

fn flatten(
    field: &Field,
    parent_id: i32,
    ids: &mut impl Iterator<Item = i32>,
    out: &mut Vec<file::Field>,
) -> Result<()> {
    let id = ids.next().unwrap_or(NO_PARENT);
    out.push(in_field(message(field, id, parent_id), field.name())?);
    stored_children(field).into_iter().try_for_each(|child| flatten(child, id, ids, out))
}

fn message(field: &Field, id: i32, parent_id: i32) -> Result<file::Field> {
    let get = |key: &str| field.metadata().get(key).map(String::as_str);
    let position = |key: &str| get(key).and_then(|text| text.parse::<u32>().ok());
    let primary_position = position(PRIMARY_KEY_POSITION);
    let mut metadata = bytes_map(field.metadata());
    metadata.remove(ID_KEY);
    Ok(file::Field {
        r#type: 0,
        name: field.name().clone(),
        id,
        parent_id,
        logical_type: logical::to_name(field)?,
        nullable: field.is_nullable(),
        encoding: logical::legacy_encoding(field.data_type()) as i32,
        dictionary: None,
        extension_name: get(EXTENSION_NAME).unwrap_or_default().into(),
        metadata,
        unenforced_primary_key: get(PRIMARY_KEY).is_some_and(is_truthy)
            || primary_position.is_some(),
        unenforced_primary_key_position: primary_position.unwrap_or(0),
        unenforced_clustering_key: false,
        unenforced_clustering_key_position: position(CLUSTERING_KEY_POSITION).unwrap_or(0),
    })
}

fn bytes_map(metadata: &HashMap<String, String>) -> BTreeMap<String, Vec<u8>> {
    metadata.iter().map(|(key, value)| (key.clone(), value.clone().into_bytes())).collect()
}

fn text_map(metadata: &BTreeMap<String, Vec<u8>>) -> HashMap<String, String> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    metadata.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}

/// The Arrow schema of the messages of a file.
pub(crate) fn to_arrow(stored: &file::Schema) -> Result<StoredSchema> {
    let tree = Tree::new(&stored.fields)?;
    let mut ids = Vec::with_capacity(stored.fields.len());
    let fields = tree
        .top
        .iter()
        .map(|&index| tree.field(index, &mut ids))
        .collect::<Result<Vec<FieldRef>>>()?;
    let schema = Schema::new_with_metadata(fields, text_map(&stored.metadata));
    Ok(StoredSchema { schema: Arc::new(schema), ids })
}

/// The messages with their children.
struct Tree<'a> {
    fields: &'a [file::Field],
    /// Indexes of the children of each field.
    children: Vec<Vec<usize>>,
    /// Indexes of the top-level fields.
    top: Vec<usize>,
}

impl<'a> Tree<'a> {
    fn new(fields: &'a [file::Field]) -> Result<Self> {
        let mut tree = Self { fields, children: vec![Vec::new(); fields.len()], top: Vec::new() };
        // Index and depth of each field that may have children.
        let mut known: HashMap<i32, (usize, usize)> = HashMap::with_capacity(fields.len());
        // Children still to come of the last field that was a blob of the second kind.
        let mut blob: Option<(usize, &[&str])> = None;
        for (index, field) in fields.iter().enumerate() {
            if let Some((parent, expected)) = blob
                && field.id == NO_PARENT
                && field.parent_id == NO_PARENT
                && expected.first() == Some(&field.name.as_str())
            {
                tree.adopt(parent, index);
                blob = Some((parent, expected.get(1..).unwrap_or_default()));
                continue;
            }
            blob = is_blob_v2(field).then_some((index, &BLOB_V2_FIELDS));
            let depth = tree.place(index, field, &known)?;
            ensure!(
                depth < MAX_DEPTH,
                "field `{}` is nested deeper than {MAX_DEPTH}",
                field.name.escape_debug()
            );
            if field.id != NO_PARENT {
                ensure!(
                    known.insert(field.id, (index, depth)).is_none(),
                    "two fields have the id {}",
                    field.id
                );
            }
        }
        Ok(tree)
    }

    fn adopt(&mut self, parent: usize, child: usize) {
        if let Some(children) = self.children.get_mut(parent) {
            children.push(child);
        }
    }

    /// Hangs a field under its parent and says how deep it is.
    fn place(
        &mut self,
        index: usize,
        field: &file::Field,
        known: &HashMap<i32, (usize, usize)>,
    ) -> Result<usize> {
        if field.parent_id == NO_PARENT {
            self.top.push(index);
            return Ok(0);
        }
        let Some(&(parent, depth)) = known.get(&field.parent_id) else {
            return Err(Error::corrupt(format!(
                "field `{}` names the parent {}, but no field before it has this id",
                field.name.escape_debug(),
                field.parent_id
            )));
        };
        self.adopt(parent, index);
        Ok(depth.saturating_add(1))
    }

    fn field(&self, index: usize, ids: &mut Vec<i32>) -> Result<FieldRef> {
        let (Some(field), Some(children)) = (self.fields.get(index), self.children.get(index))
        else {
            return Err(Error::corrupt(format!("field {index} does not exist")));
        };
        ids.push(field.id);
        let children = children
            .iter()
            .map(|&child| self.field(child, ids))
            .collect::<Result<Vec<FieldRef>>>()?;
        in_field(arrow_field(field, children), &field.name)
    }
}

/// The field of a message that is not in a file, with its children.
pub(crate) fn field_of(field: crate::StoredField<'_>, children: Vec<FieldRef>) -> Result<FieldRef> {
    let message = file::Field {
        name: field.name.to_owned(),
        logical_type: field.logical_type.to_owned(),
        nullable: field.nullable,
        extension_name: field.extension_name.to_owned(),
        metadata: field.metadata.clone(),
        ..Default::default()
    };
    arrow_field(&message, children)
}

/// A struct that tells where the bytes of a blob are.
fn is_blob_v2(field: &file::Field) -> bool {
    let truthy = |key: &str| {
        field.metadata.get(key).is_some_and(|value| is_truthy(&String::from_utf8_lossy(value)))
    };
    field.logical_type == "struct" && truthy(BLOB_KEY) && PACKED_KEYS.iter().any(|key| truthy(key))
}

fn arrow_field(field: &file::Field, children: Vec<FieldRef>) -> Result<FieldRef> {
    let mut metadata = text_map(&field.metadata);
    if !field.extension_name.is_empty() {
        metadata.insert(EXTENSION_NAME.into(), field.extension_name.clone());
    }
    let count = children.len();
    let expect = |expected: usize| -> Result<()> {
        ensure!(
            count == expected,
            "the type `{}` has {count} child fields instead of {expected}",
            field.logical_type.escape_debug()
        );
        Ok(())
    };
    let only = |children: Vec<FieldRef>| {
        expect(1)?;
        children.into_iter().next().ok_or_else(|| Error::corrupt("a list without item"))
    };
    let data_type = match logical::parse(&field.logical_type)? {
        Logical::Struct => DataType::Struct(children.into()),
        Logical::List { large: false } => DataType::List(only(children)?),
        Logical::List { large: true } => DataType::LargeList(only(children)?),
        Logical::Map => map_type(only(children)?)?,
        Logical::FixedSizeListOfStruct { dimension } => {
            let item = only(children)?;
            ensure!(
                matches!(item.data_type(), DataType::Struct(_)),
                "the item of a fixed-size list of structs is a {}",
                item.data_type()
            );
            DataType::FixedSizeList(item, dimension)
        }
        Logical::Leaf(data_type) => {
            expect(0)?;
            data_type
        }
        Logical::Json => {
            expect(0)?;
            metadata.entry(EXTENSION_NAME.into()).or_insert_with(|| logical::JSON.into());
            DataType::LargeBinary
        }
        Logical::Blob => {
            expect(0)?;
            metadata.insert(BLOB_KEY.into(), "true".into());
            DataType::LargeBinary
        }
    };
    let field = Field::new(&field.name, data_type, field.nullable).with_metadata(metadata);
    Ok(Arc::new(field))
}

/// Key and value are the first two children of the entries; Arrow allows no others.
fn map_type(entries: FieldRef) -> Result<DataType> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(Error::corrupt(format!(
            "the entries of a map are a {} instead of a struct",
            entries.data_type()
        )));
    };
    ensure!(
        fields.len() == 2,
        "the entries of a map have {} fields instead of key and value",
        fields.len()
    );
    ensure!(fields.first().is_some_and(|key| !key.is_nullable()), "the keys of a map may be null");
    Ok(DataType::Map(entries, false))
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
