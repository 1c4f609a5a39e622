//! The orders of one day: zone maps say where they may be, and only there the file is read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, RecordBatch, Scalar, TimestampMicrosecondArray};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use lancet::{Comparison, FileReader, Filter, ReadOptions, Source, Span, coalesce};

use super::message;
use super::orders::{MICROS_PER_DAY, ORDERED_AT};
use super::write::Written;
use crate::error::{Error, InFile, Result};
use crate::show::Show;

/// What is asked for of the orders.
pub const COLUMNS: [&str; 4] = ["order_id", ORDERED_AT, "status", "address.city"];

/// What the filter found, and what it cost.
pub struct Found {
    /// The day, as 2024-05-01.
    pub day: String,
    pub rows: u64,
    /// Rows that the zone maps left to be looked at.
    pub looked_at: u64,
    pub file_rows: u64,
    /// Bytes read, with the opening of the file.
    pub bytes: u64,
    pub reads: u64,
    pub file_bytes: u64,
    /// Bytes that the columns have in the file.
    pub column_bytes: u64,
}

/// Finds the orders of the day in the middle of the table.
pub fn find(file: &Written) -> Result<Found> {
    let whole = file.open()?;
    let day = middle_day(&whole).map_err(|error| error.about(&file.path))?;
    let source = Arc::new(Counted::open(file)?);
    let reader =
        FileReader::from_source(source.clone(), ReadOptions::default()).in_file(&file.path)?;
    let (orders, looked_at) = orders_of(&reader, &day).map_err(|error| error.about(&file.path))?;
    let right = all_orders_of(&whole, &day).map_err(|error| error.about(&file.path))?;
    if orders.num_rows() as u64 != right || instants(&orders)?.iter().any(|at| !day.contains(at)) {
        return Err(Error::new("the filter found other rows than a scan").about(&file.path));
    }
    let in_file = whole.inspect().in_file(&file.path)?;
    let asked = in_file.columns.iter().filter(|column| COLUMNS.contains(&column.name.as_str()));
    let first = TimestampMicrosecondArray::from(vec![day.start]);
    let text = Show::new(&first, "").and_then(|show| show.text(0)).map_err(message)?;
    Ok(Found {
        day: text.split('T').next().unwrap_or_default().to_owned(),
        rows: orders.num_rows() as u64,
        looked_at,
        file_rows: whole.num_rows(),
        bytes: source.bytes.load(Ordering::Relaxed),
        reads: source.reads.load(Ordering::Relaxed),
        file_bytes: file.bytes,
        column_bytes: asked.map(|column| column.bytes).sum(),
    })
}

/// The day of the order in the middle, in microseconds.
fn middle_day(reader: &FileReader) -> Result<Range<i64>> {
    let middle = reader.take_columns(&[reader.num_rows() / 2], [ORDERED_AT]).map_err(message)?;
    let at = instants(&middle)?.first().copied().unwrap_or_default();
    let start = at - at.rem_euclid(MICROS_PER_DAY);
    Ok(start..start + MICROS_PER_DAY)
}

/// The orders of a day, and the number of rows that were looked at.
fn orders_of(reader: &FileReader, day: &Range<i64>) -> Result<(RecordBatch, u64)> {
    let at = |at: i64| Scalar::new(TimestampMicrosecondArray::from(vec![at]).with_timezone("UTC"));
    let filter = Filter::compare(ORDERED_AT, Comparison::GtEq, &at(day.start))
        .and(Filter::compare(ORDERED_AT, Comparison::Lt, &at(day.end)));
    let looked_at = reader.prune(&filter).map_err(message)?.count();
    let batches = reader.scan().columns(COLUMNS).filter(filter).build().map_err(message)?;
    let schema = batches.schema();
    let batches = batches.map(|batch| Ok(batch?));
    let batches = batches.collect::<lancet::Result<Vec<_>>>().map_err(message)?;
    Ok((concat_batches(&schema, &batches).map_err(message)?, looked_at))
}

/// The number of orders of a day, without zone maps.
fn all_orders_of(reader: &FileReader, day: &Range<i64>) -> Result<u64> {
    let mut found = 0;
    for batch in reader.scan().columns([ORDERED_AT]).build().map_err(message)? {
        let instants = instants(&batch.map_err(message)?)?;
        found += instants.iter().filter(|at| day.contains(at)).count() as u64;
    }
    Ok(found)
}

fn instants(batch: &RecordBatch) -> Result<Vec<i64>> {
    let column = batch.column_by_name(ORDERED_AT);
    let instants = column.and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>());
    let missing = || Error::new(format!("the column `{ORDERED_AT}` did not come back"));
    Ok(instants
        .filter(|instants| instants.null_count() == 0)
        .ok_or_else(missing)?
        .values()
        .to_vec())
}

/// A file that counts what is read of it.
struct Counted {
    file: Mutex<File>,
    size: u64,
    bytes: AtomicU64,
    reads: AtomicU64,
}

/// As lancet reads files on disk: near spans together.
const MERGE_GAP: u64 = 4_096;
const MERGE_BYTES: u64 = 1 << 20;

impl Counted {
    fn open(written: &Written) -> Result<Self> {
        let file = File::open(&written.path).in_file(&written.path)?;
        let size = file.metadata().in_file(&written.path)?.len();
        let (bytes, reads) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { file: Mutex::new(file), size, bytes, reads })
    }

    fn read_one(&self, span: &Span) -> std::io::Result<Bytes> {
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(0)];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(span.start()))?;
        file.read_exact(&mut bytes)?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(bytes.into())
    }
}

impl Source for Counted {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        let plan = coalesce(spans, MERGE_GAP, MERGE_BYTES);
        let reads = plan.reads.iter().map(|span| self.read_one(span));
        let failed = |source| lancet::Error::Io { context: "a read for a filter".into(), source };
        let reads = reads.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        plan.cut(&reads, spans)
    }
}
