//! Columns of a table, as they are asked for and resolved.
//!
//! A name is a path of field names with dots between. Lists and maps are stepped through silently or by the name of
//! their item. A field whose own name has dots wins over the split. What is asked for twice comes once.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeFull;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, Schema, SchemaRef};

use crate::error::{Error, Result};
use crate::schema::{Kind, Node, TableSchema};

/// The column of row ids.
pub const ROW_ID: &str = "_rowid";
/// The column of row addresses.
pub const ROW_ADDRESS: &str = "_rowaddr";
/// The column of the versions in which rows were made.
pub const CREATED_AT_VERSION: &str = "_row_created_at_version";
/// The column of the versions in which rows were last changed.
pub const LAST_UPDATED_AT_VERSION: &str = "_row_last_updated_at_version";

/// A column that every table has, and that is given only where it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowColumn {
    Id,
    Address,
    Created,
    LastUpdated,
}

impl RowColumn {
    fn named(name: &str) -> Option<Self> {
        match name {
            ROW_ID => Some(Self::Id),
            ROW_ADDRESS => Some(Self::Address),
            CREATED_AT_VERSION => Some(Self::Created),
            LAST_UPDATED_AT_VERSION => Some(Self::LastUpdated),
            _ => None,
        }
    }

    fn field(self) -> FieldRef {
        let name = match self {
            Self::Id => ROW_ID,
            Self::Address => ROW_ADDRESS,
            Self::Created => CREATED_AT_VERSION,
            Self::LastUpdated => LAST_UPDATED_AT_VERSION,
        };
        Arc::new(ArrowField::new(name, DataType::UInt64, true))
    }
}

/// Whether every table has a column of this name.
pub(crate) fn is_row_column(name: &str) -> bool {
    RowColumn::named(name).is_some()
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    /// The field at this place of [`TableProjection::nodes`].
    Field(usize),
    Row(RowColumn),
}

/// Columns of one version of a table, resolved: their names are looked up once, and not again for every read.
///
/// [`Table::project`](crate::Table::project) makes one. It is cheap to clone.
#[derive(Clone)]
pub struct TableProjection(Arc<Resolved>);

struct Resolved {
    schema: SchemaRef,
    nodes: Vec<Node>,
    columns: Vec<Column>,
    described: bool,
}

impl TableProjection {
    /// The schema of what is read.
    pub fn schema(&self) -> SchemaRef {
        self.0.schema.clone()
    }

    /// The same columns with blobs as where they lie, instead of their bytes, which are then not read.
    #[must_use]
    pub fn with_blobs_described(&self) -> Self {
        let nodes = self.0.nodes.iter().map(Node::described).collect();
        Self::new(nodes, self.0.columns.clone(), self.0.schema.metadata().clone(), true)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.0.columns
    }

    pub(crate) fn is_described(&self) -> bool {
        self.0.described
    }

    fn new(
        nodes: Vec<Node>,
        columns: Vec<Column>,
        metadata: HashMap<String, String>,
        described: bool,
    ) -> Self {
        let fields = columns.iter().filter_map(|column| match column {
            Column::Field(place) => nodes.get(*place).map(|node| node.field.clone()),
            Column::Row(column) => Some(column.field()),
        });
        let schema = Schema::new_with_metadata(fields.collect::<Fields>(), metadata);
        let schema = Arc::new(schema);
        Self(Arc::new(Resolved { schema, nodes, columns, described }))
    }

    /// Some columns of this projection, and nothing else.
    pub(crate) fn part(&self, columns: &[Column]) -> Self {
        let mut nodes = Vec::new();
        let columns = columns.iter().map(|column| match column {
            Column::Field(at) => {
                nodes.extend(self.0.nodes.get(*at).cloned());
                Column::Field(nodes.len().saturating_sub(1))
            }
            Column::Row(column) => Column::Row(*column),
        });
        let columns = columns.collect();
        Self::new(nodes, columns, HashMap::new(), self.0.described)
    }

    /// All fields of a table.
    pub(crate) fn all(schema: &TableSchema) -> Self {
        let columns = (0..schema.nodes.len()).map(Column::Field).collect();
        Self::new(schema.nodes.clone(), columns, schema.arrow.metadata().clone(), false)
    }

    /// The fields and columns with these names.
    pub(crate) fn named<S: AsRef<str>>(schema: &TableSchema, names: &[S]) -> Result<Self> {
        let mut known = FieldNames::default();
        let mut wanted = Children::default();
        let mut columns: Vec<Column> = Vec::new();
        let mut row_columns: Vec<RowColumn> = Vec::new();
        for name in names {
            let name = name.as_ref();
            let Some(path) = known.find(&schema.nodes, name) else {
                let column = RowColumn::named(name).ok_or_else(|| unknown(&schema.nodes, name))?;
                if !row_columns.contains(&column) {
                    row_columns.push(column);
                    columns.push(Column::Row(column));
                }
                continue;
            };
            let before = wanted.list.len();
            want(&mut wanted, &path);
            if wanted.list.len() > before {
                columns.push(Column::Field(before));
            }
        }
        let nodes = wanted
            .list
            .iter()
            .filter_map(|(place, wanted)| schema.nodes.get(*place).map(|node| keep(node, wanted)));
        Ok(Self::new(nodes.collect(), columns, schema.arrow.metadata().clone(), false))
    }
}

