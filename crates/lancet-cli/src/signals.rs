//! Signals that end the program: it cleans up first.

use lancet::NewFile;

use crate::places::Temporary;

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
