//! Values to the arrays of a page, in the encodings that the reference writes itself.
//!
//! | values | encoding |
//! |---|---|
//! | numbers, booleans, fixed-size binaries | `nullable(flat)` |
//! | fixed-size lists | `nullable(fixed_size_list(nullable(…)))` |
//! | strings, binaries | `binary(flat 64, flat 8)`, the bytes compressed if asked for |
//! | strings of which few differ | `dictionary(flat 8, binary)`: 0 is null, `j` is item `j - 1` |
//! | dictionaries | `dictionary(flat, items)`: a null is the key of a null item, the last one |
//! | packed structs | `packed_struct` |
//! | blobs | `packed_struct` of positions and sizes |
//!
//! Buffers are numbered in the order of the tree: validity before values.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "encodes what is in memory; sizes stay far below 2^64"
)]

use std::collections::HashMap;

use super::encoding::{Buffers, Parser};
use super::{count, size};
use crate::codec::general;
use crate::codec::{FixedValues, Scheme, ValueType, Values, VariableValues};
use crate::error::{Error, Result};
use crate::proto::encodings as pb;
use crate::span::Span;
use pb::array_encoding::ArrayEncoding as Message;
use pb::nullable::{AllNull, NoNull, Nullability, SomeNull};

/// Strings get a dictionary in pages of at least so many rows, with fewer different strings.
const DICTIONARY_ROWS: usize = 100;

/// A page ready to be written.
#[derive(Debug)]
pub(crate) struct EncodedArray {
    pub(crate) message: pb::ArrayEncoding,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) num_rows: u64,
    /// The encoding in words.
    pub(crate) description: String,
}

/// How the bytes of strings are compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compressor {
    pub(crate) scheme: Scheme,
    pub(crate) level: Option<i32>,
}

/// Values of a leaf and which of them are not null; `None` if all are.
#[derive(Debug)]
pub(crate) struct NullableValues<'a> {
    pub(crate) values: &'a Values,
    pub(crate) valid: Option<&'a FixedValues>,
}

/// Encodes values that are not dictionaries. `may_share` lets strings have a dictionary.
pub(crate) fn values(
    column: &NullableValues<'_>,
    value_type: &ValueType,
    may_share: bool,
    compressor: Option<Compressor>,
) -> Result<EncodedArray> {
    let mut encoder = Encoder { buffers: Vec::new(), compressor };
    let num_rows = column.values.len();
    let shared = match column.values {
        Values::Variable(strings) if may_share => shared_strings(strings, column.valid)?,
        _ => None,
    };
    let message = match shared {
        Some((indices, items)) => {
            let num_items = items.len();
            let indices = encoder.no_nulls_flat(&indices)?;
            let items = encoder.strings(&items, None)?;
            dictionary(indices, items, num_items)?
        }
        None => encoder.array(column.values, column.valid)?,
    };
    encoder.finish(message, value_type, None, num_rows)
}

/// Encodes keys and the items they name. With `has_null` the last item is null.
pub(crate) fn dictionary_page(
    keys: &FixedValues,
    items: &Values,
    has_null: bool,
    value_type: &ValueType,
) -> Result<EncodedArray> {
    let mut encoder = Encoder { buffers: Vec::new(), compressor: None };
    let mut valid = FixedValues::new(1);
    valid.push_ones(items.len() - usize::from(has_null))?;
    valid.push_zeros(usize::from(has_null))?;
    let indices = encoder.no_nulls_flat(keys)?;
    let num_items = items.len();
    let items = encoder.array(items, has_null.then_some(&valid))?;
    let message = dictionary(indices, items, num_items)?;
    encoder.finish(message, value_type, Some(keys.bits()), keys.len())
}

/// Encodes positions and sizes of blobs, two numbers a row.
pub(crate) fn blobs(descriptions: &[[u64; 2]]) -> EncodedArray {
    let number = || no_nulls(flat(64, 0, None));
    let bytes = descriptions.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    let packed = pb::PackedStruct { inner: vec![number(), number()], buffer: Some(buffer(0)) };
    EncodedArray {
        message: wrap(Message::PackedStruct(packed)),
        buffers: vec![bytes],
        num_rows: count(descriptions.len()),
        description: "positions and sizes".into(),
    }
}

