//! The leaf columns of a schema and the settings of each.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::WriteOptions;
use super::column::ColumnPlan;
use crate::error::{Error, Result};
use crate::levels::Step;
use crate::options::{ColumnOptions, Profile, Settings, from_metadata};
use crate::page::rules::Rules;
use crate::schema::columns::{Leaf, Node, PACKED_KEYS, columns_of};
use crate::schema::fields;
use crate::schema::projection::locate;

/// The schema as it is written, and its leaf columns.
pub(super) fn plan_columns(
    schema: &SchemaRef,
    options: &WriteOptions,
) -> Result<(SchemaRef, Vec<ColumnPlan>)> {
    let schema = mark_packed(schema, options)?;
    let (_, stored) = fields::from_arrow(&schema, options.version)?;
    let nodes = columns_of(&stored.schema)?;
    let mut places = Vec::new();
    for (name, column) in &options.columns {
        let place = locate(&nodes, name)?;
        column.check().map_err(|error| about(name, error))?;
        places.push((place, name, column));
    }
    // Longer paths say more about a leaf, so they come last and win.
    places.sort_by_key(|(place, ..)| place.len());
    let mut walk = Walk {
        rules: Rules::of(options.version),
        profile: options.profile,
        places,
        used: Vec::new(),
        plans: Vec::new(),
    };
    for (root, node) in nodes.iter().enumerate() {
        let mut place = Place { steps: Vec::new(), indices: vec![root], names: Vec::new() };
        walk.node(node, root, node.field(), true, &mut place)?;
    }
    let unused = (0..walk.places.len()).find(|i| !walk.used.contains(i));
    if let Some((_, name, _)) = unused.and_then(|i| walk.places.get(i)) {
        return Err(Error::invalid(format!(
            "`{name}` is a field of a packed struct, which is one column; set options of the struct"
        )));
    }
    Ok((schema, walk.plans))
}

fn about(name: &str, error: Error) -> Error {
    match error {
        Error::Invalid(message) => Error::invalid(format!("column `{name}`: {message}")),
        other => other,
    }
}

struct Walk<'a> {
    rules: Rules,
    profile: Profile,
    /// Column options with the place of their field, shortest paths first.
    places: Vec<(Vec<usize>, &'a String, &'a ColumnOptions)>,
    /// Which of them met a leaf.
    used: Vec<usize>,
    plans: Vec<ColumnPlan>,
}

/// Where in the tree of fields the walk is.
struct Place {
    /// Each step with the field it starts from.
    steps: Vec<(Step, FieldRef)>,
    indices: Vec<usize>,
    names: Vec<String>,
}

impl Walk<'_> {
    fn node(
        &mut self,
        node: &Node,
        root: usize,
        top: &Field,
        named: bool,
        place: &mut Place,
    ) -> Result<()> {
        if named {
            place.names.push(node.field().name().clone());
        }
        let mut descend = |step: Step, index: usize, named: bool, child: &Node| {
            place.steps.push((step, node.field().clone()));
            place.indices.push(index);
            let planned = self.node(child, root, top, named, place);
            place.steps.pop();
            place.indices.pop();
            planned
        };
        match node {
            Node::Leaf(leaf) => self.leaf(leaf, root, top, place)?,
            Node::Struct { children, .. } => {
                for (i, child) in children.iter().enumerate() {
                    descend(Step::Struct(i), i, true, child)?;
                }
            }
            Node::List { child, .. } => descend(Step::List, 0, false, child)?,
            Node::Map { child, .. } => descend(Step::Map, 0, false, child)?,
            Node::FixedSizeList { child, .. } => descend(Step::FixedSizeList, 0, false, child)?,
        }
        if named {
            place.names.pop();
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, root: usize, top: &Field, place: &Place) -> Result<()> {
        let mut options = ColumnOptions::default();
        for (i, (prefix, _, column)) in self.places.iter().enumerate() {
            if place.indices.starts_with(prefix) {
                options.overlay(column);
                self.used.push(i);
            }
        }
        let name = place.names.join(".");
        let mut metadata = from_metadata(leaf.field.metadata(), &name)?;
        // The layout is a matter of the top-level field.
        metadata.structural_encoding =
            from_metadata(top.metadata(), top.name())?.structural_encoding;
        options.overlay(&metadata);
        let settings = Settings { profile: self.profile, options };
        let steps = (root, place.steps.as_slice());
        self.plans.push(ColumnPlan::new(leaf, steps, self.rules, settings, name)?);
        Ok(())
    }
}

/// The schema with the mark of packed structs where the options ask for it.
fn mark_packed(schema: &SchemaRef, options: &WriteOptions) -> Result<SchemaRef> {
    let packed = options.columns.iter().filter_map(|(name, column)| Some((name, column.packed?)));
    let mut marked = schema.clone();
    for (name, packed) in packed {
        let place = locate(&columns_of(&marked)?, name)?;
        let (first, rest) = place.split_first().ok_or_else(|| Error::invalid("an empty path"))?;
        let fields = mark_child(marked.fields(), *first, rest, packed, name)?;
        marked = Arc::new(Schema::new_with_metadata(fields, marked.metadata().clone()));
    }
    Ok(marked)
}

fn mark_child(
    fields: &Fields,
    index: usize,
    rest: &[usize],
    packed: bool,
    name: &str,
) -> Result<Fields> {
    let mut fields: Vec<_> = fields.iter().cloned().collect();
    if let Some(field) = fields.get_mut(index) {
        *field = Arc::new(mark(field, rest, packed, name)?);
    }
    Ok(fields.into())
}

fn mark(field: &Field, rest: &[usize], packed: bool, name: &str) -> Result<Field> {
    let Some((index, rest)) = rest.split_first() else {
        if !matches!(field.data_type(), DataType::Struct(_)) {
            let found = field.data_type();
            return Err(Error::invalid(format!("`{name}` cannot be packed: it is a {found}")));
        }
        let mut metadata = field.metadata().clone();
        let [key, _] = PACKED_KEYS;
        metadata.entry(key.into()).or_insert_with(|| packed.to_string());
        return Ok(field.clone().with_metadata(metadata));
    };
    let item = |item: &Arc<Field>| mark(item, rest, packed, name).map(Arc::new);
    let data_type = match field.data_type() {
        DataType::Struct(fields) => {
            DataType::Struct(mark_child(fields, *index, rest, packed, name)?)
        }
        DataType::List(child) => DataType::List(item(child)?),
        DataType::LargeList(child) => DataType::LargeList(item(child)?),
        DataType::FixedSizeList(child, n) => DataType::FixedSizeList(item(child)?, *n),
        DataType::Map(child, sorted) => DataType::Map(item(child)?, *sorted),
        other => other.clone(),
    };
    Ok(field.clone().with_data_type(data_type))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
