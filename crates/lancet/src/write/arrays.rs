//! Columns of a 2.0 file while it is written: structs and lists have columns of their own.
//!
//! A batch is first taken apart, which refuses what 2.0 cannot hold; only then the columns take
//! their parts. Pages are cut column by column.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;
use arrow_select::filter::filter;

use super::array_pages::{self, LeafPlan};
use super::column::ColumnPlan;
use super::dictionary;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::page_v2_0::encode::{self, EncodedArray};
use crate::parallel::in_parallel_mut;
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
        plan: LeafPlan,
        arrays: Vec<ArrayRef>,
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
            take_apart(field, array, &mut parts)?;
        }
        let mut pushed = 0;
        for (column, part) in parts {
            let Some(column) = self.columns.get_mut(column) else { continue };
            pushed += column.push(part, given, sink)?;
        }
        Ok(pushed)
    }

    /// The pages that are due, by column: full ones, or those of columns whose rows are too old.
    pub(super) fn due_pages(
        &mut self,
        page_bytes: u64,
        threads: usize,
        is_old: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Result<Vec<Vec<EncodedArray>>> {
        let is_due = move |column: &WaitingColumn| {
            column.bytes >= page_bytes || column.bytes > 0 && is_old(column.oldest)
        };
        if !self.columns.iter().any(&is_due) {
            return Ok(self.columns.iter().map(|_| Vec::new()).collect());
        }
        in_parallel_mut(threads, &mut self.columns, move |column| {
            if is_due(column) { column.flush(page_bytes) } else { Ok(Vec::new()) }
        })
    }

    /// Bytes that wait for their pages.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.bytes).sum()
    }

    /// All that is left.
    pub(super) fn last_pages(
        &mut self,
        page_bytes: u64,
        threads: usize,
    ) -> Result<Vec<Vec<EncodedArray>>> {
        in_parallel_mut(threads, &mut self.columns, move |column| {
            let mut pages = column.flush(page_bytes)?;
            match &column.content {
                Content::Struct(rows) => pages.push(encode::structs(*rows)),
                // By its pages the reference tells a packed struct from others.
                Content::Leaf { plan, .. } if !column.has_pages && plan.is_packed() => {
                    pages.push(plan.empty_page()?);
                }
                _ => {}
            }
            Ok(pages)
        })
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
                    Content::Leaf { plan: LeafPlan::new(plan), arrays: Vec::new() }
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

/// The parts of an array by column.
fn take_apart(
    field: &FieldColumns,
    array: &ArrayRef,
    parts: &mut Vec<(usize, Part)>,
) -> Result<()> {
    match field {
        FieldColumns::Leaf(column) => match array.data_type() {
            DataType::Struct(fields) if fields.is_empty() => {
                refuse_null_structs(array)?;
                parts.push((*column, Part::Struct(array.len() as u64)));
            }
            DataType::Struct(_) => {
                refuse_null_structs(array)?;
                parts.push((*column, Part::Leaf(array.clone())));
            }
            _ => parts.push((*column, Part::Leaf(array.clone()))),
        },
        FieldColumns::Struct { column, fields } => {
            refuse_null_structs(array)?;
            parts.push((*column, Part::Struct(array.len() as u64)));
            for (field, child) in fields.iter().zip(array.as_struct().columns()) {
                take_apart(field, child, parts)?;
            }
        }
        FieldColumns::List { column, item } => {
            let (part, items) = match array.data_type() {
                DataType::LargeList(_) => take_list_apart(array.as_list::<i64>())?,
                _ => take_list_apart(array.as_list::<i32>())?,
            };
            parts.push((*column, part));
            take_apart(item, &items, parts)?;
        }
    }
    Ok(())
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

fn refuse_null_structs(array: &ArrayRef) -> Result<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    Err(Error::unsupported(
        "structs that are null in format 2.0, which cannot tell; write 2.1 or 2.2, or make their \
         fields null instead",
    ))
}

impl WaitingColumn {
    fn push<W: Write>(&mut self, part: Part, given: u64, sink: &mut Sink<W>) -> Result<u64> {
        if self.bytes == 0 {
            self.oldest = given;
        }
        let mut held = 0;
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
                held = dictionary::held_bytes(&array, arrays.last());
                arrays.push(array);
                // Nulls have no bytes, but their arrays are counted too.
                bytes + 1
            }
            (Content::Blob(descriptions), Part::Leaf(array)) => {
                array_pages::store_blobs(&array, sink, descriptions)?;
                array.len() as u64 * 16
            }
            _ => return Err(Error::invalid("a batch of another shape than the file")),
        };
        self.bytes += bytes;
        Ok(bytes + held)
    }

    fn flush(&mut self, page_bytes: u64) -> Result<Vec<EncodedArray>> {
        let pages = self.encode(page_bytes)?;
        self.has_pages |= !pages.is_empty();
        Ok(pages)
    }

    fn encode(&mut self, page_bytes: u64) -> Result<Vec<EncodedArray>> {
        let bytes = std::mem::take(&mut self.bytes);
        match &mut self.content {
            Content::Struct(_) => Ok(Vec::new()),
            Content::List { lengths, valid } => {
                let (lengths, valid) = (std::mem::take(lengths), std::mem::take(valid));
                let page = (!lengths.is_empty()).then(|| encode::lists(&lengths, &valid));
                Ok(page.into_iter().collect())
            }
            Content::Blob(descriptions) => {
                let descriptions = std::mem::take(descriptions);
                let page = (!descriptions.is_empty()).then(|| encode::blobs(&descriptions));
                Ok(page.into_iter().collect())
            }
            Content::Leaf { plan, arrays } => {
                let arrays: Vec<ArrayRef> =
                    std::mem::take(arrays).into_iter().filter(|a| !a.is_empty()).collect();
                plan.encode(&arrays, bytes, page_bytes)
            }
        }
    }
}

#[cfg(test)]
#[path = "arrays_tests.rs"]
mod tests;
