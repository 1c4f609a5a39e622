//! Columns of a 2.0 file while it is written: structs and lists have columns of their own.
//!
//! A batch is first taken apart, which refuses what 2.0 cannot hold; only then the columns take
//! their parts. Pages are cut column by column.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;
use arrow_select::filter::filter;

use super::array_pages::{self, LeafPlan};
use super::column::ColumnPlan;
use super::columns::Waiting;
use super::dictionary::{self, LastDictionary};
use super::due::{DuePage, DueRows};
use super::entries::{ColumnEntries, PageEntries};
use super::merge::{self, PIECE_BYTES};
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::schema::columns::{LeafKind, Node};
use crate::zones::gather::Gatherer;

/// The columns of a file, in file order.
#[derive(Debug)]
pub(super) struct ArrayColumns {
    fields: Vec<FieldColumns>,
    columns: Vec<WaitingColumn>,
}

/// Which columns a field has.
#[derive(Debug)]
enum FieldColumns {
    Leaf(usize),
    Struct { column: usize, fields: Vec<FieldColumns> },
    List { column: usize, item: Box<FieldColumns> },
}

/// A column and the rows that wait for their page.
#[derive(Debug)]
struct WaitingColumn {
    name: String,
    content: Content,
    /// Bytes that wait.
    bytes: u64,
    /// The last dictionary, which may well be that of the rows to come, and the bytes of those before.
    dictionary: LastDictionary,
    dictionaries: u64,
    /// How many bytes the file had been given when the oldest of them came.
    oldest: u64,
    has_pages: bool,
    /// Its zone map, if it gets one.
    zones: Option<Gatherer>,
}

#[derive(Debug)]
enum Content {
    /// Number of rows; they make one page at the end.
    Struct(u64),
    List {
        lengths: Vec<u64>,
        valid: Vec<bool>,
    },
    Leaf {
        plan: Arc<LeafPlan>,
        arrays: Vec<ArrayRef>,
        entries: ColumnEntries,
    },
    /// Positions and sizes of payloads that are written already.
    Blob(Vec<[u64; 2]>),
}

/// A column's part of a batch.
#[derive(Debug)]
enum Part {
    Struct(u64),
    List { lengths: Vec<u64>, valid: Vec<bool> },
    Leaf(ArrayRef),
}

