//! Format 2.0: array encodings, and columns for structs and lists.
//!
//! Sealed off: nothing here knows of page layouts and levels, and nothing there knows of this. What
//! both need once bytes are decoded (dictionaries, blobs, offsets of lists) they share. A
//! read ([`FieldRead`]) names spans and is handed bytes, round after round, as one of 2.1 does;
//! what comes out are Arrow arrays.
//!
//! ```text
//! column of a …      pages hold                                 read in rounds
//! leaf               an array: nulls, values                    indexes and values ► strings ► blobs
//! list               where each list ends                       ends ► the columns of the items
//! struct             nothing; a number of rows                  –
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`columns`] | which fields own which columns |
//! | [`column`] | the checked pages of a column |
//! | [`encoding`] | `ArrayEncoding` messages to checked [`array::Array`]s |
//! | [`stream`] | fixed-width values in a buffer: flat, compressed, bit-packed |
//! | [`ends`] | where lists and strings end, nulls among them |
//! | [`strings`], [`array`] | arrays of a page: which spans they need, how they decode |
//! | [`index`] | what a page needs whatever its rows: dictionary, decompressed buffers |
//! | [`leaf`], [`list`], [`field`] | reads of rows |
//! | [`encode`] | values to arrays, for writing |
//! | [`check`] | reads of one page by itself |
//! | [`describe`] | arrays in words |
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod array;
pub(crate) mod check;
pub(crate) mod column;
pub(crate) mod columns;
mod describe;
pub(crate) mod encode;
mod encoding;
mod ends;
pub(crate) mod field;
mod index;
mod leaf;
mod list;
mod stream;
mod strings;
mod validity;

use std::ops::Range;

use bytes::Bytes;

use crate::codec::{size, size_u64 as count};
use crate::error::{Error, Result};
use crate::page::count_rows;

pub(crate) use column::ArrayColumn;
pub(crate) use columns::{Columns, Numbered, number_columns};
pub(crate) use field::FieldRead;
pub(crate) use index::ArrayIndex;

/// The bytes of the spans that were asked for, in that order.
#[derive(Debug)]
struct Fetched<'a> {
    bytes: std::slice::Iter<'a, Bytes>,
}

impl<'a> Fetched<'a> {
    fn new(bytes: &'a [Bytes]) -> Self {
        Self { bytes: bytes.iter() }
    }

    fn next(&mut self) -> Result<&'a Bytes> {
        self.bytes.next().ok_or_else(|| Error::corrupt("a read returned too few buffers"))
    }
}

/// Number of rows in ranges.
fn count_in(ranges: &[Range<u64>]) -> Result<usize> {
    size(count_rows(ranges))
}
