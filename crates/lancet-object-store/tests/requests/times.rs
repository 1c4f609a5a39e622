//! How long reads take in a store with 30 ms of latency and 100 MB/s for each request, beside the best schedule there
//! is: as many requests under way as may be, all of one length, and no byte too many.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use lancet::{Comparison, Filter, ReadOptions, WriteOptions};
use lancet_object_store::{FetchOptions, Reader};
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::clock::Clock;
use crate::store::{Noted, Pace, shared};

const LATENCY: Duration = Duration::from_millis(30);
const BYTES_PER_SECOND: u64 = 100_000_000;
const CONCURRENCY: u64 = 16;
/// What a scan holds, by default.
const HELD: u64 = 32 << 20;
const ROWS: u64 = 600_000;

fn mixed(i: u64) -> u64 {
    (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Six columns of some 70 bytes a row; `at` rises.
fn file() -> Vec<u8> {
    let rows = || (0..ROWS).map(mixed);
    let ints = |shift: u32| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows().map(|i| (i >> shift) as i64)))
    };
    let floats = |shift: u32| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(rows().map(|i| (i >> shift) as f32)))
    };
    let texts = StringArray::from_iter_values(rows().map(|i| format!("{i:016x}{:016x}", mixed(i))));
    let table = RecordBatch::try_from_iter([
        ("at", Arc::new(Int64Array::from_iter_values(0..ROWS as i64)) as ArrayRef),
        ("a", ints(0)),
        ("b", ints(5)),
        ("c", floats(0)),
        ("d", floats(7)),
        ("text", Arc::new(texts)),
    ])
    .unwrap();
    let mut writer =
        lancet::FileWriter::new(Vec::new(), table.schema(), WriteOptions::default()).unwrap();
    (0..ROWS as usize).step_by(10_000).for_each(|start| {
        writer.write(&table.slice(start, 10_000)).unwrap();
    });
    writer.finish_into().unwrap().1
}

struct Slow {
    store: Arc<Noted>,
    clock: Clock,
    path: Path,
    /// Bytes of the file.
    size: u64,
}

impl Slow {
    fn new() -> Self {
        Self::of(file())
    }

    fn of(bytes: Vec<u8>) -> Self {
        let clock = Clock::default();
        let pace =
            Pace { clock: clock.clone(), latency: LATENCY, bytes_per_second: BYTES_PER_SECOND };
        let (store, path) = (Arc::new(Noted::slow(pace)), Path::from("t.lance"));
        let size = bytes.len() as u64;
        clock.run(store.put(&path, bytes.into())).0.unwrap();
        Self { store, clock, path, size }
    }

    fn open(&self) -> (Reader, Duration) {
        let options = FetchOptions::default().with_latency(LATENCY);
        let options = options.with_bytes_per_second(BYTES_PER_SECOND);
        let store = shared(&self.store);
        let open = Reader::open_with(store, self.path.clone(), ReadOptions::default(), options);
        let (reader, time) = self.clock.run(open);
        (reader.unwrap(), time)
    }

    fn scan(&self, columns: &[&str], filter: Option<Filter>) -> (usize, Duration) {
        let (reader, _) = self.open();
        let mut scan = reader.scan().columns(columns);
        if let Some(filter) = filter {
            scan = scan.filter(filter);
        }
        let (batches, time) = self.clock.run(async {
            scan.stream().await.unwrap().try_collect::<Vec<RecordBatch>>().await.unwrap()
        });
        assert!(batches.iter().all(|batch| batch.num_rows() <= 8_192));
        (batches.iter().map(RecordBatch::num_rows).sum(), time)
    }
}

/// The time of `rounds` that depend on each other, and of all bytes over as many requests as may be under way.
fn best(rounds: u32, bytes: u64) -> Duration {
    let bytes = bytes as f64 / (CONCURRENCY * BYTES_PER_SECOND) as f64;
    LATENCY * rounds + Duration::from_secs_f64(bytes)
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
fn reads_take_hardly_longer_than_the_best_schedule() {
    let slow = Slow::new();
    let (reader, time) = slow.open();
    assert_eq!(slow.store.gets().len(), 1);
    check("open", time, best(1, 0));

    // The indexes of the pages, then the rows.
    let take = |rows: &[u64]| slow.clock.run(reader.take(rows)).0.unwrap();
    let (batch, time) = slow.clock.run(reader.take(&[ROWS / 2]));
    assert_eq!(batch.unwrap().num_rows(), 1);
    check("first take", time, best(2, 0));
    // All indexes.
    take(&(0..60).map(|i| i * 10_000).collect::<Vec<_>>());
    slow.store.gets();
    let (_, time) = slow.clock.run(reader.take(&[ROWS / 3]));
    check("take 1", time, best(1, 0));
    for count in [100, 10_000] {
        let mut rows: Vec<u64> = (0..count).map(|i| mixed(i) % ROWS).collect();
        rows.sort_unstable();
        slow.store.gets();
        let (batch, time) = slow.clock.run(reader.take(&rows));
        assert_eq!(batch.unwrap().num_rows(), rows.len());
        // Chunks lie everywhere, and there are more than can be asked for one by one.
        check(&format!("take {count}"), time, best(1, slow.size));
        let requests = slow.store.gets().len();
        assert!(requests <= 2 * CONCURRENCY as usize, "{requests} requests");
    }

    // A scan holds no more than it may: so many bytes, decoded, in each round. One more finds the chunks of the pages.
    let in_rounds = |row_bytes: u64, stored: u64| {
        let rounds = u32::try_from((ROWS * row_bytes).div_ceil(HELD)).unwrap();
        best(rounds + 1, stored)
    };
    let (rows, time) = slow.scan(&["at", "a", "b", "c", "d", "text"], None);
    assert_eq!(rows, ROWS as usize);
    check("scan", time, in_rounds(68, slow.size));
    let (_, time) = slow.scan(&["a"], None);
    // A whole page needs no index.
    check("one column", time, best(1, ROWS * 8));
    let late = Filter::compare("at", Comparison::Gt, &Int64Array::new_scalar(ROWS as i64 - 101));
    let (rows, time) = slow.scan(&["a", "text"], Some(late));
    assert_eq!(rows, 100);
    // Zone maps, indexes and data of the filter, indexes and data of the rest.
    check("filtered scan", time, best(5, 0));
}

#[test]
fn global_buffers_are_fetched_together() {
    let table = RecordBatch::try_from_iter([(
        "at",
        Arc::new(Int64Array::from_iter_values(0..10)) as ArrayRef,
    )])
    .unwrap();
    let mut writer =
        lancet::FileWriter::new(Vec::new(), table.schema(), WriteOptions::default()).unwrap();
    writer.write(&table).unwrap();
    let buffers: Vec<Vec<u8>> = (0..10_u8).map(|i| vec![i; 300_000]).collect();
    for buffer in &buffers {
        writer.add_global_buffer(buffer).unwrap();
    }
    let slow = Slow::of(writer.finish_into().unwrap().1);
    let (reader, _) = slow.open();
    let (found, time) = slow.clock.run(reader.user_buffers());
    assert_eq!(found.unwrap(), buffers);
    // The last one tells whether it holds checksums.
    check("buffers", time, best(2, 10 * 300_000));
}
