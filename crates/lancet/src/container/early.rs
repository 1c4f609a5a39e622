//! The page layouts of early 2.1, which the releases 0.26 to 0.32 wrote: translated once, read like
//! any other. 0.32 had encodings of its own, and before 0.26 the messages were others still.
//!
//! Layouts and their fields keep their numbers. What stood for an encoding of values was an
//! `ArrayEncoding`:
//!
//! | then | today |
//! |---|---|
//! | `flat`, `constant` | the same |
//! | `fixed_size_list`, `fsst`, `inline_bitpacking` | the same, with other field numbers |
//! | `variable { bits }` | `variable { offsets: flat { bits } }` |
//! | `out_of_line_bitpacking { bits, packed }` | `… { bits, values: flat { packed } }` |
//! | `packed_struct_fixed_width_mini_block` | `packed_struct` |

use crate::error::{Error, Result, ensure};
use crate::proto::encodings::array_encoding::ArrayEncoding as Then;
use crate::proto::encodings::full_zip_layout::Details as DetailsThen;
use crate::proto::encodings::page_layout::Layout as LayoutThen;
use crate::proto::encodings::{self as then, ArrayEncoding};
use crate::proto::encodings21::compressive_encoding::Compression;
use crate::proto::encodings21::full_zip_layout::Details;
use crate::proto::encodings21::page_layout::Layout;
use crate::proto::encodings21::{self as today, CompressiveEncoding};

/// The layout as today's writers would describe it.
pub(super) fn translate(page: then::PageLayout) -> Result<today::PageLayout> {
    let layout = match page.layout {
        Some(LayoutThen::MiniBlockLayout(m)) => Layout::MiniBlockLayout(today::MiniBlockLayout {
            rep_compression: optional(m.rep_compression)?,
            def_compression: optional(m.def_compression)?,
            value_compression: optional(m.value_compression)?,
            dictionary: optional(m.dictionary)?,
            num_dictionary_items: m.num_dictionary_items,
            layers: m.layers,
            num_buffers: m.num_buffers,
            repetition_index_depth: m.repetition_index_depth,
            num_items: m.num_items,
            has_large_chunk: false,
        }),
        Some(LayoutThen::AllNullLayout(m)) => {
            Layout::ConstantLayout(today::ConstantLayout { layers: m.layers, ..Default::default() })
        }
        Some(LayoutThen::FullZipLayout(m)) => Layout::FullZipLayout(today::FullZipLayout {
            bits_rep: m.bits_rep,
            bits_def: m.bits_def,
            details: m.details.map(|details| match details {
                DetailsThen::BitsPerValue(bits) => Details::BitsPerValue(bits),
                DetailsThen::BitsPerOffset(bits) => Details::BitsPerOffset(bits),
            }),
            num_items: m.num_items,
            num_visible_items: m.num_visible_items,
            value_compression: optional(m.value_compression)?,
            layers: m.layers,
        }),
        None => return Err(Error::corrupt("the page layout is missing or unknown")),
    };
    Ok(today::PageLayout { layout: Some(layout) })
}

fn optional(encoding: Option<ArrayEncoding>) -> Result<Option<CompressiveEncoding>> {
    encoding.map(translate_encoding).transpose()
}

fn boxed(encoding: Option<Box<ArrayEncoding>>) -> Result<Option<Box<CompressiveEncoding>>> {
    Ok(optional(encoding.map(|encoding| *encoding))?.map(Box::new))
}

fn flat(bits_per_value: u64) -> CompressiveEncoding {
    let flat = today::Flat { bits_per_value, data: None };
    CompressiveEncoding { compression: Some(Compression::Flat(flat)) }
}

fn translate_encoding(encoding: ArrayEncoding) -> Result<CompressiveEncoding> {
    let compression = match encoding.array_encoding {
        Some(Then::Flat(m)) => {
            ensure!(m.compression.is_none(), "a flat encoding names a compression of its own");
            return Ok(flat(m.bits_per_value));
        }
        Some(Then::Constant(m)) if m.value.is_empty() => {
            Compression::Constant(today::Constant { value: None })
        }
        Some(Then::FixedSizeList(m)) => {
            Compression::FixedSizeList(Box::new(today::FixedSizeList {
                items_per_value: u64::from(m.dimension),
                values: boxed(m.items)?,
                has_validity: m.has_validity,
            }))
        }
        Some(Then::Fsst(m)) => Compression::Fsst(Box::new(today::Fsst {
            symbol_table: m.symbol_table,
            values: boxed(m.binary)?,
        })),
        Some(Then::InlineBitpacking(m)) => Compression::InlineBitpacking(today::InlineBitpacking {
            uncompressed_bits_per_value: m.uncompressed_bits_per_value,
            values: None,
        }),
        Some(Then::OutOfLineBitpacking(m)) => {
            Compression::OutOfLineBitpacking(Box::new(today::OutOfLineBitpacking {
                uncompressed_bits_per_value: m.uncompressed_bits_per_value,
                values: Some(Box::new(flat(m.compressed_bits_per_value))),
            }))
        }
        Some(Then::Variable(m)) => Compression::Variable(Box::new(today::Variable {
            offsets: Some(Box::new(flat(u64::from(m.bits_per_offset)))),
            values: None,
        })),
        Some(Then::PackedStructFixedWidthMiniBlock(m)) => {
            Compression::PackedStruct(Box::new(today::PackedStruct {
                bits_per_value: m.bits_per_values,
                values: boxed(m.flat)?,
            }))
        }
        _ => {
            return Err(release_0_32());
        }
    };
    Ok(CompressiveEncoding { compression: Some(compression) })
}

/// What to do about a file of 2.1 that only the release that wrote it can read.
const REWRITE: &str = "lancet reads the 2.1 of 0.26 to 0.31 and of 0.33 and later: have the release \
                       that wrote the file read it, and write it as 2.0";

/// A page that only releases 0.32.0 and 0.32.1 wrote.
pub(crate) fn release_0_32() -> Error {
    Error::unsupported(format!(
        "a page of 2.1 as the releases 0.32.0 and 0.32.1 wrote it; {REWRITE}"
    ))
}

/// A page of early 2.1 whose description makes no sense, most likely because it is older than the
/// messages that lancet knows.
pub(crate) fn too_early(error: Error) -> Error {
    let Error::Corrupt(corrupt) = error else { return error };
    Error::unsupported(format!(
        "a page of 2.1 as releases before 0.26 wrote it ({}); {REWRITE}",
        corrupt.rule
    ))
}
