//! What is asked for together, and what is announced before it is read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, LargeBinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use lancet::{
    Comparison, FileReader, FileWriter, Filter, Profile, ReadOptions, Source, Span, WriteOptions,
};

/// What a source was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    Read(Vec<Span>),
    Scattered(Vec<Span>),
    Announced(Vec<Span>),
}

/// A file whose reads may seem to wait, and what it was asked for.
#[derive(Clone)]
struct Slow {
    bytes: Bytes,
    is_slow: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Bytes between what was announced and what is read before it.
    gaps: Arc<Mutex<Vec<u64>>>,
}

impl Slow {
    fn new(file: Vec<u8>) -> Self {
        let is_slow = Arc::new(AtomicBool::new(true));
        Self { bytes: file.into(), is_slow, asked: Arc::default(), gaps: Arc::default() }
    }

    fn open(&self, options: ReadOptions) -> FileReader {
        FileReader::from_source(Arc::new(self.clone()), options).unwrap()
    }

    fn set_slow(&self, is_slow: bool) {
        self.is_slow.store(is_slow, Ordering::Relaxed);
    }

    /// What it was asked for since the last time.
    fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn push(&self, asked: Asked) {
        self.asked.lock().unwrap().push(asked);
    }
}

impl Source for Slow {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        self.push(Asked::Read(spans.to_vec()));
        self.bytes.read(spans)
    }

    fn read_scattered(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        self.push(Asked::Scattered(spans.to_vec()));
        self.bytes.read(spans)
    }

    fn has_waited(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    fn announce(&self, spans: &[Span], before: &[Span]) {
        assert!(!before.is_empty(), "what is read before tells where it is left to the system");
        let end = before.iter().map(Span::end).max().unwrap_or(0);
        let gap = spans.first().map_or(0, |span| span.start().saturating_sub(end));
        self.gaps.lock().unwrap().push(gap);
        self.push(Asked::Announced(spans.to_vec()));
    }
}

fn write(batch: &RecordBatch) -> Slow {
    let options = WriteOptions::default()
        .with_profile(Profile::Fast)
        .with_checksums(false)
        .with_zone_maps(false);
    let mut file = Vec::new();
    let mut writer = FileWriter::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish_into().unwrap();
    Slow::new(file)
}

fn mixed(i: u64) -> i64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8) as i64
}

/// Numbers without a pattern, in so many columns.
fn numbers(num_columns: u64, num_rows: u64) -> RecordBatch {
    let column = |c: u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..num_rows).map(|row| mixed(row * 1_000 + c))))
    };
    RecordBatch::try_from_iter((0..num_columns).map(|c| (format!("c{c}"), column(c)))).unwrap()
}

fn one_thread() -> ReadOptions {
    ReadOptions::default().with_threads(1)
}

/// How many batches there were, and whether they are what was written.
fn scanned(scan: lancet::Scan, batch: &RecordBatch) -> usize {
    let batches = scan.build().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(&arrow_select::concat::concat_batches(&batch.schema(), &batches).unwrap(), batch);
    batches.len()
}

#[test]
fn a_scan_that_waits_announces_its_next_batches() {
    let batch = numbers(6, 60_000);
    let source = write(&batch);
    let reader = source.open(one_thread());
    // Of so many rows that none are read together with the next.
    source.asked();
    let num_batches = scanned(reader.scan().batch_rows(6_000), &batch);
    assert_eq!(num_batches, 10);
    let asked = source.asked();
    let (mut announced, mut num_ahead, mut num_known) = (HashSet::new(), 0, 0);
    for asked in &asked {
        match asked {
            Asked::Announced(spans) => {
                announced.extend(spans.iter().copied());
                num_ahead += 1;
            }
            Asked::Read(spans) => {
                assert!(spans.iter().all(|span| announced.contains(span)), "{spans:?}");
                num_ahead -= 1;
                num_known += 1;
            }
            Asked::Scattered(_) => {}
        }
        assert!((0..=2).contains(&num_ahead), "{num_ahead} batches ahead");
    }
    // All but the first, which nobody could announce.
    assert_eq!(num_known, num_batches - 1, "{asked:?}");
    // Where nothing waits, nothing is announced.
    source.set_slow(false);
    scanned(reader.scan().batch_rows(6_000), &batch);
    assert!(source.asked().iter().all(|asked| matches!(asked, Asked::Scattered(_))));
}

#[test]
fn the_batches_of_many_threads_are_announced_too() {
    let batch = numbers(4, 120_000);
    let source = write(&batch);
    for num_threads in [2, 4] {
        let reader = source.open(ReadOptions::default().with_threads(num_threads));
        source.asked();
        let num_announced = || {
            let scan = reader.scan().batch_rows(4_000).threads(num_threads);
            let num_batches = scanned(scan, &batch);
            let asked = source.asked();
            let count = asked.iter().filter(|a| matches!(a, Asked::Announced(_))).count();
            assert!(count < num_batches, "{count}: {num_threads} threads");
            count
        };
        // How many wait to be read, and can be announced, is for the threads to say: where they are as fast as the
        // batches, there are none.
        assert!((0..100).any(|_| num_announced() > 0), "{num_threads} threads");
    }
}

#[test]
fn what_another_thread_reads_is_no_gap() {
    let batch = numbers(1, 400_000);
    let source = write(&batch);
    let num_threads = 4;
    let reader = source.open(ReadOptions::default().with_threads(num_threads));
    for _ in 0..10 {
        source.gaps.lock().unwrap().clear();
        scanned(reader.scan().batch_rows(8_000).threads(num_threads), &batch);
        let gaps = source.gaps.lock().unwrap();
        // Pages begin where they like.
        assert!(gaps.iter().all(|gap| *gap < 10_000), "{gaps:?}");
    }
}

