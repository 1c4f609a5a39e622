//! Files on disk, read with positioned reads on the calling thread.
//!
//! Scans read on where they have read before, and the system reads ahead of them; where they jump, they say so, unless it
//! is to so much that the system finds out by itself. Takes say what they are going to read:
//!
//! ```text
//! spans in memory      read   read   read   …           one call each, and nothing else
//! the first that       ├ announce it and those after it the device gets them together
//! is not               ├ read   read   read   …         each waits for what is still missing
//!                      └ read ············ …            those that are near each other as one
//! ```

use std::fs::{File, FileType};
use std::io::{self, IoSliceMut};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

use super::ahead::Ahead;
use super::coalesce::coalesce;
use super::page_cache::PageCache;
use super::source::{Source, beyond_the_end};
use super::stream::{Stream, runs};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::span::Span;

/// A file on disk as a [`Source`], as [`FileReader::open`](crate::FileReader::open) reads it: with positioned reads on the
/// calling thread, several of which may read at the same time, and with
/// [what lies apart](Source::read_scattered) asked of the device together where it is not in memory.
#[derive(Debug)]
pub struct FileSource {
    pub(super) file: File,
    size: u64,
    pub(super) name: String,
    pool: Arc<Pool>,
    pub(super) cache: PageCache,
    /// How often it still pays to announce what is read next.
    waited: AtomicU32,
}

/// Neighbouring spans closer than this are read together: a second system call costs more than
/// copying the gap.
const MERGE_GAP: u64 = 4096;

/// Reads do not grow beyond this by merging: the call is no longer what they cost, and whoever keeps
/// a part of the bytes keeps all of them.
const MERGE_BYTES: u64 = 1 << 20;

/// A span that is shorter and alone is simply read: there is nothing to be announced with it, and its time is that of a
/// call.
const PROBED_BYTES: u64 = 64 << 10;

/// So many batches are announced after a read that has waited. Those that come in time do not wait, so that it is not
/// known whether they would have.
const BELIEVED: u32 = 32;

