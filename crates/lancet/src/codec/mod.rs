//! Values into bytes and back. No Arrow type, no page, no file, no I/O.
//!
//! An [`Encoding`] describes how the values of a page are compressed. The same encoding may have
//! different bytes in each of three contexts, one module each:
//!
//! | context | module | unit |
//! |---|---|---|
//! | mini-block | [`mini_block`] | a chunk: a list of value buffers |
//! | block | [`block`] | one opaque buffer: levels, dictionaries |
//! | per-value | [`per_value`] | one row of a full-zip page |
//!
//! Those modules only dispatch; each technique has a file of its own.

pub(crate) mod byte_stream_split;
pub(crate) mod fsst;
pub(crate) mod general;
pub(crate) mod rle;
pub(crate) mod values;

pub(crate) use values::{FixedValues, Offsets, ValueType, Values, VariableValues};

/// How values are compressed: the checked form of the format's `CompressiveEncoding` message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Encoding {
    /// Values back to back.
    Flat { bits: u64 },
    /// Offsets and bytes.
    Variable { offset_bits: u64 },
    /// No bytes; every value is null.
    Constant,
    /// Packed blocks of 1,024 values, one width for all of them.
    OutOfLineBitpacking { bits: u64, packed_bits: u64 },
    /// One packed block of 1,024 values that starts with its width.
    InlineBitpacking { bits: u64 },
    /// Strings coded with a symbol table.
    Fsst { table: std::sync::Arc<[u8]>, values: Box<Encoding> },
    /// Runs of equal values, lengths of one byte.
    Rle { bits: u64 },
    /// All first bytes, then all second bytes, and so on.
    ByteStreamSplit { bits: u64 },
    /// LZ4 or Zstandard over the output of another encoding.
    General { scheme: Scheme, level: Option<i32>, values: Box<Encoding> },
    /// A fixed number of items a value.
    FixedSizeList { items_per_value: u64, has_validity: bool, values: Box<Encoding> },
    /// Rows of fixed-width fields.
    PackedStruct { field_bits: Vec<u64> },
    /// Rows of fields of any width.
    VariablePackedStruct { fields: Vec<PackedField> },
}

/// A general-purpose compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Lz4,
    Zstd,
}

/// One field of a [`Encoding::VariablePackedStruct`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedField {
    pub(crate) encoding: Encoding,
    pub(crate) width: PackedWidth,
}

/// How a field finds its end inside a packed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackedWidth {
    /// Always this many bits.
    Value { bits: u64 },
    /// A length of this many bits stands before the bytes.
    Length { bits: u64 },
}

/// What decoding may still allocate beyond what the stored bytes justify, and buffers to reuse.
#[derive(Debug)]
pub(crate) struct Scratch {
    limit: u64,
    claimed: u64,
    /// Decompressed bytes of the unit at hand.
    pub(crate) bytes: Vec<u8>,
}

impl Scratch {
    /// A scratch that lets decoding claim `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, claimed: 0, bytes: Vec::new() }
    }

    /// Asks for `bytes` more, on the word of a number from the file. Call before allocating.
    pub(crate) fn claim(&mut self, bytes: u64, what: &str) -> crate::Result<()> {
        let needed = self.claimed.saturating_add(bytes);
        if needed > self.limit {
            return Err(crate::Error::Limit {
                what: what.into(),
                needed,
                limit: self.limit,
                option: "memory_limit",
            });
        }
        self.claimed = needed;
        Ok(())
    }
}
