//! The bytes around the pages, for writing. Same input, same bytes.
//!
//! Fields ascend by number, defaults are left out, integers are packed, map keys are sorted: with
//! these rules the bytes equal those of the reference.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "sizes of buffers in memory; their sums stay far below 2^64"
)]

use prost::Message;

use super::footer::Footer;
use crate::error::{Error, Result};
use crate::proto::any;
use crate::proto::encodings::{Blob, ColumnEncoding, Empty, column_encoding};
use crate::proto::file::FileDescriptor;
use crate::proto::file_v2::{
    ColumnMetadata, DirectEncoding, Encoding, column_metadata, encoding::Location,
};
use crate::span::Span;
use crate::version::Version;

/// Every buffer starts at a multiple of this.
pub(crate) const ALIGNMENT: u64 = 64;

/// What follows a buffer that ends at `position`, so that the next one is aligned.
pub(crate) fn padding(position: u64) -> &'static [u8] {
    const PADDING: &[u8; 63] = &[0x48; 63];
    let missing = position.next_multiple_of(ALIGNMENT) - position;
    usize::try_from(missing).ok().and_then(|n| PADDING.get(..n)).unwrap_or_default()
}

/// A page that was written.
#[derive(Debug, Clone)]
pub(crate) struct WrittenPage {
    /// Where its buffers are, padding excluded.
    pub(crate) buffers: Vec<Span>,
    /// Rows, times the dimensions of all fixed-size lists of structs around the leaf.
    pub(crate) length: u64,
    /// Number of its first row.
    pub(crate) priority: u64,
    /// How they are encoded, as a serialized `Any`.
    pub(crate) encoding: Vec<u8>,
}

/// The metadata of a column; `is_blob` is for columns of 2.0 whose values lie outside their pages.
/// `zone_map` is where the zone map is, and the serialized `Any` that says so.
pub(crate) fn encode_column(
    pages: &[WrittenPage],
    is_blob: bool,
    zone_map: Option<(Span, Vec<u8>)>,
) -> Vec<u8> {
    let mut values = ColumnEncoding { encoding: Some(column_encoding::Encoding::Values(Empty {})) };
    if is_blob {
        let blob = Blob { inner: Some(Box::new(values)) };
        values = ColumnEncoding { encoding: Some(column_encoding::Encoding::Blob(Box::new(blob))) };
    }
    let pages = pages.iter().map(|page| column_metadata::Page {
        buffer_offsets: page.buffers.iter().map(Span::start).collect(),
        buffer_sizes: page.buffers.iter().map(Span::len).collect(),
        length: page.length,
        encoding: Some(direct(page.encoding.clone())),
        priority: page.priority,
    });
    let (buffer, encoding) = zone_map.unzip();
    let metadata = ColumnMetadata {
        encoding: Some(direct(encoding.unwrap_or_else(|| any::wrap(&values)))),
        pages: pages.collect(),
        buffer_offsets: buffer.iter().map(Span::start).collect(),
        buffer_sizes: buffer.iter().map(Span::len).collect(),
    };
    metadata.encode_to_vec()
}

fn direct(any: Vec<u8>) -> Encoding {
    Encoding { location: Some(Location::Direct(DirectEncoding { encoding: any })) }
}

/// Everything after the data, which ends at `position` (padding included): descriptor, metadata of
/// the columns, tables, footer. `user_buffers` are the global buffers from number 1 on.
pub(crate) fn encode_tail(
    version: Version,
    descriptor: &FileDescriptor,
    columns: &[Vec<u8>],
    user_buffers: &[Span],
    position: u64,
) -> Result<Vec<u8>> {
    if !position.is_multiple_of(ALIGNMENT) {
        return Err(Error::invalid(format!("the data ends at byte {position}, without padding")));
    }
    let too_many = |what: &str| Error::invalid(format!("the file has more than 2^32 {what}"));
    let num_columns = u32::try_from(columns.len()).map_err(|_| too_many("columns"))?;
    let num_global_buffers =
        u32::try_from(user_buffers.len() + 1).map_err(|_| too_many("global buffers"))?;

    let mut out = descriptor.encode_to_vec();
    let at = |out: &Vec<u8>| position + out.len() as u64;
    let descriptor_span = Span::between(position, at(&out));
    let cmo_start = encode_columns(columns, position, &mut out);
    let gbo_start = at(&out);
    encode_table(std::slice::from_ref(&descriptor_span), &mut out);
    encode_table(user_buffers, &mut out);
    let column_meta_start = descriptor_span.end();
    let footer = Footer {
        column_meta_start,
        cmo_start,
        gbo_start,
        num_global_buffers,
        num_columns,
        version,
    };
    footer.encode(&mut out);
    Ok(out)
}

/// Everything after the data of a file inside a buffer, which has no descriptor.
pub(crate) fn encode_inner_tail(columns: &[Vec<u8>], position: u64) -> Result<Vec<u8>> {
    let num_columns = u32::try_from(columns.len())
        .map_err(|_| Error::invalid("the file has more than 2^32 columns"))?;
    let mut out = Vec::new();
    let cmo_start = encode_columns(columns, position, &mut out);
    let footer = Footer {
        column_meta_start: position,
        cmo_start,
        gbo_start: position + out.len() as u64,
        num_global_buffers: 0,
        num_columns,
        version: Version::V2_0,
    };
    // Files of 2.0 call themselves 0.3, but those in buffers do not.
    footer.encode_as((2, 0), &mut out);
    Ok(out)
}

