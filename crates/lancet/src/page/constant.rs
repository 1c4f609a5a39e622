//! Constant pages: all items are null, or all that are not null are the same value.
//!
//! | value | buffers | form |
//! |---|---|---|
//! | none | – | all items null, nothing else to tell |
//! | none | rep, def | no value, but structure |
//! | inline | – or rep, def | a value of at most 32 bytes |
//! | in buffer 0 | value or value, rep, def | u32 n, n × u32 lengths, the Arrow buffers of one value |
//!
//! Levels are raw u16, or compressed as the layout says; an empty buffer means that there are none.

use std::ops::Range;

use bytes::Bytes;

use super::encode::{EncodedPage, LevelForms, PageLevels, level_encoding};
use super::layout::{ConstantLayout, ConstantValue, Layout};
use super::rules::Rules;
use super::sink::{LeafSink, SinkValues};
use super::{Page, PageTask, count_rows};
use crate::bits::Planes;
use crate::codec::{Dictionary, Encoding, Offsets, Scratch, ValueType, Values, block};
use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::{Layer, Numbering};
use crate::schema::leaves::LeafType;

/// The levels and the value of a constant page.
#[derive(Debug)]
pub(crate) struct ConstantIndex {
    rep: Planes,
    def: Planes,
    /// First entry of each row and the end; only with lists.
    row_starts: Vec<usize>,
    /// The value, as the only one of its kind.
    scalar: Option<Dictionary>,
}

impl ConstantIndex {
    /// Parses all buffers of the page.
    pub(crate) fn parse(
        page: &Page,
        layout: &ConstantLayout,
        leaf: &LeafType,
        buffers: &[Bytes],
        scratch: &mut Scratch,
    ) -> Result<Self> {
        let scalar = match &layout.value {
            ConstantValue::Null => None,
            ConstantValue::Inline(value) => Some(inline_scalar(value, &leaf.values)?),
            ConstantValue::Buffer => {
                let value =
                    buffers.first().ok_or_else(|| Error::corrupt("the value is missing"))?;
                Some(buffered_scalar(value, &leaf.values).in_buffer(0)?)
            }
        };
        ensure!(
            scalar.is_none() || leaf.keys.is_none() && !leaf.blob,
            "a constant value in a dictionary or blob column"
        );
        let first = usize::from(layout.value == ConstantValue::Buffer);
        let empty = Bytes::new();
        let levels = |i: usize| {
            let buffer = buffers.get(first.saturating_add(i));
            if layout.has_levels { buffer.unwrap_or(&empty) } else { &empty }
        };
        let rep = parse_levels(levels(0), layout.rep.as_ref(), layout.num_rep, scratch)
            .in_buffer(first)?;
        let def = parse_levels(levels(1), layout.def.as_ref(), layout.num_def, scratch)
            .in_buffer(first.saturating_add(1))?;
        let mut index =
            Self { rep, def, row_starts: Vec::new(), scalar: scalar.map(Dictionary::new) };
        if layout.has_levels {
            index.check(page, layout)?;
        }
        Ok(index)
    }

    fn check(&mut self, page: &Page, layout: &ConstantLayout) -> Result<()> {
        let numbering = Numbering::new(&layout.layers)?;
        let has_rep = numbering.max_rep > 0;
        ensure!(has_rep || self.rep.is_empty(), "repetition levels without a list");
        ensure!(numbering.max_def > 0 || self.def.is_empty(), "definition levels without nulls");
        if !has_rep {
            let count = u64::try_from(self.def.len()).unwrap_or(u64::MAX);
            ensure!(
                count == page.num_rows || count == 0 && numbering.max_def == 0,
                "{count} levels in a page of {} rows",
                page.num_rows
            );
        }
        numbering
            .check(has_rep.then_some(&self.rep), (numbering.max_def > 0).then_some(&self.def))?;
        if has_rep {
            let starts = self.rep.at_least(numbering.max_rep);
            self.row_starts = starts.positions().chain([self.rep.len()]).collect();
            let num_rows = u64::try_from(self.row_starts.len().saturating_sub(1));
            ensure!(
                num_rows == Ok(page.num_rows) && self.row_starts.first() == Some(&0),
                "levels of {} rows in a page of {}",
                num_rows.unwrap_or(u64::MAX),
                page.num_rows
            );
        }
        Ok(())
    }

