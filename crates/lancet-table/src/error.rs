//! What can go wrong, and in which file.
//!
//! Functions near the bytes name the broken rule and, on the way up, the fragment or the field
//! ([`Problem`]); [`Manifest::parse`](crate::Manifest::parse) knows the file and makes it an [`Error`].

use arrow_schema::ArrowError;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file breaks a rule of the format: it is damaged, or not what it claims to be.
    #[error("{file}: corrupt file: {rule}")]
    Corrupt {
        /// The file, as the caller named it.
        file: String,
        /// The rule that does not hold.
        rule: String,
    },
    /// The table uses something lancet does not handle.
    #[error("{file}: not supported: {what}")]
    Unsupported {
        /// The file, as the caller named it.
        file: String,
        /// What it uses.
        what: String,
    },
    /// Going on would exceed a limit that the caller set.
    #[error(
        "{file}: its contents need {needed} bytes of memory, but `{option}` allows {limit}; \
         raise `{option}` to go on"
    )]
    Limit {
        /// The file, as the caller named it.
        file: String,
        /// How many bytes it needs.
        needed: u64,
        /// How many are allowed.
        limit: u64,
        /// The option that sets the limit.
        option: &'static str,
    },
    /// A data file could not be read.
    #[error("{file}: {source}")]
    Data {
        /// The file.
        file: String,
        /// What is wrong with it, and where.
        source: lancet::Error,
    },
    /// The caller asked for something that makes no sense, or is not there.
    #[error("{0}")]
    Invalid(String),
    /// The store refused, or gave something else than it was asked for.
    #[error("{file}: {source}")]
    Store {
        /// The object.
        file: String,
        /// What the store says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A change cannot be committed, because of one that was committed before it.
    #[error("{0}")]
    Conflict(Conflict),
    /// A change could not be committed: others were always faster.
    #[error(
        "the change was not committed: {attempts} attempts in {seconds} s, and each time version \
         {version} was there first; try again, or with more attempts"
    )]
    Busy {
        /// How often it was tried.
        attempts: u32,
        /// For how long.
        seconds: u64,
        /// The version that was there first.
        version: u64,
    },
    /// The caller has ended the work.
    #[error("cancelled; the table is as it was")]
    Cancelled,
    /// It is not known whether a change was committed.
    #[error(
        "{file}: it is not known whether version {version} was committed: {source}; open the table \
         again to see"
    )]
    Uncertain {
        /// The version file.
        file: String,
        /// The version.
        version: u64,
        /// What went wrong.
        source: Box<Error>,
    },
    /// The operating system refused to read or to write.
    #[error("{context}: {source}")]
    Io {
        /// What was being done, and to which file.
        context: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// A change that was committed first, and what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// What was to be committed, in the words of users: `append`, `compact` and so on.
    pub ours: &'static str,
    /// The version that stands in the way.
    pub version: u64,
    /// What that one did, in the same words.
    pub theirs: &'static str,
    /// Whether it may work when it is done again on the newest version.
    pub can_retry: bool,
    /// Why the two do not go together.
    pub why: String,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ours, version, theirs, can_retry, why } = self;
        write!(f, "the change ({ours}) was not committed: ")?;
        write!(f, "version {version} ({theirs}) came first, and {why}")?;
        match can_retry {
            true => f.write_str("; open the newest version and do it again"),
            false => f.write_str("; look at the newest version before you do it again"),
        }
    }
}

impl Error {
    /// Whether it says that a file is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }

    /// A mistake of the caller.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid(what.into())
    }
}

/// What the file library says of what was asked for, not of a file.
impl From<lancet::Error> for Error {
    fn from(error: lancet::Error) -> Self {
        match error {
            lancet::Error::Io { context, source } => Self::Io { context, source },
            lancet::Error::Invalid(what) => Self::Invalid(what),
            source => Self::Data { file: "the table".into(), source },
        }
    }
}

/// What went wrong here stays what it is: an error of this crate that went through Arrow comes out again.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => lancet::Error::from(ArrowError::ExternalError(other)).into(),
            },
            other => lancet::Error::from(other).into(),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

/// A broken rule, before the file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    Corrupt(String),
    Unsupported(String),
    /// More bytes than an option allows.
    Limit {
        needed: u64,
        limit: u64,
        option: &'static str,
    },
}

impl Problem {
    /// A broken rule.
    pub(crate) fn corrupt(rule: impl Into<String>) -> Self {
        Self::Corrupt(rule.into())
    }

    /// Something lancet does not handle.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    /// Puts the part of the table before the rule.
    pub(crate) fn within(self, part: &str) -> Self {
        match self {
            Self::Corrupt(rule) => Self::Corrupt(format!("{part}: {rule}")),
            Self::Unsupported(what) => Self::Unsupported(format!("{part}: {what}")),
            limit => limit,
        }
    }

    /// Names the file.
    pub(crate) fn in_file(self, file: &str) -> Error {
        let file = file.to_owned();
        match self {
            Self::Corrupt(rule) => Error::Corrupt { file, rule },
            Self::Unsupported(what) => Error::Unsupported { file, what },
            Self::Limit { needed, limit, option } => Error::Limit { file, needed, limit, option },
        }
    }
}

/// What the file library says of a part that it reads for us.
impl From<lancet::Error> for Problem {
    fn from(error: lancet::Error) -> Self {
        match error {
            lancet::Error::Corrupt(corrupt) => Self::Corrupt(corrupt.rule),
            lancet::Error::Unsupported(what) => Self::Unsupported(what),
            other => Self::Corrupt(other.to_string()),
        }
    }
}

/// What the sequences of row ids say of themselves.
impl From<lancet_row_ids::Error> for Problem {
    fn from(error: lancet_row_ids::Error) -> Self {
        match error {
            lancet_row_ids::Error::Corrupt(rule) => Self::Corrupt(rule),
            other => Self::Corrupt(other.to_string()),
        }
    }
}

/// Returns early with [`Problem::Corrupt`] unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($rule:tt)+) => {
        if !$condition {
            return Err($crate::error::Problem::corrupt(format!($($rule)+)));
        }
    };
}
pub(crate) use ensure;
