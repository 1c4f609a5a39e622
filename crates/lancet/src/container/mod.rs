//! Everything around the pages: footer, tables, descriptor, column metadata.
//!
//! ```text
//! ┌ data: page buffers, user global buffers, blobs      each at a multiple of 64
//! ├ global buffer 0: FileDescriptor                     at a multiple of 64
//! ├ column metadata: one message a column, back to back
//! ├ column table:  { u64 position, u64 size } a column
//! ├ buffer table:  { u64 position, u64 size } a global buffer
//! └ footer: 40 bytes
//! ```
//!
//! Pure functions over bytes: reading asks for spans and is handed bytes ([`Tail`]); writing
//! returns bytes ([`write`]).

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod checksums;
pub(crate) mod column;
pub(crate) mod cost;
pub(crate) mod early;
pub(crate) mod footer;
#[cfg(test)]
mod golden;
pub(crate) mod index;
pub(crate) mod tail;
pub(crate) mod write;
pub(crate) mod zone_place;

pub(crate) use column::{Column, PageEncoding};
pub(crate) use index::FileIndex;
pub(crate) use tail::{Tail, tail_span};

use crate::version::Version;

/// Where page buffers and global buffers of a file must start: at multiples of this.
fn buffer_alignment(version: Version) -> u64 {
    match version {
        // Compaction writes 2.0 files without padding.
        Version::V2_0 => 1,
        Version::V2_1 | Version::V2_2 => write::ALIGNMENT,
    }
}