impl FileSource {
    /// Opens a regular file. What is something else is refused at once: a pipe without a writer would never open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let refused = |kind: FileType| Error::invalid(refusal(&name, kind));
        let failed = |error| Error::io(format!("cannot open {name}"), error);
        // Who waits at the other end of a pipe must not be let in to be shut out again.
        if let Ok(found) = path.metadata()
            && !found.is_file()
        {
            return Err(refused(found.file_type()));
        }
        let file = open_at_once(path).map_err(|error| match path.metadata() {
            // Sockets do not open at all.
            Ok(found) if !found.is_file() && !found.is_dir() => refused(found.file_type()),
            _ => failed(error),
        })?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(refused(metadata.file_type()));
        }
        Ok(Self::with_size(file, name, metadata.len()))
    }

    /// A file that is open. It has the size that it has now; `name` is what errors call it.
    pub fn new(file: File, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let size = file.metadata().map_err(|e| Error::io(format!("cannot read {name}"), e))?.len();
        Ok(Self::with_size(file, name, size))
    }

    fn with_size(file: File, name: String, size: u64) -> Self {
        let waited = AtomicU32::new(0);
        Self { file, size, name, pool: Arc::default(), cache: PageCache::default(), waited }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The bytes of spans, if all of them are in memory. It does not wait for bytes: where a device had to be asked for
    /// them, or where the system does not tell, there are none. For those who read on a thread that must not wait, as
    /// async drivers do.
    pub fn read_now(&self, spans: &[Span]) -> Option<Vec<Bytes>> {
        if spans.iter().any(|span| span.end() > self.size) {
            return None;
        }
        let plan = coalesce(spans, MERGE_GAP, MERGE_BYTES);
        let read = |span: &Span| {
            let len = usize::try_from(span.len()).ok()?;
            let mut buffer = self.pool.take(len);
            let is_there = self.cache.read_now(&self.file, &mut buffer, len, span.start());
            // The memory goes back to the pool if it holds nothing.
            let bytes = self.pool.lend(buffer);
            is_there.then_some(bytes)
        };
        plan.cut(&plan.reads.iter().map(read).collect::<Option<Vec<_>>>()?, spans).ok()
    }

    /// Reads one span after the other, those from the first one on that is not in memory as what is cold.
    fn read_all(&self, spans: &[Span], apart: bool) -> Result<Vec<Bytes>> {
        let mut all = Vec::with_capacity(spans.len());
        let mut begun = None;
        // A short one alone has nothing to be announced with it.
        let is_short = matches!(spans, [span] if span.len() < PROBED_BYTES);
        for span in spans.iter().take_while(|_| !is_short) {
            let (mut buffer, len) = self.buffer_for(span)?;
            if !self.cache.read(&self.file, &mut buffer, len, span.start()) {
                self.waited.store(BELIEVED, Ordering::Relaxed);
                begun = Some(buffer);
                break;
            }
            all.push(self.pool.lend(buffer));
        }
        match spans.get(all.len()..) {
            None | Some([]) => {}
            Some(left) => self.read_cold(left, begun, apart, &mut all)?,
        }
        Ok(all)
    }

    /// Reads spans of which the first one is not in memory, or only what was begun of it: those that are near each other as
    /// one. If they lie apart, all of them are announced.
    fn read_cold(
        &self,
        spans: &[Span],
        mut begun: Option<Vec<u8>>,
        apart: bool,
        all: &mut Vec<Bytes>,
    ) -> Result<()> {
        let failed = |error| Error::io(format!("cannot read {}", self.name), error);
        let is_announced = apart && spans.len() > 1;
        let ahead = is_announced.then(|| Ahead::of_take(spans, self.cache.device(&self.file)));
        for run in runs(spans) {
            let mut stream = Stream::new(run, &self.pool);
            for span in run {
                if let Some(ahead) = &ahead {
                    ahead.pass(&self.file, span.start());
                }
                let (mut buffer, len) = match begun.take() {
                    Some(begun) => (begun, span.memory_len()),
                    None => self.buffer_for(span)?,
                };
                let read =
                    |buffer: &mut Vec<u8>, len: usize, at: u64| fill(&self.file, buffer, len, at);
                let filled = match &mut stream {
                    Some(stream) => stream.read(span, &mut buffer, read),
                    None => read(&mut buffer, len, span.start()),
                };
                filled.map_err(failed)?;
                all.push(self.pool.lend(buffer));
            }
        }
        Ok(())
    }

    /// An empty buffer for a span, and how many bytes it is to have.
    fn buffer_for(&self, span: &Span) -> Result<(Vec<u8>, usize)> {
        let len = usize::try_from(span.len()).map_err(|_| beyond_the_end(span))?;
        Ok((self.pool.take(len), len))
    }

    fn read_merged(&self, spans: &[Span], apart: bool) -> Result<Vec<Bytes>> {
        if let [_] = spans {
            return self.read_all(spans, apart);
        }
        let plan = coalesce(spans, MERGE_GAP, MERGE_BYTES);
        plan.cut(&self.read_all(&plan.reads, apart)?, spans)
    }

    /// Whether spans in file order are in memory.
    pub(super) fn has(&self, spans: &[Span]) -> bool {
        self.cache.has(&self.file, spans)
    }

    /// Spans in file order of which each is to be read with [`FileSource::read_into`], to be announced.
    pub(super) fn ahead(&self, spans: &[Span]) -> Ahead {
        Ahead::of_take(spans, self.cache.device(&self.file))
    }

    /// Announces spans that lie apart, unless they are in memory. Returns whether they were announced.
    pub(super) fn announce_unless_there(&self, spans: &[Span]) -> bool {
        let reads = coalesce(spans, MERGE_GAP, MERGE_BYTES).reads;
        if self.has(&reads) {
            return false;
        }
        self.ahead(&reads).pass(&self.file, 0);
        true
    }

    /// Fills the parts, one after the other, with the bytes from `position` on.
    pub(crate) fn read_into(&self, position: u64, parts: &mut [IoSliceMut<'_>]) -> Result<()> {
        fill_parts(&self.file, position, parts)
            .map_err(|e| Error::io(format!("cannot read {}", self.name), e))
    }
}

impl Source for FileSource {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        self.read_merged(spans, false)
    }

    fn read_scattered(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        self.read_merged(spans, true)
    }

    fn has_waited(&self) -> bool {
        self.waited.load(Ordering::Relaxed) > 0
    }

    fn announce(&self, spans: &[Span], before: &[Span]) {
        let one_less = |left: u32| left.checked_sub(1);
        let _ = self.waited.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        let reads = coalesce(spans, MERGE_GAP, MERGE_BYTES).reads;
        Ahead::of_scan(&reads, before, self.cache.device(&self.file)).begin(&self.file);
    }
}

