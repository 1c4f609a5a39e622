use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, Int32Array, ListArray, NullArray, StringArray, StructArray};
use arrow_schema::{Field, Fields};

use super::*;
use crate::WriteOptions;
use crate::write::test_plans::{int_field, ints, mostly_null_lists, plan, plan_of, plans, refused};

fn writer(plan: ColumnPlan) -> ColumnWriter {
    ColumnWriter::new(plan, true)
}

fn rows(pages: &[DuePage]) -> Vec<usize> {
    let rows = |page: &DuePage| match &page.rows {
        DueRows::Layout { roots, .. } => roots.iter().map(|root| root.len()).sum(),
        other => panic!("{other:?}"),
    };
    pages.iter().map(rows).collect()
}

fn taken(column: &mut ColumnWriter) -> Vec<usize> {
    let mut pages = Vec::new();
    column.take_pages(0, &mut pages).unwrap();
    rows(&pages)
}

#[test]
fn a_page_is_cut_when_it_is_full() {
    let mut column = writer(plan(int_field(), &WriteOptions::default()));
    let mut pages = Vec::new();
    for (given, waiting, full) in [(0, 400, 0), (400, 800, 0), (800, 0, 1), (1200, 400, 1)] {
        assert_eq!(column.push(&ints(100), given, 1000, &mut pages).unwrap(), 400);
        assert_eq!((column.bytes, pages.len()), (waiting, full));
    }
    assert_eq!(rows(&pages), [300]);
    // The oldest rows that wait are those of the last batch.
    assert_eq!(column.oldest, 1200);
    assert_eq!(column.waiting().oldest, Some(1200));
    assert_eq!(taken(&mut column), [100]);
    assert_eq!((column.waiting().held, column.waiting().oldest), (0, None));
    assert_eq!(taken(&mut column), [0; 0]);
}

#[test]
fn a_batch_larger_than_a_page_is_cut_into_equal_parts() {
    let mut column = writer(plan(int_field(), &WriteOptions::default()));
    let mut pages = Vec::new();
    assert_eq!(column.push(&ints(1000), 0, 1000, &mut pages).unwrap(), 4000);
    assert_eq!(rows(&pages), [250; 4]);
    pages.clear();
    column.push(&ints(1001), 0, 2000, &mut pages).unwrap();
    // Three parts of 334 rows, of which two fill a page.
    assert_eq!(rows(&pages), [668]);
    assert_eq!(taken(&mut column), [333]);
}

#[test]
fn a_row_larger_than_a_page_is_a_page() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(5000)]));
    let mut column = writer(plan_of(&text, &WriteOptions::default()));
    let mut pages = Vec::new();
    column.push(&text, 0, 1000, &mut pages).unwrap();
    assert_eq!(rows(&pages), [1]);
    // Rows that are all larger than a page are cut one by one, whatever a page may hold.
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(5000); 3]));
    column.push(&texts, 0, 0, &mut pages).unwrap();
    assert_eq!(rows(&pages), [1; 4]);
}

#[test]
fn columns_tell_when_the_next_batch_may_fill_a_page() {
    let mut column = writer(plan(int_field(), &WriteOptions::default()));
    assert!(column.is_nearly_full(1000), "nothing is known yet");
    column.push(&ints(100), 0, 1300, &mut Vec::new()).unwrap();
    assert!(!column.is_nearly_full(1300));
    assert!(column.is_nearly_full(1200));
}

#[test]
fn small_pieces_are_made_one() {
    let mut column = writer(plan(int_field(), &WriteOptions::default()));
    for i in 0..1000 {
        column.push(&ints(2), i, 1 << 20, &mut Vec::new()).unwrap();
    }
    let Waiting { held, oldest, .. } = column.waiting();
    assert!(held < 8 * 1000 + 20 * PIECE_BYTES, "{held}");
    assert_eq!(oldest, Some(0));
    assert_eq!(taken(&mut column), [2000]);
}

#[test]
fn a_dictionary_that_batches_share_asks_for_no_page() {
    let of = |entries: &Arc<StringArray>| {
        let keys = Int32Array::from(vec![0, 1, 2]);
        Arc::new(DictionaryArray::new(keys, entries.clone())) as ArrayRef
    };
    let texts = |text: &str| Arc::new(StringArray::from(vec![text.repeat(10_000); 3]));
    let (one, other) = (texts("a"), texts("b"));
    let mut column = writer(plan_of(&of(&one), &WriteOptions::default()));
    let mut pages = Vec::new();
    let mut push = |entries, given| column.push(&of(entries), given, 1 << 20, &mut pages).unwrap();
    let new = push(&one, 0);
    let known = push(&one, new);
    assert!(known + 30_000 <= new, "{known} {new}");
    let held = column.waiting().held;
    assert_eq!(taken(&mut column), [6]);
    // It is known after its page, too; and held while another one comes before that.
    assert_eq!(column.push(&of(&one), 0, 1 << 20, &mut pages).unwrap(), known);
    column.push(&of(&other), 0, 1 << 20, &mut pages).unwrap();
    assert!(column.waiting().held >= held + 30_000);
}

