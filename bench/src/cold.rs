//! Files that are not in memory: how to bring them there, and what the device itself can do.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::results::Limit;
use crate::table::random::Random;

/// Bytes of the file that limits are measured on.
const BYTES: usize = 512 << 20;
/// Reads of each depth, no two at the same place.
const READS: usize = 2048;
/// Every measurement is the best of this many.
const ROUNDS: usize = 5;
/// So often a file is evicted whose pages stay: who has just looked at them may hold them for a moment.
const EVICTIONS: usize = 20;
/// A device that is busy for so much longer is so with something else.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most reads that are asked for together.
pub const MAX_DEPTH: usize = 128;
/// The name of the limit for reads one after the other.
pub const SEQUENTIAL: &str = "cold reads of 1 MiB, one after the other";

/// Bytes of the reads at random that limits are measured with, and of those one after the other.
pub const SCATTERED: [usize; 2] = [4 << 10, 64 << 10];
pub const PIECE: usize = 1 << 20;

/// The name of the limit for reads of so many bytes, so many at a time.
pub fn scattered_name(len: usize, depth: usize) -> String {
    format!("cold reads of {} KiB, {depth} at a time", len >> 10)
}

/// Takes a file out of the page cache, makes sure that it is out, and waits until its device has nothing to do.
pub fn evict(path: &Path) -> Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    // Pages on their way are not counted.
    settle(&file)?;
    evict_pages(path, &file)?;
    settle(&file)
}

fn evict_pages(path: &Path, file: &File) -> Result<()> {
    // What was not written yet stays in memory.
    file.sync_all()?;
    let (mut cached, mut pages) = (0, 0);
    for _ in 0..EVICTIONS {
        // SAFETY: the call looks at nothing but its numbers.
        let failed =
            unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        ensure!(failed == 0, "{}: not evicted, error {failed}", path.display());
        (cached, pages) = cached_pages(file)?;
        if cached == 0 {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    ensure!(cached <= pages / 100, "{}: {cached} of {pages} pages stay", path.display());
    Ok(())
}

/// Waits until the device of a file has nothing to do. Who read from it before may have left it reading ahead, by some
/// MB: for that, the next one must not wait.
fn settle(file: &File) -> Result<()> {
    let Some(path) = in_flight_path(file)? else { return Ok(()) };
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let in_flight = std::fs::read_to_string(&path)?;
        if in_flight.split_whitespace().all(|count| count == "0") {
            break;
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// Where the system says how many reads and writes a device has to do; nowhere for a file system that is on none.
fn in_flight_path(file: &File) -> Result<Option<PathBuf>> {
    let device = file.metadata()?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let path = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/inflight"));
    Ok(path.exists().then_some(path))
}

/// How many pages of a file are in memory, and how many it has.
fn cached_pages(file: &File) -> Result<(usize, usize)> {
    let len = usize::try_from(file.metadata()?.len())?;
    let mut pages = vec![0_u8; len.div_ceil(4096)];
    if len == 0 {
        return Ok((0, 0));
    }
    // SAFETY: a new mapping that nobody looks into, and a byte for each of its pages.
    let failed = unsafe {
        let null = std::ptr::null_mut();
        let map = libc::mmap(null, len, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        ensure!(map != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
        let failed = libc::mincore(map, len, pages.as_mut_ptr());
        libc::munmap(map, len);
        failed
    };
    ensure!(failed == 0, "mincore: {}", std::io::Error::last_os_error());
    Ok((pages.iter().filter(|page| **page & 1 == 1).count(), pages.len()))
}

/// What the device does for reads at random, some of them together, and for one after the other.
pub fn limits(folder: &Path) -> Result<Vec<Limit>> {
    let path = folder.join("cold-limits");
    let mut random = Random::new(4);
    let words: Vec<u8> = (0..BYTES / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    std::fs::write(&path, words)?;
    let file = File::open(&path)?;
    let mut limits = Vec::new();
    for len in SCATTERED {
        for depth in [1, 8, 32, MAX_DEPTH] {
            let seconds = best(&path, || scattered(&file, &mut random, len, depth))?;
            limits.push(Limit {
                name: scattered_name(len, depth),
                value: seconds / READS as f64 * 1e6,
                unit: "us".into(),
            });
        }
    }
    // Into memory that is warm: it is the device that is measured.
    let mut piece = vec![1_u8; PIECE];
    let seconds = best(&path, || {
        let start = Instant::now();
        for at in (0..BYTES).step_by(piece.len()) {
            file.read_exact_at(&mut piece, at as u64)?;
        }
        Ok(start.elapsed())
    })?;
    limits.push(Limit {
        name: SEQUENTIAL.into(),
        value: BYTES as f64 / seconds / 1e9,
        unit: "GB/s".into(),
    });
    std::fs::remove_file(&path)?;
    Ok(limits)
}

/// Reads at random, by so many threads, each of which waits for its own.
fn scattered(file: &File, random: &mut Random, len: usize, depth: usize) -> Result<Duration> {
    let places = places(random, len);
    let (ready, go) = (Barrier::new(depth + 1), Barrier::new(depth + 1));
    thread::scope(|scope| {
        let threads: Vec<_> = places
            .chunks(READS.div_ceil(depth))
            .map(|places| {
                let (ready, go) = (&ready, &go);
                scope.spawn(move || {
                    let mut piece = vec![1_u8; len];
                    ready.wait();
                    go.wait();
                    places.iter().try_for_each(|place| file.read_exact_at(&mut piece, *place))
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        go.wait();
        for thread in threads {
            thread.join().expect("no thread panics")?;
        }
        Ok(start.elapsed())
    })
}

/// Where to read: what was read once is in memory.
fn places(random: &mut Random, len: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..BYTES / len).map(|place| (place * len) as u64).collect();
    for i in 0..READS {
        let other = i + random.below((all.len() - i) as u64) as usize;
        all.swap(i, other);
    }
    all.truncate(READS);
    all
}

/// The shortest of several calls, each on a cold file, in seconds.
fn best(path: &Path, mut call: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut shortest = f64::INFINITY;
    for _ in 0..ROUNDS {
        evict(path)?;
        shortest = shortest.min(call()?.as_secs_f64());
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicted_files_are_not_in_memory() {
        let path = std::env::temp_dir().join(format!("lancet-evicted-{}", std::process::id()));
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(cached_pages(&file).unwrap(), (256, 256));
        evict(&path).unwrap();
        assert_eq!(cached_pages(&file).unwrap(), (0, 256));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn no_place_is_read_twice() {
        let mut places = places(&mut Random::new(1), 64 << 10);
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), READS);
        assert!(places.iter().all(|place| place % (64 << 10) == 0 && *place < BYTES as u64));
    }
}
