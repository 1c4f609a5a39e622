//! Writes a table with lancet and reads it again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::RecordBatch;
use lancet::{FileReader, FileWriter, ReadOptions, Version, WriteOptions};

use crate::support::{Check, Doing, Failure, Random, reading};

/// A file name that no other test uses; the file goes when this does.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new name.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{process}-{number}.lance")))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The writer may not have got as far as a file.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes the table in one batch, and in uneven slices with small pages; reads both again, the second with
/// all checksums compared.
pub fn round_trip(name: &str, table: &RecordBatch, version: Version) -> Check {
    let options = WriteOptions::default().with_version(version);
    written(name, table, std::slice::from_ref(table), options.clone(), ReadOptions::default())?;
    let slices = slices(table, &mut Random::seeded(name));
    let checked = ReadOptions::default().with_require_checksums(true);
    written(name, table, &slices, options.with_page_bytes(3_000), checked)
}

fn written(
    name: &str,
    table: &RecordBatch,
    batches: &[RecordBatch],
    options: WriteOptions,
    read: ReadOptions,
) -> Check {
    let scratch = Scratch::new();
    let version = options.version();
    let how =
        format!("written in {} batches, {} bytes a page", batches.len(), options.page_bytes());
    let mut writer = FileWriter::create(&scratch.0, table.schema(), options)
        .doing(|| format!("{how}: create"))?;
    for batch in batches {
        writer.write(batch).doing(|| format!("{how}: write"))?;
    }
    let summary = writer.finish().doing(|| format!("{how}: finish"))?;
    reading::same(&format!("{how}: rows"), summary.num_rows, table.num_rows() as u64)?;
    let bytes = std::fs::read(&scratch.0).unwrap();
    reading::same(&format!("{how}: bytes"), summary.file_bytes, bytes.len() as u64)?;
    let reader = FileReader::from_bytes(bytes, read).doing(|| format!("{how}: open"))?;
    reading::same(&format!("{how}: version"), reader.version(), version)?;
    reading::everything(name, &reader, table).map_err(|failure| match failure {
        Failure::Unsupported(what) => Failure::Unsupported(format!("{how}: {what}")),
        Failure::Wrong(what) => Failure::Wrong(format!("{how}: {what}")),
    })
}

fn slices(table: &RecordBatch, random: &mut Random) -> Vec<RecordBatch> {
    let rows = table.num_rows();
    let mut slices = Vec::new();
    let mut start = 0;
    while start < rows {
        let len = (1 + random.below(rows as u64 / 3 + 2) as usize).min(rows - start);
        slices.push(table.slice(start, len));
        start += len;
    }
    slices
}
