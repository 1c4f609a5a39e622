//! What a form costs: the bytes it stores, the time a scan takes to decode them, and the time one
//! row takes, in one number.
//!
//! The number is `(bytes + scan × worth) × (1 + take × patience)`. The profile says how many bytes a
//! nanosecond of scanning is worth: `fast` reads from memory, `balanced` from a disk or a network of
//! some 300 MB/s, `small` from an archive. It also says how much larger a page may be to spare a
//! row some time. A row costs the whole chunk that a compressor made of its neighbours, so this is
//! what keeps chunks small and leaves values alone that compress but a little.

use crate::codec::{Encoding, Scheme};
use crate::options::{Compression, Profile, Settings};

/// Stored bytes and time to decode.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) bytes: f64,
    /// All values.
    pub(super) scan_ns: f64,
    /// One value.
    pub(super) take_ns: f64,
    /// Whether the form may not be taken, because a compressor saves too little by it.
    pub(super) is_refused: bool,
}

/// What is decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Bytes of all values.
    pub(super) raw: f64,
    /// Bytes that a general compressor yields on the way.
    pub(super) unpacked: f64,
    /// Chunks, or rows that stand alone.
    pub(super) num_units: f64,
}

impl Cost {
    /// The cost of `bytes` bytes in an encoding.
    pub(super) fn of(encoding: &Encoding, bytes: f64, work: Work) -> Self {
        let (scan_ns, take_ns) = decode_ns(encoding, bytes, work);
        Self { bytes, scan_ns, take_ns, is_refused: false }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            scan_ns: self.scan_ns + other.scan_ns,
            take_ns: self.take_ns + other.take_ns,
            is_refused: self.is_refused || other.is_refused,
        }
    }
}

/// Nanoseconds to decode all values, and one of them. The constants are those of the example
/// `costs` (`cargo run --release --example costs`) on one core of some 3 GHz.
fn decode_ns(encoding: &Encoding, bytes: f64, work: Work) -> (f64, f64) {
    let Work { raw, unpacked, num_units } = work;
    let num_units = num_units.max(1.0);
    match encoding {
        Encoding::General { scheme, values, .. } => {
            // Of split bytes many parts are constant, which costs next to nothing.
            let is_split = matches!(**values, Encoding::ByteStreamSplit { .. });
            let ratio = bytes / unpacked.max(1.0);
            let (per_unit, per_byte) = match scheme {
                Scheme::Lz4 if is_split => (200.0, 0.03 + 0.2 * ratio),
                Scheme::Lz4 => (200.0, 0.24),
                Scheme::Zstd if is_split => (500.0, 0.03 + 0.38 * ratio),
                Scheme::Zstd => (3000.0, 0.55),
            };
            let unit = per_unit + unpacked / num_units * per_byte;
            let (scan, take) = decode_ns(values, unpacked, work);
            (scan + num_units * unit, take + unit)
        }
        // A value is decoded without those before it.
        Encoding::Fsst { .. } => (raw * 0.3, 0.0),
        Encoding::ByteStreamSplit { .. } => (raw * 0.09, 0.0),
        Encoding::InlineBitpacking { .. } => (raw * 0.1, 50.0),
        // All runs of the chunk are added up.
        Encoding::Rle { .. } => (raw * 0.1, bytes / num_units * 0.04),
        _ => (raw * COPY_NS, 0.0),
    }
}

/// Time to look an entry of a dictionary up.
pub(super) const GATHER_NS: f64 = 0.5;

/// Time to put a byte of decoded values in its place.
pub(super) const COPY_NS: f64 = 0.07;

impl Settings {
    /// What a form costs under these settings; the cheapest is taken.
    pub(super) fn score(&self, cost: Cost) -> f64 {
        let (worth, patience) = match self.profile {
            // Who asks for a compressor wants it to decide by size.
            _ if self.is_compressor_asked() => (0.0, 0.0),
            Profile::Fast => (0.5, 8e-5),
            Profile::Balanced => (0.3, 8e-5),
            Profile::Small => (0.004, 0.0),
        };
        if cost.is_refused {
            return f64::MAX;
        }
        (cost.bytes + cost.scan_ns * worth) * (1.0 + cost.take_ns * patience)
    }

    /// The most bytes that a general compressor may leave of values that take `plain` bytes without
    /// one.
    pub(super) fn compressed_at_most(&self, plain: f64) -> f64 {
        if self.is_by_size() { f64::MAX } else { PAYS_WELL * plain }
    }

    /// What the entries of a dictionary cost: `raw` bytes of them in `bytes` bytes.
    pub(super) fn score_entries(&self, encoding: &Encoding, bytes: usize, raw: usize) -> f64 {
        let (bytes, raw) = (bytes as f64, raw as f64);
        let work = Work { raw, unpacked: raw, num_units: 1.0 };
        let (scan_ns, _) = decode_ns(encoding, bytes, work);
        let asked = self.is_compressor_asked() || self.options.dict_values_compression.is_some();
        let worth = match self.profile {
            _ if asked => 0.0,
            // The first row waits for all of them.
            Profile::Fast | Profile::Balanced => 2.0,
            Profile::Small => 0.0,
        };
        bytes + scan_ns * worth
    }

    /// Whether a general compressor was asked for.
    pub(super) fn is_compressor_asked(&self) -> bool {
        matches!(self.options.compression, Some(Compression::Lz4 | Compression::Zstd))
            || self.options.general == Some(true)
    }

    /// Whether time counts for next to nothing beside size.
    pub(super) fn is_by_size(&self) -> bool {
        self.profile == Profile::Small || self.is_compressor_asked()
    }

