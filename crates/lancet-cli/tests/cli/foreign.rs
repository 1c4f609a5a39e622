//! Files of other programs, sound and damaged: right rows, or one line that says what is wrong.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, Date64Array, DictionaryArray, Int32Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, StructArray, Time32SecondArray, TimestampSecondArray,
};
use arrow_ipc::{
    Endianness, Field, FieldArgs, Int, IntArgs, Message, MessageArgs, MessageHeader,
    MetadataVersion, Schema, SchemaArgs, Type,
};
use arrow_schema::{DataType, Schema as ArrowSchema};
use lancet::{FileWriter, WriteOptions};
use parquet::arrow::ArrowWriter;
use parquet::basic::{LogicalType, TimeUnit};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::lancet::Dir;

/// An Arrow stream of one integer column and no rows.
fn stream(endianness: Endianness, bits: i32) -> Vec<u8> {
    let mut builder = flatbuffers::FlatBufferBuilder::new();
    let int = Int::create(&mut builder, &IntArgs { bitWidth: bits, is_signed: true });
    let name = builder.create_string("n");
    let field = Field::create(
        &mut builder,
        &FieldArgs {
            name: Some(name),
            type_type: Type::Int,
            type_: Some(int.as_union_value()),
            ..FieldArgs::default()
        },
    );
    let fields = builder.create_vector(&[field]);
    let schema = Schema::create(
        &mut builder,
        &SchemaArgs { endianness, fields: Some(fields), ..SchemaArgs::default() },
    );
    let message = Message::create(
        &mut builder,
        &MessageArgs {
            version: MetadataVersion::V5,
            header_type: MessageHeader::Schema,
            header: Some(schema.as_union_value()),
            ..MessageArgs::default()
        },
    );
    builder.finish(message, None);
    let message = builder.finished_data();
    let padded = message.len().next_multiple_of(8);
    let mut bytes = vec![0xFF; 4];
    bytes.extend((padded as u32).to_le_bytes());
    bytes.extend(message);
    bytes.resize(8 + padded, 0);
    bytes.extend([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
    bytes
}

fn write_lance(dir: &Dir, name: &str, batch: &RecordBatch) {
    let mut writer =
        FileWriter::create(dir.path(name), batch.schema(), WriteOptions::default()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

fn write_arrow(dir: &Dir, name: &str, batch: &RecordBatch) {
    let file = File::create(dir.path(name)).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn big_endian_streams_are_refused() {
    let dir = Dir::new("foreign-endian");
    dir.write("a.arrows", stream(Endianness::Big, 32));
    let message = dir.lancet("cat a.arrows").failed();
    assert!(
        message.starts_with("a.arrows: is big-endian, which lancet does not read"),
        "{message}"
    );
    dir.write("a.arrows", stream(Endianness::Little, 32));
    assert_eq!(dir.lancet("cat a.arrows --format csv").ok(), "n\n");
}

#[test]
fn unknown_types_are_an_error_and_no_crash() {
    let dir = Dir::new("foreign-int128");
    dir.write("a.arrows", stream(Endianness::Little, 128));
    for command in ["cat a.arrows", "schema a.arrows", "convert a.arrows b.lance"] {
        let message = dir.lancet(command).failed();
        let expected =
            "a.arrows: the file is damaged, or holds something that lancet does not know (";
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(dir.files(), ["a.arrows"]);
}

/// A stream may replace its dictionaries, and so hold more values than its keys can number.
#[test]
fn more_values_than_keys_are_refused() {
    let dir = Dir::new("foreign-keys");
    let batch = |start: i64| {
        let words = StringArray::from_iter_values((start..start + 100).map(|i| i.to_string()));
        let keys = arrow_array::Int8Array::from_iter_values(0..100);
        let column: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(words)));
        RecordBatch::try_from_iter([("word", column)]).unwrap()
    };
    let file = File::create(dir.path("a.arrows")).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch(0).schema()).unwrap();
    for start in [0, 100, 200] {
        writer.write(&batch(start)).unwrap();
    }
    writer.finish().unwrap();
    for version in ["2.0", "2.1", "2.2"] {
        let command = format!("convert a.arrows b.lance --format-version {version}");
        let message = dir.lancet(&command).failed();
        let expected = "b.lance: column `word` has more than 128 different values";
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(dir.files(), ["a.arrows"], "{version}");
    }
}

#[test]
fn sizes_that_no_file_has_are_refused() {
    let dir = Dir::new("foreign-sizes");
    let batch =
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![7; 100])) as ArrayRef)]);
    let batch = batch.unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    dir.write("cut.arrows", &bytes[..bytes.len() - 100]);
    let message = dir.lancet("cat cut.arrows").failed();
    assert!(message.ends_with("it is damaged or cut off"), "{message}");
    // A message of 2 GiB in a file of a few bytes.
    dir.write("huge.arrows", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0]);
    let message = dir.lancet("cat huge.arrows").failed();
    assert!(message.contains("a message has 2147483647 bytes"), "{message}");
}