    /// Appends the task's rows to the sink.
    pub(super) fn decode(
        &self,
        layout: &ConstantLayout,
        task: &PageTask,
        sink: &mut LeafSink,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let numbering = Numbering::new(&layout.layers)?;
        if layout.value == ConstantValue::Null && !layout.has_levels {
            let num_rows = usize::try_from(count_rows(&task.rows)).unwrap_or(usize::MAX);
            sink.values.push_default(num_rows, scratch)?;
            return sink.assembler.push_null_items(num_rows);
        }
        let mut num_entries = 0_usize;
        for rows in &task.rows {
            let entries = self.entries(rows)?;
            num_entries = num_entries.saturating_add(entries.len());
            sink.rep.extend(&self.rep, entries.clone());
            sink.def.extend(&self.def, entries);
        }
        let num_values = match sink.def.is_empty() {
            true => num_entries,
            false => sink.def.count_at_most(numbering.max_visible),
        };
        match (&self.scalar, &mut sink.values) {
            (Some(scalar), SinkValues::Plain(values)) => {
                values.repeat(scalar, num_values, scratch)?;
            }
            _ => sink.values.push_default(num_values, scratch)?,
        }
        sink.close_page(&layout.layers, num_entries, scratch)
    }

    fn entries(&self, rows: &Range<u64>) -> Result<Range<usize>> {
        let usize_of = |row: u64| {
            usize::try_from(row).map_err(|_| Error::invalid(format!("row {row} is out of reach")))
        };
        let (start, end) = (usize_of(rows.start)?, usize_of(rows.end)?);
        if self.row_starts.is_empty() {
            return Ok(start..end);
        }
        match (self.row_starts.get(start), self.row_starts.get(end)) {
            (Some(start), Some(end)) => Ok(*start..*end),
            _ => Err(Error::corrupt("a row without levels")),
        }
    }

    pub(crate) fn size_bytes(&self) -> usize {
        let levels = self.rep.size_bytes().saturating_add(self.def.size_bytes());
        let rows = self.row_starts.len().saturating_mul(size_of::<usize>());
        levels
            .saturating_add(rows)
            .saturating_add(self.scalar.as_ref().map_or(0, |s| s.size_bytes()))
    }
}

fn parse_levels(
    bytes: &[u8],
    encoding: Option<&Encoding>,
    count: u64,
    scratch: &mut Scratch,
) -> Result<Planes> {
    let raw = Encoding::Flat { bits: 16 };
    let encoding = encoding.unwrap_or(&raw);
    let count = match (encoding, count) {
        (Encoding::Flat { .. }, 0) => bytes.len().checked_div(2).unwrap_or(0),
        (_, count) => {
            // Levels, and the first entry of each row.
            scratch.claim(count.saturating_mul(10), "the levels of a constant page")?;
            usize::try_from(count).unwrap_or(usize::MAX)
        }
    };
    let mut levels = Planes::default();
    if count > 0 || !bytes.is_empty() {
        block::decode_levels(encoding, bytes, count, &mut levels, scratch)?;
    }
    Ok(levels)
}

fn inline_scalar(value: &[u8], value_type: &ValueType) -> Result<Values> {
    ensure!(value.len() <= 32, "an inline value of {} bytes", value.len());
    fixed_scalar(value, value_type)
}

fn fixed_scalar(value: &[u8], value_type: &ValueType) -> Result<Values> {
    let mut values = Values::new(value_type);
    let Values::Fixed(fixed) = &mut values else {
        return Err(Error::corrupt("a constant of a type that cannot be one"));
    };
    let width = usize::try_from(fixed.bits().div_ceil(8)).unwrap_or(usize::MAX);
    ensure!(value.len() == width, "a constant of {} bytes for a type of {width}", value.len());
    fixed.append_flat(value, 0..1)?;
    Ok(values)
}

fn buffered_scalar(bytes: &[u8], value_type: &ValueType) -> Result<Values> {
    let mut cursor = Cursor::new(bytes);
    let num_buffers = cursor.u32("number of value buffers")?;
    let needed = if matches!(value_type, ValueType::Variable { .. }) { 2 } else { 1 };
    ensure!(num_buffers == needed, "{num_buffers} value buffers, where the type has {needed}");
    let mut sizes = [0; 2];
    for size in sizes.iter_mut().take(usize::try_from(needed).unwrap_or(0)) {
        *size = usize::try_from(cursor.u32("size of a value buffer")?).unwrap_or(usize::MAX);
    }
    let [first, second] = sizes;
    let first = cursor.take(first, "value buffer")?;
    let second = cursor.take(second, "value buffer")?;
    ensure!(cursor.rest().is_empty(), "{} bytes after the value", cursor.rest().len());
    let ValueType::Variable { offset_bits } = value_type else {
        return fixed_scalar(first, value_type);
    };
    let mut offsets = Cursor::new(first);
    let mut offset = || match offset_bits {
        64 => offsets.u64("offset"),
        _ => offsets.u32("offset").map(u64::from),
    };
    let (start, end) = (offset()?, offset()?);
    ensure!(offsets.rest().is_empty(), "more than one constant value");
    let value = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let value = value.and_then(|(start, end)| second.get(start..end));
    ensure!(value.is_some(), "a constant from {start} to {end} in {} bytes", second.len());
    let mut values = Values::new(value_type);
    if let Values::Variable(variable) = &mut values {
        variable.push(value.unwrap_or_default())?;
    }
    Ok(values)
}

