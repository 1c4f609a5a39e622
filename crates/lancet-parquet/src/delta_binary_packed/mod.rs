//! DELTA_BINARY_PACKED: INT32 and INT64 as differences in few bits.
//!
//! | bytes | what |
//! |---|---|
//! | ULEB128 | values of a block, `B`: a multiple of 128 |
//! | ULEB128 | miniblocks of a block, `M`: `V = B / M` is a multiple of 32 |
//! | ULEB128 | number of values, `N` |
//! | zigzag | first value |
//!
//! then for each `B` of the `N - 1` differences between neighbours a block:
//!
//! | bytes | what |
//! |---|---|
//! | zigzag | the smallest difference of the block |
//! | `M` | bit width `w` of each miniblock |
//! | `w * V / 8` each | the differences less the smallest, `w` bits each, least significant bit first |
//!
//! The last miniblock in use is padded to `V`; those behind it have a width, which says nothing, and
//! no bytes. All sums wrap in the physical type.
//!
//! A value is a sum over all before it, so a range cannot be read alone. What lies before it is added
//! up without being stored, a miniblock of width 0 in one step.

mod decode;
mod encode;

pub use decode::{Decoder, decode, decode_range};
pub use encode::{encode, encode_with};

/// How a stream is cut into blocks and miniblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) block_size: u32,
    pub(crate) miniblocks: u32,
    pub(crate) miniblock_size: u32,
}

impl Layout {
    /// Blocks of `block_size` values in `miniblocks` parts; `None` where the format forbids it.
    pub const fn new(block_size: u32, miniblocks: u32) -> Option<Self> {
        let Some(miniblock_size) = block_size.checked_div(miniblocks) else { return None };
        let legal = block_size > 0
            && block_size.is_multiple_of(128)
            && block_size.is_multiple_of(miniblocks)
            && miniblock_size.is_multiple_of(32);
        if legal { Some(Self { block_size, miniblocks, miniblock_size }) } else { None }
    }
}
