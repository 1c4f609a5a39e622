//! Reads of 2.1 and 2.2: columns of pages, each with a layout.

mod columns;
mod leaf_read;
mod long_values;
mod read;

pub(super) use columns::{FileColumn, LayoutColumns};
pub(super) use leaf_read::leaf_column;
pub(super) use long_values::LongValues;
pub(super) use read::LayoutRead;
