use super::*;
use crate::page::sample_pages::{
    all_null, blobs, chunked_ints, chunked_lists, colours, empty_lists, int_lists, sevens,
    zipped_ints, zipped_lists, zipped_strings,
};
use crate::page::test_pages::{FIRST_BUFFER, TestPage, rule_of};
use crate::span::span;

#[test]
fn the_index_is_made_of_small_buffers_only() {
    let spans = |page: TestPage| {
        let spans = page.page().unwrap().index_spans();
        spans.iter().map(|span| span.len()).collect::<Vec<_>>()
    };
    assert_eq!(spans(chunked_ints()), [4]);
    assert_eq!(spans(colours()), [2, 36]);
    assert_eq!(spans(chunked_lists()), [8, 64]);
    assert_eq!(spans(blobs()), [2]);
    assert_eq!(spans(zipped_ints()), [0_u64; 0]);
    assert_eq!(spans(zipped_strings()), [5]);
    assert_eq!(spans(empty_lists()), [8, 8]);
}

#[test]
fn the_buffer_of_the_values() {
    let data = |page: TestPage| page.page().unwrap().data_span();
    let (first, second) = (FIRST_BUFFER, 2 * FIRST_BUFFER);
    assert_eq!(data(chunked_ints()), Some(span(second..second + 48)));
    assert_eq!(data(blobs()), Some(span(second..second + 72)));
    assert_eq!(data(zipped_ints()), Some(span(first..first + 15)));
    assert_eq!(data(empty_lists()), None);
}

#[test]
fn values_of_rows_are_guessed_from_above() {
    let values = |page: TestPage, rows| page.page().unwrap().num_values_of(rows);
    assert_eq!(values(chunked_ints(), 3), 3);
    assert_eq!(values(int_lists(), 5), 6);
    assert_eq!(values(zipped_lists(), 5), 6);
    assert_eq!(values(empty_lists(), 4), 4);
    let mut many = int_lists();
    many.mini_block().num_items = 1 << 20;
    assert_eq!(values(many, 5), (1 << 20) + (1 << 16));
    let mut none = int_lists();
    none.num_rows = 0;
    assert_eq!(values(none, 5), 0);
}

#[test]
fn rows_that_take_no_bytes_are_alike() {
    let alike = |page: TestPage| page.page().unwrap().rows_are_alike();
    assert!(alike(all_null()));
    assert!(!alike(sevens()));
    assert!(!alike(empty_lists()));
    assert!(!alike(chunked_ints()));
    assert!(!alike(zipped_ints()));
    let mut level_less = sevens();
    level_less.constant().layers = vec![1];
    assert!(alike(level_less.clone()));
    level_less.buffers.clear();
    assert!(alike(level_less));
}

#[test]
fn bytes_are_shared_where_they_are_the_values() {
    let may_share = |page: TestPage| page.page().unwrap().may_share();
    assert!(!may_share(zipped_ints()));
    assert!(!may_share(zipped_strings()));
    let mut flat = zipped_ints();
    flat.full_zip().bits_def = 0;
    assert!(may_share(flat));
    assert!(!may_share(chunked_ints()));
}

#[test]
fn an_index_belongs_to_its_layout() {
    let (mini, zipped, constant) = (chunked_ints(), zipped_ints(), all_null());
    let index = |page: &TestPage| page.index(&page.page().unwrap()).unwrap();
    let decode = |page: &TestPage, index: &PageIndex| {
        let page_parsed = page.page().unwrap();
        let task = PageTask { rows: vec![0..1], spans: vec![], chunks: vec![], placed: false };
        let mut sink = LeafSink::new(&page.leaf).unwrap();
        page_parsed.decode(index, &task, &[], &mut sink, &mut Scratch::new(1 << 10))
    };
    let rule = "the page index belongs to another layout";
    assert_eq!(rule_of(decode(&mini, &index(&zipped))), rule);
    assert_eq!(rule_of(decode(&zipped, &index(&constant))), rule);
    assert_eq!(rule_of(decode(&constant, &index(&mini))), rule);
}

#[test]
fn rows_are_clipped_to_a_window() {
    let clipped = |window: Range<u64>| {
        let mut out = vec![9..9];
        clip(&[1..3, 5..9, 12..13], window, &mut out);
        out
    };
    assert_eq!(clipped(0..20), [1..3, 5..9, 12..13]);
    assert_eq!(clipped(2..6), [0..1, 3..4]);
    assert_eq!(clipped(3..5), []);
    assert_eq!(clipped(6..7), [0..1]);
    assert_eq!(clipped(12..13), [0..1]);
    assert_eq!(clipped(13..20), []);
    assert_eq!(count_rows(&[1..3, 5..9, 12..13]), 7);
    assert_eq!(count_rows(&[0..u64::MAX, 0..7]), u64::MAX);
}
