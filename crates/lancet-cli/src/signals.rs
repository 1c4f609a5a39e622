//! Signals that end the program: it cleans up first.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lancet::NewFile;

use crate::places::Temporary;

/// What a first signal ends in good order.
static UNDER_WAY: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
/// The signal that did; 0 if none came.
static ASKED_BY: AtomicI32 = AtomicI32::new(0);

/// Work that takes back what it did when it is asked to end. While there is some, a first signal asks for that, and only
/// a second one ends the program at once.
#[derive(Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// From now on signals ask, until this is dropped.
    pub fn begin() -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked.clone());
        Self(asked)
    }

    /// Is set when the work has to end.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Fails when the work has to end.
    pub fn check(&self) -> lancet_table::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(lancet_table::Error::Cancelled),
            false => Ok(()),
        }
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Asks the work under way to end; whether there is some that was not asked before.
#[cfg(unix)]
fn ask(signal: i32) -> bool {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    let is_asked = under_way.as_ref().is_some_and(|asked| !asked.swap(true, Ordering::Relaxed));
    if is_asked {
        ASKED_BY.store(signal, Ordering::Relaxed);
    }
    is_asked
}

/// Ends the program by the signal that its work was ended by, if it was: that is what a shell looks at.
pub fn end_if_asked() {
    let signal = ASKED_BY.load(Ordering::Relaxed);
    if signal != 0 {
        clean_up();
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// Removes every file that is not finished, and lets none be begun.
pub fn clean_up() {
    NewFile::abandon_all();
    Temporary::abandon_all();
}

/// From now on a signal removes unfinished files before it ends the program. `ctrl_c`: that one too.
#[cfg(unix)]
pub fn listen(ctrl_c: bool) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

    // Caught, so that the write that makes a file too large fails like any other.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let caught = [SIGTERM, SIGHUP, SIGINT].into_iter();
    let caught = caught.filter(|signal| (*signal != SIGINT || ctrl_c) && !is_ignored(*signal));
    let caught: Vec<i32> = caught.collect();
    let (ready, wait) = std::sync::mpsc::channel::<()>();
    // Without the thread nobody is asked for a signal, and each does what it always does.
    let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let Ok(mut signals) = signal_hook::iterator::Signals::new(caught) else { return };
        drop(ready);
        for signal in signals.forever() {
            if ask(signal) {
                continue;
            }
            clean_up();
            // Ends the program, and tells its parent by what.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    if listener.is_ok() {
        let _ = wait.recv(); // until the thread listens, or has given up
    }
}

#[cfg(not(unix))]
pub fn listen(_ctrl_c: bool) {}

/// Whether the caller wants a signal to be ignored, as `nohup` does.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action this only fills in the old one.
    let known = unsafe { libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) } == 0;
    // SAFETY: all zeros are a valid value, and the call may have put another there.
    known && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}
