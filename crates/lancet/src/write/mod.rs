//! The blocking writer: owns the file, the threads and the memory limit.
//!
//! Batches are handed to the leaf columns, which collect them until a page is full, or until the
//! memory limit asks for it. Pages that are due are encoded in parallel, some at a time, and written in
//! column order, so the same input gives the same bytes whatever the number of threads.

mod array_pages;
mod arrays;
mod blob;
mod column;
mod columns;
mod dictionary;
mod due;
mod entries;
mod long_row;
mod merge;
mod new_file;
mod options;
mod page;
mod plan;
mod sink;
mod summary;
mod sync;
#[cfg(test)]
mod test_plans;
mod unfinished;
mod zone_map;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::container::write::{WrittenPage, encode_column, encode_tail};
use crate::container::zone_place::encode_zone_index;
use crate::error::{Error, Result};
use crate::parallel::in_parallel;
use crate::proto::file::FileDescriptor;
use crate::schema::fields;
use crate::span::Span;
use crate::version::Version;
use crate::zones::ROWS_PER_ZONE;
use columns::WaitingColumns;
use due::{DuePage, ReadyPage, encode_all};
pub use new_file::NewFile;
pub use options::WriteOptions;
use plan::plan_columns;
use sink::Sink;
pub use summary::{ColumnSummary, PageSummary, WriteSummary};
pub use sync::sync_all;

/// Fewer zones are made into maps on one thread; a guess, of the same order.
const PARALLEL_ZONES: u64 = 4 << 10;

/// Writes a Lance file batch by batch.
///
/// With [`FileWriter::create`] nothing appears under the final name before
/// [`FileWriter::finish`]; with [`FileWriter::new`] a file without its end is not a Lance file.
///
/// ```
/// use std::sync::Arc;
///
/// use lancet::arrow::array::{Int64Array, RecordBatch};
/// use lancet::arrow::schema::{DataType, Field, Schema};
/// use lancet::{FileReader, FileWriter, WriteOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path = std::env::temp_dir().join(format!("numbers-{}.lance", std::process::id()));
/// let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
///
/// let mut writer = FileWriter::create(&path, schema.clone(), WriteOptions::default())?;
/// for start in (0..10_000).step_by(1_000) {
///     let numbers = Int64Array::from_iter_values(start..start + 1_000);
///     writer.write(&RecordBatch::try_new(schema.clone(), vec![Arc::new(numbers)])?)?;
/// }
/// assert!(!path.exists()); // a writer that is dropped here leaves nothing behind
///
/// let summary = writer.finish()?;
/// assert_eq!((summary.num_rows, summary.columns[0].pages.len()), (10_000, 1));
/// assert_eq!(FileReader::open(&path)?.num_rows(), 10_000);
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileWriter<W: Write = NewFile> {
    sink: Sink<W>,
    schema: SchemaRef,
    options: WriteOptions,
    columns: WaitingColumns,
    /// Pages written so far, by column.
    written: Vec<WrittenColumn>,
    /// What to say about them, by column.
    summaries: Vec<ColumnSummary>,
    global_buffers: Vec<Span>,
    num_rows: u64,
    /// Bytes of batches given so far.
    given: u64,
    /// Rows of a batch may be missing from some columns: an error came in between.
    is_broken: bool,
}

/// Pages of a column.
#[derive(Debug, Default)]
struct WrittenColumn {
    pages: Vec<WrittenPage>,
    num_rows: u64,
}

