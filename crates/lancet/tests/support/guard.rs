//! Reads of damaged files under guard: no panic, no hang, no allocation beyond a limit.
//!
//! The allocator counts what each thread holds. It lets a wild request through only up to a size
//! at which the machine would suffer; then it names the mutant and ends the process, because an
//! allocator cannot fail a test.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use lancet::{FileReader, ReadOptions, SearchCache};

/// What the reads are allowed to claim.
pub const MEMORY_LIMIT: u64 = 32 << 20;
/// What they may hold at most, all in all.
pub const PEAK_LIMIT: usize = 64 << 20;
/// Longer than this is a hang.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// One request beyond this ends the process.
const WILD: usize = 1 << 30;

pub struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    /// Address and length of the name of the mutant at hand.
    static NAME: Cell<(*const u8, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

fn grow(bytes: usize) {
    if bytes > WILD {
        let (name, len) = NAME.get();
        if !name.is_null() {
            // SAFETY: the name lives as long as the read that is being guarded.
            let name = unsafe { std::slice::from_raw_parts(name, len) };
            let mut stderr = std::io::stderr();
            let _ = stderr.write_all(b"\nwild allocation while reading ");
            let _ = stderr.write_all(name);
            let _ = stderr.write_all(b"\n");
            std::process::abort();
        }
    }
    let held = HELD.get().wrapping_add(bytes);
    HELD.set(held);
    // What was freed on another thread makes a count negative; that is no peak.
    if held > PEAK.get() && held < usize::MAX / 2 {
        PEAK.set(held);
    }
}

fn shrink(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(bytes));
}

// SAFETY: hands every request to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        shrink(layout.size());
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block may exist at the same time.
        grow(size);
        let moved = unsafe { System.realloc(at, layout, size) };
        shrink(layout.size());
        moved
    }
}

/// The options of guarded reads.
pub fn options() -> ReadOptions {
    ReadOptions::default()
        .with_memory_limit(MEMORY_LIMIT)
        .with_max_metadata_bytes(MEMORY_LIMIT)
        .with_search_cache(SearchCache::new(1 << 20))
}

/// How far a damaged file could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// It does not open.
    Nothing,
    /// It opens, but rows are not read.
    Index,
    /// The first rows are read.
    Rows,
}

/// Reads a file in all the ways there are; errors are fine.
pub fn exercise(bytes: &[u8]) -> Reached {
    let Ok(reader) = FileReader::from_bytes(bytes.to_vec(), options()) else {
        return Reached::Nothing;
    };
    let mut reached = Reached::Index;
    // On this thread, whose allocations are counted.
    if let Ok(batches) = reader.scan().batch_rows(3000).threads(1).build() {
        // A page without bytes may have any number of rows, so a scan may have any number of
        // batches.
        for batch in batches.take(3) {
            reached = if batch.is_ok() { Reached::Rows } else { reached };
        }
    }
    let last = reader.num_rows().saturating_sub(1);
    drop(reader.take(&[last, 0, last / 2]));
    drop(reader.inspect());
    drop(reader.verify());
    if let Ok(reader) =
        FileReader::from_bytes(bytes.to_vec(), options().with_verify_checksums(true))
    {
        drop(reader.take(&[last, 0, last / 2]));
    }
    reached
}

/// What went wrong with a mutant, if anything did.
pub fn fault(name: &str, read: impl FnOnce() -> Reached) -> Result<Reached, String> {
    NAME.set((name.as_ptr(), name.len()));
    let _watched = Watched::start(name);
    let held = HELD.get();
    PEAK.set(held);
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(read));
    let time = start.elapsed();
    NAME.set((std::ptr::null(), 0));
    let peak = PEAK.get().saturating_sub(held);
    let reached = outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        format!("{name}: panicked: {text}")
    })?;
    match (peak > PEAK_LIMIT, time > TIME_LIMIT) {
        (true, _) => Err(format!("{name}: held {} MiB", peak >> 20)),
        (_, true) => Err(format!("{name}: took {time:?}")),
        _ => Ok(reached),
    }
}

/// The reads in progress: when each is due, and its name.
static WATCHED: Mutex<Vec<(ThreadId, Instant, String)>> = Mutex::new(Vec::new());
static WATCHDOG: Once = Once::new();

/// A read that the watchdog looks after: when it does not end, the process does.
struct Watched;

impl Watched {
    fn start(name: &str) -> Self {
        WATCHDOG.call_once(|| {
            std::thread::spawn(|| {
                loop {
                    std::thread::sleep(TIME_LIMIT);
                    let watched = WATCHED.lock().unwrap();
                    if let Some((.., name)) =
                        watched.iter().find(|(_, due, _)| *due < Instant::now())
                    {
                        eprintln!("\n{name}: does not end");
                        std::process::abort();
                    }
                }
            });
        });
        let due = Instant::now() + 4 * TIME_LIMIT;
        WATCHED.lock().unwrap().push((std::thread::current().id(), due, name.into()));
        Self
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let this = std::thread::current().id();
        WATCHED.lock().unwrap().retain(|(thread, ..)| *thread != this);
    }
}

/// What came of all mutants, on all threads.
#[derive(Default)]
pub struct Outcomes {
    faults: Mutex<Vec<String>>,
    reached: [AtomicU64; 3],
}

impl Outcomes {
    pub fn check(&self, name: &str, bytes: &[u8]) {
        match fault(name, || exercise(bytes)) {
            Ok(reached) => {
                self.reached[reached as usize].fetch_add(1, Ordering::Relaxed);
            }
            Err(fault) => self.faults.lock().unwrap().push(fault),
        }
    }

    /// Fails with all faults, and when there were too few mutants to mean anything.
    pub fn judge(self, at_least: u64) {
        let [closed, opened, read] = self.reached.map(AtomicU64::into_inner);
        println!("{closed} mutants do not open, {opened} open, {read} are read");
        let faults = self.faults.into_inner().unwrap();
        let shown = faults[..faults.len().min(20)].join("\n  ");
        assert!(faults.is_empty(), "{} faults\n  {shown}", faults.len());
        assert!(closed + opened + read >= at_least);
    }
}
