//! Reads that are written as they are told: first this, then that.
//!
//! Opening a file, looking for zone maps or checking a file is a sequence of reads, each of which depends
//! on what the one before has found. Such a read is an `async` function that awaits [`Io::read`], and
//! nothing else. It needs no runtime: it runs up to its next read when it is handed bytes, and what it
//! awaits are the spans of a [`Request`](super::Request).

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::request::{Machine, Progress};
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::span::Span;

/// A sequence of reads in progress.
pub(super) struct Steps<T> {
    /// Until the end is reached.
    future: Option<Pin<Box<dyn Future<Output = Result<T>> + Send>>>,
    mail: Arc<Mutex<Mail>>,
    spans: Vec<Span>,
    /// Once the end is reached.
    result: Option<Result<T>>,
}

/// What goes between the function and the driver.
#[derive(Default)]
struct Mail {
    wanted: Option<Vec<Span>>,
    bytes: Option<Vec<Bytes>>,
    progress: Option<Progress>,
}

/// What a function reads with.
#[derive(Clone)]
pub(super) struct Io(Arc<Mutex<Mail>>);

impl<T> Steps<T> {
    /// Runs up to the first read.
    pub(super) fn start<F>(steps: impl FnOnce(Io) -> F) -> Self
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let mail = Arc::new(Mutex::new(Mail::default()));
        let future = Some(Box::pin(steps(Io(mail.clone()))) as Pin<Box<_>>);
        let mut started = Self { future, mail, spans: Vec::new(), result: None };
        started.go_on();
        started
    }

    /// Runs up to the next read, or to the end.
    fn go_on(&mut self) {
        let Some(future) = &mut self.future else { return };
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => {
                self.result = Some(result);
                self.future = None;
            }
            Poll::Pending => self.spans = lock(&self.mail).wanted.take().unwrap_or_default(),
        }
    }
}

impl<T> Machine for Steps<T> {
    type Output = T;

    fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        check_lengths(&self.spans, &bytes)?;
        if self.future.is_none() {
            return Err(Error::invalid("a read that has ended was given bytes"));
        }
        self.spans.clear();
        lock(&self.mail).bytes = Some(bytes);
        self.go_on();
        match self.result.take_if(|result| result.is_err()) {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn progress(&self) -> Option<Progress> {
        lock(&self.mail).progress
    }

    fn finish(self: Box<Self>) -> Result<T> {
        self.result.unwrap_or_else(|| Err(unfinished()))
    }
}

impl Io {
    /// The bytes of each span, in the same order.
    pub(super) async fn read(&self, spans: Vec<Span>) -> Result<Vec<Bytes>> {
        if spans.is_empty() {
            return Ok(Vec::new());
        }
        lock(&self.0).wanted = Some(spans);
        let bytes = poll_fn(|_| match lock(&self.0).bytes.take() {
            Some(bytes) => Poll::Ready(bytes),
            None => Poll::Pending,
        });
        Ok(bytes.await)
    }

    /// The bytes of one span.
    pub(super) async fn read_one(&self, span: Span) -> Result<Bytes> {
        self.read(vec![span]).await?.pop().ok_or_else(unfinished)
    }

    /// What another read comes to.
    pub(super) async fn run<M: Machine>(&self, machine: M) -> Result<M::Output> {
        let mut machine = Box::new(machine);
        while !machine.spans().is_empty() {
            let bytes = self.read(machine.spans().to_vec()).await?;
            machine.supply(bytes)?;
        }
        machine.finish()
    }

    /// Says how far it has come.
    pub(super) fn tell(&self, progress: Progress) {
        lock(&self.0).progress = Some(progress);
    }
}

/// An error unless there are as many bytes as each span has.
pub(super) fn check_lengths(spans: &[Span], bytes: &[Bytes]) -> Result<()> {
    let (given, asked) = (bytes.len(), spans.len());
    if given != asked {
        return Err(Error::invalid(format!(
            "a read was given the bytes of {given} spans and asked for {asked}"
        )));
    }
    match spans.iter().zip(bytes).find(|(span, bytes)| span.len() != bytes.len() as u64) {
        Some((span, bytes)) => {
            let given = bytes.len();
            Err(Error::invalid(format!("a read was given {given} bytes for {span}")))
        }
        None => Ok(()),
    }
}

/// A driver that ends too early.
pub(super) fn unfinished() -> Error {
    Error::invalid("a read was finished before it had all its bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn two_reads(io: Io) -> Result<usize> {
        io.tell(Progress { done: 0, all: 2 });
        let first = io.read_one(Span::new(0, 3).unwrap()).await?;
        io.tell(Progress { done: 1, all: 2 });
        let at = u64::from(first[0]);
        let nothing = io.read(Vec::new()).await?;
        assert!(nothing.is_empty());
        let second = io.read(vec![Span::at(at, 1).unwrap(), Span::at(at, 2).unwrap()]).await?;
        if second[1] == "??" {
            return Err(Error::corrupt("nothing there"));
        }
        Ok(first.len() + second.len())
    }

    #[test]
    fn each_read_follows_from_the_one_before() {
        let mut steps = Steps::start(two_reads);
        assert_eq!(steps.spans(), [Span::new(0, 3).unwrap()]);
        assert_eq!(steps.progress().unwrap().done, 0);
        assert!(steps.supply(Vec::new()).is_err(), "bytes are missing");
        steps.supply(vec![Bytes::from_static(&[7, 0, 0])]).unwrap();
        assert_eq!(steps.spans(), [Span::new(7, 8).unwrap(), Span::new(7, 9).unwrap()]);
        assert_eq!(steps.progress().unwrap().done, 1);
        steps.supply(vec![Bytes::from_static(b"a"), Bytes::from_static(b"bc")]).unwrap();
        assert!(steps.spans().is_empty());
        assert!(steps.supply(vec![Bytes::new()]).is_err(), "nothing was asked for");
        assert!(steps.supply(Vec::new()).is_err(), "it has ended");
        assert_eq!(Box::new(steps).finish().unwrap(), 5);
    }

    #[test]
    fn errors_come_out_where_they_happen() {
        let mut steps = Steps::start(two_reads);
        steps.supply(vec![Bytes::from_static(&[7, 0, 0])]).unwrap();
        assert!(steps.supply(vec![Bytes::new(), Bytes::new()]).is_err(), "too short");
        let failed = steps.supply(vec![Bytes::from_static(b"?"), Bytes::from_static(b"??")]);
        assert!(matches!(failed, Err(Error::Corrupt(_))), "{failed:?}");
        let again = steps.supply(Vec::new());
        assert!(matches!(again, Err(Error::Invalid(_))), "{again:?}");
        assert!(matches!(Box::new(steps).finish(), Err(Error::Invalid(_))));
        let early = Steps::start(two_reads);
        assert!(matches!(Box::new(early).finish(), Err(Error::Invalid(_))));
        let at_once = Steps::start(|_| async { Err::<(), _>(Error::corrupt("at once")) });
        assert!(matches!(Box::new(at_once).finish(), Err(Error::Corrupt(_))));
    }
}
