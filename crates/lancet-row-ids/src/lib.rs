//! Row ids and row versions of a Lance table's fragments.
//!
//! A table with stable row ids keeps, for each fragment, the id of every row in row order
//! ([`RowIdSequence`]) and the table version in which each row was made and last changed
//! ([`RowVersionSequence`]). Both are small protobuf messages made of segments:
//!
//! | segment | ids |
//! |---|---|
//! | range | `start..end` |
//! | range with holes | `start..end` without the holes, which are listed |
//! | range with bitmap | the ids of `start..end` whose bit is set, lowest bit of a byte first |
//! | sorted array | increasing ids, 2 or 4 bytes from a base, or 8 bytes each |
//! | array | ids in any order, stored likewise |
//!
//! A sequence costs what its segments cost: a billion ids in a row are one range.
//!
//! ```
//! use lancet_row_ids::RowIdSequence;
//!
//! # fn main() -> lancet_row_ids::Result<()> {
//! let mut ids = RowIdSequence::from(0..1_000_000_000);
//! ids.delete(&[7, 8, 500]);
//! assert_eq!(ids.len(), 999_999_997);
//! assert_eq!(ids.get(7), Some(9));
//! assert_eq!(ids.position(501), Some(498));
//! assert!(ids.encode().len() < 40);
//! assert_eq!(RowIdSequence::decode(&ids.encode())?, ids);
//! # Ok(())
//! # }
//! ```
//!
//! Deleted rows keep their place in a table: a stored sequence has as many ids as its fragment has physical
//! rows, which [`RowIdSequence::check_len`] checks. [`RowIdIndex`] goes the other way, from an id to the
//! address of the one live row that has it.
//!
//! What is read keeps the form of its segments and is written again as it was. New segments get the form
//! that the reference implementation gives them, byte by byte.
//!
//! # Untrusted bytes
//!
//! No bytes make this crate panic. What breaks a rule is an [`Error`] that names it. Decoding costs a small
//! multiple of the bytes, and nothing expands a sequence unless asked to, so a few forged bytes that claim
//! 2^64-1 ids do no harm: ask for [`RowIdSequence::len`] before you collect what a stranger has sent.
//!
//! # What it does not do
//!
//! It reads no files and knows no manifests: `lancet-table` finds the bytes of a fragment's sequences.
//!
//! # Versions
//!
//! Rust 1.91 and later. Bytes that one version writes every other reads: they are those of Lance.
#![forbid(unsafe_code)]
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

mod address;
mod array;
mod bitmap;
mod bitmap_iter;
mod bits;
mod choose;
mod edit;
mod error;
mod holes;
mod iter;
mod proto;
mod push;
mod ranges;
mod run;
mod segment;
mod sequence;
mod versions;
mod wire;

#[cfg(test)]
mod tests;

pub use address::{FragmentRowIds, RowIdIndex};
pub use array::{EncodedArray, Width};
pub use bitmap::RangeWithBitmap;
pub use error::{Error, Result};
pub use holes::RangeWithHoles;
pub use iter::{ArrayIter, Iter};
pub use ranges::IdRanges;
pub use segment::{Segment, SegmentIter, SegmentKind};
pub use sequence::RowIdSequence;
pub use versions::{RowVersionSequence, VersionIter, VersionRun};

/// As an index into memory. What does not fit points past the end of everything.
fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The example of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