impl fmt::Debug for TableProjection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.schema.fields().iter().map(|field| field.name());
        f.debug_tuple("TableProjection").field(&names.collect::<Vec<_>>()).finish()
    }
}

/// What is wanted of a field.
enum Wanted {
    All,
    Some(Children),
}

/// Some children of a field by place, in the order asked for.
#[derive(Default)]
struct Children {
    list: Vec<(usize, Wanted)>,
    /// Where each of them is in the list: there may be very many.
    places: HashMap<usize, usize>,
}

fn want(wanted: &mut Children, path: &[usize]) {
    let Some((&first, rest)) = path.split_first() else { return };
    let Children { list, places } = wanted;
    let place = *places.entry(first).or_insert_with(|| {
        list.push((first, Wanted::Some(Children::default())));
        list.len().saturating_sub(1)
    });
    let Some((_, entry)) = list.get_mut(place) else { return };
    match entry {
        Wanted::All => {}
        whole if rest.is_empty() => *whole = Wanted::All,
        Wanted::Some(children) => want(children, rest),
    }
}

/// The wanted part of a field.
fn keep(node: &Node, wanted: &Wanted) -> Node {
    match wanted {
        Wanted::All => node.clone(),
        // Packed structs are read whole, and a map needs its keys and values.
        Wanted::Some(_) if matches!(node.kind, Kind::PackedStruct | Kind::Map) => node.clone(),
        Wanted::Some(children) => {
            let kept = children.list.iter().filter_map(|(place, wanted)| {
                node.children.get(*place).map(|child| keep(child, wanted))
            });
            node.with_children(kept.collect())
        }
    }
}

/// The places of fields by their names, of every field in which one was looked for: there may be very many.
#[derive(Default)]
struct FieldNames<'a>(HashMap<*const Node, HashMap<&'a str, usize>>);

impl<'a> FieldNames<'a> {
    /// Places from the top down to the field called `name`.
    fn find(&mut self, nodes: &'a [Node], name: &str) -> Option<Vec<usize>> {
        let known = self.0.entry(nodes.as_ptr()).or_insert_with(|| {
            // Of fields with the same name the first is meant.
            let fields = nodes.iter().enumerate().rev();
            fields.map(|(place, node)| (node.field.name().as_str(), place)).collect()
        });
        if let Some(place) = known.get(name) {
            return Some(vec![*place]);
        }
        let mut above: Vec<(usize, &str)> = name
            .match_indices('.')
            .filter_map(|(dot, _)| {
                Some((*known.get(name.get(..dot)?)?, name.get(dot.saturating_add(1)..)?))
            })
            .collect();
        above.sort_unstable();
        above
            .into_iter()
            .find_map(|(place, rest)| prepend(place, self.find_below(nodes.get(place)?, rest)?))
    }

    fn find_below(&mut self, node: &'a Node, name: &str) -> Option<Vec<usize>> {
        let named = self.find(&node.children, name);
        match (node.kind, node.children.first()) {
            (Kind::List | Kind::LargeList | Kind::Map | Kind::FixedSizeList, Some(child)) => {
                named.or_else(|| prepend(0, self.find_below(child, name)?))
            }
            _ => named,
        }
    }
}

/// Places from the top down to the field called `name`.
pub(crate) fn find(nodes: &[Node], name: &str) -> Option<Vec<usize>> {
    FieldNames::default().find(nodes, name)
}

fn prepend(place: usize, mut path: Vec<usize>) -> Option<Vec<usize>> {
    path.insert(0, place);
    Some(path)
}

pub(crate) fn unknown(nodes: &[Node], name: &str) -> Error {
    const SHOWN: usize = 5;
    let mut some: Vec<_> =
        nodes.iter().take(SHOWN).map(|node| format!("`{}`", node.field.name())).collect();
    if nodes.len() > SHOWN {
        some.push("…".into());
    }
    let fields = some.join(", ");
    Error::invalid(format!("there is no field `{name}`; the fields of the table are {fields}"))
}

/// Which columns a read of a table gives, in which order: all, those with some names, or a [`TableProjection`] that
/// was made before. Nested fields are named with dots (`doc.title`); `_rowid`, `_rowaddr`,
/// `_row_created_at_version` and `_row_last_updated_at_version` are given where they are named.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TableColumns {
    /// All fields of the table.
    All,
    /// By name.
    Names(Vec<String>),
    /// Resolved before.
    Resolved(TableProjection),
}

impl From<RangeFull> for TableColumns {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<&TableProjection> for TableColumns {
    fn from(columns: &TableProjection) -> Self {
        Self::Resolved(columns.clone())
    }
}

impl From<TableProjection> for TableColumns {
    fn from(columns: TableProjection) -> Self {
        Self::Resolved(columns)
    }
}

impl<S: AsRef<str>> From<&[S]> for TableColumns {
    fn from(names: &[S]) -> Self {
        Self::Names(names.iter().map(|name| name.as_ref().to_owned()).collect())
    }
}

impl<S: AsRef<str>> From<Vec<S>> for TableColumns {
    fn from(names: Vec<S>) -> Self {
        names.as_slice().into()
    }
}

impl<S: AsRef<str>, const N: usize> From<[S; N]> for TableColumns {
    fn from(names: [S; N]) -> Self {
        names.as_slice().into()
    }
}
