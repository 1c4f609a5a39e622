//! Work without the interpreter: other threads of Python run meanwhile, a panic becomes an error, Ctrl-C ends it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
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
    let mut running = Running::start(work)?;
    loop {
        match running.wait(py)? {
            Some(done) => return done.or_raise(),
            None => py.check_signals()?,
        }
    }
}

/// Runs a change of a table, which ends when the flag is set that it is handed. After Ctrl-C it is waited for: then it is
/// known whether it was made. A second Ctrl-C leaves it behind.
pub(crate) fn run_change<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    F: FnOnce(Arc<AtomicBool>) -> lancet_table::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let mut running = Running::start(move || work(flag))?;
    let done = loop {
        match running.wait(py)? {
            Some(done) => return done.or_raise(),
            None => match py.check_signals() {
                Ok(()) => {}
                Err(interrupt) => {
                    cancel.store(true, Ordering::Relaxed);
                    break (running.finish(py)?, interrupt);
                }
            },
        }
    };
    match done {
        (Err(lancet_table::Error::Cancelled), interrupt) => Err(interrupt),
        // It was too late: whoever catches the interrupt must know.
        (Ok(_), interrupt) => Err(noted(py, interrupt, "the change was committed before")),
        (Err(error), interrupt) => Err(noted(py, interrupt, &error.to_string())),
    }
}

/// An exception with a note, where Python has such.
fn noted(py: Python<'_>, error: PyErr, note: &str) -> PyErr {
    let _ = error.value(py).call_method1("add_note", (note,));
    error
}

/// Work on a thread of its own.
struct Running<R>(Option<Receiver<thread::Result<R>>>);

impl<R: Send + 'static> Running<R> {
    fn start(work: impl FnOnce() -> R + Send + 'static) -> PyResult<Self> {
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            // Nobody listens any more after Ctrl-C.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        };
        let spawned = thread::Builder::new().name("lancet-call".into()).spawn(work);
        spawned.map_err(|e| internal(&format!("cannot start a thread: {e}")))?;
        Ok(Self(Some(receiver)))
    }

    /// What it came to, if it has ended by the time that signals must be looked for.
    fn wait(&mut self, py: Python<'_>) -> PyResult<Option<R>> {
        let gone = || internal("a thread ended without a result");
        let receiver = self.0.take().ok_or_else(gone)?;
        let (came, back) = py.detach(move || (receiver.recv_timeout(SIGNAL_WAIT), receiver));
        self.0 = Some(back);
        match came {
            Ok(Ok(done)) => Ok(Some(done)),
            Ok(Err(panic)) => Err(internal(&said(panic.as_ref()))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    /// Waits to the end, or for another signal.
    fn finish(mut self, py: Python<'_>) -> PyResult<R> {
        loop {
            if let Some(done) = self.wait(py)? {
                return Ok(done);
            }
            py.check_signals()?;
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
