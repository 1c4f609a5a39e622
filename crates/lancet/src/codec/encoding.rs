//! What is known of an encoding before any of its bytes are.

use std::fmt;
use std::sync::Arc;

use super::fsst;

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
}
