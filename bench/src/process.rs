//! What the system says about this process: processor time, reads, memory; and on which cores it
//! may run.

use std::fs;
use std::io;
use std::time::Duration;

use anyhow::{Context, Result};

/// Processor time of all threads so far, user and system.
pub fn cpu_time() -> Duration {
    // SAFETY: `rusage` is plain numbers, for which zero is valid, and the call only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// Read calls and bytes they gave, since the process began.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    pub calls: u64,
    pub bytes: u64,
}

impl Reads {
    pub fn so_far() -> Result<Self> {
        let text = fs::read_to_string("/proc/self/io").context("/proc/self/io")?;
        Ok(Self { calls: number(&text, "syscr:")?, bytes: number(&text, "rchar:")? })
    }

    /// What happened since `before`, less what asking itself costs.
    pub fn since(self, before: Self) -> Result<Self> {
        let asked = Self::so_far()?;
        let (calls, bytes) = (asked.calls - self.calls, asked.bytes - self.bytes);
        Ok(Self {
            calls: (self.calls - before.calls).saturating_sub(calls),
            bytes: (self.bytes - before.bytes).saturating_sub(bytes),
        })
    }
}

/// Bytes of memory the process holds now, and the most it ever held.
pub fn memory() -> Result<(u64, u64)> {
    let text = fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    Ok((number(&text, "VmRSS:")? << 10, number(&text, "VmHWM:")? << 10))
}

/// How many processes wanted to run in the last minute, on average.
pub fn load() -> Result<f64> {
    let text = fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    text.split(' ').next().and_then(|load| load.parse().ok()).context("/proc/loadavg")
}

/// The name of the processor.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_owned()
}

/// The cores of the machine, also while the process may use only some of them.
pub fn cores() -> usize {
    // SAFETY: asks for a number.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(cores).unwrap_or(1).max(1)
}

/// Lets all threads of the process run on the first `cores` cores only. Threads they start later
/// stay there as well.
pub fn run_on(cores: usize) -> Result<()> {
    for task in fs::read_dir("/proc/self/task")? {
        let id = task?.file_name().to_string_lossy().parse()?;
        // SAFETY: `cpu_set_t` is an array of bits, for which zero is valid; the calls read and
        // write nothing else.
        let code = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            (0..cores).for_each(|core| libc::CPU_SET(core, &mut set));
            libc::sched_setaffinity(id, size_of::<libc::cpu_set_t>(), &set)
        };
        let error = io::Error::last_os_error();
        // A thread may have ended meanwhile.
        if code != 0 && error.raw_os_error() != Some(libc::ESRCH) {
            return Err(error).context("sched_setaffinity");
        }
    }
    Ok(())
}

/// The number after a name.
fn number(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line[name.len()..].split_whitespace().next());
    value.and_then(|value| value.parse().ok()).with_context(|| format!("no {name}"))
}