#[test]
fn an_announced_scan_ends_as_any_other() {
    let batch = numbers(2, 20_000);
    let source = write(&batch);
    let reader = source.open(one_thread());
    let mut scan = reader.scan().batch_rows(1_000).limit(2_500).build().unwrap();
    let sizes: Vec<usize> = scan.by_ref().map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [1_000, 1_000, 500]);
    assert!(scan.next().is_none());
}

#[test]
fn what_a_filter_leaves_is_asked_for_together() {
    let batch = numbers(5, 60_000);
    let source = write(&batch);
    let reader = source.open(one_thread());
    source.asked();
    let rare = Int64Array::new_scalar(i64::MAX >> 18);
    let filter = Filter::compare("c0", Comparison::Lt, &rare);
    let found = reader.scan().batch_rows(60_000).filter(filter).build().unwrap();
    let found: Vec<RecordBatch> = found.map(Result::unwrap).collect();
    let num_found: usize = found.iter().map(RecordBatch::num_rows).sum();
    assert!((10..100).contains(&num_found), "{num_found}");
    let values = found.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values());
    assert!(values.copied().all(|value| value < i64::MAX >> 18));
    let asked = source.asked();
    assert!(!asked.iter().any(|asked| matches!(asked, Asked::Read(_))), "{asked:?}");
    let depth = |asked: &Asked| match asked {
        Asked::Scattered(spans) => spans.len(),
        _ => 0,
    };
    assert!(asked.iter().map(depth).max() > Some(50), "{asked:?}");
}

#[test]
fn the_metadata_of_columns_is_asked_for_together() {
    let source = write(&numbers(2_000, 3));
    let reader = source.open(one_thread());
    source.asked();
    let columns: Vec<String> = (0..500).map(|c| format!("c{}", c * 4)).collect();
    let columns = reader.file().project(columns).unwrap();
    reader.run(reader.file().prepare(&columns)).unwrap();
    let asked = source.asked();
    let [Asked::Scattered(spans)] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(spans.len() > 300, "{}", spans.len());
}

#[test]
fn blobs_are_asked_for_together() {
    let field = Field::new("b", DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let value = |i: u64| (0..5_000).map(|at| mixed(i * 5_000 + at) as u8).collect::<Vec<u8>>();
    let blobs = LargeBinaryArray::from_iter_values((0..200).map(value));
    let schema = Arc::new(Schema::new(vec![field]));
    let source = write(&RecordBatch::try_new(schema, vec![Arc::new(blobs)]).unwrap());
    let reader = source.open(one_thread());
    let rows: Vec<u64> = (0..50).map(|i| i * 4).collect();
    source.asked();
    assert_eq!(reader.take(&rows).unwrap().num_rows(), 50);
    let last = source.asked().pop();
    assert!(matches!(&last, Some(Asked::Scattered(spans)) if spans.len() == 50), "{last:?}");
    let descriptions = reader.blobs("b").unwrap().descriptions(&rows).unwrap();
    assert_eq!(descriptions.len(), 50);
    let asked = source.asked();
    assert!(!asked.iter().any(|asked| matches!(asked, Asked::Read(_))), "{asked:?}");
}

#[test]
fn long_values_are_asked_for_together() {
    let value = |i: u64| (0..300_000).map(|at| mixed(i * 300_000 + at) as u8).collect::<Vec<u8>>();
    let values = BinaryArray::from_iter_values((0..12).map(value));
    let source = write(&RecordBatch::try_from_iter([("v", Arc::new(values) as _)]).unwrap());
    let reader = source.open(one_thread());
    let rows = [0, 3, 5, 7, 11];
    source.asked();
    assert_eq!(reader.take(&rows).unwrap().num_rows(), rows.len());
    let last = source.asked().pop();
    assert!(matches!(&last, Some(Asked::Scattered(spans)) if spans.len() == 5), "{last:?}");
}

#[test]
fn the_parts_of_a_take_are_announced() {
    let batch = numbers(4, 400_000);
    let source = write(&batch);
    let rows: Vec<u64> = (0..5_000).map(|i| i * 79).collect();
    let reader = source.open(one_thread());
    // Brings the indexes.
    reader.take(&[0, 399_999]).unwrap();
    source.asked();
    let taken = reader.take(&rows).unwrap();
    let places = arrow_array::UInt64Array::from(rows.clone());
    assert_eq!(taken, arrow_select::take::take_record_batch(&batch, &places).unwrap());
    // Each part but the first is announced when the one before it was read.
    let (mut parts, mut announced) = (Vec::new(), Vec::new());
    for asked in source.asked() {
        match asked {
            Asked::Scattered(spans) => {
                assert!(announced.len() >= parts.len(), "{parts:?}");
                parts.push(spans);
            }
            Asked::Announced(spans) => announced.push(spans),
            Asked::Read(spans) => panic!("{spans:?}"),
        }
    }
    assert!(parts.len() > 2, "{}", parts.len());
    assert_eq!(announced, parts[1..]);
    source.set_slow(false);
    assert_eq!(reader.take(&rows).unwrap(), taken);
    assert!(source.asked().iter().all(|asked| matches!(asked, Asked::Scattered(_))));
}

#[test]
fn a_filter_and_its_columns_are_looked_up_together() {
    let source = write(&numbers(2_000, 3));
    let reader = source.open(one_thread());
    source.asked();
    let filter = Filter::compare("c7", Comparison::Gt, &Int64Array::new_scalar(-1));
    let scan = reader.scan().columns(["c3", "c1999"]).filter(filter).build().unwrap();
    let asked = source.asked();
    // The metadata of all three; there are no zone maps.
    let [Asked::Scattered(spans)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(spans.len(), 3);
    assert_eq!(scan.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 3);
}
