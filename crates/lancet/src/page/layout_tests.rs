use super::*;
use crate::page::sample_pages::{
    all_null, blobs, chunked_lists, colours, empty_lists, same_strings, sevens, zipped_ints,
    zipped_strings,
};
use crate::page::test_pages::{TestPage, assert_broken, blob, in_list, in_struct, int32, rule_of};
use crate::version::Version;

fn flat_16() -> Option<pb::CompressiveEncoding> {
    Some(to_message(&Encoding::Flat { bits: 16 }))
}

#[test]
fn descriptions_are_written_as_they_are_read() {
    for page in [all_null(), empty_lists(), sevens(), same_strings(), blobs()] {
        assert_eq!(page.layout().unwrap().to_message(), page.message);
    }
}

#[test]
fn a_page_has_a_layout() {
    let rule = "the page layout is missing or unknown";
    assert_broken(&all_null(), &[(|page| page.message.layout = None, rule)]);
    assert_broken(&blobs(), &[(|page| page.message.layout = None, rule)]);
}

#[test]
fn layers_are_those_of_the_schema() {
    assert_broken(
        &empty_lists(),
        &[
            (|page| page.constant().layers[0] = 0, "layer kind 0 does not exist"),
            (|page| page.constant().layers[0] = 7, "layer kind 7 does not exist"),
            (
                |page| page.constant().layers.truncate(1),
                "a page has 1 layers where the schema has 2",
            ),
            (
                |page| page.constant().layers[1] = 3,
                "layer 1 of a page is NullableItem where the schema has List { large: false }",
            ),
        ],
    );
    let mut mini = chunked_lists();
    mini.mini_block().layers.clear();
    assert_eq!(rule_of(mini.layout()), "a page has 0 layers where the schema has 2");
    let mut zipped = zipped_ints();
    zipped.full_zip().layers[0] = 4;
    let rule = "layer 0 of a page is NullableList where the schema has Item";
    assert_eq!(rule_of(zipped.layout()), rule);
}

#[test]
fn a_page_has_the_buffers_of_its_layout() {
    let short = |page: &TestPage| {
        let mut page = page.clone();
        page.buffers.pop();
        rule_of(page.layout())
    };
    assert_eq!(short(&zipped_ints()), "the layout needs 1 buffers, but the page has 0");
    assert_eq!(short(&zipped_strings()), "the layout needs 2 buffers, but the page has 1");
    assert_eq!(short(&blobs()), "the layout needs 2 buffers, but the page has 1");
    assert_eq!(short(&colours()), "the layout needs 3 buffers, but the page has 2");
    assert_eq!(short(&chunked_lists()), "the layout needs 3 buffers, but the page has 2");
}

#[test]
fn columns_of_blobs_have_pages_of_blobs() {
    assert_broken(
        &blobs(),
        &[
            (|page| page.leaf = int32(), "a blob page in a column that is not one"),
            (
                |page| {
                    let inner = page.blob().inner_layout.take().unwrap();
                    page.message = *inner;
                },
                "a blob column with a mini-block page",
            ),
            (|page| page.message = zipped_ints().message, "a blob column with a full-zip page"),
            (
                |page| {
                    page.leaf = in_list(blob());
                    page.blob().layers.push(2);
                },
                "blobs inside a list",
            ),
            (
                |page| page.blob().inner_layout = None,
                "blob descriptions that are not a mini-block page",
            ),
            (
                |page| page.blob().inner_layout = Some(Box::new(blobs().message)),
                "blob descriptions that are not a mini-block page",
            ),
            (|page| inner_layout(page).num_items = 5, "5 items in a page of 4 rows"),
            (
                |page| {
                    inner_layout(page).layers = vec![3];
                    inner_layout(page).def_compression = flat_16();
                },
                "blob descriptions with nulls",
            ),
        ],
    );
}

fn inner_layout(page: &mut TestPage) -> &mut pb::MiniBlockLayout {
    let inner = page.blob().inner_layout.as_mut().and_then(|inner| inner.layout.as_mut());
    match inner {
        Some(pb::page_layout::Layout::MiniBlockLayout(inner)) => inner,
        other => panic!("{other:?}"),
    }
}