#[test]
fn footers_and_row_groups_have_to_agree() {
    let dir = Dir::new("foreign-rows");
    let batch =
        RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from_iter(0..6)) as ArrayRef)]);
    let batch = batch.unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    // The number of rows as the third field of the footer, and the row groups behind it.
    let six = bytes.windows(3).rposition(|window| window == [0x16, 12, 0x19]).unwrap();
    for (said, coded) in [(0, 0), (7, 14), (5, 10)] {
        let mut bytes = bytes.clone();
        bytes[six + 1] = coded;
        dir.write("a.parquet", &bytes);
        let expected = format!(
            "a.parquet: the footer says {said} rows, but the row groups have 6; the file is damaged"
        );
        assert_eq!(dir.lancet("cat a.parquet").failed(), expected);
    }
    // Both agree, but the pages have fewer.
    let group = bytes.windows(2).rposition(|window| window == [0x16, 12]).unwrap();
    assert_ne!(group, six);
    let mut bytes = bytes;
    (bytes[six + 1], bytes[group + 1]) = (14, 14);
    dir.write("a.parquet", &bytes);
    let message = dir.lancet("convert a.parquet b.lance").failed();
    assert!(message.starts_with("a.parquet: "), "{message}");
    assert_eq!(dir.files(), ["a.parquet"]);
}

/// Dictionaries without values where rows are few: in lists, structs, maps, and with nulls only.
fn dictionaries() -> RecordBatch {
    let values = || StringDictionaryBuilder::<Int8Type>::new();
    let mut list = ListBuilder::new(values());
    let mut lists = ListBuilder::new(ListBuilder::new(values()));
    let mut map = MapBuilder::new(None, StringBuilder::new(), values());
    for row in 0..3 {
        if row == 1 {
            list.values().append_value("a");
            list.values().append_value("a");
            lists.values().values().append_value("b");
            lists.values().append(true);
            map.keys().append_value("k");
            map.values().append_value("c");
        }
        list.append(true);
        lists.append(row != 2);
        map.append(true).unwrap();
    }
    let nulls: DictionaryArray<Int8Type> = [None::<&str>; 3].into_iter().collect();
    let some: DictionaryArray<Int8Type> = [None, Some("d"), Some("e")].into_iter().collect();
    let field = Arc::new(arrow_schema::Field::new("d", some.data_type().clone(), true));
    let inner = StructArray::from(vec![(field, Arc::new(some) as ArrayRef)]);
    RecordBatch::try_from_iter([
        ("list", Arc::new(list.finish()) as ArrayRef),
        ("lists", Arc::new(lists.finish()) as ArrayRef),
        ("map", Arc::new(map.finish()) as ArrayRef),
        ("nulls", Arc::new(nulls) as ArrayRef),
        ("struct", Arc::new(inner) as ArrayRef),
    ])
    .unwrap()
}

#[test]
fn dictionaries_without_values_are_written() {
    let dir = Dir::new("foreign-dictionaries");
    write_lance(&dir, "a.lance", &dictionaries());
    for rows in ["0", "1", "2", "0,1,2,0"] {
        let expected = dir.lancet(&format!("take a.lance --rows {rows} --format jsonl")).ok();
        for ending in ["arrow", "arrows", "parquet"] {
            dir.lancet(&format!("take a.lance --rows {rows} -o b.{ending}")).ok();
            let seen = dir.lancet(&format!("cat b.{ending} --format jsonl")).ok();
            assert_eq!(seen, expected, "{rows} {ending}");
        }
    }
    dir.lancet("cat a.lance --rows 0..0 -o b.arrow").ok();
    assert_eq!(dir.lancet("cat b.arrow --format jsonl").ok(), "");
    // Several batches, the first of which has no values.
    write_arrow(&dir, "c.arrow", &dictionaries());
    dir.lancet("convert c.arrow d.arrow").ok();
    let rows = dir.lancet("cat c.arrow --format jsonl").ok();
    assert_eq!(dir.lancet("cat d.arrow --format jsonl").ok(), rows);
}

