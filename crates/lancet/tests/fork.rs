//! Child processes that read and write after their parent has done so, and processes without more threads.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/table.rs"]
mod table;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

use lancet::{Batches, FileReader, NewFile, ReadOptions, WriteOptions};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use table::{NUM_ROWS, some_rows, table, written};

const THREADS: usize = 4;

fn write_options() -> WriteOptions {
    WriteOptions::default().with_threads(THREADS).with_page_bytes(50_000)
}

fn read_options() -> ReadOptions {
    ReadOptions::default().with_threads(THREADS)
}

/// Does the work in a child of this process, which then ends without a word to anyone else.
fn in_child(work: impl FnOnce()) -> Pid {
    // SAFETY: the child has this thread only. It allocates, which the system's allocator provides for,
    // and does what is tested: it must not need anything that another thread holds.
    match unsafe { fork() }.unwrap() {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let failed = catch_unwind(AssertUnwindSafe(work)).is_err();
            // SAFETY: ends the process.
            unsafe { nix::libc::_exit(i32::from(failed)) }
        }
    }
}

/// Waits for a child, but not for ever.
fn wait(child: Pid) {
    let start = Instant::now();
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).unwrap() {
            WaitStatus::StillAlive if start.elapsed() < Duration::from_secs(60) => {
                std::thread::sleep(Duration::from_millis(2));
            }
            WaitStatus::StillAlive => {
                kill(child, Signal::SIGKILL).unwrap();
                waitpid(child, None).unwrap();
                panic!("the child waits for ever");
            }
            status => return assert_eq!(status, WaitStatus::Exited(child, 0)),
        }
    }
}

fn count(batches: &mut Batches) -> u64 {
    batches.map(|batch| batch.unwrap().num_rows() as u64).sum()
}

#[test]
fn children_read_and_write_with_the_readers_of_their_parent() {
    let table = table();
    let few = table.slice(0, 2_000);
    let (file, copy) = (written(&table, write_options()), written(&few, write_options()));
    let path = std::env::temp_dir().join(format!("lancet-fork-{}.lance", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let reader = FileReader::open_with(&path, read_options()).unwrap();
    let rows = some_rows(256);
    let expected = reader.take(&rows).unwrap();
    let work = |begun: &mut Batches| {
        assert_eq!(reader.take(&rows).unwrap(), expected);
        assert_eq!(NUM_ROWS - count(begun), 2 * 8_192);
        assert_eq!(count(&mut reader.scan().build().unwrap()), NUM_ROWS);
        assert!(written(&few, write_options()) == copy);
    };
    for round in 0..50 {
        // Helpers are in the middle of it.
        let mut begun = reader.scan().build().unwrap();
        (0..2).for_each(|_| drop(begun.next().unwrap().unwrap()));
        let mut dropped = reader.scan().build().unwrap();
        dropped.next().unwrap().unwrap();
        let child = in_child(|| {
            drop(dropped);
            work(&mut begun);
            if round % 10 == 0 {
                begun = reader.scan().build().unwrap();
                (0..2).for_each(|_| drop(begun.next().unwrap().unwrap()));
                wait(in_child(|| work(&mut begun)));
            }
        });
        assert_eq!(NUM_ROWS - count(&mut begun), 2 * 8_192);
        wait(child);
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn children_leave_the_files_of_their_parent_alone() {
    let path = std::env::temp_dir().join(format!("lancet-fork-{}.txt", std::process::id()));
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"of the parent").unwrap();
    let mut slot = Some(file);
    // What was not written yet is in the memory of both.
    wait(in_child(|| drop(slot.take())));
    wait(in_child(|| assert!(slot.take().unwrap().publish().is_err())));
    let mut file = slot.take().unwrap();
    file.write_all(b", all of it").unwrap();
    file.publish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"of the parent, all of it");
    std::fs::remove_file(path).unwrap();
}

/// Runs itself once more with stacks that are too large for any thread but the first.
#[test]
fn threads_that_cannot_be_started_are_not_missed() {
    const NAME: &str = "threads_that_cannot_be_started_are_not_missed";
    const CHILD: &str = "LANCET_TEST_WITHOUT_THREADS";
    if std::env::var_os(CHILD).is_none() {
        // One test at a time runs on the first thread.
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([NAME, "--exact", "--nocapture", "--test-threads=1"]);
        command.env(CHILD, "1").env("RUST_MIN_STACK", (1_u64 << 50).to_string());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());
    let table = table();
    let file = written(&table, write_options());
    let reader = FileReader::from_bytes(file, read_options()).unwrap();
    assert_eq!(reader.take(&some_rows(5_000)).unwrap().num_rows(), 5_000);
    assert_eq!(count(&mut reader.scan().build().unwrap()), NUM_ROWS);
}
