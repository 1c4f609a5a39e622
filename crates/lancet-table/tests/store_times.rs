//! How long reads of tables take in a store with 30 ms of latency and 100 MB/s for each request, beside the best schedule
//! there is: requests that do not need each other under way together, 16 at a time, and no byte too many.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../lancet-object-store/tests/requests/clock.rs"]
mod clock;
#[path = "support/paced.rs"]
mod paced;

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{
    Array, ArrayRef, Float32Array, Int64Array, LargeBinaryArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use futures::TryStreamExt;
use lancet::{Comparison, Filter, Version};
use lancet_object_store::FetchOptions;
use lancet_object_store::object_store::ObjectStoreExt as _;
use lancet_object_store::object_store::path::Path;
use lancet_table::{StoreScan, StoreTable, Table, TableOptions, TableWriteOptions};
use paced::{Asked, BYTES_PER_SECOND, LATENCY, Paced};

const CONCURRENCY: u64 = 16;
/// What a scan holds, by default.
const HELD: u64 = 32 << 20;

fn mixed(i: u64) -> u64 {
    (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Six columns of some 70 bytes a row; `at` rises.
fn rows(count: u64) -> impl RecordBatchReader {
    let rows = || (0..count).map(mixed);
    let ints = |shift: u32| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows().map(|i| (i >> shift) as i64)))
    };
    let floats = |shift: u32| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(rows().map(|i| (i >> shift) as f32)))
    };
    let texts = StringArray::from_iter_values(rows().map(|i| format!("{i:016x}{:016x}", mixed(i))));
    let table = RecordBatch::try_from_iter([
        ("at", Arc::new(Int64Array::from_iter_values(0..count as i64)) as ArrayRef),
        ("a", ints(0)),
        ("b", ints(5)),
        ("c", floats(0)),
        ("d", floats(7)),
        ("text", Arc::new(texts)),
    ])
    .unwrap();
    one(table)
}

fn one(batch: RecordBatch) -> impl RecordBatchReader {
    RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
}

/// A table in a store.
struct Slow {
    store: Arc<Paced>,
    /// Bytes of all data files.
    size: u64,
}

impl Slow {
    /// The table that `make` writes into a folder.
    fn new(make: impl FnOnce(&FilePath) -> Table) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("t.lance");
        make(&place);
        let mut slow = Self { store: Arc::default(), size: 0 };
        slow.put(&place, "t.lance");
        slow
    }

    fn put(&mut self, folder: &FilePath, name: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let (path, name) = {
                let path = entry.unwrap().path();
                let last = path.file_name().unwrap().to_str().unwrap();
                (path.clone(), format!("{name}/{last}"))
            };
            if path.is_dir() {
                self.put(&path, &name);
                continue;
            }
            let bytes = std::fs::read(path).unwrap();
            if name.contains("/data/") {
                self.size += bytes.len() as u64;
            }
            self.store.clock.run(self.store.put(&Path::from(name), bytes.into())).0.unwrap();
        }
    }

    fn open(&self) -> StoreTable {
        let fetch = FetchOptions::default()
            .with_latency(LATENCY)
            .with_bytes_per_second(BYTES_PER_SECOND)
            .with_concurrency(CONCURRENCY as usize);
        let (store, options) = (self.store.clone(), TableOptions::default());
        let open = StoreTable::open_with(store, "t.lance".into(), options, fetch);
        self.timed(open).0.unwrap()
    }

    /// What a future comes to, how long it takes, and what the store was asked for.
    fn timed<T>(&self, future: impl Future<Output = T>) -> (T, Duration, Vec<Asked>) {
        self.store.asked();
        let (found, time) = self.store.clock.run(future);
        (found, time, self.store.asked())
    }

    /// The rows of a scan, how long it takes, and what the store was asked for.
    fn scan(&self, scan: StoreScan) -> (usize, Duration, Vec<Asked>) {
        let (batches, time, asked) = self.timed(async {
            scan.stream().await.unwrap().try_collect::<Vec<RecordBatch>>().await.unwrap()
        });
        assert!(batches.iter().all(|batch| batch.num_rows() <= 8_192));
        (batches.iter().map(RecordBatch::num_rows).sum(), time, asked)
    }
}

/// The time of `rounds` that depend on each other, and of all bytes over as many requests as may be under way.
fn best(rounds: u64, bytes: u64) -> Duration {
    let bytes = bytes as f64 / (CONCURRENCY * BYTES_PER_SECOND) as f64;
    LATENCY * u32::try_from(rounds).unwrap() + Duration::from_secs_f64(bytes)
}

