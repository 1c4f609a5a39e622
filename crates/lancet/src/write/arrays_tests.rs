use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Int32Array, ListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Fields, Schema};

use super::*;
use crate::schema::columns::columns_of;
use crate::version::Version;
use crate::write::WriteOptions;
use crate::write::plan::plan_columns;
use crate::write::test_plans::{ints, refused};

fn columns(batch: &RecordBatch) -> ArrayColumns {
    let options = WriteOptions::default().with_version(Version::V2_0);
    let (schema, plans) = plan_columns(&batch.schema(), &options).unwrap();
    ArrayColumns::new(&columns_of(&schema).unwrap(), plans, false).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(schema), arrays).unwrap()
}

fn structs(values: ArrayRef, nulls: Option<NullBuffer>) -> ArrayRef {
    let fields = Fields::from(vec![Field::new("x", values.data_type().clone(), true)]);
    Arc::new(StructArray::new(fields, vec![values], nulls))
}

#[test]
fn structs_and_lists_have_columns_of_their_own() {
    let lists: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]));
    let batch = batch(vec![("n", ints(1)), ("s", structs(lists, None))]);
    let columns = columns(&batch);
    assert_eq!(columns.names().collect::<Vec<_>>(), ["n", "s", "s.x", "s.x"]);
    assert!((0..5).all(|column| !columns.is_blob(column)));
}

#[test]
fn items_under_null_lists_are_left_out() {
    // [0 1], null over [2], [], [3], of a slice that begins behind one more list.
    let field = Arc::new(Field::new("item", arrow_schema::DataType::Int32, true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 1, 3, 4, 4, 5]));
    let nulls = NullBuffer::from(vec![true, true, false, true, true]);
    let items = Arc::new(Int32Array::from(vec![9, 0, 1, 2, 3]));
    let list = ListArray::new(field, offsets, items, Some(nulls)).slice(1, 4);
    let (Part::List { lengths, valid }, items) = take_list_apart(&list).unwrap() else { panic!() };
    assert_eq!(lengths, [2, 0, 0, 1]);
    assert_eq!(valid, [true, false, true, true]);
    assert_eq!(items.as_primitive::<Int32Type>().values(), &[0, 1, 3]);
}

#[test]
fn null_structs_are_refused_with_a_way_out() {
    let nulls = Some(NullBuffer::from(vec![true, false]));
    let batch = batch(vec![("s", structs(ints(2), nulls))]);
    let mut sink = Sink::new(Vec::new(), false);
    let what = refused(columns(&batch).push(&batch, 0, &mut sink));
    assert!(what.starts_with("column `s` has structs that are null, which format 2.0"), "{what}");
    assert!(what.contains("write 2.1 or 2.2, or make their fields null instead"), "{what}");
}

/// The rows of each page.
fn taken(columns: &mut ArrayColumns, page_bytes: u64) -> Vec<usize> {
    let mut pages = Vec::new();
    columns.take_pages(page_bytes, |_| true, &mut pages);
    let rows = |page: &DuePage| match &page.rows {
        DueRows::Array { arrays, .. } => arrays.iter().map(|array| array.len()).sum(),
        other => panic!("{other:?}"),
    };
    pages.iter().map(rows).collect()
}

#[test]
fn columns_tell_what_waits() {
    let batch = batch(vec![("n", ints(100))]);
    let mut columns = columns(&batch);
    let mut sink = Sink::new(Vec::new(), false);
    assert_eq!(columns.push(&batch, 7, &mut sink).unwrap(), 401);
    let waiting = |columns: &ArrayColumns, page_bytes| {
        let Waiting { held, oldest, is_full } = columns.waiting(page_bytes).next().unwrap();
        (held, oldest, is_full)
    };
    // The rows that wait came when the file had been given 7 bytes.
    assert_eq!(waiting(&columns, 402), (401 + PIECE_BYTES, Some(7), false));
    assert_eq!(waiting(&columns, 401), (401 + PIECE_BYTES, Some(7), true));
    assert_eq!(taken(&mut columns, 402), [100]);
    assert_eq!(waiting(&columns, 0), (0, None, false));
    assert_eq!(taken(&mut columns, 402), [0; 0]);
    columns.push(&batch, 809, &mut sink).unwrap();
    assert_eq!(taken(&mut columns, 200), [34, 34, 32]);
}

#[test]
fn small_arrays_are_made_one() {
    let batch = batch(vec![("n", ints(2))]);
    let mut columns = columns(&batch);
    let mut sink = Sink::new(Vec::new(), false);
    for _ in 0..1000 {
        columns.push(&batch, 0, &mut sink).unwrap();
    }
    let held = columns.waiting(1 << 20).next().unwrap().held;
    assert!(held < 9 * 1000 + 20 * PIECE_BYTES, "{held}");
    assert_eq!(taken(&mut columns, 1 << 20), [2000]);
}

#[test]
fn structs_have_one_page_at_the_end() {
    let batch = batch(vec![("s", structs(ints(3), None))]);
    let mut columns = columns(&batch);
    let mut sink = Sink::new(Vec::new(), false);
    columns.push(&batch, 0, &mut sink).unwrap();
    columns.push(&batch, 0, &mut sink).unwrap();
    assert_eq!(taken(&mut columns, 1 << 20), [6]);
    let pages = columns.end_pages();
    assert!(matches!(&pages[..], [DuePage { column: 0, rows: DueRows::Structs(6), .. }]));
}
