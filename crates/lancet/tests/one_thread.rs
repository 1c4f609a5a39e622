//! One thread is the calling one. The only test of its process, so that it can count threads.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/table.rs"]
mod table;

use lancet::{FileReader, ReadOptions, WriteOptions};
use table::{NUM_ROWS, some_rows, table, written};

/// The names of all threads of this process.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    tasks.filter_map(|task| name(task.unwrap()).ok()).collect()
}

fn helpers() -> usize {
    threads().iter().filter(|name| name.starts_with("lancet-")).count()
}

fn read_and_write(num_threads: usize) {
    let options = WriteOptions::default().with_page_bytes(100_000).with_threads(num_threads);
    let file = written(&table(), options);
    let options = ReadOptions::default().with_threads(num_threads);
    let reader = FileReader::from_bytes(file.clone(), options).unwrap();
    assert_eq!(reader.take(&some_rows(5_000)).unwrap().num_rows(), 5_000);
    let batches = reader.scan().build().unwrap();
    assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>() as u64, NUM_ROWS);
    // One batch of many columns, and a scan that says for itself how many threads it wants.
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let scan = reader.scan().batch_rows(NUM_ROWS as usize).batch_bytes(u64::MAX);
    assert_eq!(scan.threads(num_threads).build().unwrap().count(), 1);
}

#[test]
fn one_thread_is_the_calling_one() {
    let before = threads().len();
    read_and_write(1);
    assert_eq!((helpers(), threads().len()), (0, before));
    read_and_write(3);
    let helpers = helpers();
    if cfg!(feature = "threads") {
        let cores = std::thread::available_parallelism().unwrap().get();
        assert!((1..=2.max(cores - 1)).contains(&helpers), "{helpers} helpers");
        assert_eq!(threads().len(), before + helpers);
    }
}
