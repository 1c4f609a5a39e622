//! Zipped rows to levels and values.

use std::ops::Range;

use bytes::Bytes;

use super::super::PageTask;
use super::super::sink::{LeafSink, SinkValues};
use super::layout::{FullZipLayout, ZipWidth};
use crate::bits::Planes;
use crate::codec::{Encoding, Scratch, Values, per_value};
use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::Numbering;
use crate::span::Span;

/// Appends the task's rows to the sink.
pub(crate) fn decode(
    layout: &FullZipLayout,
    task: &PageTask,
    fetched: &[Bytes],
    sink: &mut LeafSink,
    scratch: &mut Scratch,
) -> Result<()> {
    let LeafSink { values: SinkValues::Plain(values), rep, def, .. } = sink else {
        return Err(Error::corrupt("a full-zip page in a dictionary or blob column"));
    };
    let mut rows =
        RowDecoder { layout, numbering: Numbering::new(&layout.layers)?, rep, def, values };
    for ((range, span), bytes) in task.rows.iter().zip(&task.spans).zip(fetched) {
        match layout.width {
            ZipWidth::Value { bytes: width } if layout.bits_rep == 0 => {
                rows.fixed_flat(bytes, width, range, scratch)
            }
            ZipWidth::Value { bytes: width } => rows.fixed_nested(bytes, width, range, scratch),
            ZipWidth::Length { bytes: width } if task.placed => rows.placed(bytes, width, *span),
            ZipWidth::Length { bytes: width } => rows.variable(bytes, width, range, scratch),
        }
        .in_buffer(0)?;
    }
    let num_entries = if layout.bits_rep > 0 {
        rows.rep.len()
    } else {
        usize::try_from(super::super::count_rows(&task.rows)).unwrap_or(usize::MAX)
    };
    let numbering = rows.numbering;
    // A page without any null stores no definition bits although a layer may be nullable.
    if numbering.max_def > 0 && layout.bits_def == 0 {
        def.push_run(0, num_entries.saturating_sub(def.len()));
    }
    numbering
        .check((layout.bits_rep > 0).then_some(&*rep), (numbering.max_def > 0).then_some(&*def))?;
    sink.close_page(&layout.layers, num_entries, scratch)
}

struct RowDecoder<'a> {
    layout: &'a FullZipLayout,
    numbering: Numbering,
    rep: &'a mut Planes,
    def: &'a mut Planes,
    values: &'a mut Values,
}