/// Encodes a page that holds one value, or none.
pub(super) fn encode(
    levels: PageLevels<'_>,
    scalar: Option<&Values>,
    rules: Rules,
) -> Result<EncodedPage> {
    let simple = scalar.is_none() && levels.layers == [Layer::NullableItem];
    let has_levels = !simple && (levels.rep.is_some() || levels.def.is_some());
    let mut layout = ConstantLayout {
        layers: levels.layers.to_vec(),
        value: ConstantValue::Null,
        rep: None,
        def: None,
        num_rep: 0,
        num_def: 0,
        has_levels,
    };
    let mut buffers = Vec::new();
    if let Some(scalar) = scalar {
        let (value, buffer) = encode_scalar(scalar)?;
        layout.value = value;
        buffers.extend(buffer);
    }
    if has_levels {
        // Only all-null pages may compress their levels, and only in versions that know how to.
        let compress = scalar.is_none() && rules.scalar_constants;
        let encode = |stream: Option<&[u16]>| {
            let Some(stream) = stream else { return Ok((Vec::new(), None, 0)) };
            let encoding = if compress {
                let runs = rules.compressed_levels;
                let levels_per_chunk = stream.len();
                level_encoding(stream, LevelForms { runs, compression: None, levels_per_chunk })?
            } else {
                Encoding::Flat { bits: 16 }
            };
            let mut bytes = Vec::new();
            block::encode_levels(&encoding, stream, &mut bytes)?;
            let count = u64::try_from(stream.len()).unwrap_or(u64::MAX);
            let described = if compress { (Some(encoding), count) } else { (None, 0) };
            Ok::<_, Error>((bytes, described.0, described.1))
        };
        let (rep, rep_encoding, num_rep) = encode(levels.rep)?;
        let (def, def_encoding, num_def) = encode(levels.def)?;
        (layout.rep, layout.num_rep) = (rep_encoding, num_rep);
        (layout.def, layout.num_def) = (def_encoding, num_def);
        buffers.extend([rep.into(), def.into()]);
    }
    Ok(EncodedPage { layout: Layout::Constant(layout), buffers, num_rows: levels.num_rows })
}

/// The value in the description if it is short and fixed, otherwise in a buffer.
fn encode_scalar(scalar: &Values) -> Result<(ConstantValue, Option<Bytes>)> {
    let parts: Vec<Vec<u8>> = match scalar {
        Values::Fixed(fixed) => {
            let value = fixed.data();
            if value.len() <= 32 {
                return Ok((ConstantValue::Inline(value.to_vec()), None));
            }
            vec![value.to_vec()]
        }
        Values::Variable(variable) => {
            let value = variable.value(0)?;
            let length = u64::try_from(value.len()).unwrap_or(u64::MAX).to_le_bytes();
            let width = if matches!(variable.offsets, Offsets::Bits64(_)) { 8 } else { 4 };
            let mut offsets = vec![0; width];
            offsets.extend_from_slice(length.get(..width).unwrap_or_default());
            vec![offsets, value.to_vec()]
        }
        _ => return Err(Error::invalid("only plain values can be constants")),
    };
    let mut buffer = Vec::new();
    let mut put = |n: usize| {
        let n = u32::try_from(n).map_err(|_| Error::invalid("a constant of more than 4 GiB"))?;
        buffer.extend_from_slice(&n.to_le_bytes());
        Ok::<_, Error>(())
    };
    put(parts.len())?;
    parts.iter().try_for_each(|part| put(part.len()))?;
    parts.iter().for_each(|part| buffer.extend_from_slice(part));
    Ok((ConstantValue::Buffer, Some(buffer.into())))
}

#[cfg(test)]
#[path = "constant_tests.rs"]
mod tests;