/// Opens a file without waiting for whoever is at the other end, should it be a pipe.
#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;

    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        // Somebody has a lease on the file, and gives it back to those who wait.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && path.is_file() => {
            File::open(path)
        }
        opened => opened,
    }
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What is said of what is no regular file.
fn refusal(name: &str, kind: FileType) -> String {
    if kind.is_dir() {
        return format!("{name} is a folder; name one file inside it");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return format!(
                "{name} is a named pipe, not a regular file; copy what comes out of it to one"
            );
        }
        if kind.is_socket() {
            return format!("{name} is a socket, not a regular file");
        }
    }
    format!("{name} is a device, not a regular file; copy what is in it to one")
}

#[cfg(unix)]
fn fill_parts(file: &File, mut at: u64, mut parts: &mut [IoSliceMut<'_>]) -> io::Result<()> {
    // Parts without bytes would look like the end of the file.
    IoSliceMut::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        match rustix::io::preadv(file, parts, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
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
fn fill_parts(file: &File, mut at: u64, parts: &mut [IoSliceMut<'_>]) -> io::Result<()> {
    for part in parts {
        let mut rest = &mut **part;
        while !rest.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, rest, at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    rest = rest.split_at_mut(n).1;
                    at = at.saturating_add(n as u64);
                }
            }
        }
    }
    Ok(())
}

/// Fills a buffer up to `len` bytes of memory that nobody has filled with zeros before; those that it has are the
/// first ones from `position` on.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the memory may have room for more than is wanted")]
pub(super) fn fill(file: &File, buffer: &mut Vec<u8>, len: usize, position: u64) -> io::Result<()> {
    while buffer.len() < len {
        let (at, missing) = (buffer.len(), len.saturating_sub(buffer.len()));
        let room = buffer.spare_capacity_mut().get_mut(..missing).unwrap_or_default();
        match rustix::io::pread(file, room, position.saturating_add(at as u64)) {
            Ok(([], _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((read, _)) => {
                let end = at.saturating_add(read.len());
                // SAFETY: the call has filled the bytes up to there, and there is room for them.
                unsafe { buffer.set_len(end) };
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(windows)]
pub(super) fn fill(file: &File, buffer: &mut Vec<u8>, len: usize, position: u64) -> io::Result<()> {
    let had = buffer.len();
    buffer.resize(len, 0);
    let missing = buffer.get_mut(had..).unwrap_or_default();
    let position = position.saturating_add(had as u64);
    let filled = fill_parts(file, position, &mut [IoSliceMut::new(missing)]);
    if filled.is_err() {
        buffer.truncate(had);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_regular_files_are_opened() {
        let folder = std::env::temp_dir().join(format!("lancet-kinds-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (pipe, socket) = (folder.join("pipe"), folder.join("socket"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let kinds = [
            (pipe.as_path(), "is a named pipe"),
            (socket.as_path(), "is a socket"),
            (Path::new("/dev/zero"), "is a device"),
            (folder.as_path(), "is a folder"),
        ];
        for (path, kind) in kinds {
            match FileSource::open(path) {
                Err(Error::Invalid(message)) => assert!(message.contains(kind), "{message}"),
                opened => panic!("{opened:?}"),
            }
        }
        let missing = FileSource::open(folder.join("missing"));
        assert!(matches!(missing, Err(Error::Io { .. })), "{missing:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }

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
}
