//! Zone maps in files: written, read, ignored when broken, checked by `verify`.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Datum, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int64Array, ListArray, NullArray, RecordBatch, StringArray,
    StringViewArray, StructArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    types::Int16Type,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use lancet::{
    Comparison, FileReader, FileWriter, Filter, ReadOptions, Span, Version, WriteOptions,
};

use crate::counted::Counted;

const VERSIONS: [Version; 3] = [Version::V2_0, Version::V2_1, Version::V2_2];

fn write(batch: &RecordBatch, set: impl Fn(WriteOptions) -> WriteOptions) -> Vec<u8> {
    let options = set(WriteOptions::default());
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batch.schema(), options).unwrap();
    // Batches that do not end where zones do.
    for start in (0..batch.num_rows()).step_by(5_000) {
        writer.write(&batch.slice(start, 5_000.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish_into().unwrap();
    file
}

fn open(file: &[u8]) -> FileReader {
    FileReader::from_bytes(file.to_vec(), ReadOptions::default()).unwrap()
}

fn scattered(i: u64) -> u64 {
    let spread = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (spread ^ (spread >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

/// Columns of many types; structs are null now and then unless `plain`.
fn table(rows: u64, plain: bool) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let floats: Float32Array = (0..rows)
        .map(|i| {
            (i % 3 > 0).then(|| if i % 9_000 == 4 { f32::NAN } else { (scattered(i) >> 44) as f32 })
        })
        .collect();
    let texts: StringArray = (0..rows)
        .map(|i| {
            (i % 7 > 0).then(|| format!("{:016x}{}", scattered(i), "–".repeat(i as usize % 40)))
        })
        .collect();
    let views: StringViewArray =
        (0..rows).map(|i| Some(format!("view {:x}", scattered(i)))).collect();
    let words: Vec<String> =
        (0..rows).map(|i| format!("word {}", scattered(i / 4_000) % 500)).collect();
    let dictionary: DictionaryArray<Int16Type> = words.iter().map(|w| Some(w.as_str())).collect();
    let flags: BooleanArray = (0..rows).map(|i| Some(i / 10_000 % 2 == 0)).collect();
    let times =
        TimestampMicrosecondArray::from_iter_values((0..rows).map(|i| scattered(i) as i64 >> 8))
            .with_timezone("UTC");
    let fields = vec![
        Arc::new(Field::new("t", DataType::Utf8, true)),
        Arc::new(Field::new("at", times.data_type().clone(), true)),
    ];
    let nulls: Option<NullBuffer> = (!plain).then(|| {
        (0..rows).map(|i| i % 5 > 0 && !(8_192..16_384).contains(&i)).collect::<Vec<bool>>().into()
    });
    let inner = StructArray::new(fields.into(), vec![Arc::new(texts), Arc::new(times)], nulls);
    let fields = vec![Arc::new(Field::new("inner", inner.data_type().clone(), true))];
    let outer = StructArray::new(fields.into(), vec![Arc::new(inner)], None);
    RecordBatch::try_from_iter([
        ("id", ids),
        ("f", Arc::new(floats)),
        ("v", Arc::new(views)),
        ("d", Arc::new(dictionary)),
        ("b", Arc::new(flags)),
        ("s", Arc::new(outer)),
    ])
    .unwrap()
}

const COLUMNS: [&str; 7] = ["id", "f", "v", "d", "b", "s.inner.t", "s.inner.at"];

#[test]
fn every_column_has_a_map_that_holds() {
    for version in VERSIONS {
        let batch = table(30_000, version == Version::V2_0);
        let file = write(&batch, |options| options.with_version(version));
        let reader = open(&file);
        let found = reader.verify().unwrap();
        assert!(found.problems.is_empty(), "{version}: {:?}", found.problems);
        let maps = reader.zone_maps(COLUMNS).unwrap();
        assert_eq!(found.num_zone_maps, 7, "{version}");
        for (name, map) in COLUMNS.iter().zip(&maps) {
            let map = map.as_ref().unwrap_or_else(|| panic!("{version}: {name} has no map"));
            assert_eq!(
                (map.num_zones(), map.rows_per_zone(), map.rows(3)),
                (4, 8192, 24_576..30_000)
            );
        }
        let id = maps[0].as_ref().unwrap().statistics();
        assert_eq!(id.min.unwrap().as_primitive::<Int64Type>().value(0), 0);
        assert_eq!(id.max.unwrap().as_primitive::<Int64Type>().value(0), 29_999);
        let text = maps[5].as_ref().unwrap();
        assert!((0..4).any(|zone| !text.is_exact(zone)));
        let nulls = if version == Version::V2_0 { 1170 } else { 8192 };
        assert_eq!(text.null_counts().value(1), nulls, "{version}");
        assert_eq!(text.min().is_null(1), version != Version::V2_0);
        // Written again the file is the same.
        assert!(write(&batch, |options| options.with_version(version)) == file);
    }
}

/// The rows whose `id` is in the ranges, and for which the filter holds.
#[test]
fn filters_leave_out_rows() {
    for version in VERSIONS {
        let batch = table(30_000, version == Version::V2_0);
        let reader = open(&write(&batch, |options| options.with_version(version)));
        let id = |op, n: i64| Filter::compare("id", op, &Int64Array::new_scalar(n));
        assert_eq!(reader.prune(&id(Comparison::Eq, 9_000)).unwrap().ranges(), [8_192..16_384]);
        assert_eq!(reader.prune(&id(Comparison::GtEq, 25_000)).unwrap().ranges(), [24_576..30_000]);
        assert_eq!(reader.prune(&id(Comparison::Lt, 0)).unwrap().ranges(), []);
        let edges = id(Comparison::Lt, 5).or(id(Comparison::Gt, 29_000));
        assert_eq!(reader.prune(&edges).unwrap().ranges(), [0..8_192, 24_576..30_000]);
        let above = Filter::compare("s.inner.t", Comparison::Gt, &StringArray::new_scalar("g"));
        assert_eq!(reader.prune(&above).unwrap().count(), 0);
        assert_eq!(reader.prune(&Filter::is_null("f")).unwrap().count(), 30_000);
        assert_eq!(reader.prune(&Filter::is_null("d")).unwrap().count(), 0);
        let all = [0..30_000];
        assert_eq!(reader.prune(&Filter::is_null("s")).unwrap().ranges(), all);
        assert_eq!(reader.prune(&Filter::Unknown).unwrap().ranges(), all);
        assert!(reader.zone_maps(["unknown"]).is_err());
        assert!(reader.zone_maps(["s"]).unwrap()[0].is_none());
    }
}

#[test]
fn a_filter_that_does_not_fit_is_an_error() {
    let reader = open(&write(&table(30_000, true), |options| options));
    let refused = |filter: Filter| match reader.prune(&filter) {
        Err(lancet::Error::Invalid(message)) => message,
        other => panic!("{filter:?}: {other:?}"),
    };
    let eq = |column: &str, value: &dyn Datum| Filter::compare(column, Comparison::Eq, value);
    assert_eq!(refused(Filter::is_null("ids")), "there is no field `ids`; did you mean `id`?");
    assert_eq!(
        refused(!eq("id", &StringArray::new_scalar("7")).or(Filter::Unknown)),
        "column `id` is of type Int64 and does not compare with a value of type Utf8; give a value of \
         type Int64"
    );
    assert_eq!(
        refused(eq("id", &Int64Array::from(vec![1, 2]))),
        "column `id` is compared with 2 values; give one, or use `in_list`"
    );
    // Casts that may round, change the day, or turn text into bytes.
    let (naive, double) = (TimestampMicrosecondArray::new_scalar(0), Float64Array::new_scalar(0.1));
    for filter in [
        eq("f", &double),
        eq("id", &double),
        eq("f", &Int64Array::new_scalar(1)),
        eq("b", &Int64Array::new_scalar(1)),
        eq("v", &BinaryArray::new_scalar(b"x")),
        eq("s.inner.at", &naive),
        eq("s", &Int64Array::new_scalar(1)),
        Filter::in_list("d", Arc::new(Int64Array::from(vec![1]))),
        Filter::starts_with("id", "1"),
        Filter::is_true("id"),
    ] {
        assert!(refused(filter).contains(" is of type "));
    }
    // What compares without a cast.
    let seconds = TimestampSecondArray::from(vec![0]).with_timezone("+01:00");
    for filter in [
        eq("id", &UInt64Array::new_scalar(7)),
        eq("id", &Decimal128Array::new_scalar(700)),
        eq("id", &NullArray::new(1)),
        eq("v", &StringArray::new_scalar("x")),
        eq("d", &StringViewArray::new_scalar("x")),
        eq("f", &Float32Array::new_scalar(1.0)),
        eq("s.inner.at", &seconds),
        Filter::in_list("d", Arc::new(StringArray::from(vec!["x", "y"]))),
        Filter::starts_with("d", "word"),
        Filter::is_true("b"),
        Filter::is_null("s.inner"),
    ] {
        reader.prune(&filter).unwrap();
    }
}

#[test]
fn a_filter_does_not_look_into_lists() {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1), Some(2)])]);
    let batch = RecordBatch::try_from_iter([("l", Arc::new(lists) as ArrayRef)]).unwrap();
    let reader = open(&write(&batch, |options| options));
    let error = reader.prune(&Filter::is_null("l.item")).unwrap_err();
    assert!(error.to_string().starts_with("`l.item` is inside a list"), "{error}");
    assert_eq!(reader.prune(&Filter::is_null("l")).unwrap().ranges(), [0..1]);
}

