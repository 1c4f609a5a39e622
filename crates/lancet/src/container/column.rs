//! The metadata of one column: its pages, where their bytes are, how they are laid out.

use prost::{Message, Name};

use super::zone_place::{FoundPlace, ZonePlace};
use super::{FileIndex, buffer_alignment, early};
use crate::error::{Error, Locate, Result, ensure};
use crate::proto::any;
use crate::proto::encodings::{ColumnEncoding, PageLayout as EarlyPageLayout};
use crate::proto::encodings21::PageLayout;
use crate::proto::file_v2::{ColumnMetadata, Encoding, column_metadata, encoding::Location};
use crate::span::Span;
use crate::version::Version;

/// A column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The pages in row order, those without rows left out.
    pub(crate) pages: Vec<PageMetadata>,
    /// Sum of the lengths of the pages.
    pub(crate) num_rows: u64,
    /// What the column holds beside its pages; the oldest files of 2.0 do not say.
    pub(crate) encoding: Option<ColumnEncoding>,
    /// Buffers of the column itself: its zone map. Encodings of 2.0 may name others.
    pub(crate) buffers: Vec<Span>,
    pub(crate) zone_map: FoundPlace,
}

/// A page of a column.
#[derive(Debug, Clone)]
pub(crate) struct PageMetadata {
    /// Number of the page in the column, as stored.
    pub(crate) number: u32,
    /// Where its buffers are.
    pub(crate) buffers: Vec<Span>,
    /// The page's length: rows, times the dimensions of all fixed-size lists of structs around the
    /// leaf. No byte vouches for it.
    pub(crate) num_rows: u64,
    /// Sum of the lengths of the pages before.
    pub(crate) first_row: u64,
    pub(crate) encoding: PageEncoding,
}

/// How the bytes of a page are laid out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PageEncoding {
    /// 2.1 and 2.2.
    Layout(PageLayout),
    /// Early 2.1, translated.
    EarlyLayout(PageLayout),
    /// 2.0: a serialized `ArrayEncoding`.
    Array(Vec<u8>),
}

impl Column {
    /// Reads the metadata of column `column`.
    pub(crate) fn parse(bytes: &[u8], index: &FileIndex, column: u32) -> Result<Self> {
        let span = usize::try_from(column).ok().and_then(|c| index.columns.get(c));
        let start = span.map_or(0, Span::start);
        let metadata = ColumnMetadata::decode(bytes)
            .map_err(|e| Error::corrupt(format!("the column metadata does not decode: {e}")));
        let metadata = metadata.at(start).in_column(column)?;
        Self::from_message(&metadata, index.version, index.data_end).in_column(column)
    }

    fn from_message(metadata: &ColumnMetadata, version: Version, data_end: u64) -> Result<Self> {
        let location = metadata.encoding.as_ref().and_then(|encoding| encoding.location.as_ref());
        let buffers = spans(&metadata.buffer_offsets, &metadata.buffer_sizes, 1, data_end)?;
        let (encoding, zone_map) = match location {
            Some(Location::None(_)) if version == Version::V2_0 => (None, None),
            _ => {
                let any = direct(metadata.encoding.as_ref())?;
                let (encoding, bytes) = any::unwrap_both::<ColumnEncoding>(any)?;
                let zone_map = ZonePlace::find(&encoding, &bytes, &buffers);
                (Some(encoding), zone_map)
            }
        };
        let mut pages = Vec::new();
        let mut num_rows = 0u64;
        for (number, page) in (0u32..).zip(&metadata.pages) {
            if page.length == 0 && version == Version::V2_0 {
                // Old writers left anything there.
                continue;
            }
            let page = PageMetadata::parse(page, number, num_rows, version, data_end);
            let page = page.in_page(number)?;
            let Some(sum) = num_rows.checked_add(page.num_rows) else {
                return Err(Error::corrupt(format!(
                    "the lengths of the pages overflow: {num_rows} rows, then {}",
                    page.num_rows
                )));
            };
            num_rows = sum;
            if page.num_rows > 0 {
                pages.push(page);
            }
        }
        Ok(Self { pages, num_rows, encoding, buffers, zone_map })
    }
}

impl PageMetadata {
    fn parse(
        page: &column_metadata::Page,
        number: u32,
        first_row: u64,
        version: Version,
        data_end: u64,
    ) -> Result<Self> {
        let bytes = direct(page.encoding.as_ref())?;
        let encoding = match version {
            Version::V2_0 => {
                PageEncoding::Array(any::unwrap_value(bytes, "lance.encodings.ArrayEncoding")?)
            }
            Version::V2_1 if any::is_named(bytes, &EarlyPageLayout::full_name()) => {
                let layout = any::unwrap(bytes).and_then(early::translate);
                PageEncoding::EarlyLayout(layout.map_err(early::too_early)?)
            }
            Version::V2_1 | Version::V2_2 => PageEncoding::Layout(any::unwrap(bytes)?),
        };
        let alignment = buffer_alignment(version);
        let buffers = spans(&page.buffer_offsets, &page.buffer_sizes, alignment, data_end)?;
        Ok(Self { number, buffers, num_rows: page.length, first_row, encoding })
    }
}

/// The serialized `Any` of an encoding; it must stand here and not elsewhere.
fn direct(encoding: Option<&Encoding>) -> Result<&[u8]> {
    let found = match encoding.and_then(|e| e.location.as_ref()) {
        Some(Location::Direct(direct)) => return Ok(&direct.encoding),
        Some(Location::Indirect(_)) => "an indirect one",
        Some(Location::None(_)) => "`none`",
        None => "nothing",
    };
    Err(Error::corrupt(format!("expected a direct encoding, found {found}")))
}