    /// The general compressors to consider.
    pub(super) fn schemes(&self) -> Vec<(Scheme, Option<i32>)> {
        match (self.options.compression, self.options.general) {
            (Some(Compression::None | Compression::Fsst), _) | (_, Some(false)) => Vec::new(),
            (Some(Compression::Lz4), _) => vec![(Scheme::Lz4, None)],
            (Some(Compression::Zstd), _) => vec![(Scheme::Zstd, self.options.level)],
            (None, None) if self.profile == Profile::Fast => Vec::new(),
            (None, _) => self.profile_schemes(),
        }
    }

    /// The same for the entries of a dictionary, which `none` is not about.
    pub(super) fn entry_schemes(&self) -> Vec<(Scheme, Option<i32>)> {
        match (self.options.compression, self.options.general, self.profile) {
            (Some(Compression::None), None, Profile::Balanced | Profile::Small) => {
                self.profile_schemes()
            }
            _ => self.schemes(),
        }
    }

    fn profile_schemes(&self) -> Vec<(Scheme, Option<i32>)> {
        let zstd = |level| (Scheme::Zstd, Some(level));
        let mut schemes = match (self.profile, self.options.level) {
            (Profile::Small, _) if !Scheme::Zstd.is_built() => vec![(Scheme::Lz4, None)],
            // A high level finds short matches even in noise, where a low one does better.
            (Profile::Small, None) => vec![zstd(BALANCED_LEVEL), zstd(SMALL_LEVEL)],
            (Profile::Small, Some(level)) => vec![zstd(level)],
            (_, level) => vec![(Scheme::Lz4, None), zstd(level.unwrap_or(BALANCED_LEVEL))],
        };
        schemes.retain(|(scheme, _)| scheme.is_built());
        schemes
    }

    /// Bytes of values in a chunk that a general compressor sees at once: sizes to try. A row costs
    /// a whole chunk to decode.
    pub(super) fn general_chunk_bytes(&self) -> Vec<usize> {
        match self.options.minichunk_size {
            Some(bytes) => vec![usize::try_from(bytes).unwrap_or(usize::MAX)],
            None if self.profile == Profile::Small => vec![32 << 10, 128 << 10],
            None => vec![4 << 10, 8 << 10, 16 << 10, 32 << 10],
        }
    }

    /// Bytes of values in a chunk that is not compressed further.
    pub(super) fn plain_chunk_bytes(&self) -> usize {
        let bytes = self.options.minichunk_size.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.unwrap_or(4096)
    }
}

/// What a general compressor leaves of the bytes at most, where time counts: a scan takes some three
/// times as long through one, and disks of our days do not make up for that by less.
const PAYS_WELL: f64 = 0.45;

/// Levels of Zstandard: one that keeps up with the disk, and one for archives.
const BALANCED_LEVEL: i32 = 1;
const SMALL_LEVEL: i32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(profile: Profile) -> Settings {
        Settings { profile, ..Settings::default() }
    }

    fn cost(bytes: f64, scan_ns: f64, take_ns: f64) -> Cost {
        Cost { bytes, scan_ns, take_ns, is_refused: false }
    }

    #[test]
    fn a_row_should_not_wait_for_a_few_bytes() {
        let plain = cost(100.0, 0.0, 0.0);
        let prefers = |profile, form| {
            let settings = settings(profile);
            settings.score(form) < settings.score(plain)
        };
        // A microsecond for a tenth of the bytes, ten for a tenth, ten for half of them.
        for (form, expected) in [
            (cost(90.0, 0.0, 1000.0), true),
            (cost(90.0, 0.0, 10_000.0), false),
            (cost(50.0, 0.0, 10_000.0), true),
        ] {
            assert_eq!(prefers(Profile::Balanced, form), expected, "{form:?}");
            assert!(prefers(Profile::Small, form));
        }
    }

    #[test]
    fn a_take_unpacks_one_chunk() {
        let lz4 = Encoding::General {
            scheme: Scheme::Lz4,
            level: None,
            values: Box::new(Encoding::Flat { bits: 64 }),
        };
        let work = |num_units| Work { raw: 1e6, unpacked: 1e6, num_units };
        let (few, many) = (Cost::of(&lz4, 5e5, work(10.0)), Cost::of(&lz4, 5e5, work(100.0)));
        assert!(few.scan_ns < many.scan_ns && few.take_ns > 5.0 * many.take_ns);
        let flat = Cost::of(&Encoding::Flat { bits: 64 }, 1e6, work(10.0));
        assert_eq!(flat.take_ns, 0.0);
    }

    #[test]
    fn profiles_weigh_time_differently() {
        let (small, quick) = (cost(50.0, 100.0, 0.0), cost(58.0, 10.0, 0.0));
        let prefers_small = |s: &Settings| s.score(small) < s.score(quick);
        assert!(!prefers_small(&settings(Profile::Balanced)));
        assert!(prefers_small(&settings(Profile::Small)));
        let mut asked = settings(Profile::Fast);
        asked.options.compression = Some(Compression::Zstd);
        assert!(prefers_small(&asked));
    }

    #[test]
    fn which_compressors_are_considered() {
        let mut options = settings(Profile::Fast);
        assert_eq!(options.schemes(), []);
        options.options.general = Some(true);
        let built = [Scheme::Lz4, Scheme::Zstd].into_iter().filter(|scheme| scheme.is_built());
        assert_eq!(options.schemes().len(), built.count());
        options.options.compression = Some(Compression::Lz4);
        assert_eq!(options.schemes(), [(Scheme::Lz4, None)]);
        options.options = options.options.with_compression(Compression::Zstd).with_level(5);
        assert_eq!(options.schemes(), [(Scheme::Zstd, Some(5))]);
        options.options.compression = Some(Compression::None);
        assert_eq!(options.schemes(), []);
    }
}
