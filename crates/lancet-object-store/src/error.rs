//! What can go wrong: the file, or the store.

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a read or a write stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, or what was asked of it.
    #[error(transparent)]
    Lance(#[from] lancet::Error),
    /// The store refused, after its own retries.
    #[error("{0}")]
    Store(#[from] object_store::Error),
}
