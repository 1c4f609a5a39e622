//! Stores long binary values beside short ones, and reads parts of them.
//!
//! ```text
//! cargo run -p lancet --example blobs
//! ```

use std::error::Error;
use std::sync::Arc;

use lancet::arrow::array::{LargeBinaryArray, RecordBatch, StringArray};
use lancet::arrow::schema::{DataType, Field, Schema};
use lancet::{FileReader, FileWriter, WriteOptions};

/// Writes three videos, one of them missing, and reads a part of one.
pub fn main() -> Result<(), Box<dyn Error>> {
    // The metadata of its field makes a column one of blobs.
    let video = Field::new("video", DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let schema = Arc::new(Schema::new(vec![Field::new("title", DataType::Utf8, false), video]));
    let long: Vec<u8> = (0..3_000_000_u32).map(|i| i as u8).collect();
    let batch = RecordBatch::try_new(
        schema.clone(),
        vec![
            Arc::new(StringArray::from(vec!["the sea", "lost", "the hills"])),
            Arc::new(LargeBinaryArray::from_opt_vec(vec![Some(&long), None, Some(b"short")])),
        ],
    )?;

    // Blobs go to the file as they come: a batch of them is never copied.
    let path = std::env::temp_dir().join(format!("videos-{}.lance", std::process::id()));
    let mut writer = FileWriter::create(&path, schema, WriteOptions::default())?;
    writer.write(&batch)?;
    let summary = writer.finish()?;
    println!("{} videos in {} bytes", summary.num_rows, summary.file_bytes);

    let reader = FileReader::open(&path)?;
    let videos = reader.blobs("video")?;
    for row in 0..videos.num_rows() {
        match videos.len(row)? {
            Some(bytes) => println!("video {row}: {bytes} bytes"),
            None => println!("video {row} is missing"),
        }
    }

    // A part of one blob, and nothing else of its column.
    let part = videos.read(0, 1_000_000..1_000_016)?;
    println!("16 bytes from its millionth on: {part:?}");
    assert_eq!(part, long[1_000_000..1_000_016]);

    // A scan gives whole blobs, or only where they are.
    let described = reader.scan().blobs_as_descriptions().build()?.schema();
    println!("described: {}", described.field(1).data_type());
    std::fs::remove_file(path)?;
    Ok(())
}
