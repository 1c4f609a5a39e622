//! Mini-block pages: values in chunks of a few KiB; a row costs the decode of its chunk.
//!
//! | buffer | content |
//! |---|---|
//! | 0 | one word a chunk: low 4 bits log2 of the value count, the rest size / 8 - 1 |
//! | 1 | chunks back to back |
//! | 2 | dictionary, if there is one |
//! | last | repetition index, if there are lists: `(ends, partial)` as u64 for each chunk |
//!
//! A chunk:
//!
//! ```text
//! u16     num_levels                  0 when there are no levels
//! u16     rep_size                    only with repetition levels
//! u16     def_size                    only with definition levels
//! u16|u32 value_size × num_buffers    u32 in large chunks
//! pad 8 │ rep │ pad 8 │ def │ pad 8 │ value buffer │ pad 8 │ …
//! ```
//!
//! Invariants: every chunk but the last holds a power of two of values, at least two; the visible
//! entries of a chunk are its values; a row may run over several chunks.

mod chunk;
mod decode;
pub(crate) mod encode;
mod index;
mod layout;

pub(crate) use index::MiniBlockIndex;
pub(crate) use layout::MiniBlockLayout;

/// Bytes that pad the parts of a chunk.
const PADDING: u8 = 0xfe;
