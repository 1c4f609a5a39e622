//! One leaf column while it is written: collects batches and cuts them into pages.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef};

use super::blob;
use super::columns::Waiting;
use super::dictionary::{self, LastDictionary};
use super::due::{DuePage, DueRows};
use super::entries::{ColumnEntries, PageEntries};
use super::merge::{self, PIECE_BYTES};
use super::sink::Sink;
use crate::codec::{KeyType, ValueType};
use crate::error::{Error, Result};
use crate::levels::{LeafPiece, NestingLayer, Step, extract, max_entries};
use crate::options::Settings;
use crate::page::rules::Rules;
use crate::schema::columns::{Leaf, LeafKind};
use crate::schema::value_type::{key_type, value_type};
use crate::zones::gather::Gatherer;
use crate::zones::{BOUND_BYTES, ROWS_PER_ZONE};

/// What is fixed about a column from the start.
#[derive(Debug)]
pub(super) struct ColumnPlan {
    pub(super) field: FieldRef,
    pub(super) kind: LeafKind,
    /// Number of the top-level field.
    pub(super) root: usize,
    /// Steps from the top-level field to the leaf.
    pub(super) path: Vec<Step>,
    pub(super) values: ValueType,
    pub(super) keys: Option<KeyType>,
    pub(super) rules: Rules,
    pub(super) settings: Settings,
    /// Names from the top down, with dots between.
    pub(super) name: String,
    /// The layers, leaf outwards, that are nullable in every page: see [`steady_layers`].
    pub(super) nullable: Vec<bool>,
}

impl ColumnPlan {
    /// `path` holds the steps from the top-level field to the leaf, each with the field it starts
    /// from.
    pub(super) fn new(
        leaf: &Leaf,
        (root, path): (usize, &[(Step, FieldRef)]),
        rules: Rules,
        settings: Settings,
        name: String,
    ) -> Result<Self> {
        let (values, keys) = (value_type(leaf)?, key_type(leaf.field.data_type()));
        let nullable = steady_layers(path);
        let path = path.iter().map(|(step, _)| *step).collect();
        let Leaf { field, kind, .. } = leaf.clone();
        Ok(Self { field, kind, root, path, values, keys, rules, settings, name, nullable })
    }
}

/// A column and the rows that wait for their page.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    pub(super) plan: Arc<ColumnPlan>,
    /// The top-level arrays and the column's part of each.
    roots: Vec<ArrayRef>,
    pieces: Vec<LeafPiece>,
    /// Bytes of the pieces in a page.
    bytes: u64,
    /// The last dictionary, which may well be that of the rows to come, and the bytes of those before.
    dictionary: LastDictionary,
    dictionaries: u64,
    /// The different values of dictionaries.
    entries: ColumnEntries,
    /// How many bytes the file had been given when the oldest piece came.
    pub(super) oldest: u64,
    /// Its zone map, if it gets one.
    pub(super) zones: Option<Gatherer>,
}

impl ColumnWriter {
    pub(super) fn new(plan: ColumnPlan, zone_maps: bool) -> Self {
        let zones = if zone_maps { plan.zones() } else { None };
        let (roots, pieces, entries) = (Vec::new(), Vec::new(), ColumnEntries::default());
        let plan = Arc::new(plan);
        let dictionary = LastDictionary::default();
        Self {
            plan,
            roots,
            pieces,
            bytes: 0,
            dictionary,
            dictionaries: 0,
            entries,
            oldest: 0,
            zones,
        }
    }

    /// The rows that wait for their page.
    pub(super) fn waiting(&self) -> Waiting {
        let pieces = (self.pieces.len() as u64).saturating_mul(PIECE_BYTES);
        Waiting {
            held: self.bytes.saturating_add(self.dictionaries).saturating_add(pieces),
            oldest: (!self.pieces.is_empty()).then_some(self.oldest),
            is_full: false,
        }
    }

    /// Whether the next batch may fill a page, if it is like the last one.
    pub(super) fn is_nearly_full(&self, page_bytes: u64) -> bool {
        let last = self.pieces.last().map_or(page_bytes, piece_bytes);
        self.bytes.saturating_add(last.saturating_mul(2)) >= page_bytes
    }

