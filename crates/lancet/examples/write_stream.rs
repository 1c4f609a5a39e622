//! Writes a table that comes batch by batch, and says how it was stored.
//!
//! ```text
//! cargo run -p lancet --example write_stream
//! ```

use std::error::Error;
use std::sync::Arc;

use lancet::arrow::array::{Float64Array, Int64Array, RecordBatch, StringArray};
use lancet::arrow::schema::{DataType, Field, Schema, SchemaRef};
use lancet::{ColumnOptions, Compression, FileReader, FileWriter, Profile, WriteOptions};

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("city", DataType::Utf8, false),
        Field::new("price", DataType::Float64, false),
    ]))
}

/// A thousand orders at a time, as they might come from a socket or a queue.
fn orders() -> impl Iterator<Item = lancet::Result<RecordBatch>> {
    (0..100).map(|batch| {
        let ids = batch * 1_000..(batch + 1) * 1_000;
        let cities = ids.clone().map(|id| ["Basel", "Lyon", "Turin"][id as usize % 3]);
        let prices = ids.clone().map(|id| (id % 500) as f64 / 4.0);
        Ok(RecordBatch::try_new(
            schema(),
            vec![
                Arc::new(Int64Array::from_iter_values(ids.clone())),
                Arc::new(StringArray::from_iter_values(cities)),
                Arc::new(Float64Array::from_iter_values(prices)),
            ],
        )?)
    })
}

/// Writes the orders to a file and prints what became of each column.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("orders-{}.lance", std::process::id()));
    let options = WriteOptions::default()
        .with_profile(Profile::Fast)
        .with_column("price", ColumnOptions::default().with_compression(Compression::Lz4));

    // Memory stays bounded, however long the table is.
    let mut writer = FileWriter::create(&path, schema(), options)?;
    for batch in orders() {
        writer.write(&batch?)?;
    }
    // Nothing stands under the name before this; a writer that is dropped leaves nothing behind.
    let summary = writer.finish()?;
    println!("{} rows in {} bytes", summary.num_rows, summary.file_bytes);
    for column in &summary.columns {
        println!("{:>6}: {}", column.name, column.pages[0].encoding); // `reason` says why
    }
    assert_eq!(FileReader::open(&path)?.num_rows(), 100_000);
    std::fs::remove_file(path)?;
    Ok(())
}
