//! An open file: what is known of it, and the requests that it makes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;

use super::blobs::BlobColumn;
use super::cache::{CacheStats, CachedPage, PageKey, SearchCache};
use super::check::{self, FileReport, Verification};
use super::checked::{ReadChecksums, Round};
use super::columns::FileColumns;
use super::options::ReadOptions;
use super::projection::{Columns, Projection};
use super::request::Request;
use super::rows_read::RowsRead;
use super::scan_plan::ScanPlan;
use super::steps::{Io, Steps, unfinished};
use super::zone_maps;
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::container::FileIndex;
use crate::container::checksums::{self, ChecksumPlace, Checksums};
use crate::container::cost::{self, ColumnCost};
use crate::error::{Error, Locate, Result, ensure};
use crate::page::{Page, PageIndex};
use crate::pool::Pool;
use crate::rows::{RowRanges, Rows};
use crate::schema::columns::Node;
use crate::schema::leaves::LeafColumnType;
use crate::schema::projection::{FieldNames, project};
use crate::set_once::SetOnce;
use crate::span::Span;
use crate::version::Version;
use crate::zones::filter::Filter;
use crate::zones::map::ZoneMap;

/// What is known of a file that was opened: its schema, its columns, its zone maps. It has no source of
/// bytes and reads nothing; it makes [`Request`]s, for drivers with I/O of their own.
///
/// [`FileReader`](crate::FileReader) is one of these and a [`Source`](crate::Source), the reader of the crate
/// `lancet-object-store` one of these and a store. All reads of one file share it, and with it what they
/// find out.
///
/// ```
/// # use std::sync::Arc;
/// # use lancet::arrow::array::{ArrayRef, Int32Array, RecordBatch};
/// # use lancet::{FileWriter, WriteOptions};
/// use lancet::{OpenFile, ReadOptions, Request, Result};
///
/// # fn main() -> Result<()> {
/// # let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1000));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # let bytes = lancet::Bytes::from(writer.finish_into()?.1);
/// // This driver has all bytes at hand; others wait for a disk or a network.
/// fn drive<T>(mut request: Request<T>, file: &lancet::Bytes) -> Result<T> {
///     while !request.spans().is_empty() {
///         let spans = request.spans().iter();
///         let bytes = spans.map(|s| file.slice(s.start() as usize..s.end() as usize)).collect();
///         request.supply(bytes)?;
///     }
///     request.finish()
/// }
///
/// let file = drive(OpenFile::open(bytes.len() as u64, ReadOptions::default()), &bytes)?;
/// let ids = file.project(["id"])?;
/// let rows = drive(file.read(&ids, [7, 1])?, &bytes)?;
/// assert_eq!(rows.num_rows(), 2);
/// # Ok(())
/// # }
/// ```
pub struct OpenFile {
    pub(crate) index: FileIndex,
    /// The fields of the schema with the columns they are made of.
    pub(super) nodes: Vec<Node>,
    names: SetOnce<FieldNames>,
    pub(super) options: ReadOptions,
    pub(super) columns: FileColumns,
    everything: Projection,
    /// Only when reads are to be checked.
    pub(super) checksums: Option<ReadChecksums>,
    /// Bytes that the decoded metadata takes so far.
    pub(super) metadata_bytes: AtomicU64,
    pub(super) cache: SearchCache,
    /// This file's number in the cache.
    cache_id: u64,
    /// Memory of decoded strings.
    pub(super) pool: Arc<Pool>,
}

/// The requests.
impl OpenFile {
    /// All columns.
    pub fn everything(&self) -> &Projection {
        &self.everything
    }

    /// Looks up columns, once for many reads.
    pub fn project(&self, columns: impl Into<Columns>) -> Result<Projection> {
        match columns.into() {
            Columns::All => Ok(self.everything.clone()),
            Columns::Names(names) => {
                let known = self.names.set_with(|| FieldNames::of(&self.nodes));
                let fields = project(&self.index.schema, &self.nodes, known, names)?;
                Projection::new(&self.index.schema, fields)
            }
            Columns::Resolved(columns) => {
                columns.check_file(&self.index.schema)?;
                Ok(columns)
            }
        }
    }

