//! What the system says of its page cache: whether bytes are in it, and how to have them brought there.
//!
//! A device that is asked for one piece after the other takes 50 to 100 us for each; asked for many together, some
//! 7 us. Bytes that are in memory already take less than 1 us, and must not pay for the others.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};

use super::coalesce::coalesce;
use super::disk::fill;
use crate::span::Span;

/// A gap of this many bytes costs a device less than one more request.
const GAP_BYTES: u64 = 16 << 10;
/// Spans no further apart that together have so many bytes are a stream: there the system reads ahead by itself, and
/// in larger pieces than one could ask for.
const NEAR_BYTES: u64 = 64 << 10;
const STREAM_BYTES: u64 = 256 << 10;
/// The system may look at no more of what is announced at once. Smaller pieces are slower: a device is asked for each.
const ANNOUNCED_BYTES: u64 = 1 << 20;
/// A read that takes longer has waited for a device, and each KiB of it so much more.
const WAITED: Duration = Duration::from_micros(20);
const WAITED_PER_KIB: Duration = Duration::from_nanos(300);

/// The cache through which a file is read.
#[derive(Debug, Default)]
pub(super) struct PageCache {
    /// Whether the file system has refused to say what is in memory, as those of networks, overlays and of memory
    /// do. Then the time that reads take has to tell.
    is_silent: AtomicBool,
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
        let kib = u32::try_from(len >> 10).unwrap_or(u32::MAX);
        let patience = WAITED.saturating_add(WAITED_PER_KIB.saturating_mul(kib));
        fill(file, buffer, len, at).is_ok() && start.elapsed() < patience
    }

    /// Whether the spans are in memory, as far as the file system tells: the ends of the first and the last one stand
    /// for all.
    pub(super) fn has(&self, file: &File, spans: &[Span]) -> bool {
        let mut ends = spans.first().into_iter().chain(spans.last());
        ends.all(|span| self.has_end(file, span))
    }

    fn has_end(&self, file: &File, span: &Span) -> bool {
        let mut byte = Vec::with_capacity(1);
        !self.is_silent.load(Ordering::Relaxed)
            && read_cached(file, &mut byte, 1, span.end().saturating_sub(1)).is_ok()
    }
}

/// Has the device asked for all spans together, without waiting for them.
pub(super) fn announce(file: &File, spans: &[Span]) {
    let near = coalesce(spans, NEAR_BYTES, u64::MAX).reads;
    let mean = Span::total(&near).checked_div(near.len() as u64);
    if mean.is_none_or(|mean| mean >= STREAM_BYTES) {
        return;
    }
    for span in coalesce(spans, GAP_BYTES, u64::MAX).reads {
        let mut start = span.start();
        while let Some(len) = NonZeroU64::new(span.end().saturating_sub(start).min(ANNOUNCED_BYTES))
        {
            // It is a hint: where it is not taken, reads take longer.
            let _ = fadvise(file, start, Some(len), Advice::WillNeed);
            start = start.saturating_add(len.get());
        }
    }
}

/// Adds to a buffer, up to `len` bytes, what of the file is in memory from `at` on, or says why there is nothing.
#[expect(unsafe_code, reason = "the memory was not filled with zeros before")]
fn read_cached(file: &File, buffer: &mut Vec<u8>, len: usize, at: u64) -> Result<(), i32> {
    let missing = len.saturating_sub(buffer.len());
    let room = buffer.spare_capacity_mut().get_mut(..missing).ok_or(libc::EINVAL)?;
    let room = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let at = i64::try_from(at).map_err(|_| libc::EINVAL)?;
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
            // Nothing is known, so everything is announced, and time tells what was waited for.
            assert_eq!((in_memory(), first.as_slice()), (0, &bytes[..100]));
        } else {
            assert!(!was_there && first.is_empty(), "it was evicted");
            evict(&file);
            assert_eq!(in_memory(), 0);
            announce(&file, &spans);
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
            check("whole", &[Span::new(0, size).unwrap()]);
            let beyond = source.read_scattered(&[Span::new(size - 1, size + 1).unwrap()]);
            assert!(beyond.is_err(), "{beyond:?}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
