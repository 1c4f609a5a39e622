//! How columns are to be encoded: a profile for the file, options for single columns, and the same
//! options as text in the metadata of fields.
//!
//! Precedence: field metadata, then column options (those of the longest path first), then the
//! profile.

mod keys;

use std::fmt;
use std::str::FromStr;

pub(crate) use keys::from_metadata;

use crate::codec::Scheme;
use crate::error::{Error, Result};

/// What matters most about the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Quick to write and to read: nothing that LZ4 or Zstandard would have to unpack.
    Fast,
    /// Small where that costs little time: LZ4 and Zstandard only where they pay well, in chunks so
    /// small that a single row stays cheap.
    #[default]
    Balanced,
    /// As small as the format allows, at the cost of time.
    Small,
}

/// A compressor for the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Values are stored as they are: not packed, not compressed. A dictionary may still stand in
    /// for strings and for numbers of 64 bits and more; its indices are plain then, and its entries
    /// have an option of their own.
    None,
    /// LZ4 over the best other form, if that is smaller.
    Lz4,
    /// Zstandard over the best other form, if that is smaller.
    Zstd,
    /// Strings are coded with a symbol table.
    Fsst,
}

/// Whether the bytes of numbers are sorted by their place before they are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteStreamSplit {
    /// Never.
    Off,
    /// Always, for numbers of 32 and 64 bits.
    On,
    /// Where it pays.
    Auto,
}

/// How a page finds its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructuralEncoding {
    /// Chunks of values.
    MiniBlock,
    /// Rows that are read by themselves.
    FullZip,
}

/// Options of one column, or of all columns below a field. What is not set is left to the profile.
///
/// ```
/// use lancet::{ByteStreamSplit, ColumnOptions, Compression, WriteOptions};
///
/// # fn main() -> lancet::Result<()> {
/// let title = ColumnOptions::default().with_compression(Compression::Lz4);
/// let price = ColumnOptions::default().with_bss(ByteStreamSplit::Off).with_dict_divisor(100);
/// let mut options =
///     WriteOptions::default().with_column("doc.title", title).with_column("price", price);
///
/// // Options that come as text, as they stand in field metadata.
/// options.column("id").set("rle-threshold", "0")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnOptions {
    pub(crate) compression: Option<Compression>,
    pub(crate) level: Option<i32>,
    pub(crate) rle_threshold: Option<f64>,
    pub(crate) bss: Option<ByteStreamSplit>,
    pub(crate) dict_divisor: Option<u64>,
    pub(crate) dict_size_ratio: Option<f64>,
    pub(crate) dict_max_size: Option<u64>,
    pub(crate) dict_values_compression: Option<Compression>,
    pub(crate) dict_values_level: Option<i32>,
    pub(crate) minichunk_size: Option<u64>,
    pub(crate) general: Option<bool>,
    pub(crate) packed: Option<bool>,
    pub(crate) structural_encoding: Option<StructuralEncoding>,
}

/// What a leaf is written with: its options and, for the rest, the profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    pub(crate) options: ColumnOptions,
}

