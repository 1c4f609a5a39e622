//! Lance tables: opened at any version, read by scan and by row, and changed by several writers at once.
//!
//! A table is a folder. Each of its versions is a file in `_versions/`, the manifest, which lists the
//! fields and the fragments; a fragment is a range of rows in one or more data files, perhaps with a
//! deletion file and a sequence of row ids.
//!
//! ```no_run
//! use lancet::arrow::array::Int64Array;
//! use lancet::{Comparison, Filter};
//! use lancet_table::{At, Table, TableOptions};
//!
//! # fn main() -> lancet_table::Result<()> {
//! let table = Table::open("cities.lance")?;
//! println!("version {}, {} rows, {}", table.version(), table.num_rows()?, table.schema());
//!
//! // Rows by number, in the order asked for; ids and addresses of rows are columns too.
//! let rows = table.take(&[7, 1, 7], ["name", "_rowid", "_rowaddr"])?;
//!
//! // A scan, batch by batch. Zone maps of every data file leave out what cannot match.
//! let large = Filter::compare("population", Comparison::Gt, &Int64Array::new_scalar(1_000_000));
//! for batch in table.scan().columns(["name"]).filter(large).build()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//!
//! // Another version, by its number, a tag, a branch or an instant.
//! let released = table.checkout(At::Tag("released".into()))?;
//! # Ok(())
//! # }
//! ```
//!
//! # What a read costs
//!
//! Opening lists `_versions/` and reads one manifest. A take finds its rows by binary search, reads the deletion files of
//! their fragments once, opens the data files it needs and keeps them open, up to
//! [a number](TableOptions::with_max_open_files) and [a budget](TableOptions::with_max_open_bytes). Page indexes lie in the
//! [search cache](lancet::ReadOptions::with_search_cache), which all files share.
//!
//! # What a change is
//!
//! [`Table::create`], [`Table::append`], [`Table::overwrite`], [`Table::delete`], [`Table::update`] and [`Table::merge`] write
//! new files and then commit a version that names them, at once and only if no other writer has taken its number. Files and
//! folders are synced before that. What others have committed since the table was opened is looked at first: the change goes on
//! top of it, or fails with [`Error::Conflict`], which names the version that stands in the way. A change that fails leaves
//! nothing behind; one that is killed leaves files that no version names, for a cleanup to find.
//!
//! # Untrusted tables
//!
//! Manifests, deletion files and data files are checked before they are used; an error names the file and the rule. Files
//! outside of the table's folder are not read unless [allowed](TableOptions::with_base).
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `lz4`, `zstd` | files compressed in these ways; on by default |
//! | `object-store` | `StoreTable`: the same verbs over S3, GCS, Azure, HTTP and memory, async |
//!
//! # Parts
//!
//! Pure values, which are handed names and bytes and read nothing:
//!
//! | module | what |
//! |---|---|
//! | [`names`], [`refs`] | names of version files; tags and branches |
//! | `container`, `proto`, `unknown`, `message` | the messages of a manifest file, in and out |
//! | `cost` | what a message takes in memory, told before it is decoded |
//! | [`flags`] | what a reader must know to read the table |
//! | [`manifest`], [`fields`], [`fragment`], [`data_file`], [`deletion`], [`row_ids`] | one version of the table |
//! | `schema`, [`columns`] | its fields as a tree, and those that are asked for |
//! | `deletions` | the deleted rows of a fragment |
//! | `snapshot` | one version, and what was found out about its rows |
//! | `plan`, `assemble`, `row_columns`, `gather` | which columns of which files; their arrays to those of the table |
//! | [`transaction`], [`indexes`], `version_file` | what a version did, and the indexes it lists |
//! | `next` | the next version, out of the latest one and a transaction |
//! | `conflicts`, `replaced`, `rebase` | whether a change still makes sense behind others, and what it becomes |
//! | `standing` | whether a version is part of the history |
//! | `schema_change`, `compact_plan`, `cleanup_plan` | other fields; which fragments are joined; which files may go |
//! | `ref_files`, `clone` | tags and branches as text; the first version of a clone |
//! | `lineage`, `expand`, `blob_write`, `new_values` | row ids that move; values for deleted rows; places of blobs; values of new columns |
//! | `file_schema`, `conform` | fields and columns of a new data file; rows as the table wants them |
//!
//! Reads and writes are written once, as `async` functions that wait for a `storage` and nothing else: `opening`, `files`
//! (which keeps data files open), `read`, `take`, `scan_plan`, `scan_filter`, `zone_maps`, `blobs`; `data_writer`, `write`,
//! `chosen_rows`, `removal`, `row_changes`, `commit`, `put_version`; `alter`, `add_columns`, `compact`, `live_rows`, `ref_verbs`,
//! `cleanup`. On disk they never wait, so that [`Table`] and [`TableScan`] are plain calls around them. `inspect`, `statistics` and `verify` look at whole versions on
//! disk: what they are made of, what zone maps say about their columns, whether they are sound.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod add_columns;
mod alter;
mod announce;
mod assemble;
mod blob_write;
mod blobs;
mod chosen_rows;
mod cleanup;
mod cleanup_plan;
mod clone;
pub mod columns;
mod commit;
mod commit_files;
mod compact;
mod compact_plan;
mod conflicts;
mod conform;
mod container;
mod cost;
pub mod data_file;
mod data_writer;
pub mod deletion;
mod deletions;
mod error;
mod expand;
pub mod fields;
mod file_schema;
mod files;
pub mod flags;
pub mod fragment;
mod gather;
pub mod indexes;
mod inspect;
mod lineage;
mod live_rows;
mod local;
mod locks;
pub mod manifest;
mod message;
pub mod names;
mod new_values;
mod next;
mod opening;
mod options;
mod paths;
mod plan;
mod proto;
mod prune;
mod put_version;
mod random;
mod read;
mod rebase;
mod ref_files;
mod ref_verbs;
pub mod refs;
mod removal;
mod replaced;
mod row_changes;
mod row_columns;
pub mod row_ids;
mod row_source;
mod scan;
mod scan_filter;
mod scan_plan;
mod schema;
mod schema_change;
mod shape_verbs;
mod snapshot;
mod standing;
mod statistics;
mod storage;
#[cfg(feature = "object-store")]
mod store;
#[cfg(feature = "object-store")]
mod store_fragment;
#[cfg(feature = "object-store")]
mod store_reads;
#[cfg(feature = "object-store")]
mod store_scan;
#[cfg(feature = "object-store")]
mod store_shape_verbs;
#[cfg(feature = "object-store")]
mod store_table;
#[cfg(feature = "object-store")]
mod store_verbs;
mod table;
mod take;
mod taken_manifests;
mod together;
pub mod transaction;
mod unknown;
mod verify;
mod version_file;
mod wire;
mod write;
mod write_options;
mod write_verbs;
mod zone_maps;

