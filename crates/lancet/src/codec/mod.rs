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

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod bitpack;
pub(crate) mod block;
mod byte_stream_split;
mod dictionary;
mod fixed_size_list;
pub(crate) mod flat;
pub(crate) mod fsst;
mod gather;
pub(crate) mod general;
pub(crate) mod mini_block;
mod packed_levels;
mod packed_struct;
pub(crate) mod per_value;
mod rle;
mod slots;
mod value_buffer;
pub(crate) mod values;
mod variable;
mod variable_values;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use dictionary::Dictionary;
pub(crate) use gather::is_set;
pub(crate) use value_buffer::ValueBuffer;
pub(crate) use values::{FixedSizeListValues, FixedValues, KeyType, ValueType, Values};
pub(crate) use variable_values::{Offsets, VariableValues};

use crate::error::{Error, Result, ensure};

// Stored words are viewed as numbers in place, which needs the byte order of the format.
#[cfg(target_endian = "big")]
compile_error!("lancet runs on little-endian machines only");

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
    Fsst { table: Arc<fsst::SymbolTable>, values: Box<Encoding> },
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

impl Encoding {
    /// Value buffers of one mini-block chunk.
    pub(crate) fn num_buffers(&self) -> usize {
        match self {
            Self::Rle { .. } => 2,
            Self::General { values, .. } => values.num_buffers(),
            Self::FixedSizeList { has_validity, values, .. } => {
                values.num_buffers().saturating_add(usize::from(*has_validity))
            }
            Self::Constant => 0,
            _ => 1,
        }
    }

    /// Bits of one uncompressed value, where the encoding is one of plain fixed-width values.
    ///
    /// This is how a dictionary page says how wide its indices are.
    pub(crate) fn fixed_bits(&self) -> Option<u64> {
        match self {
            Self::Flat { bits }
            | Self::OutOfLineBitpacking { bits, .. }
            | Self::InlineBitpacking { bits }
            | Self::Rle { bits }
            | Self::ByteStreamSplit { bits } => Some(*bits),
            Self::General { values, .. } => values.fixed_bits(),
            _ => None,
        }
    }

    /// The encoding in words, outermost first.
    pub(crate) fn describe(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat { bits } => write!(f, "flat {bits}-bit"),
            Self::Variable { offset_bits } => write!(f, "variable ({offset_bits}-bit offsets)"),
            Self::Constant => write!(f, "all null"),
            Self::OutOfLineBitpacking { bits, packed_bits } => {
                write!(f, "bit-packed {bits}-bit to {packed_bits}-bit")
            }
            Self::InlineBitpacking { bits } => write!(f, "bit-packed {bits}-bit"),
            Self::Fsst { values, .. } => write!(f, "fsst over {values}"),
            Self::Rle { bits } => write!(f, "run-length {bits}-bit"),
            Self::ByteStreamSplit { bits } => write!(f, "byte stream split {bits}-bit"),
            Self::General { scheme, values, .. } => write!(f, "{scheme} over {values}"),
            Self::FixedSizeList { items_per_value, has_validity, values } => {
                let nullable = if *has_validity { "nullable " } else { "" };
                write!(f, "fixed-size list of {items_per_value} {nullable}items, {values}")
            }
            Self::PackedStruct { field_bits } => {
                write!(f, "packed struct of {} fields", field_bits.len())?;
                let mut separator = ": ";
                for bits in field_bits {
                    write!(f, "{}{bits}-bit", std::mem::replace(&mut separator, ", "))?;
                }
                Ok(())
            }
            Self::VariablePackedStruct { fields } => {
                write!(f, "packed struct of {} fields", fields.len())?;
                let mut separator = ": ";
                for field in fields {
                    let encoding = &field.encoding;
                    write!(f, "{}{encoding}", std::mem::replace(&mut separator, "; "))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        })
    }
}

/// The bytes that one read may hold; the columns that are decoded for it share them.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// Takes `bytes` out of the budget.
    pub(crate) fn claim(&self, bytes: u64, what: &str) -> Result<()> {
        let take = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(used) => {
                let needed = used.saturating_add(bytes);
                Err(Error::limit(what, needed, self.limit, "memory_limit"))
            }
        }
    }

    /// Puts back what was taken and not needed.
    fn put_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What may still be claimed.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }
}

/// Bytes that a [`Scratch`] takes from its budget at once, where there are as many.
const LEASE: u64 = 1 << 20;

/// What decoding on one thread may still allocate, and buffers to reuse.
#[derive(Debug)]
pub(crate) struct Scratch {
    budget: Budget,
    /// Bytes taken from the budget and not claimed yet.
    leased: u64,
    /// Decompressed bytes of the unit at hand.
    pub(crate) bytes: Vec<u8>,
    /// Checked dictionary indices of a unit.
    indices: Vec<u32>,
    /// Where the codes of a unit of coded strings go.
    pub(crate) places: Vec<u32>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A read of thousands of pages would otherwise use up its budget with leases.
        self.budget.put_back(self.leased);
    }
}

impl Scratch {
    /// A scratch that lets decoding claim `limit` bytes.
    #[cfg(test)]
    pub(crate) fn new(limit: u64) -> Self {
        Self::sharing(&Budget::new(limit))
    }

    /// A scratch that takes what it needs from a budget.
    pub(crate) fn sharing(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            leased: 0,
            bytes: Vec::new(),
            indices: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Asks for `bytes` more, on the word of a number from the file. Call before allocating.
    pub(crate) fn claim(&mut self, bytes: u64, what: &str) -> Result<()> {
        let missing = bytes.saturating_sub(self.leased);
        if missing > 0 {
            let lease = missing.max(LEASE.min(self.budget.left()));
            if self.budget.claim(lease, what).is_err() {
                // Another column may have taken the rest of what a lease adds.
                self.budget.claim(missing, what)?;
                self.leased = 0;
                return Ok(());
            }
            self.leased = self.leased.saturating_add(lease);
        }
        self.leased = self.leased.saturating_sub(bytes);
        Ok(())
    }

    /// Hands back what was claimed for something that is gone again.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.leased = self.leased.saturating_add(bytes);
    }

