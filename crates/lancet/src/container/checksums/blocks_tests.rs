use super::*;
use crate::span::span;

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn blocks_are_the_same_however_bytes_arrive() {
    for len in [0, 1, 4095, 4096, 4097, 8192, 20_000] {
        let all = bytes(len);
        let expected: Vec<u8> = all.chunks(4096).flat_map(sum).collect();
        assert_eq!(BlockSums::of(&all), expected, "{len}");
        for step in [1, 63, 4000, 4096, 5000, 9000] {
            let mut sums = BlockSums::default();
            all.chunks(step).for_each(|part| sums.push(part));
            assert_eq!(sums.finish(), expected, "{len} by {step}");
        }
    }
}

/// 10,000 bytes of data, a table, and 5,000 bytes after it.
fn table() -> BlockTable {
    let table = BlockTable::new(span(0..10_000), span(10_112..15_112), 10_008).unwrap();
    assert_eq!(table.sums(), span(10_008..10_028));
    table
}

#[test]
fn spans_grow_to_whole_blocks() {
    let table = table();
    let grown = |range: Range<u64>| table.whole_blocks(span(range)).range();
    assert_eq!(grown(5000..5001), 4096..8192);
    assert_eq!(grown(0..4096), 0..4096);
    assert_eq!(grown(4095..4097), 0..8192);
    assert_eq!(grown(9000..9001), 8192..10_000);
    assert_eq!(grown(10_112..10_113), 10_112..14_208);
    assert_eq!(grown(14_208..15_112), 14_208..15_112);
    // What has no checksums stays as it is.
    assert_eq!(grown(10_000..10_112), 10_000..10_112);
    assert_eq!(grown(9_000..10_050), 8192..10_050);
    assert_eq!(grown(10_050..10_113), 10_050..14_208);
    assert_eq!(grown(15_000..16_000), 14_208..16_000);
    assert_eq!(grown(5000..5000), 5000..5000);
}

#[test]
fn blocks_have_the_numbers_of_their_checksums() {
    let table = table();
    let numbers = |range: Range<u64>| table.numbers(span(range)).collect::<Vec<_>>();
    assert_eq!(numbers(0..10_000), [0..3]);
    assert_eq!(numbers(4096..8192), [1..2]);
    assert_eq!(numbers(4096..8191), []);
    assert_eq!(numbers(1..8192), [1..2]);
    assert_eq!(numbers(8192..10_000), [2..3]);
    assert_eq!(numbers(8192..9_999), []);
    assert_eq!(numbers(10_112..15_112), [3..5]);
    assert_eq!(numbers(0..20_000), [0..3, 3..5]);
    assert_eq!(numbers(10_000..10_112), []);
}

#[test]
fn every_changed_byte_is_noticed_in_its_block() {
    let table = table();
    let file = bytes(15_112);
    let sums = [BlockSums::of(&file[..10_000]), BlockSums::of(&file[10_112..])].concat();
    let sum_of = |number: u64| sums[4 * number as usize..].first_chunk().copied();
    let changed = |file: &[u8]| table.changed(span(0..15_112), file, sum_of);
    assert_eq!(changed(&file), []);
    for at in (0..15_112).step_by(97) {
        let mut broken = file.clone();
        broken[at] ^= 4;
        let expected = match at as u64 {
            10_000..10_112 => vec![],
            at => vec![table.whole_blocks(span(at..at + 1))],
        };
        assert_eq!(changed(&broken), expected, "{at}");
    }
    // Parts of blocks are not compared, and a checksum that is missing fits nothing.
    let part = span(100..8192);
    assert_eq!(table.changed(part, &file[100..8192], sum_of), []);
    assert_eq!(table.changed(part, &file[100..8192], |_| None), [span(4096..8192)]);
}

#[test]
fn tables_beyond_all_numbers_are_none() {
    assert!(BlockTable::new(span(0..u64::MAX), span(0..u64::MAX), 0).is_some());
    assert!(BlockTable::new(span(0..u64::MAX), span(0..u64::MAX), u64::MAX - 5).is_none());
}