impl FileWriter {
    /// Starts a file on disk.
    pub fn create(
        path: impl AsRef<Path>,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<Self> {
        // A schema that cannot be stored is refused before anything is created.
        plan_columns(&schema, &options)?;
        Self::new(NewFile::create(path.as_ref())?, schema, options)
    }

    /// Writes what is left and the metadata, and makes the file appear.
    pub fn finish(self) -> Result<WriteSummary> {
        let (summary, file) = self.finish_into()?;
        file.publish()?;
        Ok(summary)
    }

    /// [`FileWriter::finish`] without waiting for the disk, for whoever makes several files and waits once: the file that is
    /// returned has its name, and is to be synced, and then its folder.
    pub fn finish_unsynced(self) -> Result<(WriteSummary, File)> {
        let (summary, file) = self.finish_into()?;
        Ok((summary, file.publish_unsynced()?))
    }
}

impl<W: Write> FileWriter<W> {
    /// Starts a file in a writer.
    pub fn new(writer: W, schema: SchemaRef, options: WriteOptions) -> Result<Self> {
        let (schema, plans) = plan_columns(&schema, &options)?;
        let columns = WaitingColumns::new(&schema, plans, &options)?;
        let summary = |name| ColumnSummary { name, pages: Vec::new(), zone_map_bytes: 0 };
        let summaries: Vec<_> = columns.names().into_iter().map(summary).collect();
        Ok(Self {
            sink: Sink::new(writer, options.checksums),
            schema,
            options,
            columns,
            written: summaries.iter().map(|_| WrittenColumn::default()).collect(),
            summaries,
            global_buffers: Vec::new(),
            num_rows: 0,
            given: 0,
            is_broken: false,
        })
    }

    /// Appends rows. After an error in the middle of it nothing more can be written: the file would lack
    /// rows in some of its columns.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_whole()?;
        self.check_schema(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.is_broken = true;
        let (options, sink) = (&self.options, &mut self.sink);
        let (bytes, pages) = self.columns.push(batch, self.given, options, sink)?;
        self.given += bytes;
        self.num_rows += batch.num_rows() as u64;
        self.write_pages(pages)?;
        let pages = self.columns.due_pages(self.given, &self.options)?;
        self.write_pages(pages)?;
        self.is_broken = false;
        Ok(())
    }

    fn check_whole(&self) -> Result<()> {
        match self.is_broken {
            true => Err(Error::invalid("the file was given up when rows could not be written")),
            false => Ok(()),
        }
    }

    /// Bytes that are written so far. Rows that wait for their pages are not among them.
    pub fn written_bytes(&self) -> u64 {
        self.sink.position()
    }

    /// Adds a global buffer; returns its number (1, 2, …).
    pub fn add_global_buffer(&mut self, bytes: &[u8]) -> Result<usize> {
        self.global_buffers.push(self.sink.write_buffer(bytes)?);
        Ok(self.global_buffers.len())
    }

    /// Writes what is left and the metadata, and hands back the writer.
    pub fn finish_into(mut self) -> Result<(WriteSummary, W)> {
        self.check_whole()?;
        let pages = self.columns.last_pages(&self.options)?;
        self.write_pages(pages)?;
        let zone_maps = self.write_zone_maps()?;
        let num_pages = self.written.iter().map(|column| column.pages.len() as u64).sum();
        let (schema, _) = fields::from_arrow(&self.schema, self.options.version)?;
        let descriptor = FileDescriptor { schema: Some(schema), length: self.num_rows };
        let columns = self.written.iter().zip(&zone_maps).enumerate();
        let columns = columns.map(|(i, (column, &zone_map))| {
            let followed = self.options.version == Version::V2_0;
            let zone_map =
                zone_map.map(|span| (span, encode_zone_index(ROWS_PER_ZONE, 0, followed)));
            encode_column(&column.pages, self.columns.is_blob(i), zone_map)
        });
        let columns: Vec<Vec<u8>> = columns.collect();
        self.write_end(&descriptor, &columns)?;
        let (num_rows, file_bytes) = (self.num_rows, self.sink.position());
        let columns = self.summaries;
        Ok((WriteSummary { num_rows, file_bytes, num_pages, columns }, self.sink.into_inner()?))
    }

