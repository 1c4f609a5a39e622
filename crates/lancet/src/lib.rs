//! Lance columnar files: read, write, inspect.
//!
//! ```no_run
//! use lancet::{FileReader, FileWriter, WriteOptions};
//!
//! # fn main() -> lancet::Result<()> {
//! let reader = FileReader::open("data.lance")?;
//! let rows = reader.take(&[7, 1, 1_000_000])?;
//! for batch in reader.scan().columns(["id", "doc.title"]).rows(1_000..9_000).build()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//!
//! let mut writer = FileWriter::create("out.lance", rows.schema(), WriteOptions::default())?;
//! writer.write(&rows)?;
//! let summary = writer.finish()?;
//! println!("{} bytes", summary.file_bytes);
//! # Ok(())
//! # }
//! ```
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::single_range_in_vec_init
    )
)]

pub mod arrow;
mod bits;
mod choose;
mod codec;
mod container;
mod cursor;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod levels;
mod measure;
mod options;
mod page;
mod page_v2_0;
mod parallel;
mod pool;
mod proto;
mod read;
pub mod row_ids;
mod schema;
mod write;
mod zones;

pub use bytes::Bytes;
pub use choose::Candidate;
pub use container::Version;
pub use error::{Corrupt, Error, Result};
pub use options::{ByteStreamSplit, ColumnOptions, Compression, Profile, StructuralEncoding};
pub use read::inspect::{BufferReport, ColumnReport, FileReport, PageReport};
pub use read::verify::Verification;
pub use read::{
    Batches, BlobDescription, Blobs, CacheStats, Coalesced, FileReader, Opening, PruneRequest,
    ReadOptions, ReadRequest, Request, Scan, ScanRequests, SearchCache, Source, ZoneMapRequest,
    coalesce,
};
pub use write::{ColumnSummary, FileWriter, NewFile, PageSummary, WriteOptions, WriteSummary};
pub use zones::filter::{Comparison, Filter};
pub use zones::map::{ColumnStatistics, ZoneMap};
pub use zones::prune::prune;

/// The examples of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
