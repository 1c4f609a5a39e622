//! The Parquet value encodings of a column, as pages of its values: each is encoded, decoded and timed.

use std::ops::Range;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use lancet_parquet::{
    ByteArrays, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};

use super::{Candidate, typical_time};
use crate::error::{Error, Result};

/// Values of a page, as Parquet writers cut them.
const PAGE_VALUES: usize = 20_000;
const ZSTD_LEVEL: i32 = 3;
/// Rows that are taken one by one to learn what one costs.
const TAKES: usize = 33;

/// The values that are not null, by physical type.
enum Values {
    Booleans(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    FixedLen {
        len: usize,
        bytes: Vec<u8>,
    },
    /// A part for each page.
    ByteArrays(Vec<ByteArrays>),
}

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Plain,
    DeltaBinaryPacked,
    DeltaLengthByteArray,
    DeltaByteArray,
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::DeltaBinaryPacked => "DELTA_BINARY_PACKED",
            Self::DeltaLengthByteArray => "DELTA_LENGTH_BYTE_ARRAY",
            Self::DeltaByteArray => "DELTA_BYTE_ARRAY",
        }
    }
}

struct Page {
    bytes: Vec<u8>,
    len: usize,
}

/// All encodings that the type has, with and without Zstandard; none for nested columns.
pub fn candidates(array: &ArrayRef) -> Result<Vec<Candidate>> {
    let Some(values) = Values::of(array)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for encoding in values.encodings() {
        for zstd in [false, true] {
            found.push(values.try_encoding(*encoding, zstd)?);
        }
    }
    Ok(found)
}

/// The values of a column of strings or binaries.
fn bytes<'a>(array: &'a ArrayRef) -> Box<dyn Fn(usize) -> &'a [u8] + 'a> {
    match array.data_type() {
        DataType::Utf8 => Box::new(|index| array.as_string::<i32>().value(index).as_bytes()),
        DataType::LargeUtf8 => Box::new(|index| array.as_string::<i64>().value(index).as_bytes()),
        DataType::Utf8View => Box::new(|index| array.as_string_view().value(index).as_bytes()),
        DataType::Binary => Box::new(|index| array.as_binary::<i32>().value(index)),
        DataType::LargeBinary => Box::new(|index| array.as_binary::<i64>().value(index)),
        _ => Box::new(|index| array.as_binary_view().value(index)),
    }
}

impl Values {
    fn of(array: &ArrayRef) -> Result<Option<Self>> {
        let valid = (0..array.len()).filter(|index| array.is_valid(*index));
        Ok(Some(match array.data_type() {
            DataType::Boolean => {
                let array = array.as_boolean();
                Self::Booleans(valid.map(|index| array.value(index)).collect())
            }
            DataType::Float32 => {
                let array = array.as_primitive::<arrow_array::types::Float32Type>();
                Self::Float(valid.map(|index| array.value(index)).collect())
            }
            DataType::Float64 => {
                let array = array.as_primitive::<arrow_array::types::Float64Type>();
                Self::Double(valid.map(|index| array.value(index)).collect())
            }
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView => {
                let valid: Vec<usize> = valid.collect();
                let bytes = bytes(array);
                let part = |part: &[usize]| part.iter().map(|index| bytes(*index)).collect();
                Self::ByteArrays(valid.chunks(PAGE_VALUES).map(part).collect())
            }
            DataType::FixedSizeBinary(len) => {
                let array = array.as_fixed_size_binary();
                let bytes = valid.flat_map(|index| array.value(index)).copied().collect();
                Self::FixedLen { len: usize::try_from(*len).unwrap_or(0), bytes }
            }
            other => match (other.primitive_width(), other.is_floating()) {
                (Some(width), false) => Self::of_words(array, width),
                _ => return Ok(None),
            },
        }))
    }

