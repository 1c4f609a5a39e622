//! Package `lance.encodings`: the column encoding, which every version writes, the array encodings
//! of 2.0, and the page layouts of early 2.1, which were made of more of them.

use super::encodings21::RepDefLayer;
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

/// How an array of values is stored.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ArrayEncoding {
    #[prost(
        oneof = "array_encoding::ArrayEncoding",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17"
    )]
    pub(crate) array_encoding: Option<array_encoding::ArrayEncoding>,
}

impl prost::Name for ArrayEncoding {
    const NAME: &'static str = "ArrayEncoding";
    const PACKAGE: &'static str = "lance.encodings";
}

pub(crate) mod array_encoding {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum ArrayEncoding {
        #[prost(message, tag = "1")]
        Flat(super::Flat),
        #[prost(message, tag = "2")]
        Nullable(Box<super::Nullable>),
        #[prost(message, tag = "3")]
        FixedSizeList(Box<super::FixedSizeList>),
        #[prost(message, tag = "4")]
        List(Box<super::List>),
        #[prost(message, tag = "5")]
        Struct(super::SimpleStruct),
        #[prost(message, tag = "6")]
        Binary(Box<super::Binary>),
        #[prost(message, tag = "7")]
        Dictionary(Box<super::Dictionary>),
        #[prost(message, tag = "8")]
        Fsst(Box<super::Fsst>),
        #[prost(message, tag = "9")]
        PackedStruct(super::PackedStruct),
        #[prost(message, tag = "10")]
        Bitpacked(super::Bitpacked),
        #[prost(message, tag = "11")]
        FixedSizeBinary(Box<super::FixedSizeBinary>),
        #[prost(message, tag = "12")]
        BitpackedForNonNeg(super::BitpackedForNonNeg),
        #[prost(message, tag = "13")]
        Constant(super::Constant),
        #[prost(message, tag = "14")]
        InlineBitpacking(super::InlineBitpacking),
        #[prost(message, tag = "15")]
        OutOfLineBitpacking(super::OutOfLineBitpacking),
        #[prost(message, tag = "16")]
        Variable(super::Variable),
        #[prost(message, tag = "17")]
        PackedStructFixedWidthMiniBlock(Box<super::PackedStructFixedWidthMiniBlock>),
    }
}

/// A general-purpose compressor, by name.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Compression {
    #[prost(string, tag = "1")]
    pub(crate) scheme: String,
    /// Information only.
    #[prost(int32, optional, tag = "2")]
    pub(crate) level: Option<i32>,
}

/// Values back to back.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Flat {
    #[prost(uint64, tag = "1")]
    pub(crate) bits_per_value: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) buffer: Option<Buffer>,
    #[prost(message, optional, tag = "3")]
    pub(crate) compression: Option<Compression>,
}

/// Values that may be null.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Nullable {
    #[prost(oneof = "nullable::Nullability", tags = "1, 2, 3")]
    pub(crate) nullability: Option<nullable::Nullability>,
}

pub(crate) mod nullable {
    #[expect(clippy::enum_variant_names, reason = "the format's names")]
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Nullability {
        #[prost(message, tag = "1")]
        NoNulls(Box<NoNull>),
        #[prost(message, tag = "2")]
        SomeNulls(Box<SomeNull>),
        #[prost(message, tag = "3")]
        AllNulls(AllNull),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct NoNull {
        #[prost(message, optional, boxed, tag = "1")]
        pub(crate) values: Option<Box<super::ArrayEncoding>>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct SomeNull {
        #[prost(message, optional, boxed, tag = "1")]
        pub(crate) validity: Option<Box<super::ArrayEncoding>>,
        #[prost(message, optional, boxed, tag = "2")]
        pub(crate) values: Option<Box<super::ArrayEncoding>>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub(crate) struct AllNull {}
}

/// A fixed number of items a value.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeList {
    #[prost(uint32, tag = "1")]
    pub(crate) dimension: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) items: Option<Box<ArrayEncoding>>,
    /// Written false in 2.0, and not looked at.
    #[prost(bool, tag = "3")]
    pub(crate) has_validity: bool,
}

/// Where lists end; their items are another column.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct List {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) offsets: Option<Box<ArrayEncoding>>,
    #[prost(uint64, tag = "2")]
    pub(crate) null_offset_adjustment: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) num_items: u64,
}

/// A struct; its fields are other columns.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct SimpleStruct {}

/// Byte strings: where they end, and the bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Binary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) indices: Option<Box<ArrayEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) bytes: Option<Box<ArrayEncoding>>,
    #[prost(uint64, tag = "3")]
    pub(crate) null_adjustment: u64,
}

/// Byte strings coded with a symbol table.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Fsst {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) binary: Option<Box<ArrayEncoding>>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) symbol_table: Vec<u8>,
}

/// Numbers of items.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Dictionary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) indices: Option<Box<ArrayEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) items: Option<Box<ArrayEncoding>>,
    #[prost(uint32, tag = "3")]
    pub(crate) num_dictionary_items: u32,
}

