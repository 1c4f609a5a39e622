//! Data files that are to be opened and read, told to the device together.
//!
//! To open a file that is not in memory is to wait for its end. Who opens a thousand of them one after the other waits a
//! thousand times; a device that was asked for all ends has them while the first is looked at. So it is with the page indexes
//! of rows that are taken, and with the rows themselves:
//!
//! ```text
//! fragment 0   end ┐     index ┐     rows ┐
//! fragment 1   end ├ ··· index ├ ··· rows ├ ··· read, decoded
//! fragment 2   end ┘     index ┘     rows ┘
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use lancet::{Request, Rows};

use crate::columns::TableProjection;
use crate::error::{Error, Result};
use crate::files::OpenData;
use crate::plan::FragmentPlan;
use crate::read::Reads;
use crate::storage::{Disk, ready};
use crate::take::Group;

/// So many bytes of rows are announced together, at most, about.
const MAX_BYTES: u64 = 32 << 20;

/// Rows of so many fragments are announced together: their files are open meanwhile.
const MAX_GROUPS: usize = 128;

/// Rows of a data file that are going to be read.
struct Coming {
    file: Arc<OpenData<Disk>>,
    request: Request<RecordBatch>,
}

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

    /// Has the device asked for rows of several fragments, if those of the first or of the last are not in memory. Errors are
    /// told by who reads.
    pub(crate) fn announce_rows(&self, groups: &[Group], columns: &TableProjection) {
        let is_there = |group: Option<&Group>| {
            group.is_none_or(|group| !self.coming(group, columns).iter().any(Coming::announce))
        };
        if is_there(groups.first()) && is_there(groups.last()) {
            return;
        }
        let mut coming = Vec::new();
        for group in groups.iter().take(MAX_GROUPS) {
            for coming_file in self.coming(group, columns) {
                coming_file.announce();
                coming.push(coming_file);
            }
        }
        let mut left = MAX_BYTES;
        while !coming.is_empty() {
            coming.retain_mut(|coming| left > 0 && coming.advance(&mut left));
        }
    }

    /// What is going to be read of a fragment.
    fn coming(&self, group: &Group, columns: &TableProjection) -> Vec<Coming> {
        let Ok(fragment) = self.snapshot.fragment(group.place) else { return Vec::new() };
        let files = FragmentPlan::new(fragment, columns.nodes()).files.into_iter();
        let coming = files.map(|wanted| {
            let file = ready(self.open(group.place, wanted.file))?;
            let projection = file.project(&wanted.columns, columns.is_described())?;
            let request = file.file().read(&projection, Rows::List(group.offsets.clone()));
            let request = request.map_err(|error| file.error(error))?;
            Ok::<_, Error>(Coming { file, request })
        });
        coming.filter_map(Result::ok).collect()
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

impl Coming {
    fn announce(&self) -> bool {
        self.file.handle.announce(&self.request)
    }

    /// Reads what tells where rows are, and announces what comes next; whether there is more to be read before rows.
    fn advance(&mut self, left: &mut u64) -> bool {
        if self.request.spans().is_empty() {
            return false;
        }
        if self.request.brings_rows() {
            let bytes = self.request.spans().iter().map(|span| span.len());
            *left = left.saturating_sub(bytes.fold(0, u64::saturating_add));
            return false;
        }
        let advanced = self.file.handle.advance(&mut self.request);
        if advanced.is_ok() {
            self.announce();
        }
        advanced.is_ok()
    }
}

#[cfg(target_os = "linux")]
use linux::{announce_end, is_in_memory};

#[cfg(target_os = "linux")]
mod linux {
    use std::io::IoSliceMut;
    use std::num::NonZeroU64;
    use std::path::Path;

    use lancet::{FileSource, Source as _};
    use rustix::fs::{Advice, fadvise};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    /// Bytes at the end of a file that hold the metadata of most.
    const END_BYTES: u64 = 16 << 10;

    /// Whether the end of a file is in memory, or cannot be brought there.
    pub(super) fn is_in_memory(path: &Path) -> bool {
        let Some(source) = open(path) else { return true };
        let mut byte = [0];
        let parts = &mut [IoSliceMut::new(&mut byte)];
        let at = source.size_bytes().saturating_sub(1);
        let read = preadv2(source.file(), parts, at, ReadWriteFlags::NOWAIT);
        // File systems that do not tell may lie anywhere.
        !matches!(read, Err(Errno::AGAIN | Errno::OPNOTSUPP))
    }

    /// It is a hint: where it is not taken, reads take longer.
    pub(super) fn announce_end(path: &Path) {
        let Some(source) = open(path) else { return };
        let size = source.size_bytes();
        let start = size.saturating_sub(END_BYTES);
        let len = NonZeroU64::new(size.saturating_sub(start));
        let _ = fadvise(source.file(), start, len, Advice::WillNeed);
    }

    /// Whoever reads the file meets the error again.
    fn open(path: &Path) -> Option<FileSource> {
        FileSource::open(path).ok()
    }

    #[cfg(test)]
    mod tests {
        use std::fs::File;
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::time::{Duration, Instant};

    use arrow_array::{Int64Array, RecordBatchIterator};
    use rustix::fs::{Advice, fadvise};

    use super::*;
    use crate::columns::TableColumns;
    use crate::table::Table;
    use crate::write_options::TableWriteOptions;

    /// A table of four fragments, whose data files are not in memory.
    fn cold_table(folder: &std::path::Path) -> Table {
        let numbers =
            (0..400_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed() >> 3);
        let array: arrow_array::ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
        let batch = RecordBatch::try_from_iter([("n", array)]).unwrap();
        let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let options = TableWriteOptions::default().with_max_rows_per_fragment(100_000);
        Table::create_with(folder, rows, &options).unwrap();
        for entry in std::fs::read_dir(folder.join("data")).unwrap() {
            let file = File::open(entry.unwrap().path()).unwrap();
            file.sync_all().unwrap();
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        }
        Table::open(folder).unwrap()
    }

    #[test]
    fn rows_of_all_fragments_come_without_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let table = cold_table(&folder.path().join("t.lance"));
        let columns = table.project(TableColumns::All).unwrap();
        let reads = &table.at.reads;
        let groups: Vec<Group> =
            (0..4).map(|place| Group { place, offsets: vec![50_000, 99_999, 7] }).collect();
        reads.announce_rows(&groups, &columns);
        // The page indexes are known by now, so that rows are all that is missing.
        let missing = || {
            let coming = groups.iter().flat_map(|group| reads.coming(group, &columns));
            coming.filter(|coming| coming.request.brings_rows() && coming.announce()).count()
        };
        let mut indexes = groups.iter().flat_map(|group| reads.coming(group, &columns));
        assert!(indexes.all(|coming| coming.request.brings_rows()));
        let start = Instant::now();
        while missing() > 0 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(missing(), 0);
        let rows = [50_000, 150_000, 7, 399_999, 250_000];
        let taken = table.take(&rows, TableColumns::All).unwrap();
        assert_eq!(taken.num_rows(), 5);
    }
}

/// Elsewhere nobody can tell.
#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &std::path::Path) -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn announce_end(_: &std::path::Path) {}
