//! Reads: the open file and its requests, which do no I/O, and the blocking reader, which does.
//!
//! ```text
//! OpenFile ─ makes ─► Request ─ names spans ─► driver ─ hands over bytes ─► Request ─► result
//! ```
//!
//! | place | what |
//! |---|---|
//! | `file`, `opening`, `columns`, `projection` | what is known of a file, and how it comes to be known |
//! | `rows_read`, `layouts/`, `arrays/` | rows to a batch: one machine, with 2.1 and 2.2 and 2.0 as its two kinds |
//! | `checked` | the same reads, compared with the checksums of the file |
//! | `steps` | longer reads, as sequences of others: zone maps, blobs, `scan_plan`, `check/` |
//! | `by_number` | columns by their numbers and filters over batches, for tables |
//! | `blocking/` | the reader for files on disk and in memory: sources, threads |

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod arrays;
mod blobs;
mod blocking;
mod by_number;
mod cache;
mod check;
mod checked;
mod columns;
mod file;
mod gather;
mod layouts;
mod names;
mod opening;
mod options;
mod order;
mod projection;
mod request;
mod rows_read;
mod scan_filter;
mod scan_plan;
mod steps;
mod zone_maps;

pub use blobs::{BlobColumn, BlobDescription};
pub use blocking::{Batches, Blobs, Coalesced, FileReader, FileSource, Scan, Source, coalesce};
pub use cache::{CacheStats, SearchCache};
pub use check::{BufferReport, ColumnReport, FileReport, PageReport, Verification};
pub use file::OpenFile;
pub use options::ReadOptions;
pub use order::has_no_width;
pub use projection::{Columns, Projection};
pub use request::{Progress, Request};
pub use scan_plan::{ScanPlan, ScanRequests};
