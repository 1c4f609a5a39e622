//! Lance files in object stores.
//!
//! The verbs are those of [`lancet::FileReader`] and [`lancet::FileWriter`], as futures. Everything
//! of the format happens in `lancet`; this crate only fetches spans and sends parts.
//!
//! ```
//! # use std::sync::Arc;
//! # use arrow_array::{Int64Array, RecordBatch};
//! # use futures::TryStreamExt;
//! # use lancet_object_store::{Reader, Writer};
//! # use object_store::{ObjectStore, memory::InMemory, path::Path};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
//! let path = Path::from("data.lance");
//!
//! # let ids = Arc::new(Int64Array::from_iter_values(0..10_000));
//! # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
//! let mut writer = Writer::new(store.clone(), &path, batch.schema(), Default::default()).await?;
//! writer.write(&batch).await?;
//! writer.finish().await?;
//!
//! let reader = Reader::open(store, path).await?;
//! let rows = reader.take(&[7, 1, 9_999]).await?;
//! assert_eq!(rows.num_rows(), 3);
//! let batches: Vec<RecordBatch> = reader.scan().columns(["id"]).stream().await?.try_collect().await?;
//! assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 10_000);
//! # Ok(())
//! # }
//! ```

mod error;
mod fetch;
mod reader;
mod scan;
mod writer;

pub use error::{Error, Result};
pub use fetch::{FetchOptions, FetchStats};
pub use reader::Reader;
pub use scan::{Batches, Scan};
pub use writer::Writer;
