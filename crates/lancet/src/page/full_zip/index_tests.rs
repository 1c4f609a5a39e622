use super::*;
use crate::codec::Scratch;
use crate::page::PageIndex;
use crate::page::sample_pages::{zipped_ints, zipped_lists, zipped_strings};
use crate::page::test_pages::{FIRST_BUFFER, TestPage, assert_broken, hex, rule_of};

/// Spans in buffer 0.
fn planned(page: &TestPage, rows: &[Range<u64>]) -> Vec<Range<u64>> {
    let spans = page.plan(rows).unwrap().spans;
    spans.iter().map(|s| s.start() - FIRST_BUFFER..s.end() - FIRST_BUFFER).collect()
}

#[test]
fn rows_of_one_width_are_found_by_multiplication() {
    let page = zipped_ints();
    assert!(page.page().unwrap().index_spans().is_empty());
    assert_eq!(planned(&page, &[0..3]), [0..15]);
    assert_eq!(planned(&page, &[0..1, 2..3]), [0..5, 10..15]);
}

#[test]
fn rows_of_any_width_are_found_by_the_index() {
    let page = zipped_strings();
    assert_eq!(page.page().unwrap().index_spans(), [Span::at(2 * FIRST_BUFFER, 5).unwrap()]);
    assert_eq!(planned(&page, &[0..2, 3..4]), [0..9, 14..24]);
    assert_eq!(planned(&zipped_lists(), &[1..4]), [10..27]);
}

#[test]
fn offsets_have_one_two_four_or_eight_bytes() {
    let offsets = [0, 8, 9, 14, 24_u64];
    for width in [1, 2, 4, 8] {
        let mut page = zipped_strings();
        page.buffers[1] = offsets.iter().flat_map(|o| o.to_le_bytes()[..width].to_vec()).collect();
        assert_eq!(page.read(&[2..4]).unwrap(), "'' 'hello'");
        let index = page.index(&page.page().unwrap()).unwrap();
        assert_eq!(index.size_bytes() - size_of::<PageIndex>(), 5 * width);
    }
}

#[test]
fn buffers_are_as_long_as_the_rows_say() {
    assert_broken(
        &zipped_ints(),
        &[
            (|page| page.num_rows = 4, "4 rows of 5 bytes in a buffer of 15"),
            (|page| page.buffers[0].push(0), "3 rows of 5 bytes in a buffer of 16"),
            (
                |page| page.num_rows = u64::MAX,
                "18446744073709551615 rows of 5 bytes in a buffer of 15",
            ),
        ],
    );
    assert_broken(
        &zipped_strings(),
        &[
            (|page| page.buffers[1].clear(), "buffer 1: a repetition index of 0 bytes for 4 rows"),
            (|page| page.buffers[1].push(0), "buffer 1: a repetition index of 6 bytes for 4 rows"),
            (
                |page| page.buffers[1] = vec![0; 15],
                "buffer 1: a repetition index of 15 bytes for 4 rows",
            ),
            (
                |page| page.num_rows = u64::MAX,
                "buffer 1: a repetition index of 5 bytes for 18446744073709551615 rows",
            ),
            (
                |page| page.buffers[1][0] = 1,
                "buffer 1: a repetition index from 1 to 24 for 24 bytes",
            ),
            (
                |page| page.buffers[1][4] = 23,
                "buffer 1: a repetition index from 0 to 23 for 24 bytes",
            ),
            (
                |page| page.buffers[0].push(0),
                "buffer 1: a repetition index from 0 to 24 for 25 bytes",
            ),
        ],
    );
}

#[test]
fn single_offsets_are_checked_where_they_are_used() {
    let mut page = zipped_strings();
    page.buffers[1] = hex("00 08 19 0e 18");
    assert_eq!(page.read(&[0..1]).unwrap(), "'abc'");
    let rule = "bytes 8..25 lie outside a buffer of 24 bytes";
    assert_eq!(rule_of(page.read(&[1..2])), rule);
    let rule = "bytes 25..14 lie outside a buffer of 24 bytes";
    assert_eq!(rule_of(page.read(&[2..3])), rule);
}

#[test]
fn what_a_page_lacks_is_named() {
    let test = zipped_strings();
    let mut page = test.page().unwrap();
    let parsed = page.parse_index(&test.leaf, &[], &mut Scratch::new(0));
    assert_eq!(rule_of(parsed), "the index is missing");
    let index = test.index(&page).unwrap();
    assert_eq!(rule_of(page.plan(&index, vec![4..5])), "row 5 is not in the index");
    page.buffers.clear();
    assert_eq!(rule_of(page.plan(&index, vec![0..1])), "the rows are missing");
}
