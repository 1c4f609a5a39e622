//! Reads and writes on several threads, called from where waiting would be for ever, and with sources that panic.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/table.rs"]
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::RecordBatch;
use bytes::Bytes;
use lancet::{FileReader, ReadOptions, Source, Span, WriteOptions};
use table::{NUM_ROWS, some_rows, table, written};

const THREADS: usize = 4;

fn write_options() -> WriteOptions {
    WriteOptions::default().with_threads(THREADS).with_page_bytes(100_000)
}

fn read_options() -> ReadOptions {
    ReadOptions::default().with_threads(THREADS)
}

/// Fails if the work does not end: a test that hangs says nothing.
fn in_time(work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    let worker = std::thread::spawn(move || {
        work();
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(Duration::from_secs(120)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it waits for ever"),
        _ => worker.join().unwrap(),
    }
}

fn scan(reader: &FileReader) -> usize {
    reader.scan().build().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
}

/// All that uses threads.
fn read_and_write(reader: &FileReader, rows: &RecordBatch) {
    assert_eq!(reader.take(&some_rows(256)).unwrap().num_rows(), 256);
    assert_eq!(scan(reader) as u64, NUM_ROWS);
    let copy = FileReader::from_bytes(written(rows, write_options()), read_options()).unwrap();
    assert_eq!(copy.num_rows(), rows.num_rows() as u64);
}

#[test]
fn calls_from_tasks_of_another_pool_end() {
    let table = table();
    let reader = FileReader::from_bytes(written(&table, write_options()), read_options()).unwrap();
    in_time(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let few = table.slice(0, 5_000);
        pool.scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|_| read_and_write(&reader, &few));
            }
        });
    });
}

#[test]
fn calls_with_a_lock_that_other_tasks_want_end() {
    let table = table();
    let reader = FileReader::from_bytes(written(&table, write_options()), read_options()).unwrap();
    in_time(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (lock, three) = (Mutex::new(()), table.slice(0, 3));
        let alone = || ReadOptions::default().with_threads(1);
        let file = written(&three, write_options());
        pool.scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|_| {
                    let held = lock.lock().unwrap();
                    read_and_write(&reader, &three);
                    assert!(written(&three, write_options().with_threads(1)) == file);
                    let reader = FileReader::from_bytes(file.clone(), alone()).unwrap();
                    assert_eq!(scan(&reader), 3);
                    drop(held);
                });
            }
        });
    });
}

#[test]
fn calls_from_many_threads_give_the_same_rows() {
    let table = table();
    let reader = FileReader::from_bytes(written(&table, write_options()), read_options()).unwrap();
    let expected = reader.take(&some_rows(1_000)).unwrap();
    in_time(move || {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        assert_eq!(reader.take(&some_rows(1_000)).unwrap(), expected);
                    }
                    assert_eq!(scan(&reader) as u64, NUM_ROWS);
                });
            }
        });
    });
}

/// A file whose reads panic once there were so many.
struct Panicking {
    file: Bytes,
    num_left: AtomicUsize,
}

impl Source for Panicking {
    fn size_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        let before = self
            .num_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| Some(n.saturating_sub(1)));
        assert_ne!(before, Ok(1), "the source panics");
        self.file.read(spans)
    }
}

#[test]
fn a_panic_of_a_source_goes_on_in_the_caller() {
    let file = written(&table(), write_options()).into();
    let source = Arc::new(Panicking { file, num_left: AtomicUsize::new(0) });
    let reader = FileReader::from_source(source.clone(), read_options()).unwrap();
    in_time(move || {
        let rows = some_rows(2_000);
        reader.take(&rows).unwrap();
        let panicked = |num_left: usize, work: &dyn Fn()| {
            source.num_left.store(num_left, Ordering::Relaxed);
            let panic = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
            let message = panic.downcast_ref::<String>().map_or("", |text| text.as_str());
            assert!(message.contains("the source panics"), "{message}");
        };
        for threads in [1, THREADS] {
            for num_left in 1..5 {
                panicked(num_left, &|| {
                    let batches = reader.scan().threads(threads).build().unwrap();
                    batches.for_each(|batch| drop(batch.unwrap()));
                });
            }
        }
        for num_left in 1..3 {
            panicked(num_left, &|| drop(reader.take(&rows)));
        }
        // A scan is over after that.
        source.num_left.store(3, Ordering::Relaxed);
        let mut batches = reader.scan().build().unwrap();
        while catch_unwind(AssertUnwindSafe(|| batches.next().unwrap().unwrap())).is_ok() {}
        assert!(batches.next().is_none());
        drop(batches);
        // The reader and the helpers are not.
        assert_eq!(reader.take(&rows).unwrap().num_rows(), 2_000);
        assert_eq!(scan(&reader) as u64, NUM_ROWS);
    });
}

#[test]
fn a_scan_that_is_dropped_early_leaves_nothing_behind() {
    let file: Bytes = written(&table(), write_options()).into();
    in_time(move || {
        for _ in 0..50 {
            let source = Arc::new(Panicking { file: file.clone(), num_left: AtomicUsize::new(0) });
            let reader = FileReader::from_source(source.clone(), read_options()).unwrap();
            let mut batches = reader.scan().build().unwrap();
            batches.next().unwrap().unwrap();
            drop((batches, reader));
            // A helper may still be in the middle of a batch, which it then drops.
            while Arc::strong_count(&source) > 1 {
                std::thread::yield_now();
            }
        }
    });
}
