//! Finds rows by a condition: zone maps leave out what cannot match, the rest is filtered.
//!
//! ```text
//! cargo run -p lancet --example filter
//! ```

use std::error::Error;
use std::sync::Arc;

use lancet::arrow::array::cast::AsArray;
use lancet::arrow::array::types::Int64Type;
use lancet::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
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

    // Zones of 8,192 rows that hold no such row are left out by their least and greatest values alone; of
    // the others `time` and `value` are read, and of the other columns only the rows that match.
    let mut num_rows = 0;
    for batch in reader.scan().filter(filter.clone()).build()? {
        let batch = batch?;
        let times = batch["time"].as_primitive::<Int64Type>();
        assert!(times.values().iter().all(|t| (2_000_000..2_000_500).contains(t)));
        num_rows += batch.num_rows();
    }
    println!("{num_rows} rows match");
    assert!(num_rows > 0);

    // What zone maps know by themselves, for those who filter in their own way.
    let rows = reader.prune(&filter)?;
    println!("{} of {} rows may match: {rows:?}", rows.count(), reader.num_rows());
    assert!(rows.count() <= 2 * 8_192);
    Ok(())
}