impl ArrayColumns {
    /// `plans` are those of the leaves of `nodes`, in order.
    pub(super) fn new(nodes: &[Node], plans: Vec<ColumnPlan>, zone_maps: bool) -> Result<Self> {
        let mut columns = Vec::new();
        let zones = |plan: ColumnPlan| (plan.zones().filter(|_| zone_maps), plan);
        let mut plans = plans.into_iter().map(zones);
        let mut fields = Vec::with_capacity(nodes.len());
        for node in nodes {
            fields.push(place(node, node.field().name(), &mut plans, &mut columns)?);
        }
        Ok(Self { fields, columns })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Whether the values of a column lie outside its pages.
    pub(super) fn is_blob(&self, column: usize) -> bool {
        let column = self.columns.get(column);
        column.is_some_and(|column| matches!(column.content, Content::Blob(_)))
    }

    /// What was gathered for the zone maps, by column.
    pub(super) fn take_zones(&mut self) -> Vec<Option<Gatherer>> {
        self.columns.iter_mut().map(|column| column.zones.take()).collect()
    }

    /// Takes the rows of a batch; returns how many bytes they are. Payloads of blobs are written
    /// at once.
    pub(super) fn push<W: Write>(
        &mut self,
        batch: &RecordBatch,
        given: u64,
        sink: &mut Sink<W>,
    ) -> Result<u64> {
        let mut parts = Vec::new();
        for (field, array) in self.fields.iter().zip(batch.columns()) {
            self.take_apart(field, array, &mut parts)?;
        }
        let mut pushed = 0;
        for (column, part) in parts {
            let Some(column) = self.columns.get_mut(column) else { continue };
            pushed += column.push(part, given, sink)?;
        }
        Ok(pushed)
    }

    /// The parts of an array by column.
    fn take_apart(
        &self,
        field: &FieldColumns,
        array: &ArrayRef,
        parts: &mut Vec<(usize, Part)>,
    ) -> Result<()> {
        match field {
            FieldColumns::Leaf(column) => match array.data_type() {
                DataType::Struct(fields) if fields.is_empty() => {
                    refuse_null_structs(array, self.name(*column))?;
                    parts.push((*column, Part::Struct(array.len() as u64)));
                }
                DataType::Struct(_) => {
                    refuse_null_structs(array, self.name(*column))?;
                    parts.push((*column, Part::Leaf(array.clone())));
                }
                _ => parts.push((*column, Part::Leaf(array.clone()))),
            },
            FieldColumns::Struct { column, fields } => {
                refuse_null_structs(array, self.name(*column))?;
                parts.push((*column, Part::Struct(array.len() as u64)));
                for (field, child) in fields.iter().zip(array.as_struct().columns()) {
                    self.take_apart(field, child, parts)?;
                }
            }
            FieldColumns::List { column, item } => {
                let (part, items) = match array.data_type() {
                    DataType::LargeList(_) => take_list_apart(array.as_list::<i64>())?,
                    _ => take_list_apart(array.as_list::<i32>())?,
                };
                parts.push((*column, part));
                self.take_apart(item, &items, parts)?;
            }
        }
        Ok(())
    }

    fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| &column.name)
    }

    /// The rows that wait for their pages, by column.
    pub(super) fn waiting(&self, page_bytes: u64) -> impl Iterator<Item = Waiting> {
        self.columns.iter().map(move |column| column.waiting(page_bytes))
    }

    /// Hands on the rows of some columns, as pages of about `page_bytes`.
    pub(super) fn take_pages(
        &mut self,
        page_bytes: u64,
        is_wanted: impl Fn(usize) -> bool,
        pages: &mut Vec<DuePage>,
    ) {
        for (i, column) in self.columns.iter_mut().enumerate().filter(|(i, _)| is_wanted(*i)) {
            column.take_pages(i, page_bytes, pages);
        }
    }

    /// The pages that columns have at their end whatever their rows are, once those are taken.
    pub(super) fn end_pages(&self) -> Vec<DuePage> {
        let mut pages = Vec::new();
        for (column, waiting) in self.columns.iter().enumerate() {
            let rows = match &waiting.content {
                Content::Struct(rows) => DueRows::Structs(*rows),
                // By its pages the reference tells a packed struct from others.
                Content::Leaf { plan, .. } if !waiting.has_pages && plan.is_packed() => {
                    DueRows::Array { plan: plan.clone(), arrays: Vec::new() }
                }
                _ => continue,
            };
            pages.push(DuePage { column, bytes: 0, rows });
        }
        pages
    }

    /// Remembers the entries of a page; refuses what the keys of its column cannot number.
    pub(super) fn add_entries(&mut self, column: usize, page: PageEntries) -> Result<()> {
        match self.columns.get_mut(column).map(|column| &mut column.content) {
            Some(Content::Leaf { plan, entries, .. }) => plan.add_entries(entries, page),
            _ => Ok(()),
        }
    }
}

/// Gives a field its columns. Items of lists have no name of their own.
fn place(
    node: &Node,
    name: &str,
    plans: &mut impl Iterator<Item = (Option<Gatherer>, ColumnPlan)>,
    columns: &mut Vec<WaitingColumn>,
) -> Result<FieldColumns> {
    let column = columns.len();
    let mut add = |content, zones| {
        columns.push(WaitingColumn {
            name: name.into(),
            content,
            bytes: 0,
            dictionary: LastDictionary::default(),
            dictionaries: 0,
            oldest: 0,
            has_pages: false,
            zones,
        });
    };
    Ok(match node {
        Node::Leaf(leaf) => {
            let next = plans.next();
            let (zones, plan) = next.ok_or_else(|| Error::invalid("a leaf without a plan"))?;
            let content = match leaf.kind {
                LeafKind::EmptyStruct => Content::Struct(0),
                LeafKind::Blob => Content::Blob(Vec::new()),
                LeafKind::Values | LeafKind::PackedStruct => {
                    let (plan, entries) = (Arc::new(LeafPlan::new(plan)), ColumnEntries::default());
                    Content::Leaf { plan, arrays: Vec::new(), entries }
                }
            };
            add(content, zones);
            FieldColumns::Leaf(column)
        }
        Node::Struct { children, .. } => {
            add(Content::Struct(0), None);
            let mut fields = Vec::with_capacity(children.len());
            for child in children {
                let name = format!("{name}.{}", child.field().name());
                fields.push(place(child, &name, plans, columns)?);
            }
            FieldColumns::Struct { column, fields }
        }
        Node::List { child, .. } => {
            add(Content::List { lengths: Vec::new(), valid: Vec::new() }, None);
            FieldColumns::List { column, item: Box::new(place(child, name, plans, columns)?) }
        }
        Node::Map { .. } | Node::FixedSizeList { .. } => {
            return Err(Error::unsupported(format!("`{name}` in format 2.0; write 2.2")));
        }
    })
}

