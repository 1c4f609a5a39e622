//! The file formats lancet converts between, told apart by the ending of the name.

use std::path::Path;

use crate::error::{Error, Result};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lance, `.lance`.
    Lance,
    /// Arrow IPC file, `.arrow` and `.feather`.
    ArrowFile,
    /// Arrow IPC stream, `.arrows`.
    ArrowStream,
    /// Parquet, `.parquet` and `.pq`.
    Parquet,
    /// Comma-separated values with a header line, `.csv`.
    Csv,
    /// One JSON object per line, `.jsonl` and `.ndjson`.
    JsonLines,
}

impl Format {
    /// The format that belongs to the ending of a name.
    pub fn from_path(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref().unwrap_or_default() {
            "lance" => Ok(Self::Lance),
            "arrow" | "feather" => Ok(Self::ArrowFile),
            "arrows" => Ok(Self::ArrowStream),
            "parquet" | "pq" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "jsonl" | "ndjson" => Ok(Self::JsonLines),
            _ => Err(Error::new(format!(
                "{}: unknown ending; lancet knows .lance, .arrow, .feather, .arrows, .parquet, \
                 .pq, .csv, .jsonl and .ndjson",
                path.display()
            ))),
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lance => "Lance",
            Self::ArrowFile => "Arrow IPC file",
            Self::ArrowStream => "Arrow IPC stream",
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
        }
    }
}

/// Whether a folder is a Lance table.
pub fn is_table(path: &Path) -> bool {
    path.join("_versions").is_dir()
}

/// Fails unless `path` is a file: the usual mistakes get a plain message.
pub fn check_is_file(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() && is_table(path) => Err(Error::new(format!(
            "{}: is a Lance table, not a file; its files one by one would show deleted rows and \
             lack columns that were added later, so write its rows to one file with the program \
             that keeps it, and read that",
            path.display()
        ))),
        Ok(found) if found.is_dir() => Err(Error::new(format!(
            "{}: is a directory, not a file; several files are named with a pattern: '{}'",
            path.display(),
            path.join("*.lance").display()
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("{}: no such file{}", path.display(), hint(path))))
        }
        Err(error) => Err(Error::new(format!("{}: {error}", path.display()))),
    }
}

/// For commands that read files on disk only.
fn hint(path: &Path) -> &'static str {
    match path.to_str() {
        Some(text) if text.contains("://") => {
            "; this command reads files on disk, so fetch it first: lancet convert URL FILE"
        }
        _ => "",
    }
}

/// For commands about Lance files only: fails with a hint on a file of another kind.
pub fn check_is_lance(path: &Path, command: &str) -> Result<()> {
    check_is_file(path)?;
    match Format::from_path(path) {
        Ok(Format::Lance) | Err(_) => Ok(()), // a Lance file may have any other name
        Ok(other) => Err(Error::new(format!(
            "{}: `lancet {command}` reads Lance files, not {}; convert it first: \
             lancet convert {} {}",
            path.display(),
            other.name(),
            path.display(),
            path.with_extension("lance").display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_the_format() {
        let format = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(format("a.lance").unwrap(), Format::Lance);
        assert_eq!(format("a.tar.PARQUET").unwrap(), Format::Parquet);
        assert_eq!(format("dir.csv/a.pq").unwrap(), Format::Parquet);
        assert_eq!(format("a.arrows").unwrap(), Format::ArrowStream);
        assert_eq!(format("a.feather").unwrap(), Format::ArrowFile);
        assert_eq!(format("a.ndjson").unwrap(), Format::JsonLines);
        for name in ["a", "a.txt", "lance", ".lance", "a.lance.gz"] {
            assert!(format(name).is_err(), "{name} was accepted");
        }
    }
}
