//! What is read, to the byte: the spans of open, scan and take.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Float32Array, Int8Array, Int32Array,
    RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field};
use lancet::{
    BufferReport, ColumnOptions, FileReader, FileWriter, PageReport, Profile, ReadOptions, Span,
    StructuralEncoding, Version, WriteOptions,
};

use crate::counted::Counted;

const ROWS: u64 = 20_000;

fn file(columns: Vec<(String, ArrayRef)>, version: Version) -> Counted {
    file_with(columns, version, |options| options)
}

fn file_with(
    columns: Vec<(String, ArrayRef)>,
    version: Version,
    set: impl Fn(WriteOptions) -> WriteOptions,
) -> Counted {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::default()
        .with_version(version)
        // Forms that are easy to foretell, and nothing beside the pages.
        .with_profile(Profile::Fast)
        .with_checksums(false)
        .with_zone_maps(false);
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batch.schema(), set(options)).unwrap();
    writer.write(&batch).unwrap();
    writer.finish_into().unwrap();
    Counted::new(file)
}

fn one_column(array: impl Array + 'static) -> Counted {
    file(vec![("c".into(), Arc::new(array))], Version::V2_2)
}

fn scattered() -> Int32Array {
    (0..ROWS as i32).map(|i| i.wrapping_mul(0x9e37_79b1_u32 as i32)).collect()
}

/// The only page of the only column.
fn page(source: &Counted) -> PageReport {
    let report = source.open().inspect().unwrap();
    source.rounds();
    report.columns[0].pages[0].clone()
}

fn span(buffer: &BufferReport) -> Span {
    Span::at(buffer.position, buffer.bytes).unwrap()
}

/// What a take of one row reads when another row was taken before.
fn warm_take(source: &Counted, row: u64) -> Vec<Vec<Span>> {
    let reader = source.open();
    reader.take(&[ROWS - 1 - row]).unwrap();
    source.rounds();
    reader.take(&[row]).unwrap();
    source.rounds()
}

#[test]
fn open_is_one_read() {
    let source = one_column(Int32Array::from(vec![1, 2, 3]));
    let size = source.bytes().len() as u64;
    let reader = source.open();
    assert_eq!(source.rounds(), [[Span::at(0, size).unwrap()]]);
    drop(reader);

    let source = one_column(scattered());
    let size = source.bytes().len() as u64;
    source.open();
    assert_eq!(source.rounds(), [[Span::new(size - (16 << 10), size).unwrap()]]);
}

#[test]
fn a_wide_file_gives_only_the_metadata_that_is_needed() {
    let column = |i: i32| -> (String, ArrayRef) {
        (format!("c{i}"), Arc::new(Int32Array::from(vec![i, i * 1_000, 5])))
    };
    let source = file((0..100_000).map(column).collect(), Version::V2_1);
    let bytes = source.bytes();
    let word = |from_end: usize| {
        let at = bytes.len() - from_end;
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    };
    let (metadata_start, tables_start) = (word(40), word(32));

    let reader = source.open();
    let rounds = source.rounds();
    assert_eq!(rounds.len(), 2, "{rounds:?}");
    // The guess of 16 KiB apart, the metadata of the columns is left alone.
    for round in &rounds[1..] {
        assert!(
            round.iter().all(|s| s.end() <= metadata_start || s.start() >= tables_start),
            "{rounds:?}"
        );
    }

    // One of 100,000 columns costs the metadata of one.
    let taken = reader.take_columns(&[1], ["c7"]).unwrap();
    assert_eq!(taken.column(0).as_ref(), &Int32Array::from(vec![7_000]));
    let rounds = source.rounds();
    let [metadata, index, data] = rounds.as_slice() else { panic!("{rounds:?}") };
    let [metadata] = metadata.as_slice() else { panic!("{metadata:?}") };
    assert!(metadata_start <= metadata.start() && metadata.end() <= tables_start);
    assert!(metadata.len() < 200, "{metadata:?}");
    assert_eq!((index.len(), data.len()), (1, 1));

    reader.take_columns(&[1], ["c7"]).unwrap();
    assert_eq!(source.rounds().len(), 1);
}

