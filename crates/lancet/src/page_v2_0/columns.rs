//! Which fields own which columns.
//!
//! Columns are numbered by walking the tree of fields from the top, parents before children. Every
//! field owns one: structs and lists too. Packed structs and fixed-size lists are leaves.
//!
//! The schema does not tell everything. A struct marked as packed may not be (the mark has several
//! spellings), and the oldest writers stored strings as lists of bytes, in two columns. The first
//! page of a column tells: see [`Peek`].

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use prost::Message as _;

use super::column::{ArrayColumn, Role};
use crate::codec::ValueType;
use crate::container::PageEncoding;
use crate::container::column::Column;
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::LayerKind;
use crate::proto::encodings::ArrayEncoding;
use crate::proto::encodings::array_encoding::ArrayEncoding as Message;
use crate::schema::MAX_DEPTH;
use crate::schema::columns::{Leaf, LeafKind, Node, PACKED_KEYS, is_blob, is_packed};
use crate::schema::leaves::LeafType;
use crate::schema::value_type::{key_type, value_type};
use crate::set_once::SetOnce;

/// What the first page of a column says about what the column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peek {
    Packed,
    List,
    Other,
    /// There is no page, but the column is of the oldest writers.
    Oldest,
    Nothing,
}

impl Peek {
    /// Looks at the metadata of a column.
    pub(crate) fn new(column: &Column) -> Result<Self> {
        let Some(page) = column.pages.first() else {
            return Ok(if column.encoding.is_none() { Self::Oldest } else { Self::Nothing });
        };
        let PageEncoding::Array(bytes) = &page.encoding else { return Ok(Self::Other) };
        let message = ArrayEncoding::decode(bytes.as_slice())
            .map_err(|e| Error::corrupt(format!("the page encoding does not decode: {e}")))
            .in_page(page.number)?;
        Ok(match message.array_encoding {
            Some(Message::PackedStruct(_)) => Self::Packed,
            Some(Message::List(_)) => Self::List,
            _ => Self::Other,
        })
    }
}

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct Columns {
    roles: Vec<Role>,
    /// For each column those of the structs and lists around it, the outermost first.
    parents: Vec<Arc<[u32]>>,
    /// Columns of strings whose bytes are the next column.
    split_strings: Vec<bool>,
    loaded: Vec<SetOnce<Arc<ArrayColumn>>>,
}

/// The fields of a schema with their columns, or what must be known first.
#[derive(Debug)]
pub(crate) enum Numbered {
    Columns {
        nodes: Vec<Node>,
        columns: Columns,
    },
    /// The metadata of this column must be looked at.
    Missing(u32),
}

/// Numbers the columns of a file that has `num_columns`; `peeks` holds what is known of them.
pub(crate) fn number_columns(
    schema: &Schema,
    num_columns: usize,
    peeks: &BTreeMap<u32, Peek>,
) -> Result<Numbered> {
    let numbered = Walk::new(peeks, false).run(schema)?;
    // Columns are left over: perhaps strings have two.
    match numbered {
        Numbered::Columns { columns, .. } if columns.roles.len() < num_columns => {
            Walk::new(peeks, true).run(schema)
        }
        numbered => Ok(numbered),
    }
}

struct Walk<'a> {
    peeks: &'a BTreeMap<u32, Peek>,
    /// Whether strings may have two columns.
    may_split: bool,
    roles: Vec<Role>,
    parents: Vec<Arc<[u32]>>,
    split_strings: Vec<bool>,
    above: Vec<u32>,
    missing: Option<u32>,
}

impl<'a> Walk<'a> {
    fn new(peeks: &'a BTreeMap<u32, Peek>, may_split: bool) -> Self {
        let (roles, parents, split_strings) = (Vec::new(), Vec::new(), Vec::new());
        Self { peeks, may_split, roles, parents, split_strings, above: Vec::new(), missing: None }
    }

