//! The array of a page: nulls apart, one of a few shapes.

use std::ops::Range;

use super::index::{ArrayIndex, Items};
use super::stream::{Form, Stream};
use super::strings::Strings;
use super::{Fetched, count, count_in, size};
use crate::codec::flat::RowParts;
use crate::codec::{self, FixedValues, Scratch, ValueType, Values};
use crate::error::{Error, Locate, Result, ensure};
use crate::span::Span;

/// An array of values, some of which may be null.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub(super) len: u64,
    pub(super) nulls: Nulls,
    pub(super) shape: Shape,
}

/// Which values are null.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Nulls {
    pub(super) all: bool,
    /// Bitmaps: a value is null where any of them has a 0.
    pub(super) masks: Vec<Stream>,
}

/// The values of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// No bytes.
    Nothing,
    Fixed(Stream),
    FixedSizeList {
        dimension: u64,
        items: Box<Array>,
    },
    Strings(Strings),
    Dictionary(Box<DictionaryParts>),
    /// The fields of a struct side by side; the widths are those of the fields in bytes.
    Packed {
        rows: Stream,
        widths: Vec<usize>,
    },
    /// Position and size of each payload.
    Blob(Stream),
}

/// Numbers of items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DictionaryParts {
    pub(super) indices: Array,
    pub(super) items: Array,
    pub(super) value_type: ValueType,
    /// The field is not a dictionary: 0 is null, `j` is item `j - 1`.
    pub(super) automatic: bool,
}

impl Array {
    /// All streams with what they hold, those of a dictionary's items included.
    pub(super) fn streams(&self) -> Vec<(&'static str, &Stream)> {
        let mut streams: Vec<_> = self.nulls.masks.iter().map(|m| ("validity", m)).collect();
        match &self.shape {
            Shape::Nothing | Shape::Strings(Strings::Constant { .. }) => {}
            Shape::Fixed(stream) => streams.push(("values", stream)),
            Shape::FixedSizeList { items, .. } => streams.extend(items.streams()),
            Shape::Strings(Strings::Variable { ends, bytes, .. }) => {
                streams.push(("ends of strings", &ends.words));
                streams.push(("bytes", bytes));
            }
            Shape::Strings(Strings::Fixed { bytes, .. }) => streams.push(("bytes", bytes)),
            Shape::Dictionary(dictionary) => {
                for (what, stream) in dictionary.indices.streams() {
                    streams.push((if what == "values" { "indices" } else { what }, stream));
                }
                for (what, stream) in dictionary.items.streams() {
                    streams.push((if what == "values" { "dictionary" } else { what }, stream));
                }
            }
            Shape::Packed { rows, .. } => streams.push(("rows", rows)),
            Shape::Blob(stream) => streams.push(("positions and sizes", stream)),
        }
        streams
    }

    /// The spans that [`Array::parse_index`] needs; often none.
    pub(super) fn index_spans(&self) -> Result<Vec<Span>> {
        let streams = self.streams();
        let compressed = streams.iter().filter_map(|(_, stream)| match &stream.form {
            Form::Compressed { buffer, .. } => Some(buffer.span),
            _ => None,
        });
        let mut spans: Vec<Span> = compressed.collect();
        if let Shape::Dictionary(dictionary) = &self.shape {
            dictionary.items.spans(&[0..dictionary.items.len], &mut spans)?;
        }
        Ok(spans)
    }

    /// Takes the bytes of [`Array::index_spans`].
    pub(super) fn parse_index(
        &self,
        fetched: &mut Fetched<'_>,
        scratch: &mut Scratch,
    ) -> Result<ArrayIndex> {
        let mut index = ArrayIndex::default();
        for (_, stream) in self.streams() {
            let Form::Compressed { scheme, buffer } = &stream.form else { continue };
            let bound = stream.len.map(|len| len.saturating_mul(stream.bits).div_ceil(8));
            let unit = fetched.next()?;
            let mut expand = || {
                let bytes = scratch.decompress(*scheme, unit, bound)?;
                let expected = bound.is_none_or(|bound| count(bytes.len()) == bound);
                ensure!(expected, "{} bytes instead of {}", bytes.len(), bound.unwrap_or(0));
                Ok(bytes)
            };
            let bytes = expand().in_buffer(buffer.number.unwrap_or(0))?;
            index.expanded.push((buffer.span, bytes.into()));
        }
        if let Shape::Dictionary(dictionary) = &self.shape {
            let mut values = Values::new(&dictionary.value_type);
            let items = &dictionary.items;
            let all = 0..items.len;
            let all = std::slice::from_ref(&all);
            let valid = items.append_all(all, fetched, &index, &mut values, scratch)?;
            index.items = Some(Items { values: codec::Dictionary::new(values), valid });
        }
        Ok(index)
    }

    /// The spans that hold some rows; for strings those of the first round.
    pub(super) fn spans(&self, rows: &[Range<u64>], out: &mut Vec<Span>) -> Result<()> {
        self.nulls.masks.iter().try_for_each(|mask| mask.spans(rows, out))?;
        match &self.shape {
            Shape::Nothing => Ok(()),
            Shape::Fixed(stream) | Shape::Packed { rows: stream, .. } | Shape::Blob(stream) => {
                stream.spans(rows, out)
            }
            Shape::FixedSizeList { dimension, items } => {
                items.spans(&scaled(rows, *dimension)?, out)
            }
            Shape::Strings(strings) => strings.spans(rows, out),
            Shape::Dictionary(dictionary) => dictionary.indices.spans(rows, out),
        }
    }

