//! Reads as values, without any I/O of their own.

use bytes::Bytes;

use crate::error::Result;
use crate::span::Span;

/// A read in progress, for drivers with I/O of their own: it names spans of the file, is handed their
/// bytes, and names the next ones until it is complete. What it comes to is a `T`.
///
/// [`OpenFile`](crate::OpenFile) makes them, and one loop drives them all:
///
/// ```
/// use lancet::{Bytes, Request, Result, Span};
///
/// fn drive<T>(
///     mut request: Request<T>,
///     read: impl Fn(&[Span]) -> Result<Vec<Bytes>>,
/// ) -> Result<T> {
///     while !request.spans().is_empty() {
///         let bytes = read(request.spans())?;
///         request.supply(bytes)?;
///     }
///     request.finish()
/// }
/// ```
///
/// It decodes in [`Request::supply`], on the calling thread; nothing blocks.
#[must_use]
pub struct Request<T>(Box<dyn Machine<Output = T> + Send>);

/// What a request is made of.
pub(crate) trait Machine {
    /// What the read comes to.
    type Output;

    /// The spans of the file whose bytes are needed next; none when the read is complete.
    fn spans(&self) -> &[Span];

    /// Takes the bytes of the spans, in the same order.
    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()>;

    /// Whether the spans are those of rows, and not only of what tells where rows are.
    fn brings_rows(&self) -> bool {
        true
    }

    /// How far it has come, where that is known.
    fn progress(&self) -> Option<Progress> {
        None
    }

    /// The result of a read that is complete.
    fn finish(self: Box<Self>) -> Result<Self::Output>;
}

/// How far a long read has come. Both numbers count bytes, and bytes that are looked at several times
/// as often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// What there is to do in all.
    pub all: u64,
}

impl<T> Request<T> {
    pub(crate) fn new(machine: impl Machine<Output = T> + Send + 'static) -> Self {
        Self(Box::new(machine))
    }

    /// The spans of the file whose bytes are needed next; none when the read is complete.
    pub fn spans(&self) -> &[Span] {
        self.0.spans()
    }

    /// Whether the spans are those of rows, and not only of what tells where rows are. Who announces rows of several files together
    /// reads up to there in each.
    pub fn brings_rows(&self) -> bool {
        self.0.brings_rows()
    }

    /// Hands over the bytes of [`Request::spans`], in the same order.
    pub fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.0.supply(bytes)
    }

    /// How far it has come; known only of reads of whole files.
    pub fn progress(&self) -> Option<Progress> {
        self.0.progress()
    }

    /// The result of a read that is complete.
    pub fn finish(self) -> Result<T> {
        self.0.finish()
    }
}

impl<T> std::fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("spans", &self.spans()).finish_non_exhaustive()
    }
}
