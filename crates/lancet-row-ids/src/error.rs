//! What can go wrong.

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes, or the sequences of a table together, break this rule of the format: they are damaged, or not
    /// what they claim to be.
    #[error("corrupt file: {0}")]
    Corrupt(String),
    /// The caller asked for something that makes no sense.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// A broken rule.
    pub(crate) fn corrupt(rule: impl Into<String>) -> Self {
        Self::Corrupt(rule.into())
    }

    /// A mistake of the caller.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid(what.into())
    }
}

/// Returns early with [`Error::Corrupt`] unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($rule:tt)+) => {
        if !$condition {
            return Err($crate::error::Error::corrupt(format!($($rule)+)));
        }
    };
}
pub(crate) use ensure;
