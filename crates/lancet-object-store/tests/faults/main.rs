//! Whatever goes wrong at whichever request: the result is right, and of one version, or an error; and what was
//! there before a write that failed is there after it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod disk;
mod mutants;
#[path = "../../../lancet/tests/support/mutate/mod.rs"]
#[expect(dead_code, reason = "flips and truncations are for other tests")]
mod mutate;
#[path = "../../../lancet/tests/support/small.rs"]
mod small;
mod store;
mod writes;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use lancet::{Comparison, FileWriter, Filter, ReadOptions, WriteOptions};
use lancet_object_store::{Error, FetchOptions, Reader};
use object_store::path::Path;
use store::{Fault, Faulty};

const ROWS: i64 = 6_000;

/// Numbers that cannot be stored in less than they take.
fn numbers(count: i64, seed: i64) -> Int64Array {
    let mixed = |i: i64| {
        let x = (i + (seed << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9_u64 as i64);
        (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb_u64 as i64)
    };
    Int64Array::from_iter_values((0..count).map(mixed))
}

/// Different rows for each version.
fn table(version: i64) -> RecordBatch {
    let ids = numbers(ROWS, version);
    let names = StringArray::from_iter_values(
        (0..ROWS).map(|i| format!("name {} of {version}", i * 7919 % 10_007)),
    );
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("name", Arc::new(names) as _)])
        .unwrap()
}

fn file(table: &RecordBatch) -> Vec<u8> {
    let options = WriteOptions::default().with_page_bytes(8 << 10);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    writer.write(table).unwrap();
    writer.finish_into().unwrap().1
}

/// What all verbs give.
#[derive(Debug, PartialEq)]
struct Seen {
    taken: RecordBatch,
    rows: Vec<RecordBatch>,
    filtered: Vec<RecordBatch>,
    problems: usize,
}

async fn seen(reader: &Reader) -> Result<Seen, Error> {
    let taken = reader.take(&[7, 5_999, 7, 3_000]).await?;
    let rows = reader.scan().batch_rows(1_000).stream().await?.try_collect().await?;
    let filter = Filter::compare("id", Comparison::Lt, &Int64Array::new_scalar(0));
    let filtered = reader.scan().filter(filter).stream().await?.try_collect().await?;
    let problems = reader.verify().await?.problems.len();
    Ok(Seen { taken, rows, filtered, problems })
}

async fn read(store: &Arc<Faulty>, path: &Path) -> Result<Seen, Error> {
    // Requests that are small and many.
    let fetch = FetchOptions::default()
        .with_tail_bytes(1 << 10)
        .with_latency(Duration::ZERO)
        .with_max_request_bytes(64 << 10);
    let reader =
        Reader::open_with(store.clone(), path.clone(), ReadOptions::default(), fetch).await?;
    seen(&reader).await
}

/// A store with the first of two files, and what is in both.
struct Scene {
    path: Path,
    files: [Vec<u8>; 2],
    seen: Vec<Seen>,
}

impl Scene {
    async fn new() -> Self {
        let path = Path::from("t.lance");
        let files = [1, 2].map(|version| file(&table(version)));
        let mut scene = Self { path, files, seen: Vec::new() };
        for version in 0..2 {
            let store = Faulty::new(vec![], Fault::None, 0, true);
            store.set(&scene.path, scene.files[version].clone()).await;
            let found = read(&store, &scene.path).await.unwrap();
            assert_eq!(found.problems, 0);
            scene.seen.push(found);
        }
        assert_ne!(scene.seen[0], scene.seen[1]);
        scene
    }

    async fn store(&self, fault: Fault, at: usize, tags: bool) -> Arc<Faulty> {
        let store = Faulty::new(self.files[1].clone(), fault, at, tags);
        store.set(&self.path, self.files[0].clone()).await;
        store
    }
}

#[tokio::test]
async fn every_fault_at_every_request() {
    let scene = Scene::new().await;
    let sound = scene.store(Fault::None, 0, true).await;
    read(&sound, &scene.path).await.unwrap();
    let requests = sound.requests();
    assert!(requests > 30, "{requests}");
    let faults = [
        Fault::Fail,
        Fault::Short,
        Fault::Nothing,
        Fault::Twice,
        Fault::Late,
        Fault::Replaced,
        Fault::Foreign,
    ];
    for fault in faults {
        for tags in [true, false] {
            for at in 0..requests {
                let store = scene.store(fault, at, tags).await;
                let read = read(&store, &scene.path);
                let found = tokio::time::timeout(Duration::from_secs(60), read).await;
                let found = found.unwrap_or_else(|_| panic!("{fault:?} at {at}: does not end"));
                match (fault, found) {
                    (Fault::Late, found) => assert_eq!(found.unwrap(), scene.seen[0], "at {at}"),
                    // Nothing was read before.
                    (Fault::Replaced, Ok(found)) if at == 0 => assert_eq!(found, scene.seen[1]),
                    (Fault::Replaced | Fault::Foreign, Err(error)) => {
                        assert!(matches!(error, Error::Changed(_)), "{fault:?} at {at}: {error}");
                        assert!(error.to_string().contains("open it again"), "{error}");
                    }
                    (Fault::Fail, Err(error)) => assert!(error.to_string().contains("on fire")),
                    (Fault::Short | Fault::Nothing | Fault::Twice, Err(error)) => {
                        assert!(matches!(error, Error::Answer { .. }), "{fault:?} {at}: {error}");
                    }
                    (_, Err(error)) => panic!("{fault:?} at {at}: {error}"),
                    (_, Ok(_)) => panic!("{fault:?} at {at}, tags {tags}: was not noticed"),
                }
                assert!(store.requests() <= requests, "{fault:?} at {at} asks again and again");
            }
        }
    }
}

/// What lies between the spans of a read is not counted by its budget, and so has to be let go.
#[tokio::test]
async fn gaps_are_not_held() {
    let ids = numbers(4_000_000, 1);
    let table = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap();
    let path = Path::from("t.lance");
    let store = Faulty::new(vec![], Fault::None, 0, true);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), WriteOptions::default()).unwrap();
    writer.write(&table).unwrap();
    store.set(&path, writer.finish_into().unwrap().1).await;
    let limit = 2 << 20;
    let options = ReadOptions::default().with_memory_limit(limit);
    let fetch = FetchOptions::default();
    let reader = Reader::open_with(store.clone(), path, options, fetch).await.unwrap();
    let rows: Vec<u64> = (0..25).map(|i| i * 159_999).collect();
    let found = reader.take(&rows).await.unwrap();
    assert_eq!(found.slice(24, 1), table.slice(24 * 159_999, 1));
    let most = store.held.most.load(Ordering::SeqCst);
    assert!(most < 2 * limit, "{most} bytes were held under a limit of {limit}");
}
