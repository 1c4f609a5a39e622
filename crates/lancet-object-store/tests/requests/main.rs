//! What a store is asked for, and that the rows are those that were written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod clock;
mod store;
mod times;

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Int64Array, LargeBinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use futures::TryStreamExt;
use lancet::{Comparison, FileReader, Filter, ReadOptions, RowRanges, WriteOptions};
use lancet_object_store::{Error, FetchOptions, Reader, Writer};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use store::{Noted, shared};

const ROWS: i64 = 300_000;

fn table() -> RecordBatch {
    let ids = Int64Array::from_iter_values(
        (0..ROWS).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)),
    );
    let names =
        StringArray::from_iter_values((0..ROWS).map(|i| format!("name {}", i * 7919 % 100_003)));
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("name", Arc::new(names) as _)])
        .unwrap()
}

async fn written(store: &Arc<Noted>, path: &str, table: &RecordBatch) -> Path {
    let path = Path::from(path);
    let mut writer =
        Writer::new(shared(store), &path, table.schema(), WriteOptions::default()).await.unwrap();
    for start in (0..table.num_rows()).step_by(50_000) {
        writer.write(&table.slice(start, 50_000.min(table.num_rows() - start))).await.unwrap();
    }
    writer.finish().await.unwrap();
    path
}

async fn with_table() -> (Arc<Noted>, Path, RecordBatch) {
    let (store, table) = (Arc::new(Noted::default()), table());
    let path = written(&store, "t.lance", &table).await;
    (store, path, table)
}

#[tokio::test]
async fn open_is_one_request() {
    let (store, path, table) = with_table().await;
    let size = store.head(&path).await.unwrap().size;
    let reader = Reader::open(shared(&store), path).await.unwrap();
    assert_eq!(store.gets(), [size - (256 << 10)..size]);
    assert_eq!((reader.num_rows(), reader.schema()), (ROWS as u64, table.schema()));
    assert_eq!((reader.stats().requests, reader.stats().bytes), (1, 256 << 10));
}

#[tokio::test]
async fn open_asks_again_where_the_tail_was_too_short() {
    let (store, path, _) = with_table().await;
    let fetch = FetchOptions::default().with_tail_bytes(64);
    let reader = Reader::open_with(shared(&store), path, ReadOptions::default(), fetch);
    assert_eq!(reader.await.unwrap().num_rows(), ROWS as u64);
    assert!((2..=4).contains(&store.gets().len()));
}

#[tokio::test]
async fn stores_that_cannot_count_from_the_end() {
    let (_, path, table) = with_table().await;
    let store = Arc::new(Noted::without_suffix());
    written(&store, "t.lance", &table).await;
    let reader = Reader::open(shared(&store), path).await.unwrap();
    assert_eq!(reader.num_rows(), ROWS as u64);
    assert_eq!(store.gets().len(), 1);
}

#[tokio::test]
async fn a_warm_take_is_one_round() {
    let (store, path, table) = with_table().await;
    let fetch = FetchOptions::default().with_latency(Duration::ZERO);
    let reader =
        Reader::open_with(shared(&store), path, ReadOptions::default(), fetch).await.unwrap();
    let rows = [250_000, 3, 3];
    let expected = |row: &u64| table.slice(*row as usize, 1);
    let first = reader.take(&rows).await.unwrap();
    for (position, row) in rows.iter().enumerate() {
        assert_eq!(first.slice(position, 1), expected(row));
    }
    store.gets();
    assert_eq!(reader.take(&rows).await.unwrap(), first);
    // One chunk of each column for each of the two rows.
    let gets = store.gets();
    assert_eq!(gets.len(), 4, "{gets:?}");
    assert!(gets.iter().all(|span| span.end - span.start < 40_000), "{gets:?}");
}

#[tokio::test]
async fn latency_decides_what_is_fetched_along() {
    let (store, path, _) = with_table().await;
    let mut requests = Vec::new();
    for millis in [0, 1, 1000] {
        let fetch = FetchOptions::default().with_latency(Duration::from_millis(millis));
        let options = ReadOptions::default();
        let reader = Reader::open_with(shared(&store), path.clone(), options, fetch).await.unwrap();
        let rows: Vec<u64> = (0..20).map(|i| i * 14_000).collect();
        reader.take_columns(&rows, &["id"]).await.unwrap();
        store.gets();
        reader.take_columns(&rows, &["id"]).await.unwrap();
        requests.push(store.gets().len());
    }
    assert_eq!((requests[0], requests[2]), (20, 1), "{requests:?}");
    assert!(requests[1] <= 20, "{requests:?}");
}

