//! What the system says of its page cache: whether bytes are in it, and how to have them brought there.
//!
//! A device that is asked for one piece after the other takes 50 to 100 us for each; asked for many together, some
//! 7 us. Bytes that are in memory already take less than 1 us, and must not pay for the others.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};

use super::ahead::Device;
use super::disk::fill;
use crate::set_once::SetOnce;
use crate::span::Span;

/// A read that takes longer has waited for a device, and each KiB of it so much more.
const WAITED: Duration = Duration::from_micros(20);
const WAITED_PER_KIB: Duration = Duration::from_nanos(300);

/// The cache through which a file is read.
#[derive(Debug)]
pub(super) struct PageCache {
    /// Whether the file system has refused to say what is in memory, as those of networks, overlays and of memory
    /// do. Then the time that reads take has to tell.
    is_silent: AtomicBool,
    device: SetOnce<Device>,
}

impl Default for PageCache {
    fn default() -> Self {
        Self { is_silent: AtomicBool::new(false), device: SetOnce::new() }
    }
}

impl PageCache {
    /// Fills a buffer up to `len` bytes with what is in memory. Returns whether that was all.
    pub(super) fn read(&self, file: &File, buffer: &mut Vec<u8>, len: usize, at: u64) -> bool {
        if !self.is_silent.load(Ordering::Relaxed) {
            match read_cached(file, buffer, len, at) {
                Ok(()) => return buffer.len() == len,
                Err(libc::EOPNOTSUPP) => self.is_silent.store(true, Ordering::Relaxed),
                // Not in memory; or an error, which whoever reads on meets again.
                Err(_) => return false,
            }
        }
        let start = Instant::now();
        let kib = len.saturating_sub(buffer.len()) >> 10;
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let patience = WAITED.saturating_add(WAITED_PER_KIB.saturating_mul(kib));
        fill(file, buffer, len, at).is_ok() && start.elapsed() < patience
    }

    /// Fills a buffer with `len` bytes if all of them are in memory. Returns whether it has. It does not wait for bytes.
    pub(super) fn read_now(&self, file: &File, buffer: &mut Vec<u8>, len: usize, at: u64) -> bool {
        if self.is_silent.load(Ordering::Relaxed) {
            return false;
        }
        let read = read_cached(file, buffer, len, at);
        if read == Err(libc::EOPNOTSUPP) {
            self.is_silent.store(true, Ordering::Relaxed);
        }
        read.is_ok() && buffer.len() == len
    }

    /// Whether the spans are in memory: the ends of the first and the last one stand for all.
    pub(super) fn has(&self, file: &File, spans: &[Span]) -> bool {
        let mut ends = spans.first().into_iter().chain(spans.last());
        ends.all(|span| self.has_end(file, span))
    }

    fn has_end(&self, file: &File, span: &Span) -> bool {
        let mut byte = Vec::with_capacity(1);
        self.read(file, &mut byte, 1, span.end().saturating_sub(1))
    }

    /// What the system does for the device of the file.
    pub(super) fn device(&self, file: &File) -> Device {
        self.device.set_with(|| device(file)).copied().unwrap_or_default()
    }
}

/// Has the device asked for a span, without waiting for it.
pub(super) fn will_need(file: &File, span: Span) {
    let Some(len) = NonZeroU64::new(span.len()) else { return };
    // It is a hint: where it is not taken, reads take longer.
    let _ = fadvise(file, span.start(), Some(len), Advice::WillNeed);
}

/// What the system says of a device. A file system that is on none of its own, or on several, has what is usual.
fn device(file: &File) -> Device {
    let Ok(metadata) = file.metadata() else { return Device::default() };
    let (major, minor) = (libc::major(metadata.dev()), libc::minor(metadata.dev()));
    let bytes = |queue: &str, name: &str| {
        let path = format!("/sys/dev/block/{major}:{minor}/{queue}/{name}");
        let kib = std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()?;
        Some(kib.saturating_mul(1024))
    };
    // A partition has the queue of its disk.
    let found = ["queue", "../queue"]
        .into_iter()
        .find_map(|queue| Some((bytes(queue, "read_ahead_kb")?, bytes(queue, "max_sectors_kb")?)));
    found.map_or_else(Device::default, |(read_ahead_bytes, max_request)| Device {
        // The rest of what is announced at once is dropped.
        step_bytes: read_ahead_bytes.max(max_request),
        read_ahead_bytes,
    })
}

