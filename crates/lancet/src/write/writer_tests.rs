use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};

use super::*;
use crate::write::test_plans::refused;

const VERSIONS: [Version; 3] = [Version::V2_0, Version::V2_1, Version::V2_2];

/// Numbers that hardly compress, and texts of about 100 bytes.
fn batch(start: i64, rows: i64) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("n", DataType::Int64, false),
        Field::new("text", DataType::Utf8, true),
    ]);
    let number = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    let numbers = Int64Array::from_iter_values((start..start + rows).map(number));
    let texts =
        (start..start + rows).map(|i| (i % 7 > 0).then(|| format!("{:x}", number(i)).repeat(6)));
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(texts.collect::<StringArray>())];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn written(batches: &[RecordBatch], options: WriteOptions) -> (WriteSummary, Vec<u8>) {
    let mut writer = FileWriter::new(Vec::new(), batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish_into().unwrap()
}

fn rows(summary: &WriteSummary) -> Vec<Vec<u64>> {
    let rows = |column: &ColumnSummary| column.pages.iter().map(|page| page.rows).collect();
    summary.columns.iter().map(rows).collect()
}

#[test]
fn each_column_cuts_its_own_pages() {
    let batches: Vec<_> = (0..8).map(|i| batch(i * 100, 100)).collect();
    for version in VERSIONS {
        let options = WriteOptions::default().with_version(version).with_page_bytes(3000);
        let (summary, _) = written(&batches, options);
        let pages = rows(&summary);
        // Numbers: 800 bytes a batch, so the fourth fills a page, which 2.0 cuts in two because it is
        // more than full. Texts fill more than one a batch.
        let numbers = if version == Version::V2_0 { vec![200; 4] } else { vec![400; 2] };
        assert_eq!(pages[0], numbers, "{version}");
        assert!(pages[1].len() > 8, "{version}: {:?}", pages[1]);
        assert!(pages.iter().all(|column| column.iter().sum::<u64>() == 800));
        assert_eq!(summary.num_pages, (pages[0].len() + pages[1].len()) as u64);
    }
}

#[test]
fn slow_columns_are_cut_early() {
    let batches: Vec<_> = (0..8).map(|i| batch(i * 100, 100)).collect();
    for version in VERSIONS {
        let options = || WriteOptions::default().with_version(version);
        let (summary, _) = written(&batches, options());
        assert_eq!(rows(&summary), [[800], [800]], "{version}");
        // Some 10 KB of batches may wait: that is one batch or two.
        let (summary, _) = written(&batches, options().with_memory_limit(30_000));
        let pages = rows(&summary);
        assert!(pages[0].len() > 2 && pages[0].len() < 8, "{version}: {pages:?}");
        assert!(pages.iter().all(|column| column.iter().sum::<u64>() == 800));
    }
}

#[test]
fn after_an_error_in_the_middle_nothing_is_written() {
    let entries: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let keys = |first: usize| {
        let texts = entries.iter().map(|text| format!("{first} {text}"));
        let array: DictionaryArray<Int8Type> =
            texts.collect::<Vec<_>>().iter().map(String::as_str).collect();
        let columns = [("n", Arc::new(Int32Array::from(vec![1; 100])) as ArrayRef)];
        let columns = columns.into_iter().chain([("d", Arc::new(array) as ArrayRef)]);
        RecordBatch::try_from_iter(columns).unwrap()
    };
    for version in VERSIONS {
        let options = WriteOptions::default().with_version(version).with_page_bytes(1);
        let mut writer = FileWriter::new(Vec::new(), keys(0).schema(), options).unwrap();
        writer.write(&keys(0)).unwrap();
        assert!(refused(writer.write(&keys(1))).contains("different values"), "{version}");
        let given_up = "the file was given up when rows could not be written";
        assert_eq!(refused(writer.write(&keys(0))), given_up);
        assert_eq!(refused(writer.finish_into()), given_up);
    }
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let batches: Vec<_> = (0..8).map(|i| batch(i * 1000, 1000)).collect();
    for version in VERSIONS {
        let options = || WriteOptions::default().with_version(version).with_page_bytes(30_000);
        let (_, one) = written(&batches, options().with_threads(1));
        assert_eq!(written(&batches, options().with_threads(1)).1, one, "{version}");
        assert_eq!(written(&batches, options().with_threads(4)).1, one, "{version}");
    }
}

#[test]
fn empty_batches_leave_no_trace() {
    let options = || WriteOptions::default().with_threads(1);
    let (_, plain) = written(&[batch(0, 10)], options());
    let (summary, with_empty) = written(&[batch(0, 0), batch(0, 10), batch(0, 0)], options());
    assert_eq!((summary.num_rows, with_empty), (10, plain));
}

#[test]
fn batches_that_do_not_fit_are_refused_by_name() {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, false)]));
    let mut writer = FileWriter::new(Vec::new(), schema, WriteOptions::default()).unwrap();
    let mut refuse = |columns: Vec<(&str, ArrayRef)>| {
        let field =
            |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        refused(writer.write(&RecordBatch::try_new(schema, columns).unwrap()))
    };
    let ints = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let longs = Arc::new(Int64Array::from(vec![1]));
    let nulls = Arc::new(Int32Array::from(vec![None]));
    assert_eq!(
        refuse(vec![("n", ints()), ("m", ints())]),
        "the batch has 2 columns, but the file has 1"
    );
    assert_eq!(
        refuse(vec![("m", ints())]),
        "the batch has a column `m` of type Int32 where the file has `n` of type Int32"
    );
    assert_eq!(
        refuse(vec![("n", longs)]),
        "the batch has a column `n` of type Int64 where the file has `n` of type Int32"
    );
    assert_eq!(
        refuse(vec![("n", nulls)]),
        "column `n` is not nullable, but the batch has nulls in it"
    );
}

#[test]
fn blobs_of_another_type_are_refused() {
    let mut sink = Sink::new(Vec::new(), false);
    let short: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    let what = refused(blob::store(&short, "a.b", &mut sink));
    assert_eq!(what, "column `a.b`: blobs of type Binary; cast it to LargeBinary");
}

#[test]
fn global_buffers_are_numbered_from_one() {
    let mut writer =
        FileWriter::new(Vec::new(), batch(0, 0).schema(), WriteOptions::default()).unwrap();
    assert_eq!(writer.add_global_buffer(b"first").unwrap(), 1);
    assert_eq!(writer.add_global_buffer(b"second").unwrap(), 2);
    let (_, file) = writer.finish_into().unwrap();
    assert_eq!((&file[..5], &file[64..70]), (&b"first"[..], &b"second"[..]));
}
