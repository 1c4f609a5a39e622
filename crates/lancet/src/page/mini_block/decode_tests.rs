use super::*;
use crate::page::sample_pages::{
    chunked_ints, chunked_lists, colours, int_lists, keyed_colours, nullable_ints,
};
use crate::page::test_pages::{TestPage, assert_broken, hex, rule_of, shown};

#[test]
fn hand_made_pages() {
    let cases = [
        (nullable_ints(), "1 null 3 null 5"),
        (chunked_ints(), "1 2 3 4 5 6 7"),
        (int_lists(), "[1 2] null [] [3 null 4] [5]"),
        (chunked_lists(), "[1 2] [3] [4 5 6 7 8 9 10 11 12] [] null [13] [14 15]"),
        (colours(), "'red' 'green' null 'blue'"),
        (keyed_colours(), "'red' 'green' null 'blue'"),
    ];
    for (page, rows) in cases {
        assert_eq!(page.read_all().unwrap(), rows);
    }
}

#[test]
fn the_same_lists_in_2_2() {
    let layout = "0a1e 0a040a020810 12040a020810 1a040a020820 32020306 3801 4001 4806 5001";
    let chunk = "0800 1000 1000 | 18000000 | fefefefefefe
                 0100 0000 0100 0100 0100 0000 0000 0100
                 0000 0000 0200 0300 0000 0100 0000 0000
                 01000000 02000000 03000000 00000000 04000000 05000000";
    let index = "0500000000000000 0000000000000000";
    let page = TestPage::new(layout, int_lists().leaf, 5, &["80000000", chunk, index]).of_2_2();
    assert_eq!(page.read_all().unwrap(), "[1 2] null [] [3 null 4] [5]");
}

#[test]
fn every_row_can_be_read_by_itself_and_with_any_other() {
    for page in [nullable_ints(), chunked_ints(), int_lists(), chunked_lists(), keyed_colours()] {
        let rows: Vec<String> =
            (0..page.num_rows).map(|row| page.read(&[row..row + 1]).unwrap()).collect();
        assert_eq!(page.read_all().unwrap(), rows.join(" "));
        for first in 0..page.num_rows {
            for second in first + 1..page.num_rows {
                let pair = page.read(&[first..first + 1, second..second + 1]).unwrap();
                let expected = [&rows[first as usize], &rows[second as usize]];
                assert_eq!(pair, expected.map(String::as_str).join(" "));
            }
        }
    }
}

#[test]
fn levels_of_a_chunk_are_as_many_as_it_says() {
    assert_broken(
        &nullable_ints(),
        &[
            // Four levels, for five values.
            (
                |page| {
                    page.buffers[0] = hex("4000");
                    page.buffers[1].splice(..24, hex("0400 0800 1400 fefe 0000 0100 0000 0100"));
                },
                "buffer 1, byte 0: 4 levels for 5 values",
            ),
            (
                |page| page.buffers[1][8] = 2,
                "buffer 1, byte 0: definition level 2 in a page with 1 definition levels",
            ),
            (
                |page| page.buffers[1][4] = 0x24,
                "buffer 1, byte 0: values of a chunk needs 36 bytes at byte 24, but only 24 are left",
            ),
        ],
    );
    assert!(nullable_ints().read_all().is_ok());
}

#[test]
fn levels_of_lists_are_checked() {
    assert_broken(
        &int_lists(),
        &[
            (
                |page| page.buffers[1][8] = 2,
                "buffer 1, byte 0: repetition level 2 in a page with 1 list layers",
            ),
            (
                |page| page.buffers[1][12] = 0,
                "buffer 1, byte 0: a definition level above 1 needs a repetition level of at least 1",
            ),
            // The last list starts as a part of the one before.
            (
                |page| page.buffers[1][22] = 0,
                "buffer 1, byte 0: the repetition index counts 5 row starts in a chunk that has 4",
            ),
            // A null list becomes an item.
            (|page| page.buffers[1][28] = 1, "buffer 1, byte 0: 7 visible levels for 6 values"),
        ],
    );
}

#[test]
fn a_chunk_continues_a_row_exactly_where_the_index_says() {
    assert_broken(
        &chunked_lists(),
        &[
            // As many rows start as before, but the first chunk begins with the end of one.
            (
                |page| {
                    page.buffers[1][8] = 0;
                    page.buffers[1][10] = 1;
                },
                "buffer 1, byte 0: the repetition index counts 3 row starts in a chunk that has 3",
            ),
            (
                |page| page.buffers[1][40] = 1,
                "buffer 1, byte 32: the repetition index counts 0 row starts in a chunk that has 1",
            ),
        ],
    );
}

