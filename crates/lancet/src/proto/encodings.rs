//! Package `lance.encodings`: the column encoding, which every version writes.

pub(crate) use super::file_v2::Empty;

/// What a column holds beside its pages; `values` in all files of 2.1 and 2.2.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ColumnEncoding {
    #[prost(oneof = "column_encoding::Encoding", tags = "1, 2, 3")]
    pub(crate) encoding: Option<column_encoding::Encoding>,
}

impl prost::Name for ColumnEncoding {
    const NAME: &'static str = "ColumnEncoding";
    const PACKAGE: &'static str = "lance.encodings";
}

pub(crate) mod column_encoding {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Encoding {
        #[prost(message, tag = "1")]
        Values(super::Empty),
        /// Never written.
        #[prost(message, tag = "2")]
        ZoneIndex(Box<super::ZoneIndex>),
        /// Only in 2.0.
        #[prost(message, tag = "3")]
        Blob(Box<super::Blob>),
    }
}

/// A column with a zone map.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ZoneIndex {
    #[prost(uint32, tag = "1")]
    pub(crate) rows_per_zone: u32,
    #[prost(message, optional, tag = "2")]
    pub(crate) zone_map_buffer: Option<Buffer>,
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) inner: Option<Box<ColumnEncoding>>,
}

/// A column of descriptions of out-of-line bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Blob {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) inner: Option<Box<ColumnEncoding>>,
}

/// The number of a buffer, and whose it is.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Buffer {
    #[prost(uint32, tag = "1")]
    pub(crate) buffer_index: u32,
    #[prost(enumeration = "buffer::BufferType", tag = "2")]
    pub(crate) buffer_type: i32,
}

pub(crate) mod buffer {
    /// Whose buffer it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub(crate) enum BufferType {
        Page = 0,
        Column = 1,
        File = 2,
    }
}