    /// Takes the column's part of a top-level array, cuts pages that are full, and returns the
    /// bytes it took. `given` tells how much the file had been given before.
    pub(super) fn push(
        &mut self,
        root: &ArrayRef,
        given: u64,
        page_bytes: u64,
        pages: &mut Vec<DuePage>,
    ) -> Result<u64> {
        let piece = self.plan.extract(root)?;
        let bytes = piece_bytes(&piece);
        if bytes > page_bytes && root.len() > 1 {
            let mut pushed = 0;
            for part in cut(root, bytes, page_bytes) {
                pushed += self.push(&part, given, page_bytes, pages)?;
            }
            return Ok(pushed);
        }
        self.collect(root, piece, bytes, given, page_bytes, pages)
    }

    /// The same for blobs, whose payloads go into the file at once.
    pub(super) fn push_blobs(
        &mut self,
        root: &ArrayRef,
        given: u64,
        page_bytes: u64,
        sink: &mut Sink<impl Write>,
        pages: &mut Vec<DuePage>,
    ) -> Result<u64> {
        let mut piece = self.plan.extract(root)?;
        piece.values = blob::store(&piece.values, &self.plan.name, sink)?;
        let bytes = piece_bytes(&piece);
        self.collect(&piece.values.clone(), piece, bytes, given, page_bytes, pages)
    }

    fn collect(
        &mut self,
        root: &ArrayRef,
        piece: LeafPiece,
        bytes: u64,
        given: u64,
        page_bytes: u64,
        pages: &mut Vec<DuePage>,
    ) -> Result<u64> {
        if self.pieces.is_empty() {
            self.oldest = given;
        }
        if let Some(zones) = &mut self.zones {
            zones.push(&piece.values, validity(&piece).as_ref())?;
        }
        let (dictionary, before) = self.dictionary.replace(&piece.values).unwrap_or_default();
        if !self.pieces.is_empty() {
            self.dictionaries += before;
        }
        self.bytes += bytes;
        self.pieces.push(piece);
        self.roots.push(root.clone());
        if self.bytes >= page_bytes {
            self.take_pages(0, pages)?;
        } else if self.plan.path.is_empty() && merge::is_worth(&self.roots, self.bytes) {
            let root = merge::merged(&self.roots)?;
            self.pieces = vec![self.plan.extract(&root)?];
            self.roots = vec![root];
        }
        Ok(bytes + dictionary)
    }

    /// Hands on everything collected, as pages of the column of this number.
    pub(super) fn take_pages(&mut self, column: usize, pages: &mut Vec<DuePage>) -> Result<()> {
        let mut roots = std::mem::take(&mut self.roots);
        let mut pieces = std::mem::take(&mut self.pieces);
        let dictionaries = std::mem::take(&mut self.dictionaries) + self.dictionary.bytes();
        let bytes = std::mem::take(&mut self.bytes) + dictionaries;
        if pieces.is_empty() {
            return Ok(());
        }
        let ends = match self.plan.keys {
            Some(_) => dictionary::ends_of_groups(&pieces)?,
            None => vec![pieces.len()],
        };
        let bytes = bytes / ends.len().max(1) as u64;
        // From the last one to the first, as they are cut off the end.
        let first = pages.len();
        for start in ends.iter().rev().skip(1).copied().chain([0]) {
            let (roots, pieces) = (roots.split_off(start), pieces.split_off(start));
            let rows = DueRows::Layout { plan: self.plan.clone(), roots, pieces };
            pages.push(DuePage { column, bytes, rows });
        }
        pages.get_mut(first..).unwrap_or_default().reverse();
        Ok(())
    }

    /// Remembers the entries of a page; refuses what the keys cannot number.
    pub(super) fn add_entries(&mut self, page: PageEntries) -> Result<()> {
        match self.plan.keys {
            Some(keys) => self.entries.add(page, keys, &self.plan.name),
            None => Ok(()),
        }
    }
}

