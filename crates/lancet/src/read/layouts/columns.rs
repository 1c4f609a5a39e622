//! The columns of a file, each with its pages once its metadata was read.

use std::sync::Arc;

use bytes::Bytes;

use crate::container::zone_place::FoundPlace;
use crate::container::{Column, PageEncoding, early};
use crate::error::{Error, Locate, Result, ensure};
use crate::page::rules::Rules;
use crate::page::{Layout, Page};
use crate::read::columns::Place;
use crate::read::file::OpenFile;
use crate::schema::leaves::LeafColumnType;
use crate::set_once::SetOnce;
use crate::span::Span;

/// The columns of a file as far as they are known.
#[derive(Debug)]
pub(in crate::read) struct LayoutColumns(Vec<SetOnce<Arc<FileColumn>>>);

/// A column whose metadata has been read and checked.
#[derive(Debug)]
pub(in crate::read) struct FileColumn {
    pub(in crate::read) pages: Vec<Page>,
    /// Rows of the file that the column covers.
    pub(in crate::read) num_rows: u64,
    pub(in crate::read) zone_map: FoundPlace,
    /// Bytes of all pages in the file.
    stored_bytes: u64,
    /// Those of them that tell where rows are.
    index_bytes: u64,
}

impl LayoutColumns {
    /// None is known yet.
    pub(in crate::read) fn new(count: usize) -> Self {
        Self((0..count).map(|_| SetOnce::new()).collect())
    }

    /// A column that was loaded before.
    pub(in crate::read) fn get(&self, column: u32) -> Option<Arc<FileColumn>> {
        self.0.get(column as usize)?.get().cloned()
    }

    /// The leaves whose columns are not loaded, and these columns.
    pub(in crate::read) fn missing(&self, leaves: &[LeafColumnType]) -> Vec<(Place, u32)> {
        let columns = leaves.iter().map(|leaf| leaf.column).enumerate();
        columns.filter(|(_, column)| self.get(*column).is_none()).collect()
    }

    /// Parses and checks a column's metadata, and keeps it.
    pub(in crate::read) fn load(
        &self,
        file: &OpenFile,
        leaf: &LeafColumnType,
        bytes: &Bytes,
    ) -> Result<Arc<FileColumn>> {
        file.claim_metadata(leaf.column, bytes, || self.parse(file, leaf, bytes))
    }

    fn parse(
        &self,
        file: &OpenFile,
        leaf: &LeafColumnType,
        bytes: &Bytes,
    ) -> Result<Arc<FileColumn>> {
        let column = leaf.column;
        let parsed = Column::parse(bytes, &file.index, column)?;
        let rules = Rules::of(file.index.version);
        let mut pages = Vec::with_capacity(parsed.pages.len());
        for page in parsed.pages {
            let (number, num_buffers) = (page.number, page.buffers.len());
            let (message, is_early) = match &page.encoding {
                PageEncoding::Layout(message) => (message, false),
                PageEncoding::EarlyLayout(message) => (message, true),
                PageEncoding::Array(_) => return Err(Error::unsupported("pages of version 2.0")),
            };
            let layout = Layout::parse(message, &leaf.leaf, rules, page.num_rows, num_buffers)
                .map(|layout| if is_early { layout.early() } else { layout })
                .map_err(|error| if is_early { early::too_early(error) } else { error })
                .in_page(number)
                .in_column(column)?;
            pages.push(Page {
                number,
                first_row: page.first_row,
                num_rows: page.num_rows,
                buffers: page.buffers,
                layout,
            });
        }
        let num_rows = leaf.rows_of_entries(parsed.num_rows).in_column(column)?;
        let stored_bytes = Span::total(pages.iter().flat_map(|page| &page.buffers));
        let index_bytes = pages.iter().map(|page| Span::total(&page.index_spans()));
        let index_bytes = index_bytes.fold(0, u64::saturating_add);
        let zone_map = parsed.zone_map;
        let loaded = FileColumn { pages, num_rows, zone_map, stored_bytes, index_bytes };
        let loaded = Arc::new(loaded);
        let slot = self.0.get(column as usize);
        Ok(slot.and_then(|slot| slot.set(loaded.clone()).cloned()).unwrap_or(loaded))
    }

    /// Number of rows of columns that are read together.
    pub(in crate::read) fn common_rows(
        &self,
        file: &OpenFile,
        leaves: &[LeafColumnType],
    ) -> Result<u64> {
        let num_rows = file.index.num_rows;
        let mut common = None;
        for leaf in leaves {
            let Some(column) = self.get(leaf.column) else { continue };
            let found = column.num_rows;
            if found > num_rows {
                let rule = format!("the column has {found} rows in a file of {num_rows}");
                return Err(Error::corrupt(rule)).in_column(leaf.column);
            }
            if *common.get_or_insert(found) != found {
                return Err(Error::invalid(
                    "the columns asked for have different numbers of rows; read them one by one",
                ));
            }
        }
        // Columns may differ, but one of them has the rows that the descriptor counts.
        let common = common.unwrap_or(num_rows);
        ensure!(
            common == num_rows || leaves.len() < file.everything().leaves().len(),
            "the columns have {common} rows in a file of {num_rows}"
        );
        Ok(common)
    }

    /// About how many bytes a row of the columns has in memory.
    pub(in crate::read) fn row_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        leaves.iter().map(|leaf| self.leaf_row_bytes(leaf)).fold(0, u64::saturating_add)
    }

    /// How many of them are values of different lengths.
    pub(in crate::read) fn text_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        let text = leaves.iter().filter(|leaf| leaf.is_text());
        text.map(|leaf| self.leaf_row_bytes(leaf)).fold(0, u64::saturating_add)
    }

    fn leaf_row_bytes(&self, leaf: &LeafColumnType) -> u64 {
        let Some(column) = self.get(leaf.column) else { return 0 };
        let stored = column.stored_bytes.checked_div(column.num_rows).unwrap_or(0);
        stored.max(leaf.leaf.values.fixed_bytes())
    }

    /// Bytes of the columns in the file.
    pub(in crate::read) fn stored_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        self.sum(leaves, |column| column.stored_bytes)
    }

    /// Bytes of what tells where rows are.
    pub(in crate::read) fn index_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        self.sum(leaves, |column| column.index_bytes)
    }

    fn sum(&self, leaves: &[LeafColumnType], of: impl Fn(&FileColumn) -> u64) -> u64 {
        let columns = leaves.iter().filter_map(|leaf| self.get(leaf.column));
        columns.map(|column| of(&column)).fold(0, u64::saturating_add)
    }

    /// The rows after the pages of the column that takes the most bytes.
    pub(in crate::read) fn page_ends_of_widest(&self, leaves: &[LeafColumnType]) -> Vec<u64> {
        let columns = leaves.iter().filter_map(|leaf| Some((leaf, self.get(leaf.column)?)));
        let widest = columns.max_by_key(|(_, column)| column.stored_bytes);
        let Some((leaf, column)) = widest else { return Vec::new() };
        let end = |page: &Page| leaf.rows_of_entries(page.first_row.saturating_add(page.num_rows));
        column.pages.iter().filter_map(|page| end(page).ok()).collect()
    }
}

impl FileColumn {
    /// A page by its position.
    pub(in crate::read) fn page(&self, position: usize) -> Result<&Page> {
        let page = self.pages.get(position);
        page.ok_or_else(|| Error::corrupt(format!("page {position} is missing")))
    }
}
