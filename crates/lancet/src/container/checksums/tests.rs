use super::*;
use crate::span::span;

/// Two buffers, and what follows them.
const DATA: &[u8; 64] = b"abc.............................................................";
const START: u64 = 64;
const TAIL: &[u8] = b"tail";

fn example() -> Vec<u8> {
    let mut checksums = NewChecksums::default();
    checksums.add_buffer(0, &DATA[..3]);
    checksums.add_buffer(32, &DATA[32..36]);
    checksums.push(DATA);
    let size = checksums.encoded_bytes(START, TAIL.len() as u64);
    let bytes = checksums.encode(START, TAIL);
    assert_eq!(bytes.len() as u64, size);
    assert!(size.is_multiple_of(64));
    bytes
}

fn read(table: &[u8]) -> Result<Option<Checksums>> {
    let data_end = START + table.len() as u64;
    let file_bytes = data_end + TAIL.len() as u64;
    let file = [&DATA[..], table, TAIL].concat();
    let last = Some(span(START..data_end));
    let signs = signs(last, data_end).map(|sign| {
        let (start, end) = (sign.start() as usize, sign.end() as usize);
        &file[start..end]
    });
    let found = ChecksumPlace::find(last, data_end, file_bytes, signs)?;
    found.map(|place| Checksums::parse(place, table)).transpose()
}

#[test]
fn checksums_come_back() {
    let bytes = example();
    let read = read(&bytes).unwrap().unwrap();
    read.check(span(32..36), b"....").unwrap();
    let error = read.check(span(32..36), b"...!").unwrap_err().to_string();
    assert!(error.contains("byte 32: the bytes 32..36 of the file have the checksum"), "{error}");
    let (blocks, sums) = read.blocks.unwrap();
    assert_eq!(sums, [BlockSums::of(DATA), BlockSums::of(TAIL)].concat());
    assert_eq!(blocks.covered()[0], span(0..START));
    // The published value of the empty input: the hash is the one the head names.
    assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
}

#[test]
fn every_flip_is_noticed() {
    let bytes = example();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&flipped).is_err(), "bit {bit}");
    }
    for len in (8..bytes.len()).step_by(8) {
        assert!(read(&bytes[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn other_buffers_are_no_checksums() {
    assert_eq!(read(&[7; 128]).unwrap(), None);
    assert_eq!(read(b"short").unwrap(), None);
    // A file whose table of buffers does not lead to its checksums.
    let bytes = example();
    let data_end = START + bytes.len() as u64;
    let end = &bytes[bytes.len() - 32..];
    assert!(ChecksumPlace::find(None, data_end, data_end + 4, [&[], end]).is_err());
    let none = ChecksumPlace::find(None, data_end, data_end + 4, [&[], &[0; 32]]);
    assert_eq!(none.unwrap(), None);
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let bytes = example();
    let end = bytes.len() - 16;
    // With a checksum that fits.
    let forged = |at: usize, number: u64| {
        let mut forged = bytes.clone();
        forged[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let own = xxh3_64(&forged[..end]);
        forged[end..end + 8].copy_from_slice(&own.to_le_bytes());
        read(&forged)
    };
    assert!(forged(end - 8, 2).is_ok());
    // How many buffers there are.
    for count in [0, 100, 1 << 32, u64::MAX / 24, u64::MAX] {
        let error = forged(end - 8, count).unwrap_err().to_string();
        assert!(error.contains(&format!("{count} checksums of buffers")), "{error}");
    }
    // Where the checksums are.
    for start in [0, START - 1, START + 64, u64::MAX] {
        let error = forged(end - 16, start).unwrap_err().to_string();
        assert!(error.contains(&format!("the checksums are at {start} ")), "{error}");
    }
    // Buffers that overlap, or lie behind each other in the wrong order.
    for (at, number) in [(8, 33), (16, 33), (16, u64::MAX), (32, 0), (32, 2)] {
        let error = forged(at, number).unwrap_err().to_string();
        assert!(
            error.contains("checksum 1 is for") || at == 16 && error.contains("checksum 0"),
            "{error}"
        );
    }
}
