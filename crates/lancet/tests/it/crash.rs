//! Writing that fails: an error, nothing under the final name, what was there before untouched.

use std::io::{Error as IoError, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{Error, FileReader, FileWriter, WriteOptions};

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..500));
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..500).map(|i| format!("text {}", i % 70))));
    RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap()
}

/// Small pages, so that there are many writes.
fn options() -> WriteOptions {
    WriteOptions::default().with_page_bytes(1000)
}

/// Takes some bytes and then fails, like a disk that is full.
struct Disk<'a> {
    written: &'a mut Vec<u8>,
    room: usize,
    /// Calls until it fails for another reason.
    calls: usize,
}

impl Write for Disk<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let Some(calls) = self.calls.checked_sub(1) else {
            return Err(IoError::other("the cable was pulled"));
        };
        self.calls = calls;
        let taken = bytes.len().min(self.room - self.written.len());
        self.written.extend_from_slice(&bytes[..taken]);
        match taken {
            0 if !bytes.is_empty() => Err(ErrorKind::StorageFull.into()),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write_to(writer: impl Write) -> lancet::Result<()> {
    let batch = batch();
    let mut writer = FileWriter::new(writer, batch.schema(), options())?;
    for part in [batch.slice(0, 200), batch.slice(200, 300)] {
        writer.write(&part)?;
    }
    writer.add_global_buffer(b"global")?;
    writer.finish_into().map(|_| ())
}

#[test]
fn every_write_may_fail() {
    let mut whole = Vec::new();
    write_to(Disk { written: &mut whole, room: usize::MAX, calls: usize::MAX }).unwrap();
    let mut calls = 0;
    loop {
        let mut written = Vec::new();
        let done = write_to(Disk { written: &mut written, room: usize::MAX, calls });
        assert!(whole.starts_with(&written));
        match done {
            Ok(()) => break,
            Err(Error::Io { source, .. }) => assert_eq!(source.to_string(), "the cable was pulled"),
            Err(other) => panic!("{other}"),
        }
        assert!(FileReader::from_bytes(written, Default::default()).is_err());
        calls += 1;
    }
    assert!(calls > 20, "{calls} writes");
}

#[test]
fn the_disk_may_be_full_at_any_byte() {
    let mut whole = Vec::new();
    write_to(&mut whole).unwrap();
    for room in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut written = Vec::new();
        let done = write_to(Disk { written: &mut written, room, calls: usize::MAX });
        let Err(Error::Io { source, .. }) = done else { panic!("{done:?} with room for {room}") };
        assert_eq!(source.kind(), ErrorKind::StorageFull);
        assert_eq!(written, whole[..room]);
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_is_not_finished_does_not_appear() {
    let folder = folder("crash_unfinished");
    let path = folder.join("t.lance");
    std::fs::write(&path, "old").unwrap();
    let batch = batch();
    let mut writer = FileWriter::create(&path, batch.schema(), options()).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(names(&folder).len(), 2);
    drop(writer);
    assert_eq!(names(&folder), ["t.lance"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn an_error_while_writing_leaves_nothing() {
    let folder = folder("crash_error");
    let path = folder.join("t.lance");
    let batch = batch();
    let mut writer = FileWriter::create(&path, batch.schema(), options()).unwrap();
    writer.write(&batch).unwrap();
    let other = batch.project(&[0]).unwrap();
    assert!(matches!(writer.write(&other), Err(Error::Invalid(_))));
    drop(writer);
    assert!(names(&folder).is_empty());
}

#[test]
fn a_name_that_cannot_be_taken_leaves_nothing() {
    let folder = folder("crash_rename");
    let path = folder.join("t.lance");
    let batch = batch();
    let mut writer = FileWriter::create(&path, batch.schema(), options()).unwrap();
    writer.write(&batch).unwrap();
    // A folder with something in it cannot be replaced by a file.
    std::fs::create_dir_all(path.join("inside")).unwrap();
    assert!(matches!(writer.finish(), Err(Error::Io { .. })));
    assert_eq!(names(&folder), ["t.lance"]);
}

#[test]
fn two_writers_of_one_name_do_not_mix() {
    let folder = folder("crash_two");
    let path = folder.join("t.lance");
    let batch = batch();
    let start = || FileWriter::create(&path, batch.schema(), options()).unwrap();
    let (mut first, mut second) = (start(), start());
    first.write(&batch).unwrap();
    second.write(&batch.slice(0, 3)).unwrap();
    first.finish().unwrap();
    assert_eq!(FileReader::open(&path).unwrap().take(&[499]).unwrap().num_rows(), 1);
    second.finish().unwrap();
    assert_eq!(FileReader::open(&path).unwrap().num_rows(), 3);
    assert_eq!(names(&folder), ["t.lance"]);
}
