//! What callers may rely on beyond the values: errors, unfinished files, metadata, determinism.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions,
    StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use lancet::{Error, FileReader, FileWriter, ReadOptions, Version, WriteOptions};

fn options(version: Version) -> WriteOptions {
    WriteOptions::default().with_version(version)
}

fn table(rows: i64) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let name: ArrayRef = Arc::new(StringArray::from_iter(
        (0..rows).map(|i| (i % 7 != 0).then(|| format!("name {}", i * 7919 % 1000))),
    ));
    let flag: ArrayRef = Arc::new(BooleanArray::from_iter((0..rows).map(|i| Some(i % 3 == 0))));
    let inner = StructArray::from(vec![
        (Arc::new(Field::new("id", DataType::Int64, true)), id.clone()),
        (Arc::new(Field::new("flag", DataType::Boolean, true)), flag.clone()),
    ]);
    let columns = [("id", id), ("name", name), ("flag", flag), ("inner", Arc::new(inner) as _)];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn written(batches: &[RecordBatch], options: WriteOptions) -> Vec<u8> {
    let mut writer = FileWriter::new(Vec::new(), batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish_into().unwrap().1
}

fn opened(bytes: Vec<u8>) -> FileReader {
    FileReader::from_bytes(bytes, ReadOptions::default()).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lancet-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn invalid<T: std::fmt::Debug>(result: lancet::Result<T>) -> String {
    match result.unwrap_err() {
        Error::Invalid(text) => text,
        other => panic!("expected a mistake of the caller, found {other:?}"),
    }
}

#[test]
fn mistakes_of_the_caller_say_what_is_there() {
    let reader = opened(written(&[table(10)], options(Version::V2_2)));
    assert!(invalid(reader.take(&[3, 10])).contains("row 10 is out of range: there are 10 rows"));
    let range = |rows| invalid(reader.scan().rows(rows).build());
    assert!(range(5..11).contains("rows 5..11 are out of range: there are 10 rows"));
    let (start, end) = (6, 5);
    assert_eq!(reader.scan().rows(start..end).build().unwrap().count(), 0);
    assert!(invalid(reader.scan().batch_rows(0).build()).contains("at least one row"));
    assert!(invalid(reader.scan().columns(["nam"]).build()).contains("did you mean `name`"));
    assert!(invalid(reader.global_buffer(9)).contains("does not exist"));
}

#[test]
fn other_files_are_named() {
    let open = |bytes: &'static [u8]| {
        FileReader::from_bytes(bytes, ReadOptions::default()).unwrap_err().to_string()
    };
    let mut parquet = vec![0; 60];
    parquet.extend_from_slice(b"PAR1");
    assert!(open(parquet.leak()).contains("Parquet"));
    assert!(open(b"").contains("not a Lance file"));
    let missing = FileReader::open("no/such/file.lance").unwrap_err().to_string();
    assert!(missing.contains("cannot open no/such/file.lance"), "{missing}");
    let here = FileReader::open(std::env::temp_dir()).unwrap_err().to_string();
    assert!(here.contains("is a folder"), "{here}");
}

#[test]
fn an_unfinished_file_is_not_one() {
    let folder = folder("unfinished");
    let path = folder.join("table.lance");
    std::fs::write(&path, b"what was there before").unwrap();
    let batch = table(1000);
    let mut writer = FileWriter::create(&path, batch.schema(), options(Version::V2_2)).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"what was there before");
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"what was there before");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");

    let mut writer = FileWriter::create(&path, batch.schema(), options(Version::V2_2)).unwrap();
    writer.write(&batch).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!(summary.file_bytes, std::fs::metadata(&path).unwrap().len());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(FileReader::open(&path).unwrap().num_rows(), 1000);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_schema_that_cannot_be_stored_is_refused_before_anything_is_created() {
    let folder = folder("refused");
    let interval = DataType::Interval(arrow_schema::IntervalUnit::DayTime);
    let schema = Arc::new(Schema::new(vec![Field::new("gap", interval, true)]));
    let error = FileWriter::create(folder.join("a.lance"), schema, options(Version::V2_2));
    assert!(matches!(error.unwrap_err(), Error::Unsupported(text) if text.contains("gap")));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn batches_must_fit_the_schema() {
    let batch = table(5);
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), options(Version::V2_2)).unwrap();
    let fewer = batch.project(&[0, 1]).unwrap();
    assert!(invalid(writer.write(&fewer)).contains("2 columns, but the file has 4"));
    let swapped = batch.project(&[1, 0, 2, 3]).unwrap();
    assert!(invalid(writer.write(&swapped)).contains("`name` of type Utf8 where"));
    let field = Field::new("id", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field]));
    let mut writer = FileWriter::new(Vec::new(), schema, options(Version::V2_2)).unwrap();
    let nulls: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let nulls = RecordBatch::try_from_iter([("id", nulls)]).unwrap();
    assert!(invalid(writer.write(&nulls)).contains("`id` is not nullable"));
}

