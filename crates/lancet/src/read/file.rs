//! What all readers of one file share: its index, the columns loaded so far, the search cache.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::ReadOptions;
use super::arrays;
use super::cache::{CachedPage, PageKey, SearchCache};
use super::source::{FileSource, Source};
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::container::checksums::Checksums;
use crate::container::cost::{self, ColumnCost};
use crate::container::early;
use crate::container::zone_place::{FoundPlace, ZonePlace};
use crate::container::{Column, FileIndex, PageEncoding, Tail, tail_span};
use crate::error::{Corrupt, Error, Locate, Result, ensure};
use crate::page::rules::Rules;
use crate::page::{Layout, Page, PageIndex};
use crate::page_v2_0;
use crate::pool::Pool;
use crate::schema::columns::{Node, columns_of, num_columns};
use crate::schema::leaves::LeafColumnType;
use crate::set_once::SetOnce;
use crate::version::Version;

/// Bytes read at the end of a file in the hope that they hold all metadata.
const TAIL_BYTES: u64 = 16 << 10;

/// An open file.
pub(crate) struct OpenFile {
    pub(crate) source: Arc<dyn Source>,
    /// The source, if it is a file on disk.
    pub(super) disk: Option<Arc<FileSource>>,
    pub(crate) index: FileIndex,
    /// The fields of the schema with the columns they are made of.
    pub(crate) nodes: Vec<Node>,
    pub(crate) options: ReadOptions,
    /// The columns, if the file has version 2.0; the others are then not used.
    pub(crate) arrays: Option<page_v2_0::Columns>,
    /// Only when reads are to be checked.
    pub(crate) checksums: Option<Checksums>,
    columns: Vec<SetOnce<Arc<FileColumn>>>,
    /// Bytes that the decoded metadata takes so far.
    metadata_bytes: AtomicU64,
    pub(super) cache: SearchCache,
    /// This file's number in the cache.
    cache_id: u64,
    /// Memory of decoded strings.
    pub(super) pool: Arc<Pool>,
}

/// A column whose metadata has been read and checked.
#[derive(Debug)]
pub(crate) struct FileColumn {
    pub(crate) pages: Vec<Page>,
    /// Rows of the file that the column covers.
    pub(crate) num_rows: u64,
    pub(crate) zone_map: FoundPlace,
    /// Bytes of all pages in the file.
    stored_bytes: u64,
}

impl OpenFile {
    pub(crate) fn open(source: Arc<dyn Source>, options: ReadOptions) -> Result<Self> {
        let size = source.size_bytes();
        let span = tail_span(size, TAIL_BYTES);
        let bytes = read_one(source.as_ref(), span.clone())?;
        let mut tail = Tail::parse(size, span.start, bytes)?;
        while let Some(span) = tail.missing() {
            let size = span.end.saturating_sub(span.start);
            within(size, options.max_metadata_bytes, "the end of the file")?;
            tail.supply(read_one(source.as_ref(), span)?)?;
        }
        let metadata_bytes = cost::descriptor_bytes(&tail.descriptor().unwrap_or_default());
        within(metadata_bytes, options.max_metadata_bytes, "the schema")?;
        Self::of_index(source, tail.into_index()?, options, metadata_bytes)
    }

    /// A file whose index is known; `metadata_bytes` is what its schema takes.
    pub(crate) fn of_index(
        source: Arc<dyn Source>,
        index: FileIndex,
        options: ReadOptions,
        metadata_bytes: u64,
    ) -> Result<Self> {
        let (nodes, arrays) = match index.version {
            Version::V2_0 => {
                let (nodes, arrays) = arrays::columns_of(&index, source.as_ref(), &options)?;
                (nodes, Some(arrays))
            }
            Version::V2_1 | Version::V2_2 => (columns_of(&index.schema)?, None),
        };
        let needed = arrays.as_ref().map_or_else(|| num_columns(&nodes), page_v2_0::Columns::len);
        let found = index.columns.len();
        ensure!(needed <= found, "the schema needs {needed} columns, but the file has {found}");
        check_nesting(&nodes, options.max_nesting)?;
        let columns = index.columns.iter().map(|_| SetOnce::new()).collect();
        let cache = options.search_cache.clone();
        let cache_id = cache.register();
        let metadata_bytes = metadata_bytes.into();
        let checksums = None;
        let mut file = Self {
            source,
            disk: None,
            index,
            nodes,
            options,
            arrays,
            checksums,
            columns,
            metadata_bytes,
            cache,
            cache_id,
            pool: Arc::default(),
        };
        if file.options.verify_checksums {
            file.checksums = file.load_checksums()?;
        }
        Ok(file)
    }

