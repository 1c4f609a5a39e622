//! Scans of some rows: sets of them, those of a filter, the first ones; and columns looked up once.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Int64Array, RecordBatch,
    RecordBatchReader, StringArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use lancet::{
    Comparison, Error, FileReader, FileWriter, Filter, OpenFile, ReadOptions, RowRanges, Rows,
    Scan, Span, Version, WriteOptions,
};

use crate::counted::Counted;

const VERSIONS: [Version; 3] = [Version::V2_0, Version::V2_1, Version::V2_2];
const NUM_ROWS: usize = 40_000;

/// Sorted numbers, scattered ones, texts, and a struct that is null now and then (not in 2.0).
fn table(version: Version) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..NUM_ROWS as i64));
    let scattered: Int64Array =
        (0..NUM_ROWS as i64).map(|i| (i % 5 > 0).then_some(i * 7_919 % 10_007)).collect();
    let texts = StringArray::from_iter_values((0..NUM_ROWS).map(|i| format!("text {}", i % 777)));
    let valid = (0..NUM_ROWS).map(|i| version == Version::V2_0 || i % 7 > 0);
    let inner = StructArray::new(
        vec![Field::new("n", DataType::Int64, true), Field::new("t", DataType::Utf8, true)].into(),
        vec![Arc::new(scattered.clone()), Arc::new(texts.clone())],
        Some(NullBuffer::from_iter(valid)),
    );
    let columns: [(&str, ArrayRef); 4] = [
        ("id", ids),
        ("n", Arc::new(scattered)),
        ("text", Arc::new(texts)),
        ("s", Arc::new(inner)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn written(table: &RecordBatch, version: Version) -> Vec<u8> {
    let options = WriteOptions::default().with_version(version).with_page_bytes(64 << 10);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    writer.write(table).unwrap();
    writer.finish_into().unwrap().1
}

fn collected(scan: Scan) -> RecordBatch {
    let batches = scan.build().unwrap();
    let schema = batches.schema();
    let batches = batches.collect::<Result<Vec<_>, _>>().unwrap();
    assert!(batches.iter().all(|batch| batch.num_rows() > 0));
    concat_batches(&schema, &batches).unwrap()
}

fn compare(column: &str, op: Comparison, value: i64) -> Filter {
    Filter::compare(column, op, &Int64Array::new_scalar(value))
}

/// The rows of a table for which a condition holds.
fn kept(table: &RecordBatch, holds: impl Fn(usize) -> bool) -> RecordBatch {
    let mask: BooleanArray = (0..table.num_rows()).map(|row| Some(holds(row))).collect();
    filter_record_batch(table, &mask).unwrap()
}

#[test]
fn sets_of_rows_are_read_in_one_scan() {
    for version in VERSIONS {
        let table = table(version);
        let reader =
            FileReader::from_bytes(written(&table, version), ReadOptions::default()).unwrap();
        let many: RowRanges = (0..400).map(|i| i * 100..i * 100 + 1 + i % 60).collect();
        let sets = [
            RowRanges::new(),
            RowRanges::from(5..6),
            RowRanges::from(0..NUM_ROWS as u64),
            RowRanges::from_iter([39_999..40_000, 0..1, 8_191..8_193]),
            many,
        ];
        for rows in sets {
            let want = kept(&table, |row| rows.contains(row as u64));
            for (batch_rows, threads) in [(8_192, 2), (100, 1), (70, 3), (usize::MAX, 2)] {
                let scan = reader.scan().select(&rows).batch_rows(batch_rows).threads(threads);
                assert_eq!(collected(scan), want, "{version}: {rows:?} by {batch_rows}");
            }
            assert_eq!(reader.read(.., &rows).unwrap(), want, "{version}: {rows:?}");
            // Sets meet in what both have.
            let both = reader.scan().select(&rows).rows(100..20_000);
            let want =
                kept(&table, |row| rows.contains(row as u64) && (100..20_000).contains(&row));
            assert_eq!(collected(both), want, "{version}: {rows:?}");
        }
        let beyond = RowRanges::from_iter([3..4, 39_999..40_001]);
        let error = reader.scan().select(beyond).build().unwrap_err();
        assert!(error.to_string().contains("there are 40000 rows"), "{error}");
    }
}

#[test]
fn filters_are_exact() {
    for version in VERSIONS {
        let table = table(version);
        let reader =
            FileReader::from_bytes(written(&table, version), ReadOptions::default()).unwrap();
        let number = |row: usize| (!row.is_multiple_of(5)).then_some(row as i64 * 7_919 % 10_007);
        let inner =
            |row: usize| number(row).filter(|_| version == Version::V2_0 || !row.is_multiple_of(7));
        type Holds<'a> = Box<dyn Fn(usize) -> bool + 'a>;
        let cases: Vec<(Filter, Holds<'_>)> = vec![
            (compare("id", Comparison::Lt, 10), Box::new(|row| row < 10)),
            (compare("id", Comparison::GtEq, 0), Box::new(|_| true)),
            (compare("id", Comparison::Gt, 1_000_000), Box::new(|_| false)),
            (compare("n", Comparison::Eq, 4_000), Box::new(|row| number(row) == Some(4_000))),
            (
                compare("n", Comparison::Lt, 9_000),
                Box::new(|row| number(row) < Some(9_000) && number(row).is_some()),
            ),
            (!compare("n", Comparison::Lt, 9_000), Box::new(|row| number(row) >= Some(9_000))),
            (
                compare("s.n", Comparison::LtEq, 5),
                Box::new(|row| inner(row).is_some_and(|n| n <= 5)),
            ),
            (Filter::is_null("s.n"), Box::new(|row| inner(row).is_none())),
            (
                Filter::starts_with("s.t", "text 77").and(compare("id", Comparison::Gt, 20_000)),
                Box::new(|row| {
                    let valid = version == Version::V2_0 || !row.is_multiple_of(7);
                    row > 20_000 && valid && format!("{}", row % 777).starts_with("77")
                }),
            ),
        ];
        for (filter, holds) in cases {
            let want = kept(&table, &holds);
            let scan = || reader.scan().filter(filter.clone());
            assert_eq!(collected(scan()), want, "{version}: {filter:?}");
            assert_eq!(collected(scan().batch_rows(1_000).threads(2)), want, "{filter:?}");
            // The columns of the filter need not be asked for, and may be.
            for names in [&["text"][..], &["n", "id"], &["s.t"], &["s"], &["s.n"]] {
                let plain = collected(reader.scan().columns(names));
                let want = kept(&plain, &holds);
                assert_eq!(
                    collected(scan().columns(names)),
                    want,
                    "{version}: {names:?} {filter:?}"
                );
            }
            let none: [&str; 0] = [];
            let batches = scan().columns(none).build().unwrap();
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(rows, want.num_rows(), "{version}: no columns, {filter:?}");
            for limit in [0, 1, 10, 5_000, 1_000_000] {
                let first = want.slice(0, want.num_rows().min(limit));
                assert_eq!(collected(scan().limit(limit as u64)), first, "{limit}: {filter:?}");
            }
            let some = reader.scan().select(100..30_000).filter(filter.clone());
            let want = kept(&table, |row| (100..30_000).contains(&row) && holds(row));
            assert_eq!(collected(some), want, "{version}: {filter:?}");
        }
        let both = reader.scan().filter(compare("id", Comparison::Lt, 100)).filter(compare(
            "n",
            Comparison::Gt,
            5_000,
        ));
        let want = kept(&table, |row| row < 100 && number(row) > Some(5_000));
        assert_eq!(collected(both), want);
    }
}

#[test]
fn a_filter_that_cannot_be_answered_is_refused() {
    let file = written(&table(Version::V2_2), Version::V2_2);
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let refused = |filter: Filter| {
        let batches = reader.scan().filter(filter).build();
        batches.and_then(|mut batches| batches.next_batch().unwrap()).unwrap_err()
    };
    for filter in [
        compare("nn", Comparison::Eq, 1),
        compare("text", Comparison::Eq, 1),
        Filter::starts_with("id", "1"),
        Filter::Unknown,
    ] {
        let error = refused(filter.clone());
        assert!(matches!(error, Error::Invalid(_)), "{filter:?}: {error:?}");
    }
}

#[test]
fn a_filter_reads_little_of_other_columns() {
    let file = written(&table(Version::V2_2), Version::V2_2);
    let source = Arc::new(Counted::new(file));
    let reader = FileReader::from_source(source.clone(), ReadOptions::default()).unwrap();
    let read = |scan: Scan| {
        source.rounds();
        collected(scan);
        source.rounds().iter().flatten().map(Span::len).sum::<u64>()
    };
    let whole = read(reader.scan());
    let found = read(reader.scan().filter(compare("id", Comparison::Eq, 20_000)));
    assert!(found * 8 < whole, "{found} of {whole} bytes");
    let none = read(reader.scan().filter(compare("id", Comparison::Eq, -1)));
    assert_eq!(none, 0, "zone maps know it");
}

#[test]
fn a_limit_reads_no_further() {
    let table = table(Version::V2_2);
    let source = Arc::new(Counted::new(written(&table, Version::V2_2)));
    let reader = FileReader::from_source(source.clone(), ReadOptions::default()).unwrap();
    for limit in [0, 1, 8_192, 10_000, 40_000, 50_000] {
        let want = table.slice(0, table.num_rows().min(limit));
        assert_eq!(collected(reader.scan().limit(limit as u64)), want);
    }
    source.rounds();
    assert_eq!(collected(reader.scan().limit(0)).num_rows(), 0);
    assert!(source.rounds().is_empty());
}

#[test]
fn scans_are_readers_of_arrow() {
    fn all(reader: impl RecordBatchReader) -> Result<RecordBatch, ArrowError> {
        let schema = reader.schema();
        concat_batches(&schema, &reader.collect::<Result<Vec<_>, _>>()?)
    }
    let table = table(Version::V2_2);
    let file = written(&table, Version::V2_2);
    let reader = FileReader::from_bytes(file.clone(), ReadOptions::default()).unwrap();
    assert_eq!(all(reader.scan().build().unwrap()).unwrap(), table);
    // What went wrong is still known behind Arrow's error.
    let options = ReadOptions::default().with_memory_limit(10_000);
    let reader = FileReader::from_bytes(file, options).unwrap();
    let error = all(reader.scan().build().unwrap()).unwrap_err();
    assert!(matches!(error.into(), Error::Limit { option: "memory_limit", .. }));
}

#[test]
fn columns_are_looked_up_once_and_for_one_file() {
    let table = table(Version::V2_2);
    let file = written(&table, Version::V2_2);
    let open = || FileReader::from_bytes(file.clone(), ReadOptions::default()).unwrap();
    let (reader, other) = (open(), open());
    let columns = reader.file().project(["s.t", "id"]).unwrap();
    assert_eq!(columns.schema().fields().len(), 2);
    let taken = reader.take_columns(&[3, 1], &columns).unwrap();
    assert_eq!(taken, reader.take_columns(&[3, 1], ["s.t", "id"]).unwrap());
    assert_eq!(taken, reader.read(&columns, [3, 1]).unwrap());
    assert_eq!(taken.schema(), columns.schema());
    let batches = reader.scan().columns(&columns).rows(0..4).build().unwrap();
    assert_eq!(batches.schema(), columns.schema());
    let strange = other.take_columns(&[3, 1], &columns).unwrap_err();
    assert!(strange.to_string().contains("another file"), "{strange}");
    assert!(other.scan().columns(&columns).build().is_err());
    assert!(other.file().read(&columns, ..).is_err());
}

#[test]
fn requests_that_are_driven_badly_end_with_an_error() {
    let file = lancet::Bytes::from(written(&table(Version::V2_2), Version::V2_2));
    let mut open = OpenFile::open(file.len() as u64, ReadOptions::default());
    assert!(open.supply(Vec::new()).is_err(), "too few");
    let early = OpenFile::open(file.len() as u64, ReadOptions::default());
    assert!(matches!(early.finish(), Err(Error::Invalid(_))));
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let everything = reader.file().everything();
    let early = reader.file().read(everything, Rows::from([5])).unwrap();
    assert!(matches!(early.finish(), Err(Error::Invalid(_))));
    let mut short = reader.file().read(everything, Rows::from([5])).unwrap();
    assert!(!short.spans().is_empty());
    assert!(short.supply(Vec::new()).is_err());
    let mut short = reader.file().global_buffer(0).unwrap();
    assert!(short.supply(vec![lancet::Bytes::new()]).is_err());
    let mut wrong = reader.file().read(everything, ..).unwrap();
    while !wrong.spans().is_empty() {
        let zeros = wrong.spans().iter().map(|span| vec![0; span.len() as usize].into());
        if wrong.supply(zeros.collect()).is_err() {
            break;
        }
    }
    let _ = wrong.finish();
}

#[test]
fn values_without_bytes_are_filtered_too() {
    let nulls = NullBuffer::from_iter((0..1_000).map(|i| i % 3 > 0));
    let empty = |nulls| {
        let array = FixedSizeBinaryArray::try_new_with_len(0, Buffer::default(), nulls, 1_000);
        Arc::new(array.unwrap()) as ArrayRef
    };
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let field = Field::new("empty", DataType::FixedSizeBinary(0), false);
    let inner = StructArray::new(vec![field].into(), vec![empty(None)], None);
    let columns = [
        ("id", ids),
        ("empty", empty(Some(nulls))),
        ("full", empty(None)),
        ("s", Arc::new(inner) as ArrayRef),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let file = written(&table, Version::V2_2);
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    // Arrow's own kernels forget how many values there are, so they are no help here.
    for below in [3, 900] {
        let first = compare("id", Comparison::Lt, below);
        let third = Filter::is_null("empty").and(compare("id", Comparison::Lt, below));
        for (filter, step) in [(first, 1), (third, 3)] {
            let batches = reader.scan().filter(filter).build().unwrap();
            let batches = batches.collect::<Result<Vec<_>, _>>().unwrap();
            let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
            let ids = Int64Array::from_iter_values((0..below).step_by(step));
            assert_eq!(batch["id"].as_ref(), &ids, "{below} by {step}");
            assert_eq!(batch["empty"].null_count(), (below as usize).div_ceil(3));
            let inner = batch["s"].as_struct().column(0);
            assert_eq!((batch["full"].len(), inner.len()), (ids.len(), ids.len()));
        }
    }
}

/// Names with dots may be read in two ways; a filter and a projection read them in the same.
#[test]
fn filters_mean_the_columns_that_the_file_means() {
    let number = |n: i64| Arc::new(Int64Array::from(vec![n; 10])) as ArrayRef;
    let field = |name: &str| Field::new(name, DataType::Int64, false);
    let first = StructArray::new(vec![field("b.c")].into(), vec![number(1)], None);
    let second = StructArray::new(vec![field("c")].into(), vec![number(2)], None);
    let fields = [("a", &first), ("a.b", &second)];
    let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), false));
    let inner =
        StructArray::new(fields.to_vec().into(), vec![Arc::new(first), Arc::new(second)], None);
    let table = RecordBatch::try_from_iter([("s", Arc::new(inner) as ArrayRef)]).unwrap();
    let file = written(&table, Version::V2_2);
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let both = Filter::is_not_null("s.a.b").and(compare("s.a.b.c", Comparison::Eq, 1));
    assert_eq!(collected(reader.scan().filter(both)), table);
}
