//! Package `lance.file.v2`: the metadata of one column.

/// The pages of a column.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ColumnMetadata {
    #[prost(message, optional, tag = "1")]
    pub(crate) encoding: Option<Encoding>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) pages: Vec<column_metadata::Page>,
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) buffer_offsets: Vec<u64>,
    #[prost(uint64, repeated, tag = "4")]
    pub(crate) buffer_sizes: Vec<u64>,
}

pub(crate) mod column_metadata {
    /// Where the bytes of a page are, and how they are encoded.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Page {
        #[prost(uint64, repeated, tag = "1")]
        pub(crate) buffer_offsets: Vec<u64>,
        #[prost(uint64, repeated, tag = "2")]
        pub(crate) buffer_sizes: Vec<u64>,
        #[prost(uint64, tag = "3")]
        pub(crate) length: u64,
        #[prost(message, optional, tag = "4")]
        pub(crate) encoding: Option<super::Encoding>,
        #[prost(uint64, tag = "5")]
        pub(crate) priority: u64,
    }
}

/// Where the description of an encoding is.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Encoding {
    #[prost(oneof = "encoding::Location", tags = "1, 2, 3")]
    pub(crate) location: Option<encoding::Location>,
}

pub(crate) mod encoding {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Location {
        /// Never written, refused.
        #[prost(message, tag = "1")]
        Indirect(super::DeferredEncoding),
        #[prost(message, tag = "2")]
        Direct(super::DirectEncoding),
        /// Never written, refused.
        #[prost(message, tag = "3")]
        None(super::Empty),
    }
}

/// The description is here: a serialized `Any`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DirectEncoding {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) encoding: Vec<u8>,
}

/// The description is elsewhere in the file.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeferredEncoding {
    #[prost(uint64, tag = "1")]
    pub(crate) buffer_location: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) buffer_length: u64,
}

/// `google.protobuf.Empty`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Empty {}
