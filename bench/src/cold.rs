//! Files that are not in memory: how to bring them there, and what the device itself can do.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::results::Limit;
use crate::table::random::Random;

/// Bytes of the file that limits are measured on.
const BYTES: usize = 512 << 20;
/// Reads of each depth.
const READS: usize = 1024;
/// Every measurement is the best of this many.
const ROUNDS: usize = 5;

/// Takes a file out of the page cache, and makes sure that it is out.
pub fn evict(path: &Path) -> Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    // What was not written yet stays in memory.
    file.sync_all()?;
    // SAFETY: the call looks at nothing but its numbers.
    let failed = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    ensure!(failed == 0, "{}: not evicted, error {failed}", path.display());
    let (cached, pages) = cached_pages(&file)?;
    ensure!(cached <= pages / 100, "{}: {cached} of {pages} pages stay", path.display());
    Ok(())
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
    for len in [4 << 10, 64 << 10] {
        for depth in [1, 8, 32, 128] {
            let seconds = best(&path, || scattered(&file, &mut random, len, depth))?;
            limits.push(Limit {
                name: format!("cold reads of {} KiB, {depth} at a time", len >> 10),
                value: seconds / READS as f64 * 1e6,
                unit: "us".into(),
            });
        }
    }
    let seconds = best(&path, || {
        // As a scan does that keeps what it reads.
        let mut all = vec![0_u8; BYTES];
        let mut pieces = all.chunks_mut(1 << 20).enumerate();
        pieces.try_for_each(|(i, piece)| Ok(file.read_exact_at(piece, (i << 20) as u64)?))
    })?;
    limits.push(Limit {
        name: "cold reads of 1 MiB, one after the other".into(),
        value: BYTES as f64 / seconds / 1e9,
        unit: "GB/s".into(),
    });
    std::fs::remove_file(&path)?;
    Ok(limits)
}

fn scattered(file: &File, random: &mut Random, len: usize, depth: usize) -> Result<()> {
    let mut piece = vec![0_u8; len];
    for _ in 0..READS / depth {
        let places = (0..depth).map(|_| random.below((BYTES / len) as u64) * len as u64);
        let places: Vec<u64> = places.collect();
        if depth > 1 {
            for place in &places {
                let (at, len) = (*place as libc::off_t, len as libc::off_t);
                // SAFETY: the call looks at nothing but its numbers.
                unsafe {
                    libc::posix_fadvise(file.as_raw_fd(), at, len, libc::POSIX_FADV_WILLNEED)
                };
            }
        }
        places.iter().try_for_each(|place| file.read_exact_at(&mut piece, *place))?;
    }
    Ok(())
}

/// The shortest of several calls, each on a cold file.
fn best(path: &Path, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut shortest = f64::INFINITY;
    for _ in 0..ROUNDS {
        evict(path)?;
        let start = Instant::now();
        call()?;
        shortest = shortest.min(start.elapsed().as_secs_f64());
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
}