    fn run(mut self, schema: &Schema) -> Result<Numbered> {
        let mut nodes = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            nodes.push(self.node(field)?);
            if let Some(column) = self.missing {
                return Ok(Numbered::Missing(column));
            }
        }
        let loaded = self.roles.iter().map(|_| SetOnce::new()).collect();
        let Self { roles, parents, split_strings, .. } = self;
        Ok(Numbered::Columns { nodes, columns: Columns { roles, parents, split_strings, loaded } })
    }

    fn add(&mut self, role: Role) -> Result<u32> {
        let column = u32::try_from(self.roles.len())
            .map_err(|_| Error::unsupported("a schema with more than 2^32 columns"))?;
        self.roles.push(role);
        self.parents.push(self.above.as_slice().into());
        self.split_strings.push(false);
        Ok(column)
    }

    /// What is known of the next column. Once something is missing all numbers are moot.
    fn peek(&mut self) -> Peek {
        let column = u32::try_from(self.roles.len()).unwrap_or(u32::MAX);
        match self.peeks.get(&column) {
            Some(peek) => *peek,
            None => {
                self.missing.get_or_insert(column);
                Peek::Nothing
            }
        }
    }

    fn node(&mut self, field: &FieldRef) -> Result<Node> {
        ensure_depth(self.above.len())?;
        match field.data_type() {
            DataType::Struct(fields) if fields.is_empty() => {
                let column = self.add(Role::Struct)?;
                Ok(Node::Leaf(leaf(field, column, LeafKind::EmptyStruct)))
            }
            DataType::Struct(_) if self.is_packed(field) => {
                self.leaf(field, LeafKind::PackedStruct)
            }
            DataType::Struct(fields) => {
                let column = self.add(Role::Struct)?;
                self.above.push(column);
                let children = fields.iter().map(|child| self.node(child));
                let children = children.collect::<Result<_>>()?;
                self.above.pop();
                Ok(Node::Struct { field: field.clone(), children })
            }
            DataType::List(item) | DataType::LargeList(item) => {
                let large = matches!(field.data_type(), DataType::LargeList(_));
                let column = self.add(Role::List)?;
                self.above.push(column);
                let child = Box::new(self.node(item)?);
                self.above.pop();
                Ok(Node::List { field: field.clone(), large, child })
            }
            DataType::LargeBinary if is_blob(field) && !self.is_split() => {
                self.leaf(field, LeafKind::Blob)
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                self.strings(field)
            }
            DataType::FixedSizeList(item, _) if is_fixed(item.data_type()) => {
                self.leaf(field, LeafKind::Values)
            }
            other if !other.is_nested() => self.leaf(field, LeafKind::Values),
            other => Err(Error::unsupported(format!(
                "field `{}` of type {other} in a file of version 2.0",
                field.name()
            ))),
        }
    }

    /// A mark alone does not make a packed struct; only without pages it has to be believed.
    fn is_packed(&mut self, field: &Field) -> bool {
        if !PACKED_KEYS.iter().any(|key| field.metadata().contains_key(*key)) {
            return false;
        }
        match self.peek() {
            Peek::Packed => true,
            Peek::Nothing => is_packed(field),
            Peek::List | Peek::Other | Peek::Oldest => false,
        }
    }

    fn leaf(&mut self, field: &FieldRef, kind: LeafKind) -> Result<Node> {
        let mut leaf = leaf(field, 0, kind);
        leaf.column = self.add(Role::Leaf(LeafType {
            values: value_type(&leaf)?,
            keys: key_type(field.data_type()),
            blob: kind == LeafKind::Blob,
            kinds: vec![LayerKind::Item],
        }))?;
        Ok(Node::Leaf(leaf))
    }

    /// Whether the next column is one of two for strings.
    fn is_split(&mut self) -> bool {
        self.may_split && matches!(self.peek(), Peek::List | Peek::Oldest)
    }

    fn strings(&mut self, field: &FieldRef) -> Result<Node> {
        if !self.is_split() {
            return self.leaf(field, LeafKind::Values);
        }
        let column = self.add(Role::List)?;
        if let Some(split) = self.split_strings.last_mut() {
            *split = true;
        }
        let values = ValueType::Fixed { bits: 8 };
        let kinds = vec![LayerKind::Item];
        self.add(Role::Leaf(LeafType { values, keys: None, blob: false, kinds }))?;
        Ok(Node::Leaf(leaf(field, column, LeafKind::Values)))
    }
}

fn leaf(field: &FieldRef, column: u32, kind: LeafKind) -> Leaf {
    Leaf { field: field.clone(), stored: field.clone(), column, kind }
}

fn is_fixed(item: &DataType) -> bool {
    match item {
        DataType::FixedSizeList(item, _) => is_fixed(item.data_type()),
        other => !other.is_nested(),
    }
}

fn ensure_depth(depth: usize) -> Result<()> {
    if depth >= MAX_DEPTH {
        return Err(Error::unsupported(format!("fields nested deeper than {MAX_DEPTH}")));
    }
    Ok(())
}

