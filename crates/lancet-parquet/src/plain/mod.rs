//! PLAIN: values back to back, without a header.
//!
//! | physical type | Rust | bytes of a value |
//! |---|---|---|
//! | BOOLEAN | `bool` | 1 bit, least significant first; the last byte is filled up with zeros |
//! | INT32, FLOAT | `i32`, `f32` | 4, little-endian |
//! | INT64, DOUBLE | `i64`, `f64` | 8, little-endian |
//! | INT96 | [`Int96`] | 12, little-endian |
//! | BYTE_ARRAY | [`ByteArrays`](crate::ByteArrays) | 4 for its length, little-endian, then its bytes |
//! | FIXED_LEN_BYTE_ARRAY(k) | `[u8]` | k |
//!
//! All but BYTE_ARRAY have their values at known places: a range touches nothing else. To find a
//! byte array, the lengths before it are read.

mod booleans;
mod byte_arrays;
mod fixed;

pub use booleans::{decode_booleans, decode_booleans_range, encode_booleans};
pub use byte_arrays::{decode_byte_arrays, decode_byte_arrays_range, encode_byte_arrays};
pub use fixed::{
    Fixed, Int96, decode, decode_fixed_len, decode_fixed_len_range, decode_range, encode,
    encode_fixed_len,
};