/// Encodes where lists end.
pub(crate) fn lists(lengths: &[u64], valid: &[bool]) -> EncodedArray {
    let num_items: u64 = lengths.iter().sum();
    let adjustment = num_items + 1;
    let mut end = 0;
    let mut bytes = Vec::with_capacity(lengths.len() * 8);
    for (length, valid) in lengths.iter().zip(valid) {
        end += length;
        let word = if *valid { end } else { end + adjustment };
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    let list = pb::List {
        offsets: Some(Box::new(no_nulls(flat(64, 0, None)))),
        null_offset_adjustment: adjustment,
        num_items,
    };
    EncodedArray {
        message: wrap(Message::List(Box::new(list))),
        buffers: vec![bytes],
        num_rows: count(lengths.len()),
        description: format!("ends of lists of {num_items} items, flat 64-bit"),
    }
}

/// The page of a struct.
pub(crate) fn structs(num_rows: u64) -> EncodedArray {
    EncodedArray {
        message: wrap(Message::Struct(pb::SimpleStruct {})),
        buffers: Vec::new(),
        num_rows,
        description: "no values".into(),
    }
}

struct Encoder {
    buffers: Vec<Vec<u8>>,
    compressor: Option<Compressor>,
}

impl Encoder {
    fn finish(
        self,
        message: pb::ArrayEncoding,
        value_type: &ValueType,
        key_bits: Option<u64>,
        num_rows: usize,
    ) -> Result<EncodedArray> {
        let spans = self.buffers.iter().map(|buffer| Span::between(0, count(buffer.len())));
        let spans: Vec<_> = spans.collect();
        let parser = Parser { buffers: Buffers { page: &spans, column: &[], file: &[] } };
        let num_rows = count(num_rows);
        let description = parser.leaf(&message, value_type, key_bits, num_rows)?.to_string();
        Ok(EncodedArray { message, buffers: self.buffers, num_rows, description })
    }

    fn add(&mut self, bytes: Vec<u8>) -> Result<u32> {
        let number = u32::try_from(self.buffers.len())
            .map_err(|_| Error::invalid("a page of more than 2^32 buffers"))?;
        self.buffers.push(bytes);
        Ok(number)
    }

    fn array(&mut self, values: &Values, valid: Option<&FixedValues>) -> Result<pb::ArrayEncoding> {
        match values {
            Values::Variable(strings) => return self.strings(strings, valid),
            Values::Struct { len, children } => return self.packed(*len, children),
            _ => {}
        }
        let len = values.len();
        let num_valid = valid.map_or(len, |valid| (0..len).filter(|i| valid.bit(*i)).count());
        if len > 0 && num_valid == 0 || matches!(values, Values::Nothing { .. }) {
            let nullability = Some(Nullability::AllNulls(AllNull {}));
            return Ok(wrap(Message::Nullable(Box::new(pb::Nullable { nullability }))));
        }
        let validity = match valid.filter(|_| num_valid < len) {
            Some(valid) => Some(flat(1, self.add(valid.data().to_vec())?, None)),
            None => None,
        };
        let values = match values {
            Values::Fixed(fixed) => flat(fixed.bits(), self.add(fixed.data().to_vec())?, None),
            Values::FixedSizeList(lists) => {
                let items = self.array(&lists.items, lists.item_validity.as_ref())?;
                let dimension = u32::try_from(lists.dimension)
                    .map_err(|_| Error::invalid("lists of more than 2^32 items"))?;
                let items = Some(Box::new(items));
                let list = pb::FixedSizeList { dimension, items, has_validity: false };
                wrap(Message::FixedSizeList(Box::new(list)))
            }
            Values::Struct { .. } | Values::Variable(_) | Values::Nothing { .. } => {
                return Err(Error::invalid("values without a form"));
            }
        };
        Ok(match validity {
            Some(validity) => some_nulls(validity, values),
            None => no_nulls(values),
        })
    }

    fn no_nulls_flat(&mut self, values: &FixedValues) -> Result<pb::ArrayEncoding> {
        let number = self.add(values.data().to_vec())?;
        Ok(no_nulls(flat(values.bits(), number, None)))
    }

    /// Strings hold their nulls themselves.
    fn strings(
        &mut self,
        strings: &VariableValues,
        valid: Option<&FixedValues>,
    ) -> Result<pb::ArrayEncoding> {
        let adjustment = count(strings.bytes.len()) + 1;
        let mut words = Vec::with_capacity(strings.len() * 8);
        let mut end = 0;
        for i in 0..strings.len() {
            end += count(strings.value(i)?.len());
            let null = valid.is_some_and(|valid| !valid.bit(i));
            let word = if null { end + adjustment } else { end };
            words.extend_from_slice(&word.to_le_bytes());
        }
        let indices = Some(Box::new(no_nulls(flat(64, self.add(words)?, None))));
        let (bytes, compression) = match self.compressor {
            Some(Compressor { scheme, level }) => {
                let mut unit = Vec::new();
                general::compress(scheme, level, &strings.bytes, &mut unit)?;
                (unit, Some(pb::Compression { scheme: scheme.to_string(), level }))
            }
            None => (strings.bytes.clone(), None),
        };
        let bytes = Some(Box::new(flat(8, self.add(bytes)?, compression)));
        let binary = pb::Binary { indices, bytes, null_adjustment: adjustment };
        Ok(wrap(Message::Binary(Box::new(binary))))
    }

    fn packed(&mut self, len: usize, children: &[Values]) -> Result<pb::ArrayEncoding> {
        let parts = children.iter().map(packed_part).collect::<Result<Vec<_>>>()?;
        let mut bytes = Vec::new();
        for row in 0..len {
            for (part, per_row) in &parts {
                bytes.extend_from_slice(part.bytes(row * per_row..(row + 1) * per_row)?);
            }
        }
        let number = self.add(bytes)?;
        let inner = children.iter().map(|child| describe_packed(child, number));
        let packed = pb::PackedStruct { inner: inner.collect(), buffer: Some(buffer(number)) };
        Ok(wrap(Message::PackedStruct(packed)))
    }
}

/// The numbers of a field of a packed struct, and how many of them a row has.
fn packed_part(child: &Values) -> Result<(&FixedValues, usize)> {
    match child {
        Values::Fixed(fixed) => Ok((fixed, 1)),
        Values::FixedSizeList(lists) if lists.item_validity.is_none() => {
            let (fixed, items) = packed_part(&lists.items)?;
            Ok((fixed, items * size(lists.dimension)?))
        }
        _ => Err(Error::unsupported("null items of a fixed-size list in a packed struct")),
    }
}

fn describe_packed(child: &Values, number: u32) -> pb::ArrayEncoding {
    no_nulls(match child {
        Values::FixedSizeList(lists) => wrap(Message::FixedSizeList(Box::new(pb::FixedSizeList {
            dimension: u32::try_from(lists.dimension).unwrap_or(u32::MAX),
            items: Some(Box::new(describe_packed(&lists.items, number))),
            has_validity: false,
        }))),
        Values::Fixed(fixed) => flat(fixed.bits(), number, None),
        _ => flat(8, number, None),
    })
}

/// Indices into the different strings, if they are few.
fn shared_strings(
    strings: &VariableValues,
    valid: Option<&FixedValues>,
) -> Result<Option<(FixedValues, VariableValues)>> {
    if strings.len() < DICTIONARY_ROWS {
        return Ok(None);
    }
    let mut positions: HashMap<&[u8], u8> = HashMap::new();
    let mut items = VariableValues::new(strings.offsets.bits());
    let mut indices = Vec::with_capacity(strings.len());
    for i in 0..strings.len() {
        if valid.is_some_and(|valid| !valid.bit(i)) {
            indices.push(0);
            continue;
        }
        let string = strings.value(i)?;
        // From 1 on: there are fewer than 100.
        let next = u8::try_from(positions.len() + 1).unwrap_or(u8::MAX);
        let index = *positions.entry(string).or_insert(next);
        if positions.len() >= DICTIONARY_ROWS {
            return Ok(None);
        }
        if index == next {
            items.push(string)?;
        }
        indices.push(index);
    }
    if items.len() == 0 {
        return Ok(None);
    }
    let mut stored = FixedValues::new(8);
    stored.append_flat(&indices, 0..indices.len())?;
    Ok(Some((stored, items)))
}

fn dictionary(
    indices: pb::ArrayEncoding,
    items: pb::ArrayEncoding,
    num_items: usize,
) -> Result<pb::ArrayEncoding> {
    let num_dictionary_items = u32::try_from(num_items)
        .map_err(|_| Error::invalid("a dictionary of more than 2^32 items"))?;
    Ok(wrap(Message::Dictionary(Box::new(pb::Dictionary {
        indices: Some(Box::new(indices)),
        items: Some(Box::new(items)),
        num_dictionary_items,
    }))))
}

fn wrap(message: Message) -> pb::ArrayEncoding {
    pb::ArrayEncoding { array_encoding: Some(message) }
}

fn buffer(buffer_index: u32) -> pb::Buffer {
    pb::Buffer { buffer_index, buffer_type: 0 }
}

fn flat(bits: u64, number: u32, compression: Option<pb::Compression>) -> pb::ArrayEncoding {
    let buffer = Some(buffer(number));
    wrap(Message::Flat(pb::Flat { bits_per_value: bits, buffer, compression }))
}

fn no_nulls(values: pb::ArrayEncoding) -> pb::ArrayEncoding {
    let values = Some(Box::new(values));
    let nullability = Some(Nullability::NoNulls(Box::new(NoNull { values })));
    wrap(Message::Nullable(Box::new(pb::Nullable { nullability })))
}

fn some_nulls(validity: pb::ArrayEncoding, values: pb::ArrayEncoding) -> pb::ArrayEncoding {
    let (validity, values) = (Some(Box::new(validity)), Some(Box::new(values)));
    let nullability = Some(Nullability::SomeNulls(Box::new(SomeNull { validity, values })));
    wrap(Message::Nullable(Box::new(pb::Nullable { nullability })))
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    fn bits(bits: &[bool]) -> FixedValues {
        let mut out = FixedValues::new(1);
        bits.iter().for_each(|bit| out.append_bits(&[u8::from(*bit)], 0..1).unwrap());
        out
    }

    fn encode(
        values: &Values,
        valid: Option<&FixedValues>,
        value_type: &ValueType,
    ) -> (Vec<u8>, Vec<Vec<u8>>) {
        let page =
            super::values(&NullableValues { values, valid }, value_type, true, None).unwrap();
        (page.message.encode_to_vec(), page.buffers)
    }

    #[test]
    fn the_examples_of_the_format() {
        let mut fixed = FixedValues::new(32);
        fixed.append_flat(&[1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0], 0..3).unwrap();
        let value_type = ValueType::Fixed { bits: 32 };
        let (message, buffers) =
            encode(&Values::Fixed(fixed), Some(&bits(&[true, false, true])), &value_type);
        let expected = "12 14 12 12 0a 06 0a 04 08 01 12 00 12 08 0a 06 08 20 12 02 08 01";
        assert_eq!(message, hex(expected));
        assert_eq!(buffers[0], [5]);

        let mut strings = VariableValues::new(32);
        ["ab", "", "", "xyz"].iter().for_each(|text| strings.push(text.as_bytes()).unwrap());
        let valid = bits(&[true, false, true, true]);
        let value_type = ValueType::Variable { offset_bits: 32 };
        let (message, buffers) = encode(&Values::Variable(strings), Some(&valid), &value_type);
        let expected = "32 1a 0a 0c 12 0a 0a 08 0a 06 0a 04 08 40 12 00 12 08 0a 06 08 08 12 02 08 \
                        01 18 06";
        assert_eq!(message, hex(expected));
        assert_eq!((buffers[0][8], buffers[1].as_slice()), (8, &b"abxyz"[..]));

        let page = lists(&[2, 0, 0, 3], &[true, false, true, true]);
        let expected = "22 12 0a 0c 12 0a 0a 08 0a 06 0a 04 08 40 12 00 10 06 18 05";
        assert_eq!(page.message.encode_to_vec(), hex(expected));
        assert_eq!(structs(3).message.encode_to_vec(), hex("2a 00"));
    }

    #[test]
    fn few_different_strings_share() {
        let mut strings = VariableValues::new(32);
        let texts = ["a", "bb", ""];
        (0..120).for_each(|i| strings.push(texts[i % 3].as_bytes()).unwrap());
        let valid = bits(&[true, true, false].repeat(40));
        let value_type = ValueType::Variable { offset_bits: 32 };
        let (_, buffers) = encode(&Values::Variable(strings), Some(&valid), &value_type);
        assert_eq!(buffers[0][..4], [1, 2, 0, 1]);
        assert_eq!(buffers[2], b"abb");
    }
}
