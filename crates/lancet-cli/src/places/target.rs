//! Where new files go: to disk, to a URL, to standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lancet::NewFile;

use super::{Access, FormatName, Place, Remote, Temporary, leftovers};
use crate::error::{Error, InFile, Result};
use crate::format::{Compression, Format, is_table, stands_for_another};

/// Where a new file goes, and what it will be.
pub struct Target {
    place: TargetPlace,
    name: PathBuf,
    format: Format,
    compression: Compression,
}

enum TargetPlace {
    Disk(PathBuf),
    Standard,
    Url(Box<Remote>),
}

impl Target {
    /// The target that an argument names; `to` is the format that the user named.
    pub fn new(path: &Path, to: Option<&FormatName>, access: &Access) -> Result<Self> {
        let place = match Place::of(path)? {
            Place::Standard if to.is_none() => {
                let message = "standard output has no ending; say the format: --to csv";
                return Err(Error::Usage(message.into()));
            }
            Place::Standard => TargetPlace::Standard,
            Place::Disk(disk) => TargetPlace::Disk(disk),
            Place::Url(url) => TargetPlace::Url(Box::new(Remote::new(&url, access)?)),
        };
        let format = to.map_or_else(|| Format::from_path(path), |to| Ok(to.format))?;
        let name = match place {
            TargetPlace::Standard => "standard output".into(),
            _ => path.into(),
        };
        // A name that was given speaks first: `--to csv.gz`.
        let named = to.map(|to| Compression::from_path(Path::new(&format!("x.{}", to.ending))));
        let compression = match named {
            None | Some(Compression::None) if format.is_text() => Compression::from_path(path),
            named => named.unwrap_or(Compression::None),
        };
        Ok(Self { place, name, format, compression })
    }

    /// What messages call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The format of the new file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the text of the new file is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Whether the bytes go to standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.place, TargetPlace::Standard)
    }

    /// Whether there is a file that the new one would replace.
    pub fn exists(&self) -> Result<bool> {
        match &self.place {
            TargetPlace::Disk(path) => Ok(path.is_file() && !is_device(path)),
            TargetPlace::Standard => Ok(false),
            TargetPlace::Url(remote) => remote.exists().in_file(&self.name),
        }
    }

    /// Fails if writing it would destroy `input`.
    pub fn check_not_same(&self, input: &Path) -> Result<()> {
        match (&self.place, Place::of(input)?) {
            (TargetPlace::Disk(output), Place::Disk(input)) => check_not_same(&input, output),
            (TargetPlace::Url(_), Place::Url(_)) if input == self.name => Err(same(&self.name)),
            _ => Ok(()),
        }
    }
}

/// A file that takes bytes.
pub enum Bytes {
    /// On disk, where it appears when it is complete.
    Disk(NewFile),
    /// On its way to a URL.
    Spool(BufWriter<File>, Temporary, Box<Remote>),
    /// Whatever takes bytes as they come: a pipe, a device.
    Piped(BufWriter<Piped>),
}

impl Target {
    /// Where the bytes go first.
    pub fn start(&self) -> Result<Bytes> {
        match &self.place {
            TargetPlace::Disk(path) if path.is_dir() => {
                let what = if is_table(path) { "is a Lance table" } else { "is a directory" };
                Err(Error::new(what).about(&self.name))
            }
            // A device or a pipe must not be replaced by a file.
            TargetPlace::Disk(path) if is_device(path) => {
                let file = File::options().append(true).open(path).in_file(&self.name)?;
                Ok(Bytes::piped(Box::new(file)))
            }
            TargetPlace::Disk(path) => {
                leftovers::tell(path);
                Ok(Bytes::Disk(NewFile::create(path).in_file(&self.name)?))
            }
            TargetPlace::Url(remote) => {
                let (temporary, file) = Temporary::new("part").in_file(&self.name)?;
                let file = BufWriter::with_capacity(1 << 20, file);
                Ok(Bytes::Spool(file, temporary, remote.clone()))
            }
            TargetPlace::Standard => Ok(Bytes::piped(Box::new(io::stdout()))),
        }
    }
}

impl Bytes {
    fn piped(to: Box<dyn Write + Send>) -> Self {
        let piped = Piped { to, bytes: 0, closed: Arc::default() };
        Self::Piped(BufWriter::with_capacity(1 << 16, piped))
    }

    /// Tells later whether a failed write was one to a pipe that nobody reads any more.
    pub fn closed(&self) -> Closed {
        match self {
            Self::Piped(piped) => Closed(Some(piped.get_ref().closed.clone())),
            _ => Closed(None),
        }
    }

    /// Has the complete file appear. Returns its size.
    pub fn finish(mut self) -> Result<u64, String> {
        self.flush().map_err(|error| error.to_string())?;
        match self {
            Self::Disk(file) => file.publish().map_err(|error| error.to_string()),
            Self::Spool(file, temporary, remote) => {
                drop(file);
                remote.upload(temporary.path())
            }
            Self::Piped(piped) => Ok(piped.get_ref().bytes),
        }
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.write(bytes),
            Self::Spool(file, ..) => file.write(bytes),
            Self::Piped(piped) => piped.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Disk(file) => file.flush(),
            Self::Spool(file, ..) => file.flush(),
            Self::Piped(piped) => piped.flush(),
        }
    }
}

/// Whether a pipe was closed by its reader.
pub struct Closed(Option<Arc<AtomicBool>>);

impl Closed {
    /// The error of a write: that nobody reads any more is none.
    pub fn failed(&self, message: String, name: &Path) -> Error {
        match &self.0 {
            Some(closed) if closed.load(Ordering::Relaxed) => Error::ClosedPipe,
            // The library names the file.
            _ => Error::new(message).about_once(name),
        }
    }
}

/// Writes on, and notes what happens.
pub struct Piped {
    to: Box<dyn Write + Send>,
    bytes: u64,
    closed: Arc<AtomicBool>,
}

impl Piped {
    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.closed.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Write for Piped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes);
        let written = self.note(written)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        self.note(flushed)
    }
}

/// Whether a path leads to something that takes bytes but is no file: a device, a pipe, or
/// `/dev/stdout`, which may stand for a file and still must not become one.
fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_dir() && (stands_for_another(path) || !path.is_file())
}

/// Fails if writing `output` would destroy `input`.
fn check_not_same(input: &Path, output: &Path) -> Result<()> {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(a), Ok(b)) if a == b && a.is_file() => Err(same(output)),
        _ => Ok(()),
    }
}

fn same(output: &Path) -> Error {
    let message = "input and output are the same file; choose another output";
    Error::new(message).about(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_written_onto_itself() {
        let here = Path::new("Cargo.toml");
        assert!(check_not_same(here, Path::new("./src/../Cargo.toml")).is_err());
        assert!(check_not_same(here, Path::new("nowhere.csv")).is_ok());
    }
}