    /// Some rows of some columns.
    pub fn read(
        self: &Arc<Self>,
        columns: &Projection,
        rows: impl Into<Rows>,
    ) -> Result<Request<RecordBatch>> {
        Ok(self.request_rows(self.read_rows(columns, rows.into())?))
    }

    /// The same, on the calling thread.
    pub(super) fn read_rows(
        self: &Arc<Self>,
        columns: &Projection,
        rows: Rows,
    ) -> Result<RowsRead> {
        RowsRead::new(self.clone(), columns.clone(), rows, self.budget(), 1)
    }

    /// Reads the metadata of columns ahead of their rows; how many rows they have.
    pub fn prepare(self: &Arc<Self>, columns: &Projection) -> Request<u64> {
        let (file, columns) = (self.clone(), columns.clone());
        self.request(Steps::start(|io| async move { file.load_columns(&io, &columns).await }))
    }

    /// Starts to describe a scan; [`ScanPlan::requests`] makes its requests.
    pub fn scan(self: &Arc<Self>) -> ScanPlan {
        ScanPlan::new(self.clone())
    }

    /// The rows outside of which none makes the filter true; see
    /// [`FileReader::prune`](crate::FileReader::prune).
    pub fn prune(self: &Arc<Self>, filter: &Filter) -> Result<Request<RowRanges>> {
        let leaves = zone_maps::of_filter(self, filter)?;
        let (file, filter) = (self.clone(), filter.clone());
        let prune = |io| async move { zone_maps::prune_rows(&file, &io, &filter, leaves).await };
        Ok(self.request(Steps::start(prune)))
    }

    /// The zone maps of columns, in the order asked for. None for a column without one, and for one that
    /// breaks a rule: `verify` tells which.
    pub fn zone_maps<S: AsRef<str>>(
        self: &Arc<Self>,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Request<Vec<Option<Arc<ZoneMap>>>>> {
        let leaves = zone_maps::named(self, columns)?;
        let file = self.clone();
        let load = |io| async move { zone_maps::load(&file, &io, &leaves).await };
        Ok(self.request(Steps::start(load)))
    }

    /// The bytes of a global buffer.
    pub fn global_buffer(self: &Arc<Self>, index: usize) -> Result<Request<Bytes>> {
        let span = self.index.global_buffers.get(index).copied().ok_or_else(|| {
            let count = self.num_global_buffers();
            Error::invalid(format!("global buffer {index} does not exist: the file has {count}"))
        })?;
        let file = self.clone();
        Ok(self.request(Steps::start(|io| async move { file.read_buffer(&io, span).await })))
    }

    /// The global buffers that were added to the file: all but the schema and the checksums.
    pub fn user_buffers(self: &Arc<Self>) -> Request<Vec<Bytes>> {
        let file = self.clone();
        self.request(Steps::start(|io| async move {
            let checksums = usize::from(file.find_checksums(&io).await?.is_some());
            let end = file.num_global_buffers().saturating_sub(checksums);
            // Buffers may share their bytes, so the size of the file does not bound them.
            let spans = file.index.global_buffers.get(1..end).unwrap_or_default();
            file.budget().claim(Span::total(spans), "the global buffers")?;
            io.read(spans.to_vec()).await
        }))
    }

    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(self: &Arc<Self>, column: &str) -> Result<Request<BlobColumn>> {
        let column = BlobColumn::new(self, column)?;
        Ok(self.request(Steps::start(|io| async move { column.load(&io).await })))
    }

    /// What the file is made of. Reads the metadata of all columns.
    pub fn inspect(self: &Arc<Self>) -> Request<FileReport> {
        let file = self.clone();
        self.request(Steps::start(|io| async move {
            file.load_columns(&io, &file.everything).await?;
            // Whether they are sound is for others to say.
            let checksums = file.find_checksums(&io).await.ok().flatten();
            check::report(&file, checksums.map(|place| place.buffer()))
        }))
    }

    /// Checks the whole file; see [`FileReader::verify`](crate::FileReader::verify).
    /// [`Request::progress`] says how far it has come.
    pub fn verify(self: &Arc<Self>) -> Request<Verification> {
        let file = self.clone();
        Request::new(Steps::start(|io| async move { check::verify(&file, &io).await }))
    }
}

/// What is known.
impl OpenFile {
    /// Format version of the file.
    pub fn version(&self) -> Version {
        self.index.version
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.index.schema.clone()
    }

