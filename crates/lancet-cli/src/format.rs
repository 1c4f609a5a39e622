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

/// Fails unless `path` is a file: the two usual mistakes get a plain message.
pub fn check_is_file(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(Error::new(format!(
            "{}: is a directory, not a file; a Lance dataset keeps its files under data/",
            path.display()
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("{}: no such file", path.display())))
        }
        Err(error) => Err(Error::new(format!("{}: {error}", path.display()))),
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
