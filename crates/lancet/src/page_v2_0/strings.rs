//! Strings of a page.
//!
//! | form | value `i` |
//! |---|---|
//! | variable | the bytes between two [`Ends`]; coded if there is a symbol table |
//! | fixed | `width` bytes at `i * width` |
//! | constant | always the same, and in the description |
//!
//! Bytes of single rows are found only when their ends are known: they take a second round. A page
//! that is read as a whole takes one.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::array::scaled;
use super::ends::{Ends, Located};
use super::index::ArrayIndex;
use super::stream::{Form, Stream};
use super::validity::Validity;
use super::{Fetched, count, size};
use crate::codec::fsst::{MAX_EXPANSION, SymbolTable};
use crate::codec::{FixedValues, Scratch, VariableValues};
use crate::error::{Error, Result};
use crate::span::Span;

/// The strings of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Strings {
    Variable { ends: Ends, bytes: Stream, table: Option<Arc<SymbolTable>> },
    Fixed { bytes: Stream, width: u64 },
    Constant { value: Vec<u8> },
}

/// Rows of a page whose bytes are known, or not yet.
#[derive(Debug)]
pub(super) enum FoundStrings {
    /// Ends, and the whole buffer of bytes if it came with them.
    Variable {
        located: Vec<Located>,
        whole: Option<Bytes>,
    },
    Fixed(FixedValues),
    Constant(usize),
}

impl Strings {
    /// The spans of the first round.
    pub(super) fn spans(&self, rows: &[Range<u64>], out: &mut Vec<Span>) -> Result<()> {
        match self {
            Self::Variable { ends, bytes, .. } => {
                ends.spans(rows, out)?;
                if is_whole(ends, rows)
                    && let Form::Flat(buffer) = &bytes.form
                {
                    out.push(buffer.span);
                }
                Ok(())
            }
            Self::Fixed { bytes, width } => bytes.spans(&scaled(rows, *width)?, out),
            Self::Constant { .. } => Ok(()),
        }
    }

    /// Takes the bytes of the first round.
    pub(super) fn find(
        &self,
        rows: &[Range<u64>],
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        scratch: &mut Scratch,
    ) -> Result<FoundStrings> {
        Ok(match self {
            Self::Variable { ends, bytes, .. } => {
                let most = match &bytes.form {
                    Form::Compressed { buffer, .. } => count(index.expanded(buffer.span)?.len()),
                    Form::Bitpacked { packed_bits, buffer, .. } => {
                        buffer.span.len().saturating_mul(8).checked_div(*packed_bits).unwrap_or(0)
                    }
                    _ => bytes.buffer().map_or(0, |buffer| buffer.span.len()),
                };
                let located = ends.locate(rows, most, fetched, index, scratch)?;
                let whole = match &bytes.form {
                    Form::Flat(_) if is_whole(ends, rows) => Some(fetched.next()?.clone()),
                    Form::Compressed { buffer, .. } => Some(index.expanded(buffer.span)?.clone()),
                    _ => None,
                };
                FoundStrings::Variable { located, whole }
            }
            Self::Fixed { bytes, width } => {
                let mut values = FixedValues::new(bytes.bits);
                bytes.decode(&scaled(rows, *width)?, fetched, index, &mut values, scratch)?;
                FoundStrings::Fixed(values)
            }
            Self::Constant { value } => {
                let rows = super::count_in(rows)?;
                let bytes = count(rows).saturating_mul(count(value.len()).saturating_add(8));
                scratch.claim(bytes, "a constant column")?;
                FoundStrings::Constant(rows)
            }
        })
    }

    /// The spans of the second round.
    pub(super) fn late_spans(&self, found: &FoundStrings, out: &mut Vec<Span>) -> Result<()> {
        let Self::Variable { bytes, .. } = self else { return Ok(()) };
        let FoundStrings::Variable { located, whole: None } = found else { return Ok(()) };
        for rows in located.iter().filter(|rows| !rows.span.is_empty()) {
            bytes.spans(std::slice::from_ref(&rows.span), out)?;
        }
        Ok(())
    }