#[test]
fn metadata_and_global_buffers_come_back() {
    for version in [Version::V2_1, Version::V2_2] {
        let metadata = |key: &str| HashMap::from([(key.to_owned(), "värde".to_owned())]);
        let field = Field::new("x", DataType::Int64, true).with_metadata(metadata("field"));
        let schema = Arc::new(Schema::new_with_metadata(vec![field], metadata("schema")));
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_new(schema.clone(), vec![column]).unwrap();
        let mut writer = FileWriter::new(Vec::new(), schema.clone(), options(version)).unwrap();
        assert_eq!(writer.add_global_buffer(b"first").unwrap(), 1);
        writer.write(&batch).unwrap();
        assert_eq!(writer.add_global_buffer(b"").unwrap(), 2);
        let reader = opened(writer.finish_into().unwrap().1);
        assert_eq!(reader.version(), version);
        assert_eq!(reader.schema(), schema);
        assert_eq!(reader.global_buffer(1).unwrap().as_ref(), b"first");
        assert_eq!(reader.global_buffer(2).unwrap().as_ref(), b"");
        assert_eq!(reader.take(&[0, 1, 2]).unwrap(), batch);
    }
}

#[test]
fn files_without_rows_or_columns() {
    for version in [Version::V2_1, Version::V2_2] {
        let reader = opened(written(&[table(0)], options(version)));
        assert_eq!(reader.num_rows(), 0);
        assert_eq!(reader.scan().build().unwrap().count(), 0);
        assert_eq!(reader.take(&[]).unwrap().num_rows(), 0);
        let none = RecordBatch::try_new_with_options(
            Arc::new(Schema::empty()),
            vec![],
            &RecordBatchOptions::new().with_row_count(Some(5)),
        );
        let reader = opened(written(&[none.unwrap()], options(version)));
        assert_eq!(reader.num_rows(), 5);
        assert_eq!(reader.take(&[4, 0]).unwrap().num_rows(), 2);
    }
}

#[test]
fn views_are_stored_as_their_plain_twins() {
    let long = "longer than the twelve bytes that a view holds itself";
    let strings: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a"), None, Some(long)]));
    let bytes: ArrayRef = Arc::new(BinaryViewArray::from(vec![Some(b"a" as &[u8]), None, None]));
    let batch = RecordBatch::try_from_iter([("s", strings), ("b", bytes)]).unwrap();
    let reader = opened(written(&[batch], options(Version::V2_1)));
    let read = reader.take(&[2, 0, 1]).unwrap();
    assert_eq!(
        read.column(0).as_string::<i32>(),
        &StringArray::from(vec![Some(long), Some("a"), None])
    );
    assert_eq!(read.schema().field(1).data_type(), &DataType::Binary);
}

#[test]
fn the_same_rows_give_the_same_bytes_whatever_the_threads() {
    let batches: Vec<RecordBatch> = (0..5).map(|_| table(20_000)).collect();
    let options = options(Version::V2_2).with_page_bytes(100_000);
    let on = |threads| written(&batches, options.clone().with_threads(threads));
    let one = on(1);
    assert_eq!(one, on(4));
    let pages = opened(one).inspect().unwrap().columns[0].pages.len();
    assert!(pages >= 5, "{pages} pages");
}

#[test]
fn slow_columns_do_not_hold_on_to_batches() {
    let options = options(Version::V2_2).with_memory_limit(1 << 20);
    let batches: Vec<RecordBatch> = (0..20).map(|_| table(10_000)).collect();
    let reader = opened(written(&batches, options));
    let report = reader.inspect().unwrap();
    let flags = report.columns.iter().find(|column| column.name == "flag").unwrap();
    assert!(flags.pages.len() > 2, "200,000 bits wait for one page: {}", flags.pages.len());
    let batch = reader.scan().columns(["id"]).rows(150_000..150_003).build().unwrap().next();
    let ids = batch.unwrap().unwrap();
    assert_eq!(ids.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 2]);
}
