//! What can go wrong, and where.
//!
//! One variant per thing the caller can act on. Corruption carries its place: functions near the
//! bytes name the broken rule and the offset, and each layer on the way up adds the buffer, the
//! page and the column it knows (see [`Locate`]).

use std::fmt;

use arrow_schema::ArrowError;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed: one variant for each thing that you can do about it.
///
/// ```
/// use lancet::{Error, FileReader, ReadOptions};
///
/// /// What to tell the person who has sent us a file.
/// fn answer(file: Vec<u8>) -> String {
///     match FileReader::from_bytes(file, ReadOptions::default().with_memory_limit(1 << 20)) {
///         Ok(reader) => format!("{} rows", reader.num_rows()),
///         // Damaged, or not what it claims to be. The place and the rule are fields.
///         Err(Error::Corrupt(corrupt)) => format!("not a sound Lance file: {}", corrupt.rule),
///         // Sound, but more than we are ready to hold: raise the option, or refuse.
///         Err(Error::Limit { option, needed, .. }) => format!("needs {option} of {needed}"),
///         // Sound, but of a kind that this version, or this build, does not handle.
///         Err(Error::Unsupported(what)) => format!("not supported: {what}"),
///         // We asked for something that is not there.
///         Err(Error::Invalid(what)) => format!("our mistake: {what}"),
///         // The disk or the network: try again.
///         Err(Error::Io { context, source }) => format!("{context}: {source}"),
///         Err(other) => other.to_string(),
///     }
/// }
///
/// assert!(answer(b"PAR1 is something else".to_vec()).starts_with("not a sound Lance file"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file breaks a rule of the format: it is damaged, or not what it claims to be.
    #[error("{0}")]
    Corrupt(Box<Corrupt>),
    /// The file or the data uses something lancet does not handle.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The caller asked for something that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Going on would exceed a limit that the caller set.
    #[error(
        "{what} needs {needed} {unit}, but `{option}` allows {limit}; raise `{option}` to go on"
    )]
    Limit {
        /// What would have been allocated or read.
        what: String,
        /// What both numbers count: bytes, or levels of nesting.
        unit: &'static str,
        /// How many it needs.
        needed: u64,
        /// How many are allowed.
        limit: u64,
        /// The option that sets the limit.
        option: &'static str,
    },
    /// The operating system refused to read or write.
    #[error("{context}: {source}")]
    Io {
        /// What was being done, and to which file.
        context: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Arrow refused the data.
    #[error("arrow: {0}")]
    Arrow(ArrowError),
}

/// What went wrong here stays what it is: an error of this crate that went through Arrow comes out again.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Arrow(ArrowError::ExternalError(other)),
            },
            other => Self::Arrow(other),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Arrow(error) => error,
            other => Self::ExternalError(Box::new(other)),
        }
    }
}

/// A broken rule of the format, and the place where it was noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Corrupt {
    /// Column number in the file.
    pub column: Option<u32>,
    /// Name of that column, from the top-level field down, joined with dots; a very long one is cut.
    pub column_name: Option<String>,
    /// Page number in the column.
    pub page: Option<u32>,
    /// Buffer number in the page.
    pub buffer: Option<u32>,
    /// Byte offset in the innermost part that is known (buffer, otherwise file).
    pub offset: Option<u64>,
    /// The rule that does not hold.
    pub rule: String,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "corrupt file")?;
        let mut separator = ": ";
        if let Some(name) = &self.column_name {
            write!(f, "{separator}`{}`", shown(name))?;
            separator = ", ";
        }
        let mut part = |f: &mut fmt::Formatter<'_>, name: &str, n: Option<u64>| match n {
            Some(n) => write!(f, "{}{name} {n}", std::mem::replace(&mut separator, ", ")),
            None => Ok(()),
        };
        part(f, "column", self.column.map(u64::from))?;
        part(f, "page", self.page.map(u64::from))?;
        part(f, "buffer", self.buffer.map(u64::from))?;
        part(f, "byte", self.offset)?;
        write!(f, ": {}", self.rule)
    }
}

/// Most characters of a name in a message.
const SHOWN_CHARS: usize = 80;

/// A name out of a file, fit for one line of a terminal.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(SHOWN_CHARS).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

impl Corrupt {
    /// A broken rule whose place is not known yet.
    pub(crate) fn of(rule: impl Into<String>) -> Self {
        Self { rule: rule.into(), ..Self::default() }
    }

    /// The column, if its name is not known yet.
    pub(crate) fn unnamed_column(&self) -> Option<u32> {
        self.column.filter(|_| self.column_name.is_none())
    }
}

