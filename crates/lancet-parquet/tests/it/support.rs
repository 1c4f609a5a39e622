//! Pages of any encoding and type behind one face, so that a test can treat them alike.

use std::ops::Range;

use lancet_parquet::plain::Int96;
use lancet_parquet::{
    ByteArrays, Result, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};

pub const MAX_BYTES: usize = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    DeltaBinaryPacked,
    DeltaLengthByteArray,
    DeltaByteArray,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Boolean,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    ByteArray,
    FixedLen(usize),
}

/// Every pair that the format has.
pub const PAIRS: [(Encoding, Type); 13] = [
    (Encoding::Plain, Type::Boolean),
    (Encoding::Plain, Type::Int32),
    (Encoding::Plain, Type::Int64),
    (Encoding::Plain, Type::Int96),
    (Encoding::Plain, Type::Float),
    (Encoding::Plain, Type::Double),
    (Encoding::Plain, Type::ByteArray),
    (Encoding::Plain, Type::FixedLen(3)),
    (Encoding::DeltaBinaryPacked, Type::Int32),
    (Encoding::DeltaBinaryPacked, Type::Int64),
    (Encoding::DeltaLengthByteArray, Type::ByteArray),
    (Encoding::DeltaByteArray, Type::ByteArray),
    (Encoding::DeltaByteArray, Type::FixedLen(3)),
];

/// Values; floats as their bits, so that they compare exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<u32>),
    Double(Vec<u64>),
    ByteArray(ByteArrays),
    FixedLen(usize, Vec<u8>),
}

impl Values {
    /// Every value as its bytes; a boolean is a byte.
    pub fn raw(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Boolean(values) => values.iter().map(|v| vec![u8::from(*v)]).collect(),
            Self::Int32(values) => values.iter().map(|v| v.to_le_bytes().to_vec()).collect(),
            Self::Int64(values) => values.iter().map(|v| v.to_le_bytes().to_vec()).collect(),
            Self::Int96(values) => values.iter().map(|v| v.0.to_vec()).collect(),
            Self::Float(values) => values.iter().map(|v| v.to_le_bytes().to_vec()).collect(),
            Self::Double(values) => values.iter().map(|v| v.to_le_bytes().to_vec()).collect(),
            Self::ByteArray(values) => values.iter().map(<[u8]>::to_vec).collect(),
            Self::FixedLen(len, values) => values.chunks(*len).map(<[u8]>::to_vec).collect(),
        }
    }
}

/// All values of a page, and how many bytes they took.
pub fn decode(
    encoding: Encoding,
    physical: Type,
    count: usize,
    page: &[u8],
) -> Result<(Values, usize)> {
    use Encoding::{DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain};
    let arrays = |decode: &dyn Fn(&mut ByteArrays) -> Result<usize>| {
        let mut values = ByteArrays::new();
        let taken = decode(&mut values)?;
        Ok((Values::ByteArray(values), taken))
    };
    Ok(match (encoding, physical) {
        (Plain, Type::Boolean) => {
            let mut values = vec![false; count];
            let taken = plain::decode_booleans(page, &mut values)?;
            (Values::Boolean(values), taken)
        }
        (Plain, Type::Int32) => {
            let mut values = vec![0; count];
            let taken = plain::decode(page, &mut values)?;
            (Values::Int32(values), taken)
        }
        (Plain, Type::Int64) => {
            let mut values = vec![0; count];
            let taken = plain::decode(page, &mut values)?;
            (Values::Int64(values), taken)
        }
        (Plain, Type::Int96) => {
            let mut values = vec![Int96::default(); count];
            let taken = plain::decode(page, &mut values)?;
            (Values::Int96(values), taken)
        }
        (Plain, Type::Float) => {
            let mut values = vec![0_f32; count];
            let taken = plain::decode(page, &mut values)?;
            (Values::Float(values.into_iter().map(f32::to_bits).collect()), taken)
        }
        (Plain, Type::Double) => {
            let mut values = vec![0_f64; count];
            let taken = plain::decode(page, &mut values)?;
            (Values::Double(values.into_iter().map(f64::to_bits).collect()), taken)
        }
        (Plain, Type::ByteArray) => arrays(&|out| plain::decode_byte_arrays(page, count, out))?,
        (Plain, Type::FixedLen(len)) => {
            let values = plain::decode_fixed_len(page, len, count)?;
            (Values::FixedLen(len, values.to_vec()), values.len())
        }
        (DeltaBinaryPacked, Type::Int32) => {
            let mut values = vec![0; count];
            let taken = delta_binary_packed::decode(page, &mut values)?;
            (Values::Int32(values), taken)
        }
        (DeltaBinaryPacked, Type::Int64) => {
            let mut values = vec![0; count];
            let taken = delta_binary_packed::decode(page, &mut values)?;
            (Values::Int64(values), taken)
        }
        (DeltaLengthByteArray, Type::ByteArray) => {
            arrays(&|out| delta_length_byte_array::decode(page, count, out))?
        }
        (DeltaByteArray, Type::ByteArray) => {
            arrays(&|out| delta_byte_array::decode(page, count, MAX_BYTES, out))?
        }
        (DeltaByteArray, Type::FixedLen(len)) => {
            let mut values = vec![];
            let taken = delta_byte_array::decode_fixed_len(page, count, len, &mut values)?;
            (Values::FixedLen(len, values), taken)
        }
        pair => panic!("the format has no {pair:?}"),
    })
}

