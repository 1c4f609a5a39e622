//! The protobuf messages of the format, written by hand: no protoc, no build script.
//!
//! One file per protobuf package. The same messages stand as text in `tests/proto/`; a test holds
//! the two together, number by number. Maps are ordered so that the same message always gives the
//! same bytes.

pub(crate) mod any;
pub(crate) mod encodings;
pub(crate) mod encodings21;
pub(crate) mod file;
pub(crate) mod file_v2;

#[cfg(test)]
mod tests;
