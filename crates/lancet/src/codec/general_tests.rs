use proptest::prelude::*;

use super::*;

const ALL: u64 = 1 << 30;
const EMPTY_FRAME: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];

fn unit(scheme: Scheme, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x55];
    compress(scheme, None, bytes, &mut out).unwrap();
    out.split_off(1)
}

fn plain(scheme: Scheme, unit: &[u8], max_bytes: u64) -> Result<Vec<u8>> {
    let mut out = vec![0xaa; 77];
    decompress(scheme, unit, max_bytes, &mut out).map(|()| out)
}

fn rule<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::Corrupt(corrupt) => corrupt.rule,
        other => panic!("{other}"),
    }
}

fn assert_limit<T: std::fmt::Debug>(result: Result<T>, expected: u64) {
    match result.unwrap_err() {
        Error::Limit { limit, option: "memory_limit", .. } => assert_eq!(limit, expected),
        other => panic!("{other}"),
    }
}

/// A frame without content size: `blocks` are (block type, size, bytes).
fn frame(blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut bytes = [&super::zstd::MAGIC[..], &[0, 0x58]].concat();
    for (i, &(kind, size, content)) in blocks.iter().enumerate() {
        let header = u32::from(i + 1 == blocks.len()) | kind << 1 | size << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(content);
    }
    bytes
}

#[test]
fn the_units_of_no_bytes() {
    assert_eq!(unit(Scheme::Lz4, &[]), [0; 5]);
    assert_eq!(unit(Scheme::Zstd, &[]), [&[0; 8][..], &EMPTY_FRAME].concat());
    for unit in [&[][..], &EMPTY_FRAME, &[&[0; 8][..], &EMPTY_FRAME].concat()] {
        assert_eq!(plain(Scheme::Zstd, unit, 0).unwrap(), [0_u8; 0]);
        assert_eq!(uncompressed_size(Scheme::Zstd, unit).unwrap(), Some(0));
    }
    assert_eq!(plain(Scheme::Lz4, &[0; 5], 0).unwrap(), [0_u8; 0]);
}

#[test]
fn hand_made_units() {
    // Three literals; then one literal and a match of 4 + 15 + 6 bytes one byte back.
    let lz4 = [3, 0, 0, 0, 0x30, b'a', b'b', b'c'];
    assert_eq!(plain(Scheme::Lz4, &lz4, 3).unwrap(), b"abc");
    let lz4 = [27, 0, 0, 0, 0x1f, b'a', 1, 0, 6, 0x10, b'b'];
    assert_eq!(plain(Scheme::Lz4, &lz4, ALL).unwrap(), [&[b'a'; 26][..], b"b"].concat());

    let frame = frame(&[(0, 3, b"abc"), (1, 5, b"d")]);
    let zstd = [&[8, 0, 0, 0, 0, 0, 0, 0][..], &frame].concat();
    assert_eq!(plain(Scheme::Zstd, &zstd, 8).unwrap(), b"abcddddd");
    assert_eq!(uncompressed_size(Scheme::Zstd, &zstd).unwrap(), Some(8));
}

#[test]
fn bare_frames() {
    let bytes = b"one and one and one and one".repeat(9);
    let prefixed = unit(Scheme::Zstd, &bytes);
    assert_eq!(plain(Scheme::Zstd, &prefixed[8..], ALL).unwrap(), bytes);
    let size = bytes.len() as u64;
    assert_eq!(uncompressed_size(Scheme::Zstd, &prefixed[8..]).unwrap(), Some(size));

    // Without a size, from a few bytes to what needs several attempts.
    let frame = frame(&[(0, 3, b"abc"), (1, 70_000, b"d"), (1, 9, b"e")]);
    assert_eq!(uncompressed_size(Scheme::Zstd, &frame).unwrap(), None);
    let expected = [&b"abc"[..], &[b'd'; 70_000], &[b'e'; 9]].concat();
    assert_eq!(plain(Scheme::Zstd, &frame, ALL).unwrap(), expected);
    assert_eq!(plain(Scheme::Zstd, &frame, 70_012).unwrap(), expected);
    assert_limit(plain(Scheme::Zstd, &frame, 70_011), 70_011);
}

#[test]
fn the_limit_holds() {
    let bytes = vec![7; 100_000];
    for scheme in [Scheme::Lz4, Scheme::Zstd] {
        let unit = unit(scheme, &bytes);
        assert!(unit.len() < 1000);
        assert_eq!(plain(scheme, &unit, 100_000).unwrap(), bytes);
        assert_limit(plain(scheme, &unit, 99_999), 99_999);
    }
}

#[test]
fn broken_lz4() {
    let good = [27, 0, 0, 0, 0x1f, b'a', 1, 0, 6, 0x10, b'b'];
    for len in 0..good.len() {
        rule(plain(Scheme::Lz4, &good[..len], ALL));
    }
    // A size that is too small, too large, and impossible.
    for (size, expected) in [(26_u32, "LZ4"), (28, "27 bytes"), (u32::MAX, "cannot hold")] {
        let forged = [&size.to_le_bytes()[..], &good[4..]].concat();
        let rule = rule(plain(Scheme::Lz4, &forged, ALL));
        assert!(rule.contains(expected), "{rule}");
    }
    assert!(rule(uncompressed_size(Scheme::Lz4, &[255, 255, 255, 255, 0])).contains("cannot hold"));
    // Matches that reach before the start.
    rule(plain(Scheme::Lz4, &[27, 0, 0, 0, 0x1f, b'a', 2, 0, 6, 0x10, b'b'], ALL));
    rule(plain(Scheme::Lz4, &[27, 0, 0, 0, 0x1f, b'a', 0, 0, 6, 0x10, b'b'], ALL));
}