#[test]
fn wrapped_level_counts_of_old_runs_are_read() {
    // 65,537 null lists around one value: the header says 2 levels, the runs 65,538.
    let mut page = int_lists();
    let runs = Encoding::Rle { bits: 16 };
    let message = Some(crate::page::encodings::to_message(&runs));
    let layout = page.mini_block();
    layout.rep_compression = message.clone();
    layout.def_compression = message;
    layout.num_items = 1;
    page.num_rows = 65_538;
    let stream = |first: u16, rest: u16| {
        let mut values = first.to_le_bytes().to_vec();
        let mut lengths = vec![1];
        for run in [255; 257].into_iter().chain([2]) {
            values.extend(rest.to_le_bytes());
            lengths.push(run);
        }
        [(values.len() as u64).to_le_bytes().to_vec(), values, lengths].concat()
    };
    let (rep, def) = (stream(1, 1), stream(0, 2));
    let size = (rep.len() as u16).to_le_bytes();
    let mut chunk = [hex("0200"), size.to_vec(), size.to_vec(), hex("0400")].concat();
    for part in [rep, def, hex("07000000")] {
        chunk.extend(part);
        chunk.resize(chunk.len().next_multiple_of(8), 0xfe);
    }
    page.buffers[0] = (((chunk.len() / 8 - 1) << 4) as u16).to_le_bytes().to_vec();
    page.buffers[1] = chunk;
    page.buffers[2] = [65_538_u64.to_le_bytes(), [0; 8]].concat();
    assert_eq!(page.read(&[0..1, 65_537..65_538]).unwrap(), "[7] null");
}

#[test]
fn levels_are_claimed_before_they_are_made() {
    let page = nullable_ints();
    let parsed = page.page().unwrap();
    let index = page.index(&parsed).unwrap();
    let task = parsed.plan(&index, vec![0..5]).unwrap();
    let fetched = page.fetch(&task.spans);
    let mut sink = LeafSink::new(&page.leaf).unwrap();
    let decoded = parsed.decode(&index, &task, &fetched, &mut sink, &mut Scratch::new(44));
    let Error::Limit { what, needed: 45, .. } = decoded.unwrap_err() else { panic!() };
    assert_eq!(what, "the levels of a chunk");
}

/// Decodes with another answer to the reads than the right one, or into another sink.
fn decode(
    page: &TestPage,
    damage: impl Fn(&mut PageTask, &mut Vec<Bytes>),
    sink: &mut LeafSink,
) -> Result<()> {
    let parsed = page.page().unwrap();
    let index = page.index(&parsed).unwrap();
    let mut task = parsed.plan(&index, vec![0..page.num_rows]).unwrap();
    let mut fetched = page.fetch(&task.spans);
    damage(&mut task, &mut fetched);
    parsed.decode(&index, &task, &fetched, sink, &mut Scratch::new(1 << 20))
}

#[test]
fn reads_return_what_was_asked_for() {
    let page = chunked_ints();
    let rule = |damage: fn(&mut PageTask, &mut Vec<Bytes>)| {
        rule_of(decode(&page, damage, &mut LeafSink::new(&page.leaf).unwrap()))
    };
    assert_eq!(rule(|_, fetched| fetched.clear()), "a read returned too few buffers");
    let short = rule(|_, fetched| fetched[0].truncate(47));
    assert_eq!(short, "a read returned too few bytes");
    assert_eq!(rule(|task, _| task.chunks[0].end = 3), "a chunk is missing");
}

#[test]
fn values_go_where_values_of_the_column_go() {
    let mut sink = LeafSink::new(&keyed_colours().leaf).unwrap();
    let rule = "buffer 1, byte 0: a page without a dictionary in a dictionary column";
    assert_eq!(rule_of(decode(&chunked_ints(), |_, _| {}, &mut sink)), rule);
}

#[test]
fn pages_are_appended_to_each_other() {
    let mut sink = LeafSink::new(&int_lists().leaf).unwrap();
    int_lists().read_into(&[3..5], &mut sink).unwrap();
    int_lists().read_into(&[0..2], &mut sink).unwrap();
    assert_eq!(shown(sink), "[3 null 4] [5] [1 2] null");
}
