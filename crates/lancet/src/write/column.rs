//! One leaf column while it is written: collects batches, cuts pages, encodes them.

use std::io::Write;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef};

use super::blob;
use super::dictionary::{self, PageDictionary};
use super::long_row;
use super::sink::Sink;
use super::summary::{ExplainedPage, Why};
use crate::choose::{
    Form, MiniBlockForm, Subject, choose, choose_dictionary_column, level_compression,
};
use crate::codec::{ValueType, Values};
use crate::error::{Error, Result};
use crate::levels::{
    LeafPiece, NestingLayer, Numbering, Shredded, Step, extract, max_entries, shred,
};
use crate::measure::{fill_nulls, measure};
use crate::options::Settings;
use crate::page::encode::{PageLevels, all_null, scalar};
use crate::page::mini_block::encode::MiniBlockInput;
use crate::page::rules::Rules;
use crate::page::{full_zip, mini_block};
use crate::schema::columns::{Leaf, LeafKind};
use crate::schema::from_arrow;
use crate::schema::value_type::{key_bits, value_type};
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
    pub(super) key_bits: Option<u64>,
    rules: Rules,
    pub(super) settings: Settings,
    /// Names from the top down, with dots between.
    pub(super) name: String,
    /// The layers, leaf outwards, that are nullable in every page: see [`steady_layers`].
    nullable: Vec<bool>,
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
        let (values, key_bits) = (value_type(leaf)?, key_bits(leaf.field.data_type()));
        let nullable = steady_layers(path);
        let path = path.iter().map(|(step, _)| *step).collect();
        let Leaf { field, kind, .. } = leaf.clone();
        Ok(Self { field, kind, root, path, values, key_bits, rules, settings, name, nullable })
    }
}

/// A column and the rows that wait for their page.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    pub(super) plan: ColumnPlan,
    /// The top-level arrays and the column's part of each.
    roots: Vec<ArrayRef>,
    pieces: Vec<LeafPiece>,
    /// Bytes of the pieces.
    bytes: u64,
    /// How many bytes the file had been given when the oldest piece came.
    pub(super) oldest: u64,
    /// Its zone map, if it gets one.
    pub(super) zones: Option<Gatherer>,
}

