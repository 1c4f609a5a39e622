//! Opening a file without any I/O of one's own.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::source::Source;
use super::{FileReader, ReadOptions};
use crate::error::{Error, Result};
use crate::span::Span;

/// A file being opened by a driver that reads it in its own way: it is told which bytes are needed,
/// hands them over, and gets the reader.
///
/// Such a reader has no source, so only its requests ([`FileReader::request_take`],
/// [`FileReader::request_rows`], [`FileReader::request_prune`] and the like) read; `take`, `scan` and
/// the others fail.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Int32Array, RecordBatch};
/// # use lancet::{FileWriter, WriteOptions};
/// use lancet::{Opening, ReadOptions, Request, Span};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ids = Arc::new(Int32Array::from_iter_values(0..1000));
/// # let batch = RecordBatch::try_from_iter([("id", ids as _)])?;
/// # let mut bytes = Vec::new();
/// # let mut writer = FileWriter::new(&mut bytes, batch.schema(), WriteOptions::default())?;
/// # writer.write(&batch)?;
/// # writer.finish_into()?;
/// # let file = bytes::Bytes::from(bytes);
/// let read = |span: &Span| file.slice(span.start() as usize..span.end() as usize);
/// let mut opening = Opening::new(file.len() as u64, ReadOptions::default());
/// let reader = loop {
///     match opening.try_open()? {
///         Ok(reader) => break reader,
///         Err(span) => opening.supply(span.start(), read(&span)),
///     }
/// };
/// let mut request = reader.request_take(&[7, 1], None)?;
/// while !request.spans().is_empty() {
///     let bytes = request.spans().iter().map(read).collect();
///     request.supply(bytes)?;
/// }
/// assert_eq!(request.finish()?.column(0).as_ref(), &Int32Array::from(vec![7, 1]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Opening {
    size: u64,
    options: ReadOptions,
    known: Vec<(u64, Bytes)>,
}

impl Opening {
    /// Begins to open a file of `size` bytes.
    pub fn new(size: u64, options: ReadOptions) -> Self {
        Self { size, options, known: Vec::new() }
    }

    /// Hands over bytes of the file, at best a stretch at its end before anything was asked for.
    pub fn supply(&mut self, start: u64, bytes: Bytes) {
        self.known.push((start, bytes));
    }

    /// The reader, or the span of the file that is needed first.
    ///
    /// Opening is a few short parses, so it simply begins anew with every span that was missing.
    pub fn try_open(&self) -> Result<Result<FileReader, Span>> {
        let parts = Arc::new(Parts {
            size: self.size,
            known: Mutex::new(self.known.clone()),
            missing: Mutex::new(None),
        });
        let opened = FileReader::from_source(parts.clone(), self.options.clone());
        let missing = parts.missing.lock().ok().and_then(|mut missing| missing.take());
        if let Ok(mut known) = parts.known.lock() {
            known.clear();
        }
        match (opened, missing) {
            (Ok(reader), _) => Ok(Ok(reader)),
            (Err(_), Some(span)) => Ok(Err(span)),
            (Err(error), None) => Err(error),
        }
    }
}

/// The parts of a file that are known while it is opened; none afterwards.
#[derive(Debug)]
struct Parts {
    size: u64,
    known: Mutex<Vec<(u64, Bytes)>>,
    missing: Mutex<Option<Span>>,
}

impl Source for Parts {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let known = self.known.lock().map(|known| known.clone()).unwrap_or_default();
        let find = |span: &Span| known.iter().find_map(|(start, bytes)| span.cut(*start, bytes));
        let read = |span: &Span| {
            find(span).ok_or_else(|| {
                if let Ok(mut missing) = self.missing.lock() {
                    missing.get_or_insert(*span);
                }
                Error::invalid("this file is read by requests; it has no source of its own")
            })
        };
        spans.iter().map(read).collect()
    }
}