impl Error {
    /// A broken rule whose place is not known yet.
    pub(crate) fn corrupt(rule: impl Into<String>) -> Self {
        Self::Corrupt(Box::new(Corrupt::of(rule)))
    }

    /// A mistake of the caller.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid(what.into())
    }

    /// Something lancet does not handle.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    /// Fixed-size binaries of 0 bytes before 2.2: the reference writes them and cannot read them.
    pub(crate) fn no_width() -> Self {
        Self::unsupported(
            "values of 0 bytes in a page that takes some for each, which no release of Lance reads; \
             read the other columns, or write the table again in format 2.2",
        )
    }

    /// Too many bytes for a limit of the caller.
    pub(crate) fn limit(
        what: impl Into<String>,
        needed: u64,
        limit: u64,
        option: &'static str,
    ) -> Self {
        Self::Limit { what: what.into(), unit: "bytes", needed, limit, option }
    }

    /// A failed system call.
    pub(crate) fn io(context: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { context: context.into(), source }
    }

    /// The column of a corruption whose name is not known yet.
    pub(crate) fn unnamed_column(&self) -> Option<u32> {
        match self {
            Self::Corrupt(corrupt) => corrupt.unnamed_column(),
            _ => None,
        }
    }

    /// Names the column of a corruption.
    pub(crate) fn name_column(&mut self, name: Option<String>) {
        self.place(|corrupt| corrupt.column_name = corrupt.column_name.take().or(name));
    }

    fn place(&mut self, fill: impl FnOnce(&mut Corrupt)) {
        if let Self::Corrupt(corrupt) = self {
            fill(corrupt);
        }
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

/// Adds the place to a corruption on its way up. What is known already stays.
pub(crate) trait Locate: Sized {
    /// Names the byte offset.
    fn at(self, offset: u64) -> Self;
    /// Names the buffer of the page.
    fn in_buffer(self, buffer: usize) -> Self;
    /// Names the page of the column.
    fn in_page(self, page: u32) -> Self;
    /// Names the column of the file.
    fn in_column(self, column: u32) -> Self;
}

impl<T> Locate for Result<T> {
    fn at(self, offset: u64) -> Self {
        self.map_err(|mut e| {
            e.place(|c| c.offset = c.offset.or(Some(offset)));
            e
        })
    }

    fn in_buffer(self, buffer: usize) -> Self {
        self.map_err(|mut e| {
            e.place(|c| c.buffer = c.buffer.or(u32::try_from(buffer).ok()));
            e
        })
    }

    fn in_page(self, page: u32) -> Self {
        self.map_err(|mut e| {
            e.place(|c| c.page = c.page.or(Some(page)));
            e
        })
    }

    fn in_column(self, column: u32) -> Self {
        self.map_err(|mut e| {
            e.place(|c| c.column = c.column.or(Some(column)));
            e
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_filled_from_the_inside_out() {
        let failed: Result<()> = Err(Error::corrupt("offsets run backwards"));
        let error = failed.at(12).at(99).in_buffer(1).in_page(3).in_column(7).unwrap_err();
        assert_eq!(
            error.to_string(),
            "corrupt file: column 7, page 3, buffer 1, byte 12: offsets run backwards"
        );
    }

    #[test]
    fn errors_come_through_arrow_as_they_are() {
        let through = |error: Error| Error::from(ArrowError::from(error));
        let limit = || Error::limit("a page", 2, 1, "memory_limit");
        assert!(matches!(through(limit()), Error::Limit { needed: 2, limit: 1, .. }));
        let arrow = Error::Arrow(ArrowError::DivideByZero);
        assert!(matches!(through(arrow), Error::Arrow(ArrowError::DivideByZero)));
        let other = ArrowError::ExternalError("of somebody else".into());
        assert!(matches!(Error::from(other), Error::Arrow(ArrowError::ExternalError(_))));
    }

    #[test]
    fn names_are_escaped_and_cut() {
        let named = |name: &str| {
            let (column, column_name) = (Some(7), Some(name.to_owned()));
            Corrupt { column, column_name, ..Corrupt::of("too short") }.to_string()
        };
        assert_eq!(named("at.x"), "corrupt file: `at.x`, column 7: too short");
        assert_eq!(named("\x1b[31m\n"), "corrupt file: `\\u{1b}[31m\\n`, column 7: too short");
        let long = named(&"ä".repeat(1_000_000));
        assert_eq!(long, format!("corrupt file: `{}…`, column 7: too short", "ä".repeat(80)));
    }
}
