//! Batches of narrow rows are read several at once, and come as if each had been read alone.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{Error, FileReader, FileWriter, ReadOptions, WriteOptions};

use crate::counted::Counted;

const NUM_ROWS: usize = 40_000;
const BATCH_ROWS: usize = 500;

fn written(name: &str, array: ArrayRef) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([(name, array)]).unwrap();
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish_into().unwrap().1
}

/// Numbers that do not follow from each other.
fn numbers() -> Int64Array {
    Int64Array::from_iter_values((0..NUM_ROWS as i64).map(|i| i * 7_919 % 10_007))
}

fn open(file: &[u8], options: ReadOptions) -> FileReader {
    FileReader::from_bytes(file.to_vec(), options).unwrap()
}

/// How many batches come before an error or the end, and the error.
fn batches_of(reader: &FileReader, threads: usize) -> (usize, Option<Error>) {
    let scan = reader.scan().batch_rows(BATCH_ROWS).threads(threads);
    let mut batches = scan.build().unwrap();
    let mut count = 0;
    while let Some(batch) = batches.next_batch() {
        match batch {
            Ok(batch) => assert_eq!(batch.num_rows(), BATCH_ROWS),
            Err(error) => {
                assert!(batches.next_batch().is_none());
                return (count, Some(error));
            }
        }
        count += 1;
    }
    (count, None)
}

/// Whether the batch at a place can be read alone.
fn is_readable(reader: &FileReader, place: usize) -> bool {
    let start = (place * BATCH_ROWS) as u64;
    let scan = reader.scan().rows(start..start + BATCH_ROWS as u64);
    scan.build().unwrap().next_batch().unwrap().is_ok()
}

#[test]
fn few_reads_bring_many_batches() {
    let (table, num_batches) = (numbers(), NUM_ROWS / BATCH_ROWS);
    let source = Counted::new(written("n", Arc::new(table.clone())));
    let reader = source.open();
    reader.take(&[0]).unwrap();
    for threads in [1, 2] {
        source.rounds();
        let scan = reader.scan().batch_rows(BATCH_ROWS).threads(threads).build().unwrap();
        let mut place = 0;
        for batch in scan {
            let batch = batch.unwrap();
            assert_eq!(batch.column(0).as_ref(), &table.slice(place, BATCH_ROWS));
            place += batch.num_rows();
        }
        assert_eq!(place, NUM_ROWS);
        let rounds = source.rounds();
        assert!(rounds.len() * 2 < num_batches, "{} reads", rounds.len());
    }
    // One batch is no more than that.
    source.rounds();
    let mut scan = reader.scan().batch_rows(BATCH_ROWS).threads(1).build().unwrap();
    scan.next().unwrap().unwrap();
    let one: u64 = source.rounds().iter().flatten().map(lancet::Span::len).sum();
    scan.next().unwrap().unwrap();
    let two: u64 = source.rounds().iter().flatten().map(lancet::Span::len).sum();
    assert!(one < 8 * BATCH_ROWS as u64 && two < 24 * BATCH_ROWS as u64, "{one}, then {two}");
}

#[test]
fn batches_before_damaged_rows_are_given() {
    let source = Counted::new(written("n", Arc::new(numbers())));
    let reader = source.open();
    reader.take(&[0]).unwrap();
    source.rounds();
    reader.take(&[NUM_ROWS as u64 / 2 + 7]).unwrap();
    // The chunk of that row begins with a number of levels, of which there are none.
    let chunk = source.rounds()[0][0].start() as usize;
    let mut file = source.bytes().to_vec();
    file[chunk..chunk + 2].fill(0xff);
    let reader = open(&file, ReadOptions::default());
    let expected = (0..NUM_ROWS / BATCH_ROWS).position(|place| !is_readable(&reader, place));
    for threads in [1, 2, 3] {
        let (count, error) = batches_of(&reader, threads);
        assert_eq!(Some(count), expected);
        assert!(matches!(error, Some(Error::Corrupt(_))), "{error:?}");
    }
}

#[test]
fn a_memory_limit_is_one_of_each_batch() {
    let file = written("n", Arc::new(numbers()));
    let mut num_tight = 0;
    for limit in (2_000..100_000).step_by(4_000) {
        let options = ReadOptions::default().with_memory_limit(limit);
        let Ok(reader) = FileReader::from_bytes(file.clone(), options) else { continue };
        if reader.take(&[0]).is_ok()
            && (0..NUM_ROWS / BATCH_ROWS).all(|place| is_readable(&reader, place))
        {
            let many = reader.scan().batch_rows(16 * BATCH_ROWS).build().unwrap().next_batch();
            num_tight += usize::from(many.unwrap().is_err());
            for threads in [1, 2] {
                let (count, error) = batches_of(&reader, threads);
                assert_eq!(count, NUM_ROWS / BATCH_ROWS, "{limit}: {error:?}");
            }
        }
    }
    assert!(num_tight > 2, "no limit was between one batch and many");
}

