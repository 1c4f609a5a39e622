//! Takes single rows out of a file: what a search engine or a data loader does all day.
//!
//! ```text
//! cargo run -p lancet --example take
//! ```

use std::error::Error;
use std::sync::Arc;

use lancet::arrow::array::cast::AsArray;
use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{FileReader, FileWriter, WriteOptions};

/// Makes a file of a million rows, and takes some of them.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("names-{}.lance", std::process::id()));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..1_000_000).map(|i| i * 3)));
    let names = (0..1_000_000_u64).map(|i| format!("name {}", i * 7_919 % 1_000_003));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let table = RecordBatch::try_from_iter([("id", ids), ("name", names)])?;
    let mut writer = FileWriter::create(&path, table.schema(), WriteOptions::default())?;
    writer.write(&table)?;
    writer.finish()?;

    // Opening reads the end of the file only. Keep the reader: it remembers where rows are.
    let reader = FileReader::open(&path)?;

    // Rows in any order, as often as you like.
    let wanted = [999_999, 7, 123_456, 7];
    let rows = reader.take(&wanted)?;
    let names = rows["name"].as_string::<i32>();
    for (position, row) in wanted.iter().enumerate() {
        println!("row {row:>7}: {}", names.value(position));
    }

    // Some columns only; a nested field would be named with dots, as in `doc.title`.
    let ids = reader.take_columns(&wanted, ["id"])?;
    assert_eq!(ids.column(0).as_ref(), &Int64Array::from(vec![2_999_997, 21, 370_368, 21]));

    // A reader is cheap to clone and can be used from several threads at the same time.
    let other = reader.clone();
    let counted = std::thread::spawn(move || other.take(&[1, 2, 3]).map(|rows| rows.num_rows()));
    println!("another thread took {} rows", counted.join().map_err(|_| "it panicked")??);

    let stats = reader.cache_stats();
    println!("page indexes: {} found in the cache, {} read", stats.hits, stats.misses);
    std::fs::remove_file(path)?;
    Ok(())
}
