//! The blocking reader: owns the file and the limits, contains no format knowledge.

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod arrays;
mod batches;
mod blobs;
mod cache;
mod file;
pub(crate) mod inspect;
#[cfg(feature = "mmap")]
mod map;
mod names;
mod opening;
mod options;
mod place;
mod projected;
mod read_request;
mod request;
mod rounds;
mod scan;
mod source;
mod take;
pub(crate) mod verify;
mod verify_arrays;
mod verify_zones;
mod zone_maps;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;

pub use batches::Batches;
pub use blobs::{BlobDescription, Blobs};
pub use cache::{CacheStats, SearchCache};
pub use opening::Opening;
pub use options::ReadOptions;
pub use read_request::{ReadRequest, Request};
pub use scan::{Scan, ScanRequests};
pub use source::{Coalesced, Source, coalesce};
pub use zone_maps::{PruneRequest, ZoneMapRequest};

use crate::error::{Error, Result};
use crate::schema::projection::{Projection, project};
use crate::version::Version;
use crate::zones::filter::Filter;
use crate::zones::map::ZoneMap;
use file::OpenFile;
use projected::ProjectedColumns;
use read_request::Wanted;
use source::FileSource;

/// An open Lance file. Cheap to clone; all methods take `&self` and need no runtime.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Int32Array, RecordBatch};
/// # use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ids = Arc::new(Int32Array::from_iter_values(0..1000));
/// # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
/// # let mut file = Vec::new();
/// # let mut writer = FileWriter::new(&mut file, batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # writer.finish_into()?;
/// let reader = FileReader::from_bytes(file, ReadOptions::default())?;
/// assert_eq!(reader.num_rows(), 1000);
/// let rows = reader.take(&[7, 1, 999])?;
/// assert_eq!(rows.column(0).as_ref(), &Int32Array::from(vec![7, 1, 999]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FileReader {
    file: Arc<OpenFile>,
    everything: Arc<ProjectedColumns>,
    /// How many threads may work on a read.
    threads: usize,
}

