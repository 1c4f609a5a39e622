//! What options do to a file, seen from outside.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Schema};
use lancet::{
    ByteStreamSplit, ColumnOptions, Compression, FileReader, FileWriter, Profile, ReadOptions,
    StructuralEncoding, Version, WriteOptions, WriteSummary,
};

const ROWS: i32 = 5000;

fn noise(i: i32) -> i32 {
    i.wrapping_mul(0x9e37_79b9_u32 as i32).rotate_left(13) & 0x3ff
}

/// `n` is small noise, `s` words, `p.a` and `p.b` numbers in a struct.
fn table() -> RecordBatch {
    let n: ArrayRef = Arc::new(Int32Array::from_iter_values((0..ROWS).map(noise)));
    let words = (0..ROWS).map(|i| format!("some word {} and {}", noise(i), noise(i * 7)));
    let s: ArrayRef = Arc::new(StringArray::from_iter_values(words));
    let wide: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i64::from(noise(i)))));
    let field =
        |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let p = StructArray::from(vec![(field("a", &n), n.clone()), (field("b", &wide), wide.clone())]);
    let columns = [("n", n), ("s", s), ("p", Arc::new(p) as ArrayRef)];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(table: &RecordBatch, options: WriteOptions) -> lancet::Result<(WriteSummary, Vec<u8>)> {
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options)?;
    writer.write(table)?;
    writer.finish_into()
}

fn encoding(summary: &WriteSummary, column: &str) -> String {
    let column = summary.columns.iter().find(|c| c.name == column).unwrap();
    format!("{}, {}", column.pages[0].layout, column.pages[0].encoding)
}

/// The table with metadata at `n`.
fn with_metadata(key: &str, value: &str) -> RecordBatch {
    let table = table();
    let mut fields: Vec<_> = table.schema().fields().iter().cloned().collect();
    let marked = fields[0].as_ref().clone();
    fields[0] = Arc::new(marked.with_metadata([(key.into(), value.into())].into()));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), table.columns().to_vec()).unwrap()
}

#[test]
fn columns_follow_their_options() {
    let options = WriteOptions::default()
        .with_column("n", ColumnOptions::default().with_compression(Compression::None))
        .with_column("s", ColumnOptions::default().with_compression(Compression::Fsst))
        .with_column(
            "p",
            ColumnOptions::default()
                .with_bss(ByteStreamSplit::On)
                .with_compression(Compression::Zstd),
        )
        .with_column(
            "p.a",
            ColumnOptions::default().with_structural_encoding(StructuralEncoding::FullZip),
        );
    let (summary, bytes) = write(&table(), options).unwrap();
    assert_eq!(encoding(&summary, "n"), "mini-block, flat 32-bit");
    assert_eq!(encoding(&summary, "s"), "mini-block, fsst over variable (32-bit offsets)");
    assert_eq!(encoding(&summary, "p.a"), "full-zip, flat 32-bit");
    assert_eq!(encoding(&summary, "p.b"), "mini-block, zstd over byte stream split 64-bit");
    let reader = FileReader::from_bytes(bytes, ReadOptions::default()).unwrap();
    let batches = reader.scan().build().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    let got = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_eq!(got, table());
}

#[test]
fn no_compression_leaves_the_dictionary() {
    let mut options = WriteOptions::default()
        .with_column("p.b", ColumnOptions::default().with_compression(Compression::None));
    let (summary, _) = write(&table(), options.clone()).unwrap();
    let with_dictionary = encoding(&summary, "p.b");
    assert!(with_dictionary.contains("dictionary of 1024"), "{with_dictionary}");
    assert!(with_dictionary.ends_with("indices flat 16-bit"), "{with_dictionary}");
    options = options.with_column("p.b", ColumnOptions::default().with_dict_divisor(1000));
    let (summary, _) = write(&table(), options).unwrap();
    assert_eq!(encoding(&summary, "p.b"), "mini-block, flat 64-bit");
}

#[test]
fn metadata_beats_options_and_options_beat_the_profile() {
    let key = "lance-encoding:compression";
    let mut options = WriteOptions::default().with_profile(Profile::Small);
    options.column("n").set("compression", "none").unwrap();
    let (summary, _) = write(&table(), options.clone()).unwrap();
    assert_eq!(encoding(&summary, "n"), "mini-block, flat 32-bit");
    options = options.with_column("n", ColumnOptions::default().with_bss(ByteStreamSplit::On));
    let (summary, _) = write(&with_metadata(key, "lz4"), options).unwrap();
    assert_eq!(encoding(&summary, "n"), "mini-block, lz4 over byte stream split 32-bit");
    let options = WriteOptions::default().with_profile(Profile::Fast);
    let (summary, _) = write(&table(), options).unwrap();
    assert_eq!(encoding(&summary, "n"), "mini-block, bit-packed 32-bit");
}

