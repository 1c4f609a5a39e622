//! Data files that are open, kept between reads.
//!
//! A take of a few rows opens the files of their fragments and no others; the next one finds them open. So many files stay
//! open, and what is known of many more is remembered, up to a number of bytes; the least recently used ones go first.
//! Their page indexes lie in the search cache of the read options, which all of them share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use lancet::{OpenFile, Projection, Request, Rows, Version};

use crate::data_file::{DataFile, FileVersion};
use crate::error::{Error, Problem, Result};
use crate::locks::try_lock;
use crate::options::TableOptions;
use crate::storage::Storage;

/// An open file takes at least this many bytes, about.
const FILE_BYTES: u64 = 4 << 10;
/// Projections that are remembered of a file.
const MAX_PROJECTIONS: usize = 8;

/// An open data file.
pub(crate) struct OpenData<S: Storage> {
    pub(crate) handle: S::Handle,
    pub(crate) path: PathBuf,
    known: Arc<Known>,
}

/// What is known of a data file, open or not.
struct Known {
    file: Arc<OpenFile>,
    projections: Mutex<Vec<Arc<Projected>>>,
}

struct Projected {
    columns: Vec<u32>,
    described: bool,
    projection: Projection,
}

impl<S: Storage> OpenData<S> {
    /// What is known of the file.
    pub(crate) fn file(&self) -> &Arc<OpenFile> {
        &self.known.file
    }

    /// What a request of the file comes to.
    pub(crate) async fn run<T: Send>(&self, request: Request<T>) -> Result<T> {
        S::run(&self.handle, &self.path, request).await
    }

    /// Some rows of some columns.
    pub(crate) async fn read(&self, columns: &Projection, rows: Rows) -> Result<RecordBatch> {
        S::read_rows(&self.handle, &self.path, columns, rows).await
    }

    /// Names the file in an error.
    pub(crate) fn error(&self, source: lancet::Error) -> Error {
        in_data_file(&self.path, source)
    }

    /// Columns by their numbers, blobs described if that is wanted. Looked up once for many reads.
    pub(crate) fn project(&self, columns: &[u32], described: bool) -> Result<Projection> {
        let is_same = |known: &&Arc<Projected>| {
            known.described == described && known.columns.as_slice() == columns
        };
        let known = try_lock(&self.known.projections);
        if let Some(found) = known.as_ref().and_then(|known| known.iter().find(is_same)) {
            return Ok(found.projection.clone());
        }
        drop(known);
        let projection = self.file().project_columns(columns);
        let projection = projection.and_then(|projection| {
            if described { projection.with_blobs_described() } else { Ok(projection) }
        });
        let projection = projection.map_err(|error| self.error(error))?;
        if let Some(mut known) = try_lock(&self.known.projections) {
            if known.len() >= MAX_PROJECTIONS {
                known.remove(0);
            }
            let columns = columns.to_vec();
            let projection = projection.clone();
            known.push(Arc::new(Projected { columns, described, projection }));
        }
        Ok(projection)
    }
}

/// Names a data file in an error.
pub(crate) fn in_data_file(path: &Path, source: lancet::Error) -> Error {
    match source {
        lancet::Error::Io { context, source } => Error::Io { context, source },
        source => Error::Data { file: path.display().to_string(), source },
    }
}

/// The files that are open, and those that were.
pub(crate) struct OpenFiles<S: Storage> {
    pub(crate) storage: S,
    options: TableOptions,
    state: Mutex<State<S>>,
}

struct State<S: Storage> {
    files: HashMap<PathBuf, Entry<S>>,
    /// Counts the uses.
    clock: u64,
}

struct Entry<S: Storage> {
    known: Arc<Known>,
    /// The file, while it is open. What is known of it stays when it is closed: systems allow few open files, and there
    /// is memory for more.
    open: Option<Arc<OpenData<S>>>,
    last_used: u64,
}

/// What a lookup gives.
enum Found<S: Storage> {
    Open(Arc<OpenData<S>>),
    Known(Arc<Known>),
    Nothing,
}

impl<S: Storage> OpenFiles<S> {
    pub(crate) fn new(storage: S, options: TableOptions) -> Self {
        let state = Mutex::new(State { files: HashMap::new(), clock: 0 });
        Self { storage, options, state }
    }

    /// The file at a path, opened if it is not open. Its rows must be as many as the fragment has, if that is known.
    pub(crate) async fn open(
        &self,
        path: PathBuf,
        data_file: &DataFile,
        physical_rows: Option<u64>,
    ) -> Result<Arc<OpenData<S>>> {
        let (handle, known) = match self.find(&path) {
            Found::Open(found) => {
                check_rows(&found, physical_rows)?;
                return Ok(found);
            }
            Found::Known(known) => (self.storage.reopen(&path, known.file.clone()).await?, known),
            Found::Nothing => {
                check_readable(&path, data_file)?;
                let handle = self.storage.open(&path, &self.options.read).await?;
                let file = S::file(&handle).clone();
                (handle, Arc::new(Known { file, projections: Mutex::default() }))
            }
        };
        let file = Arc::new(OpenData { handle, path, known });
        check_file(&file, data_file)?;
        check_rows(&file, physical_rows)?;
        self.keep(&file);
        Ok(file)
    }

