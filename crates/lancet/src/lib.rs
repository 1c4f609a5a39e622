//! Reads and writes Lance columnar files.
//!
//! A Lance file holds a table of Arrow columns, cut into pages, so that a whole column is read quickly
//! and a single row just as well. This crate reads and writes format 2.0, 2.1 and 2.2, and reads the files of
//! old releases. What it writes, the reference implementation reads, and the other way round.
//!
//! # Why this crate
//!
//! - **Any bytes are safe.** A damaged or forged file gives an [`Error`] that says which column, page and
//!   buffer breaks which rule. It does not panic, and allocates nothing beyond [a limit you
//!   set](ReadOptions::with_memory_limit).
//! - **A take costs what the disk costs.** Byte ranges are planned, read together, and only the values asked
//!   for are decoded. There is no runtime, no task and no channel between you and the file.
//! - **Any I/O.** Files on disk and in memory are read by plain calls. Everything else is a [`Source`]
//!   that you implement, or a loop around a [`Request`] for async code.
//! - **Choices you can see.** The writer tries the encodings that fit, takes the cheapest by size and decode
//!   time, and [says why](PageSummary::reason).
//!
//! # Write
//!
//! ```
//! use std::sync::Arc;
//!
//! use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use lancet::{FileWriter, Profile, WriteOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("lancet-doc-write-{}.lance", std::process::id()));
//! let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
//! let cities: ArrayRef = Arc::new(StringArray::from(vec!["Basel", "Lyon", "Turin"]));
//! let batch = RecordBatch::try_from_iter([("id", ids), ("city", cities)])?;
//!
//! let options = WriteOptions::default().with_profile(Profile::Small);
//! let mut writer = FileWriter::create(&path, batch.schema(), options)?;
//! writer.write(&batch)?; // as often as there are batches
//! let summary = writer.finish()?; // now the file stands under its name
//! assert_eq!(summary.num_rows, 3);
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`WriteOptions`] choose the format version and a [`Profile`], [`ColumnOptions`] what single columns
//! need. [`FileWriter::new`] writes into anything that is [`std::io::Write`].
//!
//! # Open, take, scan
//!
//! ```
//! # use std::sync::Arc;
//! # use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch};
//! # use lancet::{FileWriter, WriteOptions};
//! use lancet::FileReader;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("lancet-doc-read-{}.lance", std::process::id()));
//! # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
//! # let batch = RecordBatch::try_from_iter([("id", ids)])?;
//! # let mut writer = FileWriter::create(&path, batch.schema(), WriteOptions::default())?;
//! # writer.write(&batch)?;
//! # writer.finish()?;
//! let reader = FileReader::open(&path)?;
//!
//! // Rows in the order asked for, as often as asked for.
//! let rows = reader.take(&[7, 1, 19_999, 7])?;
//! assert_eq!(rows.num_rows(), 4);
//!
//! // A range of rows, batch by batch; other threads read ahead.
//! for batch in reader.scan().columns(["id"]).rows(1_000..9_000).build()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`FileReader`] is cheap to clone, can be used from several threads, and remembers where rows are:
//! keep it. Nested fields are named with dots (`doc.title`); their parents come along, without their other
//! children.
//!
//! # Filter
//!
//! Columns carry zone maps: the least and the greatest value of every 8,192 rows. [`Scan::filter`] takes a
//! [`Filter`], leaves out what the maps rule out, reads the columns of the filter, and of the others only the
//! rows that match. [`FileReader::prune`] gives what the maps know by themselves; `examples/filter.rs` does both.
//!
//! # Blobs
//!
//! Long binary values (images, videos, documents) in a column of blobs stay out of the way of the others.
//! [`FileReader::blobs`] reads a part of one of them and nothing else of its column; [`Blobs`] has an example.
//!
//! # Other I/O
//!
//! For blocking I/O of your own implement [`Source`], which is two methods. For async code there are requests:
//! values that name the bytes they need, are handed them, and end in a batch. [`OpenFile`] makes them and has
//! the whole loop as an example. The crate `lancet-object-store` is such a loop over S3, GCS, Azure and HTTP.
//!
//! # Untrusted files
//!
//! | promise | for any bytes at all |
//! |---|---|
//! | no panic, no read out of bounds, no endless loop | an [`Error`], or valid Arrow data |
//! | memory | one read holds at most [`memory_limit`](ReadOptions::with_memory_limit), metadata at most [`max_metadata_bytes`](ReadOptions::with_max_metadata_bytes) |
//! | depth | fields nest at most [`max_nesting`](ReadOptions::with_max_nesting) deep |
//!
//! Not promised is that a file tells the truth. [`FileReader::verify`] reads a whole file and checks every rule and
//! every checksum; a file of a stranger can still hide rows behind [zone maps](ReadOptions::with_zone_maps)
//! that lie. [`ReadOptions::with_memory_map`] is `unsafe`, because it trusts everyone who may write the file.
//!
//! # Features
//!
//! All are on by default.
//!
//! | feature | what it adds | without it |
//! |---|---|---|
//! | `lz4` | pages compressed with LZ4 | [`Error::Unsupported`] for such pages, and for the option |
//! | `zstd` | pages compressed with Zstandard, the only dependency that is C | the same; the crate is Rust alone |
//! | `mmap` | [`ReadOptions::with_memory_map`] | the method is not there |
//! | `threads` | scans, large takes and pages of several columns on several threads | all work happens on the calling thread |
//!
//! ```toml
//! # Rust alone: no C compiler, no threads.
//! lancet = { version = "0.1", default-features = false, features = ["lz4"] }
//! ```
//!
//! # Versions
//!
//! Batches are those of Arrow 59, which [`arrow`] hands on: a program needs no line for Arrow in its
//! `Cargo.toml`. A new major version of Arrow is a new minor version of this crate. It compiles with Rust 1.91
//! and later. `CHANGELOG.md` in the repository says what changed.
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
mod budget;
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
mod rows;
mod schema;
mod set_once;
mod span;
mod version;
mod write;
mod zones;

