use super::*;
use crate::page::sample_pages::{
    chunked_ints, chunked_lists, colours, int_lists, keyed_colours, nullable_ints,
};
use crate::page::test_pages::{
    FIRST_BUFFER, TestPage, assert_broken, hex, in_list, rule_of, string,
};
use crate::page::{Layout, PageIndex};
use crate::span::span;

/// Spans in buffer 1, which lies behind buffer 0, and the chunks of each.
fn planned(page: &TestPage, rows: &[Range<u64>]) -> (Vec<Range<u64>>, Vec<Range<usize>>) {
    let task = page.plan(rows).unwrap();
    let start = 2 * FIRST_BUFFER;
    let local = |span: &Span| span.start() - start..span.end() - start;
    (task.spans.iter().map(local).collect(), task.chunks)
}

#[test]
fn rows_are_found_by_their_chunks() {
    let page = chunked_ints();
    assert_eq!(planned(&page, &[0..7]), (vec![0..48], vec![0..2]));
    assert_eq!(planned(&page, &[3..4]), (vec![0..24], vec![0..1]));
    assert_eq!(planned(&page, &[4..5]), (vec![24..48], vec![1..2]));
    assert_eq!(planned(&page, &[0..1, 6..7]), (vec![0..48], vec![0..2]));
    assert_eq!(planned(&page, &[]), (vec![], vec![]));
}

#[test]
fn a_row_needs_all_the_chunks_it_runs_over() {
    let page = chunked_lists();
    assert_eq!(planned(&page, &[2..3]), (vec![0..96], vec![0..3]));
    assert_eq!(planned(&page, &[1..2]), (vec![0..32], vec![0..1]));
    assert_eq!(planned(&page, &[3..4]), (vec![96..144], vec![3..4]));
    assert_eq!(planned(&page, &[0..1, 4..6]), (vec![0..32, 96..144], vec![0..1, 3..4]));
}

#[test]
fn far_chunks_are_found_from_near_ones() {
    // 100 chunks of two bytes, and one of a single byte.
    let mut page = chunked_ints();
    page.leaf.values = ValueType::Fixed { bits: 8 };
    let layout = page.mini_block();
    let flat = Encoding::Flat { bits: 8 };
    layout.value_compression = Some(crate::page::encodings::to_message(&flat));
    layout.num_items = 201;
    page.num_rows = 201;
    let chunk = |i: u8| [0, 0, 2, 0, 0, 0, 0, 0, 2 * i, 2 * i + 1, 0, 0, 0, 0, 0, 0];
    let last = [0, 0, 1, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0];
    page.buffers[0] = [[0x11, 0].repeat(100), vec![0x10, 0]].concat();
    page.buffers[1] = (0..100).map(chunk).chain([last]).flatten().collect();
    for row in 0..201 {
        assert_eq!(page.read(&[row..row + 1]).unwrap(), row.to_string());
        let from = row / 3;
        assert_eq!(page.read(&[from..from + 1, row + 1..201]).unwrap(), {
            let rows = [from].into_iter().chain(row + 1..201);
            rows.map(|row| row.to_string()).collect::<Vec<_>>().join(" ")
        });
    }
}

#[test]
fn words_count_the_values_of_the_page() {
    assert_broken(
        &chunked_ints(),
        &[
            (
                |page| page.buffers[0].clear(),
                "buffer 0: chunk words of 2 bytes in a buffer of 0 bytes",
            ),
            (
                |page| page.buffers[0].push(0),
                "buffer 0: chunk words of 2 bytes in a buffer of 5 bytes",
            ),
            (
                |page| page.buffers[0] = hex("2000 2000"),
                "buffer 0: chunk 0 is not the last, but has no value count",
            ),
            (
                |page| page.buffers[0] = hex("2300 2000"),
                "buffer 0: chunk 0 has 8 values, where 7 are left",
            ),
            (
                |page| page.buffers[0] = hex("2200 2100"),
                "buffer 0: the last chunk has 3 values, not 2^1",
            ),
        ],
    );
    assert_broken(
        &nullable_ints(),
        &[(
            |page| {
                page.mini_block().num_items = 0;
                page.num_rows = 0;
            },
            "buffer 0: the last chunk has no values",
        )],
    );
}

#[test]
fn a_chunk_before_the_last_leaves_it_a_value() {
    let mut page = chunked_ints();
    page.mini_block().num_items = 4;
    page.num_rows = 4;
    let rule = "buffer 0: chunk 0 has 4 values, where 4 are left";
    assert_eq!(rule_of(page.read_all()), rule);
}

#[test]
fn the_last_word_may_tell_a_full_count() {
    let mut page = chunked_ints();
    page.mini_block().num_items = 4;
    page.num_rows = 4;
    page.buffers[1].truncate(24);
    for word in ["2200", "2000"] {
        page.buffers[0] = hex(word);
        assert_eq!(page.read_all().unwrap(), "1 2 3 4");
    }
}