/// Appends the metadata of columns and their table, which starts at the place returned; `out` starts
/// at `position`.
fn encode_columns(columns: &[Vec<u8>], position: u64, out: &mut Vec<u8>) -> u64 {
    let mut spans = Vec::with_capacity(columns.len());
    for column in columns {
        let start = position + out.len() as u64;
        out.extend_from_slice(column);
        spans.push(Span::between(start, position + out.len() as u64));
    }
    let table = position + out.len() as u64;
    encode_table(&spans, out);
    table
}

fn encode_table(spans: &[Span], out: &mut Vec<u8>) {
    for span in spans {
        out.extend_from_slice(&span.start().to_le_bytes());
        out.extend_from_slice(&span.len().to_le_bytes());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::container::{Column, PageEncoding, Tail};
    use crate::proto::encodings21::compressive_encoding::Compression;
    use crate::proto::encodings21::page_layout::Layout;
    use crate::proto::encodings21::{CompressiveEncoding, Flat, MiniBlockLayout, PageLayout};
    use crate::proto::file;
    use crate::span::span;

    fn layout() -> PageLayout {
        let flat = Compression::Flat(Flat { bits_per_value: 32, data: None });
        let mini_block = MiniBlockLayout {
            value_compression: Some(CompressiveEncoding { compression: Some(flat) }),
            layers: vec![1],
            num_buffers: 1,
            num_items: 3,
            ..Default::default()
        };
        PageLayout { layout: Some(Layout::MiniBlockLayout(mini_block)) }
    }

    fn descriptor() -> FileDescriptor {
        let field = file::Field {
            name: "x".into(),
            parent_id: -1,
            logical_type: "int32".into(),
            encoding: 1,
            ..Default::default()
        };
        let schema = file::Schema { fields: vec![field], metadata: Default::default() };
        FileDescriptor { schema: Some(schema), length: 3 }
    }

    /// The 338-byte file of the format's text: one column of 1, 2, 3 in 2.1.
    pub(in crate::container) fn example_file() -> Vec<u8> {
        let mut out = vec![0x20, 0x00];
        out.extend_from_slice(padding(2));
        out.extend_from_slice(&[0, 0, 0x0c, 0, 0xfe, 0xfe, 0xfe, 0xfe]);
        out.extend_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xfe, 0xfe, 0xfe, 0xfe]);
        out.extend_from_slice(padding(0x58));
        let page = WrittenPage {
            buffers: vec![span(0..2), span(64..88)],
            length: 3,
            priority: 0,
            encoding: any::wrap(&layout()),
        };
        let column = encode_column(&[page], false, None);
        let position = out.len() as u64;
        let tail = encode_tail(Version::V2_1, &descriptor(), &[column], &[], position).unwrap();
        out.extend_from_slice(&tail);
        out
    }

    fn hex(text: &str) -> Vec<u8> {
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    #[test]
    fn the_example_byte_for_byte() {
        let mut expected = hex(
            "0A 19 0A 17 12 01 78 20 FF FF FF FF FF FF FF FF FF 01 2A 05 69 6E 74 33 32 38 01 10 03 \
             0A 29 12 27 0A 25 0A 1F",
        );
        expected.extend_from_slice(b"/lance.encodings.ColumnEncoding");
        expected
            .extend(hex("12 02 0A 00 12 40 0A 02 00 40 12 02 02 18 18 03 22 34 12 32 0A 30 0A 1D"));
        expected.extend_from_slice(b"/lance.encodings21.PageLayout");
        expected.extend(hex("12 0F 0A 0D 1A 04 0A 02 08 20 32 01 01 38 01 48 03 \
             9D 00 00 00 00 00 00 00 6D 00 00 00 00 00 00 00 \
             80 00 00 00 00 00 00 00 1D 00 00 00 00 00 00 00 \
             9D 00 00 00 00 00 00 00 0A 01 00 00 00 00 00 00 1A 01 00 00 00 00 00 00 \
             01 00 00 00 01 00 00 00 02 00 01 00 4C 41 4E 43"));
        let file = example_file();
        assert_eq!(file.len(), 338);
        assert_eq!(file[..2], [0x20, 0]);
        assert!(file[2..64].iter().chain(&file[0x58..0x80]).all(|&byte| byte == 0x48));
        assert_eq!(file[0x80..], expected);
    }

    #[test]
    fn the_example_reads_back() {
        let file = example_file();
        let tail = Tail::parse(338, 0, file.into()).unwrap();
        assert!(tail.missing(u64::MAX).is_empty());
        let index = tail.into_index().unwrap();
        let bytes = index.column_bytes(0).unwrap();
        let column = Column::parse(&bytes, &index, 0).unwrap();
        assert_eq!((index.num_rows, column.num_rows), (3, 3));
        assert_eq!(column.pages[0].buffers, [span(0..2), span(64..88)]);
        assert_eq!(column.pages[0].encoding, PageEncoding::Layout(layout()));
    }

    #[test]
    fn padding_reaches_the_next_multiple() {
        let lengths = [0, 1, 63, 64, 65, u64::MAX - 63].map(|n| padding(n).len());
        assert_eq!(lengths, [0, 63, 1, 0, 63, 0]);
        assert!(padding(1).iter().all(|&byte| byte == 0x48));
    }

    #[test]
    fn files_without_columns_or_rows() {
        let empty = FileDescriptor { schema: Some(file::Schema::default()), length: 0 };
        let tail = |d: &FileDescriptor| encode_tail(Version::V2_2, d, &[], &[], 0).unwrap();
        assert_eq!(tail(&empty).len(), 58);
        assert_eq!(tail(&FileDescriptor { length: 5, ..empty.clone() }).len(), 60);
        let index = Tail::parse(58, 0, tail(&empty).into()).unwrap().into_index().unwrap();
        assert_eq!((index.num_rows, index.columns.len(), index.data_end), (0, 0, 0));
        assert!(encode_tail(Version::V2_2, &empty, &[], &[], 12).is_err());
    }
}
