//! Random numbers for names, of which no two may be the same.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A number that nobody can foresee. The keys come from the system; a child process has those of its parent, and tells
/// itself apart by its number and the time.
pub(crate) fn number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hasher.write_u128(now.as_nanos());
    hasher.finish()
}

/// 128 random bits.
pub(crate) fn bits() -> u128 {
    (u128::from(number()) << 64) | u128::from(number())
}

/// 128 random bits as digits.
pub(crate) fn hex() -> String {
    format!("{:032x}", bits())
}

/// A random uuid (version 4), as text.
pub(crate) fn uuid() -> String {
    // The bits that tell the version and the variant.
    let bits = bits() & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts = parts.into_iter().filter_map(|part| hex.get(part));
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuids_look_like_uuids() {
        let uuid = super::uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "4", "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        assert_ne!(uuid, super::uuid());
    }
}
