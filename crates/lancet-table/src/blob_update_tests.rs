//! Updates of rows with blobs, which are read and written along.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use lancet::{ReadOptions, Rows};

use crate::chosen_rows::TableRows;
use crate::fault_tests::{options, root};
use crate::opening::Opened;
use crate::options::TableOptions;
use crate::row_source::{Given, Nothing, RowSource};
use crate::simulated::Simulated;
use crate::storage::ready;
use crate::write::create;

const ROWS: i64 = 40;
const BLOB: usize = 100_000;

fn source(batch: RecordBatch) -> impl RowSource {
    let schema = batch.schema();
    Given(RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema))
}

fn keys(first: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(first..first + ROWS))
}

/// All blobs of a batch are more than the memory limit allows, each single one is not.
#[test]
fn blobs_of_updated_rows_come_in_parts() {
    let metadata = [("lance-encoding:blob".to_owned(), "true".to_owned())];
    let blob = Field::new("b", DataType::LargeBinary, true).with_metadata(metadata.into());
    let key = Field::new("k", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![key.clone(), blob]));
    let byte = |key: i64| u8::try_from(key).unwrap();
    let blobs = LargeBinaryArray::from_iter_values((0..ROWS).map(|key| vec![byte(key); BLOB]));
    let batch = RecordBatch::try_new(schema, vec![keys(0), Arc::new(blobs)]).unwrap();
    let store = Simulated::new();
    let write = options(true).with_max_rows_per_fragment(1000);
    ready(create(store.clone(), root(), source(batch), &write)).unwrap();

    let read = ReadOptions::default().with_memory_limit(5 * BLOB as u64);
    let limited = TableOptions::default().with_read_options(read);
    let table = ready(Opened::open(store.clone(), root(), limited)).unwrap();
    let changed = Arc::new(Schema::new(vec![key]));
    let changed = source(RecordBatch::try_new(changed, vec![keys(100)]).unwrap());
    let rows = TableRows::Numbers((0..ROWS as u64).collect());
    let nothing = Nothing(table.reads.snapshot.schema.arrow.clone());
    let (_, told) = ready(table.update(&rows, changed, nothing, &write)).unwrap();
    assert_eq!(told.rows_updated, ROWS as u64);

    let table = ready(Opened::open(store, root(), TableOptions::default())).unwrap();
    assert_eq!(table.manifest().fragments.len(), 1);
    let columns = table.project(["k", "b"].into()).unwrap();
    let found = ready(table.reads.read(0, &columns, &Rows::All)).unwrap();
    assert_eq!(found.column(0), &keys(100));
    let blobs = found.column(1).as_binary::<i64>();
    let expected = (0..ROWS).map(|key| vec![byte(key); BLOB]);
    assert!(blobs.iter().zip(expected).all(|(found, wanted)| found == Some(wanted.as_slice())));
}