#[test]
fn long_values_of_a_dictionary_are_not_read_many_at_once() {
    // A byte each in the file, and a kilobyte in memory.
    let texts = (0..100).map(|i| format!("{i:4}").repeat(256)).collect::<Vec<_>>();
    let rows = StringArray::from_iter_values((0..NUM_ROWS).map(|i| &texts[i * 7 % 100]));
    let reader = open(&written("text", Arc::new(rows)), ReadOptions::default());
    for threads in [1, 2] {
        let scan = reader.scan().batch_rows(BATCH_ROWS).threads(threads).build().unwrap();
        for batch in scan {
            let bytes = batch.unwrap().column(0).get_array_memory_size();
            assert!(bytes < 3 * 1024 * BATCH_ROWS, "{bytes} bytes");
        }
    }
}

#[test]
fn batches_of_text_keep_to_their_bytes() {
    // Words, which take a few bytes each in memory and much less in the file.
    let words = ["lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit"];
    let text = |row: usize| -> String {
        let word = |i: usize| {
            let mixed = ((row * 300 + i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            words[((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 61) as usize]
        };
        (0..300).map(word).collect::<Vec<_>>().join(" ")
    };
    let texts = StringArray::from_iter_values((0..4_000).map(text));
    let file = written("text", Arc::new(texts.clone()));
    assert!(file.len() * 2 < texts.get_array_memory_size(), "it takes as much in the file");
    let reader = open(&file, ReadOptions::default());
    for threads in [1, 2] {
        let scan = reader.scan().batch_bytes(400_000).threads(threads).build().unwrap();
        let batches = scan.map(Result::unwrap).collect::<Vec<_>>();
        let sizes: Vec<usize> = batches.iter().map(RecordBatch::get_array_memory_size).collect();
        // The first ones are a guess.
        assert!(sizes.iter().all(|bytes| *bytes < 1_600_000), "{sizes:?}");
        assert!(sizes.iter().skip(8).all(|bytes| *bytes < 800_000), "{sizes:?}");
        assert!(batches.len() < 40, "{} batches of few rows", batches.len());
        let arrays: Vec<&dyn Array> = batches.iter().map(|b| b.column(0).as_ref()).collect();
        assert_eq!(arrow_select::concat::concat(&arrays).unwrap().as_ref(), &texts as &dyn Array);
    }
}

/// Rows that compress to next to nothing look narrow in the file. Their batches are not read many at once.
#[test]
fn wide_rows_behind_narrow_ones_are_read_batch_by_batch() {
    let narrow = std::iter::repeat_n("ab".to_owned(), NUM_ROWS);
    let wide = std::iter::repeat_n("x".repeat(20_000), 16 * BATCH_ROWS);
    let texts = StringArray::from_iter_values(narrow.chain(wide));
    let reader = open(&written("text", Arc::new(texts)), ReadOptions::default());
    for threads in [1, 2] {
        let scan = reader.scan().batch_rows(BATCH_ROWS).threads(threads).build().unwrap();
        let mut num_rows = 0;
        for batch in scan {
            let batch = batch.unwrap();
            num_rows += batch.num_rows();
            let shared = batch.column(0).to_data().buffers()[1].capacity();
            assert!(shared < 40_000_000, "{shared} bytes behind a batch of {}", batch.num_rows());
        }
        assert_eq!(num_rows, NUM_ROWS + 16 * BATCH_ROWS);
    }
}

/// What an array needs besides its values is not counted as that of rows: batches of few rows stay as long as they are.
#[test]
fn batches_of_few_rows_do_not_shrink() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..500).map(|i| i * 7_919)));
    let columns = (0..200).map(|column| (format!("n{column}"), numbers.clone()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    let reader = open(&writer.finish_into().unwrap().1, ReadOptions::default());
    let scan = reader.scan().batch_bytes(16_000).threads(1).build().unwrap();
    let rows: Vec<usize> = scan.map(|batch| batch.unwrap().num_rows()).collect();
    assert!(rows.iter().rev().skip(1).all(|rows| *rows >= 10), "{rows:?}");
}