impl ColumnOptions {
    /// Compresses with this and nothing else.
    #[must_use]
    pub fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = Some(compression);
        self
    }

    /// Level of Zstandard, -7 to 22; larger is smaller and slower.
    #[must_use]
    pub fn with_level(mut self, level: i32) -> Self {
        self.level = Some(level);
        self
    }

    /// Runs are considered only if there are fewer than this share of the values; 0 forbids them.
    #[must_use]
    pub fn with_rle_threshold(mut self, threshold: f64) -> Self {
        self.rle_threshold = Some(threshold);
        self
    }

    /// Whether bytes are sorted by their place.
    #[must_use]
    pub fn with_bss(mut self, mode: ByteStreamSplit) -> Self {
        self.bss = Some(mode);
        self
    }

    /// A dictionary may have at most the number of values divided by this.
    #[must_use]
    pub fn with_dict_divisor(mut self, divisor: u64) -> Self {
        self.dict_divisor = Some(divisor);
        self
    }

    /// Dictionary and indices must be smaller than this share of the values; above 0, up to 1.
    #[must_use]
    pub fn with_dict_size_ratio(mut self, ratio: f64) -> Self {
        self.dict_size_ratio = Some(ratio);
        self
    }

    /// Most bytes of a dictionary. 8 MiB by default.
    #[must_use]
    pub fn with_dict_max_size(mut self, bytes: u64) -> Self {
        self.dict_max_size = Some(bytes);
        self
    }

    /// Compresses dictionaries with this; not [`Compression::Fsst`].
    #[must_use]
    pub fn with_dict_values_compression(mut self, compression: Compression) -> Self {
        self.dict_values_compression = Some(compression);
        self
    }

    /// Level of Zstandard for dictionaries.
    #[must_use]
    pub fn with_dict_values_level(mut self, level: i32) -> Self {
        self.dict_values_level = Some(level);
        self
    }

    /// Bytes of values that a chunk aims at, before LZ4 or Zstandard.
    #[must_use]
    pub fn with_minichunk_size(mut self, bytes: u64) -> Self {
        self.minichunk_size = Some(bytes);
        self
    }

    /// `false`: neither LZ4 nor Zstandard. `true`: the smaller of them wherever it shrinks.
    #[must_use]
    pub fn with_general(mut self, general: bool) -> Self {
        self.general = Some(general);
        self
    }

    /// Stores all fields of a struct in one column. The mark goes into the field's metadata, since
    /// readers need it.
    #[must_use]
    pub fn with_packed(mut self, packed: bool) -> Self {
        self.packed = Some(packed);
        self
    }

    /// Forces a layout.
    #[must_use]
    pub fn with_structural_encoding(mut self, encoding: StructuralEncoding) -> Self {
        self.structural_encoding = Some(encoding);
        self
    }

    /// Sets an option by the name it has in field metadata, with or without `lance-encoding:`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<&mut Self> {
        keys::set(self, key, value)?;
        Ok(self)
    }

    /// Takes over what `other` sets.
    pub(crate) fn overlay(&mut self, other: &Self) {
        fn over<T: Clone>(mine: &mut Option<T>, other: &Option<T>) {
            if other.is_some() {
                mine.clone_from(other);
            }
        }
        over(&mut self.compression, &other.compression);
        over(&mut self.level, &other.level);
        over(&mut self.rle_threshold, &other.rle_threshold);
        over(&mut self.bss, &other.bss);
        over(&mut self.dict_divisor, &other.dict_divisor);
        over(&mut self.dict_size_ratio, &other.dict_size_ratio);
        over(&mut self.dict_max_size, &other.dict_max_size);
        over(&mut self.dict_values_compression, &other.dict_values_compression);
        over(&mut self.dict_values_level, &other.dict_values_level);
        over(&mut self.minichunk_size, &other.minichunk_size);
        over(&mut self.general, &other.general);
        over(&mut self.packed, &other.packed);
        over(&mut self.structural_encoding, &other.structural_encoding);
    }

    /// Checks what was set by number instead of by text, where text is checked at once.
    pub(crate) fn check(&self) -> Result<()> {
        let checks = [
            ("compression", self.compression.map(|v| v.to_string())),
            ("compression-level", self.level.map(|v| v.to_string())),
            ("rle-threshold", self.rle_threshold.map(|v| v.to_string())),
            ("dict-divisor", self.dict_divisor.map(|v| v.to_string())),
            ("dict-size-ratio", self.dict_size_ratio.map(|v| v.to_string())),
            ("dict-max-size", self.dict_max_size.map(|v| v.to_string())),
            ("dict-values-compression", self.dict_values_compression.map(|v| v.to_string())),
            ("dict-values-compression-level", self.dict_values_level.map(|v| v.to_string())),
            ("minichunk-size", self.minichunk_size.map(|v| v.to_string())),
        ];
        for (key, value) in checks {
            if let Some(value) = value {
                keys::set(&mut Self::default(), key, &value)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Small => "small",
        })
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        [Self::Fast, Self::Balanced, Self::Small]
            .into_iter()
            .find(|profile| profile.to_string() == text)
            .ok_or_else(|| {
                Error::invalid(format!(
                    "there is no profile `{text}`; choose fast, balanced or small"
                ))
            })
    }
}

impl Compression {
    /// Fails if it is a compressor that is not part of this build.
    fn require(self) -> Result<Self> {
        match self {
            Self::None | Self::Fsst => {}
            Self::Lz4 => Scheme::Lz4.require()?,
            Self::Zstd => Scheme::Zstd.require()?,
        }
        Ok(self)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Fsst => "fsst",
        })
    }
}
