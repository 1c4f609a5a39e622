//! Full-zip pages: every row can be read by itself.
//!
//! Buffer 0 holds entries back to back, buffer 1 (only with lists or variable widths) the byte
//! offset of each row and the end, as integers of 1, 2, 4 or 8 bytes:
//!
//! ```text
//! entry = [control word] [length] [value]
//! ```
//!
//! The control word (0, 1, 2 or 4 bytes) is `rep << bits_def | def`. A fixed-width value follows
//! every visible entry, null or not; a length and its bytes follow only entries with def 0.

mod decode;
pub(crate) mod encode;
mod index;
mod layout;
mod place;

pub(crate) use decode::decode;
pub(crate) use index::{FullZipIndex, row_bytes};
pub(crate) use layout::FullZipLayout;
pub(crate) use place::PlacedRows;