    /// Whether the file at a path was opened before.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        try_lock(&self.state).is_none_or(|state| state.files.contains_key(path))
    }

    fn find(&self, path: &Path) -> Found<S> {
        let Some(mut state) = try_lock(&self.state) else { return Found::Nothing };
        state.clock = state.clock.wrapping_add(1);
        let clock = state.clock;
        let Some(entry) = state.files.get_mut(path) else { return Found::Nothing };
        entry.last_used = clock;
        match &entry.open {
            Some(open) => Found::Open(open.clone()),
            None => Found::Known(entry.known.clone()),
        }
    }

    fn keep(&self, file: &Arc<OpenData<S>>) {
        let Some(mut state) = try_lock(&self.state) else { return };
        state.clock = state.clock.wrapping_add(1);
        let (last_used, known) = (state.clock, file.known.clone());
        let entry = Entry { known, open: Some(file.clone()), last_used };
        let before = state.files.insert(file.path.clone(), entry);
        let dropped = self.overflow(&mut state);
        // Files are closed when nobody holds the lock.
        drop(state);
        drop((before, dropped));
    }

    /// Closes the files that were not used for the longest time, and forgets those before them, a good part at once: to
    /// look for them takes as long as there are files.
    fn overflow(&self, state: &mut State<S>) -> Vec<Arc<OpenData<S>>> {
        let weight =
            |entry: &Entry<S>| entry.known.file.metadata_bytes().saturating_add(FILE_BYTES);
        let most_files = if S::COUNTS_FILES { self.options.max_open_files } else { u64::MAX };
        let most_bytes = self.options.max_open_bytes;
        let bytes = state.files.values().map(weight).fold(0, u64::saturating_add);
        let open = state.files.values().filter(|entry| entry.open.is_some()).count() as u64;
        if open <= most_files && bytes <= most_bytes {
            return Vec::new();
        }
        let keep_files = most_files.saturating_sub(most_files / 4);
        let keep_bytes = most_bytes.saturating_sub(most_bytes / 4);
        let mut by_use: Vec<(u64, PathBuf)> =
            state.files.iter().map(|(path, entry)| (entry.last_used, path.clone())).collect();
        by_use.sort_unstable_by(|a, b| b.cmp(a));
        let (mut files, mut bytes, mut closed) = (0_u64, 0_u64, Vec::new());
        for (place, (_, path)) in by_use.into_iter().enumerate() {
            let Some(entry) = state.files.get_mut(&path) else { continue };
            files = files.saturating_add(entry.open.is_some().into());
            bytes = bytes.saturating_add(weight(entry));
            // The newest stays, whatever it takes: it is about to be read.
            if place > 0 && files > keep_files {
                closed.extend(entry.open.take());
            }
            if place > 0 && bytes > keep_bytes {
                closed.extend(state.files.remove(&path).and_then(|entry| entry.open));
            }
        }
        closed
    }
}

/// Files of formats that lancet does not read, told before they are opened.
fn check_readable(path: &Path, data_file: &DataFile) -> Result<()> {
    let what = match data_file.version {
        FileVersion::Legacy => {
            "it is a data file of the first format (0.1); lancet reads 2.0 to 2.2"
        }
        FileVersion::V2_3 => {
            "it is a data file of format 2.3, which is not stable yet; lancet reads 2.0 to 2.2"
        }
        FileVersion::V2_0 | FileVersion::V2_1 | FileVersion::V2_2 => return Ok(()),
    };
    Err(Error::Unsupported { file: path.display().to_string(), what: what.into() })
}

/// A file that is not the one that the manifest names.
fn check_file<S: Storage>(file: &OpenData<S>, data_file: &DataFile) -> Result<()> {
    let corrupt =
        |rule: String| Err(Problem::Corrupt(rule).in_file(&file.path.display().to_string()));
    let found = file.file().file_bytes();
    if let Some(expected) = data_file.size_bytes.filter(|expected| *expected != found) {
        return corrupt(format!("it has {found} bytes, but the manifest says {expected}"));
    }
    let is_expected = match data_file.version {
        FileVersion::V2_0 => file.file().version() == Version::V2_0,
        FileVersion::V2_1 => file.file().version() == Version::V2_1,
        FileVersion::V2_2 => file.file().version() == Version::V2_2,
        FileVersion::Legacy | FileVersion::V2_3 => false,
    };
    if !is_expected {
        let expected = data_file.version;
        return corrupt(format!("its version is not {expected}, which the manifest says"));
    }
    Ok(())
}

fn check_rows<S: Storage>(file: &OpenData<S>, physical_rows: Option<u64>) -> Result<()> {
    let found = file.file().num_rows();
    match physical_rows.filter(|expected| *expected != found) {
        Some(expected) => {
            let rule = format!("it has {found} rows, but its fragment has {expected}");
            Err(Problem::Corrupt(rule).in_file(&file.path.display().to_string()))
        }
        None => Ok(()),
    }
}
