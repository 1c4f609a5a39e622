//! What can go wrong: the file, or the store.

use object_store::path::Path;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a read or a write stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file, or what was asked of it.
    #[error(transparent)]
    Lance(#[from] lancet::Error),
    /// The store refused, after its own retries.
    #[error("{0}")]
    Store(#[from] object_store::Error),
    /// There is another version of the object now, so that what comes next would not go with what was read.
    #[error("{0}: has changed since it was listed or opened; open it again")]
    Changed(Path),
    /// The store gave other bytes than those that were asked for.
    #[error("{path}: the store did not answer what it was asked: {problem}; try again")]
    Answer {
        /// The object.
        path: Path,
        /// What is wrong with the answer.
        problem: String,
    },
    /// A part of the file could not be sent before, so that the file cannot be finished.
    #[error("{0}: a part of it could not be sent; write it again")]
    Incomplete(Path),
}