/// Adds to a buffer, up to `len` bytes, what is in memory of the file, or says why there is nothing. The bytes that it has
/// are the first ones from `at` on.
#[expect(unsafe_code, reason = "the memory was not filled with zeros before")]
fn read_cached(file: &File, buffer: &mut Vec<u8>, len: usize, at: u64) -> Result<(), i32> {
    let missing = len.saturating_sub(buffer.len());
    let at = i64::try_from(at.saturating_add(buffer.len() as u64)).map_err(|_| libc::EINVAL)?;
    let room = buffer.spare_capacity_mut().get_mut(..missing).ok_or(libc::EINVAL)?;
    let room = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: the call writes to this room, which nobody else uses, and no further.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const room, 1, at, libc::RWF_NOWAIT) };
    let Ok(read) = usize::try_from(read) else {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
    };
    let end = buffer.len().saturating_add(read.min(missing));
    // SAFETY: the call has filled the bytes up to there, and there is room for them.
    unsafe { buffer.set_len(end) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::blocking::ahead::Ahead;
    use crate::read::blocking::disk::FileSource;
    use crate::read::blocking::source::Source;

    /// A file that is on disk and not in memory, and its bytes.
    fn cold_file(name: &str) -> (std::path::PathBuf, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("lancet-{name}-{}", std::process::id()));
        let bytes: Vec<u8> = (0..4_u32 << 20).map(|i| (i >> 10) as u8 ^ i as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        evict(&File::open(&path).unwrap());
        (path, bytes)
    }

    fn evict(file: &File) {
        file.sync_all().unwrap();
        fadvise(file, 0, None, Advice::DontNeed).unwrap();
    }

    /// Pieces that are far from each other.
    fn pieces() -> Vec<Span> {
        (0..40).map(|i| Span::at(i * 100_000 + 50, 3_000).unwrap()).collect()
    }

    #[test]
    fn what_is_announced_comes_without_being_read() {
        let (path, bytes) = cold_file("announced");
        let (file, cache) = (File::open(&path).unwrap(), PageCache::default());
        let spans = pieces();
        let in_memory = || spans.iter().filter(|span| cache.has_end(&file, span)).count();
        let mut first = Vec::with_capacity(100);
        let was_there = cache.read(&file, &mut first, 100, 0);
        if cache.is_silent.load(Ordering::Relaxed) {
            // Only the time that reads take tells what was waited for.
            assert_eq!(first.as_slice(), &bytes[..100]);
        } else {
            assert!(!was_there && first.is_empty(), "it was evicted");
            evict(&file);
            assert_eq!(in_memory(), 0);
            Ahead::of_take(&spans, cache.device(&file)).pass(&file, 0);
            let start = Instant::now();
            while in_memory() < spans.len() && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(in_memory(), spans.len());
        }
        fill(&file, &mut first, 100, 0).unwrap();
        let mut again = Vec::with_capacity(100);
        cache.read(&file, &mut again, 100, 0);
        assert_eq!((first.as_slice(), again.as_slice()), (&bytes[..100], &bytes[..100]));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_in_memory_is_not_announced() {
        let (path, bytes) = cold_file("warm");
        let source = FileSource::open(&path).unwrap();
        let is_announced = !source.has(&pieces());
        let is_silent = source.cache.is_silent.load(Ordering::Relaxed);
        assert!(is_announced || is_silent, "it was evicted");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        for silent in [false, true] {
            source.cache.is_silent.store(silent, Ordering::Relaxed);
            // One of many: the machine may have been busy for as long as a device takes.
            let is_there = |_| source.has(&pieces());
            assert!((0..100).any(is_there), "silent: {silent}");
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_source_knows_that_it_has_waited() {
        let (path, bytes) = cold_file("waited");
        let whole = [Span::new(0, bytes.len() as u64).unwrap()];
        let source = FileSource::open(&path).unwrap();
        assert!(!source.has_waited());
        assert_eq!(source.read(&whole).unwrap(), [bytes.as_slice()]);
        if !source.cache.is_silent.load(Ordering::Relaxed) {
            assert!(source.has_waited(), "it was evicted");
        }
        // Announcements that bring nothing end.
        (0..100).for_each(|_| source.announce(&pieces(), &[]));
        assert!(!source.has_waited());
        let warm = FileSource::open(&path).unwrap();
        assert_eq!(warm.read(&whole).unwrap(), [bytes.as_slice()]);
        if !warm.cache.is_silent.load(Ordering::Relaxed) {
            assert!(!warm.has_waited());
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn only_what_is_in_memory_is_read_now() {
        let (path, bytes) = cold_file("now");
        let source = FileSource::open(&path).unwrap();
        let mut spans = pieces();
        spans.push(Span::new(7, 7).unwrap());
        assert!(source.read_now(&spans).is_none(), "it was evicted");
        source.read(&spans).unwrap();
        let is_silent = source.cache.is_silent.load(Ordering::Relaxed);
        if !is_silent {
            let warm = source.read_now(&spans).unwrap();
            assert_eq!(warm, source.read(&spans).unwrap());
            assert_eq!(warm[3], bytes[300_050..303_050]);
        }
        let beyond = Span::new(bytes.len() as u64 - 1, bytes.len() as u64 + 1).unwrap();
        assert!(source.read_now(&[spans[0], beyond]).is_none());
        source.cache.is_silent.store(true, Ordering::Relaxed);
        assert!(source.read_now(&spans).is_none(), "nobody tells whether it would wait");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_device_is_known_where_there_is_one() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let found = device(&file);
        assert!(found.step_bytes >= found.read_ahead_bytes, "{found:?}");
        let nowhere = device(&File::open("/proc/self/status").unwrap());
        assert_eq!(nowhere, Device::default());
    }

    #[test]
    fn cold_and_warm_files_read_the_same() {
        let (path, bytes) = cold_file("cold");
        let source = FileSource::open(&path).unwrap();
        let mut spans = pieces();
        // In any order, over each other, empty, and to the end.
        spans.reverse();
        let size = bytes.len() as u64;
        let odd = [(0, 2_000_000), (99_000, 99_000), (1_900_000, size), (size, size)];
        spans.extend(odd.map(|(start, end)| Span::new(start, end).unwrap()));
        let check = |what: &str, spans: &[Span]| {
            for (span, found) in spans.iter().zip(source.read_scattered(spans).unwrap()) {
                let expected = &bytes[span.start() as usize..span.end() as usize];
                assert!(found == expected, "{what}: {span}");
            }
        };
        for silent in [false, true] {
            source.cache.is_silent.store(silent, Ordering::Relaxed);
            evict(&File::open(&path).unwrap());
            check("cold", &spans);
            check("warm", &spans);
            evict(&File::open(&path).unwrap());
            // Some of the pieces are in memory, and half of a long one.
            check("first", &spans[..7]);
            check("some", &spans);
            evict(&File::open(&path).unwrap());
            check("half", &[Span::new(0, 1 << 20).unwrap()]);
            evict(&File::open(&path).unwrap());
            // Near each other, so that they are read with what lies between them, and one of them longer than a block.
            let mut near: Vec<_> = (0..300).map(|i| Span::at(i * 9_001, 5_000).unwrap()).collect();
            near.push(Span::new(2_701_000, 3_400_000).unwrap());
            near.extend((0..20).map(|i| Span::at(3_404_500 + i * 9_001, 5_000).unwrap()));
            check("near", &near);
            check("near and warm", &near);
            check("near, other ones", &near[1..250]);
            check("whole", &[Span::new(0, size).unwrap()]);
            let beyond = source.read_scattered(&[Span::new(size - 1, size + 1).unwrap()]);
            assert!(beyond.is_err(), "{beyond:?}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
