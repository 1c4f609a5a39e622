//! What a file is made of, and whether it is sound.

mod arrays;
mod blocks;
mod inspect;
mod layouts;
mod verify;
mod zones;

pub use inspect::{BufferReport, ColumnReport, FileReport, PageReport};
pub use verify::Verification;

pub(super) use inspect::report;
pub(super) use verify::verify;