#[test]
fn parquet_has_the_types_that_others_know() {
    let dir = Dir::new("foreign-parquet-types");
    let times = TimestampSecondArray::from(vec![Some(1_714_557_600), None]);
    let zoned = times.clone().with_timezone("UTC");
    let clock = Time32SecondArray::from(vec![3_600, 1]);
    let dates = Date64Array::from(vec![86_400_000, 0]);
    let batch = RecordBatch::try_from_iter([
        ("t", Arc::new(times) as ArrayRef),
        ("z", Arc::new(zoned) as ArrayRef),
        ("c", Arc::new(clock) as ArrayRef),
        ("d", Arc::new(dates) as ArrayRef),
    ])
    .unwrap();
    write_lance(&dir, "a.lance", &batch);
    dir.lancet("convert a.lance b.parquet").ok();
    let reader = SerializedFileReader::new(File::open(dir.path("b.parquet")).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let logical: Vec<_> =
        schema.columns().iter().map(|column| column.logical_type_ref().cloned().unwrap()).collect();
    assert_eq!(
        logical,
        [
            LogicalType::timestamp(false, TimeUnit::MILLIS),
            LogicalType::timestamp(true, TimeUnit::MILLIS),
            LogicalType::time(false, TimeUnit::MILLIS),
            LogicalType::Date,
        ]
    );
    let expected = "t,z,c,d\n2024-05-01T10:00:00,2024-05-01T10:00:00Z,01:00:00,1970-01-02\n,,00:00:01,1970-01-01\n";
    assert_eq!(dir.lancet("cat b.parquet --format csv").ok(), expected);
}

#[test]
fn times_of_zones_are_converted_and_printed() {
    let dir = Dir::new("foreign-zones");
    let times = TimestampSecondArray::from(vec![0]).with_timezone("Europe/Zurich");
    let batch = RecordBatch::try_from_iter([("at", Arc::new(times) as ArrayRef)]).unwrap();
    write_arrow(&dir, "a.arrow", &batch);
    for ending in ["lance", "parquet", "arrows"] {
        let ran = dir.lancet(&format!("convert a.arrow b.{ending} --quiet"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ending}");
        let schema = dir.lancet(&format!("schema b.{ending}")).ok();
        assert!(schema.contains("\"Europe/Zurich\""), "{schema}");
    }
    let ran = dir.lancet("convert a.arrow b.csv --quiet");
    assert_eq!(ran.stderr, "warning: column `at`: times of `Europe/Zurich` are written in UTC\n");
    assert_eq!(dir.read("b.csv"), "at\n1970-01-01T00:00:00Z\n");
    assert!(dir.lancet("cat a.arrow").ok().contains("1970-01-01T01:00:00+01:00"));
}

#[test]
fn rows_without_columns() {
    let dir = Dir::new("foreign-no-columns");
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let schema = Arc::new(ArrowSchema::empty());
    let batch = RecordBatch::try_new_with_options(schema, Vec::new(), &options).unwrap();
    write_arrow(&dir, "a.arrow", &batch);
    for ending in ["arrow", "arrows", "jsonl"] {
        dir.lancet(&format!("convert a.arrow b.{ending}")).ok();
        assert_eq!(
            dir.lancet(&format!("cat b.{ending} --format jsonl")).ok(),
            "{}\n".repeat(3),
            "{ending}"
        );
    }
}

#[test]
fn texts_of_any_width_are_written() {
    let dir = Dir::new("foreign-texts");
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some("x")]));
    let views = arrow_cast::cast(&words, &DataType::Utf8View).unwrap();
    let large = arrow_cast::cast(&words, &DataType::LargeUtf8).unwrap();
    let batch = RecordBatch::try_from_iter([("w", words), ("v", views), ("l", large)]).unwrap();
    write_arrow(&dir, "a.arrow", &batch);
    dir.lancet("convert a.arrow b.csv").ok();
    assert_eq!(dir.read("b.csv"), "w,v,l\n\"\",\"\",\"\"\n,,\nx,x,x\n");
}

/// A device never ends, whatever it is taken for.
#[cfg(unix)]
#[test]
fn devices_end_with_an_error() {
    let dir = Dir::new("foreign-devices");
    for device in ["/dev/zero", "/dev/urandom"] {
        for format in ["csv", "tsv", "json", "jsonl", "arrow", "arrows", "parquet", "lance"] {
            let message = dir.lancet(&format!("convert {device} out.csv --from {format}")).failed();
            assert!(message.starts_with(device), "{format}: {message}");
        }
        for command in ["inspect", "stats", "take --rows 0"] {
            assert!(dir.lancet(&format!("{command} {device}")).failed().starts_with(device));
        }
        assert_eq!(dir.lancet(&format!("verify {device}")).code, 1);
    }
    assert!(dir.lancet("row-ids /dev/zero").failed().contains("is a device"));
    assert!(dir.files().is_empty());
}

#[test]
fn a_schema_without_end_does_not_fill_the_stack() {
    let dir = Dir::new("foreign-deep");
    // A footer: version 1, a list of a root, 100,000 groups within each other and a leaf, no rows, no row groups.
    let group = [0x35, 2, 0x18, 1, b'a', 0x15, 2, 0];
    let mut footer = vec![0x15, 2, 0x19, 0xFC, 0xA2, 0x8D, 0x06];
    footer.extend([0x48, 1, b'r', 0x15, 2, 0]);
    (0..100_000).for_each(|_| footer.extend(group));
    footer.extend([0x15, 2, 0x25, 2, 0x18, 1, b'x', 0]);
    footer.extend([0x16, 0, 0x19, 0x0C, 0]);
    let len = (footer.len() as u32).to_le_bytes();
    dir.write("deep.parquet", [b"PAR1", &footer[..], &len, b"PAR1"].concat());
    for command in ["schema", "cat"] {
        let message = dir.lancet(&format!("{command} deep.parquet")).failed();
        assert_eq!(message, "deep.parquet: the schema nests deeper than 256 levels");
    }
    #[cfg(feature = "sql")]
    for query in ["SELECT * FROM 'deep.parquet'", "SELECT * FROM '*.parquet'"] {
        let ran = dir.command("sql").arg(query).output().unwrap();
        let message = crate::lancet::Ran::new(query, ran).failed();
        assert!(message.ends_with("the schema nests deeper than 256 levels"), "{message}");
    }
}
