//! `ArrayEncoding` messages to checked [`Array`]s.
//!
//! The tree of messages gives bit widths and buffers; what the values are comes from the schema.
//! `nullable` may stand anywhere around values, and old writers left it out or wrapped more in it
//! than today's do, so it is taken off wherever it stands.

use std::sync::Arc;

use super::array::{Array, DictionaryParts, Nulls, Shape};
use super::ends::Ends;
use super::size;
use super::stream::{Buffer, Form, Stream};
use super::strings::Strings;
use crate::codec::fsst::SymbolTable;
use crate::codec::{Scheme, ValueType};
use crate::error::{Error, Result, ensure};
use crate::proto::encodings as pb;
use crate::span::Span;
use pb::array_encoding::ArrayEncoding as Message;
use pb::nullable::Nullability;

/// Real trees are less than ten deep.
const MAX_DEPTH: usize = 32;

/// The buffers that an encoding may name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffers<'a> {
    pub(super) page: &'a [Span],
    pub(super) column: &'a [Span],
    pub(super) file: &'a [Span],
}

/// Reads messages into arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parser<'a> {
    pub(super) buffers: Buffers<'a>,
}

impl Parser<'_> {
    /// The array of a leaf with `len` rows. `key_bits` is the width of the keys if the field is a
    /// dictionary, and `values` then the type of its items.
    pub(super) fn leaf(
        self,
        message: &pb::ArrayEncoding,
        values: &ValueType,
        key_bits: Option<u64>,
        len: u64,
    ) -> Result<Array> {
        let (nulls, inner) = self.nulls(Some(message), len)?;
        let shape = match (inner, key_bits) {
            (None, _) => Shape::Nothing,
            (Some(Message::Dictionary(m)), _) => self.dictionary(m, values, key_bits, len)?,
            (Some(_), Some(_)) => {
                return Err(Error::corrupt("a dictionary column with a page without one"));
            }
            (Some(inner), None) => self.shape(inner, values, len, MAX_DEPTH)?,
        };
        Ok(Array { len, nulls, shape })
    }

    /// The descriptions of blobs.
    pub(super) fn blobs(self, message: &pb::ArrayEncoding, len: u64) -> Result<Array> {
        let (nulls, inner) = self.nulls(Some(message), len)?;
        let shape = match inner {
            None => Shape::Nothing,
            Some(Message::PackedStruct(m)) => {
                ensure!(m.inner.len() == 2, "a blob is described by {} numbers", m.inner.len());
                Shape::Blob(self.flat(m.buffer.as_ref(), 128, Some(len))?)
            }
            Some(_) => return Err(Error::corrupt("blobs that are not described by positions")),
        };
        Ok(Array { len, nulls, shape })
    }

    /// The ends of lists, and how many items they have.
    pub(super) fn list(self, message: &pb::ArrayEncoding, len: u64) -> Result<(Ends, u64)> {
        let Some(Message::List(m)) = &message.array_encoding else {
            return Err(Error::corrupt("a page of a list that does not say where lists end"));
        };
        let (adjustment, num_items) = (m.null_offset_adjustment, m.num_items);
        ensure!(num_items < adjustment, "{num_items} items with a null adjustment of {adjustment}");
        let words = self.plain(m.offsets.as_deref(), len, "offsets")?;
        Ok((Ends { words, adjustment, len }, num_items))
    }

    fn array(
        self,
        message: Option<&pb::ArrayEncoding>,
        values: &ValueType,
        len: u64,
        depth: usize,
    ) -> Result<Array> {
        let depth = depth.checked_sub(1);
        let depth = depth.ok_or_else(|| Error::corrupt("array encodings nest too deep"))?;
        let (nulls, inner) = self.nulls(message, len)?;
        let shape = match inner {
            None => Shape::Nothing,
            Some(inner) => self.shape(inner, values, len, depth)?,
        };
        Ok(Array { len, nulls, shape })
    }

    /// Takes `nullable` off; nothing is left of arrays that are all null.
    fn nulls(
        self,
        message: Option<&pb::ArrayEncoding>,
        len: u64,
    ) -> Result<(Nulls, Option<&Message>)> {
        let mut nulls = Nulls::default();
        let mut message = message;
        for _ in 0..MAX_DEPTH {
            let inner = message.and_then(|m| m.array_encoding.as_ref());
            let inner = inner.ok_or_else(|| Error::corrupt("an encoding is missing or unknown"))?;
            let Message::Nullable(nullable) = inner else { return Ok((nulls, Some(inner))) };
            match &nullable.nullability {
                Some(Nullability::NoNulls(m)) => message = m.values.as_deref(),
                Some(Nullability::SomeNulls(m)) => {
                    let mask = self.plain(m.validity.as_deref(), len, "validity")?;
                    ensure!(mask.bits == 1, "validity of {} bits a value", mask.bits);
                    nulls.masks.push(mask);
                    message = m.values.as_deref();
                }
                Some(Nullability::AllNulls(_)) => {
                    return Ok((Nulls { all: true, masks: Vec::new() }, None));
                }
                None => return Err(Error::corrupt("an encoding does not say what is null")),
            }
        }
        Err(Error::corrupt("array encodings nest too deep"))
    }

    fn shape(self, message: &Message, values: &ValueType, len: u64, depth: usize) -> Result<Shape> {
        Ok(match (message, values) {
            (Message::FixedSizeList(m), ValueType::FixedSizeList { dimension, item }) => {
                ensure!(
                    u64::from(m.dimension) == *dimension && *dimension > 0,
                    "lists of {} items where the schema says {dimension}",
                    m.dimension
                );
                let num_items = len.checked_mul(*dimension);
                let num_items = num_items
                    .ok_or_else(|| Error::corrupt(format!("{len} lists of {dimension} items")))?;
                let items = self.array(m.items.as_deref(), item, num_items, depth)?;
                Shape::FixedSizeList { dimension: *dimension, items: Box::new(items) }
            }
            (Message::PackedStruct(m), ValueType::Struct(fields)) => {
                ensure!(
                    m.inner.len() == fields.len(),
                    "a packed struct of {} fields where the schema has {}",
                    m.inner.len(),
                    fields.len()
                );
                let widths = fields.iter().map(packed_width).collect::<Result<Vec<u64>>>()?;
                let bits = widths.iter().try_fold(0_u64, |sum, width| sum.checked_add(*width));
                let bits = bits.and_then(|width| width.checked_mul(8));
                let bits = bits.ok_or_else(|| Error::corrupt("a packed row is too wide"))?;
                let rows = self.flat(m.buffer.as_ref(), bits, Some(len))?;
                let widths = widths.into_iter().map(size).collect::<Result<_>>()?;
                Shape::Packed { rows, widths }
            }
            (Message::Fsst(m), ValueType::Variable { .. }) => {
                let table = Arc::new(SymbolTable::parse(&m.symbol_table)?);
                let (nulls, inner) = self.nulls(m.binary.as_deref(), len)?;
                ensure!(nulls == Nulls::default(), "nulls between a symbol table and its strings");
                let Some(Message::Binary(m)) = inner else {
                    return Err(Error::corrupt("a symbol table without strings"));
                };
                Shape::Strings(self.binary(m, Some(table), len)?)
            }
            (Message::Binary(m), ValueType::Variable { .. }) => {
                Shape::Strings(self.binary(m, None, len)?)
            }
            (Message::FixedSizeBinary(m), ValueType::Variable { .. }) => {
                let (bytes, width) = self.fixed_size_binary(m, len)?;
                Shape::Strings(Strings::Fixed { bytes, width })
            }
            (Message::Constant(m), ValueType::Variable { .. }) => {
                Shape::Strings(Strings::Constant { value: m.value.clone() })
            }
            (message, ValueType::Fixed { bits }) => {
                Shape::Fixed(self.stream(message, Some(*bits), Some(len), "values")?)
            }
            (message, values) => {
                let name = name(message);
                return Err(Error::corrupt(format!("`{name}` cannot hold {values:?}")));
            }
        })
    }

    fn dictionary(
        self,
        m: &pb::Dictionary,
        values: &ValueType,
        key_bits: Option<u64>,
        len: u64,
    ) -> Result<Shape> {
        let automatic = key_bits.is_none();
        ensure!(
            !automatic || matches!(values, ValueType::Variable { .. }),
            "a dictionary in a column that has none"
        );
        let (nulls, inner) = self.nulls(m.indices.as_deref(), len)?;
        let shape = match inner {
            None => Shape::Nothing,
            Some(inner) => {
                Shape::Fixed(self.stream(inner, Some(key_bits.unwrap_or(8)), Some(len), "keys")?)
            }
        };
        let indices = Array { len, nulls, shape };
        let num_items = u64::from(m.num_dictionary_items);
        let items = self.array(m.items.as_deref(), values, num_items, MAX_DEPTH)?;
        let value_type = values.clone();
        Ok(Shape::Dictionary(Box::new(DictionaryParts { indices, items, value_type, automatic })))
    }

    fn binary(self, m: &pb::Binary, table: Option<Arc<SymbolTable>>, len: u64) -> Result<Strings> {
        let words = self.plain(m.indices.as_deref(), len, "indices")?;
        let (nulls, inner) = self.nulls(m.bytes.as_deref(), 0)?;
        let bytes = match inner {
            // Releases around 0.16 packed the bits of the bytes too.
            Some(inner @ (Message::Flat(_) | Message::Bitpacked(_)))
                if nulls == Nulls::default() =>
            {
                self.stream(inner, Some(8), None, "bytes")?
            }
            _ => return Err(Error::corrupt("the bytes of strings are neither flat nor packed")),
        };
        let ends = Ends { words, adjustment: m.null_adjustment, len };
        ensure!(ends.adjustment > 0 || len == 0, "strings without a null adjustment");
        Ok(Strings::Variable { ends, bytes, table })
    }

    /// The bytes of strings of one length, and that length. Two spellings: the inner encoding has
    /// values of one byte, or of all bytes of a string.
    fn fixed_size_binary(self, m: &pb::FixedSizeBinary, len: u64) -> Result<(Stream, u64)> {
        let width = u64::from(m.byte_width);
        ensure!(width > 0, "strings of 0 bytes");
        let num_bytes = len.checked_mul(width);
        let num_bytes = num_bytes.ok_or_else(|| Error::corrupt("too many bytes of strings"))?;
        let (nulls, inner) = self.nulls(m.bytes.as_deref(), len)?;
        let bytes = match inner {
            _ if nulls != Nulls::default() => None,
            Some(Message::Flat(flat)) => {
                let stored = flat.bits_per_value;
                ensure!(stored == 8 || stored == width.saturating_mul(8), "bytes of {stored} bits");
                Some(Message::Flat(pb::Flat { bits_per_value: 8, ..flat.clone() }))
            }
            inner => inner.cloned(),
        };
        let bytes = bytes.ok_or_else(|| Error::corrupt("the bytes of strings may be null"))?;
        Ok((self.stream(&bytes, Some(8), Some(num_bytes), "bytes")?, width))
    }

    /// A stream that cannot be null.
    fn plain(self, message: Option<&pb::ArrayEncoding>, len: u64, what: &str) -> Result<Stream> {
        let mut message = message;
        for _ in 0..MAX_DEPTH {
            match message.and_then(|m| m.array_encoding.as_ref()) {
                Some(Message::Nullable(nullable)) => match &nullable.nullability {
                    Some(Nullability::NoNulls(m)) => message = m.values.as_deref(),
                    _ => return Err(Error::corrupt(format!("the {what} may be null"))),
                },
                Some(inner) => return self.stream(inner, None, Some(len), what),
                None => {
                    let rule = format!("the encoding of the {what} is missing or unknown");
                    return Err(Error::corrupt(rule));
                }
            }
        }
        Err(Error::corrupt("array encodings nest too deep"))
    }

    /// Fixed-width values, of `bits` bits if that is known.
    fn stream(
        self,
        message: &Message,
        bits: Option<u64>,
        len: Option<u64>,
        what: &str,
    ) -> Result<Stream> {
        let (stored, form) = match message {
            Message::Flat(m) => (m.bits_per_value, self.flat_form(m)?),
            Message::Bitpacked(m) => {
                let (packed_bits, signed) = (m.compressed_bits_per_value, m.signed);
                let buffer = self.buffer(m.buffer.as_ref())?;
                check_packed(packed_bits, m.uncompressed_bits_per_value)?;
                let form = Form::Bitpacked { packed_bits, signed, buffer };
                (m.uncompressed_bits_per_value, form)
            }
            Message::BitpackedForNonNeg(m) => {
                let packed_bits = m.compressed_bits_per_value;
                let buffer = self.buffer(m.buffer.as_ref())?;
                check_packed(packed_bits, m.uncompressed_bits_per_value)?;
                (m.uncompressed_bits_per_value, Form::Blocks { packed_bits, buffer })
            }
            Message::Constant(m) => {
                let stored = u64::try_from(m.value.len()).unwrap_or(0).saturating_mul(8);
                let one_bit = bits == Some(1) && stored == 8;
                (if one_bit { 1 } else { stored }, Form::Constant(m.value.clone()))
            }
            other => {
                return Err(Error::corrupt(format!("the {what} cannot be `{}`", name(other))));
            }
        };
        if stored == 0 {
            return Err(Error::no_width());
        }
        ensure!(stored == 1 || stored.is_multiple_of(8), "{what} of {stored} bits a value");
        ensure_width(stored, bits.unwrap_or(stored))?;
        let stream = Stream { bits: stored, len, form };
        stream.check()?;
        Ok(stream)
    }

    fn flat_form(self, m: &pb::Flat) -> Result<Form> {
        let buffer = self.buffer(m.buffer.as_ref())?;
        let scheme = match m.compression.as_ref().map(|compression| compression.scheme.as_str()) {
            None | Some("" | "none") => return Ok(Form::Flat(buffer)),
            Some("zstd") => Scheme::Zstd,
            Some("lz4") => Scheme::Lz4,
            Some(other) => {
                return Err(Error::corrupt(format!(
                    "a buffer is compressed with `{}`, not with zstd or lz4",
                    other.escape_debug()
                )));
            }
        };
        ensure!(m.bits_per_value != 1, "bits cannot be compressed");
        Ok(Form::Compressed { scheme, buffer })
    }

    fn flat(self, buffer: Option<&pb::Buffer>, bits: u64, len: Option<u64>) -> Result<Stream> {
        ensure!(bits > 0, "rows of 0 bytes");
        let stream = Stream { bits, len, form: Form::Flat(self.buffer(buffer)?) };
        stream.check()?;
        Ok(stream)
    }

    fn buffer(self, message: Option<&pb::Buffer>) -> Result<Buffer> {
        let message = message.ok_or_else(|| Error::corrupt("an encoding names no buffer"))?;
        let (list, whose) = match message.buffer_type {
            0 => (self.buffers.page, "page"),
            1 => (self.buffers.column, "column"),
            2 => (self.buffers.file, "file"),
            other => return Err(Error::corrupt(format!("buffers of kind {other}"))),
        };
        let number = usize::try_from(message.buffer_index).unwrap_or(usize::MAX);
        let Some(&span) = list.get(number) else {
            let len = list.len();
            let rule = format!("buffer {number} is named, but the {whose} has {len}");
            return Err(Error::corrupt(rule));
        };
        let number = (message.buffer_type == 0).then_some(number);
        Ok(Buffer { number, span })
    }
}

