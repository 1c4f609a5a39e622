//! One line for the user: what went wrong, and in which file.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command stopped.
#[derive(Debug)]
pub enum Error {
    /// Whoever read our output went away (`lancet cat … | head`). That is no failure.
    ClosedPipe,
    /// What to print after `error: `.
    Message(String),
    /// The same, where the command line is what is wrong.
    Usage(String),
}

impl Error {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// An error of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// The same error, with the file name before the message.
    pub fn about(self, path: &Path) -> Self {
        match self {
            Self::Message(message) => Self::new(format!("{}: {message}", path.display())),
            other => other,
        }
    }

    /// As [`Error::about`], unless the message names the file already.
    pub fn about_once(self, path: &Path) -> Self {
        match &self {
            Self::Message(message) if names(message, &path.display().to_string()) => self,
            _ => self.about(path),
        }
    }
}

/// Whether a message names a file, or one below it: as a word of its own, with what there is to say of it behind. The name of
/// a file may be any word, also one that the message has for another reason.
fn names(message: &str, file: &str) -> bool {
    message.match_indices(file).any(|(start, _)| {
        let before = message.get(..start).and_then(|before| before.chars().next_back());
        let after = message.get(start.saturating_add(file.len())..);
        let after = after.and_then(|after| after.chars().next());
        let is_told_of = |after: char| {
            after == ':'
                || std::path::is_separator(after)
                || (before.is_none() && after.is_whitespace())
        };
        before.is_none_or(char::is_whitespace) && after.is_none_or(is_told_of)
    })
}

/// Failures of standard output; failures of files go through [`InFile::in_file`].
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::new(format!("cannot write to standard output: {error}")),
        }
    }
}

/// Names the file in which something failed.
pub trait InFile<T> {
    /// Puts the file name before the message, unless the message names it already.
    fn in_file(self, path: &Path) -> Result<T>;
}

impl<T, E: Display> InFile<T> for Result<T, E> {
    fn in_file(self, path: &Path) -> Result<T> {
        self.map_err(|error| {
            let (message, file) = (error.to_string(), path.display().to_string());
            let one_line = message.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
            Error::Message(if names(&one_line, &file) {
                one_line
            } else {
                format!("{file}: {one_line}")
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Result<()>) -> String {
        match result.unwrap_err() {
            Error::Message(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_file_is_named_once_and_the_message_is_one_line() {
        let path = Path::new("a.lance");
        assert_eq!(text(Err("bad\n  magic").in_file(path)), "a.lance: bad magic");
        assert_eq!(text(Err("open a.lance: denied").in_file(path)), "open a.lance: denied");
        let below = "a.lance/_versions/1.manifest: corrupt";
        assert_eq!(text(Err(below).in_file(path)), below);
        assert_eq!(text(Err("open a.lance").in_file(path)), "open a.lance");
    }

    #[test]
    fn a_word_that_is_the_name_of_the_file_does_not_name_it() {
        let path = Path::new("t");
        for message in
            ["there is no field `t`", "it has no t in it", "not a table", "list at/x: no"]
        {
            assert_eq!(text(Err(message).in_file(path)), format!("t: {message}"));
            let about = Error::new(message).about_once(path);
            assert_eq!(text(Err(about)), format!("t: {message}"));
        }
        for message in ["t: it is empty", "list t/_versions: denied", "open t", "t is no file"] {
            assert_eq!(text(Err(message).in_file(path)), message);
        }
    }

    #[test]
    fn only_a_broken_pipe_is_silent() {
        let broken = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(broken, Error::ClosedPipe));
        let full = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(full, Error::Message(_)));
    }
}
