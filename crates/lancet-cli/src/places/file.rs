//! A file to read, wherever it is.
//!
//! | place | what happens |
//! |---|---|
//! | disk | it is read where it is |
//! | folder of a table | rows are read, as of a file; nothing else is |
//! | standard input, a pipe of the shell | all of it goes to a temporary file: readers seek |
//! | URL of a Lance file | what is needed is fetched when it is needed |
//! | URL of another file | all of it goes to a temporary file |

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lancet::{FileReader, ReadOptions, Source};

use super::table::refuse_file;
use super::{Access, FormatName, InputTable, Place, Remote, TableArgs, Temporary};
use crate::error::{Error, InFile, Result};
use crate::format::{Format, check_is_file, check_is_lance, is_table};
use crate::input::{self, Input, Selection, TextOptions};

/// A file to read.
pub struct InputFile {
    /// What messages call it.
    name: PathBuf,
    /// Where its bytes are on disk; the name once more where they are not.
    path: PathBuf,
    format: Format,
    bytes: u64,
    /// The bytes of a Lance file behind a URL.
    source: Option<Arc<dyn Source>>,
    /// Where it is none, but a table.
    table: Option<InputTable>,
    /// Shared with the batches, which are read later.
    temporary: Option<Arc<Temporary>>,
    /// How text is read.
    text: TextOptions,
    /// Whether nothing is said about what was found out of it.
    quiet: bool,
}

impl InputFile {
    /// A file of any format; `from` is the one that the user named.
    pub fn open(path: &Path, from: Option<&FormatName>, access: &Access) -> Result<Self> {
        let by_name = || match from {
            Some(from) => Ok(from.format),
            None => Format::from_path(path),
        };
        match Place::of(path)? {
            Place::Standard => Self::spool(Path::new("standard input"), stdin().lock(), from),
            Place::Url(url) => {
                let remote = Remote::new(&url, access)?;
                match by_name()? {
                    Format::Lance => Self::remote_lance(path, &remote),
                    format => Self::fetch(path, &remote, format),
                }
            }
            Place::Disk(disk) => {
                check_is_file(&disk)?;
                let metadata = disk.metadata().in_file(&disk)?;
                if !metadata.is_file() && !is_endless(&metadata) {
                    return Self::spool(path, File::open(&disk).in_file(&disk)?, from);
                }
                Ok(Self::on_disk(&disk, by_name()?, metadata.len()))
            }
        }
    }

    /// A file of any format, or a table.
    pub fn or_table(
        path: &Path,
        from: Option<&FormatName>,
        access: &Access,
        table: &TableArgs,
        options: ReadOptions,
    ) -> Result<Self> {
        match Place::of(path)? {
            Place::Disk(disk) if is_table(&disk) => {
                let table = table.open(&disk, options)?;
                let file = Self::on_disk(&disk, Format::Lance, table.size_bytes());
                Ok(Self { table: Some(table), ..file })
            }
            _ => {
                if *table != TableArgs::default() {
                    refuse_file(path)?;
                }
                Self::open(path, from, access)
            }
        }
    }