/// The fields of a struct side by side.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedStruct {
    #[prost(message, repeated, tag = "1")]
    pub(crate) inner: Vec<ArrayEncoding>,
    #[prost(message, optional, tag = "2")]
    pub(crate) buffer: Option<Buffer>,
}

/// Numbers as one stream of bits.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Bitpacked {
    #[prost(uint64, tag = "1")]
    pub(crate) compressed_bits_per_value: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(message, optional, tag = "3")]
    pub(crate) buffer: Option<Buffer>,
    #[prost(bool, tag = "4")]
    pub(crate) signed: bool,
}

/// Numbers in packed blocks of 1,024.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BitpackedForNonNeg {
    #[prost(uint64, tag = "1")]
    pub(crate) compressed_bits_per_value: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(message, optional, tag = "3")]
    pub(crate) buffer: Option<Buffer>,
}

/// Byte strings of one length.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeBinary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) bytes: Option<Box<ArrayEncoding>>,
    #[prost(uint32, tag = "2")]
    pub(crate) byte_width: u32,
}

/// One value for all rows.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Constant {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) value: Vec<u8>,
}

/// Early 2.1: packed blocks that tell their width.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct InlineBitpacking {
    /// Field 2: there is no field 1.
    #[prost(uint64, tag = "2")]
    pub(crate) uncompressed_bits_per_value: u64,
}

/// Early 2.1: packed blocks of one width.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct OutOfLineBitpacking {
    /// Field 2: there is no field 1.
    #[prost(uint64, tag = "2")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) compressed_bits_per_value: u64,
}

/// Early 2.1: offsets and bytes.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Variable {
    #[prost(uint32, tag = "1")]
    pub(crate) bits_per_offset: u32,
}

/// Early 2.1: rows of fixed-width fields.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedStructFixedWidthMiniBlock {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) flat: Option<Box<ArrayEncoding>>,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) bits_per_values: Vec<u64>,
}

/// Early 2.1: how the bytes of a page are laid out.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PageLayout {
    #[prost(oneof = "page_layout::Layout", tags = "1, 2, 3")]
    pub(crate) layout: Option<page_layout::Layout>,
}

impl prost::Name for PageLayout {
    const NAME: &'static str = "PageLayout";
    const PACKAGE: &'static str = "lance.encodings";
}

pub(crate) mod page_layout {
    #[expect(clippy::enum_variant_names, reason = "the format's names")]
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Layout {
        #[prost(message, tag = "1")]
        MiniBlockLayout(super::MiniBlockLayout),
        #[prost(message, tag = "2")]
        AllNullLayout(super::AllNullLayout),
        #[prost(message, tag = "3")]
        FullZipLayout(super::FullZipLayout),
    }
}

/// Early 2.1: small values in chunks. The fields mean what they mean today.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MiniBlockLayout {
    #[prost(message, optional, tag = "1")]
    pub(crate) rep_compression: Option<ArrayEncoding>,
    #[prost(message, optional, tag = "2")]
    pub(crate) def_compression: Option<ArrayEncoding>,
    #[prost(message, optional, tag = "3")]
    pub(crate) value_compression: Option<ArrayEncoding>,
    #[prost(message, optional, tag = "4")]
    pub(crate) dictionary: Option<ArrayEncoding>,
    #[prost(uint64, tag = "5")]
    pub(crate) num_dictionary_items: u64,
    #[prost(enumeration = "RepDefLayer", repeated, tag = "6")]
    pub(crate) layers: Vec<i32>,
    #[prost(uint64, tag = "7")]
    pub(crate) num_buffers: u64,
    #[prost(uint32, tag = "8")]
    pub(crate) repetition_index_depth: u32,
    #[prost(uint64, tag = "9")]
    pub(crate) num_items: u64,
}

/// Early 2.1: all values are null.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AllNullLayout {
    #[prost(enumeration = "RepDefLayer", repeated, tag = "5")]
    pub(crate) layers: Vec<i32>,
}

/// Early 2.1: large values, each with its levels. The fields mean what they mean today.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FullZipLayout {
    #[prost(uint32, tag = "1")]
    pub(crate) bits_rep: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) bits_def: u32,
    #[prost(oneof = "full_zip_layout::Details", tags = "3, 4")]
    pub(crate) details: Option<full_zip_layout::Details>,
    #[prost(uint32, tag = "5")]
    pub(crate) num_items: u32,
    #[prost(uint32, tag = "6")]
    pub(crate) num_visible_items: u32,
    #[prost(message, optional, tag = "7")]
    pub(crate) value_compression: Option<ArrayEncoding>,
    #[prost(enumeration = "RepDefLayer", repeated, tag = "8")]
    pub(crate) layers: Vec<i32>,
}

pub(crate) mod full_zip_layout {
    #[derive(Clone, Copy, PartialEq, prost::Oneof)]
    pub(crate) enum Details {
        #[prost(uint32, tag = "3")]
        BitsPerValue(u32),
        #[prost(uint32, tag = "4")]
        BitsPerOffset(u32),
    }
}