#[test]
fn levels_of_lists_count_as_bytes() {
    let lists = mostly_null_lists(1000);
    let mut column = writer(plan_of(&lists, &WriteOptions::default()));
    let bytes = column.push(&lists, 0, 1 << 20, &mut Vec::new()).unwrap();
    assert!((4000..6000).contains(&bytes), "{bytes}");
}

#[test]
fn types_without_validity_bitmaps_get_one() {
    let validity = |array: ArrayRef| {
        let piece = plan_of(&array, &WriteOptions::default()).extract(&array).unwrap();
        super::validity(&piece).map(|nulls| nulls.iter().collect::<Vec<_>>())
    };
    assert_eq!(validity(Arc::new(NullArray::new(2))), Some(vec![false; 2]));
    let empty = StructArray::new_empty_fields(2, None);
    assert_eq!(validity(Arc::new(empty)), Some(vec![false; 2]));
    assert_eq!(validity(ints(2)), None);
}

#[test]
fn structs_without_fields_are_plain_top_level_ones() {
    let nulls = Some(NullBuffer::from(vec![true, false]));
    let null: ArrayRef = Arc::new(StructArray::new_empty_fields(2, nulls));
    let what = refused(plan_of(&null, &WriteOptions::default()).extract(&null));
    assert!(what.starts_with("`n` is a struct without fields that is nested or null"), "{what}");
    assert!(what.ends_with("only plain top-level ones can be stored"), "{what}");
}

#[test]
fn columns_of_numbers_in_structs_get_zone_maps() {
    let has_map = |data_type: DataType| {
        let field = Field::new("n", data_type, true);
        plan(field, &WriteOptions::default()).zones().is_some()
    };
    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    assert!(has_map(DataType::Int32));
    assert!(has_map(DataType::Struct(fields)));
    assert!(!has_map(DataType::List(item(DataType::Int32))));
    assert!(!has_map(DataType::FixedSizeList(item(DataType::Float32), 2)));
    let off = ColumnWriter::new(plan(int_field(), &WriteOptions::default()), false);
    assert!(off.zones.is_none());
}

#[test]
fn leaves_are_planned_with_their_way_and_their_name() {
    let inner = Field::new("y", DataType::List(Arc::new(int_field())), true);
    let fields = Fields::from(vec![Field::new("x", DataType::Utf8, false), inner]);
    let schema = vec![int_field(), Field::new("s", DataType::Struct(fields), true)];
    let plans = plans(schema, &WriteOptions::default()).unwrap();
    let found: Vec<_> =
        plans.iter().map(|plan| (plan.name.as_str(), plan.root, plan.path.clone())).collect();
    let expected = [
        ("n", 0, vec![]),
        ("s.x", 1, vec![Step::Struct(0)]),
        ("s.y", 1, vec![Step::Struct(1), Step::List]),
    ];
    assert_eq!(found, expected);
    assert_eq!(plans[2].nullable, [false, false, true]);
}

#[test]
fn cut_parts_are_all_of_the_array() {
    let array = ints(10);
    let lengths = |bytes, page_bytes| {
        cut(&array, bytes, page_bytes).map(|part| part.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(40, 40), [5, 5]);
    assert_eq!(lengths(40, 13), [3, 3, 3, 1]);
    assert_eq!(lengths(40, 0), [1; 10]);
    assert_eq!(lengths(u64::MAX, 1), [1; 10]);
    let lists: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, Vec<Option<i32>>, _>([None, None]));
    assert_eq!(cut(&lists, 8, 4).count(), 2);
}

fn steady(path: &[(Step, bool)]) -> Vec<bool> {
    let field = |nullable| Arc::new(Field::new("f", DataType::Null, nullable));
    let path: Vec<_> = path.iter().map(|(step, null)| (*step, field(*null))).collect();
    let mut layers = steady_layers(&path);
    layers.reverse();
    layers
}

#[test]
fn layers_over_lists_are_steady() {
    use Step::{FixedSizeList, List, Struct};
    let (t, f) = (true, false);
    assert_eq!(steady(&[]), [f]);
    assert_eq!(steady(&[(Struct(0), t), (Struct(0), t)]), [f, f, f]);
    assert_eq!(steady(&[(Struct(0), t), (List, t), (Struct(1), t)]), [t, f, f, f]);
    assert_eq!(steady(&[(Struct(0), f), (Struct(0), t), (List, t)]), [f, t, f, f]);
    assert_eq!(steady(&[(Struct(0), t), (Struct(0), f), (List, t)]), [t, t, f, f]);
    assert_eq!(steady(&[(List, t), (Struct(0), t), (List, t)]), [f, f, f, f]);
    let fixed = [(Struct(0), t), (FixedSizeList, f), (Struct(0), t)];
    assert_eq!(steady(&fixed), [t, t, f, f]);
}