impl RowDecoder<'_> {
    /// One entry a row, all of the same size.
    fn fixed_flat(
        &mut self,
        bytes: &Bytes,
        width: usize,
        rows: &Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let control = self.layout.control_bytes();
        let num_rows = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let stride = control.saturating_add(width);
        ensure!(
            Some(bytes.len()) == num_rows.checked_mul(stride),
            "{num_rows} rows of {stride} bytes in {} bytes",
            bytes.len()
        );
        if control > 0 {
            for row in bytes.chunks_exact(stride) {
                self.control_word(&mut Cursor::new(row))?;
            }
        }
        if width == 0 {
            return per_value::push_null_items(num_rows, self.values, scratch);
        }
        if control == 0 && per_value::share_rows(&self.layout.values, bytes, num_rows, self.values)?
        {
            return Ok(());
        }
        self.claim_null_items(rows.end.saturating_sub(rows.start), scratch)?;
        per_value::decode_rows(&self.layout.values, bytes, stride, control, num_rows, self.values)
    }

    /// Null items of lists take no bytes in the file, but do in memory.
    fn claim_null_items(&self, num_values: u64, scratch: &mut Scratch) -> Result<()> {
        if per_value::has_null_items(&self.layout.values) {
            scratch.claim(self.values.default_bytes(num_values), "lists of null items")?;
        }
        Ok(())
    }

    /// Entries of lists: those that are not visible have no value.
    fn fixed_nested(
        &mut self,
        bytes: &[u8],
        width: usize,
        rows: &Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut cursor = Cursor::new(bytes);
        let first = self.rep.len();
        while !cursor.rest().is_empty() {
            let def = self.control_word(&mut cursor)?;
            if self.numbering.is_visible(def) && width == 0 {
                per_value::push_null_items(1, self.values, scratch)?;
            } else if self.numbering.is_visible(def) {
                let value = cursor.take(width, "a zipped value")?;
                self.claim_null_items(1, scratch)?;
                per_value::decode_rows(&self.layout.values, value, width, 0, 1, self.values)?;
            }
        }
        self.check_rows(first, rows)
    }

    /// Entries with a length before the value.
    fn variable(
        &mut self,
        bytes: &[u8],
        length_bytes: usize,
        rows: &Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut cursor = Cursor::new(bytes);
        let first = self.rep.len();
        let mut num_entries = 0_u64;
        while !cursor.rest().is_empty() {
            num_entries = num_entries.saturating_add(1);
            let def = self.control_word(&mut cursor)?;
            if def > 0 {
                if self.numbering.is_visible(def) {
                    self.values.push_default(1)?;
                }
                continue;
            }
            let length = value_length(&mut cursor, length_bytes)?;
            let at = cursor.position();
            let stored = cursor.take(length, "a zipped value")?;
            match (&self.layout.values, &mut *self.values) {
                (Encoding::Variable { .. }, Values::Variable(values)) => values.push(stored)?,
                (encoding, values) => per_value::decode_value(encoding, stored, values, scratch)
                    .at(u64::try_from(at).unwrap_or(0))?,
            }
        }
        if self.layout.bits_rep > 0 {
            return self.check_rows(first, rows);
        }
        let num_rows = rows.end.saturating_sub(rows.start);
        ensure!(num_entries == num_rows, "{num_entries} entries in the bytes of {num_rows} rows");
        Ok(())
    }

    /// The head of a row whose value is in its place.
    fn placed(&mut self, head: &[u8], length_bytes: usize, span: Span) -> Result<()> {
        let mut cursor = Cursor::new(head);
        let def = self.control_word(&mut cursor)?;
        match &mut *self.values {
            values if def > 0 => values.push_default(1)?,
            Values::Variable(values) => {
                let length = value_length(&mut cursor, length_bytes)?;
                let (size, needed) = (span.len(), head.len().checked_add(length));
                let fits = needed.is_some_and(|needed| needed as u64 == size);
                ensure!(fits, "a zipped value of {length} bytes in a row of {size}");
                values.push_placed(length)?;
            }
            _ => return Err(Error::corrupt("zipped strings in a column of others")),
        }
        ensure!(cursor.rest().is_empty(), "more than one entry in the bytes of a row");
        Ok(())
    }

    /// Reads a control word, appends its levels and returns the definition level.
    fn control_word(&mut self, cursor: &mut Cursor<'_>) -> Result<u16> {
        let word = match self.layout.control_bytes() {
            0 => return Ok(0),
            1 => u32::from(cursor.take(1, "control word")?.first().copied().unwrap_or(0)),
            2 => u32::from(cursor.u16("control word")?),
            _ => cursor.u32("control word")?,
        };
        let (rep, def) = split_control_word(word, self.layout.bits_def)?;
        ensure!(rep <= self.numbering.max_rep, "repetition level {rep}");
        ensure!(def <= self.numbering.max_def, "definition level {def}");
        if self.layout.bits_rep > 0 {
            self.rep.push(rep);
        }
        if self.layout.bits_def > 0 {
            self.def.push(def);
        } else if self.numbering.max_def > 0 {
            self.def.push(0);
        }
        Ok(def)
    }

    /// The entries since `first` must be exactly the rows asked for.
    fn check_rows(&self, first: usize, rows: &Range<u64>) -> Result<()> {
        let mut rep = self.rep.iter(first..self.rep.len()).peekable();
        let begins = rep.peek() == Some(&self.numbering.max_rep);
        let starts = rep.filter(|rep| *rep == self.numbering.max_rep).count();
        let num_rows = rows.end.saturating_sub(rows.start);
        ensure!(
            u64::try_from(starts) == Ok(num_rows) && begins,
            "{starts} rows start in the bytes of {num_rows} rows"
        );
        Ok(())
    }
}

/// Reads the length before a value.
fn value_length(cursor: &mut Cursor<'_>, length_bytes: usize) -> Result<usize> {
    let length = match length_bytes {
        8 => cursor.u64("length of a zipped value")?,
        _ => u64::from(cursor.u32("length of a zipped value")?),
    };
    usize::try_from(length).map_err(|_| Error::corrupt(format!("a zipped value of {length} bytes")))
}

fn split_control_word(word: u32, bits_def: u32) -> Result<(u16, u16)> {
    let rep = word.checked_shr(bits_def).unwrap_or(0);
    let mask = 1_u32.checked_shl(bits_def).unwrap_or(0).saturating_sub(1);
    let def = word & mask;
    match (u16::try_from(rep), u16::try_from(def)) {
        (Ok(rep), Ok(def)) => Ok((rep, def)),
        _ => Err(Error::corrupt(format!("control word {word:#x}"))),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
