//! Everything around the pages: footer, tables, descriptor, column metadata.

mod version;
pub use version::Version;