#[test]
fn large_words_have_four_bytes() {
    let mut page = chunked_ints().of_2_2();
    page.mini_block().has_large_chunk = true;
    page.buffers[0] = hex("22000000 20000000");
    page.buffers[1] = hex("0000 10000000 fefe 01000000 02000000 03000000 04000000
                           0000 0c000000 fefe 05000000 06000000 07000000 fefefefe");
    assert_eq!(page.read_all().unwrap(), "1 2 3 4 5 6 7");
    page.buffers[0].truncate(6);
    let rule = "buffer 0: chunk words of 4 bytes in a buffer of 6 bytes";
    assert_eq!(rule_of(page.read_all()), rule);
}

#[test]
fn chunks_and_rows_add_up() {
    assert_broken(
        &int_lists(),
        &[
            (|page| page.buffers[1].push(0), "chunks of 64 bytes in a buffer of 65"),
            (|page| page.buffers[0] = hex("8000"), "chunks of 72 bytes in a buffer of 64"),
            (|page| page.num_rows = 6, "chunks with 5 rows in a page of 6"),
            (|page| page.buffers[2][0] = 4, "chunks with 4 rows in a page of 5"),
        ],
    );
}

#[test]
fn the_repetition_index_numbers_every_row() {
    assert_broken(
        &chunked_lists(),
        &[
            (
                |page| page.buffers[2].truncate(48),
                "buffer 2: a repetition index of 48 bytes for 4 chunks",
            ),
            (
                |page| page.buffers[2].push(0),
                "buffer 2: a repetition index of 65 bytes for 4 chunks",
            ),
            (|page| page.buffers[2][56] = 1, "buffer 2: the last chunk leaves a row unfinished"),
            (
                |page| page.buffers[2][24] = 0,
                "buffer 2: chunk 1 neither ends nor continues the row that runs into it",
            ),
            (|page| page.buffers[2][..8].fill(0xff), "buffer 2: more rows than can be counted"),
        ],
    );
}

#[test]
fn the_repetition_index_stands_behind_the_dictionary() {
    // Lists of strings: ['red' 'green'] ['blue'].
    let layout = "0a22 0a040a020810 1a040a020820 220812060a040a020820 2803 32020102 3801 4001 4803";
    let chunk = "0300 0600 0c00 fefe 0100 0000 0100 fefe 00000000 01000000 02000000 fefefefe";
    let index = "0200000000000000 0000000000000000";
    let mut page = TestPage::new(layout, in_list(string()), 2, &["3000", chunk, "", index]);
    page.buffers[2] = colours().buffers[2].clone();
    assert_eq!(page.read_all().unwrap(), "['red' 'green'] ['blue']");
    assert_broken(
        &page,
        &[(|page| page.buffers[3].clear(), "buffer 3: a repetition index of 0 bytes for 1 chunks")],
    );
}

#[test]
fn a_dictionary_is_read_with_the_index() {
    assert_eq!(colours().read_all().unwrap(), "'red' 'green' null 'blue'");
    assert_eq!(keyed_colours().read(&[1..4]).unwrap(), "'green' null 'blue'");
    let mut page = colours();
    page.buffers[2][4] = 0x19;
    assert!(rule_of(page.read_all()).starts_with("buffer 2: "));
}

/// A page as releases 0.26 to 0.31 wrote it: the dictionary starts with the number of its strings.
fn early(first_word: &str) -> Result<Dictionary> {
    let Layout::MiniBlock(layout) = colours().layout().unwrap().early() else { panic!() };
    let dictionary = layout.dictionary.unwrap();
    assert!(dictionary.counted);
    let mut bytes = colours().buffers[2].clone();
    bytes.splice(..4, hex(first_word));
    parse_dictionary(&bytes, &dictionary, &colours().leaf.values, &mut Scratch::new(1 << 10))
}

#[test]
fn early_dictionaries_start_with_their_count() {
    assert_eq!(early("03000000").unwrap().len(), 3);
    let rule = "a dictionary of 3 items counts 4";
    assert_eq!(rule_of(early("04000000")), rule);
    // The width of an offset stands there since 0.32, which wrote it in its own way.
    let Error::Unsupported(what) = early("20000000").unwrap_err() else { panic!() };
    assert!(what.contains("releases 0.32.0 and 0.32.1"), "{what}");
    let rule = "number of strings needs 4 bytes at byte 0, but only 3 are left";
    assert_eq!(rule_of(uncounted(&[3, 0, 0], 32, 3)), rule);
    let rule = "number of strings needs 8 bytes at byte 0, but only 4 are left";
    assert_eq!(rule_of(uncounted(&[3, 0, 0, 0], 64, 3)), rule);
    let today = uncounted(&hex("0300000000000000 aa"), 64, 3).unwrap();
    assert_eq!(today, hex("4000000000000000 aa"));
}

#[test]
fn an_index_needs_all_its_buffers() {
    for (page, needed) in [(chunked_ints(), 1), (colours(), 2), (int_lists(), 2)] {
        let parsed = page.page().unwrap();
        let buffers = page.fetch(&parsed.index_spans());
        assert_eq!(buffers.len(), needed);
        let parse =
            |n: usize| parsed.parse_index(&page.leaf, &buffers[..n], &mut Scratch::new(1 << 10));
        assert!(parse(needed).is_ok());
        assert_eq!(rule_of(parse(needed - 1)), "a buffer is missing");
    }
}

#[test]
fn a_plan_needs_the_chunks() {
    let test = chunked_ints();
    let mut page = test.page().unwrap();
    let PageIndex::MiniBlock(index) = test.index(&page).unwrap() else { panic!() };
    page.buffers.truncate(1);
    assert_eq!(rule_of(index.plan(&page, &[0..1])), "the chunks are missing");
    page.buffers.push(span(0..10));
    let rule = "bytes 0..24 lie outside a buffer of 10 bytes";
    assert_eq!(rule_of(index.plan(&page, &[0..1])), rule);
}
