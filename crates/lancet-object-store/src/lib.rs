//! Lance columnar files in object stores: S3, GCS, Azure, HTTP, disk, memory.
//!
//! The verbs are those of [`lancet::FileReader`] and [`lancet::FileWriter`], as futures. Everything
//! of the format happens in [`lancet`]; this crate only fetches spans and sends parts.
//!
//! # Use
//!
//! ```
//! # use std::sync::Arc;
//! # use lancet::arrow::array::{Int64Array, RecordBatch};
//! use futures::TryStreamExt;
//! use lancet_object_store::object_store::{ObjectStore, memory::InMemory, path::Path};
//! use lancet_object_store::{Reader, Writer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
//! let path = Path::from("data.lance");
//!
//! # let ids = Arc::new(Int64Array::from_iter_values(0..10_000));
//! # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
//! // The object appears when `finish` returns.
//! let mut writer = Writer::new(store.clone(), &path, batch.schema(), Default::default()).await?;
//! writer.write(&batch).await?;
//! writer.finish().await?;
//!
//! // One request opens a file if its last 256 KiB hold all metadata.
//! let reader = Reader::open(store, path).await?;
//! let rows = reader.take(&[7, 1, 9_999]).await?;
//! assert_eq!(rows.num_rows(), 3);
//! let batches: Vec<RecordBatch> = reader.scan().columns(["id"]).stream().await?.try_collect().await?;
//! assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 10_000);
//! # Ok(())
//! # }
//! ```
//!
//! `examples/object_store.rs` is a program to copy, `examples/s3.rs` the same over a bucket.
//!
//! # What a store is asked for
//!
//! - A take names all its byte ranges before the first is fetched. They are put together and cut so that all arrive
//!   soonest; [`FetchOptions`] say what a request costs, and how many may be under way.
//! - Page indexes are kept by the reader, so a second take in the same pages is one round of requests.
//! - A scan reads [some megabytes ahead](Scan::ahead), in reads that grow until a request is worth its latency.
//! - A reader reads one version of the object, by its ETag, its version, or its size and time, whatever the store
//!   has. If there is another one now, that is [`Error::Changed`].
//! - A file on disk is opened once, and read through that descriptor.
//! - [`Writer`] sends parts of a multipart upload while later pages are encoded, at most 8 at a time: about 40 MiB.
//!   What was sent of a file that will not be finished is taken back by [`Writer::abort`], or when the writer is
//!   dropped.
//! - Retries, timeouts and credentials are the store's: set them where you build it.
//!
//! [`Reader::stats`] counts requests and bytes, [`FetchCounter`] those of several readers together.
//!
//! # Untrusted files
//!
//! The limits are those of [`lancet::ReadOptions`]; give them to [`Reader::open_with`]. What is fetched between spans
//! takes at most `memory_limit` once more. An answer that is shorter or longer than what was asked for is
//! [`Error::Answer`].
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws` | S3 and what speaks its language |
//! | `azure` | Azure Blob Storage |
//! | `gcp` | Google Cloud Storage |
//! | `http` | servers that answer range requests, and WebDAV |
//!
//! None is on by default: there are files and memory. [`object_store`] and [`lancet`] are handed on, so that your
//! `Cargo.toml` needs no lines for them; where it has some, they are `object_store` 0.13 and this crate's
//! version of `lancet`.

mod blobs;
mod error;
mod fetch;
mod given;
mod local;
mod options;
mod pinned;
mod reader;
mod reads;
mod scan;
mod together;
mod upload;
mod writer;

pub use blobs::Blobs;
pub use error::{Error, Result};
pub use fetch::{FetchCounter, FetchStats, Object};
#[doc(hidden)]
pub use given::given;
pub use options::FetchOptions;
pub use reader::Reader;
#[doc(hidden)]
pub use reads::is_fixed;
pub use scan::{Batches, Scan};
pub use writer::{Sealed, Writer};
pub use {lancet, object_store};