    /// Which rows are not null by the masks; `None` if all are.
    pub(super) fn decode_nulls(
        &self,
        rows: &[Range<u64>],
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        scratch: &mut Scratch,
    ) -> Result<Option<FixedValues>> {
        let num_rows = count_in(rows)?;
        if self.nulls.all {
            scratch.claim(count(num_rows).div_ceil(8), "a column of nulls")?;
            let mut none = FixedValues::new(1);
            none.push_zeros(num_rows)?;
            return Ok(Some(none));
        }
        let mut valid = None;
        for mask in &self.nulls.masks {
            let mut bits = FixedValues::new(1);
            mask.decode(rows, fetched, index, &mut bits, scratch)?;
            valid = both(valid, Some(bits));
        }
        Ok(valid)
    }

    /// Appends rows of any shape but blobs and dictionaries; strings must be read as a whole.
    /// Returns which rows are not null.
    fn append_all(
        &self,
        rows: &[Range<u64>],
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        out: &mut Values,
        scratch: &mut Scratch,
    ) -> Result<Option<FixedValues>> {
        let Shape::Strings(strings) = &self.shape else {
            return self.append(rows, fetched, index, out, scratch);
        };
        let valid = self.decode_nulls(rows, fetched, index, scratch)?;
        let found = strings.find(rows, fetched, index, scratch)?;
        let Values::Variable(out) = out else { return Err(mismatch()) };
        Ok(both(valid, strings.append(found, fetched, out, scratch)?))
    }

    /// Appends rows that have no part elsewhere. Returns which of them are not null.
    pub(super) fn append(
        &self,
        rows: &[Range<u64>],
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        out: &mut Values,
        scratch: &mut Scratch,
    ) -> Result<Option<FixedValues>> {
        let valid = self.decode_nulls(rows, fetched, index, scratch)?;
        let num_rows = count_in(rows)?;
        match (&self.shape, out) {
            (Shape::Nothing, out) => {
                let bytes = out.default_bytes(count(num_rows));
                scratch.claim(bytes, "a column of nulls")?;
                out.push_default(num_rows)?;
            }
            (Shape::Fixed(stream), Values::Fixed(out)) => {
                stream.decode(rows, fetched, index, out, scratch)?;
            }
            (Shape::FixedSizeList { dimension, items }, Values::FixedSizeList(out)) => {
                let range = scaled(rows, *dimension)?;
                let valid = items.append(&range, fetched, index, &mut out.items, scratch)?;
                let num_items = count_in(&range)?;
                match valid {
                    Some(valid) => out.validity_mut()?.append_range(&valid, 0..num_items)?,
                    None => {
                        if let Some(validity) = &mut out.item_validity {
                            validity.push_ones(num_items)?;
                        }
                    }
                }
                out.len = out.len.saturating_add(num_rows);
            }
            (Shape::Packed { rows: stream, widths }, Values::Struct { len, children }) => {
                let mut packed = FixedValues::new(stream.bits);
                stream.decode(rows, fetched, index, &mut packed, scratch)?;
                unpack(&packed, widths, children)?;
                *len = len.saturating_add(num_rows);
            }
            _ => return Err(mismatch()),
        }
        Ok(valid)
    }
}

/// Values that are in both; `None` stands for all.
pub(super) fn both(a: Option<FixedValues>, b: Option<FixedValues>) -> Option<FixedValues> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            let bytes = a.data_mut().iter_mut().zip(b.data());
            bytes.for_each(|(a, b)| *a &= b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// The items of some lists.
pub(super) fn scaled(rows: &[Range<u64>], dimension: u64) -> Result<Vec<Range<u64>>> {
    let scale = |row: u64| {
        let item = row.checked_mul(dimension);
        item.ok_or_else(|| Error::corrupt(format!("{row} lists of {dimension} items")))
    };
    rows.iter().map(|rows| Ok(scale(rows.start)?..scale(rows.end)?)).collect()
}

/// Takes rows of fields of fixed width apart.
fn unpack(packed: &FixedValues, widths: &[usize], children: &mut [Values]) -> Result<()> {
    ensure!(widths.len() == children.len(), "a packed struct lacks fields");
    let mut rows = RowParts {
        bytes: packed.data(),
        stride: size(packed.bits() / 8)?,
        skip: 0,
        num_rows: packed.len(),
    };
    for (&width, child) in widths.iter().zip(children) {
        append_part(rows, width, 1, child)?;
        rows = rows.skipping(width);
    }
    Ok(())
}

/// Appends `per_row` values of each row, `width` bytes together.
fn append_part(rows: RowParts<'_>, width: usize, per_row: usize, out: &mut Values) -> Result<()> {
    match out {
        Values::Fixed(out) => rows.append_to(width, per_row, out),
        Values::FixedSizeList(list) => {
            let items = per_row.saturating_mul(size(list.dimension)?);
            append_part(rows, width, items, &mut list.items)?;
            list.len = list.len.saturating_add(rows.num_rows.saturating_mul(per_row));
            Ok(())
        }
        _ => Err(mismatch()),
    }
}

fn mismatch() -> Error {
    Error::corrupt("an array of another shape than the schema says")
}
