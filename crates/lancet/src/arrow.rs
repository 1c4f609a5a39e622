//! The crates of Arrow whose types stand in this crate's interface, at the version it was built with:
//! 59.
//!
//! Use them from here, and your `Cargo.toml` needs one line for lancet and none for Arrow. Where you
//! depend on the crates of Arrow yourself, take the same major version: a `RecordBatch` of another
//! one is another type.
//!
//! | module | crate | what |
//! |---|---|---|
//! | [`mod@array`] | `arrow-array` | arrays, their builders, [`RecordBatch`](array::RecordBatch) |
//! | [`buffer`] | `arrow-buffer` | the bytes, offsets and bitmaps of arrays |
//! | [`schema`] | `arrow-schema` | [`Schema`](schema::Schema), [`Field`](schema::Field), [`DataType`](schema::DataType) |
//! | [`select`] | `arrow-select` | filter, take and concatenate arrays and batches |
//!
//! ```
//! use std::sync::Arc;
//!
//! use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch};
//! use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
//!
//! # fn main() -> lancet::Result<()> {
//! let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
//! let batch = RecordBatch::try_from_iter([("id", ids)])?;
//! let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
//! writer.write(&batch)?;
//! let (_, file) = writer.finish_into()?;
//! assert_eq!(FileReader::from_bytes(file, ReadOptions::default())?.take(&[0, 1, 2])?, batch);
//! # Ok(())
//! # }
//! ```

pub use arrow_array as array;
pub use arrow_buffer as buffer;
pub use arrow_schema as schema;
pub use arrow_select as select;