    /// Bytes claimed so far.
    #[cfg(test)]
    fn claimed(&self) -> u64 {
        self.budget.limit.saturating_sub(self.left())
    }

    /// What may still be claimed.
    fn left(&self) -> u64 {
        self.budget.left().saturating_add(self.leased)
    }

    /// Decompresses one unit into the buffer that [`Scratch::bytes`] keeps for it.
    ///
    /// `bound` is the most bytes the inner encoding can have, where that is known. The caller
    /// hands the buffer back with [`Scratch::recycle`], so that nested units work too.
    pub(crate) fn decompress(
        &mut self,
        scheme: Scheme,
        unit: &[u8],
        bound: Option<u64>,
    ) -> Result<Vec<u8>> {
        let bound = bound.unwrap_or(u64::MAX);
        let max_bytes = match general::uncompressed_size(scheme, unit)? {
            Some(size) => {
                ensure!(
                    size <= bound,
                    "a compressed unit claims {size} bytes, but its values need at most {bound}"
                );
                size
            }
            None => bound.min(self.left()),
        };
        self.claim(max_bytes, "a compressed unit")?;
        let mut bytes = std::mem::take(&mut self.bytes);
        general::decompress(scheme, unit, max_bytes, &mut bytes)?;
        // A frame that does not tell its size was given all there is; keep only what it took.
        self.release(max_bytes.saturating_sub(size_u64(bytes.len())));
        Ok(bytes)
    }

    /// Takes back a buffer of [`Scratch::decompress`]; `kept` of its bytes live on as values.
    fn recycle(&mut self, bytes: Vec<u8>, kept: usize) {
        self.release(size_u64(bytes.len().saturating_sub(kept)));
        self.bytes = bytes;
    }
}

/// A size in memory as a number of the format.
pub(crate) fn size_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Bytes of `num_values` values of `bits` bits back to back.
fn byte_len(num_values: usize, bits: u64) -> Result<usize> {
    let bytes = size_u64(num_values).checked_mul(bits).map(|bits| bits.div_ceil(8));
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
        Error::corrupt(format!("{num_values} values of {bits} bits do not fit into memory"))
    })
}

/// `left * right`, both counts from a file.
fn product(left: usize, right: usize) -> Result<usize> {
    left.checked_mul(right)
        .ok_or_else(|| Error::corrupt(format!("the product of {left} and {right} is too large")))
}

/// A count of the format as a size in memory.
pub(crate) fn size(number: u64) -> Result<usize> {
    usize::try_from(number)
        .map_err(|_| Error::corrupt(format!("{number} does not fit into memory")))
}

/// The error for values that an encoding cannot hold.
fn mismatch(encoding: &Encoding, values: impl fmt::Debug) -> Error {
    Error::corrupt(format!("the encoding \"{encoding}\" cannot hold {values:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_in_words() {
        let bss = Box::new(Encoding::ByteStreamSplit { bits: 64 });
        let zstd = Encoding::General { scheme: Scheme::Zstd, level: None, values: bss };
        assert_eq!(zstd.describe(), "zstd over byte stream split 64-bit");
        assert_eq!(Encoding::InlineBitpacking { bits: 32 }.describe(), "bit-packed 32-bit");
        let packed = Encoding::PackedStruct { field_bits: vec![64, 16] };
        assert_eq!(packed.describe(), "packed struct of 2 fields: 64-bit, 16-bit");
    }

    #[test]
    fn buffers_of_a_chunk() {
        let flat = || Box::new(Encoding::Flat { bits: 16 });
        let list = |has_validity, values| {
            Box::new(Encoding::FixedSizeList { items_per_value: 2, has_validity, values })
        };
        assert_eq!(flat().num_buffers(), 1);
        assert_eq!(Encoding::Rle { bits: 8 }.num_buffers(), 2);
        assert_eq!(list(true, list(false, flat())).num_buffers(), 2);
        assert_eq!(list(true, list(true, flat())).num_buffers(), 3);
        let values = list(true, flat());
        let lz4 = Encoding::General { scheme: Scheme::Lz4, level: None, values };
        assert_eq!(lz4.num_buffers(), 2);
    }

    #[test]
    fn claims_stop_at_the_limit_and_can_be_handed_back() {
        let mut scratch = Scratch::new(100);
        scratch.claim(60, "a").unwrap();
        assert!(matches!(scratch.claim(41, "b"), Err(Error::Limit { needed: 101, .. })));
        scratch.release(1);
        scratch.claim(41, "b").unwrap();
        assert!(matches!(scratch.claim(1, "c"), Err(Error::Limit { .. })));
    }

    #[test]
    fn columns_share_a_budget() {
        let budget = Budget::new(3 << 20);
        let (mut a, mut b) = (Scratch::sharing(&budget), Scratch::sharing(&budget));
        a.claim(10, "a").unwrap();
        b.claim(2 << 20, "b").unwrap();
        assert!(matches!(b.claim(1, "b"), Err(Error::Limit { option: "memory_limit", .. })));
        a.claim(1000, "a").unwrap();
        assert!(budget.claim(1, "more").is_err());
        drop(a);
        budget.claim((1 << 20) - 1010, "what was leased and not claimed").unwrap();
        assert!(budget.claim(1, "more").is_err());
    }
}
