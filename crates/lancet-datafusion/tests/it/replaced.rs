//! Files that are replaced while a query reads them: the answer is that of one version, or an error.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};

use super::*;

/// A store that replaces a file before it answers the request number `at`.
#[derive(Debug)]
struct Replacing {
    store: Arc<dyn ObjectStore>,
    at: usize,
    requests: AtomicUsize,
    new: New,
}

#[derive(Debug)]
enum New {
    File { from: PathBuf, to: PathBuf },
    Object { bytes: Vec<u8>, to: ObjectPath },
}

impl Replacing {
    async fn count(&self) {
        if self.requests.fetch_add(1, Ordering::SeqCst) == self.at {
            match &self.new {
                New::File { from, to } => std::fs::rename(from, to).unwrap(),
                New::Object { bytes, to } => {
                    self.store.put(to, bytes.clone().into()).await.unwrap();
                }
            }
        }
    }
}

impl fmt::Display for Replacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replacing")
    }
}

#[async_trait]
impl ObjectStore for Replacing {
    async fn put_opts(
        &self,
        to: &ObjectPath,
        bytes: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        self.store.put_opts(to, bytes, options).await
    }

    async fn put_multipart_opts(
        &self,
        to: &ObjectPath,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, options).await
    }

    async fn get_opts(
        &self,
        from: &ObjectPath,
        options: GetOptions,
    ) -> object_store::Result<GetResult> {
        self.count().await;
        self.store.get_opts(from, options).await
    }

    async fn get_ranges(
        &self,
        from: &ObjectPath,
        ranges: &[std::ops::Range<u64>],
    ) -> object_store::Result<Vec<lancet::Bytes>> {
        self.count().await;
        self.store.get_ranges(from, ranges).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, object_store::Result<ObjectPath>>,
    ) -> BoxStream<'static, object_store::Result<ObjectPath>> {
        self.store.delete_stream(paths)
    }

    fn list(
        &self,
        prefix: Option<&ObjectPath>,
    ) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(
        &self,
        prefix: Option<&ObjectPath>,
    ) -> object_store::Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

fn table(version: i64) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(
        (0..60_000).map(|i| version * 1_000_000 + i * 7919 % 10_007),
    ));
    let names: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..60_000).map(|i| format!("{version}-{i}"))));
    RecordBatch::try_from_iter([("v", numbers), ("name", names)]).unwrap()
}

const QUERIES: [&str; 3] = [
    "SELECT count(*), min(v + 0), max(v + 0), min(name), max(name) FROM t",
    "SELECT count(name), min(v + 0), max(v + 0), min(name), max(name) FROM t WHERE v % 3 = 1",
    "SELECT sum(a.v), sum(b.v) FROM t a JOIN t b ON a.v % 1000000 = b.v % 1000000 \
     WHERE a.v % 1000000 < 5 AND b.v % 1000000 < 5",
];

async fn answer(ctx: &SessionContext, query: &str) -> datafusion::error::Result<String> {
    let batches = ctx.sql(query).await?.collect().await?;
    Ok(pretty_format_batches(&batches)?.to_string())
}

/// The answer, if the file is replaced before request `at`, and how many there were.
async fn asked(
    local: bool,
    at: usize,
    query: &str,
    files: [&[u8]; 2],
) -> (datafusion::error::Result<String>, usize) {
    let folder = folder();
    let to = folder.path().join("t.lance");
    let (store, new, base, location): (Arc<dyn ObjectStore>, _, _, _) = if local {
        let from = folder.path().join("new.lance");
        std::fs::write(&to, files[0]).unwrap();
        std::fs::write(&from, files[1]).unwrap();
        let location = to.display().to_string();
        let new = New::File { from, to };
        (Arc::new(LocalFileSystem::new()), new, "file://", location)
    } else {
        let (store, to) = (Arc::new(InMemory::new()), ObjectPath::from("t.lance"));
        store.put(&to, files[0].to_vec().into()).await.unwrap();
        let new = New::Object { bytes: files[1].to_vec(), to };
        (store, new, "mem://bucket", "mem://bucket/t.lance".into())
    };
    let store = Arc::new(Replacing { store, at, requests: AtomicUsize::new(0), new });
    let ctx = session(3);
    ctx.register_object_store(&base.parse::<url::Url>().unwrap(), store.clone());
    let create = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{location}'");
    let answer = match ctx.sql(&create).await {
        Ok(_) => answer(&ctx, query).await,
        Err(error) => Err(error),
    };
    (answer, store.requests.load(Ordering::SeqCst))
}

#[tokio::test]
async fn an_answer_is_of_one_version() {
    let files = [1, 2].map(|version| {
        let table = table(version);
        let options = lancet::WriteOptions::default().with_page_bytes(64 << 10);
        let mut writer = lancet::FileWriter::new(Vec::new(), table.schema(), options).unwrap();
        writer.write(&table).unwrap();
        writer.finish_into().unwrap().1
    });
    for query in QUERIES {
        for local in [true, false] {
            let (first, requests) = asked(local, usize::MAX, query, [&files[0], &files[1]]).await;
            let (second, _) = asked(local, usize::MAX, query, [&files[1], &files[0]]).await;
            let (first, second) = (first.unwrap(), second.unwrap());
            assert_ne!(first, second);
            let mut refused = 0;
            for at in 0..requests {
                match asked(local, at, query, [&files[0], &files[1]]).await.0 {
                    Ok(found) => assert!(
                        found == first || found == second,
                        "request {at} of {requests}, local {local}:\n{found}\n{first}\n{second}"
                    ),
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains("has changed since it was listed"), "{error}");
                        refused += 1;
                    }
                }
            }
            assert!(refused > 0 && refused < requests, "{refused} of {requests}, local {local}");
        }
    }
}

/// A query over a file that was replaced between two queries sees the new one.
#[tokio::test]
async fn the_next_query_sees_the_new_file() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let ctx = session(2);
    let query = format!("SELECT min(v + 0) AS least FROM '{}'", path.display());
    for version in [1, 2, 3] {
        write(&path, &[table(version)]);
        assert!(text(&ctx, &query).await.contains(&format!("| {version}000000 ")));
    }
}