    /// Numbers as the words they are in memory; small ones take 32 bits.
    fn of_words(array: &ArrayRef, width: usize) -> Self {
        let data = array.to_data();
        let stored = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
        let stored = stored.chunks_exact(width).skip(data.offset()).take(data.len());
        let valid = stored.enumerate().filter(|(index, _)| data.is_valid(*index));
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b));
        let unused = 64_u32.saturating_sub(8 * u32::try_from(width).unwrap_or(8));
        // Narrow numbers keep their sign.
        let signed = |bytes: &[u8]| (word(bytes) << unused).cast_signed() >> unused;
        match width {
            0..=4 => Self::Int32(valid.map(|(_, bytes)| signed(bytes) as i32).collect()),
            5..=8 => Self::Int64(valid.map(|(_, bytes)| signed(bytes)).collect()),
            len => {
                let bytes = valid.flat_map(|(_, bytes)| bytes.iter().rev()).copied().collect();
                Self::FixedLen { len, bytes }
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Booleans(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::FixedLen { len, bytes } => bytes.len().checked_div(*len).unwrap_or(0),
            Self::ByteArrays(parts) => parts.iter().map(ByteArrays::len).sum(),
        }
    }

    fn encodings(&self) -> &'static [Encoding] {
        match self {
            Self::Booleans(_) | Self::Float(_) | Self::Double(_) => &[Encoding::Plain],
            Self::Int32(_) | Self::Int64(_) => &[Encoding::Plain, Encoding::DeltaBinaryPacked],
            Self::FixedLen { .. } => &[Encoding::Plain, Encoding::DeltaByteArray],
            Self::ByteArrays(_) => {
                &[Encoding::Plain, Encoding::DeltaLengthByteArray, Encoding::DeltaByteArray]
            }
        }
    }

    fn try_encoding(&self, encoding: Encoding, zstd: bool) -> Result<Candidate> {
        let start = Instant::now();
        let mut pages = Vec::new();
        for first in (0..self.len()).step_by(PAGE_VALUES) {
            let range = first..self.len().min(first + PAGE_VALUES);
            let (len, mut bytes) = (range.len(), self.encode(encoding, range)?);
            if zstd {
                bytes = zstd::bulk::compress(&bytes, ZSTD_LEVEL)
                    .map_err(|error| Error::new(error.to_string()))?;
            }
            pages.push(Page { bytes, len });
        }
        let encode = start.elapsed();
        let decode = typical_time(3, |_| {
            pages.iter().try_for_each(|page| self.decode(encoding, zstd, page, 0..page.len))
        })?;
        let row = pages.first().map_or(Ok(Duration::ZERO), |page| {
            typical_time(TAKES, |i| {
                let at = i.wrapping_mul(7919) % page.len;
                self.decode(encoding, zstd, page, at..at + 1)
            })
        })?;
        let with = if zstd { "zstd over " } else { "" };
        Ok(Candidate {
            form: format!("Parquet {with}{}", encoding.name()),
            options: None,
            bytes: pages.iter().map(|page| page.bytes.len() as u64).sum(),
            encode,
            decode,
            row,
        })
    }

    fn encode(&self, encoding: Encoding, range: Range<usize>) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let delta = encoding == Encoding::DeltaBinaryPacked;
        match self {
            Self::Booleans(values) => plain::encode_booleans(&values[range], &mut out),
            Self::Int32(values) if delta => delta_binary_packed::encode(&values[range], &mut out),
            Self::Int64(values) if delta => delta_binary_packed::encode(&values[range], &mut out),
            Self::Int32(values) => plain::encode(&values[range], &mut out),
            Self::Int64(values) => plain::encode(&values[range], &mut out),
            Self::Float(values) => plain::encode(&values[range], &mut out),
            Self::Double(values) => plain::encode(&values[range], &mut out),
            Self::FixedLen { len, bytes } => {
                let bytes = &bytes[range.start * len..range.end * len];
                match encoding {
                    Encoding::Plain => plain::encode_fixed_len(bytes, &mut out),
                    _ => {
                        delta_byte_array::encode_fixed_len(bytes, *len, &mut out).map_err(broken)?
                    }
                }
            }
            Self::ByteArrays(parts) => {
                let part = &parts[range.start / PAGE_VALUES];
                match encoding {
                    Encoding::Plain => plain::encode_byte_arrays(part.view(), &mut out),
                    Encoding::DeltaLengthByteArray => {
                        delta_length_byte_array::encode(part.view(), &mut out);
                    }
                    _ => delta_byte_array::encode(part.view(), &mut out),
                }
            }
        }
        Ok(out)
    }

    /// Decodes some values of a page, and drops them.
    fn decode(
        &self,
        encoding: Encoding,
        zstd: bool,
        page: &Page,
        range: Range<usize>,
    ) -> Result<()> {
        let unpacked;
        let bytes = if zstd {
            unpacked = zstd::stream::decode_all(page.bytes.as_slice())
                .map_err(|error| Error::new(error.to_string()))?;
            unpacked.as_slice()
        } else {
            page.bytes.as_slice()
        };
        let (start, count) = (range.start, range.len());
        let delta = encoding == Encoding::DeltaBinaryPacked;
        match self {
            Self::Booleans(_) => {
                plain::decode_booleans_range(bytes, start, &mut vec![false; count])
            }
            Self::Int32(_) if delta => {
                delta_binary_packed::decode_range(bytes, page.len, start, &mut vec![0_i32; count])
            }
            Self::Int64(_) if delta => {
                delta_binary_packed::decode_range(bytes, page.len, start, &mut vec![0_i64; count])
            }
            Self::Int32(_) => plain::decode_range(bytes, start, &mut vec![0_i32; count]),
            Self::Int64(_) => plain::decode_range(bytes, start, &mut vec![0_i64; count]),
            Self::Float(_) => plain::decode_range(bytes, start, &mut vec![0_f32; count]),
            Self::Double(_) => plain::decode_range(bytes, start, &mut vec![0_f64; count]),
            Self::FixedLen { len, .. } if encoding == Encoding::Plain => {
                plain::decode_fixed_len_range(bytes, *len, start, count).map(|values| {
                    std::hint::black_box(values.to_vec());
                })
            }
            Self::FixedLen { len, .. } => {
                let mut out = Vec::new();
                delta_byte_array::decode_fixed_len_range(bytes, page.len, range, *len, &mut out)
            }
            Self::ByteArrays(_) => {
                let mut out = ByteArrays::new();
                match encoding {
                    Encoding::Plain => plain::decode_byte_arrays_range(bytes, range, &mut out),
                    Encoding::DeltaLengthByteArray => {
                        delta_length_byte_array::decode_range(bytes, page.len, range, &mut out)
                    }
                    _ => {
                        delta_byte_array::decode_range(bytes, page.len, range, usize::MAX, &mut out)
                    }
                }
            }
        }
        .map_err(broken)
    }
}

fn broken(error: lancet_parquet::Error) -> Error {
    Error::new(error.to_string())
}
