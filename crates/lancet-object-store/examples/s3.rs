//! Writes a Lance file to an S3 bucket and reads it back.
//!
//! ```text
//! cargo run -p lancet-object-store --features aws --example s3 -- http://127.0.0.1:5000 BUCKET
//! ```
//!
//! Keys come from the environment, as the AWS tools take them.
#![allow(missing_docs)]

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use lancet_object_store::{Reader, Writer};
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, bucket] = arguments.as_slice() else {
        return Err("usage: s3 ENDPOINT BUCKET".into());
    };
    let store = AmazonS3Builder::from_env()
        .with_endpoint(endpoint)
        .with_bucket_name(bucket)
        .with_allow_http(endpoint.starts_with("http:"))
        .build()?;
    let store: Arc<dyn ObjectStore> = Arc::new(store);

    let rows = 2_000_000;
    let ids =
        Int64Array::from_iter_values((0..rows).map(|i: i64| i.wrapping_mul(0x9e37_79b9_7f4a)));
    let names =
        StringArray::from_iter_values((0..rows).map(|i| format!("name {}", i * 7919 % 1_000_003)));
    let table =
        RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("name", Arc::new(names) as _)])?;

    let path = Path::from("folder/table.lance");
    let mut writer = Writer::new(store.clone(), &path, table.schema(), Default::default()).await?;
    for start in (0..table.num_rows()).step_by(100_000) {
        writer.write(&table.slice(start, 100_000)).await?;
    }
    let summary = writer.finish().await?;
    println!("wrote {} rows, {} bytes", summary.num_rows, summary.file_bytes);

    let reader = Reader::open(store, path).await?;
    let taken = reader.take(&[1_999_999, 0, 77]).await?;
    for (position, row) in [1_999_999, 0, 77].into_iter().enumerate() {
        if taken.slice(position, 1) != table.slice(row, 1) {
            return Err(format!("row {row} is not what was written").into());
        }
    }
    println!("took 3 rows with {} requests", reader.stats().requests);
    let mut start = 0;
    let mut batches = reader.scan().stream().await?;
    while let Some(batch) = batches.try_next().await? {
        if batch != table.slice(start, batch.num_rows()) {
            return Err(format!("rows from {start} on are not what was written").into());
        }
        start += batch.num_rows();
    }
    println!(
        "read {start} rows, {} bytes with {} requests",
        reader.stats().bytes,
        reader.stats().requests
    );
    Ok(())
}
