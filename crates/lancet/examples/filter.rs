//! Finds rows by a condition: zone maps leave out what cannot match, the rest is filtered.
//!
//! ```text
//! cargo run -p lancet --example filter
//! ```

use std::error::Error;
use std::sync::Arc;

use lancet::arrow::array::cast::AsArray;
use lancet::arrow::array::types::{Int32Type, Int64Type};
use lancet::arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch};
use lancet::arrow::select::filter::filter_record_batch;
use lancet::{Comparison, FileReader, FileWriter, Filter, ReadOptions, WriteOptions};

/// Measurements by time: sorted, as such tables mostly are.
fn measurements() -> lancet::Result<RecordBatch> {
    let times: ArrayRef = Arc::new(Int64Array::from_iter_values((0..500_000).map(|i| i * 10)));
    let values = (0..500_000_i32).map(|i| i.wrapping_mul(0x9e37_79b1_u32 as i32) >> 16);
    let values: ArrayRef = Arc::new(Int32Array::from_iter_values(values));
    Ok(RecordBatch::try_from_iter([("time", times), ("value", values)])?)
}

/// Makes a file in memory, and finds the high values of a short time.
pub fn main() -> Result<(), Box<dyn Error>> {
    let table = measurements()?;
    let mut writer = FileWriter::new(Vec::new(), table.schema(), WriteOptions::default())?;
    writer.write(&table)?;
    let (_, file) = writer.finish_into()?;
    let reader = FileReader::from_bytes(file, ReadOptions::default())?;

    // The values have the types of their columns; anything else is an error.
    let time = |op, t| Filter::compare("time", op, &Int64Array::new_scalar(t));
    let filter = time(Comparison::GtEq, 2_000_000)
        .and(time(Comparison::Lt, 2_000_500))
        .and(Filter::compare("value", Comparison::Gt, &Int32Array::new_scalar(30_000)));

    // Whole zones of 8,192 rows that hold no such row, by the least and greatest values alone.
    let ranges = reader.prune(&filter)?;
    let left: u64 = ranges.iter().map(|rows| rows.end - rows.start).sum();
    println!("{left} of {} rows may match: {ranges:?}", reader.num_rows());
    assert!(left <= 2 * 8_192);

    // The zones that are left hold other rows, too.
    for rows in ranges {
        for batch in reader.scan().rows(rows).build()? {
            let batch = batch?;
            let times = batch["time"].as_primitive::<Int64Type>();
            let values = batch["value"].as_primitive::<Int32Type>();
            let matches: BooleanArray = (times.iter().zip(values))
                .map(|(t, v)| Some((2_000_000..2_000_500).contains(&t?) && v? > 30_000))
                .collect();
            let found = filter_record_batch(&batch, &matches)?;
            println!("{} rows match in a batch of {}", found.num_rows(), batch.num_rows());
        }
    }
    Ok(())
}