    /// Ids of all fields, parents before their children. Tables find their columns by them; a
    /// writer takes them from the field metadata `lance:field_id`, or numbers from 0.
    pub fn field_ids(&self) -> &[i32] {
        &self.index.field_ids
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.index.num_rows
    }

    /// Size of the file.
    pub fn file_bytes(&self) -> u64 {
        self.index.file_bytes
    }

    /// The options that the file was opened with.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Number of global buffers (number 0 holds the schema).
    pub fn num_global_buffers(&self) -> usize {
        self.index.global_buffers.len()
    }

    /// Bytes that the metadata read so far takes in memory: the schema, and the pages of the columns
    /// used so far.
    pub fn metadata_bytes(&self) -> u64 {
        self.metadata_bytes.load(Ordering::Relaxed)
    }

    /// What the search cache holds, and how often it had what was needed. Files that share a cache
    /// share its figures.
    pub fn cache_stats(&self) -> CacheStats {
        self.cache.stats()
    }
}

/// What reads need.
impl OpenFile {
    pub(super) fn new(
        index: FileIndex,
        nodes: Vec<Node>,
        columns: FileColumns,
        everything: Projection,
        options: ReadOptions,
        metadata_bytes: u64,
    ) -> Self {
        let cache = options.search_cache.clone();
        let cache_id = cache.register();
        Self {
            index,
            nodes,
            names: SetOnce::new(),
            options,
            columns,
            everything,
            checksums: None,
            metadata_bytes: metadata_bytes.into(),
            cache,
            cache_id,
            pool: Arc::default(),
        }
    }

    /// Loads the metadata of the columns and returns their common number of rows.
    pub(super) async fn load_columns(&self, io: &Io, columns: &Projection) -> Result<u64> {
        if columns.num_rows().is_none() {
            self.load_metadata(io, columns).await?;
        }
        self.common_rows(columns)
    }

    /// Loads the metadata of the columns.
    pub(super) async fn load_metadata(&self, io: &Io, columns: &Projection) -> Result<()> {
        let missing = self.missing_columns(columns)?;
        let bytes = io.read(missing.spans.clone()).await?;
        self.load_missing(columns, &missing, &bytes)
    }

    /// The same for several projections, in one round.
    pub(super) async fn load_together(&self, io: &Io, all: &[&Projection]) -> Result<()> {
        let mut spans = BTreeSet::new();
        for columns in all {
            spans.extend(self.missing_columns(columns)?.spans);
        }
        let spans: Vec<Span> = spans.into_iter().collect();
        within(
            Span::total(&spans),
            self.options.max_metadata_bytes,
            "the metadata of the columns",
        )?;
        let bytes = io.read(spans.clone()).await?;
        for columns in all {
            // Without what the projections before it have loaded.
            let missing = self.missing_columns(columns)?;
            let found = missing.spans.iter().map(|span| {
                let bytes = spans.binary_search(span).ok().and_then(|i| bytes.get(i));
                bytes.cloned().ok_or_else(unfinished)
            });
            let found = found.collect::<Result<Vec<_>>>()?;
            self.load_missing(columns, &missing, &found)?;
        }
        Ok(())
    }

    /// Where the checksums of the file are, if it has some.
    pub(super) async fn find_checksums(&self, io: &Io) -> Result<Option<ChecksumPlace>> {
        let FileIndex { global_buffers, data_end, file_bytes, .. } = &self.index;
        let last_buffer = global_buffers.get(1..).and_then(<[_]>::last).copied();
        let signs = io.read(checksums::signs(last_buffer, *data_end).to_vec()).await?;
        let [head, end] = signs.as_slice() else { return Err(unfinished()) };
        ChecksumPlace::find(last_buffer, *data_end, *file_bytes, [head, end])
    }

