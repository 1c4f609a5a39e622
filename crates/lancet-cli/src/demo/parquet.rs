//! Parquet files of the same rows, and takes from them as well as the `parquet` crate can: with the
//! page index, from an open file whose metadata is in memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use lancet::NewFile;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{PageIndexPolicy, RowGroupMetaData};
use parquet::file::properties::WriterProperties;

use super::message;
use super::write::{SHOWN_COLUMNS, Written};
use crate::error::{InFile, Result};

/// How a Parquet file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Zstd,
    Snappy,
    /// Made for takes: a row needs a small page of each column.
    SmallPages,
}

impl Flavour {
    pub const ALL: [Self; 3] = [Self::Zstd, Self::Snappy, Self::SmallPages];

    fn name(self) -> &'static str {
        match self {
            Self::Zstd => "Parquet, zstd",
            Self::Snappy => "Parquet, snappy",
            Self::SmallPages => "Parquet, snappy, pages of 8 KiB",
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Self::Zstd => "orders-zstd.parquet",
            Self::Snappy => "orders-snappy.parquet",
            Self::SmallPages => "orders-small-pages.parquet",
        }
    }

    fn properties(self) -> WriterProperties {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        match self {
            Self::Zstd => properties.set_compression(Compression::ZSTD(ZstdLevel::default())),
            Self::Snappy => properties,
            Self::SmallPages => properties
                .set_data_page_size_limit(8 << 10)
                .set_data_page_row_count_limit(1_024)
                .set_write_batch_size(128),
        }
        .build()
    }
}

/// A file on its way.
pub struct ParquetFile {
    writer: ArrowWriter<NewFile>,
    path: PathBuf,
    flavour: Flavour,
    time: Duration,
}

impl ParquetFile {
    pub fn create(dir: &Path, flavour: Flavour, schema: SchemaRef) -> Result<Self> {
        let path = dir.join(flavour.file_name());
        let start = Instant::now();
        let file = NewFile::create(&path).in_file(&path)?;
        let properties = Some(flavour.properties());
        let writer = ArrowWriter::try_new(file, schema, properties).in_file(&path)?;
        Ok(Self { writer, path, flavour, time: start.elapsed() })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let start = Instant::now();
        self.writer.write(batch).in_file(&self.path)?;
        self.time += start.elapsed();
        Ok(())
    }

    pub fn finish(self) -> Result<Written> {
        let Self { mut writer, path, flavour, mut time } = self;
        let start = Instant::now();
        writer.flush().in_file(&path)?;
        let columns = SHOWN_COLUMNS.map(|name| column_bytes(writer.flushed_row_groups(), name));
        let bytes = writer.into_inner().in_file(&path)?.publish().in_file(&path)?;
        time += start.elapsed();
        Ok(Written { name: flavour.name(), flavour: Some(flavour), path, bytes, time, columns })
    }
}

fn column_bytes(groups: &[RowGroupMetaData], name: &str) -> u64 {
    let chunks = groups.iter().flat_map(|group| group.columns());
    let named = chunks.filter(|chunk| chunk.column_path().string() == name);
    named.map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0)).sum()
}

/// An open file.
pub struct ParquetReader {
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetReader {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).in_file(path)?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let metadata = ArrowReaderMetadata::load(&file, options).in_file(path)?;
        Ok(Self { file, metadata })
    }

    /// Takes rows, which are sorted and differ.
    pub fn take(&self, rows: &[u64]) -> Result<RecordBatch> {
        let file = self.file.try_clone().map_err(message)?;
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_selection(selection(rows))
                .with_batch_size(rows.len())
                .build()
                .map_err(message)?;
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(message)?;
        match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => Ok(batch),
            Err(batches) => concat_batches(self.metadata.schema(), &batches).map_err(message),
        }
    }
}

/// Single rows as runs of rows to skip and rows to read.
fn selection(rows: &[u64]) -> RowSelection {
    let mut selectors = Vec::with_capacity(2 * rows.len());
    let mut next = 0;
    for row in rows.iter().map(|row| *row as usize) {
        selectors.extend((row > next).then(|| RowSelector::skip(row - next)));
        selectors.push(RowSelector::select(1));
        next = row + 1;
    }
    RowSelection::from(selectors)
}
