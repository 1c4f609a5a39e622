//! The helpers: threads of lancet's own, which all readers and writers of a process share.
//!
//! They start when there is work for them, wait for more, and do not keep a process from ending. A
//! child process has none of its parent's threads and makes its own. It never touches the locks of
//! its parent's helpers, one of which may have held one at the fork.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Job, lock, try_lock};

/// How long nobody tries again to start a thread after the system has refused one.
const PAUSE: Duration = Duration::from_secs(1);

/// The helpers of the process that used them last.
static HELPERS: Mutex<Option<Arc<Helpers>>> = Mutex::new(None);

/// How many threads work unless a caller says otherwise: one for each core.
pub(crate) fn num_threads() -> usize {
    // To ask the system takes longer than a short take.
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let found = thread::available_parallelism().map_or(1, usize::from);
            KNOWN.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

/// Asks for help with a job. Returns how many helpers may come; whether and when they do is open.
pub(crate) fn ask(job: &Arc<dyn Job>, num_helpers: usize) -> usize {
    Helpers::of_process().map_or(0, |helpers| helpers.ask(job, num_helpers))
}

/// Whoever has not begun to help with a job need not come.
pub(crate) fn withdraw(job: &Arc<dyn Job>) {
    let Some(helpers) = Helpers::of_process() else { return };
    // A call that stays finds nothing to do.
    if let Some(mut state) = try_lock(&helpers.state) {
        state.calls.retain(|call| !Arc::ptr_eq(&call.job, job));
    }
}

struct Helpers {
    process: u32,
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    num_threads: usize,
    /// Threads that wait for a call.
    num_idle: usize,
    /// Threads started so far; they are named by it.
    num_started: usize,
    /// When the system refused a thread.
    refused: Option<Instant>,
}

struct Call {
    job: Arc<dyn Job>,
    num_wanted: usize,
}

impl State {
    fn next_job(&mut self) -> Option<Arc<dyn Job>> {
        let call = self.calls.front_mut()?;
        call.num_wanted -= 1;
        let job = call.job.clone();
        if call.num_wanted == 0 {
            self.calls.pop_front();
        }
        Some(job)
    }
}

impl Helpers {
    fn of_process() -> Option<Arc<Self>> {
        let process = std::process::id();
        let mut helpers = try_lock(&HELPERS)?;
        if let Some(helpers) = helpers.as_ref().filter(|helpers| helpers.process == process) {
            return Some(helpers.clone());
        }
        let state = Mutex::default();
        let new = Arc::new(Self { process, state, called: Condvar::new() });
        // What the parent's helpers work on is none of the child's business, not even to drop it.
        std::mem::forget(helpers.replace(new.clone()));
        Some(new)
    }

    fn ask(self: &Arc<Self>, job: &Arc<dyn Job>, num_wanted: usize) -> usize {
        let Some(mut state) = try_lock(&self.state) else { return 0 };
        let num_waiting = state.calls.iter().map(|call| call.num_wanted).sum::<usize>();
        let num_missing = (num_waiting + num_wanted).saturating_sub(state.num_idle);
        let most = num_threads().saturating_sub(1).max(num_wanted);
        let is_refused = state.refused.is_some_and(|refused| refused.elapsed() < PAUSE);
        let num_new = match is_refused {
            true => 0,
            false => num_missing.min(most.saturating_sub(state.num_threads)),
        };
        if num_wanted == 0 || state.num_threads + num_new == 0 {
            return 0;
        }
        state.calls.push_back(Call { job: job.clone(), num_wanted });
        let num_woken = num_wanted.min(state.num_idle);
        let numbers = state.num_started..state.num_started + num_new;
        state.num_started += num_new;
        state.num_threads += num_new;
        drop(state);
        (0..num_woken).for_each(|_| self.called.notify_one());
        for number in numbers.clone() {
            let (helpers, thread) = (self.clone(), thread::Builder::new());
            let thread = thread.name(format!("lancet-{}", number + 1));
            if thread.spawn(move || helpers.work()).is_err() {
                return self.refuse(job, numbers.end - number, num_wanted);
            }
        }
        num_wanted
    }

    /// The system has no thread for a job; others may still come.
    fn refuse(&self, job: &Arc<dyn Job>, num_refused: usize, num_wanted: usize) -> usize {
        let mut state = lock(&self.state);
        state.num_threads -= num_refused;
        state.refused = Some(Instant::now());
        if state.num_threads == 0 {
            state.calls.retain(|call| !Arc::ptr_eq(&call.job, job));
            return 0;
        }
        num_wanted
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.next_job() {
                drop(state);
                // Jobs do not panic; if one did, the thread would be missed.
                let _ = catch_unwind(AssertUnwindSafe(|| job.help()));
                drop(job);
                state = lock(&self.state);
            } else {
                state.num_idle += 1;
                state = self.called.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.num_idle -= 1;
            }
        }
    }
}