#[test]
fn pruning_can_be_turned_off() {
    let file = write(&table(30_000, true), |options| options);
    let options = ReadOptions::default().with_zone_maps(false);
    let reader = FileReader::from_bytes(file, options).unwrap();
    let none = Filter::compare("id", Comparison::Lt, &Int64Array::new_scalar(0));
    assert_eq!(reader.prune(&none).unwrap().ranges(), [0..30_000]);
    assert!(reader.zone_maps(["id"]).unwrap()[0].is_none());
    let bare = write(&table(30_000, true), |options| options.with_zone_maps(false));
    assert_eq!(open(&bare).verify().unwrap().num_zone_maps, 0);
}

#[test]
fn maps_are_read_once_and_together() {
    let source = Counted::new(write(&table(30_000, true), |options| options.with_checksums(false)));
    let reader = source.open();
    source.rounds();
    let filter = Filter::is_null("f").and(Filter::is_null("id"));
    reader.prune(&filter).unwrap();
    let rounds = source.rounds();
    assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [2], "{rounds:?}");
    reader.prune(&filter).unwrap();
    assert_eq!(source.rounds(), Vec::<Vec<Span>>::new());
}

#[test]
fn small_files_get_no_maps() {
    let file = write(&table(300, true), |options| options);
    assert!(open(&file).zone_maps(COLUMNS).unwrap().iter().all(Option::is_none));
    let with = write(&table(100_000, true), |options| options).len() as f64;
    let without =
        write(&table(100_000, true), |options| options.with_zone_maps(false)).len() as f64;
    assert!(with < without * 1.02, "{with} and {without}");
}