impl ColumnWriter {
    pub(super) fn new(plan: ColumnPlan, zone_maps: bool) -> Self {
        let zones = if zone_maps { plan.zones() } else { None };
        Self { plan, roots: Vec::new(), pieces: Vec::new(), bytes: 0, oldest: 0, zones }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes the column's part of a top-level array, cuts pages that are full, and returns the
    /// bytes it took. `given` tells how much the file had been given before.
    pub(super) fn push(
        &mut self,
        root: &ArrayRef,
        given: u64,
        page_bytes: u64,
        pages: &mut Vec<ExplainedPage>,
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
        pages: &mut Vec<ExplainedPage>,
    ) -> Result<u64> {
        let mut piece = self.plan.extract(root)?;
        piece.values = blob::store(&piece.values, sink)?;
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
        pages: &mut Vec<ExplainedPage>,
    ) -> Result<u64> {
        if self.pieces.is_empty() {
            self.oldest = given;
        }
        if let Some(zones) = &mut self.zones {
            zones.push(&piece.values, validity(&piece).as_ref())?;
        }
        self.bytes += bytes;
        self.pieces.push(piece);
        self.roots.push(root.clone());
        if self.bytes >= page_bytes {
            pages.extend(self.flush()?);
        }
        Ok(bytes)
    }

    /// Encodes everything collected as pages.
    pub(super) fn flush(&mut self) -> Result<Vec<ExplainedPage>> {
        self.bytes = 0;
        let roots = std::mem::take(&mut self.roots);
        let pieces = std::mem::take(&mut self.pieces);
        let mut pages = Vec::new();
        let groups = if self.plan.key_bits.is_some() {
            dictionary::split(&pieces)?
        } else if pieces.is_empty() {
            Vec::new()
        } else {
            vec![0..pieces.len()]
        };
        for group in groups {
            let (roots, pieces) = (roots.get(group.clone()), pieces.get(group));
            let (roots, pieces) = (roots.unwrap_or_default(), pieces.unwrap_or_default());
            self.plan.encode(roots, pieces, &mut pages)?;
        }
        Ok(pages)
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
    fn extract(&self, root: &ArrayRef) -> Result<LeafPiece> {
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

    /// Encodes pieces as one page, or as several if one cannot hold their levels.
    fn encode(
        &self,
        roots: &[ArrayRef],
        pieces: &[LeafPiece],
        pages: &mut Vec<ExplainedPage>,
    ) -> Result<()> {
        let mut shredded = shred(pieces)?;
        shredded.make_nullable(&self.nullable);
        if let Some(page) = self.encode_page(pieces, &shredded)? {
            pages.push(page);
            return Ok(());
        }
        let Some(halves) = halve(roots) else {
            pages.push(self.encode_long_row(pieces, &shredded)?);
            return Ok(());
        };
        for roots in halves {
            let pieces = roots.iter().map(|root| self.extract(root));
            self.encode(&roots, &pieces.collect::<Result<Vec<_>>>()?, pages)?;
        }
        Ok(())
    }

    fn encode_page(
        &self,
        pieces: &[LeafPiece],
        shredded: &Shredded,
    ) -> Result<Option<ExplainedPage>> {
        let levels = PageLevels::from(shredded);
        if self.kind == LeafKind::Blob {
            let page = blob::encode_page(pieces, levels, self.rules)?;
            return Ok(Some(Why::of("blobs lie outside of pages").page(page)));
        }
        let valid = valid_values(shredded)?;
        let nothing_valid = match &valid {
            Some(valid) => !valid.contains(&true),
            None => shredded.num_values == 0,
        };
        if nothing_valid {
            let page = all_null(levels, self.rules)?;
            return Ok(Some(Why::of("all values are null").page(page)));
        }
        if self.key_bits.is_some() {
            let slots = shredded.slots.iter();
            let page = PageDictionary::build(pieces, slots, valid.as_deref(), &self.values)?;
            let choice =
                choose_dictionary_column(page.keys, page.items, &self.settings, self.rules)?;
            let values = Values::new(&self.values);
            return self.encode_form(levels, &values, choice.form, Why::of(choice.reason));
        }
        let mut values = self.page_values(pieces, shredded)?;
        if let Some(valid) = &valid {
            fill_nulls(&mut values, valid);
        }
        let measures = measure(&values, valid.as_deref());
        let choice = choose(Subject {
            values: &values,
            measures: &measures,
            valid: valid.as_deref(),
            settings: &self.settings,
            rules: self.rules,
        });
        let choice = choice.map_err(|error| in_column(&self.name, error))?;
        let why = Why { reason: choice.reason, candidates: choice.candidates };
        self.encode_form(levels, &values, choice.form, why)
    }

    /// Encodes values in the form chosen for them.
    fn encode_form(
        &self,
        levels: PageLevels<'_>,
        values: &Values,
        form: Form,
        why: Why,
    ) -> Result<Option<ExplainedPage>> {
        let page = match form {
            Form::AllNull => all_null(levels, self.rules).map(Some),
            Form::Constant(position) => {
                let mut value = Values::new(&self.values);
                value.append_range(values, position..position + 1)?;
                scalar(levels, &value, self.rules).map(Some)
            }
            Form::MiniBlock(form) => {
                let MiniBlockForm { encoding, chunk_size, values: replaced, dictionary } = form;
                let input = MiniBlockInput {
                    levels,
                    values: replaced.as_ref().unwrap_or(values),
                    encoding,
                    dictionary: dictionary.as_ref().map(|(e, items)| (e.clone(), items)),
                    chunk_size,
                    level_compression: level_compression(&self.settings),
                };
                mini_block::encode::encode(&input, self.rules)
            }
            Form::FullZip { encoding, values: replaced } => {
                let values = replaced.as_ref().unwrap_or(values);
                full_zip::encode::encode(levels, values, encoding).map(Some)
            }
        };
        Ok(page?.map(|page| why.page(page)))
    }

    /// Encodes a single row that no chunk can hold.
    fn encode_long_row(&self, pieces: &[LeafPiece], shredded: &Shredded) -> Result<ExplainedPage> {
        let refused = |error: Error| match error {
            Error::Unsupported(why) => Error::unsupported(format!(
                "a row of `{}` has {} levels around {} values, too many for a chunk, and cannot \
                 be zipped: {why}",
                self.field.name(),
                shredded.num_entries,
                shredded.num_values
            )),
            other => other,
        };
        if self.key_bits.is_some() {
            let why = "dictionaries; cast the column to the type of their values";
            return Err(refused(Error::unsupported(why)));
        }
        let values = self.page_values(pieces, shredded)?;
        let encoding = long_row::zipped_encoding(&values, self.rules).map_err(refused)?;
        let page = full_zip::encode::encode(PageLevels::from(shredded), &values, encoding)?;
        Ok(Why::of("a row has more levels than a chunk can count").page(page))
    }

    /// The values of a page.
    fn page_values(&self, pieces: &[LeafPiece], shredded: &Shredded) -> Result<Values> {
        let mut values = Values::new(&self.values);
        for (piece, range) in &shredded.slots {
            if let Some(piece) = pieces.get(*piece) {
                from_arrow::append(&mut values, &piece.values, range.clone())?;
            }
        }
        Ok(values)
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

fn in_column(name: &str, error: Error) -> Error {
    match error {
        Error::Invalid(message) => Error::invalid(format!("column `{name}`: {message}")),
        other => other,
    }
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

/// For each value whether it is not null; `None` if all are.
fn valid_values(shredded: &Shredded) -> Result<Option<Vec<bool>>> {
    let Some(def) = &shredded.def else { return Ok(None) };
    let numbering = Numbering::new(&shredded.layers)?;
    let visible = def.iter().filter(|def| numbering.is_visible(**def));
    Ok(Some(visible.map(|def| *def == 0).collect()))
}

/// The first and the second half of the rows; `None` for a single row.
fn halve(roots: &[ArrayRef]) -> Option<[Vec<ArrayRef>; 2]> {
    let rows: usize = roots.iter().map(|root| root.len()).sum();
    let mut left = rows / 2;
    if left == 0 {
        return None;
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for root in roots {
        let cut = left.min(root.len());
        left -= cut;
        if cut > 0 {
            first.push(root.slice(0, cut));
        }
        if cut < root.len() {
            second.push(root.slice(cut, root.len() - cut));
        }
    }
    Some([first, second])
}

/// Bytes of a piece, counting only the slice it covers and two bytes for each level.
fn piece_bytes(piece: &LeafPiece) -> u64 {
    let values = piece.values.to_data().get_slice_memory_size().unwrap_or(0);
    let has_lists = piece.nesting.iter().any(|l| matches!(l, NestingLayer::List { .. }));
    let levels = if has_lists { max_entries(piece) * 4 } else { 0 };
    (values + levels) as u64
}

/// Cuts an array into at least two parts of at most about `page_bytes` each.
fn cut(array: &ArrayRef, bytes: u64, page_bytes: u64) -> impl Iterator<Item = ArrayRef> + '_ {
    let parts = usize::try_from(bytes.div_ceil(page_bytes.max(1))).unwrap_or(usize::MAX);
    let rows = array.len().div_ceil(parts.max(2));
    let starts = (0..array.len()).step_by(rows.max(1));
    starts.map(move |start| array.slice(start, rows.min(array.len() - start)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Field;

    use super::*;

    fn steady(path: &[(Step, bool)]) -> Vec<bool> {
        let field = |nullable| Arc::new(Field::new("f", DataType::Null, nullable));
        let path: Vec<_> = path.iter().map(|(step, null)| (*step, field(*null))).collect();
        let mut layers = steady_layers(&path);
        layers.reverse();
        layers
    }

    #[test]
    fn layers_over_lists_are_steady() {
        use Step::{FixedSizeList, List, Struct};
        let (t, f) = (true, false);
        assert_eq!(steady(&[]), [f]);
        assert_eq!(steady(&[(Struct(0), t), (Struct(0), t)]), [f, f, f]);
        assert_eq!(steady(&[(Struct(0), t), (List, t), (Struct(1), t)]), [t, f, f, f]);
        assert_eq!(steady(&[(Struct(0), f), (Struct(0), t), (List, t)]), [f, t, f, f]);
        assert_eq!(steady(&[(Struct(0), t), (Struct(0), f), (List, t)]), [t, t, f, f]);
        assert_eq!(steady(&[(List, t), (Struct(0), t), (List, t)]), [f, f, f, f]);
        let fixed = [(Struct(0), t), (FixedSizeList, f), (Struct(0), t)];
        assert_eq!(steady(&fixed), [t, t, f, f]);
    }
}