/// The time of requests of which each is one of `rounds` that depend on each other, for many files.
fn best_of(asked: &[Asked], rounds: u64) -> Duration {
    let full = (asked.len() as u64).div_ceil(CONCURRENCY);
    best(full.max(rounds), asked.iter().map(|one| one.bytes).sum())
}

fn check(what: &str, time: Duration, best: Duration) {
    let share = time.as_secs_f64() / best.as_secs_f64();
    println!(
        "{what}: {:.1} ms, best {:.1}, {share:.2}",
        time.as_secs_f64() * 1e3,
        best.as_secs_f64() * 1e3
    );
    assert!(share < 1.3, "{what}: {time:?}, best {best:?}");
}

#[test]
fn a_large_fragment_takes_hardly_longer_than_the_best_schedule() {
    const ROWS: u64 = 600_000;
    let slow = Slow::new(|place| Table::create(place, rows(ROWS)).unwrap());
    let store = slow.store.clone();
    let (table, time, asked) = slow.timed(StoreTable::open(store, "t.lance".into()));
    assert_eq!((table.unwrap().version(), asked.len()), (1, 2));
    check("open", time, best(2, 0));

    let table = slow.open();
    // The file, the indexes of the pages, then the rows.
    let (batch, time, _) = slow.timed(table.take(&[ROWS / 2], ..));
    assert_eq!(batch.unwrap().num_rows(), 1);
    check("first take", time, best(3, 256 << 10));
    let all: Vec<u64> = (0..60).map(|i| i * 10_000).collect();
    slow.timed(table.take(&all, ..)).0.unwrap();
    for count in [1, 100, 10_000] {
        let mut rows: Vec<u64> = (0..count).map(|i| mixed(i) % ROWS).collect();
        rows.sort_unstable();
        let (batch, time, asked) = slow.timed(table.take(&rows, ..));
        assert_eq!(batch.unwrap().num_rows(), rows.len());
        check(&format!("take {count}"), time, best(1, if count == 1 { 0 } else { slow.size }));
        assert!(asked.len() as u64 <= 2 * CONCURRENCY, "{} requests", asked.len());
    }

    // A scan holds no more than it may: so many bytes, decoded, in each round. Before, the file is opened and the chunks of
    // the pages are found.
    let (found, time, _) = slow.scan(slow.open().scan());
    assert_eq!(found as u64, ROWS);
    check("scan", time, best((ROWS * 68).div_ceil(HELD) + 2, slow.size));
    let (_, time, _) = slow.scan(slow.open().scan().columns(["a"]));
    check("one column", time, best(2, ROWS * 8));
    let late = Filter::compare("at", Comparison::Gt, &Int64Array::new_scalar(ROWS as i64 - 101));
    let (found, time, _) = slow.scan(slow.open().scan().columns(["a", "text"]).filter(late));
    assert_eq!(found, 100);
    // The file, zone maps, indexes and data of the filter, indexes and data of the rest.
    check("filtered scan", time, best(6, 256 << 10));
}

/// Whoever stops to ask for batches stops the requests.
#[test]
fn a_scan_reads_no_further_ahead_than_it_may() {
    for (rows_of_fragment, least) in [(1 << 20, 1), (1_000, 8)] {
        let slow = Slow::new(|place| {
            let options = TableWriteOptions::default().with_max_rows_per_fragment(rows_of_fragment);
            Table::create_with(place, rows(200_000), &options).unwrap()
        });
        let table = slow.open();
        let scan = table.scan().batch_bytes(512 << 10).ahead(2);
        let ((batch, batches), _, asked) = slow.timed(async {
            let mut batches = scan.stream().await.unwrap();
            let batch = batches.try_next().await.unwrap().unwrap();
            (batch, batches)
        });
        // Tails of files are read to open them.
        let tails = asked.iter().filter(|one| one.bytes == 256 << 10).count();
        let read = asked.iter().map(|one| one.bytes).sum::<u64>() - (tails as u64 * (256 << 10));
        assert!(batch.num_rows() > 0 && asked.len() >= least, "{asked:?}");
        assert!(read < 3 << 20, "{read} bytes");
        drop(batches);
    }
}