/// Lengths of the lists and their items, without what lies under nulls.
fn take_list_apart<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<(Part, ArrayRef)> {
    let is_valid = |row: usize| list.is_valid(row);
    let length =
        |row: usize| if is_valid(row) { list.value_length(row).as_usize() as u64 } else { 0 };
    let lengths = (0..list.len()).map(length).collect();
    let valid: Vec<bool> = (0..list.len()).map(is_valid).collect();
    let hidden = |row: usize| !is_valid(row) && list.value_length(row).as_usize() > 0;
    let items = if (0..list.len()).any(hidden) {
        let kept = filter(list, &BooleanArray::from(valid.clone()))?;
        visible_items(kept.as_list::<O>())
    } else {
        visible_items(list)
    };
    Ok((Part::List { lengths, valid }, items))
}

fn visible_items<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> ArrayRef {
    let offsets = list.value_offsets();
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    list.values().slice(first, last - first)
}

fn refuse_null_structs(array: &ArrayRef, name: &str) -> Result<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "column `{name}` has structs that are null, which format 2.0 cannot tell; write 2.1 or 2.2, \
         or make their fields null instead"
    )))
}

impl WaitingColumn {
    fn push<W: Write>(&mut self, part: Part, given: u64, sink: &mut Sink<W>) -> Result<u64> {
        if self.bytes == 0 {
            self.oldest = given;
        }
        let mut dictionary = 0;
        let bytes = match (&mut self.content, part) {
            (Content::Struct(rows), Part::Struct(more)) => {
                *rows += more;
                0
            }
            (Content::List { lengths, valid }, Part::List { lengths: more, valid: more_valid }) => {
                lengths.extend_from_slice(&more);
                valid.extend_from_slice(&more_valid);
                more.len() as u64 * 9
            }
            (Content::Leaf { arrays, .. }, Part::Leaf(array)) => {
                if let Some(zones) = &mut self.zones {
                    // No struct is null in 2.0.
                    zones.push(&array, array.logical_nulls().as_ref())?;
                }
                let bytes = dictionary::page_bytes(&array);
                let (new, before) = self.dictionary.replace(&array).unwrap_or_default();
                if !arrays.is_empty() {
                    self.dictionaries += before;
                }
                dictionary = new;
                arrays.push(array);
                if merge::is_worth(arrays, self.bytes) {
                    *arrays = vec![merge::merged(arrays)?];
                }
                // Nulls have no bytes, but their arrays are counted too.
                bytes + 1
            }
            (Content::Blob(descriptions), Part::Leaf(array)) => {
                array_pages::store_blobs(&array, &self.name, sink, descriptions)?;
                array.len() as u64 * 16
            }
            _ => return Err(Error::invalid("a batch of another shape than the file")),
        };
        self.bytes += bytes;
        Ok(bytes + dictionary)
    }

    fn waiting(&self, page_bytes: u64) -> Waiting {
        let pieces = match &self.content {
            Content::Leaf { arrays, .. } => (arrays.len() as u64).saturating_mul(PIECE_BYTES),
            _ => 0,
        };
        Waiting {
            held: self.bytes.saturating_add(self.dictionaries).saturating_add(pieces),
            oldest: (self.bytes > 0).then_some(self.oldest),
            is_full: self.bytes > 0 && self.bytes >= page_bytes,
        }
    }

    /// Hands on what waits, as pages of the column of this number.
    fn take_pages(&mut self, column: usize, page_bytes: u64, pages: &mut Vec<DuePage>) {
        let bytes = std::mem::take(&mut self.bytes);
        let held = bytes + std::mem::take(&mut self.dictionaries) + self.dictionary.bytes();
        let rows: Vec<DueRows> = match &mut self.content {
            Content::Struct(_) => return,
            Content::List { lengths, .. } if lengths.is_empty() => return,
            Content::Blob(descriptions) if descriptions.is_empty() => return,
            Content::List { lengths, valid } => {
                let (lengths, valid) = (std::mem::take(lengths), std::mem::take(valid));
                vec![DueRows::Lists { lengths, valid }]
            }
            Content::Blob(descriptions) => vec![DueRows::Blobs(std::mem::take(descriptions))],
            Content::Leaf { plan, arrays, .. } => {
                let arrays = std::mem::take(arrays);
                let pages = array_pages::cut_pages(&arrays, bytes, page_bytes).into_iter();
                pages.map(|arrays| DueRows::Array { plan: plan.clone(), arrays }).collect()
            }
        };
        self.has_pages |= !rows.is_empty();
        let bytes = held / rows.len().max(1) as u64;
        pages.extend(rows.into_iter().map(|rows| DuePage { column, bytes, rows }));
    }
}

#[cfg(test)]
#[path = "arrays_tests.rs"]
mod tests;