/// A file of one column with a map of one zone, and where the map is.
fn one_zone(column: ArrayRef, version: Version) -> (Vec<u8>, Range<usize>) {
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    let file = write(&batch, |options| options.with_version(version).with_checksums(false));
    let map = open(&file).inspect().unwrap().columns[0].zone_map.clone().unwrap();
    let start = map.position as usize;
    (file, start..start + map.bytes as usize)
}

fn numbers() -> ArrayRef {
    // From 1000 on, so that a lower bound of 0 is a lie.
    Arc::new(UInt64Array::from_iter_values((0..8_000).map(|i| (scattered(i) >> 1).max(1000))))
}

#[test]
fn broken_maps_are_ignored_and_told() {
    for version in VERSIONS {
        let (file, map) = one_zone(numbers(), version);
        let strings: ArrayRef = Arc::new(StringArray::from_iter_values(
            (0..8_000).map(|i| format!("{:x}", scattered(i))),
        ));
        let (texts, text_map) = one_zone(strings, version);
        let footer = map.end - 40;
        let at = |bytes: &[u8], from: &[u8]| {
            bytes.windows(from.len()).position(|window| window == from).unwrap()
        };
        let metadata = at(&file[map.end..], &[0x08, 0x80, 0x40, 0x12]) + map.end;
        let first = at(&file[map.clone()], b"ArrayEncoding") + map.start;
        let length = file[..first].windows(2).rposition(|w| w == [0x18, 1]).unwrap();
        let broken: Vec<(&[u8], usize, Vec<u8>, &str)> = vec![
            (&file, map.end - 1, b"X".to_vec(), "magic"),
            (&file, footer + 32, vec![2, 0, 1, 0], "version"),
            (&file, footer + 28, vec![2, 0, 0, 0], "columns"),
            (&file, footer, vec![0xff; 8], "metadata start"),
            (&file, footer - 16, vec![0xff; 8], "a column"),
            // min, max, null_count, nan_count, exact: 8, 8, 4, 4, 1 bytes.
            (&file, map.start, vec![0xff; 8], "min above max"),
            (&file, map.start + 16, vec![0xff; 4], "nulls"),
            (&file, map.start + 16, vec![0x40, 0x1f, 0, 0], "all null with bounds"),
            (&file, map.start + 20, vec![1, 0, 0, 0], "NaNs of integers"),
            (&file, length + 1, vec![2], "another number of zones"),
            (&file, metadata + 1, vec![0x80, 0x20], "rows a zone"),
            (&texts, at(&texts[text_map.clone()], b"0") + text_map.start, vec![0xff], "UTF-8"),
        ];
        for (file, at, bytes, what) in broken {
            let mut file = file.to_vec();
            file[at..at + bytes.len()].copy_from_slice(&bytes);
            let reader = open(&file);
            assert!(reader.zone_maps(["c"]).unwrap()[0].is_none(), "{version}: {what}");
            assert_eq!(
                reader.prune(&Filter::is_null("c")).unwrap().ranges(),
                [0..8_000],
                "{version}: {what}"
            );
            let found = reader.verify().unwrap();
            assert_eq!(found.problems.len(), 1, "{version}: {what}: {:?}", found.problems);
            assert_eq!(found.problems[0].column, Some(0));
            assert_eq!(
                reader.scan().build().unwrap().map(|b| b.unwrap().num_rows()).sum::<usize>(),
                8_000
            );
        }
    }
}