#[test]
fn many_small_fragments_are_read_together() {
    const FRAGMENTS: u64 = 100;
    const EACH: u64 = 2_000;
    for deleted in [false, true] {
        let slow = Slow::new(|place| {
            let options = TableWriteOptions::default().with_max_rows_per_fragment(EACH);
            let options = options.with_stable_row_ids(true);
            let mut table = Table::create_with(place, rows(FRAGMENTS * EACH), &options).unwrap();
            if deleted {
                let some: Vec<u64> = (0..FRAGMENTS).map(|i| i * EACH + 7).collect();
                table.delete(some).unwrap();
            }
            table
        });
        let live = FRAGMENTS * (EACH - u64::from(deleted));
        let num_files = FRAGMENTS * (1 + u64::from(deleted));
        let (found, time, asked) = slow.scan(slow.open().scan());
        assert_eq!(found as u64, live);
        check("scan", time, best_of(&asked, 3));
        let late = Filter::compare("at", Comparison::Gt, &Int64Array::new_scalar(0));
        let (found, time, asked) = slow.scan(slow.open().scan().columns(["a"]).filter(late));
        assert_eq!(found as u64, live - 1);
        check("filtered scan", time, best_of(&asked, 6));

        // A file, the index and the row of each fragment.
        let some: Vec<u64> = (0..FRAGMENTS).map(|i| i * (live / FRAGMENTS)).collect();
        let table = slow.open();
        let (batch, time, asked) = slow.timed(table.take(&some, ["a"]));
        assert_eq!(batch.unwrap().num_rows(), some.len());
        assert!(asked.len() as u64 <= num_files + 2 * FRAGMENTS, "{} requests", asked.len());
        check("take", time, best_of(&asked, 3));
        let (batch, time, asked) = slow.timed(table.take(&some, ["a"]));
        assert_eq!((batch.unwrap().num_rows(), asked.len()), (some.len(), some.len()));
        check("take again", time, best_of(&asked, 1));
        let addresses: Vec<u64> = (0..FRAGMENTS).map(|i| i << 32).collect();
        let table = slow.open();
        let (batch, time, asked) = slow.timed(table.take_addresses(&addresses, ["a"]));
        assert_eq!(batch.unwrap().num_rows(), addresses.len());
        check("take by address", time, best_of(&asked, 3));
        let ids: Vec<u64> = (0..FRAGMENTS).map(|i| i * EACH).collect();
        let table = slow.open();
        let (batch, time, asked) = slow.timed(table.take_row_ids(&ids, ["a"]));
        assert_eq!(batch.unwrap().num_rows(), ids.len());
        check("take by id", time, best_of(&asked, 3));
    }
}

#[test]
fn data_files_of_a_fragment_are_read_together() {
    let slow = Slow::new(|place| {
        let mut table = Table::create(place, rows(20_000)).unwrap();
        for name in ["e", "f", "g", "h", "i"] {
            let new = Arc::new(Schema::new(vec![Field::new(name, DataType::Int64, true)]));
            let values = |rows: &RecordBatch| {
                Ok(RecordBatch::try_new(new.clone(), vec![rows["a"].clone()])?)
            };
            table.add_columns(new.clone(), ["a"], values, &TableWriteOptions::default()).unwrap();
        }
        table
    });
    let table = slow.open();
    let (batch, time, asked) = slow.timed(table.take(&[10_000], ..));
    assert_eq!(batch.unwrap().num_columns(), 11);
    // Six files, whose indexes may come with the row.
    check("take", time, best_of(&asked, 3));
    let (found, time, asked) = slow.scan(slow.open().scan());
    assert_eq!(found, 20_000);
    check("scan", time, best_of(&asked, 3));
}

#[test]
fn blobs_beside_data_files_are_read_together() {
    for (from, files) in [(1, 100), (1 << 20, 1)] {
        let slow = Slow::new(|place| {
            let metadata = [
                ("lance-encoding:blob", "true".to_owned()),
                ("lance-encoding:blob-dedicated-size-threshold", from.to_string()),
            ];
            let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
            let blob = Field::new("b", DataType::LargeBinary, true).with_metadata(metadata);
            let values = LargeBinaryArray::from_iter_values((0..100).map(|i| vec![i as u8; 5_000]));
            let schema = Arc::new(Schema::new(vec![blob]));
            let batch = RecordBatch::try_new(schema, vec![Arc::new(values)]).unwrap();
            let options = TableWriteOptions::default().with_storage_version(Version::V2_2);
            Table::create_with(place, one(batch), &options).unwrap()
        });
        let table = slow.open();
        let wanted: Vec<u64> = (0..100).rev().collect();
        let (batch, time, asked) = slow.timed(table.take(&wanted, ["b"]));
        let batch = batch.unwrap();
        let blobs = batch["b"].as_any().downcast_ref::<LargeBinaryArray>().unwrap();
        assert!(wanted.iter().zip(blobs).all(|(row, blob)| blob.unwrap() == [*row as u8; 5_000]));
        let beside = asked.iter().filter(|one| one.path.ends_with(".blob")).count();
        assert!((files..=CONCURRENCY as usize + files).contains(&beside), "{beside} requests");
        // The file, where the blobs lie, and the blobs.
        check("blobs", time, best(2 + (files as u64).div_ceil(CONCURRENCY), 500_000));
    }
}
