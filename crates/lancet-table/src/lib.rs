//! Lance tables: what their version files say, checked.
//!
//! A table is a folder. Each of its versions is a file in `_versions/`, the manifest, which lists the
//! fields and the fragments; a fragment is a range of rows in one or more data files, perhaps with a
//! deletion file and a sequence of row ids.
//!
//! Nothing here reads a file: [`Versions`] is handed the names in `_versions/`, [`Manifest::parse`] the
//! bytes of one of them. What comes out keeps every rule that can be told from the manifest alone.
//!
//! ```
//! use lancet_table::Versions;
//!
//! # fn main() -> lancet_table::Result<()> {
//! let names = ["18446744073709551613.manifest", "18446744073709551614.manifest", ".tmp"];
//! let versions = Versions::from_names(names)?;
//! assert_eq!(versions.numbers(), [1, 2]);
//! assert_eq!(versions.latest().unwrap().file_name(), "18446744073709551613.manifest");
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`names`] | names of version files |
//! | `container` | where the message of a manifest file is |
//! | `proto` | the messages, as the format has them |
//! | `cost` | what a message takes in memory, told before it is decoded |
//! | [`flags`] | what a reader must know to read the table |
//! | [`manifest`] | one version of the table |
//! | [`fields`] | its fields |
//! | [`fragment`], [`data_file`], [`deletion`] | its rows, and the files they are in |
//! | [`row_ids`] | the row ids of a fragment |
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

mod container;
mod cost;
pub mod data_file;
pub mod deletion;
mod error;
pub mod fields;
pub mod flags;
pub mod fragment;
pub mod manifest;
mod message;
pub mod names;
mod proto;
pub mod row_ids;
mod unknown;

#[cfg(test)]
mod tests;

pub use data_file::{DataFile, FileVersion};
pub use deletion::{DeletionFile, DeletionKind};
pub use error::{Error, Result};
pub use fields::Field;
pub use flags::Flags;
pub use fragment::Fragment;
pub use manifest::{BasePath, Limits, Manifest, Writer};
pub use names::{Naming, VersionName, Versions};
pub use row_ids::{RowIds, Stored};
pub use unknown::UnknownFields;
