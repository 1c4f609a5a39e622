use std::io::{self, ErrorKind};

use super::*;
use crate::span::span;

#[test]
fn buffers_are_aligned() {
    let mut sink = Sink::new(Vec::new(), true);
    assert_eq!(sink.write_buffer(b"abc").unwrap(), span(0..3));
    assert_eq!(sink.write_buffer(b"").unwrap(), span(64..64));
    assert_eq!(sink.write_buffer(&[7; 64]).unwrap(), span(64..128));
    sink.write(b"tail").unwrap();
    assert_eq!(sink.position(), 132);
    // What has no bytes has no checksum, and blocks cover what is between buffers.
    let checksums = sink.take_checksums().unwrap();
    let mut expected = NewChecksums::default();
    expected.add_buffer(0, b"abc");
    expected.add_buffer(64, &[7; 64]);
    expected.push(&[b"abc", &[0x48; 61][..], &[7; 64], b"tail"].concat());
    assert_eq!(checksums.encode(132, b""), expected.encode(132, b""));
    assert!(sink.take_checksums().is_none());
    let file = sink.into_inner().unwrap();
    assert_eq!(file[..3], *b"abc");
    assert!(file[3..64].iter().all(|byte| *byte == 0x48));
    assert_eq!(file[128..], *b"tail");
}

/// A disk that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(ErrorKind::StorageFull.into())
    }
}

#[test]
fn failures_of_the_disk_come_through() {
    let mut sink = Sink::new(Full, false);
    let failed = |error: Error| match error {
        Error::Io { context, source } => {
            assert_eq!(source.kind(), ErrorKind::StorageFull);
            assert_eq!(context, "cannot write the file");
        }
        other => panic!("{other:?}"),
    };
    failed(sink.write_buffer(b"abc").unwrap_err());
    assert_eq!(sink.position(), 0);
    let Err(error) = sink.into_inner() else { panic!() };
    failed(error);
}