impl ColumnPlan {
    /// What gathers the column's zone map; none if it cannot have one.
    pub(super) fn zones(&self) -> Option<Gatherer> {
        let has_rows = self.path.iter().all(|step| matches!(step, Step::Struct(_)));
        if !has_rows || self.kind != LeafKind::Values {
            return None;
        }
        Gatherer::new(self.field.data_type(), ROWS_PER_ZONE, BOUND_BYTES)
    }

    /// The column's part of a top-level array. Types whose nulls are not in a validity bitmap
    /// get one.
    pub(super) fn extract(&self, root: &ArrayRef) -> Result<LeafPiece> {
        let mut piece = extract(root, &self.path)?;
        let nulls = match piece.values.data_type() {
            DataType::Null | DataType::Dictionary(..) => piece.values.logical_nulls(),
            // Struct pages without fields are stored as if all were null.
            DataType::Struct(fields) if fields.is_empty() => {
                if self.path.is_empty() && piece.values.null_count() == 0 {
                    Some(NullBuffer::new_null(piece.values.len()))
                } else {
                    return Err(Error::unsupported(format!(
                        "`{}` is a struct without fields that is nested or null; \
                         only plain top-level ones can be stored",
                        self.field.name()
                    )));
                }
            }
            _ => return Ok(piece),
        };
        if let Some(NestingLayer::Item { validity }) = piece.nesting.first_mut() {
            *validity = nulls;
        }
        Ok(piece)
    }
}

/// Which values are not null and in no struct that is; for leaves with nothing else around them.
fn validity(piece: &LeafPiece) -> Option<NullBuffer> {
    let layers = piece.nesting.iter().filter_map(|layer| match layer {
        NestingLayer::Item { validity } => validity.as_ref(),
        NestingLayer::List { .. } | NestingLayer::FixedSizeList { .. } => None,
    });
    layers.fold(None, |valid, layer| NullBuffer::union(valid.as_ref(), Some(layer)))
}

/// Which layers, leaf outwards, are nullable in every page of a column, with nulls or without:
/// structs over lists and fixed-size lists of structs, which the reference miscounts when it reads
/// a page where the layer is nullable together with one where it is not.
///
/// Not below lists: there it miscounts every nullable struct beside a list without items.
fn steady_layers(path: &[(Step, FieldRef)]) -> Vec<bool> {
    let is_list = |step: &Step| matches!(step, Step::List | Step::Map);
    let first_list = path.iter().position(|(step, _)| is_list(step)).unwrap_or(path.len());
    let last_fixed = path.iter().rposition(|(step, _)| *step == Step::FixedSizeList);
    let mut nullable = false;
    let outer = path.iter().enumerate().map(|(i, (_, field))| {
        // A null struct makes what it holds null.
        nullable |= field.is_nullable();
        let over_lists = first_list < path.len() || last_fixed.is_some_and(|last| i <= last);
        nullable && i < first_list && over_lists
    });
    let mut layers: Vec<bool> = outer.collect();
    layers.push(false);
    layers.reverse();
    layers
}

/// Bytes of a piece, counting only the slice it covers and two bytes for each level.
fn piece_bytes(piece: &LeafPiece) -> u64 {
    let values = dictionary::page_bytes(&piece.values);
    let has_lists = piece.nesting.iter().any(|l| matches!(l, NestingLayer::List { .. }));
    let levels = if has_lists { max_entries(piece) * 4 } else { 0 };
    values + levels as u64
}

/// Cuts an array into at least two parts of at most about `page_bytes` each.
fn cut(array: &ArrayRef, bytes: u64, page_bytes: u64) -> impl Iterator<Item = ArrayRef> + '_ {
    let parts = usize::try_from(bytes.div_ceil(page_bytes.max(1))).unwrap_or(usize::MAX);
    let rows = array.len().div_ceil(parts.max(2));
    let starts = (0..array.len()).step_by(rows.max(1));
    starts.map(move |start| array.slice(start, rows.min(array.len() - start)))
}

#[cfg(test)]
#[path = "column_tests.rs"]
mod tests;