    /// The checksums of the file, if it has some. Those of the metadata are checked.
    pub(crate) fn load_checksums(&self) -> Result<Option<Checksums>> {
        let Some(span) = self.index.global_buffers.get(1..).and_then(<[_]>::last) else {
            return Ok(None);
        };
        let size = span.end.saturating_sub(span.start);
        within(size, self.options.max_metadata_bytes, "the last global buffer")?;
        let bytes = read_one(self.source.as_ref(), span.clone())?;
        let Some(checksums) = Checksums::parse(&bytes).at(span.start)? else { return Ok(None) };
        let tail = self.index.data_end..self.index.file_bytes;
        let size = tail.end.saturating_sub(tail.start);
        within(size, self.options.max_metadata_bytes, "the end of the file")?;
        let start = tail.start;
        checksums.check_tail(&read_one(self.source.as_ref(), tail)?).at(start)?;
        Ok(Some(checksums))
    }

    /// Checks bytes of the file if they are a whole buffer with a checksum.
    pub(crate) fn check_bytes(&self, span: &Range<u64>, bytes: &[u8]) -> Result<()> {
        self.checksums.as_ref().map_or(Ok(()), |checksums| checksums.check(span, bytes))
    }

    /// Checks what was read for some spans.
    pub(crate) fn check_fetched(&self, spans: &[Range<u64>], bytes: &[Bytes]) -> Result<()> {
        if bytes.len() != spans.len() {
            return Err(Error::invalid("the source returned another number of spans"));
        }
        spans.iter().zip(bytes).try_for_each(|(span, bytes)| self.check_bytes(span, bytes))
    }

    /// The bytes of a buffer outside the pages.
    pub(crate) fn read_buffer(&self, span: Range<u64>) -> Result<Bytes> {
        let size = span.end.saturating_sub(span.start);
        Budget::new(self.options.memory_limit).claim(size, "a global buffer")?;
        let bytes = read_one(self.source.as_ref(), span.clone())?;
        self.check_bytes(&span, &bytes)?;
        Ok(bytes)
    }

    /// A column that was loaded before.
    pub(crate) fn column(&self, column: u32) -> Option<Arc<FileColumn>> {
        self.columns.get(column as usize)?.get().cloned()
    }

    /// What a column that was loaded says about its zone map, and its number of rows.
    pub(crate) fn zone_place(&self, column: u32) -> Option<(Result<ZonePlace, Corrupt>, u64)> {
        let (place, num_rows) = match &self.arrays {
            Some(arrays) => arrays.get(column).map(|c| (c.zone_map.clone(), c.num_rows))?,
            None => self.column(column).map(|c| (c.zone_map.clone(), c.num_rows))?,
        };
        Some((place?, num_rows))
    }

    /// The span of a column's metadata, or its bytes when they came with the tail.
    pub(crate) fn column_metadata(&self, column: u32) -> Result<Result<Bytes, Range<u64>>> {
        if let Some(bytes) = self.index.column_bytes(column) {
            return Ok(Ok(bytes));
        }
        match self.index.columns.get(column as usize) {
            Some(span) => Ok(Err(span.clone())),
            None => Err(Error::corrupt(format!(
                "the schema needs column {column}, but the file has {}",
                self.index.columns.len()
            ))),
        }
    }

    /// Parses and checks a column's metadata, and keeps it.
    pub(crate) fn load_column(
        &self,
        leaf: &LeafColumnType,
        bytes: &[u8],
    ) -> Result<Arc<FileColumn>> {
        let column = leaf.column;
        self.claim_metadata(column, bytes)?;
        let parsed = Column::parse(bytes, &self.index, column)?;
        let rules = Rules::of(self.index.version);
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
        let spans = pages.iter().flat_map(|page| &page.buffers);
        let sizes = spans.map(|span| span.end.saturating_sub(span.start));
        let stored_bytes = sizes.fold(0, u64::saturating_add);
        let zone_map = parsed.zone_map;
        let loaded = Arc::new(FileColumn { pages, num_rows, zone_map, stored_bytes });
        let slot = self.columns.get(column as usize);
        Ok(slot.and_then(|slot| slot.set(loaded.clone()).cloned()).unwrap_or(loaded))
    }

    /// Bytes of the metadata that is kept.
    pub(super) fn metadata_bytes(&self) -> u64 {
        self.metadata_bytes.load(Ordering::Relaxed)
    }

    /// Makes sure that there is room for the metadata of one more column.
    pub(super) fn claim_metadata(&self, column: u32, message: &[u8]) -> Result<()> {
        let limit = self.options.max_metadata_bytes;
        let ColumnCost { kept, passing } = cost::column_bytes(message);
        let before = self.metadata_bytes.fetch_add(kept, Ordering::Relaxed);
        let needed = before.saturating_add(kept).saturating_add(passing);
        let claimed = within(needed, limit, &format!("the metadata of column {column}"));
        if claimed.is_err() {
            self.metadata_bytes.fetch_sub(kept, Ordering::Relaxed);
        }
        claimed
    }