#[test]
fn wrong_options_are_refused_before_anything_is_written() {
    let refused = |options: WriteOptions, table: &RecordBatch| {
        let error = FileWriter::new(Vec::new(), table.schema(), options).unwrap_err();
        assert!(matches!(error, lancet::Error::Invalid(_)), "{error}");
        error.to_string()
    };
    let options =
        WriteOptions::default().with_column("p.c", ColumnOptions::default().with_level(3));
    assert!(refused(options, &table()).contains("did you mean `p.a` or `p.b`"));
    let options = WriteOptions::default()
        .with_column("s", ColumnOptions::default().with_dict_size_ratio(2.0));
    assert_eq!(
        refused(options, &table()),
        "column `s`: `lance-encoding:dict-size-ratio` cannot be `2`; allowed are numbers above 0, \
         up to 1"
    );
    let marked = with_metadata("lance-encoding:bss", "perhaps");
    assert_eq!(
        refused(WriteOptions::default(), &marked),
        "field `n`: `lance-encoding:bss` cannot be `perhaps`; allowed are off, on, auto"
    );
    let options = WriteOptions::default()
        .with_column("p", ColumnOptions::default().with_packed(true))
        .with_column("p.a", ColumnOptions::default().with_level(3));
    assert!(refused(options, &table()).contains("packed struct"));
    let options =
        WriteOptions::default().with_column("n", ColumnOptions::default().with_packed(true));
    assert!(refused(options, &table()).contains("cannot be packed"));
}

#[test]
fn symbols_are_for_strings() {
    let options = WriteOptions::default()
        .with_column("n", ColumnOptions::default().with_compression(Compression::Fsst));
    let error = write(&table(), options).unwrap_err().to_string();
    assert!(error.starts_with("column `n`: ") && error.contains("none, lz4, zstd"), "{error}");
}

#[test]
fn structs_are_packed_on_request() {
    let options = WriteOptions::default()
        .with_profile(Profile::Fast)
        .with_column("p", ColumnOptions::default().with_packed(true));
    let (summary, bytes) = write(&table(), options).unwrap();
    assert_eq!(encoding(&summary, "p"), "mini-block, packed struct of 2 fields: 32-bit, 64-bit");
    let schema = FileReader::from_bytes(bytes, ReadOptions::default()).unwrap().schema();
    assert_eq!(schema.field(2).metadata()["lance-encoding:packed"], "true");
}

#[test]
fn pages_say_why_they_are_as_they_are() {
    for version in [Version::V2_1, Version::V2_2] {
        let options = WriteOptions::default().with_version(version);
        let (summary, bytes) = write(&table(), options).unwrap();
        assert_eq!(summary.file_bytes, bytes.len() as u64);
        let names: Vec<_> = summary.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["n", "s", "p.a", "p.b"]);
        for page in summary.columns.iter().flat_map(|column| &column.pages) {
            assert_eq!(page.rows, ROWS as u64);
            assert!(page.reason.starts_with("cheapest of "), "{}", page.reason);
            let chosen = page.candidates.iter().find(|c| c.encoding == page.encoding).unwrap();
            let (estimated, real) = (chosen.bytes as f64, page.bytes as f64);
            assert!((0.8..1.25).contains(&(estimated / real)), "{page:?}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for profile in [Profile::Fast, Profile::Balanced, Profile::Small] {
        let options = WriteOptions::default().with_profile(profile);
        let first = write(&table(), options.clone()).unwrap().1;
        assert_eq!(write(&table(), options).unwrap().1, first);
    }
}

#[test]
fn small_is_smaller_than_fast() {
    let size = |profile| {
        let options = WriteOptions::default().with_profile(profile);
        write(&table(), options).unwrap().1.len()
    };
    let [fast, balanced, small] = [Profile::Fast, Profile::Balanced, Profile::Small].map(size);
    assert!(small <= balanced && balanced <= fast, "{fast}, {balanced}, {small}");
}

/// Rows that fill pages of their own: each is all that its page holds, and so the same throughout.
#[test]
fn long_rows_compress_in_every_version() {
    let long = "a row that says little in many words ".repeat(30_000);
    let rows = [long.clone(), long[1..].to_owned(), long.clone(), long.clone(), long];
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(&rows));
    let table = RecordBatch::try_from_iter([("s", texts)]).unwrap();
    for version in [Version::V2_1, Version::V2_2] {
        for page_bytes in [1 << 20, 3 << 20] {
            let options = WriteOptions::default()
                .with_version(version)
                .with_page_bytes(page_bytes)
                .with_profile(Profile::Small);
            let (_, file) = write(&table, options).unwrap();
            assert!(file.len() < 100_000, "{version}, {page_bytes}: {} bytes", file.len());
            let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
            assert_eq!(reader.take(&[0, 1, 2, 3, 4]).unwrap().column(0), table.column(0));
        }
    }
}

#[test]
fn null_type_columns_have_nothing_to_choose() {
    let field = Field::new("n", DataType::Null, true);
    let column: ArrayRef = Arc::new(arrow_array::NullArray::new(10));
    let table = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
    let (summary, _) = write(&table, WriteOptions::default()).unwrap();
    assert_eq!(encoding(&summary, "n"), "constant, all null");
    assert_eq!(summary.columns[0].pages[0].reason, "all values are null");
}