#[test]
fn lies_are_found() {
    for version in VERSIONS {
        let (file, map) = one_zone(numbers(), version);
        for (at, bytes, rule) in [
            (map.start, vec![0; 8], "outside its bounds"),
            (map.start + 16, vec![1], "counts 1 nulls instead of 0"),
        ] {
            let mut file = file.clone();
            file[at..at + bytes.len()].copy_from_slice(&bytes);
            let found = open(&file).verify().unwrap();
            assert!(found.problems[0].rule.contains(rule), "{version}: {:?}", found.problems);
        }
    }
}

#[test]
fn no_changed_bit_does_harm() {
    for version in [Version::V2_0, Version::V2_2] {
        let (file, map) = one_zone(numbers(), version);
        let filter = Filter::compare("c", Comparison::Gt, &UInt64Array::new_scalar(1 << 60));
        let all = open(&file).scan().build().unwrap().next().unwrap().unwrap();
        // The map, and the metadata of the file behind it.
        for at in map.start..file.len() {
            for bit in 0..8 {
                let mut file = file.clone();
                file[at] ^= 1 << bit;
                let Ok(reader) = FileReader::from_bytes(file, ReadOptions::default()) else {
                    continue;
                };
                let _ = reader.prune(&filter);
                if map.contains(&at) && bit == at % 8 {
                    assert_eq!(reader.take(&[0, 7_999]).unwrap().slice(0, 1), all.slice(0, 1));
                    reader.verify().unwrap();
                }
            }
        }
    }
}

#[test]
fn checksums_cover_maps() {
    let batch = RecordBatch::try_from_iter([("c", numbers())]).unwrap();
    let mut file = write(&batch, |options| options);
    let map = open(&file).inspect().unwrap().columns[0].zone_map.clone().unwrap();
    // A bit that the map itself does not miss: of a lower bound.
    file[map.position as usize] ^= 1;
    let options = ReadOptions::default().with_verify_checksums(true);
    let reader = FileReader::from_bytes(file, options).unwrap();
    assert!(reader.zone_maps(["c"]).is_err());
    let found = reader.verify().unwrap();
    assert!(found.problems.iter().any(|problem| problem.rule.contains("checksum")));
}
