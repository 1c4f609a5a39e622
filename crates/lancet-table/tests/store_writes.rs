//! Tables that are written in an object store: the verbs, answers that are lost, and stores that cannot be trusted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{Stream, TryStreamExt};
use lancet_object_store::object_store::memory::InMemory;
use lancet_object_store::object_store::path::Path;
use lancet_object_store::object_store::{
    self, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use lancet_table::{CompactOptions, Error, RowStream, StoreTable, TableRows, TableWriteOptions};

/// What becomes of an object that is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Answer {
    #[default]
    Sound,
    /// It is put, and an error is told.
    Lost,
    /// It is put, and then it is told that it was there already: the request was repeated on the way.
    Repeated,
    /// It is not put, and an error is told.
    Refused,
    /// The store cannot make an object only if there is none.
    Unable,
}

#[derive(Debug, Default)]
struct Odd {
    store: InMemory,
    /// For objects with this in their paths.
    answer: Mutex<(&'static str, Answer)>,
    /// How often it was so.
    count: AtomicUsize,
}

impl Odd {
    /// Of versions.
    fn set(&self, answer: Answer) {
        self.set_for("_versions", answer);
    }

    fn set_for(&self, part: &'static str, answer: Answer) {
        *self.answer.lock().unwrap() = (part, answer);
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Odd")
    }
}

#[async_trait]
impl ObjectStore for Odd {
    async fn put_opts(
        &self,
        to: &Path,
        bytes: PutPayload,
        how: PutOptions,
    ) -> object_store::Result<PutResult> {
        let (part, answer) = *self.answer.lock().unwrap();
        let is_meant = answer != Answer::Sound && to.as_ref().contains(part);
        let answer = if is_meant { answer } else { Answer::Sound };
        assert!(!to.as_ref().contains("_versions") || how.mode == PutMode::Create);
        self.count.fetch_add(usize::from(is_meant), Ordering::Relaxed);
        let lost =
            || object_store::Error::Generic { store: "Odd", source: "the line is dead".into() };
        match answer {
            Answer::Sound => self.store.put_opts(to, bytes, how).await,
            Answer::Lost => {
                self.store.put_opts(to, bytes, how).await?;
                Err(lost())
            }
            Answer::Repeated => {
                self.store.put_opts(to, bytes, how).await?;
                let path = to.to_string();
                Err(object_store::Error::AlreadyExists { path, source: "it is there".into() })
            }
            Answer::Refused => Err(lost()),
            Answer::Unable => Err(object_store::Error::NotImplemented {
                operation: "put if absent".into(),
                implementer: "Odd".into(),
            }),
        }
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> object_store::Result<GetResult> {
        self.store.get_opts(from, how).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &Path,
        to: &Path,
        how: CopyOptions,
    ) -> object_store::Result<()> {
        self.store.copy_opts(from, to, how).await
    }
}

fn numbers(
    range: std::ops::Range<i64>,
) -> RowStream<impl Stream<Item = Result<RecordBatch, Error>> + Send> {
    let array = Arc::new(Int64Array::from_iter_values(range)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", array)]).unwrap();
    RowStream::new(batch.schema(), stream::iter([Ok(batch)]))
}

async fn all(table: &StoreTable) -> Vec<i64> {
    let batches = table.scan().columns(["n"]).stream().await.unwrap();
    let batches: Vec<RecordBatch> = batches.try_collect().await.unwrap();
    batches.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec()).collect()
}

#[tokio::test]
async fn every_verb_in_a_store() {
    let store = Arc::new(InMemory::new());
    let options = TableWriteOptions::default().with_stable_row_ids(true);
    let path = Path::from("lake/t.lance");
    let mut table =
        StoreTable::create(store.clone(), path.clone(), numbers(0..10), &options).await.unwrap();
    table.append(numbers(10..13), &options).await.unwrap();
    let stale = table.clone();
    table.delete(0..2, "n < 2", &options).await.unwrap();
    table.update(TableRows::Ids(vec![3]), numbers(33..34), &options).await.unwrap();
    let change =
        table.merge(TableRows::Ids(vec![4]), numbers(44..45), numbers(50..51), &options).await;
    let change = change.unwrap();
    assert_eq!((change.version, change.rows_updated, change.rows_inserted), (5, 1, 1));
    let expected = vec![2, 5, 6, 7, 8, 9, 10, 11, 12, 33, 44, 50];
    assert_eq!(all(&table).await, expected);
    let again = StoreTable::open(store.clone(), path.clone()).await.unwrap();
    assert_eq!((again.version(), all(&again).await), (5, expected));
    let ids = again.take(&[9, 10, 11], ["_rowid"]).await.unwrap();
    assert_eq!(ids.column(0).as_primitive::<UInt64Type>().values(), &[3, 4, 13]);
    // Somebody who has read version 2.
    let mut other = stale.clone();
    assert_eq!(other.append(numbers(60..61), &options).await.unwrap().version, 6);
    let mut other = stale.clone();
    assert_eq!(other.delete(TableRows::Ids(vec![12]), "", &options).await.unwrap().version, 7);
    let mut other = stale;
    let error = other.delete(TableRows::Ids(vec![3]), "", &options).await.unwrap_err();
    assert!(matches!(&error, Error::Conflict(c) if c.version == 5 && c.can_retry), "{error}");
    let error = StoreTable::create(store, path, numbers(0..1), &options).await.unwrap_err();
    assert!(error.to_string().contains("there is a table already"), "{error}");
}

#[tokio::test]
async fn answers_that_are_lost() {
    let options = TableWriteOptions::default();
    for (answer, is_there) in
        [(Answer::Lost, true), (Answer::Repeated, true), (Answer::Refused, false)]
    {
        let store = Arc::new(Odd::default());
        let path = Path::from("t.lance");
        let mut table =
            StoreTable::create(store.clone(), path.clone(), numbers(0..3), &options).await.unwrap();
        store.set(answer);
        let done = table.append(numbers(3..5), &options).await;
        store.set(Answer::Sound);
        match (&done, is_there) {
            (Ok(change), true) => assert_eq!((change.version, table.version()), (2, 2)),
            (Err(Error::Uncertain { version: 2, .. }), false) => assert_eq!(table.version(), 1),
            _ => panic!("{answer:?}: {done:?}"),
        }
        let now = StoreTable::open(store, path).await.unwrap();
        assert_eq!(all(&now).await.len(), if is_there { 5 } else { 3 }, "{answer:?}");
        assert_eq!(
            table.append(numbers(5..6), &options).await.unwrap().version,
            2 + u64::from(is_there)
        );
    }
}

/// Files with names of their own: what is there already, with the same contents, was put by the same writer.
#[tokio::test]
async fn files_whose_answers_are_lost() {
    let options = TableWriteOptions::default();
    let blob = Field::new("n", DataType::LargeBinary, true);
    let blob = blob.with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let schema = Arc::new(Schema::new(vec![blob]));
    let blobs = || {
        let array = Arc::new(LargeBinaryArray::from(vec![&[7_u8; 9_000][..]; 3]));
        let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
        RowStream::new(schema.clone(), stream::iter([Ok::<_, Error>(batch)]))
    };
    for answer in [Answer::Lost, Answer::Repeated] {
        for part in ["_deletions", ".blob", "_refs/tags", "_refs/branches", "tree/dev/_versions"] {
            let (store, path) = (Arc::new(Odd::default()), Path::from("t.lance"));
            let made = StoreTable::create(store.clone(), path.clone(), blobs(), &options);
            let mut table = made.await.unwrap();
            store.set_for(part, answer);
            match part {
                "_deletions" => table.delete(0..1, "", &options).await.map(drop),
                ".blob" => table.append(blobs(), &options).await.map(drop),
                "_refs/tags" => table.create_tag("new").await,
                _ => table.create_branch("dev").await.map(drop),
            }
            .unwrap_or_else(|error| panic!("{part}, {answer:?}: {error}"));
            assert!(store.count.load(Ordering::Relaxed) > 0, "{part}");
            store.set(Answer::Sound);
            let now = StoreTable::open(store, path).await.unwrap();
            let rows = match part {
                "_deletions" => 2,
                ".blob" => 6,
                _ => 3,
            };
            let batches = now.scan().columns(["n"]).stream().await.unwrap();
            let batches: Vec<RecordBatch> = batches.try_collect().await.unwrap();
            let blobs = batches.iter().flat_map(|batch| batch.column(0).as_binary::<i64>().iter());
            let lengths: Vec<usize> = blobs.map(|blob| blob.unwrap().len()).collect();
            assert_eq!(lengths, vec![9_000; rows], "{part}, {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_store_without_conditions_is_refused() {
    let store = Arc::new(Odd::default());
    store.set(Answer::Unable);
    let (path, options) = (Path::from("t.lance"), TableWriteOptions::default());
    let created = StoreTable::create(store.clone(), path, numbers(0..3), &options);
    let error = created.await.unwrap_err();
    assert!(error.to_string().contains("only if there is none of its name"), "{error}");
    // It is certain that nothing was committed, so that nothing is left.
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    let left: Vec<ObjectMeta> = store.store.list(None).try_collect().await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

/// Runtimes move work from thread to thread.
#[test]
fn changes_can_move_between_threads() {
    fn can_move<T: Send>(_: &T) {}
    let (store, options) = (Arc::new(InMemory::new()), TableWriteOptions::default());
    let rows = || numbers(0..1);
    can_move(&StoreTable::create(store, "t".into(), rows(), &options));
    can_move(&async |mut table: StoreTable| {
        can_move(&table.append(rows(), &options));
        can_move(&table.overwrite(rows(), &options));
        can_move(&table.delete(0..1, "", &options));
        can_move(&table.update(0..1, rows(), &options));
        can_move(&table.merge_by_address(rows(), &[], &options));
        can_move(&table.add_column_values(rows(), &options));
        can_move(&table.compact(&CompactOptions::default(), &options));
    });
}