    /// Writes the zone maps that are worth their bytes; returns where they lie, by column.
    fn write_zone_maps(&mut self) -> Result<Vec<Option<Span>>> {
        let zones = self.columns.take_zones();
        let bytes = |summary: &ColumnSummary| summary.pages.iter().map(|page| page.bytes).sum();
        let stored: Vec<u64> = self.summaries.iter().map(bytes).collect();
        let average = stored.iter().sum::<u64>() / stored.len().max(1) as u64;
        let num_rows = self.num_rows;
        let zones_in_all = (num_rows / u64::from(ROWS_PER_ZONE)).saturating_mul(zones.len() as u64);
        let threads = self.options.threads_for(zones_in_all, PARALLEL_ZONES);
        let work = zones.into_iter().zip(stored).collect();
        let maps = in_parallel(threads, work, move |(zones, stored)| {
            zone_map::encode(zones, stored.max(average), num_rows)
        })?;
        let mut spans = Vec::with_capacity(maps.len());
        for (map, summary) in maps.into_iter().zip(&mut self.summaries) {
            let Some(map) = map else {
                spans.push(None);
                continue;
            };
            let span = self.sink.write_buffer(&map)?;
            summary.zone_map_bytes = span.len();
            spans.push(Some(span));
        }
        Ok(spans)
    }

    /// Writes the checksums and everything after the data.
    fn write_end(&mut self, descriptor: &FileDescriptor, columns: &[Vec<u8>]) -> Result<()> {
        let version = self.options.version;
        let buffers = &self.global_buffers;
        let start = self.sink.position();
        let Some(checksums) = self.sink.take_checksums() else {
            return self.sink.write(&encode_tail(version, descriptor, columns, buffers, start)?);
        };
        // The checksums stand before the tail that they cover; how long either is does not depend on
        // where they are.
        let tail_after = |checksums: Span| {
            let buffers = [&buffers[..], &[checksums]].concat();
            encode_tail(version, descriptor, columns, &buffers, checksums.end())
        };
        let tail_bytes = tail_after(Span::between(start, start))?.len() as u64;
        let end = start + checksums.encoded_bytes(start, tail_bytes);
        let tail = tail_after(Span::between(start, end))?;
        self.sink.write(&checksums.encode(start, &tail))?;
        self.sink.write(&tail)
    }

    /// Encodes pages and writes them, in their order.
    fn write_pages(&mut self, due: Vec<DuePage>) -> Result<()> {
        let (columns, sink) = (&mut self.columns, &mut self.sink);
        let (written, summaries) = (&mut self.written, &mut self.summaries);
        encode_all(due, &self.options, |ready| {
            columns.add_entries(ready.column, ready.entries)?;
            let written = written.get_mut(ready.column).zip(summaries.get_mut(ready.column));
            let Some((written, summary)) = written else { return Ok(()) };
            for page in ready.pages {
                written.write(page, sink, summary)?;
            }
            Ok(())
        })
    }

    fn check_schema(&self, batch: &RecordBatch) -> Result<()> {
        let (expected, found) = (self.schema.fields(), batch.schema_ref().fields());
        if expected.len() != found.len() {
            let (expected, found) = (expected.len(), found.len());
            return Err(Error::invalid(format!(
                "the batch has {found} columns, but the file has {expected}"
            )));
        }
        for (expected, found) in expected.iter().zip(found) {
            let same = expected.data_type().equals_datatype(found.data_type());
            if !same || expected.name() != found.name() {
                return Err(Error::invalid(format!(
                    "the batch has a column `{}` of type {} where the file has `{}` of type {}",
                    found.name(),
                    found.data_type(),
                    expected.name(),
                    expected.data_type()
                )));
            }
        }
        for (field, array) in expected.iter().zip(batch.columns()) {
            if !field.is_nullable() && array.logical_null_count() > 0 {
                return Err(Error::invalid(format!(
                    "column `{}` is not nullable, but the batch has nulls in it",
                    field.name()
                )));
            }
        }
        Ok(())
    }
}

impl WrittenColumn {
    fn write(
        &mut self,
        page: ReadyPage,
        sink: &mut Sink<impl Write>,
        summary: &mut ColumnSummary,
    ) -> Result<()> {
        let mut buffers = Vec::with_capacity(page.buffers.len());
        for buffer in &page.buffers {
            buffers.push(sink.write_buffer(buffer)?);
        }
        self.pages.push(WrittenPage {
            buffers,
            length: page.num_rows,
            priority: if page.is_placed { self.num_rows } else { 0 },
            encoding: page.encoding,
        });
        self.num_rows += page.num_rows;
        summary.pages.push(page.summary);
        Ok(())
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