    /// All checksums of the file, if it has some.
    pub(super) async fn load_checksums(&self, io: &Io) -> Result<Option<Checksums>> {
        let Some(place) = self.find_checksums(io).await? else { return Ok(None) };
        let limit = self.options.max_metadata_bytes;
        let span = place.buffer();
        within(span.len(), limit, "the checksums")?;
        let bytes = io.read_one(span).await?;
        let checksums = Checksums::parse(place, &bytes).at(span.start())?;
        if let ChecksumPlace::Old(_) = place {
            let tail = self.index.tail();
            within(tail.len(), limit, "the end of the file")?;
            checksums.check_tail(&io.read_one(tail).await?).at(tail.start())?;
        }
        Ok(Some(checksums))
    }

    /// Has all reads from now on compared with the checksums of the file, and what was read so far.
    pub(super) async fn begin_to_check(&mut self, io: &Io) -> Result<()> {
        self.checksums = match self.find_checksums(io).await? {
            None if self.options.require_checksums => {
                let rule = "the file has no checksums, and the reader asks for some";
                return Err(Error::corrupt(rule));
            }
            None => None,
            Some(ChecksumPlace::Old(_)) => {
                self.load_checksums(io).await?.map(ReadChecksums::Buffers)
            }
            Some(ChecksumPlace::Here { blocks, .. }) => Some(ReadChecksums::Blocks(blocks)),
        };
        let Some(ReadChecksums::Blocks(_)) = &self.checksums else { return Ok(()) };
        let (descriptor, (end, known)) = (self.index.global_buffers.first(), self.index.end());
        let read = match self.version() {
            // The metadata of all columns.
            Version::V2_0 => vec![self.index.tail(), end],
            Version::V2_1 | Version::V2_2 => vec![descriptor.copied().unwrap_or_default(), end],
        };
        within(Span::total(&read), self.options.max_metadata_bytes, "the end of the file")?;
        let round = Round::new(self, &self.budget(), &read)?;
        let bytes = io.read(round.spans.clone()).await?;
        let again = round.check(self, bytes)?.pop();
        ensure!(again == Some(known), "the end of the file was read twice and differs");
        Ok(())
    }

    /// The bytes of a buffer outside the pages.
    pub(super) async fn read_buffer(&self, io: &Io, span: Span) -> Result<Bytes> {
        self.budget().claim(span.len(), "a global buffer")?;
        io.read_one(span).await
    }

    /// Makes sure that there is room for the metadata of one more column.
    pub(super) fn claim_metadata<T>(
        &self,
        column: u32,
        message: &[u8],
        load: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let limit = self.options.max_metadata_bytes;
        let ColumnCost { kept, passing } = cost::column_bytes(message);
        let before = self.metadata_bytes.fetch_add(kept, Ordering::Relaxed);
        let needed = before.saturating_add(kept).saturating_add(passing);
        let claimed = within(needed, limit, &format!("the metadata of column {column}"));
        let loaded = claimed.and_then(|()| load());
        if loaded.is_err() {
            self.metadata_bytes.fetch_sub(kept, Ordering::Relaxed);
        }
        loaded
    }

    /// What finds the indexes of pages that are cached.
    pub(super) fn cached_indexes(&self) -> impl Fn(u32, u32) -> Option<Arc<PageIndex>> {
        let lookup = self.cache.lookup();
        move |column, page| lookup(self.page_key(column, page)).and_then(CachedPage::into_layout)
    }

    /// Parses a page's index and keeps it.
    pub(super) fn load_index(
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

    /// What one read may hold.
    pub(super) fn budget(&self) -> Budget {
        self.budget_within(u64::MAX)
    }

    /// The same for a read that is to take so many bytes at most.
    pub(super) fn budget_within(&self, most: u64) -> Budget {
        Budget::new(self.options.memory_limit.min(most))
    }
}

/// An error unless the metadata fits into what the caller allows.
pub(super) fn within(needed: u64, limit: u64, what: &str) -> Result<()> {
    if needed <= limit {
        return Ok(());
    }
    Err(Error::limit(what, needed, limit, "max_metadata_bytes"))
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile")
            .field("version", &self.version())
            .field("num_rows", &self.num_rows())
            .finish_non_exhaustive()
    }
}