/// Pairs offsets and sizes and checks each span.
fn spans(offsets: &[u64], sizes: &[u64], alignment: u64, data_end: u64) -> Result<Vec<Span>> {
    ensure!(
        offsets.len() == sizes.len(),
        "there are {} buffer offsets, but {} buffer sizes",
        offsets.len(),
        sizes.len()
    );
    let span = |offset: u64, size: u64| {
        ensure!(
            offset.is_multiple_of(alignment),
            "the buffer starts at byte {offset}, not at a multiple of {alignment}"
        );
        let span = Span::at(offset, size).filter(|span| span.end() <= data_end);
        span.ok_or_else(|| {
            Error::corrupt(format!(
                "the buffer of {size} bytes at byte {offset} runs past the data, which ends at \
                 byte {data_end}"
            ))
        })
    };
    let pairs = offsets.iter().zip(sizes).enumerate();
    pairs.map(|(i, (&offset, &size))| span(offset, size).in_buffer(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::encodings21::{ConstantLayout, page_layout::Layout};
    use crate::proto::file_v2::{DeferredEncoding, DirectEncoding, Empty};
    use crate::span::span;

    const DATA_END: u64 = 1024;

    fn direct_of(encoding: Vec<u8>) -> Option<Encoding> {
        Some(Encoding { location: Some(Location::Direct(DirectEncoding { encoding })) })
    }

    fn page(length: u64) -> column_metadata::Page {
        let constant =
            Layout::ConstantLayout(ConstantLayout { layers: vec![3], ..Default::default() });
        column_metadata::Page {
            buffer_offsets: vec![0, 64],
            buffer_sizes: vec![12, 960],
            length,
            encoding: direct_of(any::wrap(&PageLayout { layout: Some(constant) })),
            priority: 999,
        }
    }

    fn column(pages: Vec<column_metadata::Page>) -> ColumnMetadata {
        ColumnMetadata {
            encoding: direct_of(any::wrap(&ColumnEncoding::default())),
            pages,
            ..Default::default()
        }
    }

    fn read(metadata: &ColumnMetadata) -> Result<Column> {
        Column::from_message(metadata, Version::V2_1, DATA_END)
    }

    #[test]
    fn pages_without_rows_are_skipped_and_rows_are_summed() {
        let read = read(&column(vec![page(3), page(0), page(4)])).unwrap();
        let seen: Vec<_> = read.pages.iter().map(|p| (p.number, p.first_row, p.num_rows)).collect();
        assert_eq!(seen, [(0, 0, 3), (2, 3, 4)]);
        assert_eq!(read.num_rows, 7);
        assert_eq!(read.pages[1].buffers, [span(0..12), span(64..1024)]);
    }

    #[test]
    fn each_broken_rule_is_named() {
        let location = |location| Some(Encoding { location: Some(location) });
        type Change = Box<dyn Fn(&mut ColumnMetadata)>;
        let on_page = |change: fn(&mut column_metadata::Page)| -> Change {
            Box::new(move |column| change(&mut column.pages[1]))
        };
        let deferred = DeferredEncoding { buffer_location: 0, buffer_length: 9 };
        let broken: Vec<(Change, &str)> = vec![
            (on_page(|p| p.buffer_sizes.truncate(1)), "page 1: there are 2 buffer offsets, but 1"),
            (
                on_page(|p| p.buffer_offsets[1] = 65),
                "page 1, buffer 1: the buffer starts at byte 65",
            ),
            (on_page(|p| p.buffer_sizes[1] = 961), "buffer 1: the buffer of 961 bytes at byte 64"),
            (on_page(|p| p.buffer_sizes[1] = u64::MAX), "runs past the data"),
            (on_page(|p| p.encoding = None), "page 1: expected a direct encoding, found nothing"),
            (
                on_page(|p| p.encoding = direct_of(any::wrap(&ColumnEncoding { encoding: None }))),
                "expected a message of type `/lance.encodings21.PageLayout`",
            ),
            (on_page(|p| p.length = u64::MAX), "the lengths of the pages overflow"),
            (Box::new(move |c| c.encoding = location(Location::None(Empty {}))), "found `none`"),
            (
                Box::new(move |c| {
                    c.pages[0].encoding = location(Location::Indirect(deferred.clone()))
                }),
                "found an indirect one",
            ),
            (Box::new(|c| c.buffer_sizes = vec![1]), "0 buffer offsets, but 1 buffer sizes"),
        ];
        for (change, rule) in broken {
            let mut metadata = column(vec![page(3), page(4)]);
            change(&mut metadata);
            let error = read(&metadata).unwrap_err();
            assert!(matches!(error, Error::Corrupt(_)), "{error}");
            assert!(error.to_string().contains(rule), "{rule}: {error}");
        }
    }

    #[test]
    fn version_2_0_has_another_grammar_and_no_alignment() {
        let mut array = page(3);
        array.buffer_offsets[1] = 20;
        let any = any::Any { type_url: "/lance.encodings.ArrayEncoding".into(), value: vec![7] };
        array.encoding = direct_of(any.encode_to_vec());
        let metadata = column(vec![array]);
        let read = Column::from_message(&metadata, Version::V2_0, DATA_END).unwrap();
        assert_eq!(read.pages[0].encoding, PageEncoding::Array(vec![7]));
        assert!(Column::from_message(&metadata, Version::V2_1, DATA_END).is_err());
    }
}
