//! Files on disk: one descriptor for all reads, whatever happens to the name meanwhile.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use lancet::{FileSource, Source as _, Span};
use object_store::ObjectMeta;

use crate::together::Together;

/// So many bytes in so many calls are read at once if they are in memory: another thread would be woken for longer than
/// that takes. Longer reads are for another thread, while this one decodes what it has.
const MOST_AT_ONCE: u64 = 256 << 10;
const MOST_CALLS: usize = 32;

/// A file as it was when it was opened.
#[derive(Debug)]
pub(crate) struct LocalFile {
    source: FileSource,
    size: u64,
    modified: SystemTime,
}

/// Why bytes of a file could not be read.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Somebody has written into it.
    Changed,
    Io(lancet::Error),
}

fn unreadable(source: io::Error) -> Failure {
    Failure::Io(lancet::Error::Io { context: "cannot read a file".into(), source })
}

impl LocalFile {
    /// The file that a store opened, and what it said of it.
    pub(crate) fn new(file: File, object: &ObjectMeta) -> lancet::Result<Self> {
        let source = FileSource::new(file, object.location.to_string())?;
        Ok(Self { source, size: object.size, modified: object.last_modified.into() })
    }

    /// The bytes of all spans, each with its number.
    pub(crate) async fn read(
        self: &Arc<Self>,
        requests: Vec<Together>,
    ) -> Result<Vec<(usize, Bytes)>, Failure> {
        let bytes = requests.iter().map(|one| one.span.len()).fold(0, u64::saturating_add);
        // Who is always answered at once has to let other tasks run now and then.
        tokio::task::coop::consume_budget().await;
        if bytes <= MOST_AT_ONCE
            && requests.len() <= MOST_CALLS
            && let Some(read) = self.source.read_now(&spans(&requests))
        {
            return self.cut(&requests, &read);
        }
        let file = self.clone();
        let read = move || file.read_waiting(&requests);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => match runtime.spawn_blocking(read).await {
                Ok(read) => read,
                Err(error) => Err(unreadable(io::Error::other(error))),
            },
            Err(_) => read(),
        }
    }

    fn read_waiting(&self, requests: &[Together]) -> Result<Vec<(usize, Bytes)>, Failure> {
        let read = self.read_spans(&spans(requests));
        match read {
            Ok(read) => self.cut(requests, &read),
            Err(error) => self.check().and(Err(Failure::Io(error))),
        }
    }

    /// The spans of requests that were read.
    fn cut(&self, requests: &[Together], read: &[Bytes]) -> Result<Vec<(usize, Bytes)>, Failure> {
        // What was written before this has changed the time.
        self.check()?;
        Ok(requests.iter().zip(read).flat_map(|(one, bytes)| one.cut(bytes)).collect())
    }

    /// What is not in memory is asked of the device together.
    fn read_spans(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        if spans.iter().any(|span| span.end() > self.source.size_bytes()) {
            let (context, source) = ("cannot read".into(), io::ErrorKind::UnexpectedEof.into());
            return Err(lancet::Error::Io { context, source });
        }
        self.source.read_scattered(spans)
    }

    fn check(&self) -> Result<(), Failure> {
        let now = self.source.file().metadata().map_err(unreadable)?;
        let same = now.len() == self.size && now.modified().ok() == Some(self.modified);
        if same { Ok(()) } else { Err(Failure::Changed) }
    }
}

fn spans(requests: &[Together]) -> Vec<Span> {
    requests.iter().map(|one| one.span).collect()
}