#[cfg(test)]
mod blob_update_tests;
#[cfg(all(test, unix))]
mod branch_folder_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod race_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod shape_fault_tests;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

pub use blobs::TableBlobs;
pub use chosen_rows::TableRows;
pub use cleanup::Cleanup;
pub use cleanup_plan::CleanupOptions;
pub use columns::{TableColumns, TableProjection};
pub use compact::{Compaction, IndexLoss};
pub use compact_plan::CompactOptions;
pub use data_file::{DataFile, FileVersion};
pub use deletion::{DeletionFile, DeletionKind};
pub use deletions::Deletions;
pub use error::{Conflict, Error, Result};
pub use fields::Field;
pub use flags::Flags;
pub use fragment::Fragment;
pub use indexes::IndexEntry;
pub use inspect::{
    ColumnOwner, DataFileReport, DeletionFileReport, FragmentReport, InspectedFile,
    TableColumnReport, TableReport,
};
pub use manifest::{BasePath, Limits, Manifest, Writer};
pub use names::{Naming, VersionName, Versions};
pub use options::{At, TableOptions};
pub use refs::{Branch, Tag};
pub use row_ids::{RowIds, Stored};
pub use scan::{TableBatches, TableScan};
pub use statistics::{FragmentZones, KnownStatistics, TableColumnStatistics};
#[cfg(feature = "object-store")]
pub use store_fragment::StoreFragment;
#[cfg(feature = "object-store")]
pub use store_scan::{StoreBatches, StoreScan};
#[cfg(feature = "object-store")]
pub use store_table::{StoreBlobs, StoreTable};
#[cfg(feature = "object-store")]
pub use store_verbs::RowStream;
pub use table::Table;
pub use transaction::{Operation, Transaction};
pub use unknown::UnknownFields;
pub use verify::{TableProblem, TableVerification, VerifyProgress};
pub use write::TableChange;
pub use write_options::{TableWriteOptions, WriteProgress};
pub use zone_maps::FieldZones;

/// The examples of the README, compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
