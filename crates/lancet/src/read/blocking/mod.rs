//! The blocking reader: an open file and where its bytes come from.

mod ahead;
mod batch;
mod batches;
mod blobs;
mod coalesce;
mod disk;
#[cfg(feature = "mmap")]
mod map;
#[cfg_attr(target_os = "linux", path = "page_cache/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "page_cache/unknown.rs")]
mod page_cache;
mod place;
mod scan;
mod source;
mod stream;
mod take;
mod window;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;

pub use batches::Batches;
pub use blobs::Blobs;
pub use coalesce::{Coalesced, coalesce};
pub use disk::FileSource;
pub use scan::Scan;
pub use source::Source;

use super::cache::CacheStats;
use super::check::{FileReport, Verification};
use super::file::OpenFile;
use super::options::ReadOptions;
use super::projection::Columns;
use super::request::{Progress, Request};
use crate::error::{Error, Result};
use crate::rows::{RowRanges, Rows};
use crate::version::Version;
use crate::zones::filter::Filter;
use crate::zones::map::ZoneMap;

/// An open Lance file and where its bytes come from. Cheap to clone; all methods take `&self` and need no
/// runtime.
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
    source: Arc<dyn Source>,
    /// The source, if it is a file on disk.
    disk: Option<Arc<FileSource>>,
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
        let reader = Self::from_source(disk.clone(), options)?;
        Ok(Self { disk: Some(disk), ..reader })
    }

    /// A reader of a file on disk that was opened before and closed since: nothing is read for it. The file must be
    /// the same; all that is compared is its size.
    pub fn from_file(file: Arc<OpenFile>, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let disk = Arc::new(FileSource::open(path)?);
        let (now, then) = (disk.size_bytes(), file.file_bytes());
        if now != then {
            return Err(Error::corrupt(format!(
                "it has {now} bytes, but had {then} when it was opened"
            )));
        }
        let threads = file.options().threads();
        #[cfg(feature = "mmap")]
        if file.options().memory_map {
            return Ok(Self { file, source: Arc::new(disk.map()?), disk: None, threads });
        }
        Ok(Self { file, source: disk.clone(), disk: Some(disk), threads })
    }

    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>, options: ReadOptions) -> Result<Self> {
        Self::from_source(Arc::new(bytes.into()), options)
    }

    /// Opens a file that lies anywhere.
    pub fn from_source(source: Arc<dyn Source>, options: ReadOptions) -> Result<Self> {
        let threads = options.threads();
        let file = run(source.as_ref(), OpenFile::open(source.size_bytes(), options))?;
        Ok(Self { file, source, disk: None, threads })
    }

    /// What is known of the file, which also makes requests for drivers of one's own.
    pub fn file(&self) -> &Arc<OpenFile> {
        &self.file
    }

    /// What a request of this file comes to.
    pub fn run<T>(&self, request: Request<T>) -> Result<T> {
        run(self.source.as_ref(), request)
    }

    /// Has the device asked for what a request needs next, without waiting for it, so that requests of several files can
    /// wait together. Returns whether it was asked: not where the bytes are in memory, nor where the file is none on disk.
    pub fn announce<T>(&self, request: &Request<T>) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.announce_unless_there(request.spans()))
    }

    /// Reads what a request needs next, and hands it over.
    pub fn advance<T>(&self, request: &mut Request<T>) -> Result<()> {
        let bytes = self.source.read_scattered(request.spans())?;
        request.supply(bytes)
    }

    /// Format version of the file.
    pub fn version(&self) -> Version {
        self.file.version()
    }

    /// The schema, with field and schema metadata.
    pub fn schema(&self) -> SchemaRef {
        self.file.schema()
    }

    /// Ids of all fields; see [`OpenFile::field_ids`].
    pub fn field_ids(&self) -> &[i32] {
        self.file.field_ids()
    }

    /// Number of rows.
    pub fn num_rows(&self) -> u64 {
        self.file.num_rows()
    }

    /// Bytes that the metadata read so far takes in memory; see [`OpenFile::metadata_bytes`].
    pub fn metadata_bytes(&self) -> u64 {
        self.file.metadata_bytes()
    }

    /// Number of global buffers (number 0 holds the schema).
    pub fn num_global_buffers(&self) -> usize {
        self.file.num_global_buffers()
    }

    /// The bytes of a global buffer.
    pub fn global_buffer(&self, index: usize) -> Result<Bytes> {
        self.run(self.file.global_buffer(index)?)
    }

    /// The global buffers that were added to the file: all but the schema and the checksums.
    pub fn user_buffers(&self) -> Result<Vec<Bytes>> {
        self.run(self.file.user_buffers())
    }

    /// All columns of the given rows, in the order asked for; duplicates are allowed.
    pub fn take(&self, rows: &[u64]) -> Result<RecordBatch> {
        self.take_projected(self.file.everything(), rows)
    }

    /// Some columns of the given rows. Names are looked up each time; for many takes let
    /// [`OpenFile::project`] do so once.
    pub fn take_columns(&self, rows: &[u64], columns: impl Into<Columns>) -> Result<RecordBatch> {
        self.take_projected(&self.file.project(columns)?, rows)
    }

    /// Some rows of some columns as one batch: `..` for all, a range, [`RowRanges`], or a list.
    pub fn read(&self, columns: impl Into<Columns>, rows: impl Into<Rows>) -> Result<RecordBatch> {
        self.read_projected(&self.file.project(columns)?, rows.into())
    }

    /// Starts to describe a scan.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(&self, column: &str) -> Result<Blobs> {
        let column = self.run(self.file.blobs(column)?)?;
        Ok(Blobs::new(self.clone(), column))
    }

    /// The rows outside of which no row makes the filter true, by the zone maps of its columns. What is read
    /// of them still has to be filtered, which [`Scan::filter`] does.
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
    /// assert_eq!(reader.prune(&filter)?.ranges(), [8_192..16_384]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prune(&self, filter: &Filter) -> Result<RowRanges> {
        self.run(self.file.prune(filter)?)
    }

    /// The zone maps of columns; nested fields are named with dots. None for a column without one,
    /// and for one that breaks a rule: `verify` tells which.
    pub fn zone_maps<S: AsRef<str>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Option<Arc<ZoneMap>>>> {
        self.run(self.file.zone_maps(columns)?)
    }

    /// What the search cache holds, and how often it had what was needed. Readers that share a cache
    /// share its figures.
    pub fn cache_stats(&self) -> CacheStats {
        self.file.cache_stats()
    }

    /// What the file is made of. Reads the metadata of all columns.
    pub fn inspect(&self) -> Result<FileReport> {
        self.run(self.file.inspect())
    }

    /// Checks every rule of the format over the whole file, and its checksums if it has some.
    ///
    /// What is wrong with the file is in the result; errors are only those of reading it.
    pub fn verify(&self) -> Result<Verification> {
        self.verify_with(drop)
    }

    /// [`FileReader::verify`], and says how far it has come.
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
    /// let found = reader.verify_with(|at| eprintln!("{} of {} bytes", at.done, at.all))?;
    /// assert!(found.problems.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify_with(&self, mut progress: impl FnMut(Progress)) -> Result<Verification> {
        let mut request = self.file.verify();
        while !request.spans().is_empty() {
            request.supply(self.source.read(request.spans())?)?;
            request.progress().into_iter().for_each(&mut progress);
        }
        request.finish()
    }
}

/// What a request comes to. What it asks for together lies apart, for all anybody knows.
fn run<T>(source: &dyn Source, request: Request<T>) -> Result<T> {
    drive(request, |request| source.read_scattered(request.spans()))
}

fn drive<T>(
    mut request: Request<T>,
    mut read: impl FnMut(&Request<T>) -> Result<Vec<Bytes>>,
) -> Result<T> {
    while !request.spans().is_empty() {
        let bytes = read(&request)?;
        request.supply(bytes)?;
    }
    request.finish()
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReader")
            .field("version", &self.version())
            .field("num_rows", &self.num_rows())
            .finish_non_exhaustive()
    }
}