    /// Appends what was found, given the bytes of the second round; returns which are not null.
    pub(super) fn append(
        &self,
        found: FoundStrings,
        fetched: &mut Fetched<'_>,
        out: &mut VariableValues,
        scratch: &mut Scratch,
    ) -> Result<Option<FixedValues>> {
        match (self, found) {
            (Self::Variable { table, bytes, .. }, FoundStrings::Variable { located, whole }) => {
                let mut valid = Validity::default();
                let mut unpacked;
                for rows in located {
                    let bytes = match (&whole, &bytes.form) {
                        (Some(whole), _) => part(whole, &rows.span)?,
                        (None, _) if rows.span.is_empty() => &[],
                        (None, Form::Flat(_)) => fetched.next()?,
                        (None, _) => {
                            unpacked = FixedValues::new(8);
                            let span = std::slice::from_ref(&rows.span);
                            let index = ArrayIndex::default();
                            bytes.decode(span, fetched, &index, &mut unpacked, scratch)?;
                            unpacked.data()
                        }
                    };
                    match table {
                        Some(table) => append_coded(table, bytes, &rows, out, scratch)?,
                        None => append_plain(bytes, &rows, out)?,
                    }
                    scratch.release(rows.size_bytes());
                    valid.push(rows.ends.len(), rows.valid)?;
                }
                Ok(valid.bits)
            }
            (Self::Fixed { width, .. }, FoundStrings::Fixed(values)) => {
                let mut values = values.data().chunks_exact(size(*width)?.max(1));
                values.try_for_each(|value| out.push(value))?;
                Ok(None)
            }
            (Self::Constant { value }, FoundStrings::Constant(rows)) => {
                (0..rows).try_for_each(|_| out.push(value))?;
                Ok(None)
            }
            _ => Err(Error::corrupt("strings of another form")),
        }
    }
}

fn is_whole(ends: &Ends, rows: &[Range<u64>]) -> bool {
    *rows == [0..ends.len]
}

fn part<'a>(bytes: &'a Bytes, span: &Range<u64>) -> Result<&'a [u8]> {
    let part = bytes.get(size(span.start)?..size(span.end)?);
    part.ok_or_else(|| {
        let (end, len) = (span.end, bytes.len());
        Error::corrupt(format!("strings end at byte {end} of {len}"))
    })
}

/// The rows that are not null, with their bytes; `None` for nulls, whatever lies under them.
fn values<'a>(bytes: &'a [u8], rows: &'a Located) -> impl Iterator<Item = Option<&'a [u8]>> {
    let mut start = 0;
    rows.ends.iter().enumerate().map(move |(i, &end)| {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        let value = bytes.get(start..end).unwrap_or_default();
        start = end;
        rows.valid.as_ref().is_none_or(|valid| valid.bit(i)).then_some(value)
    })
}

fn append_plain(bytes: &[u8], rows: &Located, out: &mut VariableValues) -> Result<()> {
    out.reserve_bytes(bytes.len())?;
    if rows.has_hidden {
        return values(bytes, rows).try_for_each(|value| out.push(value.unwrap_or_default()));
    }
    let first = out.bytes.len();
    out.bytes.extend_from_slice(bytes);
    for &end in &rows.ends {
        out.offsets.push(first.saturating_add(size(end)?))?;
    }
    Ok(())
}

fn append_coded(
    table: &SymbolTable,
    bytes: &[u8],
    rows: &Located,
    out: &mut VariableValues,
    scratch: &mut Scratch,
) -> Result<()> {
    let most = count(bytes.len()).saturating_mul(MAX_EXPANSION);
    scratch.claim(most, "coded strings")?;
    let first = out.bytes.len();
    if rows.has_hidden {
        for value in values(bytes, rows) {
            if let Some(value) = value {
                table.decode_value(value, &mut out.bytes)?;
            }
            out.close_value()?;
        }
    } else {
        let ends = rows.ends.iter().map(|end| usize::try_from(*end).unwrap_or(usize::MAX));
        let offsets = &mut out.offsets;
        let places = &mut scratch.places;
        table.decode_run(bytes, ends, places, &mut out.bytes, |end| offsets.push(end))?;
    }
    let decoded = out.bytes.len().saturating_sub(first);
    scratch.release(most.saturating_sub(count(decoded)));
    Ok(())
}
