//! Files of other formats, damaged at random: reading them ends with rows or with an error, and takes little memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_array::{ListArray, types::Int32Type};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

#[path = "../../tests/support/damage.rs"]
mod damage;

use super::{Selection, TextOptions, open_selection};
use damage::{Limited, Random, damaged};

/// Mutants of each file.
const MUTANTS: u64 = 400;
/// No reader may ask for more at once.
const MOST_BYTES: usize = 1 << 30;

#[global_allocator]
static LIMITED: Limited<MOST_BYTES> = Limited;

fn batch() -> RecordBatch {
    let numbers = Int64Array::from_iter((0..50).map(|i| (i % 7 != 0).then_some(i * i)));
    let floats = Float64Array::from_iter_values((0..50).map(|i| f64::from(i) / 3.0));
    let words = StringArray::from_iter_values((0..50).map(|i| format!("word {}", i % 9)));
    let names: DictionaryArray<Int8Type> =
        (0..50).map(|i| ["a", "b", "c"].get(i % 4).copied()).collect();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..50).map(|i| (i % 5 != 0).then(|| (0..i % 4).map(Some).collect::<Vec<_>>())),
    );
    let columns: [(&str, ArrayRef); 5] = [
        ("n", Arc::new(numbers)),
        ("f", Arc::new(floats)),
        ("w", Arc::new(words)),
        ("d", Arc::new(names)),
        ("l", Arc::new(lists)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn ipc_options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(compression).unwrap()
}

fn arrow_file(compression: Option<CompressionType>) -> Vec<u8> {
    let (batch, options) = (batch(), ipc_options(compression));
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream() -> Vec<u8> {
    let (batch, options) = (batch(), ipc_options(None));
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn parquet(compression: Compression) -> Vec<u8> {
    let batch = batch();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn drain(path: &Path) -> Result<u64, crate::error::Error> {
    let input = open_selection(path, None, &TextOptions::default(), &Selection::default(), true)?;
    let mut rows = 0;
    for batch in input.batches.take(1_000) {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

fn check(name: &str, bytes: &[u8], rows: u64) {
    let dir: PathBuf = std::env::temp_dir().join(format!("lancet-mutants-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(drain(&path).unwrap(), rows);
    let mut failed = 0;
    for seed in 0..MUTANTS {
        std::fs::write(&path, damaged(bytes, &mut Random(seed))).unwrap();
        failed += usize::from(drain(&path).is_err()); // a panic fails the test
    }
    assert!(failed > 50, "{name}: only {failed} of the mutants were found to be damaged");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn arrow_files() {
    check("plain.arrow", &arrow_file(None), 100);
    check("zstd.arrow", &arrow_file(Some(CompressionType::ZSTD)), 100);
    check("lz4.arrow", &arrow_file(Some(CompressionType::LZ4_FRAME)), 100);
}

#[test]
fn arrow_streams() {
    check("plain.arrows", &arrow_stream(), 100);
}

#[test]
fn parquet_files() {
    check("plain.parquet", &parquet(Compression::UNCOMPRESSED), 50);
    check("snappy.parquet", &parquet(Compression::SNAPPY), 50);
}

#[test]
fn text_files() {
    check("a.csv", b"id,name,at\n1,\"a \"\"b\"\" c\",2024-01-01\n2,,\n", 2);
    let json = b"[{\"a\":1,\"b\":[{\"c\":\"x\\u00e9\"}]},\n{\"a\":null,\"b\":[]}]\n";
    check("a.json", json, 2);
    let gz = {
        use std::io::Write;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(json).unwrap();
        gz.finish().unwrap()
    };
    check("b.json.gz", &gz, 2);
}
