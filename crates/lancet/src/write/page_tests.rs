use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{DictionaryArray, Int32Array, ListArray, StructArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};

use super::*;
use crate::levels::Layer;
use crate::options::{ColumnOptions, Compression};
use crate::version::Version;
use crate::write::WriteOptions;
use crate::write::test_plans::{ints, mostly_null_lists, plan, plan_of, refused};

fn options(version: Version) -> WriteOptions {
    WriteOptions::default().with_version(version)
}

fn encoded(plan: &ColumnPlan, roots: &[ArrayRef]) -> Result<Vec<ExplainedPage>> {
    let pieces: Vec<_> = roots.iter().map(|root| plan.extract(root).unwrap()).collect();
    let mut pages = Vec::new();
    plan.encode(roots, &pieces, &mut PageEntries::default(), &mut pages)?;
    Ok(pages)
}

/// Layout, rows and reason of each page.
fn shown(pages: &[ExplainedPage]) -> Vec<(&str, u64, &str)> {
    let mut shown = Vec::new();
    for ExplainedPage { page, summary } in pages {
        shown.push((summary.layout, page.num_rows, summary.reason.as_str()));
    }
    shown
}

/// One row: a list of a list with one value, and lists without any.
fn long_row(values: ArrayRef, num_lists: usize) -> ArrayRef {
    let lists = |offsets: Vec<i32>, items: ArrayRef| {
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Arc::new(ListArray::new(field, offsets, items, None)) as ArrayRef
    };
    let ends = [0].into_iter().chain(vec![1; num_lists]);
    lists(vec![0, num_lists as i32], lists(ends.collect(), values))
}

#[test]
fn rows_are_halved() {
    let lengths = |roots: &[ArrayRef]| {
        let halves = halve(roots)?;
        Some(halves.map(|half| half.iter().map(|root| root.len()).collect::<Vec<_>>()))
    };
    assert_eq!(lengths(&[ints(5)]), Some([vec![2], vec![3]]));
    assert_eq!(lengths(&[ints(3), ints(4)]), Some([vec![3], vec![4]]));
    assert_eq!(lengths(&[ints(1), ints(6), ints(1)]), Some([vec![1, 3], vec![3, 1]]));
    assert_eq!(lengths(&[ints(0), ints(1)]), None);
    let [first, second] = halve(&[ints(5)]).unwrap();
    assert_eq!(&first[0], &ints(2));
    assert_eq!(second[0].as_ref(), &Int32Array::from(vec![2, 3, 4]) as &dyn Array);
}

#[test]
fn values_are_valid_where_nothing_is_null() {
    let valid = |layers: &[Layer], def: Option<Vec<u16>>| {
        let (num_entries, num_values) = (4, 3);
        let layers = layers.to_vec();
        let shredded = Shredded {
            layers,
            rep: None,
            def,
            num_rows: 4,
            num_entries,
            num_values,
            slots: vec![],
        };
        valid_values(&shredded).unwrap()
    };
    assert_eq!(valid(&[Layer::AllValidItem], None), None);
    // Lists without items own no value.
    let layers = [Layer::NullableItem, Layer::NullAndEmptyList];
    assert_eq!(valid(&layers, Some(vec![0, 2, 1, 0])), Some(vec![true, false, true]));
}

#[test]
fn pages_with_too_many_levels_are_halved() {
    let lists = mostly_null_lists(70_001);
    let pages = encoded(&plan_of(&lists, &options(Version::V2_1)), &[lists]).unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!((pages[0].summary.layout, pages[0].page.num_rows), ("mini-block", 35_000));
    assert_eq!(shown(&pages)[1], ("constant", 35_001, "all values are null"));
}

#[test]
fn a_row_with_too_many_levels_is_zipped() {
    let row = long_row(Arc::new(Int32Array::from(vec![7])), 70_000);
    let pages = encoded(&plan_of(&row, &options(Version::V2_1)), &[row]).unwrap();
    let reason = "a row has more levels than a chunk can count";
    assert_eq!(shown(&pages), [("full-zip", 1, reason)]);
}

#[test]
fn long_rows_that_cannot_be_zipped_say_what_to_do() {
    let key = Int32Array::from(vec![7]);
    let dictionary: ArrayRef =
        Arc::new(DictionaryArray::<Int8Type>::new(vec![0_i8].into(), Arc::new(key)));
    let row = long_row(dictionary, 70_000);
    let plan_of_keys = plan_of(&row, &options(Version::V2_1));
    let what = refused(encoded(&plan_of_keys, &[row]));
    assert!(what.contains("has 70000 levels around 1 values"), "{what}");
    assert!(what.ends_with("cast the column to the type of their values"), "{what}");

    let fields = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    let packed: ArrayRef =
        Arc::new(StructArray::new(fields, vec![Arc::new(Int32Array::from(vec![7]))], None));
    let row = long_row(packed, 70_000);
    let mut options = options(Version::V2_1);
    *options.column("n.item.item") = ColumnOptions::default().with_packed(true);
    let what = refused(encoded(&plan_of(&row, &options), &[row]));
    assert!(what.ends_with("cannot be zipped: packed structs; write 2.2"), "{what}");
}

#[test]
fn options_that_do_not_fit_name_the_column() {
    let mut options = options(Version::V2_2);
    *options.column("n") = ColumnOptions::default().with_compression(Compression::Fsst);
    let what = refused(encoded(&plan_of(&ints(100), &options), &[ints(100)]));
    assert!(what.starts_with("column `n`: "), "{what}");
    let what = refused::<()>(Err(in_column("a.b", Error::unsupported("as it is"))));
    assert_eq!(what, "as it is");
}

#[test]
fn the_same_rows_give_the_same_pages() {
    let texts = (0..5000).map(|i| Some(vec![Some(i * 7 % 1000), None, Some(i)]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(texts));
    let field = || Field::new("n", lists.data_type().clone(), true);
    let bytes = |roots: &[ArrayRef]| {
        let pages = encoded(&plan(field(), &options(Version::V2_2)), roots).unwrap();
        pages.into_iter().flat_map(|page| page.page.buffers).collect::<Vec<_>>()
    };
    let whole = bytes(std::slice::from_ref(&lists));
    assert_eq!(bytes(std::slice::from_ref(&lists)), whole);
    // It does not matter in which batches they come.
    assert_eq!(bytes(&[lists.slice(0, 1), lists.slice(1, 4000), lists.slice(4001, 999)]), whole);
}