#[test]
fn broken_zstd() {
    let good = unit(Scheme::Zstd, &b"a broken frame".repeat(20));
    for len in 1..good.len() {
        rule(plain(Scheme::Zstd, &good[..len], ALL));
        rule(uncompressed_size(Scheme::Zstd, &good[..len]));
    }
    // A size other than the frame's.
    for size in [279_u64, 281, u64::MAX] {
        let forged = [&size.to_le_bytes()[..], &good[8..]].concat();
        assert!(rule(plain(Scheme::Zstd, &forged, ALL)).contains("its frame 280"));
    }
    // Bytes behind the frame, among them another frame.
    for more in [&[0][..], &EMPTY_FRAME] {
        let forged = [&good, more].concat();
        assert!(rule(plain(Scheme::Zstd, &forged, ALL)).contains("stands in"));
    }
}

#[test]
fn a_frame_without_size_yields_what_the_unit_says() {
    let frame = frame(&[(1, 70_000, b"d")]);
    let sized = |size: u64| [&size.to_le_bytes()[..], &frame].concat();
    assert_eq!(plain(Scheme::Zstd, &sized(70_000), ALL).unwrap(), [b'd'; 70_000]);
    assert!(rule(plain(Scheme::Zstd, &sized(69_999), ALL)).contains("too small"));
    assert!(rule(plain(Scheme::Zstd, &sized(70_001), ALL)).contains("70000 bytes"));
    assert!(rule(plain(Scheme::Zstd, &sized(1 << 40), u64::MAX)).contains("cannot hold"));
}

#[test]
fn a_unit_does_not_depend_on_the_units_before() {
    let long: Vec<u8> = (0..60_000_u32).flat_map(|i| (i * i % 1009).to_le_bytes()).collect();
    for scheme in [Scheme::Lz4, Scheme::Zstd] {
        let first = unit(scheme, &long[..4096]);
        assert_eq!(plain(scheme, &unit(scheme, &long), ALL).unwrap(), long);
        compress(scheme, Some(19), &long, &mut Vec::new()).unwrap();
        plain(scheme, &[9; 20], ALL).unwrap_err();
        assert_eq!(unit(scheme, &long[..4096]), first);
        assert_eq!(plain(scheme, &first, ALL).unwrap(), &long[..4096]);
    }
}

#[test]
fn parts_are_counted_by_themselves() {
    // Noise, then a few letters: together they have more symbols than either alone.
    let noise = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8;
    let bytes: Vec<u8> = (0..4096).map(noise).chain((0..4096).map(|i| noise(i * i) % 20)).collect();
    let parts = |first, next| {
        let mut out = Vec::new();
        compress_parts(Scheme::Zstd, Some(1), &bytes, first, next, &mut out).unwrap();
        assert_eq!(plain(Scheme::Zstd, &out, ALL).unwrap(), bytes);
        assert_eq!(uncompressed_size(Scheme::Zstd, &out).unwrap(), Some(8192));
        out.len()
    };
    let cut = parts(4096, 0);
    assert!(cut < parts(8192, 0), "{cut}");
    assert!(cut < 4096 + 4096 * 5 / 8);
    for (first, next) in [(4096, 4096), (1, 1), (100, 1000), (8192, 1), (9000, 7), (1, 0)] {
        parts(first, next);
    }
    let mut lz4 = Vec::new();
    compress_parts(Scheme::Lz4, None, &bytes, 4096, 0, &mut lz4).unwrap();
    assert_eq!(lz4, unit(Scheme::Lz4, &bytes));
}

#[test]
fn levels_beyond_the_bounds_are_clamped() {
    let bytes = b"level after level ".repeat(50);
    for level in [i32::MIN, -1, 1, 22, i32::MAX] {
        let mut unit = Vec::new();
        compress(Scheme::Zstd, Some(level), &bytes, &mut unit).unwrap();
        assert_eq!(plain(Scheme::Zstd, &unit, ALL).unwrap(), bytes);
    }
}

proptest! {
    #[test]
    fn flipped_bits_fail_or_decode_within_the_limit(
        seed in prop::collection::vec(0..6_u8, 1..300),
        flip in any::<prop::sample::Index>(),
        bit in 0..8,
    ) {
        for scheme in [Scheme::Lz4, Scheme::Zstd] {
            let mut unit = unit(scheme, &seed);
            prop_assert_eq!(&plain(scheme, &unit, ALL).unwrap(), &seed);
            let at = flip.index(unit.len());
            unit[at] ^= 1_u8 << bit;
            if let Ok(out) = plain(scheme, &unit, 1 << 16) {
                prop_assert!(out.len() <= 1 << 16);
            }
        }
    }
}
