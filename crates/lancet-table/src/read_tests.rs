//! Reads of tables that are wide, damaged, or asked for very much.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use lancet::{ReadOptions, Rows};

use crate::columns::{ROW_ID, TableProjection};
use crate::error::{Error, Result};
use crate::options::TableOptions;
use crate::read::Reads;
use crate::snapshot::Snapshot;
use crate::storage::ready;
use crate::table::Table;
use crate::write_options::TableWriteOptions;

fn table(folder: &std::path::Path, batch: &RecordBatch, rows_per_fragment: u64) -> Table {
    let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let options = TableWriteOptions::default().with_max_rows_per_fragment(rows_per_fragment);
    Table::create_with(folder, rows, &options).unwrap()
}

#[test]
fn repeated_rows_count() {
    let folder = tempfile::tempdir().unwrap();
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..10).map(|i| format!("{i}").repeat(1_000))));
    let batch = RecordBatch::try_from_iter([("t", texts)]).unwrap();
    table(folder.path(), &batch, 5);
    let read = ReadOptions::default().with_memory_limit(1 << 20);
    let options = TableOptions::default().with_read_options(read);
    let table = Table::open_with(folder.path(), options).unwrap();
    assert_eq!(table.take(&[3; 100], ..).unwrap().num_rows(), 100);
    let is_limit = |taken: Result<RecordBatch>| match taken.unwrap_err() {
        Error::Limit { option, .. } => assert_eq!(option, "memory_limit"),
        Error::Data { source: lancet::Error::Limit { option, .. }, .. } => {
            assert_eq!(option, "memory_limit");
        }
        other => panic!("{other}"),
    };
    is_limit(table.take(&[3; 10_000], ..));
    is_limit(table.take_addresses(&[3; 10_000], ..));
    // Each of two fragments is asked for less than that.
    is_limit(table.take(&[3, 7].repeat(700), ..));
}

#[test]
fn fields_that_cannot_be_null_are_not_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let field = |name: &str| Field::new(name, DataType::Int64, false);
    let inner = StructArray::new(vec![field("in")].into(), vec![numbers.clone()], None);
    let schema = Schema::new(vec![
        field("a"),
        field("b"),
        Field::new("s", inner.data_type().clone(), false),
    ]);
    let columns = vec![numbers.clone(), numbers, Arc::new(inner) as ArrayRef];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let table = table(folder.path(), &batch, 5);
    let known = &table.at.reads;
    for (lost, name) in [(vec![0], "a"), (vec![2, 3], "in"), (vec![0, 1, 2, 3], "a")] {
        let mut manifest = known.snapshot.manifest.as_ref().clone();
        let file = &mut Arc::make_mut(&mut manifest.fragments[0]).files[0];
        let fields = file.fields.iter().map(|id| if lost.contains(id) { -2 } else { *id });
        file.fields = fields.collect();
        let snapshot = Arc::new(Snapshot::new(Arc::new(manifest)).unwrap());
        let reads = Reads { snapshot, ..known.clone() };
        let columns = TableProjection::all(&reads.snapshot.schema);
        match ready(reads.read(0, &columns, &Rows::All)) {
            Err(Error::Corrupt { rule, .. }) => {
                assert!(rule.contains("fragment 0"), "{rule}");
                assert!(rule.contains(&format!("`{name}`")), "{rule}");
            }
            read => panic!("{lost:?}: {read:?}"),
        }
    }
}

#[test]
fn fields_that_share_a_column_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("a", numbers.clone()), ("b", numbers)]).unwrap();
    let table = table(folder.path(), &batch, 5);
    let known = &table.at.reads;
    let mut manifest = known.snapshot.manifest.as_ref().clone();
    Arc::make_mut(&mut manifest.fragments[0]).files[0].columns = [0, 0].into();
    let snapshot = Arc::new(Snapshot::new(Arc::new(manifest)).unwrap());
    let reads = Reads { snapshot, ..known.clone() };
    let columns = TableProjection::all(&reads.snapshot.schema);
    match ready(reads.read(0, &columns, &Rows::All)) {
        Err(Error::Corrupt { rule, .. }) => {
            assert!(rule.contains("fragment 0") && rule.contains("`b`"), "{rule}");
        }
        read => panic!("{read:?}"),
    }
}

#[test]
fn many_columns_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let children = (0..2_000).map(|i| Arc::new(Field::new(format!("c{i}"), DataType::Int64, true)));
    let wide = StructArray::new(children.collect(), vec![number.clone(); 2_000], None);
    let columns = (0..2_000).map(|i| (format!("a{i}"), number.clone()));
    let columns = columns.chain([("s".to_owned(), Arc::new(wide) as ArrayRef)]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = table(folder.path(), &batch, 5);
    let mut names: Vec<String> = (0..2_000).rev().map(|i| format!("a{i}")).collect();
    names.extend((0..2_000).rev().map(|i| format!("s.c{i}")));
    names.extend([ROW_ID, ROW_ID, "a7"].map(str::to_owned));
    let schema = table.project(names).unwrap().schema();
    assert_eq!(schema.fields().len(), 2_002);
    assert_eq!(
        (schema.field(0).name().as_str(), schema.field(1_999).name().as_str()),
        ("a1999", "a0")
    );
    let DataType::Struct(children) = schema.field(2_000).data_type() else { panic!("{schema}") };
    assert_eq!((children.len(), children[0].name().as_str()), (2_000, "c1999"));
    assert_eq!(schema.field(2_001).name(), ROW_ID);
    for unknown in ["s.x", "a1.b", "d", "s."] {
        assert!(table.project([unknown]).is_err(), "{unknown}");
    }
}