    /// A Lance file, for a command that reads nothing else. It may have any name.
    pub fn lance(path: &Path, command: &str, access: &Access) -> Result<Self> {
        match Place::of(path)? {
            Place::Url(url) => {
                check_is_lance_name(path, command)?;
                Self::remote_lance(path, &Remote::new(&url, access)?)
            }
            Place::Disk(disk) if !disk.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) => {
                check_is_lance(&disk, command)?;
                let bytes = disk.metadata().in_file(&disk)?.len();
                Ok(Self::on_disk(&disk, Format::Lance, bytes))
            }
            _ => {
                let lance = FormatName { format: Format::Lance, ending: "lance".into() };
                Self::open(path, Some(&lance), access)
            }
        }
    }

    fn on_disk(path: &Path, format: Format, bytes: u64) -> Self {
        let (name, path) = (path.to_owned(), path.to_owned());
        Self::new(name, path, format, bytes)
    }

    fn remote_lance(name: &Path, remote: &Remote) -> Result<Self> {
        let source = remote.source().in_file(name)?;
        let (bytes, path) = (source.size_bytes(), name.to_owned());
        let file = Self::new(name.to_owned(), path, Format::Lance, bytes);
        Ok(Self { source: Some(source), ..file })
    }

    /// Copies a file out of a store.
    fn fetch(name: &Path, remote: &Remote, format: Format) -> Result<Self> {
        // The name may tell more than the format: whether the bytes are compressed.
        let ending = name.file_name().unwrap_or_default().to_string_lossy();
        let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '.';
        let ending: String = ending.chars().filter(plain).collect();
        let ending = ending.get(ending.len().saturating_sub(40)..).unwrap_or_default();
        let (temporary, mut file) = temporary_file(ending)?;
        let bytes = remote.download(&mut file).in_file(name)?;
        Ok(Self::in_temporary(name, temporary, format, bytes))
    }

    /// Copies what can be read only once.
    fn spool(name: &Path, mut from: impl Read, format: Option<&FormatName>) -> Result<Self> {
        let ending = format.map_or("bytes", |format| format.ending.as_str());
        let (temporary, mut file) = temporary_file(ending)?;
        let bytes = std::io::copy(&mut from, &mut file).in_file(name)?;
        let format = match format {
            Some(format) => format.format,
            None => {
                FormatName::sniff(&mut file).in_file(name)?.map(|n| n.format).ok_or_else(|| {
                    Error::new("its bytes do not tell the format; say it: --from csv").about(name)
                })?
            }
        };
        Ok(Self::in_temporary(name, temporary, format, bytes))
    }

    fn in_temporary(name: &Path, temporary: Temporary, format: Format, bytes: u64) -> Self {
        let (name, path) = (name.to_owned(), temporary.path().to_owned());
        let temporary = Some(Arc::new(temporary));
        Self { temporary, ..Self::new(name, path, format, bytes) }
    }

    fn new(name: PathBuf, path: PathBuf, format: Format, bytes: u64) -> Self {
        let (source, table, temporary, text) = (None, None, None, TextOptions::default());
        Self { name, path, format, bytes, source, table, temporary, text, quiet: false }
    }

    /// The same, with options for text. Fails if the file is none and they would have no effect.
    pub fn with_text(self, text: &TextOptions, quiet: bool) -> Result<Self> {
        text.check(self.format)?;
        Ok(Self { text: text.clone(), quiet, ..self })
    }

    /// The same, saying nothing when it is opened.
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// What messages call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its size.
    pub fn size_bytes(&self) -> u64 {
        self.bytes
    }

    /// The table, if it is one.
    pub fn table(&self) -> Option<&InputTable> {
        self.table.as_ref()
    }

    /// Opens a Lance file.
    pub fn reader(&self) -> Result<FileReader> {
        self.reader_with(ReadOptions::default())
    }

    /// Opens a Lance file with options.
    pub fn reader_with(&self, options: ReadOptions) -> Result<FileReader> {
        self.try_reader(options).in_file(&self.path).map_err(|e| self.renamed(e))
    }

    /// Opens a Lance file, for callers that look at the error themselves.
    pub fn try_reader(&self, options: ReadOptions) -> lancet::Result<FileReader> {
        match &self.source {
            Some(source) => FileReader::from_source(source.clone(), options),
            None => FileReader::open_with(&self.path, options),
        }
    }

    /// Some rows and columns.
    pub fn rows(&self, selection: &Selection) -> Result<Input> {
        if let Some(table) = &self.table {
            return table.rows(&self.name, selection);
        }
        match self.format {
            Format::Lance => self.rows_of(&self.reader()?, selection),
            format => {
                input::open_selection(&self.path, Some(format), &self.text, selection, self.quiet)
                    .map(|input| self.with_name(input))
                    .map_err(|e| self.renamed(e))
            }
        }
    }

    /// Some rows and columns of the Lance file that is open already.
    pub fn rows_of(&self, reader: &FileReader, selection: &Selection) -> Result<Input> {
        let input = input::lance_rows(reader, self.bytes, &self.name, selection)?;
        Ok(self.with_name(input))
    }

    /// Has later errors name the file, and keeps a temporary one until the batches are read.
    fn with_name(&self, mut input: Input) -> Input {
        let Some(temporary) = self.temporary.clone() else { return input };
        let name = self.name.clone();
        let batches = input.batches;
        input.batches = Box::new(
            batches.map(move |batch| batch.map_err(|e| renamed(e, temporary.path(), &name))),
        );
        input
    }

    fn renamed(&self, error: Error) -> Error {
        renamed(error, &self.path, &self.name)
    }
}

/// A device may never end, so it is read where it is, by readers that look at its beginning first.
pub fn is_endless(metadata: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Readers name the temporary file, which tells the user nothing.
fn renamed(error: Error, path: &Path, name: &Path) -> Error {
    match error {
        Error::Message(message) if path != name => {
            let (path, name) = (path.display().to_string(), name.display().to_string());
            Error::Message(message.replace(&path, &name))
        }
        other => other,
    }
}

fn temporary_file(ending: &str) -> Result<(Temporary, File)> {
    Temporary::new(ending)
        .map_err(|error| Error::new(format!("cannot make a temporary file: {error}")))
}

/// As [`check_is_lance`], by the name alone.
fn check_is_lance_name(path: &Path, command: &str) -> Result<()> {
    match Format::from_path(path) {
        Ok(Format::Lance) | Err(_) => Ok(()),
        Ok(other) => Err(Error::new(format!(
            "{}: `lancet {command}` reads Lance files, not {}",
            path.display(),
            other.name()
        ))),
    }
}
