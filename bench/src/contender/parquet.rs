//! The `parquet` crate in three flavours: snappy, zstd, and small pages with a page index.
//!
//! Its reader is blocking and single-threaded. A scan with several threads gives each a range of
//! rows, as engines on top of it do. A take is a row selection.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::WriterProperties;

use super::{Contender, Open, Reader, Visit, Write};
use crate::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parquet {
    Snappy,
    Zstd,
    /// Pages of 8 KiB, so that a row needs few bytes.
    Pages,
}

pub fn flavours() -> impl Iterator<Item = Box<dyn Contender>> {
    [Parquet::Snappy, Parquet::Zstd, Parquet::Pages]
        .into_iter()
        .map(|flavour| Box::new(flavour) as _)
}

impl Parquet {
    fn properties(self) -> WriterProperties {
        let properties = WriterProperties::builder();
        match self {
            Self::Snappy => properties.set_compression(Compression::SNAPPY),
            Self::Zstd => properties.set_compression(Compression::ZSTD(ZstdLevel::default())),
            Self::Pages => properties
                .set_compression(Compression::SNAPPY)
                .set_data_page_size_limit(8 << 10)
                .set_data_page_row_count_limit(1_024)
                .set_write_batch_size(128),
        }
        .build()
    }
}

impl Contender for Parquet {
    fn name(&self) -> &'static str {
        match self {
            Self::Snappy => "pq-snappy",
            Self::Zstd => "pq-zstd",
            Self::Pages => "pq-pages",
        }
    }

    fn prepare(&self, table: &Table) -> Result<Write<'_>> {
        let (schema, batches) = (table.batch.schema(), table.write_batches());
        Ok(Box::new(move |path| {
            let properties = Some(self.properties());
            let mut writer = ArrowWriter::try_new(File::create(path)?, schema.clone(), properties)?;
            for batch in &batches {
                writer.write(batch)?;
            }
            writer.close()?;
            Ok(())
        }))
    }

    fn open(&self, open: Open<'_>) -> Result<Box<dyn Reader>> {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let file = File::open(open.path)?;
        let metadata = ArrowReaderMetadata::load(&file, options)?;
        let (path, batch_rows) = (open.path.to_owned(), open.batch_rows);
        Ok(Box::new(Opened { path, file, metadata, batch_rows, threads: open.threads }))
    }
}

struct Opened {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
    batch_rows: usize,
    threads: usize,
}

impl Opened {
    fn builder(&self, file: File) -> ParquetRecordBatchReaderBuilder<File> {
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_batch_size(self.batch_rows)
    }

    fn rows(&self) -> usize {
        self.metadata.metadata().file_metadata().num_rows() as usize
    }

    fn columns(&self, column: Option<&str>) -> ProjectionMask {
        let schema = self.metadata.parquet_schema();
        column.map_or(ProjectionMask::all(), |column| ProjectionMask::columns(schema, [column]))
    }

    /// A reader of a part of the rows, for a thread of its own: with a file of its own, as the
    /// position in a file is shared.
    fn part(&self, rows: Range<usize>, column: Option<&str>) -> Result<ParquetRecordBatchReader> {
        let selection = RowSelection::from_consecutive_ranges([rows].into_iter(), self.rows());
        let builder = self.builder(File::open(Path::new(&self.path))?);
        Ok(builder.with_projection(self.columns(column)).with_row_selection(selection).build()?)
    }

    fn scan_in_parts(&self, column: Option<&str>) -> Result<usize> {
        let (rows, threads) = (self.rows(), self.threads);
        let ranges = (0..threads).map(|i| rows * i / threads..rows * (i + 1) / threads);
        let readers = ranges.map(|range| self.part(range, column)).collect::<Result<Vec<_>>>()?;
        std::thread::scope(|scope| {
            let count = |reader: ParquetRecordBatchReader| {
                reader.map(|batch| Ok(batch?.num_rows())).sum::<Result<usize>>()
            };
            let threads: Vec<_> =
                readers.into_iter().map(|reader| scope.spawn(move || count(reader))).collect();
            let counts = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a thread panicked"))));
            counts.sum()
        })
    }
}

impl Reader for Opened {
    fn scan(&self, column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        if self.threads > 1 && visit.is_none() {
            return self.scan_in_parts(column);
        }
        let builder = self.builder(self.file.try_clone()?);
        drain(builder.with_projection(self.columns(column)).build()?, visit)
    }

    fn take(&self, rows: &[u64], column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        let selection = selection(rows);
        let builder = self.builder(self.file.try_clone()?);
        let builder = builder.with_projection(self.columns(column));
        drain(builder.with_row_selection(selection).build()?, visit)
    }
}

/// Single rows as runs of rows to skip and rows to read.
fn selection(rows: &[u64]) -> RowSelection {
    let mut selectors = Vec::with_capacity(2 * rows.len());
    let mut next = 0;
    for row in rows {
        let row = *row as usize;
        selectors.extend((row > next).then(|| RowSelector::skip(row - next)));
        selectors.push(RowSelector::select(1));
        next = row + 1;
    }
    RowSelection::from(selectors)
}

fn drain(reader: ParquetRecordBatchReader, mut visit: Visit<'_>) -> Result<usize> {
    let mut rows = 0;
    for batch in reader {
        let batch: RecordBatch = batch?;
        rows += batch.num_rows();
        if let Some(visit) = &mut visit {
            visit(batch)?;
        }
    }
    Ok(rows)
}