#[tokio::test]
async fn scans_give_all_rows_in_order() {
    let (store, path, table) = with_table().await;
    let reader = Reader::open(shared(&store), path).await.unwrap();
    let mut start = 0;
    let mut batches = reader.scan().rows(1_000..290_000).ahead(3).stream().await.unwrap();
    while let Some(batch) = batches.try_next().await.unwrap() {
        assert_eq!(batch, table.slice(1_000 + start, batch.num_rows()));
        start += batch.num_rows();
    }
    assert_eq!(start, 289_000);
    let names = reader.scan().columns(["name"]).stream().await.unwrap();
    assert_eq!(names.schema().fields().len(), 1);
    let names: Vec<RecordBatch> = names.try_collect().await.unwrap();
    assert_eq!(names.iter().map(RecordBatch::num_rows).sum::<usize>(), ROWS as usize);
}

#[tokio::test]
async fn pruning_is_one_request_and_then_none() {
    let (store, path, _) = with_table().await;
    // The tail holds the metadata and nothing else.
    let fetch = FetchOptions::default().with_tail_bytes(4 << 10);
    let options = ReadOptions::default();
    let reader = Reader::open_with(shared(&store), path, options, fetch).await.unwrap();
    store.gets();
    let name = StringArray::new_scalar("name 7919");
    let above = StringArray::new_scalar("zzz");
    let filter = Filter::compare("name", Comparison::Eq, &name).or(Filter::compare(
        "id",
        Comparison::Eq,
        &Int64Array::new_scalar(i64::MIN),
    ));
    assert!(!reader.prune(&filter).await.unwrap().is_empty());
    assert_eq!(store.gets().len(), 1);
    let filter = Filter::compare("name", Comparison::Gt, &above);
    assert!(reader.prune(&filter).await.unwrap().is_empty());
    let maps = reader.zone_maps(&["id", "name"]).await.unwrap();
    assert_eq!(maps[0].as_ref().unwrap().num_zones(), 37);
    assert_eq!(store.gets().len(), 0);
}

#[tokio::test]
async fn an_aborted_file_does_not_appear() {
    let (store, table) = (Arc::new(Noted::default()), table());
    let path = Path::from("t.lance");
    let mut writer =
        Writer::new(shared(&store), &path, table.schema(), WriteOptions::default()).await.unwrap();
    writer.write(&table).await.unwrap();
    writer.abort().await.unwrap();
    assert!(store.head(&path).await.is_err());
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let store = Arc::new(Noted::default());
    let path = Path::from("none.lance");
    let missing = Reader::open(shared(&store), path.clone()).await.unwrap_err();
    assert!(matches!(missing, Error::Store(object_store::Error::NotFound { .. })), "{missing}");
    store.put(&path, vec![b'x'; 200].into()).await.unwrap();
    let corrupt = Reader::open(shared(&store), path).await.unwrap_err();
    assert!(matches!(corrupt, Error::Lance(lancet::Error::Corrupt(_))), "{corrupt}");
    let (store, path, _) = with_table().await;
    let reader = Reader::open(shared(&store), path).await.unwrap();
    let beyond = reader.take(&[ROWS as u64]).await.unwrap_err();
    assert!(beyond.to_string().contains("out of range"), "{beyond}");
}

#[tokio::test]
async fn ranges_of_rows_of_a_file_that_is_known() {
    let (store, path, table) = with_table().await;
    let ranges = [5..5, 7..9, 9..10, 70_000..70_100, 299_999..300_000];
    let parts: Vec<RecordBatch> = ranges
        .iter()
        .map(|rows| table.slice(rows.start as usize, (rows.end - rows.start) as usize))
        .collect();
    let expected = arrow_select::concat::concat_batches(&table.schema(), &parts).unwrap();
    let fetch = FetchOptions::default().with_latency(Duration::ZERO);
    let object = store.head(&path).await.unwrap();
    let file = Reader::open(shared(&store), path.clone()).await.unwrap().file().clone();
    let reader = Reader::from_file(file, shared(&store), object, fetch);
    assert_eq!(reader.stats().requests, 0);
    let rows = RowRanges::from_iter(ranges);
    assert_eq!(reader.read(.., &rows).await.unwrap(), expected);
    assert!(reader.stats().requests > 1 && reader.stats().bytes > 100);
    assert!(reader.read(.., 7..300_001).await.is_err());
    // A listing that is older than the object.
    store.put(&path, vec![b'x'; 200].into()).await.unwrap();
    let changed = reader.read(.., &rows).await.unwrap_err();
    assert!(matches!(changed, Error::Changed(_)), "{changed}");
    assert!(matches!(reader.take(&[3]).await.unwrap_err(), Error::Changed(_)));
}

