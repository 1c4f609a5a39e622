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
    assert!(what.starts_with("structs that are null in format 2.0"), "{what}");
    assert!(what.contains("write 2.1 or 2.2, or make their fields null instead"), "{what}");
}

#[test]
fn pages_are_due_when_they_are_full_or_old() {
    let batch = batch(vec![("n", ints(100))]);
    let mut columns = columns(&batch);
    let mut sink = Sink::new(Vec::new(), false);
    let rows = |pages: Vec<Vec<EncodedArray>>| {
        pages.iter().map(|p| p.iter().map(|page| page.num_rows).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(columns.push(&batch, 7, &mut sink).unwrap(), 401);
    assert_eq!(columns.waiting_bytes(), 401);
    assert_eq!(rows(columns.due_pages(402, 1, |_| false).unwrap()), [[0_u64; 0]]);
    // The rows that wait came when the file had been given 7 bytes.
    assert_eq!(rows(columns.due_pages(402, 1, |oldest| oldest == 7).unwrap()), [[100]]);
    assert_eq!(rows(columns.due_pages(402, 1, |_| true).unwrap()), [[0_u64; 0]]);
    columns.push(&batch, 408, &mut sink).unwrap();
    assert_eq!(rows(columns.due_pages(401, 1, |_| false).unwrap()), [[100]]);
    columns.push(&batch, 809, &mut sink).unwrap();
    assert_eq!(rows(columns.last_pages(200, 1).unwrap()), [[34, 34, 32]]);
}

#[test]
fn structs_have_one_page_at_the_end() {
    let batch = batch(vec![("s", structs(ints(3), None))]);
    let mut columns = columns(&batch);
    let mut sink = Sink::new(Vec::new(), false);
    columns.push(&batch, 0, &mut sink).unwrap();
    columns.push(&batch, 0, &mut sink).unwrap();
    let pages = columns.last_pages(1 << 20, 1).unwrap();
    assert_eq!((pages[0].len(), pages[0][0].num_rows), (1, 6));
    assert_eq!((pages[1].len(), pages[1][0].num_rows), (1, 6));
}
