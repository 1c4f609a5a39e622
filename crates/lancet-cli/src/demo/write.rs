//! The same rows, batch by batch, into a Lance file and into Parquet files.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::{FileReader, FileWriter, Profile, WriteOptions};

use super::orders::Orders;
use super::parquet::{Flavour, ParquetFile};
use super::{SEED, message};
use crate::analyze::memory::batch_bytes;
use crate::error::{Error, InFile, Result};
use crate::progress;

/// Columns whose sizes are told one by one.
pub const SHOWN_COLUMNS: [&str; 3] = ["comment", "url", "price"];
/// Rows made at once.
const BATCH_ROWS: u64 = 8_192;

/// The files of a demo.
pub struct Files {
    pub rows: u64,
    pub num_columns: usize,
    /// Bytes of the values in memory.
    pub array_bytes: u64,
    /// The Lance file with the usual options comes first.
    pub all: Vec<Written>,
}

/// A file that was written.
pub struct Written {
    /// What it is, in words.
    pub name: &'static str,
    /// None for Lance.
    pub flavour: Option<Flavour>,
    pub path: PathBuf,
    pub bytes: u64,
    pub time: Duration,
    /// Bytes of [`SHOWN_COLUMNS`].
    pub columns: [u64; 3],
}

impl Files {
    /// The Lance file with the usual options.
    pub fn lance(&self) -> &Written {
        &self.all[0] // it is always there
    }
}

/// Writes all files.
pub fn files(dir: &Path, rows: u64, quiet: bool) -> Result<Files> {
    let mut orders = Orders::new(SEED);
    let schema = orders.schema();
    let mut lance = [
        LanceFile::create(dir, "lancet", "orders.lance", Profile::default(), &schema)?,
        LanceFile::create(
            dir,
            "lancet, --profile small",
            "orders-small.lance",
            Profile::Small,
            &schema,
        )?,
    ];
    let create = |flavour: &Flavour| ParquetFile::create(dir, *flavour, schema.clone());
    let mut parquet = Flavour::ALL.iter().map(create).collect::<Result<Vec<_>>>()?;
    let mut array_bytes = 0;
    let bar = progress::bar(Some(rows), quiet);
    let mut left = rows;
    while left > 0 {
        let len = left.min(BATCH_ROWS);
        left -= len;
        let batch = orders.batch(len as usize).in_file(dir)?;
        array_bytes += batch_bytes(&batch);
        lance.iter_mut().try_for_each(|file| file.write(&batch))?;
        parquet.iter_mut().try_for_each(|file| file.write(&batch))?;
        bar.inc(len);
    }
    let lance = lance.into_iter().map(LanceFile::finish);
    let all = lance.chain(parquet.into_iter().map(ParquetFile::finish)).collect::<Result<_>>()?;
    bar.finish_and_clear();
    Ok(Files { rows, num_columns: schema.fields().len(), array_bytes, all })
}

/// A Lance file on its way.
struct LanceFile {
    writer: FileWriter,
    name: &'static str,
    path: PathBuf,
    time: Duration,
}

impl LanceFile {
    fn create(
        dir: &Path,
        name: &'static str,
        file_name: &str,
        profile: Profile,
        schema: &SchemaRef,
    ) -> Result<Self> {
        let path = dir.join(file_name);
        let options = WriteOptions::default().with_profile(profile);
        let start = Instant::now();
        let writer = FileWriter::create(&path, schema.clone(), options).in_file(&path)?;
        Ok(Self { writer, name, path, time: start.elapsed() })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let start = Instant::now();
        self.writer.write(batch).in_file(&self.path)?;
        self.time += start.elapsed();
        Ok(())
    }

    fn finish(self) -> Result<Written> {
        let Self { writer, name, path, mut time } = self;
        let start = Instant::now();
        let bytes = writer.finish().in_file(&path)?.file_bytes;
        time += start.elapsed();
        let columns = lance_columns(&path)?;
        Ok(Written { name, flavour: None, path, bytes, time, columns })
    }
}

fn lance_columns(path: &Path) -> Result<[u64; 3]> {
    let report = FileReader::open(path).and_then(|reader| reader.inspect()).in_file(path)?;
    Ok(SHOWN_COLUMNS.map(|name| {
        report.columns.iter().filter(|column| column.name == name).map(|column| column.bytes).sum()
    }))
}

impl Written {
    /// Opens the Lance file.
    pub fn open(&self) -> Result<FileReader> {
        FileReader::open(&self.path).in_file(&self.path)
    }

    /// Reads the Lance file and makes the rows once more: they must be the same.
    pub fn check_all_rows(&self) -> Result<()> {
        let reader = self.open()?;
        let mut orders = Orders::new(SEED);
        let mut rows = 0;
        for batch in reader.scan().build().in_file(&self.path)? {
            let batch: RecordBatch = batch.in_file(&self.path)?;
            rows += batch.num_rows() as u64;
            let made = orders.batch(batch.num_rows()).map_err(message)?;
            if made.columns() != batch.columns() {
                return Err(Error::new("a scan returned other values than were written"));
            }
        }
        if rows != reader.num_rows() {
            return Err(Error::new("a scan returned another number of rows than were written"));
        }
        Ok(())
    }
}