/// A listing tells the version that is opened, and no other is.
#[tokio::test]
async fn a_listed_version_is_the_one_that_is_opened() {
    let (store, path, _) = with_table().await;
    let object = store.head(&path).await.unwrap();
    let open = |object| {
        Reader::open_listed(shared(&store), object, ReadOptions::default(), FetchOptions::default())
    };
    assert_eq!(open(object.clone()).await.unwrap().num_rows(), ROWS as u64);
    written(&store, "t.lance", &table()).await;
    let changed = open(object).await.unwrap_err();
    assert!(changed.to_string().contains("has changed since it was listed"), "{changed}");
}

/// Every verb gives what the blocking reader gives.
#[tokio::test]
async fn the_verbs_are_those_of_the_blocking_reader() {
    let (store, path, _) = with_table().await;
    let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
    let disk = FileReader::from_bytes(bytes, ReadOptions::default()).unwrap();
    let reader = Reader::open(shared(&store), path).await.unwrap();
    let rows = [7, 299_999, 7];
    assert_eq!(reader.take(&rows).await.unwrap(), disk.take(&rows).unwrap());
    let columns = reader.file().project(["name"]).unwrap();
    let taken = reader.take_columns(&rows, &columns).await.unwrap();
    assert_eq!(taken, disk.take_columns(&rows, ["name"]).unwrap());
    assert_eq!(reader.read(.., 5..9).await.unwrap(), disk.read(.., 5..9).unwrap());
    assert_eq!(reader.field_ids(), disk.field_ids());
    assert_eq!(reader.global_buffer(0).await.unwrap(), disk.global_buffer(0).unwrap());
    assert!(reader.global_buffer(99).await.is_err());
    assert_eq!(reader.user_buffers().await.unwrap(), disk.user_buffers().unwrap());
    let report = reader.inspect().await.unwrap();
    assert_eq!(format!("{report:?}"), format!("{:?}", disk.inspect().unwrap()));

    let filter = Filter::compare("id", Comparison::Lt, &Int64Array::new_scalar(0))
        .and(Filter::starts_with("name", "name 9"));
    assert_eq!(reader.prune(&filter).await.unwrap(), disk.prune(&filter).unwrap());
    let some = RowRanges::from_iter([0..10, 100_000..200_000]);
    for limit in [0, 10, 100_000] {
        let scan = reader.scan().select(&some).filter(filter.clone()).limit(limit);
        let found: Vec<_> = scan.stream().await.unwrap().try_collect().await.unwrap();
        let scan = disk.scan().select(&some).filter(filter.clone()).limit(limit);
        let want: Vec<_> = scan.build().unwrap().map(Result::unwrap).collect();
        // Reads that cost a request are longer.
        let joined = |parts| arrow_select::concat::concat_batches(&reader.schema(), parts).unwrap();
        assert_eq!(joined(&found), joined(&want), "{limit}");
    }

    let mut told = Vec::new();
    let found = reader.verify_with(|at| told.push((at.done, at.all))).await.unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    assert_eq!(found.num_pages, disk.verify().unwrap().num_pages);
    assert!(told.is_sorted() && told.last().is_some_and(|(done, all)| done == all), "{told:?}");
}

#[tokio::test]
async fn blobs_are_read_by_the_byte() {
    let field = Field::new("video", DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let videos = LargeBinaryArray::from_opt_vec(vec![Some(b"a long video"), None, Some(b"")]);
    let schema = Arc::new(Schema::new(vec![field]));
    let table = RecordBatch::try_new(schema, vec![Arc::new(videos)]).unwrap();
    let store = Arc::new(Noted::default());
    let path = written(&store, "b.lance", &table).await;
    let reader = Reader::open(shared(&store), path).await.unwrap();
    let videos = reader.blobs("video").await.unwrap();
    assert_eq!(videos.num_rows(), 3);
    assert_eq!(videos.len(0).await.unwrap(), Some(12));
    assert_eq!(videos.len(1).await.unwrap(), None);
    assert_eq!(videos.read(0, 2..6).await.unwrap(), "long");
    assert_eq!(videos.read(2, ..).await.unwrap(), "");
    assert!(videos.read(1, ..).await.is_err());
    assert_eq!(videos.read_ranges(&[(0, 2..6), (2, 0..0)]).await.unwrap(), ["long", ""]);
    let described = videos.descriptions(&[1, 0]).await.unwrap();
    assert_eq!(described[0], None);
    assert_eq!(described[1].map(|blob| blob.size), Some(12));
    assert!(reader.blobs("sound").await.is_err());
}