pub use bytes::Bytes;
pub use choose::Candidate;
pub use error::{Corrupt, Error, Result};
pub use options::{ByteStreamSplit, ColumnOptions, Compression, Profile, StructuralEncoding};
#[doc(hidden)]
pub use parallel::{InOrder, num_ahead};
#[doc(hidden)]
pub use read::has_no_width;
pub use read::{
    Batches, BlobColumn, BlobDescription, Blobs, BufferReport, CacheStats, Coalesced, ColumnReport,
    Columns, FileReader, FileReport, FileSource, OpenFile, PageReport, Progress, Projection,
    ReadOptions, Request, Scan, ScanPlan, ScanRequests, SearchCache, Source, Verification,
    coalesce,
};
pub use rows::{RowRanges, Rows};
pub use span::Span;
pub use version::Version;
pub use write::{
    ColumnSummary, FileWriter, NewFile, PageSummary, WriteOptions, WriteSummary, sync_all,
};
pub use zones::filter::{Comparison, Filter};
pub use zones::map::{ColumnStatistics, ZoneMap};
pub use zones::prune::prune;

/// Whether files can hold fields of the type that the format calls `name`. Manifests of tables, which
/// `lancet-table` reads, name types in the same way.
#[doc(hidden)]
pub fn check_logical_type(name: &str) -> Result<()> {
    schema::logical::parse(name).map(|_| ())
}

/// A field as messages of the format have it, without its children.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct StoredField<'a> {
    pub name: &'a str,
    pub logical_type: &'a str,
    pub nullable: bool,
    pub extension_name: &'a str,
    pub metadata: &'a std::collections::BTreeMap<String, Vec<u8>>,
}

/// The Arrow field of a message, for `lancet-table`, whose manifests hold the same messages as files do.
#[doc(hidden)]
pub fn field_of_message(
    field: StoredField<'_>,
    children: Vec<arrow_schema::FieldRef>,
) -> Result<arrow_schema::FieldRef> {
    schema::fields::field_of(field, children)
}

/// The messages of the fields of a schema as bytes, parents before children, for `lancet-table`, whose manifests hold them
/// too. Ids count from 0; an error if files of the version cannot hold the schema.
#[doc(hidden)]
pub fn field_messages(schema: &arrow_schema::Schema, version: Version) -> Result<Vec<Vec<u8>>> {
    use prost::Message;
    let (stored, _) = schema::fields::from_arrow(schema, version)?;
    Ok(stored.fields.iter().map(|field| field.encode_to_vec()).collect())
}

/// The fields that own columns in a file of the schema, by their ids, in the order of the columns, for `lancet-table`.
#[doc(hidden)]
pub fn column_owners(schema: &arrow_schema::Schema, version: Version) -> Result<Vec<i32>> {
    schema::fields::column_owners(schema, version)
}

/// Work on the helpers of this crate, for `lancet-table`: the results come in the order of the items.
#[doc(hidden)]
pub fn in_parallel<T, R, F>(threads: usize, items: Vec<T>, work: F) -> Result<Vec<R>>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Fn(T) -> Result<R> + Send + Sync + 'static,
{
    parallel::in_parallel(threads, items, work)
}

/// The example of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