fn vectors() -> FixedSizeListArray {
    let items: Float32Array = (0..ROWS as usize * 64).map(|i| i as f32).collect();
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    FixedSizeListArray::new(item, 64, Arc::new(items), None)
}

/// The numbers of the vectors of a batch.
fn numbers(batch: &RecordBatch) -> &[f32] {
    let lists = batch.column(0).as_any().downcast_ref::<FixedSizeListArray>().unwrap();
    lists.values().as_any().downcast_ref::<Float32Array>().unwrap().values()
}

#[test]
fn vectors_are_the_bytes_of_the_file() {
    let source = file_with(vec![("c".into(), Arc::new(vectors()))], Version::V2_1, |options| {
        options.with_column(
            "c",
            ColumnOptions::default().with_structural_encoding(StructuralEncoding::FullZip),
        )
    });
    let memory = source.bytes().as_ptr_range();
    let mut rows = 0;
    for batch in source.open().scan().build().unwrap() {
        let batch = batch.unwrap();
        let numbers = numbers(&batch);
        assert!(memory.contains(&numbers.as_ptr().cast()), "the vectors were copied");
        assert_eq!(numbers[0], (rows * 64) as f32);
        rows += batch.num_rows();
    }
    assert_eq!(rows as u64, ROWS);
}

#[test]
fn batches_of_wide_rows_end_where_pages_do() {
    let source = file_with(vec![("c".into(), Arc::new(vectors()))], Version::V2_1, |options| {
        options.with_page_bytes(1_000_000).with_column(
            "c",
            ColumnOptions::default().with_structural_encoding(StructuralEncoding::FullZip),
        )
    });
    let report = source.open().inspect().unwrap();
    let pages: Vec<u64> = report.columns[0].pages.iter().map(|page| page.num_rows).collect();
    assert!(pages.len() > 2, "{pages:?}");
    let scan = source.open().scan().batch_bytes(2_000_000).build().unwrap();
    let batches: Vec<u64> = scan.map(|batch| batch.unwrap().num_rows() as u64).collect();
    assert_eq!(batches, pages);
    // Where batches are much smaller, pages are cut into even parts.
    let scan = source.open().scan().batch_bytes(200_000).build().unwrap();
    let batches: Vec<u64> = scan.map(|batch| batch.unwrap().num_rows() as u64).collect();
    assert!(batches.iter().all(|rows| *rows <= 200_000 / 256), "{batches:?}");
    let ends = |rows: &[u64]| -> Vec<u64> {
        rows.iter().scan(0, |end, rows| Some(std::mem::replace(end, *end + rows) + rows)).collect()
    };
    let batch_ends = ends(&batches);
    assert!(ends(&pages).iter().all(|end| batch_ends.contains(end)), "{batches:?} of {pages:?}");
}