    /// What finds the indexes of pages that are cached.
    pub(crate) fn cached_indexes(&self) -> impl Fn(u32, u32) -> Option<Arc<PageIndex>> {
        let lookup = self.cache.lookup();
        move |column, page| lookup(self.page_key(column, page)).and_then(CachedPage::into_layout)
    }

    /// Parses a page's index and keeps it.
    pub(crate) fn load_index(
        &self,
        leaf: &LeafColumnType,
        page: &Page,
        bytes: &[Bytes],
        budget: &Budget,
    ) -> Result<Arc<PageIndex>> {
        let mut scratch = Scratch::sharing(budget);
        let index = page
            .parse_index(&leaf.leaf, bytes, &mut scratch)
            .in_page(page.number)
            .in_column(leaf.column)?;
        budget.claim(index.size_bytes() as u64, "the index of a page")?;
        let index = Arc::new(index);
        let key = self.page_key(leaf.column, page.number);
        self.cache.insert(key, CachedPage::Layout(index.clone()));
        Ok(index)
    }

    pub(super) fn page_key(&self, column: u32, page: u32) -> PageKey {
        PageKey { file: self.cache_id, column, page }
    }

    /// About how many bytes a row of the columns has in memory.
    pub(crate) fn row_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        let of_leaf = |leaf: &LeafColumnType| {
            let Some(column) = self.column(leaf.column) else { return 0 };
            let stored = column.stored_bytes.checked_div(column.num_rows).unwrap_or(0);
            stored.max(leaf.leaf.values.fixed_bytes())
        };
        leaves.iter().map(of_leaf).fold(0, u64::saturating_add)
    }

    /// Bytes of the columns in the file.
    pub(crate) fn stored_bytes(&self, leaves: &[LeafColumnType]) -> u64 {
        let columns = leaves.iter().filter_map(|leaf| self.column(leaf.column));
        columns.map(|column| column.stored_bytes).fold(0, u64::saturating_add)
    }

    /// The rows after the pages of the column that takes the most bytes.
    pub(crate) fn page_ends_of_widest(&self, leaves: &[LeafColumnType]) -> Vec<u64> {
        let columns = leaves.iter().filter_map(|leaf| Some((leaf, self.column(leaf.column)?)));
        let widest = columns.max_by_key(|(_, column)| column.stored_bytes);
        let Some((leaf, column)) = widest else { return Vec::new() };
        let end = |page: &Page| leaf.rows_of_entries(page.first_row.saturating_add(page.num_rows));
        column.pages.iter().filter_map(|page| end(page).ok()).collect()
    }

    /// What one read may hold.
    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.options.memory_limit)
    }

    /// Number of rows of columns that are read together.
    pub(crate) fn common_rows(&self, leaves: &[LeafColumnType]) -> Result<u64> {
        let mut common = None;
        for leaf in leaves {
            let Some(column) = self.column(leaf.column) else { continue };
            let (found, all) = (column.num_rows, self.index.num_rows);
            if found > all {
                let rule = format!("the column has {found} rows in a file of {all}");
                return self.named(Err(Error::corrupt(rule)).in_column(leaf.column));
            }
            if *common.get_or_insert(column.num_rows) != column.num_rows {
                return Err(Error::invalid(
                    "the columns asked for have different numbers of rows; read them one by one",
                ));
            }
        }
        // Columns may differ, but one of them has the rows that the descriptor counts.
        let (common, all) = (common.unwrap_or(self.index.num_rows), num_columns(&self.nodes));
        ensure!(
            common == self.index.num_rows || leaves.len() < all,
            "the columns have {common} rows in a file of {}",
            self.index.num_rows
        );
        Ok(common)
    }
}

/// An error unless the metadata fits into what the caller allows.
pub(super) fn within(needed: u64, limit: u64, what: &str) -> Result<()> {
    if needed <= limit {
        return Ok(());
    }
    Err(Error::limit(what, needed, limit, "max_metadata_bytes"))
}

fn check_nesting(nodes: &[Node], max_nesting: usize) -> Result<()> {
    fn depth(node: &Node) -> usize {
        node.children().iter().map(depth).max().unwrap_or(0).saturating_add(1)
    }
    let found = nodes.iter().map(depth).max().unwrap_or(0);
    if found <= max_nesting {
        return Ok(());
    }
    Err(Error::Limit {
        what: "the schema".into(),
        unit: "levels of nesting",
        needed: found as u64,
        limit: max_nesting as u64,
        option: "max_nesting",
    })
}

pub(super) fn read_one(source: &dyn Source, span: Range<u64>) -> Result<Bytes> {
    let bytes = source.read(std::slice::from_ref(&span))?.pop();
    bytes.ok_or_else(|| Error::invalid("the source returned nothing for a span"))
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("index", &self.index).finish_non_exhaustive()
    }
}

impl FileColumn {
    /// A page by number.
    pub(crate) fn page(&self, number: usize) -> Result<&Page> {
        self.pages.get(number).ok_or_else(|| Error::corrupt(format!("page {number} is missing")))
    }
}
