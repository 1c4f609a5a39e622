//! Package `lance.encodings21`: the page layouts and value encodings of 2.1 and 2.2.

/// How the bytes of a page are laid out.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PageLayout {
    #[prost(oneof = "page_layout::Layout", tags = "1, 2, 3, 4")]
    pub(crate) layout: Option<page_layout::Layout>,
}

impl prost::Name for PageLayout {
    const NAME: &'static str = "PageLayout";
    const PACKAGE: &'static str = "lance.encodings21";
}

pub(crate) mod page_layout {
    #[expect(clippy::enum_variant_names, reason = "the format's names")]
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Layout {
        #[prost(message, tag = "1")]
        MiniBlockLayout(super::MiniBlockLayout),
        #[prost(message, tag = "2")]
        ConstantLayout(super::ConstantLayout),
        #[prost(message, tag = "3")]
        FullZipLayout(super::FullZipLayout),
        #[prost(message, tag = "4")]
        BlobLayout(Box<super::BlobLayout>),
    }
}

/// What one layer of nesting can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum RepDefLayer {
    Unspecified = 0,
    AllValidItem = 1,
    AllValidList = 2,
    NullableItem = 3,
    NullableList = 4,
    EmptyableList = 5,
    NullAndEmptyList = 6,
}

/// Small values in chunks.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MiniBlockLayout {
    #[prost(message, optional, tag = "1")]
    pub(crate) rep_compression: Option<CompressiveEncoding>,
    #[prost(message, optional, tag = "2")]
    pub(crate) def_compression: Option<CompressiveEncoding>,
    /// Describes the indices when there is a dictionary.
    #[prost(message, optional, tag = "3")]
    pub(crate) value_compression: Option<CompressiveEncoding>,
    #[prost(message, optional, tag = "4")]
    pub(crate) dictionary: Option<CompressiveEncoding>,
    #[prost(uint64, tag = "5")]
    pub(crate) num_dictionary_items: u64,
    /// Innermost first.
    #[prost(enumeration = "RepDefLayer", repeated, tag = "6")]
    pub(crate) layers: Vec<i32>,
    /// Value buffers per chunk; levels are not counted.
    #[prost(uint64, tag = "7")]
    pub(crate) num_buffers: u64,
    #[prost(uint32, tag = "8")]
    pub(crate) repetition_index_depth: u32,
    /// Visible items of the page.
    #[prost(uint64, tag = "9")]
    pub(crate) num_items: u64,
    /// False in 2.1, true in 2.2.
    #[prost(bool, tag = "10")]
    pub(crate) has_large_chunk: bool,
}

/// Large values, each with its levels.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FullZipLayout {
    #[prost(uint32, tag = "1")]
    pub(crate) bits_rep: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) bits_def: u32,
    #[prost(oneof = "full_zip_layout::Details", tags = "3, 4")]
    pub(crate) details: Option<full_zip_layout::Details>,
    /// Entries, truncated to 32 bits.
    #[prost(uint32, tag = "5")]
    pub(crate) num_items: u32,
    /// Visible items, truncated to 32 bits.
    #[prost(uint32, tag = "6")]
    pub(crate) num_visible_items: u32,
    #[prost(message, optional, tag = "7")]
    pub(crate) value_compression: Option<CompressiveEncoding>,
    /// Innermost first.
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

/// All values are null, or (2.2) all are the same.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ConstantLayout {
    /// Innermost first.
    #[prost(enumeration = "RepDefLayer", repeated, tag = "5")]
    pub(crate) layers: Vec<i32>,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub(crate) inline_value: Option<Vec<u8>>,
    #[prost(message, optional, tag = "7")]
    pub(crate) rep_compression: Option<CompressiveEncoding>,
    #[prost(message, optional, tag = "8")]
    pub(crate) def_compression: Option<CompressiveEncoding>,
    #[prost(uint64, tag = "9")]
    pub(crate) num_rep_values: u64,
    #[prost(uint64, tag = "10")]
    pub(crate) num_def_values: u64,
}

/// Values out of line; the page holds where they are.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BlobLayout {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) inner_layout: Option<Box<PageLayout>>,
    /// Innermost first.
    #[prost(enumeration = "RepDefLayer", repeated, tag = "2")]
    pub(crate) layers: Vec<i32>,
}

