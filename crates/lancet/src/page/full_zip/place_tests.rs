use super::*;
use crate::codec::{Scratch, Values};
use crate::error::Result;
use crate::page::sample_pages::{nullable_ints, zipped_ints, zipped_string_lists, zipped_strings};
use crate::page::test_pages::{FIRST_BUFFER, TestPage, hex, int32, rule_of, shown};
use crate::page::{LeafSink, SinkValues};

fn placed(page: &TestPage, rows: &[Range<u64>]) -> Option<PlacedRows> {
    let parsed = page.page().unwrap();
    let index = page.index(&parsed).unwrap();
    let task = parsed.plan(&index, rows.to_vec()).unwrap();
    parsed.place(&index, &task)
}

/// Reads rows the way that puts their values in place first.
fn read_placed(page: &TestPage, rows: &[Range<u64>], sink: &mut LeafSink) -> Result<()> {
    let placed = placed(page, rows).unwrap();
    let parsed = page.page().unwrap();
    let index = page.index(&parsed).unwrap();
    let (mut heads, mut bytes) = (Vec::new(), Vec::new());
    for (span, head, value) in placed.rows() {
        let row = page.fetch(&[span]).remove(0);
        assert_eq!(row.len(), head + value);
        bytes.extend_from_slice(&row[head..]);
        heads.push(row.slice(..head));
    }
    if let SinkValues::Plain(Values::Variable(values)) = &mut sink.values {
        values.bytes = bytes;
    }
    parsed.decode(&index, &placed.task, &heads, sink, &mut Scratch::new(1 << 20))
}

#[test]
fn rows_are_cut_into_heads_and_values() {
    let placed = placed(&zipped_strings(), &[0..2, 3..4]).unwrap();
    let rows: Vec<_> = placed.rows().collect();
    let row = |start: u64, len| Span::at(FIRST_BUFFER + start, len).unwrap();
    assert_eq!(rows, [(row(0, 8), 5, 3), (row(8, 1), 1, 0), (row(14, 10), 5, 5)]);
    assert_eq!(placed.task.rows, [0..1, 1..2, 3..4]);
}

#[test]
fn placed_values_are_the_same_values() {
    let page = zipped_strings();
    for rows in [vec![0..4], vec![0..1, 2..4], vec![1..2]] {
        let mut sink = LeafSink::new(&page.leaf).unwrap();
        read_placed(&page, &rows, &mut sink).unwrap();
        assert_eq!(shown(sink), page.read(&rows).unwrap());
    }
}

#[test]
fn only_strings_outside_of_lists_are_placed() {
    for page in [zipped_ints(), zipped_string_lists(), nullable_ints()] {
        assert!(placed(&page, &[0..1]).is_none());
    }
    // A row that is shorter than its head is left to the usual way.
    let mut page = zipped_strings();
    page.buffers[1] = hex("00 08 0b 0e 18");
    assert!(placed(&page, &[1..2]).is_none());
    assert!(placed(&page, &[0..1]).is_some());
}

#[test]
fn heads_are_checked() {
    let rule = |damage: fn(&mut TestPage)| {
        let mut page = zipped_strings();
        damage(&mut page);
        rule_of(read_placed(&page, &[0..4], &mut LeafSink::new(&page.leaf).unwrap()))
    };
    let longer = rule(|page| page.buffers[0][1] = 4);
    assert_eq!(longer, "buffer 0: a zipped value of 4 bytes in a row of 8");
    let null = rule(|page| page.buffers[0][0] = 1);
    assert_eq!(null, "buffer 0: more than one entry in the bytes of a row");
    let valid = rule(|page| page.buffers[0][8] = 0);
    let length = "buffer 0: length of a zipped value needs 4 bytes at byte 1, but only 0 are left";
    assert_eq!(valid, length);
}

#[test]
fn placed_strings_go_where_strings_go() {
    let mut sink = LeafSink::new(&int32()).unwrap();
    let rule = "buffer 0: zipped strings in a column of others";
    assert_eq!(rule_of(read_placed(&zipped_strings(), &[0..1], &mut sink)), rule);
}
