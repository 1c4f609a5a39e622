//! Rows with blobs, which are read and written along.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use lancet::{ReadOptions, Rows};

use crate::chosen_rows::TableRows;
use crate::fault_tests::{NONE, options, root};
use crate::opening::Opened;
use crate::options::TableOptions;
use crate::row_source::{Given, Nothing, RowSource};
use crate::simulated::{Fault, Simulated};
use crate::storage::ready;
use crate::write::{create, is_certain};

const ROWS: i64 = 40;
const BLOB: usize = 100_000;

fn source(batch: RecordBatch) -> impl RowSource {
    let schema = batch.schema();
    Given(RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema))
}

fn keys(first: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(first..first + ROWS))
}

fn byte(key: i64) -> u8 {
    u8::try_from(key).unwrap()
}

/// Keys, and blobs of which each has a byte of its own.
fn batch() -> RecordBatch {
    let metadata = [("lance-encoding:blob".to_owned(), "true".to_owned())];
    let blob = Field::new("b", DataType::LargeBinary, true).with_metadata(metadata.into());
    let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, false), blob]));
    let blobs = LargeBinaryArray::from_iter_values((0..ROWS).map(|key| vec![byte(key); BLOB]));
    RecordBatch::try_new(schema, vec![keys(0), Arc::new(blobs)]).unwrap()
}

/// Files of blobs lie beside data files, which may not be there yet.
#[test]
fn blobs_of_rows_that_cannot_be_written_go() {
    for fault in [Fault::Fail, Fault::FailAfter] {
        let mut blobs = 0;
        for request in 0.. {
            let store = Simulated::new();
            store.strike(request, fault);
            let write = options(true).with_max_rows_per_fragment(10);
            let made = ready(create(store.clone(), root(), source(batch()), &write));
            if !store.has_struck() {
                blobs = store
                    .paths()
                    .iter()
                    .filter(|path| path.extension() == Some("blob".as_ref()))
                    .count();
                break;
            }
            let what = format!("{fault:?} at request {request}");
            match made {
                Err(error) if is_certain(&error) => {
                    assert_eq!(store.paths(), NONE, "{what}: {error}");
                }
                _ => {}
            }
        }
        assert!(blobs > 0);
    }
}

/// All blobs of a batch are more than the memory limit allows, each single one is not.
#[test]
fn blobs_of_updated_rows_come_in_parts() {
    let batch = batch();
    let key = batch.schema().field(0).clone();
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
