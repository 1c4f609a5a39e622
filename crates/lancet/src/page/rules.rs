//! What differs between the versions, as data.

use crate::version::Version;

/// What pages of a version may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Mini-block pages have 32-bit chunk words and value sizes (otherwise 16-bit ones).
    pub(crate) large_chunks: bool,
    /// Constant pages may hold a value, and all-null pages compress their levels.
    pub(crate) scalar_constants: bool,
    /// Levels may be run-length coded (older readers of 2.1 know no other than bit packing).
    pub(crate) compressed_levels: bool,
    /// Packed structs may have fields of any width.
    pub(crate) variable_packed_structs: bool,
    /// Most bytes of one chunk.
    pub(crate) max_chunk_bytes: usize,
}

impl Rules {
    /// The rules of a version that has page layouts.
    pub(crate) fn of(version: Version) -> Self {
        let since_2_2 = version >= Version::V2_2;
        Self {
            large_chunks: since_2_2,
            scalar_constants: since_2_2,
            compressed_levels: since_2_2,
            variable_packed_structs: since_2_2,
            max_chunk_bytes: if since_2_2 { 1 << 31 } else { 1 << 15 },
        }
    }
}
