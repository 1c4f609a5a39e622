//! Writes a Lance file into an object store and reads it back. The store is memory here; one of S3,
//! GCS, Azure or HTTP is used in the same way.
//!
//! ```text
//! cargo run -p lancet-object-store --example object_store
//! ```

use std::error::Error;
use std::sync::Arc;

use futures::TryStreamExt;
use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{Comparison, Filter, WriteOptions};
use lancet_object_store::{Reader, Writer};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

fn table() -> lancet::Result<RecordBatch> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..200_000));
    let names = (0..200_000).map(|i| format!("name {}", i * 7_919 % 100_003));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    Ok(RecordBatch::try_from_iter([("id", ids), ("name", names)])?)
}

/// Writes 200,000 rows, then takes, scans and filters them.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let path = Path::from("folder/names.lance");

    // The object appears when `finish` returns; pages are sent while later ones are encoded.
    let table = table()?;
    let options = WriteOptions::default();
    let mut writer = Writer::new(store.clone(), &path, table.schema(), options).await?;
    for start in (0..table.num_rows()).step_by(50_000) {
        writer.write(&table.slice(start, 50_000)).await?;
    }
    println!("wrote {} bytes", writer.finish().await?.file_bytes);

    // One request opens a file; rows near to each other share requests.
    let reader = Reader::open(store, path).await?;
    println!("opened with {} request", reader.stats().requests);
    let rows = reader.take(&[199_999, 7, 8, 9]).await?;
    println!("took {} rows, {} requests so far", rows.num_rows(), reader.stats().requests);

    // A scan reads some batches ahead.
    let mut batches = reader.scan().columns(["name"]).rows(1_000..21_000).stream().await?;
    while let Some(batch) = batches.try_next().await? {
        println!("a batch of {} rows", batch.num_rows());
    }

    // Rows that zone maps leave for a condition.
    let high = Filter::compare("id", Comparison::GtEq, &Int64Array::new_scalar(190_000));
    println!("rows that may match: {:?}", reader.prune(&high).await?);
    Ok(())
}