#[test]
fn a_mapped_file_reads_as_any_other() {
    let source = file(
        vec![("c".into(), Arc::new(scattered())), ("v".into(), Arc::new(vectors()))],
        Version::V2_2,
    );
    let path = std::env::temp_dir().join(format!("lancet-mapped-{}.lance", std::process::id()));
    std::fs::write(&path, source.bytes()).unwrap();
    // SAFETY: nobody else knows the file.
    let options = unsafe { ReadOptions::default().with_memory_map(true) };
    let read = |options: ReadOptions| {
        let reader = FileReader::open_with(&path, options).unwrap();
        let batches = reader.scan().build().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        (batches, reader.take(&[17, 3, ROWS - 1]).unwrap())
    };
    assert_eq!(read(options), read(ReadOptions::default()));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_search_cache_counts() {
    let source = one_column(scattered());
    let reader = source.open();
    assert_eq!((reader.cache_stats().hits, reader.cache_stats().bytes), (0, 0));
    for _ in 0..3 {
        reader.take(&[5]).unwrap();
    }
    let stats = reader.cache_stats();
    assert_eq!((stats.hits, stats.misses, stats.pages), (2, 1, 1));
    // Chunks of 1,024 numbers, 16 bytes of index each, and the entry itself.
    assert!((300..1_100).contains(&stats.bytes), "{stats:?}");
}

#[test]
fn a_row_of_flat_chunks_is_one_chunk() {
    let source = one_column(scattered());
    let page = page(&source);
    assert_eq!(page.layout, "mini-block");
    let chunks = span(&page.buffers[1]);
    let rounds = warm_take(&source, 12_345);
    let [round] = rounds.as_slice() else { panic!("{rounds:?}") };
    let [chunk] = round.as_slice() else { panic!("{round:?}") };
    assert!(chunks.start() < chunk.start() && chunk.end() < chunks.end());
    assert!(chunk.len() <= 8 << 10, "{chunk:?}");
}

#[test]
fn a_row_with_a_dictionary_is_one_chunk() {
    let words = Arc::new(StringArray::from_iter_values((0..50).map(|i| format!("word {i}"))));
    let keys: Vec<i8> = (0..ROWS).map(|i| (i * 7 % 50) as i8).collect();
    let source = one_column(DictionaryArray::<Int8Type>::new(keys.into(), words));
    let page = page(&source);
    assert_eq!(page.buffers.len(), 3);
    let rounds = warm_take(&source, 12_345);
    let [round] = rounds.as_slice() else { panic!("{rounds:?}") };
    let [chunk] = round.as_slice() else { panic!("{round:?}") };
    assert!(chunk.len() < page.buffers[1].bytes);
}

#[test]
fn a_row_of_lists_is_one_chunk_unless_it_runs_over_the_boundary() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for (i, value) in scattered().values().iter().enumerate() {
        match i % 4 {
            0 => lists.append_null(),
            1 => lists.append_value([]),
            _ => lists.append_value([Some(*value), None, Some(*value / 3)]),
        }
    }
    let source = one_column(lists.finish());
    let page = page(&source);
    assert_eq!((page.layout.as_str(), page.buffers.len()), ("mini-block", 3));
    let chunks = span(&page.buffers[1]);
    for row in (0..ROWS).step_by(1_999) {
        let rounds = warm_take(&source, row);
        let [round] = rounds.as_slice() else { panic!("{rounds:?}") };
        // Neighbouring chunks make one span.
        let [span] = round.as_slice() else { panic!("{round:?}") };
        assert!(chunks.contains(span));
        assert!(span.len() <= 24 << 10, "{span:?}");
    }
}

#[test]
fn a_zipped_row_is_its_bytes() {
    let values = Float32Array::from_iter_values((0..ROWS * 100).map(|i| i as f32 * 0.37));
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let source = one_column(FixedSizeListArray::new(item, 100, Arc::new(values), None));
    let page_of = |source| page(source).buffers[0].clone();
    let rows = page_of(&source);
    let start = rows.position + 12_345 * 400;
    let row = Span::at(start, 400).unwrap();
    assert_eq!(warm_take(&source, 12_345), [[row]]);
    // Rows are found by multiplication, so a cold reader reads no more.
    let reader = source.open();
    source.rounds();
    reader.take(&[12_345]).unwrap();
    let rounds = source.rounds();
    assert_eq!(rounds.last(), Some(&vec![row]));
    assert!(rounds.len() <= 2, "{rounds:?}");
}

