//! The memory that queries may use.

use std::fmt;

use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// What takes sorted parts together. It holds a few batches of each and has to have them: nothing is
/// gained if a sort that fits fails at its last step, because the sorts before it took all there is.
const MERGE: &str = "SortPreservingMergeExec";

/// Memory in even shares for those who can go on with temporary files, so that none of them starves.
#[derive(Debug)]
pub(super) struct Memory(FairSpillPool);

impl Memory {
    /// This many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self(FairSpillPool::new(bytes))
    }
}

impl MemoryPool for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.0.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.0.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.0.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.0.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if reservation.consumer().name().starts_with(MERGE) {
            self.0.grow(reservation, additional);
            return Ok(());
        }
        self.0.try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.0.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.0.memory_limit()
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Four fifths of what the machine has, or of what it lets this process use; none where it does not
/// say. The rest is for what queries do not count: files, batches on their way.
pub(super) fn by_default() -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
    let machine = number(total?)?.saturating_mul(1024);
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = group.as_deref().and_then(number).unwrap_or(u64::MAX);
    Some(machine.min(allowed) / 5 * 4)
}
