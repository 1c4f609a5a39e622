//! Where the bytes of a file come from.

use std::fs::File;
use std::io::IoSliceMut;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::coalesce::coalesce;
use crate::error::{Error, Result};
use crate::pool::Pool;
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

/// A file on disk, read with positioned reads on the calling thread.
#[derive(Debug)]
pub(crate) struct FileSource {
    pub(super) file: File,
    size: u64,
    pub(super) name: String,
    pool: Arc<Pool>,
}

/// Neighbouring spans closer than this are read together: a second system call costs more than
/// copying the gap.
const MERGE_GAP: u64 = 4096;

/// Reads do not grow beyond this by merging: the call is no longer what they cost, and whoever keeps
/// a part of the bytes keeps all of them.
const MERGE_BYTES: u64 = 1 << 20;

impl FileSource {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| Error::io(format!("cannot open {name}"), e))?;
        let metadata = file.metadata().map_err(|e| Error::io(format!("cannot open {name}"), e))?;
        if metadata.is_dir() {
            return Err(Error::invalid(format!("{name} is a folder; name one file inside it")));
        }
        Ok(Self { file, size: metadata.len(), name, pool: Arc::default() })
    }

    fn read_span(&self, span: &Span) -> Result<Bytes> {
        let len = usize::try_from(span.len()).map_err(|_| beyond_the_end(span))?;
        self.read_exact(len, span.start())
            .map(|buffer| self.pool.lend(buffer))
            .map_err(|e| Error::io(format!("cannot read {}", self.name), e))
    }

    /// Fills the parts, one after the other, with the bytes from `position` on.
    pub(crate) fn read_into(&self, position: u64, parts: &mut [IoSliceMut<'_>]) -> Result<()> {
        self.fill(position, parts).map_err(|e| Error::io(format!("cannot read {}", self.name), e))
    }

    #[cfg(unix)]
    fn fill(&self, mut at: u64, mut parts: &mut [IoSliceMut<'_>]) -> std::io::Result<()> {
        // Parts without bytes would look like the end of the file.
        IoSliceMut::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match rustix::io::preadv(&self.file, parts, at) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    IoSliceMut::advance_slices(&mut parts, read);
                    at = at.saturating_add(read as u64);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    #[cfg(windows)]
    fn fill(&self, mut at: u64, parts: &mut [IoSliceMut<'_>]) -> std::io::Result<()> {
        for part in parts {
            let mut rest = &mut **part;
            while !rest.is_empty() {
                match std::os::windows::fs::FileExt::seek_read(&self.file, rest, at)? {
                    0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                    n => {
                        rest = rest.split_at_mut(n).1;
                        at = at.saturating_add(n as u64);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads into memory that nobody has filled with zeros before.
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "the memory may have room for more than is wanted")]
    fn read_exact(&self, len: usize, position: u64) -> std::io::Result<Vec<u8>> {
        let mut buffer = self.pool.take(len);
        while buffer.len() < len {
            let (at, missing) = (buffer.len(), len.saturating_sub(buffer.len()));
            let room = buffer.spare_capacity_mut().get_mut(..missing).unwrap_or_default();
            match rustix::io::pread(&self.file, room, position.saturating_add(at as u64)) {
                Ok(([], _)) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok((read, _)) => {
                    let end = at.saturating_add(read.len());
                    // SAFETY: the call has filled the bytes up to there, and there is room for them.
                    unsafe { buffer.set_len(end) };
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(buffer)
    }

    #[cfg(windows)]
    fn read_exact(&self, len: usize, position: u64) -> std::io::Result<Vec<u8>> {
        let mut buffer = self.pool.take_filled(len);
        self.fill(position, &mut [IoSliceMut::new(&mut buffer)])?;
        Ok(buffer)
    }
}

impl Source for FileSource {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        if let [span] = spans {
            return Ok(vec![self.read_span(span)?]);
        }
        let plan = coalesce(spans, MERGE_GAP, MERGE_BYTES);
        let merged =
            plan.reads.iter().map(|span| self.read_span(span)).collect::<Result<Vec<_>>>()?;
        plan.cut(&merged, spans)
    }
}

fn beyond_the_end(span: &Span) -> Error {
    Error::corrupt(format!("bytes {span} lie outside the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_filled_one_after_the_other() {
        let path = std::env::temp_dir().join(format!("lancet-parts-{}", std::process::id()));
        let bytes: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = FileSource::open(&path).unwrap();
        // More parts than one call takes, and some without bytes.
        let mut memory = vec![0; 3_000];
        let mut parts: Vec<_> = memory.chunks_mut(2).map(IoSliceMut::new).collect();
        parts.insert(0, IoSliceMut::new(&mut []));
        parts.push(IoSliceMut::new(&mut []));
        file.read_into(100, &mut parts).unwrap();
        assert_eq!(memory, bytes[100..3_100]);
        file.read_into(20_000, &mut [IoSliceMut::new(&mut [])]).unwrap();
        let beyond = file.read_into(9_000, &mut [IoSliceMut::new(&mut memory)]);
        assert!(matches!(beyond, Err(Error::Io { .. })), "{beyond:?}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_span_outside_is_an_error() {
        let file = Bytes::from_static(b"abc");
        assert_eq!(file.read(&[Span::new(1, 3).unwrap()]).unwrap(), ["bc"]);
        assert!(file.read(&[Span::new(1, 4).unwrap()]).is_err());
    }
}