#[test]
fn a_zipped_string_is_its_bytes_once_the_index_is_known() {
    // Nothing in common, so that it stays as it is.
    let value = |i: u64| -> String {
        let mut x = i + 1;
        let letters = (0..300 + i % 7).map(|_| {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            char::from(b'!' + (x >> 58) as u8)
        });
        letters.collect()
    };
    let strings: ArrayRef = Arc::new(StringArray::from_iter_values((0..2_000).map(value)));
    let source = file_with(vec![("c".into(), strings)], Version::V2_2, |options| {
        options.with_column(
            "c",
            ColumnOptions::default().with_structural_encoding(StructuralEncoding::FullZip),
        )
    });
    let page = page(&source);
    assert_eq!(page.layout, "full-zip");
    let reader = source.open();
    source.rounds();
    reader.take(&[5]).unwrap();
    let cold = source.rounds();
    assert_eq!(cold[cold.len() - 2], [span(&page.buffers[1])], "the index comes first");
    reader.take(&[6]).unwrap();
    let rounds = source.rounds();
    let [round] = rounds.as_slice() else { panic!("{rounds:?}") };
    let [row] = round.as_slice() else { panic!("{round:?}") };
    assert!(row.len() <= 4 + 306, "{row:?}");
}

#[test]
fn constants_are_not_read_again() {
    let nulls = Int32Array::new_null(ROWS as usize);
    for source in [
        one_column(Int32Array::from(vec![7; ROWS as usize])),
        one_column(nulls.clone()),
        one_column((0..ROWS).map(|i| (i % 3 > 0).then_some("the same")).collect::<StringArray>()),
        file(vec![("c".into(), Arc::new(nulls))], Version::V2_1),
    ] {
        assert_eq!(page(&source).layout, "constant");
        assert!(warm_take(&source, 12_345).is_empty());
    }
}

#[test]
fn a_whole_page_comes_in_one_round() {
    let source = one_column(scattered());
    let page = page(&source);
    let [words, chunks] = page.buffers.as_slice() else { panic!("{page:?}") };
    let reader = source.open();
    source.rounds();
    let scan = || reader.scan().batch_rows(ROWS as usize).build().unwrap();
    assert_eq!(scan().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), ROWS as usize);
    let rounds = source.rounds();
    assert_eq!(rounds.last(), Some(&vec![span(words), span(chunks)]));
    // The metadata of the column may have come with the tail.
    assert!(rounds.len() <= 2, "{rounds:?}");
    assert_eq!(scan().count(), 1);
    assert_eq!(source.rounds(), [[span(chunks)]]);
}

#[test]
fn rows_of_one_chunk_are_read_together() {
    let source = one_column(scattered());
    let reader = source.open();
    reader.take(&[0]).unwrap();
    source.rounds();
    reader.take(&[10_003, 10_001, 10_002]).unwrap();
    let rounds = source.rounds();
    assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
    reader.take(&[0, 10_000, 19_999]).unwrap();
    assert_eq!(source.rounds().iter().map(Vec::len).collect::<Vec<_>>(), [3]);
}

const MANY: u64 = 400_000;

fn mixed(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn many_texts() -> ArrayRef {
    let texts = (0..MANY).map(|i| (i % 5 > 0).then(|| format!("{:x}", mixed(i))));
    Arc::new(texts.collect::<StringArray>())
}

/// In any order, and some of them twice.
fn many_rows() -> Vec<u64> {
    (0..5000).map(|i| mixed(i % 4900) % MANY).collect()
}

#[test]
fn a_take_asks_for_all_its_bytes_together() {
    let columns = (0..5).map(|i| (format!("c{i}"), Arc::new(scattered()) as ArrayRef)).collect();
    let source = file(columns, Version::V2_2);
    let reader = source.open();
    let rows: Vec<u64> = (0..4).map(|i| i * 5_000).collect();
    assert_eq!(source.depths(), [1]);
    // The indexes of all columns, then the rows of all.
    let batch = reader.take(&rows).unwrap();
    assert_eq!(source.depths(), [5, 5 * 4]);
    source.rounds();
    assert_eq!(reader.take(&rows).unwrap(), batch);
    assert_eq!(source.depths(), [5 * 4]);
    assert_eq!(source.rounds().len(), 1);
    // So does a scan: first for one batch, then for all that are left, which are few.
    reader.scan().build().unwrap().for_each(|batch| drop(batch.unwrap()));
    assert_eq!(source.depths(), [5; 2]);
}

#[test]
fn many_rows_are_read_in_parts() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    (0..MANY)
        .for_each(|i| lists.append_value((0..i % 3).map(|item| Some((mixed(i) + item) as i32))));
    let columns: Vec<(String, ArrayRef)> =
        vec![("text".into(), many_texts()), ("list".into(), Arc::new(lists.finish()))];
    let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
    for version in [Version::V2_0, Version::V2_2] {
        let source = file(columns.clone(), version);
        let reader = source.open();
        reader.take(&[0, MANY - 1]).unwrap();
        source.rounds();
        let taken = reader.take(&many_rows()).unwrap();
        let rounds = source.rounds();
        assert!((2..=10).contains(&rounds.len()), "{} rounds", rounds.len());
        let places = arrow_array::UInt64Array::from(many_rows());
        assert_eq!(taken, arrow_select::take::take_record_batch(&batch, &places).unwrap());
        assert!(reader.take(&vec![MANY; 5000]).is_err());
    }
}

