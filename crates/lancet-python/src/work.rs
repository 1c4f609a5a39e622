//! Work without the interpreter: other threads of Python run meanwhile, a panic becomes an error, Ctrl-C ends it.
//!
//! Long work has a thread of its own. Code of Python that it needs, such as the next item of an iterator, runs on the thread
//! of the caller, who waits: that is where it was made, and what is bound to a thread works there only.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

use arrow_schema::ArrowError;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
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

/// Runs a change of a table, which ends when the flag is set that it is handed.
pub(crate) fn run_change<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    F: FnOnce(Arc<AtomicBool>) -> lancet_table::Result<T> + Send + 'static,
    T: Send + 'static,
{
    run_until_cancelled(py, "the change was committed before", move |cancel| match work(cancel) {
        Ok(done) => Ok(Some(done)),
        Err(lancet_table::Error::Cancelled) => Ok(None),
        Err(error) => Err(error),
    })
}

/// Runs work that others see once it is done, and that gives nothing if the flag was set in time that it is handed. After
/// Ctrl-C it is waited for: then it is known whether it was done, and if it was, the exception says `too_late`. A second Ctrl-C
/// leaves it behind.
pub(crate) fn run_until_cancelled<T, E, F>(py: Python<'_>, too_late: &str, work: F) -> PyResult<T>
where
    F: FnOnce(Arc<AtomicBool>) -> Result<Option<T>, E> + Send + 'static,
    T: Send + 'static,
    E: std::fmt::Display + Send + 'static,
    Result<Option<T>, E>: OrRaise<Option<T>>,
{
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let mut running = Running::start(move || work(flag))?;
    let interrupt = loop {
        if let Some(done) = running.wait(py)? {
            return done.or_raise()?.ok_or_else(|| PyKeyboardInterrupt::new_err("cancelled"));
        }
        if let Err(interrupt) = py.check_signals() {
            cancel.store(true, Ordering::Relaxed);
            break interrupt;
        }
    };
    Err(match running.finish(py)? {
        Ok(None) => interrupt,
        // Whoever catches the interrupt must know.
        Ok(Some(_)) => noted(py, interrupt, too_late),
        Err(error) => noted(py, interrupt, &error.to_string()),
    })
}

/// An exception with a note. Python 3.10 does not show notes: there it is the message.
fn noted(py: Python<'_>, error: PyErr, note: &str) -> PyErr {
    let value = error.value(py);
    if value.call_method1("add_note", (note,)).is_err() {
        let _ = value.setattr("__notes__", [note]);
        let _ = value.setattr("args", (note,));
    }
    error
}

/// What a thread tells the one that waits for it.
enum Event {
    /// Runs this, with the interpreter.
    Ask(Box<dyn FnOnce(Python<'_>) + Send>),
    Done,
}

thread_local! {
    /// Who waits for the work of this thread.
    static CALLER: RefCell<Option<Sender<Event>>> = const { RefCell::new(None) };
}

/// Runs code of Python on the thread of the caller; on this one where there is no other.
pub(crate) fn in_caller<T: Send + 'static>(
    act: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let gone = || PyRuntimeError::new_err("nobody waits for this any more");
    let Some(caller) = CALLER.with_borrow(Option::clone) else {
        return Python::try_attach(act).unwrap_or_else(|| Err(gone()));
    };
    let (answer, answered) = channel();
    let request = move |py: Python<'_>| {
        let _ = answer.send(catch_unwind(AssertUnwindSafe(|| act(py))));
    };
    caller.send(Event::Ask(Box::new(request))).map_err(|_| gone())?;
    match answered.recv() {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => Err(internal(&said(panic.as_ref()))),
        Err(_) => Err(gone()),
    }
}

/// Work on a thread of its own.
struct Running<R> {
    events: Option<Receiver<Event>>,
    result: Receiver<thread::Result<R>>,
}

impl<R: Send + 'static> Running<R> {
    fn start(work: impl FnOnce() -> R + Send + 'static) -> PyResult<Self> {
        let (caller, events) = channel();
        let (sender, result) = channel();
        let work = move || {
            CALLER.set(Some(caller.clone()));
            // Nobody listens any more after Ctrl-C.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
            let _ = caller.send(Event::Done);
        };
        let spawned = thread::Builder::new().name("lancet-call".into()).spawn(work);
        spawned.map_err(|e| internal(&format!("cannot start a thread: {e}")))?;
        Ok(Self { events: Some(events), result })
    }

    /// What it came to, if it has ended by the time that signals must be looked for. Does what it asks for.
    fn wait(&mut self, py: Python<'_>) -> PyResult<Option<R>> {
        let gone = || internal("a thread ended without a result");
        let events = self.events.take().ok_or_else(gone)?;
        let (came, back) = py.detach(move || (events.recv_timeout(SIGNAL_WAIT), events));
        self.events = Some(back);
        match came {
            Ok(Event::Ask(act)) => {
                act(py);
                Ok(None)
            }
            Ok(Event::Done) | Err(RecvTimeoutError::Disconnected) => match self.result.try_recv() {
                Ok(Ok(done)) => Ok(Some(done)),
                Ok(Err(panic)) => Err(internal(&said(panic.as_ref()))),
                Err(_) => Err(gone()),
            },
            Err(RecvTimeoutError::Timeout) => Ok(None),
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
pub(crate) fn next_in_stream<T: Send>(
    next: impl FnOnce() -> Option<Result<T, ArrowError>> + Send,
) -> Option<Result<T, ArrowError>> {
    let next = || match catch_unwind(AssertUnwindSafe(next)) {
        Ok(next) => next,
        Err(panic) => Some(Err(ArrowError::ExternalError(said(panic.as_ref()).into()))),
    };
    // Other threads do not get signals, and might wait for an interpreter that waits for them.
    if MAIN.get() != Some(&thread::current().id()) {
        return next();
    }
    let mut next = Some(next);
    let attached = Python::try_attach(|py| {
        if py.check_signals().is_err() {
            // The library that pulls makes an exception of its own of this. One that came from Python would be lost in
            // it, and one that comes later would hit code that does not expect it.
            return Some(Err(ArrowError::ExternalError("interrupted by Ctrl-C".into())));
        }
        // The library may hold the interpreter.
        next.take().and_then(|next| py.detach(next))
    });
    attached.unwrap_or_else(|| next.take().and_then(|next| next()))
}

/// Removes the files that are not finished: the process ends.
#[pyfunction]
pub(crate) fn abandon_files() {
    lancet::NewFile::abandon_all();
}