fn ensure_width(stored: u64, expected: u64) -> Result<()> {
    ensure!(stored == expected, "values of {stored} bits where the schema has {expected}");
    Ok(())
}

fn check_packed(packed_bits: u64, bits: u64) -> Result<()> {
    ensure!(matches!(bits, 8 | 16 | 32 | 64), "values of {bits} bits cannot be packed");
    ensure!((1..=bits).contains(&packed_bits), "{bits}-bit values packed to {packed_bits} bits");
    Ok(())
}

/// Bytes of a field of a packed struct.
fn packed_width(values: &ValueType) -> Result<u64> {
    let width = match values {
        ValueType::Fixed { bits } if bits.is_multiple_of(8) => Some(bits / 8),
        ValueType::FixedSizeList { dimension, item } => packed_width(item)?.checked_mul(*dimension),
        _ => None,
    };
    let width = width.filter(|width| *width > 0);
    width.ok_or_else(|| Error::corrupt(format!("{values:?} in a packed struct")))
}

/// The name of an encoding.
pub(super) fn name(message: &Message) -> &'static str {
    match message {
        Message::Flat(_) => "flat",
        Message::Nullable(_) => "nullable",
        Message::FixedSizeList(_) => "fixed_size_list",
        Message::List(_) => "list",
        Message::Struct(_) => "struct",
        Message::Binary(_) => "binary",
        Message::Dictionary(_) => "dictionary",
        Message::Fsst(_) => "fsst",
        Message::PackedStruct(_) => "packed_struct",
        Message::Bitpacked(_) => "bitpacked",
        Message::FixedSizeBinary(_) => "fixed_size_binary",
        Message::BitpackedForNonNeg(_) => "bitpacked_for_non_neg",
        Message::Constant(_) => "constant",
        Message::InlineBitpacking(_) => "inline_bitpacking",
        Message::OutOfLineBitpacking(_) => "out_of_line_bitpacking",
        Message::Variable(_) => "variable",
        Message::PackedStructFixedWidthMiniBlock(_) => "packed_struct_fixed_width_mini_block",
    }
}
