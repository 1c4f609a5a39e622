//! The Parquet value encodings as pure codecs: bytes in, values out, and back.
//!
//! For programs that read or write Parquet pages themselves, and for those that want a good integer or string
//! codec and nothing around it: no Arrow, no files, no dependencies.
//!
//! | module | encoding | physical types |
//! |---|---|---|
//! | [`plain`] | PLAIN | all |
//! | [`delta_binary_packed`] | DELTA_BINARY_PACKED | INT32, INT64 |
//! | [`delta_length_byte_array`] | DELTA_LENGTH_BYTE_ARRAY | BYTE_ARRAY |
//! | [`delta_byte_array`] | DELTA_BYTE_ARRAY | BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY |
//!
//! The bytes are the value section of a data page: decompressed, without the levels. It holds the
//! values that are not null; the caller knows how many. Encoders append to a `Vec<u8>`, decoders fill
//! a slice of the caller or append to [`ByteArrays`]. Nothing is allocated for a single value.
//!
//! ```
//! use lancet_parquet::{ByteArrays, delta_binary_packed, delta_byte_array};
//!
//! # fn main() -> lancet_parquet::Result<()> {
//! let mut page = Vec::new();
//! delta_binary_packed::encode(&[7, 5, 3, 1, 2, 3, 4, 5], &mut page);
//! assert_eq!(page, *b"\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0");
//!
//! let mut values = [0_i32; 8];
//! delta_binary_packed::decode(&page, &mut values)?;
//! assert_eq!(values, [7, 5, 3, 1, 2, 3, 4, 5]);
//!
//! // Two of the eight.
//! let mut some = [0_i32; 2];
//! delta_binary_packed::decode_range(&page, 8, 3, &mut some)?;
//! assert_eq!(some, [1, 2]);
//!
//! // Byte arrays may grow when they are decoded; the limit is the caller's.
//! let words: ByteArrays = ["axis", "axle", "babble"].into_iter().map(str::as_bytes).collect();
//! let mut page = Vec::new();
//! delta_byte_array::encode(words.view(), &mut page);
//! let mut again = ByteArrays::new();
//! delta_byte_array::decode(&page, 3, 1 << 20, &mut again)?;
//! assert_eq!(again, words);
//!
//! // What breaks a rule is an error with its place.
//! let error = delta_byte_array::decode(&page[..20], 3, 1 << 20, &mut again).unwrap_err();
//! assert_eq!(error.to_string(), "byte 10: the bytes end too early");
//! # Ok(())
//! # }
//! ```
//!
//! # Untrusted bytes
//!
//! No bytes make a decoder panic, and on an error nothing is appended. Memory is bounded by what the
//! caller says: the number of values, and for DELTA_BYTE_ARRAY the number of bytes. A stream with
//! another number of values than the page is refused. Bytes behind a stream are not looked at; what a
//! page took is returned.
//!
//! # What it does not do
//!
//! Levels, dictionaries, compression and page headers are the caller's. `examples/decode.rs` and
//! `examples/encode.rs` turn the value sections of pages into text and back.
//!
//! # Versions
//!
//! Rust 1.91 and later. Bytes that one version writes every other reads: they are Parquet.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod bits;
mod byte_arrays;
mod cursor;
pub mod delta_binary_packed;
pub mod delta_byte_array;
pub mod delta_length_byte_array;
mod error;
mod integer;
pub mod plain;

pub use byte_arrays::{ByteArrays, ByteArraysRef};
pub use error::{Error, Result, Rule};
pub use integer::Integer;

/// The example of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
