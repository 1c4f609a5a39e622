//! Data files that are to be opened, told to the device together.
//!
//! To open a file that is not in memory is to wait for its end. Who opens a thousand of them one after the other waits a
//! thousand times; a device that was asked for all ends has them while the first is looked at.

use std::path::PathBuf;

use crate::columns::TableProjection;
use crate::error::Result;
use crate::plan::FragmentPlan;
use crate::read::Reads;
use crate::storage::Disk;

impl Reads<Disk> {
    /// Has the device asked for the ends of the data files of some fragments, if the first of them was never opened and is
    /// not in memory.
    pub(crate) fn announce(
        &self,
        mut places: impl Iterator<Item = usize>,
        columns: &TableProjection,
    ) -> Result<()> {
        let Some(first) = places.next() else { return Ok(()) };
        let unknown = self.unknown_files(first, columns)?;
        if unknown.first().is_none_or(|path| is_in_memory(path)) {
            return Ok(());
        }
        unknown.iter().for_each(|path| announce_end(path));
        for place in places {
            self.unknown_files(place, columns)?.iter().for_each(|path| announce_end(path));
        }
        Ok(())
    }

    /// The data files of a fragment that hold some columns, and of which nothing is known.
    fn unknown_files(&self, place: usize, columns: &TableProjection) -> Result<Vec<PathBuf>> {
        let fragment = self.snapshot.fragment(place)?;
        let mut unknown = Vec::new();
        for wanted in FragmentPlan::new(fragment, columns.nodes()).files {
            let Some(file) = fragment.files.get(wanted.file) else { continue };
            let path = self.folders.data_file(file.base, &file.path)?;
            if !self.files.knows(&path) {
                unknown.push(path);
            }
        }
        Ok(unknown)
    }
}

#[cfg(target_os = "linux")]
use linux::{announce_end, is_in_memory};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::IoSliceMut;
    use std::num::NonZeroU64;
    use std::path::Path;

    use rustix::fs::{Advice, fadvise};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    /// Bytes at the end of a file that hold the metadata of most.
    const END_BYTES: u64 = 16 << 10;

    /// Whether the end of a file is in memory, or cannot be brought there.
    pub(super) fn is_in_memory(path: &Path) -> bool {
        let Some((file, size)) = open(path) else { return true };
        let mut byte = [0];
        let parts = &mut [IoSliceMut::new(&mut byte)];
        let read = preadv2(&file, parts, size.saturating_sub(1), ReadWriteFlags::NOWAIT);
        // File systems that do not tell may lie anywhere.
        !matches!(read, Err(Errno::AGAIN | Errno::OPNOTSUPP))
    }

    /// It is a hint: where it is not taken, reads take longer.
    pub(super) fn announce_end(path: &Path) {
        let Some((file, size)) = open(path) else { return };
        let start = size.saturating_sub(END_BYTES);
        let _ =
            fadvise(&file, start, NonZeroU64::new(size.saturating_sub(start)), Advice::WillNeed);
    }

    /// Whoever reads the file meets the error again.
    fn open(path: &Path) -> Option<(File, u64)> {
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        Some((file, size))
    }

    #[cfg(test)]
    mod tests {
        use std::time::{Duration, Instant};

        use super::*;

        #[test]
        fn an_end_that_was_announced_comes() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("data");
            std::fs::write(&path, vec![7; 1 << 20]).unwrap();
            let file = File::open(&path).unwrap();
            file.sync_all().unwrap();
            assert!(is_in_memory(&folder.path().join("missing")));
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
            announce_end(&path);
            let mut byte = [0];
            let in_memory = |byte: &mut [u8; 1]| {
                let parts = &mut [IoSliceMut::new(byte)];
                preadv2(&file, parts, (1 << 20) - 1, ReadWriteFlags::NOWAIT)
            };
            let start = Instant::now();
            while in_memory(&mut byte) == Err(Errno::AGAIN)
                && start.elapsed() < Duration::from_secs(20)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_ne!(in_memory(&mut byte), Err(Errno::AGAIN));
        }
    }
}

/// Elsewhere nobody can tell.
#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &std::path::Path) -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn announce_end(_: &std::path::Path) {}