#[test]
fn short_columns_are_read_one_by_one() {
    let number = |salt: u64| {
        let value = |row: u64| (!row.is_multiple_of(5)).then_some(mixed(row + salt) as i64);
        Arc::new((0..MANY).map(value).collect::<arrow_array::Int64Array>()) as ArrayRef
    };
    let columns: Vec<(String, ArrayRef)> =
        (0..6).map(|salt| (format!("c{salt}"), number(salt * MANY))).collect();
    let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
    for version in [Version::V2_0, Version::V2_2] {
        let source = file(columns.clone(), version);
        let options = ReadOptions::default().with_threads(1);
        let reader = FileReader::from_source(Arc::new(source.clone()), options).unwrap();
        reader.take(&[0, MANY - 1]).unwrap();
        let mut in_order = many_rows();
        in_order.sort_unstable();
        in_order.dedup();
        for rows in [many_rows(), in_order] {
            source.rounds();
            let taken = reader.take(&rows).unwrap();
            // One for each column, in their order.
            let rounds = source.rounds();
            let starts = rounds.iter().map(|spans| spans.iter().map(Span::start).min());
            assert_eq!(rounds.len(), 6);
            assert!(starts.is_sorted());
            let places = arrow_array::UInt64Array::from(rows);
            assert_eq!(taken, arrow_select::take::take_record_batch(&batch, &places).unwrap());
        }
        assert!(reader.take(&vec![MANY; 5000]).is_err());
    }
}

#[test]
fn the_parts_of_a_take_share_its_limit() {
    let columns = ["a", "b", "c"].map(|name| (name.to_owned(), many_texts()));
    let source = file(columns.to_vec(), Version::V2_2);
    for (memory_limit, fits) in [(15 << 20, false), (64 << 20, true)] {
        let options = ReadOptions::default().with_memory_limit(memory_limit);
        let reader = FileReader::from_source(Arc::new(source.clone()), options).unwrap();
        let taken = reader.take(&many_rows());
        assert_eq!(taken.is_ok(), fits, "{taken:?}");
    }
}

