//! LZ4 and Zstandard over the output of another encoding.
//!
//! | scheme | one unit | the unit of no bytes |
//! |---|---|---|
//! | LZ4 | `u32` uncompressed size, one raw LZ4 block | `00 00 00 00 00` |
//! | Zstandard | `u64` uncompressed size, one frame | eight zeros, `28 b5 2f fd 20 00 01 00 00` |
//!
//! Old Zstandard units are a frame without the size before it. Units shorter than 8 bytes, and
//! those that start with the frame magic and have bit 4 of byte 4 clear (as every frame does), are
//! read that way; a unit without bytes yields none.
//!
//! Nothing is allocated for a size that the compressed bytes cannot yield or that the caller's
//! limit forbids.
//!
//! Each compressor is a file of its own and a feature of the crate. What was left out is refused
//! here, by name, before [`absent`] is asked.

#[cfg(not(all(feature = "lz4", feature = "zstd")))]
mod absent;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(not(feature = "lz4"))]
use absent as lz4;
#[cfg(not(feature = "zstd"))]
use absent as zstd;

use super::Scheme;
use crate::error::{Error, Result, ensure};

impl Scheme {
    /// Whether the compressor is part of this build.
    pub(crate) fn is_built(self) -> bool {
        match self {
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// Fails, with what to do about it, if the compressor is not part of this build.
    pub(crate) fn require(self) -> Result<()> {
        let (name, feature) = match self {
            Self::Lz4 => ("LZ4", "lz4"),
            Self::Zstd => ("Zstandard", "zstd"),
        };
        if self.is_built() {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "{name}, because lancet was built without its feature `{feature}`; \
             build it with `{feature}` to use it"
        )))
    }
}

/// A unit taken apart.
struct Unit<'a> {
    /// What it decompresses to; `None` where neither unit nor frame says so.
    size: Option<u64>,
    /// No more than this can come out of the payload.
    max_size: u64,
    payload: &'a [u8],
}

impl<'a> Unit<'a> {
    fn parse(scheme: Scheme, unit: &'a [u8]) -> Result<Self> {
        scheme.require()?;
        let parsed = match scheme {
            Scheme::Lz4 => lz4::parse(unit)?,
            Scheme::Zstd => zstd::parse(unit)?,
        };
        let size = parsed.size.unwrap_or(0);
        ensure!(
            size <= parsed.max_size,
            "{} compressed bytes cannot hold the {size} bytes they are said to hold",
            parsed.payload.len()
        );
        Ok(parsed)
    }
}

/// The number of bytes a unit decompresses to; `None` when only decompressing it can tell.
pub(crate) fn uncompressed_size(scheme: Scheme, unit: &[u8]) -> Result<Option<u64>> {
    Unit::parse(scheme, unit).map(|unit| unit.size)
}

/// Replaces `out` by the uncompressed bytes of a unit, at most `max_bytes`.
pub(crate) fn decompress(
    scheme: Scheme,
    unit: &[u8],
    max_bytes: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let unit = Unit::parse(scheme, unit)?;
    let Some(size) = unit.size else { return zstd::decompress_unsized(&unit, max_bytes, out) };
    if size > max_bytes {
        return Err(too_large(size, max_bytes));
    }
    resize(out, size)?;
    let decompressed = match scheme {
        Scheme::Lz4 => lz4::decompress(unit.payload, out)?,
        Scheme::Zstd if unit.payload.is_empty() => 0,
        Scheme::Zstd => zstd::decompress(unit.payload, out)?,
    };
    ensure!(
        decompressed as u64 == size,
        "a unit decompresses to {decompressed} bytes, but is said to hold {size}"
    );
    Ok(())
}

/// Makes `out` `size` bytes long, whatever they are: what is there already is not cleared.
fn resize(out: &mut Vec<u8>, size: u64) -> Result<()> {
    let size = usize::try_from(size).map_err(|_| too_large(size, usize::MAX as u64))?;
    out.resize(size, 0);
    Ok(())
}

fn too_large(needed: u64, limit: u64) -> Error {
    Error::limit("a compressed unit", needed, limit, "memory_limit")
}

/// Appends `bytes` as one unit. `level` is for Zstandard only; `None` is its default.
pub(crate) fn compress(
    scheme: Scheme,
    level: Option<i32>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    compress_parts(scheme, level, bytes, bytes.len(), 0, out)
}

/// Appends `bytes` as one unit whose first part is `first` bytes and the following ones `next`
/// bytes long (0: there is one more). Zstandard counts the bytes of each part by themselves: parts
/// of a different kind would blur the statistics of one another.
pub(crate) fn compress_parts(
    scheme: Scheme,
    level: Option<i32>,
    bytes: &[u8],
    first: usize,
    next: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    scheme.require()?;
    match scheme {
        Scheme::Lz4 => lz4::compress(bytes, out),
        Scheme::Zstd => zstd::compress_parts(level, bytes, first, next, out),
    }
}

/// Lets `write` write at most `max_len` bytes behind `out`; it returns how many it wrote.
#[cfg(any(feature = "lz4", feature = "zstd"))]
fn append(
    out: &mut Vec<u8>,
    max_len: usize,
    write: impl FnOnce(&mut [u8]) -> Result<usize>,
) -> Result<()> {
    let start = out.len();
    out.resize(start.saturating_add(max_len), 0);
    let written = write(out.get_mut(start..).unwrap_or_default())?;
    out.truncate(start.saturating_add(written));
    Ok(())
}

#[cfg(all(test, feature = "lz4", feature = "zstd"))]
#[path = "general_tests.rs"]
mod tests;