impl FileReader {
    /// Opens a file on disk.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a file on disk with options.
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self> {
        let disk = Arc::new(FileSource::open(path.as_ref())?);
        #[cfg(feature = "mmap")]
        if options.memory_map {
            return Self::from_source(Arc::new(disk.map()?), options);
        }
        let mut file = OpenFile::open(disk.clone(), options)?;
        file.disk = Some(disk);
        Self::of_file(file)
    }

    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>, options: ReadOptions) -> Result<Self> {
        Self::from_source(Arc::new(bytes.into()), options)
    }

    /// Opens a file that lies anywhere.
    pub fn from_source(source: Arc<dyn Source>, options: ReadOptions) -> Result<Self> {
        Self::of_file(OpenFile::open(source, options)?)
    }

    fn of_file(file: OpenFile) -> Result<Self> {
        let (threads, file) = (file.options.threads(), Arc::new(file));
        let (schema, nodes) = (file.index.schema.clone(), file.nodes.clone());
        let everything = ProjectedColumns::new(Projection { schema, nodes })?;
        Ok(Self { file, everything, threads })
    }

    /// Format version of the file.
    pub fn version(&self) -> Version {
        self.file.index.version
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.file.index.schema.clone()
    }

    /// Ids of all fields, parents before their children. Tables find their columns by them; a
    /// writer takes them from the field metadata `lance:field_id`, or numbers from 0.
    pub fn field_ids(&self) -> &[i32] {
        &self.file.index.field_ids
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.file.index.num_rows
    }

    /// Bytes that the metadata read so far takes in memory: the schema, and the pages of the columns
    /// used so far.
    pub fn metadata_bytes(&self) -> u64 {
        self.file.metadata_bytes()
    }

    /// Number of global buffers (number 0 holds the schema).
    pub fn num_global_buffers(&self) -> usize {
        self.file.index.global_buffers.len()
    }

    /// The bytes of a global buffer.
    pub fn global_buffer(&self, index: usize) -> Result<Bytes> {
        let span = self.file.index.global_buffers.get(index).cloned().ok_or_else(|| {
            let count = self.num_global_buffers();
            Error::invalid(format!("global buffer {index} does not exist: the file has {count}"))
        })?;
        self.file.read_buffer(span)
    }

    /// The global buffers that were added to the file: all but the schema and the checksums.
    pub fn user_buffers(&self) -> Result<Vec<Bytes>> {
        let checksums = usize::from(self.file.load_checksums()?.is_some());
        let end = self.num_global_buffers().saturating_sub(checksums);
        (1..end).map(|index| self.global_buffer(index)).collect()
    }

    /// All columns of the given rows, in the order asked for; duplicates are allowed.
    pub fn take(&self, rows: &[u64]) -> Result<RecordBatch> {
        self.take_projected(&self.everything, rows)
    }

    /// Some columns of the given rows; nested fields are named with dots.
    pub fn take_columns<S: AsRef<str>>(
        &self,
        rows: &[u64],
        columns: impl IntoIterator<Item = S>,
    ) -> Result<RecordBatch> {
        let columns: Vec<String> = columns.into_iter().map(|c| c.as_ref().to_owned()).collect();
        self.take_projected(&self.projection(&columns)?, rows)
    }

    /// A take for a driver of one's own; all columns unless some are named.
    pub fn request_take(&self, rows: &[u64], columns: Option<&[&str]>) -> Result<ReadRequest> {
        self.request(&self.named_or_all(columns)?, Wanted::Rows(rows.to_vec()))
    }

    /// A read of one range of rows for a driver of one's own; all columns unless some are named.
    pub fn request_rows(&self, rows: Range<u64>, columns: Option<&[&str]>) -> Result<ReadRequest> {
        self.request(&self.named_or_all(columns)?, Wanted::Range(rows))
    }

    /// A read of several ranges of rows, sorted and without overlaps, for a driver of one's own; all
    /// columns unless some are named.
    pub fn request_ranges(
        &self,
        ranges: Vec<Range<u64>>,
        columns: Option<&[&str]>,
    ) -> Result<ReadRequest> {
        self.request(&self.named_or_all(columns)?, Wanted::Ranges(ranges))
    }

    /// About how many bytes a row takes, going by the columns whose metadata was read before; all
    /// columns unless some are named.
    pub fn row_bytes(&self, columns: Option<&[&str]>) -> Result<u64> {
        Ok(self.row_bytes_of(&*self.named_or_all(columns)?))
    }

    fn row_bytes_of(&self, projection: &ProjectedColumns) -> u64 {
        match &self.file.arrays {
            Some(columns) => arrays::row_bytes(columns, projection, self.num_rows()),
            None => self.file.row_bytes(&projection.leaves),
        }
    }

    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(&self, column: &str) -> Result<Blobs> {
        Blobs::new(self, column)
    }

    /// Starts to describe a scan.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    /// Ranges of rows outside of which no row makes the filter true, by the zone maps of its columns:
    /// sorted, not empty, none touching the next. What is read of them still has to be filtered.
    ///
    /// A column without a zone map leaves out nothing. The result holds for engines that have NaN above
    /// all numbers, in the total order, or comparing with nothing, and for those where −0 equals 0 or is
    /// below it.
    ///
    /// A column that the file does not have is an error, and so is a comparison that would need a cast.
    /// Dictionaries count as their values, and null compares with everything; beside values of its own
    /// type a column takes
    ///
    /// | column | values |
    /// |---|---|
    /// | integers, decimals | integers and decimals of any width and scale |
    /// | strings (`Utf8`, `LargeUtf8`, `Utf8View`) | strings of all three kinds |
    /// | binaries (`Binary`, `LargeBinary`, `BinaryView`) | binaries of all three kinds |
    /// | dates, times of day, durations | the same in any unit |
    /// | timestamps | timestamps in any unit: with a time zone if the column has one, without if not |
    /// | floats, booleans | no others: whether 0.1 of 64 bits is 0.1 of 32 bits depends on who casts which |
    ///
    /// A value that falls between those of the column (half a second, where it counts seconds) leaves out
    /// nothing. Engines that cast in their own way use [`prune`](crate::prune()), which takes any filter.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{Int64Array, RecordBatch};
    /// # use lancet::{Comparison, FileReader, FileWriter, Filter, ReadOptions, WriteOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ids = Arc::new(Int64Array::from_iter_values((0..100_000).map(|i| i * 7)));
    /// # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
    /// # let mut file = Vec::new();
    /// # let mut writer = FileWriter::new(&mut file, batch.schema(), WriteOptions::default())?;
    /// # writer.write(&batch)?;
    /// # writer.finish_into()?;
    /// let reader = FileReader::from_bytes(file, ReadOptions::default())?;
    /// let filter = Filter::compare("id", Comparison::Eq, &Int64Array::new_scalar(70_000));
    /// assert_eq!(reader.prune(&filter)?, [8_192..16_384]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prune(&self, filter: &Filter) -> Result<Vec<Range<u64>>> {
        self.run(self.request_prune(filter)?)
    }

    /// [`FileReader::prune`] for a driver of one's own.
    pub fn request_prune(&self, filter: &Filter) -> Result<PruneRequest> {
        PruneRequest::new(self, filter)
    }

    /// The zone maps of columns; nested fields are named with dots. None for a column without one,
    /// and for one that breaks a rule: `verify` tells which.
    pub fn zone_maps<S: AsRef<str>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Option<Arc<ZoneMap>>>> {
        self.run(self.request_zone_maps(columns)?)
    }

    /// [`FileReader::zone_maps`] for a driver of one's own.
    pub fn request_zone_maps<S: AsRef<str>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<ZoneMapRequest> {
        ZoneMapRequest::named(self, columns)
    }

    /// What the search cache holds, and how often it had what was needed. Readers that share a cache
    /// share its figures.
    pub fn cache_stats(&self) -> CacheStats {
        self.file.options.search_cache.stats()
    }

    /// What the file is made of. Reads the metadata of all columns.
    pub fn inspect(&self) -> Result<inspect::FileReport> {
        self.load_columns(&self.everything)?;
        match &self.file.arrays {
            Some(columns) => arrays::report(&self.file, columns),
            None => inspect::report(&self.file, &self.everything),
        }
    }

    /// Checks every rule of the format over the whole file, and its checksums if it has some.
    ///
    /// What is wrong with the file is in the result; errors are only those of reading it.
    pub fn verify(&self) -> Result<verify::Verification> {
        self.verify_with(|_, _| ())
    }

    /// [`FileReader::verify`], and says how far it has come: what is done, and what there is to do in
    /// all. Both count bytes, and bytes that are looked at several times as often.
    ///
    /// ```
    /// # use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ids = std::sync::Arc::new(arrow_array::Int32Array::from_iter_values(0..1000));
    /// # let batch = arrow_array::RecordBatch::try_from_iter([("id", ids as _)])?;
    /// # let mut file = Vec::new();
    /// # let mut writer = FileWriter::new(&mut file, batch.schema(), WriteOptions::default())?;
    /// # writer.write(&batch)?;
    /// # writer.finish_into()?;
    /// let reader = FileReader::from_bytes(file, ReadOptions::default())?;
    /// let found = reader.verify_with(|done, all| eprintln!("{done} of {all} bytes"))?;
    /// assert!(found.problems.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify_with(&self, mut progress: impl FnMut(u64, u64)) -> Result<verify::Verification> {
        verify::verify(self, &mut progress)
    }

    fn projection(&self, columns: &[String]) -> Result<Arc<ProjectedColumns>> {
        ProjectedColumns::new(project(&self.file.index.schema, &self.file.nodes, columns)?)
    }

    fn named_or_all(&self, columns: Option<&[&str]>) -> Result<Arc<ProjectedColumns>> {
        columns.map_or(Ok(self.everything.clone()), |names| {
            self.projection(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        })
    }

    fn request(&self, columns: &Arc<ProjectedColumns>, wanted: Wanted) -> Result<ReadRequest> {
        ReadRequest::new(self.clone(), columns.clone(), wanted, self.file.budget())
    }

    /// Loads the metadata of the columns and returns their common number of rows.
    fn load_columns(&self, projection: &Arc<ProjectedColumns>) -> Result<u64> {
        self.run(self.request(projection, Wanted::Metadata)?)?;
        self.common_rows(projection)
    }

    /// The number of rows of columns whose metadata is loaded.
    fn common_rows(&self, projection: &ProjectedColumns) -> Result<u64> {
        if let Some(num_rows) = projection.num_rows.get() {
            return Ok(*num_rows);
        }
        let num_rows = match &self.file.arrays {
            Some(columns) => arrays::common_rows(&self.file, columns, projection)?,
            None => self.file.common_rows(&projection.leaves)?,
        };
        projection.num_rows.set(num_rows);
        Ok(num_rows)
    }

    /// Reads rows from first to last.
    fn read(&self, projection: &Arc<ProjectedColumns>, rows: Range<u64>) -> Result<RecordBatch> {
        self.run(self.request(projection, Wanted::Range(rows))?)
    }

    fn run<R: Request>(&self, mut request: R) -> Result<R::Output> {
        while !request.spans().is_empty() {
            let bytes = self.file.source.read(request.spans())?;
            request.supply(bytes)?;
        }
        request.finish()
    }
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReader")
            .field("version", &self.version())
            .field("num_rows", &self.num_rows())
            .finish_non_exhaustive()
    }
}
