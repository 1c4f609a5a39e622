//! Work without the interpreter: other threads of Python run meanwhile, a panic becomes an error, Ctrl-C ends it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use arrow_schema::ArrowError;
use pyo3::prelude::*;

use crate::errors::{OrRaise, internal};

/// How long Ctrl-C may wait for work that nothing else interrupts.
const SIGNAL_WAIT: Duration = Duration::from_millis(40);

/// The thread that has imported the module: as a rule the one that signals go to.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

pub(crate) fn note_main_thread() {
    let _ = MAIN.set(thread::current().id());
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("internal error, please report it: {text}")
}

/// Runs short work.
pub(crate) fn run<T, E, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    F: FnOnce() -> Result<T, E> + Send,
    T: Send,
    E: Send,
    Result<T, E>: OrRaise<T>,
{
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(done) => done.or_raise(),
        Err(panic) => Err(internal(&said(panic.as_ref()))),
    }
}

/// Runs work that may take long on a thread of its own, so that this one can see Ctrl-C. Work that is left behind goes
/// on to its end, and what it came to is dropped.
pub(crate) fn run_long<T, E, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    F: FnOnce() -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
    Result<T, E>: OrRaise<T>,
{
    let (sender, mut receiver) = sync_channel(1);
    let work = move || {
        // Nobody listens any more after Ctrl-C.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    };
    let spawned = thread::Builder::new().name("lancet-call".into()).spawn(work);
    spawned.map_err(|e| internal(&format!("cannot start a thread: {e}")))?;
    loop {
        let (came, back) = py.detach(move || (receiver.recv_timeout(SIGNAL_WAIT), receiver));
        receiver = back;
        match came {
            Ok(Ok(done)) => return done.or_raise(),
            Ok(Err(panic)) => return Err(internal(&said(panic.as_ref()))),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(internal("a thread ended without a result"));
            }
        }
    }
}

/// The next item of a stream that another library pulls: no panic goes into it, and Ctrl-C ends it.
pub(crate) fn next_in_stream<T>(
    next: impl FnOnce() -> Option<Result<T, ArrowError>>,
) -> Option<Result<T, ArrowError>> {
    // Other threads do not get signals, and might wait for an interpreter that waits for them.
    if MAIN.get() == Some(&thread::current().id())
        && Python::try_attach(|py| py.check_signals().is_err()) == Some(true)
    {
        // The library that pulls makes an exception of its own of this. One that came from Python would be lost in it,
        // and one that comes later would hit code that does not expect it.
        return Some(Err(ArrowError::ExternalError("interrupted by Ctrl-C".into())));
    }
    match catch_unwind(AssertUnwindSafe(next)) {
        Ok(next) => next,
        Err(panic) => Some(Err(ArrowError::ExternalError(said(panic.as_ref()).into()))),
    }
}

/// Removes the files that are not finished: the process ends.
#[pyfunction]
pub(crate) fn abandon_files() {
    lancet::NewFile::abandon_all();
}
