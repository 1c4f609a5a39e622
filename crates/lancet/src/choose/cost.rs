//! What a form costs: the bytes it stores and the time it takes to decode, in one number.
//!
//! The number is `bytes + nanoseconds × worth`, where the profile says how many bytes a nanosecond
//! of decoding is worth. `fast` reads from memory, `balanced` from a disk or a network of some 100
//! MB/s, `small` from an archive.

use crate::codec::{Encoding, Scheme};
use crate::options::{Compression, Profile, Settings};

/// Stored bytes and time to decode.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) bytes: f64,
    pub(super) decode_ns: f64,
}

impl Cost {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, decode_ns: self.decode_ns + other.decode_ns }
    }
}

/// Nanoseconds for a byte of decoded values, measured on one core; `unpacked` are the bytes that a
/// general compressor yields on the way.
pub(super) fn decode_ns(encoding: &Encoding, raw_bytes: f64, unpacked: f64) -> f64 {
    match encoding {
        Encoding::General { scheme, values, .. } => {
            let speed = match (scheme, values.as_ref()) {
                (Scheme::Lz4, _) => 0.35,
                // Many of the parts are constant or noise, which are just copied.
                (Scheme::Zstd, Encoding::ByteStreamSplit { .. }) => 0.4,
                (Scheme::Zstd, _) => 0.9,
            };
            unpacked * speed + decode_ns(values, raw_bytes, unpacked)
        }
        Encoding::Fsst { .. } => raw_bytes * 0.45,
        Encoding::ByteStreamSplit { .. } => raw_bytes * 0.15,
        Encoding::InlineBitpacking { .. } | Encoding::Rle { .. } => raw_bytes * 0.1,
        _ => raw_bytes * 0.07,
    }
}

/// Time to look entries of a dictionary up, for a byte of decoded values.
pub(super) const GATHER_NS: f64 = 0.15;

impl Settings {
    /// What a form costs under these settings; the cheapest is taken.
    pub(super) fn score(&self, cost: Cost) -> f64 {
        let asked = matches!(self.options.compression, Some(Compression::Lz4 | Compression::Zstd));
        let worth = match self.profile {
            // Who asks for a compressor wants it to decide by size.
            _ if asked || self.options.general == Some(true) => 0.0,
            Profile::Fast => 0.5,
            Profile::Balanced => 0.1,
            Profile::Small => 0.004,
        };
        cost.bytes + cost.decode_ns * worth
    }

    /// The general compressors to consider.
    pub(super) fn schemes(&self) -> Vec<(Scheme, Option<i32>)> {
        let level = self.options.level;
        let balanced = [(Scheme::Lz4, None), (Scheme::Zstd, level.or(Some(BALANCED_LEVEL)))];
        match (self.options.compression, self.options.general, self.profile) {
            (Some(Compression::None | Compression::Fsst), ..) | (_, Some(false), _) => Vec::new(),
            (Some(Compression::Lz4), ..) => vec![(Scheme::Lz4, None)],
            (Some(Compression::Zstd), ..) => vec![(Scheme::Zstd, level)],
            (None, None, Profile::Fast) => Vec::new(),
            // A high level finds short matches even in noise, where a low one does better.
            (None, _, Profile::Small) => match level {
                Some(_) => vec![(Scheme::Zstd, level)],
                None => [BALANCED_LEVEL, SMALL_LEVEL].map(|l| (Scheme::Zstd, Some(l))).to_vec(),
            },
            (None, ..) => balanced.to_vec(),
        }
    }

    /// Bytes of values in a chunk that a general compressor sees at once: sizes to try. A row costs
    /// a whole chunk to decode.
    pub(super) fn general_chunk_bytes(&self) -> Vec<usize> {
        match self.options.minichunk_size {
            Some(bytes) => vec![usize::try_from(bytes).unwrap_or(usize::MAX)],
            None if self.profile == Profile::Small => vec![32 << 10, 128 << 10],
            None => vec![32 << 10],
        }
    }

    /// Bytes of values in a chunk that is not compressed further.
    pub(super) fn plain_chunk_bytes(&self) -> usize {
        let bytes = self.options.minichunk_size.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.unwrap_or(4096)
    }
}

/// Levels of Zstandard: one that keeps up with the disk, and one for archives.
const BALANCED_LEVEL: i32 = 1;
const SMALL_LEVEL: i32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(profile: Profile) -> Settings {
        Settings { profile, ..Settings::default() }
    }

    #[test]
    fn profiles_weigh_time_differently() {
        let (small, quick) =
            (Cost { bytes: 50.0, decode_ns: 100.0 }, Cost { bytes: 58.0, decode_ns: 10.0 });
        let prefers_small = |s: &Settings| s.score(small) < s.score(quick);
        assert!(!prefers_small(&settings(Profile::Balanced)));
        assert!(prefers_small(&settings(Profile::Small)));
        let mut asked = settings(Profile::Fast);
        asked.options.compression(Compression::Zstd);
        assert!(prefers_small(&asked));
    }

    #[test]
    fn which_compressors_are_considered() {
        let mut options = settings(Profile::Fast);
        assert_eq!(options.schemes(), []);
        options.options.general(true);
        assert_eq!(options.schemes().len(), 2);
        options.options.compression(Compression::Lz4);
        assert_eq!(options.schemes(), [(Scheme::Lz4, None)]);
        options.options.compression(Compression::Zstd).level(5);
        assert_eq!(options.schemes(), [(Scheme::Zstd, Some(5))]);
        options.options.compression(Compression::None);
        assert_eq!(options.schemes(), []);
    }
}