/// The values of a range of a page.
pub fn decode_range(
    encoding: Encoding,
    physical: Type,
    count: usize,
    range: Range<usize>,
    page: &[u8],
) -> Result<Values> {
    use Encoding::{DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain};
    let arrays = |decode: &dyn Fn(&mut ByteArrays) -> Result<()>| {
        let mut values = ByteArrays::new();
        decode(&mut values)?;
        Ok(Values::ByteArray(values))
    };
    let (start, len) = (range.start, range.len());
    Ok(match (encoding, physical) {
        (Plain, Type::Boolean) => {
            let mut values = vec![false; len];
            plain::decode_booleans_range(page, start, &mut values)?;
            Values::Boolean(values)
        }
        (Plain, Type::Int32) => {
            let mut values = vec![0; len];
            plain::decode_range(page, start, &mut values)?;
            Values::Int32(values)
        }
        (Plain, Type::Int64) => {
            let mut values = vec![0; len];
            plain::decode_range(page, start, &mut values)?;
            Values::Int64(values)
        }
        (Plain, Type::Int96) => {
            let mut values = vec![Int96::default(); len];
            plain::decode_range(page, start, &mut values)?;
            Values::Int96(values)
        }
        (Plain, Type::Float) => {
            let mut values = vec![0_f32; len];
            plain::decode_range(page, start, &mut values)?;
            Values::Float(values.into_iter().map(f32::to_bits).collect())
        }
        (Plain, Type::Double) => {
            let mut values = vec![0_f64; len];
            plain::decode_range(page, start, &mut values)?;
            Values::Double(values.into_iter().map(f64::to_bits).collect())
        }
        (Plain, Type::ByteArray) => {
            arrays(&|out| plain::decode_byte_arrays_range(page, range.clone(), out))?
        }
        (Plain, Type::FixedLen(size)) => {
            let values = plain::decode_fixed_len_range(page, size, start, len)?;
            Values::FixedLen(size, values.to_vec())
        }
        (DeltaBinaryPacked, Type::Int32) => {
            let mut values = vec![0; len];
            delta_binary_packed::decode_range(page, count, start, &mut values)?;
            Values::Int32(values)
        }
        (DeltaBinaryPacked, Type::Int64) => {
            let mut values = vec![0; len];
            delta_binary_packed::decode_range(page, count, start, &mut values)?;
            Values::Int64(values)
        }
        (DeltaLengthByteArray, Type::ByteArray) => {
            arrays(&|out| delta_length_byte_array::decode_range(page, count, range.clone(), out))?
        }
        (DeltaByteArray, Type::ByteArray) => arrays(&|out| {
            delta_byte_array::decode_range(page, count, range.clone(), MAX_BYTES, out)
        })?,
        (DeltaByteArray, Type::FixedLen(size)) => {
            let mut values = vec![];
            delta_byte_array::decode_fixed_len_range(page, count, range, size, &mut values)?;
            Values::FixedLen(size, values)
        }
        pair => panic!("the format has no {pair:?}"),
    })
}

/// The page of values.
pub fn encode(encoding: Encoding, values: &Values) -> Vec<u8> {
    use Encoding::{DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain};
    let mut page = vec![];
    match (encoding, values) {
        (Plain, Values::Boolean(values)) => plain::encode_booleans(values, &mut page),
        (Plain, Values::Int32(values)) => plain::encode(values, &mut page),
        (Plain, Values::Int64(values)) => plain::encode(values, &mut page),
        (Plain, Values::Int96(values)) => plain::encode(values, &mut page),
        (Plain, Values::Float(values)) => {
            let values: Vec<f32> = values.iter().map(|bits| f32::from_bits(*bits)).collect();
            plain::encode(&values, &mut page);
        }
        (Plain, Values::Double(values)) => {
            let values: Vec<f64> = values.iter().map(|bits| f64::from_bits(*bits)).collect();
            plain::encode(&values, &mut page);
        }
        (Plain, Values::ByteArray(values)) => plain::encode_byte_arrays(values.view(), &mut page),
        (Plain, Values::FixedLen(_, values)) => plain::encode_fixed_len(values, &mut page),
        (DeltaBinaryPacked, Values::Int32(values)) => {
            delta_binary_packed::encode(values, &mut page)
        }
        (DeltaBinaryPacked, Values::Int64(values)) => {
            delta_binary_packed::encode(values, &mut page)
        }
        (DeltaLengthByteArray, Values::ByteArray(values)) => {
            delta_length_byte_array::encode(values.view(), &mut page);
        }
        (DeltaByteArray, Values::ByteArray(values)) => {
            delta_byte_array::encode(values.view(), &mut page);
        }
        (DeltaByteArray, Values::FixedLen(len, values)) => {
            delta_byte_array::encode_fixed_len(values, *len, &mut page).unwrap();
        }
        (encoding, _) => panic!("the format has no such {encoding:?}"),
    }
    page
}
