//! What can be wrong with encoded bytes.

use std::fmt;

/// Bytes that break a rule of their encoding, or a request that does not fit them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where in the bytes handed to the decoder: the start of what breaks the rule.
    pub offset: usize,
    /// The rule that is broken.
    pub rule: Rule,
}

/// The outcome of a decoder.
pub type Result<T> = std::result::Result<T, Error>;

/// The rules that bytes can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The bytes go on to the end of what they announce.
    Complete,
    /// A varint has at most ten bytes and fits 64 bits.
    Varint,
    /// The block size is a positive multiple of 128.
    BlockSize,
    /// The miniblock count is positive and divides the block into multiples of 32 values.
    MiniblockCount,
    /// A stream holds as many values as the page says.
    ValueCount,
    /// The first value and the minimum deltas fit the physical type.
    IntegerRange,
    /// A bit width is not above that of the physical type.
    BitWidth,
    /// A length is not negative, and below 2^31.
    Length,
    /// A prefix is not longer than the value before it; the first one is empty.
    Prefix,
    /// A value of FIXED_LEN_BYTE_ARRAY has the length of its type.
    FixedLength,
    /// The values together are not larger than the caller allows, or than 2^31 - 1 bytes.
    Size,
    /// The values asked for are values of the page.
    Range,
}

impl Rule {
    /// The error of breaking this rule at `offset`.
    #[cold]
    pub(crate) fn broken(self, offset: usize) -> Error {
        Error { offset, rule: self }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Complete => "the bytes end too early",
            Self::Varint => "a varint is longer than ten bytes or does not fit 64 bits",
            Self::BlockSize => "the block size is not a positive multiple of 128",
            Self::MiniblockCount => {
                "the miniblock count does not divide the block into multiples of 32 values"
            }
            Self::ValueCount => "the stream does not hold as many values as the page",
            Self::IntegerRange => "a first value or a minimum delta does not fit the physical type",
            Self::BitWidth => "a bit width is above that of the physical type",
            Self::Length => "a length is negative or not below 2^31",
            Self::Prefix => "a prefix is longer than the value before it",
            Self::FixedLength => "a value does not have the length of its type",
            Self::Size => "the values are larger than allowed",
            Self::Range => "the values asked for are not all in the page",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.rule.words())
    }
}

impl std::error::Error for Error {}
