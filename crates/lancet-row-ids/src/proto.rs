//! The protobuf messages of the format, written by hand: of the package `lance.table` the row ids and row versions of
//! a fragment. Bytes of the reference hold them to it, number by number (`tests/vectors.rs`).

/// The id of every row, in row order: the segments one after the other.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowIdSequence {
    #[prost(message, repeated, tag = "1")]
    pub(crate) segments: Vec<U64Segment>,
}

/// Some numbers, in one of five forms.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct U64Segment {
    #[prost(oneof = "u64_segment::Segment", tags = "1, 2, 3, 4, 5")]
    pub(crate) segment: Option<u64_segment::Segment>,
}

pub(crate) mod u64_segment {
    /// `start..end`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Range {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
    }

    /// `start..end` without the holes.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct RangeWithHoles {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
        #[prost(message, optional, tag = "3")]
        pub(crate) holes: Option<super::EncodedU64Array>,
    }

    /// The numbers of `start..end` whose bit is set.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct RangeWithBitmap {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
        #[prost(bytes = "vec", tag = "3")]
        pub(crate) bitmap: Vec<u8>,
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Segment {
        #[prost(message, tag = "1")]
        Range(Range),
        #[prost(message, tag = "2")]
        RangeWithHoles(RangeWithHoles),
        #[prost(message, tag = "3")]
        RangeWithBitmap(RangeWithBitmap),
        #[prost(message, tag = "4")]
        SortedArray(super::EncodedU64Array),
        #[prost(message, tag = "5")]
        Array(super::EncodedU64Array),
    }
}

/// Numbers of one width.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EncodedU64Array {
    #[prost(oneof = "encoded_u64_array::Array", tags = "1, 2, 3")]
    pub(crate) array: Option<encoded_u64_array::Array>,
}

pub(crate) mod encoded_u64_array {
    /// Two bytes per number, added to `base`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct U16Array {
        #[prost(uint64, tag = "1")]
        pub(crate) base: u64,
        #[prost(bytes = "vec", tag = "2")]
        pub(crate) offsets: Vec<u8>,
    }

    /// Four bytes per number, added to `base`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct U32Array {
        #[prost(uint64, tag = "1")]
        pub(crate) base: u64,
        #[prost(bytes = "vec", tag = "2")]
        pub(crate) offsets: Vec<u8>,
    }

    /// Eight bytes per number. There is no field 1.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct U64Array {
        #[prost(bytes = "vec", tag = "2")]
        pub(crate) values: Vec<u8>,
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    #[expect(clippy::enum_variant_names, reason = "the names of the format")]
    pub(crate) enum Array {
        #[prost(message, tag = "1")]
        U16Array(U16Array),
        #[prost(message, tag = "2")]
        U32Array(U32Array),
        #[prost(message, tag = "3")]
        U64Array(U64Array),
    }
}

/// The version of every row, as runs one after the other.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowDatasetVersionSequence {
    #[prost(message, repeated, tag = "1")]
    pub(crate) runs: Vec<RowDatasetVersionRun>,
}

/// As many rows of one version as the span has numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowDatasetVersionRun {
    #[prost(message, optional, tag = "1")]
    pub(crate) span: Option<U64Segment>,
    #[prost(uint64, tag = "2")]
    pub(crate) version: u64,
}