/// How values are compressed.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CompressiveEncoding {
    #[prost(
        oneof = "compressive_encoding::Compression",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13"
    )]
    pub(crate) compression: Option<compressive_encoding::Compression>,
}

pub(crate) mod compressive_encoding {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Compression {
        #[prost(message, tag = "1")]
        Flat(super::Flat),
        #[prost(message, tag = "2")]
        Variable(Box<super::Variable>),
        #[prost(message, tag = "3")]
        Constant(super::Constant),
        #[prost(message, tag = "4")]
        OutOfLineBitpacking(Box<super::OutOfLineBitpacking>),
        #[prost(message, tag = "5")]
        InlineBitpacking(super::InlineBitpacking),
        #[prost(message, tag = "6")]
        Fsst(Box<super::Fsst>),
        #[prost(message, tag = "7")]
        Dictionary(Box<super::Dictionary>),
        #[prost(message, tag = "8")]
        Rle(Box<super::Rle>),
        #[prost(message, tag = "9")]
        ByteStreamSplit(Box<super::ByteStreamSplit>),
        #[prost(message, tag = "10")]
        General(Box<super::General>),
        #[prost(message, tag = "11")]
        FixedSizeList(Box<super::FixedSizeList>),
        #[prost(message, tag = "12")]
        PackedStruct(Box<super::PackedStruct>),
        #[prost(message, tag = "13")]
        VariablePackedStruct(super::VariablePackedStruct),
    }
}

/// A general-purpose compressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum CompressionScheme {
    CompressionAlgorithmUnspecified = 0,
    CompressionAlgorithmLz4 = 1,
    CompressionAlgorithmZstd = 2,
}

/// A compressor and its level.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct BufferCompression {
    #[prost(enumeration = "CompressionScheme", tag = "1")]
    pub(crate) scheme: i32,
    /// Information only.
    #[prost(int32, optional, tag = "2")]
    pub(crate) level: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Flat {
    #[prost(uint64, tag = "1")]
    pub(crate) bits_per_value: u64,
    /// Reserved: never written, to be refused.
    #[prost(message, optional, tag = "2")]
    pub(crate) data: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Variable {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) offsets: Option<Box<CompressiveEncoding>>,
    /// Reserved: never written, to be refused.
    #[prost(message, optional, tag = "2")]
    pub(crate) values: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Constant {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) value: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OutOfLineBitpacking {
    #[prost(uint64, tag = "1")]
    pub(crate) uncompressed_bits_per_value: u64,
    /// Field 3: there is no field 2.
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct InlineBitpacking {
    #[prost(uint64, tag = "1")]
    pub(crate) uncompressed_bits_per_value: u64,
    /// Reserved: never written, to be refused.
    #[prost(message, optional, tag = "2")]
    pub(crate) values: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Fsst {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) symbol_table: Vec<u8>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
}

/// Reserved: never written, to be refused.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Dictionary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) indices: Option<Box<CompressiveEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) items: Option<Box<CompressiveEncoding>>,
    #[prost(uint32, tag = "3")]
    pub(crate) num_dictionary_items: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Rle {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) run_lengths: Option<Box<CompressiveEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ByteStreamSplit {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct General {
    #[prost(message, optional, tag = "1")]
    pub(crate) compression: Option<BufferCompression>,
    /// Field 3: there is no field 2.
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeList {
    #[prost(uint64, tag = "1")]
    pub(crate) items_per_value: u64,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
    #[prost(bool, tag = "3")]
    pub(crate) has_validity: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedStruct {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) bits_per_value: Vec<u64>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<CompressiveEncoding>>,
}

/// Only in 2.2.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct VariablePackedStruct {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<variable_packed_struct::FieldEncoding>,
}

pub(crate) mod variable_packed_struct {
    /// How one field of the struct is stored.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct FieldEncoding {
        #[prost(message, optional, tag = "1")]
        pub(crate) value: Option<super::CompressiveEncoding>,
        #[prost(oneof = "field_encoding::Layout", tags = "2, 3")]
        pub(crate) layout: Option<field_encoding::Layout>,
    }

    pub(crate) mod field_encoding {
        #[derive(Clone, Copy, PartialEq, prost::Oneof)]
        pub(crate) enum Layout {
            #[prost(uint64, tag = "2")]
            BitsPerValue(u64),
            #[prost(uint64, tag = "3")]
            BitsPerLength(u64),
        }
    }
}
