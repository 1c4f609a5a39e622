//! Values of a fixed number of bytes.

use crate::error::{Result, Rule};

mod sealed {
    pub trait Sealed {}
}

/// A value of INT32, INT64, INT96, FLOAT or DOUBLE.
pub trait Fixed: Copy + Default + sealed::Sealed {
    #[doc(hidden)]
    const BYTES: usize;
    #[doc(hidden)]
    fn read_all(bytes: &[u8], values: &mut [Self]);
    #[doc(hidden)]
    fn write_all(values: &[Self], out: &mut Vec<u8>);
}

/// A value of INT96, as its bytes. Where it is a timestamp: eight bytes of nanoseconds in the day, then
/// four of the Julian day, of which 2,440,588 is 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Int96(pub [u8; 12]);

#[cfg(not(target_endian = "little"))]
impl Int96 {
    fn from_le_bytes(bytes: [u8; 12]) -> Self {
        Self(bytes)
    }

    fn to_le_bytes(self) -> [u8; 12] {
        self.0
    }
}

macro_rules! fixed {
    ($($type:ty)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Fixed for $type {
                const BYTES: usize = size_of::<Self>();

                #[cfg(target_endian = "little")]
                fn read_all(bytes: &[u8], values: &mut [Self]) {
                    // SAFETY: as in `write_all`; and every pattern of bytes is a value of the type.
                    let places = unsafe {
                        let len = size_of_val(values);
                        std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), len)
                    };
                    if places.len() == bytes.len() {
                        places.copy_from_slice(bytes);
                    }
                }

                #[cfg(target_endian = "little")]
                fn write_all(values: &[Self], out: &mut Vec<u8>) {
                    // SAFETY: the type has no padding, so its values are `size_of_val` initialised
                    // bytes at the same place, for as long as they are borrowed; `u8` needs no
                    // alignment. A copy of the memory is what the format asks for on this machine;
                    // `benches/against_parquet.rs` shows what it saves.
                    let bytes = unsafe {
                        std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
                    };
                    out.extend_from_slice(bytes);
                }

                #[cfg(not(target_endian = "little"))]
                fn read_all(bytes: &[u8], values: &mut [Self]) {
                    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
                        *value = Self::from_le_bytes(*bytes);
                    }
                }

                #[cfg(not(target_endian = "little"))]
                fn write_all(values: &[Self], out: &mut Vec<u8>) {
                    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
            }
        )*
    };
}
fixed!(i32 i64 f32 f64 Int96);

/// Appends values.
pub fn encode<T: Fixed>(values: &[T], out: &mut Vec<u8>) {
    T::write_all(values, out);
}

/// Decodes all values of a page, as many as there are places; returns how many bytes they took.
pub fn decode<T: Fixed>(bytes: &[u8], values: &mut [T]) -> Result<usize> {
    let taken = decode_fixed_len(bytes, T::BYTES, values.len())?;
    T::read_all(taken, values);
    Ok(taken.len())
}

/// Decodes the values from `start` on, as many as there are places.
pub fn decode_range<T: Fixed>(bytes: &[u8], start: usize, values: &mut [T]) -> Result<()> {
    let taken = decode_fixed_len_range(bytes, T::BYTES, start, values.len())?;
    T::read_all(taken, values);
    Ok(())
}

/// Appends values of FIXED_LEN_BYTE_ARRAY, which stand back to back already.
pub fn encode_fixed_len(values: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(values);
}

/// The `count` values of `len` bytes of a FIXED_LEN_BYTE_ARRAY page, back to back.
pub fn decode_fixed_len(bytes: &[u8], len: usize, count: usize) -> Result<&[u8]> {
    decode_fixed_len_range(bytes, len, 0, count)
}

/// The `count` values of `len` bytes from `start` on of a FIXED_LEN_BYTE_ARRAY page, back to back.
pub fn decode_fixed_len_range(
    bytes: &[u8],
    len: usize,
    start: usize,
    count: usize,
) -> Result<&[u8]> {
    let span = || {
        let end = start.checked_add(count)?.checked_mul(len)?;
        bytes.get(start.checked_mul(len)?..end)
    };
    span().ok_or_else(|| Rule::Complete.broken(bytes.len()))
}