#[test]
fn what_cannot_be_put_together_is_taken_whole() {
    // Every part would have a dictionary of its own.
    let keys = (0..MANY).map(|i| (i % 3 > 0).then_some((mixed(i) % 100) as i8));
    let entries = StringArray::from_iter_values((0..100).map(|i| format!("entry {i}")));
    let coded = DictionaryArray::new(keys.collect::<Int8Array>(), Arc::new(entries));
    let columns: Vec<(String, ArrayRef)> =
        vec![("text".into(), many_texts()), ("coded".into(), Arc::new(coded.clone()))];
    let source = file(columns, Version::V2_2);
    let reader = source.open();
    reader.take(&[0, MANY - 1]).unwrap();
    source.rounds();
    let taken = reader.take(&many_rows()).unwrap();
    assert_eq!(source.rounds().len(), 1);
    let plain = |array: &ArrayRef| {
        let coded = array.as_any_dictionary();
        arrow_select::take::take(coded.values(), coded.keys(), None).unwrap()
    };
    let places = arrow_array::UInt64Array::from(many_rows());
    let expected = arrow_select::take::take(&coded, &places, None).unwrap();
    assert_eq!(&plain(taken.column(1)), &plain(&expected));
    // Long rows are not copied once more.
    let long = |row: u64| (0..2_500).flat_map(move |i| mixed(row * 2_500 + i).to_le_bytes());
    let long = (0..300).map(|row| long(row).collect::<Vec<u8>>());
    let long = arrow_array::BinaryArray::from_iter_values(long);
    let source = file(vec![("v".into(), Arc::new(long))], Version::V2_2);
    let reader = source.open();
    reader.take(&[0]).unwrap();
    source.rounds();
    let rows: Vec<u64> = (0..reader.num_rows()).collect();
    assert_eq!(reader.take(&rows).unwrap().num_rows(), rows.len());
    assert_eq!(source.rounds().len(), 1);
}

#[test]
fn many_columns_are_taken_in_groups() {
    let column = |number: u64| {
        let values = (0..2_000).map(|row| (mixed(row * 1_000 + number) >> 32) as i32);
        (format!("c{number}"), Arc::new(values.collect::<Int32Array>()) as ArrayRef)
    };
    let source = file((0..300).map(column).collect(), Version::V2_2);
    let options = ReadOptions::default().with_threads(4);
    let open = |options| FileReader::from_source(Arc::new(source.clone()), options).unwrap();
    let reader = open(options.clone());
    reader.take(&[0, 1_999]).unwrap();
    source.rounds();
    let rows = [1_999, 0, 5, 1_030, 5];
    let taken = reader.take(&rows).unwrap();
    assert_eq!(source.rounds().len(), 4, "a read of each group");
    let all = reader.scan().batch_rows(2_000).build().unwrap().next().unwrap().unwrap();
    let places = arrow_array::UInt64Array::from(rows.to_vec());
    assert_eq!(taken, arrow_select::take::take_record_batch(&all, &places).unwrap());
    let error = reader.take(&[0, 2_000]).unwrap_err().to_string();
    assert!(error.contains("row 2000 is out of range"), "{error}");
    // One limit for all of them.
    for (memory_limit, fits) in [(3 << 20, false), (32 << 20, true)] {
        let reader = open(options.clone().with_memory_limit(memory_limit));
        let rows: Vec<u64> = (0..2_000).collect();
        assert_eq!(reader.take(&rows).is_ok(), fits, "{memory_limit}");
    }
}

#[test]
fn a_take_that_takes_long_is_shared_out() {
    let values: arrow_array::Int64Array = (0..MANY).map(|row| mixed(row) as i64).collect();
    let columns = ["a", "b", "c", "d"].map(|name| (name.to_owned(), Arc::new(values.clone()) as _));
    let source = file(columns.to_vec(), Version::V2_2);
    let rows: Vec<u64> = (0..100).map(|i| i * (MANY / 100)).collect();
    for (num_threads, num_rounds) in [(1, 1), (3, 3), (100, 4)] {
        let options = ReadOptions::default().with_threads(num_threads);
        let reader = FileReader::from_source(Arc::new(source.clone()), options).unwrap();
        reader.take(&rows).unwrap();
        source.rounds();
        let taken = reader.take(&rows).unwrap();
        assert_eq!(source.rounds().len(), num_rounds, "{num_threads} threads");
        reader.take(&[5, 3]).unwrap();
        assert_eq!(source.rounds().len(), 1, "a short one");
        let places = arrow_array::UInt64Array::from(rows.clone());
        let expected = arrow_select::take::take(&values, &places, None).unwrap();
        assert!(taken.columns().iter().all(|column| column.as_ref() == expected.as_ref()));
    }
}