#[test]
fn forms_of_constant_pages_by_value_and_buffers() {
    let constant = |inline: bool, num_buffers: usize| {
        let mut page = all_null().of_2_2();
        page.constant().inline_value = inline.then(|| vec![7, 0, 0, 0]);
        if num_buffers < 2 && (inline || num_buffers > 0) {
            page.constant().layers = vec![1];
        }
        page.buffers = vec![Vec::new(); num_buffers];
        page.layout().map(|layout| {
            let Layout::Constant(layout) = layout else { panic!() };
            (layout.value, layout.has_levels)
        })
    };
    let inline = ConstantValue::Inline(vec![7, 0, 0, 0]);
    assert_eq!(constant(false, 0).unwrap(), (ConstantValue::Null, false));
    assert_eq!(constant(false, 1).unwrap(), (ConstantValue::Buffer, false));
    assert_eq!(constant(false, 2).unwrap(), (ConstantValue::Null, true));
    assert_eq!(constant(false, 3).unwrap(), (ConstantValue::Buffer, true));
    assert_eq!(constant(true, 0).unwrap(), (inline.clone(), false));
    assert_eq!(constant(true, 2).unwrap(), (inline, true));
    assert_eq!(rule_of(constant(false, 4)), "a constant page with 4 buffers");
    assert_eq!(rule_of(constant(true, 1)), "a constant page with 1 buffers");
    assert_eq!(rule_of(constant(true, 3)), "a constant page with 3 buffers");
}

#[test]
fn constant_values_came_with_2_2() {
    let rule = "a constant value in a version that has none";
    assert_broken(&sevens(), &[(|page| page.version = Version::V2_1, rule)]);
    assert_broken(&same_strings(), &[(|page| page.version = Version::V2_1, rule)]);
    assert_broken(
        &empty_lists(),
        &[
            (
                |page| page.constant().rep_compression = flat_16(),
                "compressed levels of a constant page in a version that has none",
            ),
            (
                |page| page.constant().def_compression = flat_16(),
                "compressed levels of a constant page in a version that has none",
            ),
        ],
    );
}

#[test]
fn constant_pages_have_the_levels_they_need() {
    assert_broken(
        &all_null(),
        &[
            (
                |page| page.constant().layers = vec![1],
                "an all-null page without the levels it needs",
            ),
            (
                |page| {
                    page.leaf = in_struct(int32());
                    page.constant().layers = vec![3, 3];
                },
                "an all-null page without the levels it needs",
            ),
        ],
    );
    let rule = "a constant page without the levels it needs";
    assert_broken(&sevens(), &[(|page| page.buffers.clear(), rule)]);
    assert_broken(&same_strings(), &[(|page| page.constant().layers = vec![3], rule)]);
}

#[test]
fn early_dictionaries_are_marked() {
    let early = colours().layout().unwrap().early();
    let Layout::MiniBlock(MiniBlockLayout { dictionary: Some(dictionary), .. }) = early else {
        panic!()
    };
    assert!(dictionary.counted);
    assert_eq!(zipped_ints().layout().unwrap().early(), zipped_ints().layout().unwrap());
}

#[test]
fn layouts_in_words() {
    let cases = [
        (
            colours(),
            "mini-block",
            "dictionary of 3 (variable (32-bit offsets)), indices flat 32-bit",
            vec!["chunk words", "chunks", "dictionary"],
        ),
        (
            chunked_lists(),
            "mini-block",
            "flat 8-bit",
            vec!["chunk words", "chunks", "repetition index"],
        ),
        (zipped_ints(), "full-zip", "flat 32-bit", vec!["rows"]),
        (
            zipped_strings(),
            "full-zip",
            "variable (32-bit offsets)",
            vec!["rows", "repetition index"],
        ),
        (all_null(), "constant", "all null", vec![]),
        (same_strings(), "constant", "one value", vec!["value"]),
        (sevens(), "constant", "one value", vec!["repetition levels", "definition levels"]),
        (
            blobs(),
            "blob",
            "descriptions packed struct of 2 fields: 64-bit, 64-bit",
            vec!["chunk words", "chunks"],
        ),
    ];
    for (page, name, encoding, buffers) in cases {
        let layout = page.layout().unwrap();
        assert_eq!(layout.describe(), (name, encoding.to_owned()));
        assert_eq!(layout.buffer_names(), buffers);
    }
}