impl Columns {
    /// How many columns the schema needs.
    pub(crate) fn len(&self) -> usize {
        self.roles.len()
    }

    pub(crate) fn role(&self, column: u32) -> Result<&Role> {
        let role = usize::try_from(column).ok().and_then(|column| self.roles.get(column));
        role.ok_or_else(|| Error::corrupt(format!("there is no column {column}")))
    }

    /// A column whose metadata is loaded.
    pub(crate) fn get(&self, column: u32) -> Option<Arc<ArrayColumn>> {
        let slot = usize::try_from(column).ok().and_then(|column| self.loaded.get(column));
        slot.and_then(|slot| slot.get().cloned())
    }

    /// Like [`Columns::get`], for columns that must be there by now.
    pub(crate) fn loaded(&self, column: u32) -> Result<Arc<ArrayColumn>> {
        let column = self.get(column);
        column.ok_or_else(|| Error::corrupt("a column was not loaded"))
    }

    pub(crate) fn keep(&self, column: ArrayColumn) -> Arc<ArrayColumn> {
        let column = Arc::new(column);
        let slot = usize::try_from(column.number).ok().and_then(|number| self.loaded.get(number));
        slot.and_then(|slot| slot.set(column.clone()).cloned()).unwrap_or(column)
    }

    /// The column of the bytes of strings that have two.
    pub(super) fn bytes_column(&self, strings: u32) -> Option<u32> {
        let split = usize::try_from(strings).ok().and_then(|c| self.split_strings.get(c))?;
        if *split { strings.checked_add(1) } else { None }
    }

    /// The column that a node owns; `depth` structs and lists are around it.
    pub(super) fn of_node(&self, node: &Node, depth: usize) -> Result<u32> {
        if let Node::Leaf(leaf) = node {
            return Ok(leaf.column);
        }
        // A part of a schema has lost numbers of its own, but its leaves know them.
        let mut below = node;
        while let Some(child) = below.children().first() {
            below = child;
        }
        let column = match below {
            Node::Leaf(leaf) => usize::try_from(leaf.column).ok(),
            _ => None,
        };
        let parents = column.and_then(|column| self.parents.get(column));
        let own = parents.and_then(|parents| parents.get(depth)).copied();
        own.ok_or_else(|| Error::corrupt("a field without a column"))
    }

    /// The columns that a node owns: strings may have two.
    pub(crate) fn own(&self, node: &Node, depth: usize) -> Result<impl Iterator<Item = u32>> {
        let column = self.of_node(node, depth)?;
        Ok(std::iter::once(column).chain(self.bytes_column(column)))
    }

    /// All columns that the nodes need.
    pub(crate) fn of_nodes(&self, nodes: &[Node]) -> Result<Vec<u32>> {
        let mut columns = Vec::new();
        nodes.iter().try_for_each(|node| self.collect(node, 0, &mut columns))?;
        Ok(columns)
    }

    fn collect(&self, node: &Node, depth: usize, out: &mut Vec<u32>) -> Result<()> {
        out.extend(self.own(node, depth)?);
        let depth = depth.saturating_add(1);
        node.children().iter().try_for_each(|child| self.collect(child, depth, out))
    }

    /// Checks that the columns of a field fit together; returns its number of rows.
    pub(crate) fn check_rows(&self, node: &Node, depth: usize) -> Result<u64> {
        let column = self.loaded(self.of_node(node, depth)?)?;
        let below = depth.saturating_add(1);
        let name = node.field().name();
        match node {
            Node::Leaf(_) => {
                if let Some(bytes) = self.bytes_column(column.number) {
                    let found = self.loaded(bytes)?.num_rows;
                    check_items(name, column.num_items, found).in_column(column.number)?;
                }
            }
            Node::Struct { children, .. } => {
                for child in children {
                    let rows = self.check_rows(child, below)?;
                    ensure!(
                        rows == column.num_rows,
                        "field `{}` has {rows} rows in struct `{name}` of {}",
                        child.field().name(),
                        column.num_rows
                    );
                }
            }
            _ => {
                for child in node.children() {
                    let found = self.check_rows(child, below)?;
                    check_items(name, column.num_items, found).in_column(column.number)?;
                }
            }
        }
        Ok(column.num_rows)
    }
}

fn check_items(name: &str, expected: u64, found: u64) -> Result<()> {
    ensure!(expected == found, "`{name}` counts {expected} items, but there are {found}");
    Ok(())
}
