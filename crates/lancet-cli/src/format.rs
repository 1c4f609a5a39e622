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
    /// Comma-separated values, `.csv`.
    Csv,
    /// Values separated by tabs, `.tsv`.
    Tsv,
    /// One JSON object per line, `.jsonl` and `.ndjson`.
    JsonLines,
    /// An array of JSON objects, `.json`.
    Json,
}

/// How a text file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz` behind the ending of the format.
    Gzip,
    /// `.zst` behind the ending of the format.
    Zstd,
}

impl Compression {
    /// What the last ending of a name says.
    pub fn from_path(path: &Path) -> Self {
        match ending(path).as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl Format {
    /// The format that belongs to the ending of a name.
    pub fn from_path(path: &Path) -> Result<Self> {
        let unknown = || {
            Error::new(format!(
                "{}: unknown ending; lancet knows .lance, .arrow, .feather, .arrows, .parquet, .pq, .csv, .tsv, \
                 .json, .jsonl and .ndjson, and .gz or .zst behind those of text",
                path.display()
            ))
        };
        if Compression::from_path(path) == Compression::None {
            return Self::from_ending(&ending(path)).ok_or_else(unknown);
        }
        let format = Self::from_ending(&ending(&path.with_extension("")));
        format.filter(|format| format.is_text()).ok_or_else(unknown)
    }

    fn from_ending(ending: &str) -> Option<Self> {
        match ending {
            "lance" => Some(Self::Lance),
            "arrow" | "feather" => Some(Self::ArrowFile),
            "arrows" => Some(Self::ArrowStream),
            "parquet" | "pq" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Whether its files are text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::JsonLines | Self::Json)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lance => "Lance",
            Self::ArrowFile => "Arrow IPC file",
            Self::ArrowStream => "Arrow IPC stream",
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
            Self::Tsv => "tab-separated values",
            Self::JsonLines => "JSON lines",
            Self::Json => "JSON",
        }
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Whether a folder is a Lance table.
pub fn is_table(path: &Path) -> bool {
    path.join("_versions").is_dir()
}

/// Fails unless `path` is a file: the usual mistakes get a plain message.
pub fn check_is_file(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() && is_table(path) => Err(Error::new(format!(
            "{}: is a Lance table, not a file, and this command reads files; write its rows to one \
             and read that: lancet convert {} rows.lance",
            path.display(),
            path.display()
        ))),
        Ok(found) if found.is_dir() => Err(Error::new(format!(
            "{}: is a directory, not a file; several files are named with a pattern: '{}'",
            path.display(),
            path.join("*.lance").display()
        ))),
        Ok(found) if is_pipe(&found) && !stands_for_another(path) => Err(Error::new(format!(
            "{}: is a named pipe, not a file; give what comes out of it on standard input, \
             or copy it to a file: cat {} > FILE",
            path.display(),
            path.display()
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("{}: no such file{}", path.display(), hint(path))))
        }
        Err(error) => Err(Error::new(format!("{}: {error}", path.display()))),
    }
}

/// Whether it is a pipe: nobody knows whether somebody will ever write into it.
fn is_pipe(found: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        false
    }
}

/// Whether a path is another name of something that the program was given open, as `/dev/stdin` is, or what a shell
/// makes of `<(COMMAND)`.
pub fn stands_for_another(path: &Path) -> bool {
    ["/dev/fd", "/proc"].iter().any(|folder| path.starts_with(folder))
        || path.starts_with("/dev") && path.is_symlink()
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
        assert_eq!(format("a.csv.gz").unwrap(), Format::Csv);
        assert_eq!(format("a.JSONL.zst").unwrap(), Format::JsonLines);
        assert_eq!(Compression::from_path(Path::new("a.csv.GZ")), Compression::Gzip);
        for name in ["a", "a.txt", "lance", ".lance", "a.lance.gz", "a.gz", "a.parquet.zst"] {
            assert!(format(name).is_err(), "{name} was accepted");
        }
    }
}
