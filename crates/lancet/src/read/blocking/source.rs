//! Where the bytes of a file come from.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::span::Span;

/// Random access to the bytes of a file.
///
/// Implement it to read Lance files from somewhere else; reads may come from several threads.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
/// use std::sync::{Arc, Mutex};
///
/// use lancet::{Bytes, Error, FileReader, ReadOptions, Result, Source, Span};
///
/// /// Anything that can seek, behind a lock.
/// struct Seekable<F> {
///     file: Mutex<F>,
///     size: u64,
/// }
///
/// impl<F: Read + Seek + Send> Source for Seekable<F> {
///     fn size_bytes(&self) -> u64 {
///         self.size
///     }
///
///     fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
///         let mut file = self.file.lock().expect("no reader panics");
///         let mut read = |span: &Span| {
///             let mut bytes = vec![0; span.len() as usize];
///             file.seek(SeekFrom::Start(span.start()))?;
///             file.read_exact(&mut bytes)?;
///             Ok(Bytes::from(bytes))
///         };
///         // Where a read costs more than a few bytes, `lancet::coalesce` makes fewer of them.
///         let failed = |source| Error::Io { context: "cannot read".into(), source };
///         spans.iter().map(|span| read(span).map_err(failed)).collect()
///     }
/// }
///
/// # use lancet::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # fn main() -> Result<()> {
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let mut writer = lancet::FileWriter::new(Vec::new(), batch.schema(), Default::default())?;
/// # writer.write(&batch)?;
/// # let bytes = writer.finish_into()?.1;
/// let size = bytes.len() as u64;
/// let file = Mutex::new(std::io::Cursor::new(bytes));
/// let reader = FileReader::from_source(Arc::new(Seekable { file, size }), ReadOptions::default())?;
/// assert_eq!(reader.take(&[999, 7])?.num_rows(), 2);
/// # Ok(())
/// # }
/// ```
pub trait Source: Send + Sync {
    /// Size of the file.
    fn size_bytes(&self) -> u64;

    /// The bytes of each span, in the same order. Spans lie inside the file; they may overlap.
    fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>>;

    /// [`Source::read`] of spans that lie apart, and beside which nothing is read soon. Where many asked for together
    /// cost less than one after the other, a source can ask for all of them first. By default they are read like any
    /// others.
    fn read_scattered(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        self.read(spans)
    }

    /// Whether reads have had to wait lately, so that it pays to [announce](Source::announce) what is read next. By
    /// default nobody knows, and nothing is announced.
    fn has_waited(&self) -> bool {
        false
    }

    /// Says what is going to be read after the spans `before`, so that it can be brought while what is there is
    /// decoded. It is not for this call to wait for it. By default nothing happens.
    fn announce(&self, spans: &[Span], before: &[Span]) {
        let _ = (spans, before);
    }
}

/// A file that is in memory; reads are slices of it.
impl Source for Bytes {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        let cut = |span: &Span| span.cut(0, self).ok_or_else(|| beyond_the_end(span));
        spans.iter().map(cut).collect()
    }
}

pub(super) fn beyond_the_end(span: &Span) -> Error {
    Error::corrupt(format!("bytes {span} lie outside the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_outside_is_an_error() {
        let file = Bytes::from_static(b"abc");
        assert_eq!(file.read(&[Span::new(1, 3).unwrap()]).unwrap(), ["bc"]);
        assert!(file.read(&[Span::new(1, 4).unwrap()]).is_err());
    }
}
