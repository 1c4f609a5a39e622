//! New data files: rows in, files and the fragments they make out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use smallvec::smallvec;

use crate::assemble::has_blob_v2;
use crate::blob_write::{BlobPacker, SideFile};
use crate::blobs::side_file;
use crate::data_file::{DATA_DIR, DataFile, FileVersion};
use crate::error::{Error, Result};
use crate::file_schema::FileSchema;
use crate::fragment::Fragment;
use crate::random;
use crate::storage::{Durability, Put, Storage, Unsynced, put_own, stem};
use crate::unknown::UnknownFields;
use crate::write_options::{TableWriteOptions, WriteProgress};

/// A data file that is being written.
pub(crate) struct NewDataFile<S: Storage> {
    storage: S,
    pub(crate) path: PathBuf,
    name: String,
    schema: Arc<FileSchema>,
    data: S::NewData,
    /// Where the bytes of blobs go, if there are such columns.
    blobs: Option<BlobPacker>,
    pub(crate) num_rows: u64,
}

impl<S: Storage> NewDataFile<S> {
    /// Begins a file in the table at `root`, under a name that nobody has.
    pub(crate) async fn create(
        storage: &S,
        root: &Path,
        schema: Arc<FileSchema>,
        options: &TableWriteOptions,
    ) -> Result<Self> {
        let name = format!("{}.lance", random::hex());
        let path = root.join(DATA_DIR).join(&name);
        let file = options.file.clone().with_version(schema.version);
        let data = storage.create_data(&path, schema.with_ids.clone(), file).await?;
        let blobs = schema.nodes.iter().any(has_blob_v2).then(BlobPacker::default);
        Ok(Self { storage: storage.clone(), path, name, schema, data, blobs, num_rows: 0 })
    }

    /// Adds rows, which are as [`FileSchema::conform`] makes them.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.blobs {
            None => S::write_data(&mut self.data, batch).await?,
            Some(blobs) => {
                let columns = self.schema.nodes.iter().zip(batch.columns());
                let columns = columns.map(|(node, array)| blobs.stored(node, array));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let ready = blobs.take_ready();
                let stored = RecordBatch::try_new(self.schema.with_ids.clone(), columns)?;
                put_blobs(&self.storage, &self.path, ready).await?;
                S::write_data(&mut self.data, &stored).await?;
            }
        }
        self.num_rows = self.num_rows.saturating_add(batch.num_rows() as u64);
        Ok(())
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        S::data_bytes(&self.data)
    }

    /// Ends the file: it is complete, and what a manifest says of it is returned.
    pub(crate) async fn finish(mut self, unsynced: &mut Unsynced) -> Result<DataFile> {
        if let Some(blobs) = self.blobs.take() {
            put_blobs(&self.storage, &self.path, blobs.finish()).await?;
            self.storage.sync_folder(&stem(&self.path)).await?;
        }
        let summary = S::finish_data(self.data, unsynced).await?;
        let version = FileVersion::of(self.schema.version);
        Ok(DataFile {
            path: self.name.into(),
            fields: self.schema.fields.clone(),
            columns: self.schema.columns.clone(),
            version,
            version_numbers: version.numbers(),
            size_bytes: Some(summary.file_bytes),
            base: None,
            unknown: UnknownFields::default(),
        })
    }
}

/// Puts files of blobs beside a data file. Not a method: what is being written is not shared among threads, and a future that
/// holds a reference to it could not move from one to another.
async fn put_blobs<S: Storage>(storage: &S, data: &Path, files: Vec<SideFile>) -> Result<()> {
    for SideFile { id, bytes } in files {
        let path = side_file(data, id);
        if put_own(storage, &path, bytes, Durability::Synced).await? == Put::Taken {
            let what = "a file of blobs is there already, under a name that should be new";
            return Err(Error::invalid(format!("{}: {what}", path.display())));
        }
    }
    Ok(())
}

/// Rows that become fragments: a new file whenever one is full.
pub(crate) struct FragmentWriter<'a, S: Storage> {
    storage: &'a S,
    root: PathBuf,
    schema: Arc<FileSchema>,
    options: &'a TableWriteOptions,
    open: Option<NewDataFile<S>>,
    done: Vec<Fragment>,
    unsynced: Unsynced,
    /// All files that were begun, whatever became of them.
    begun: Vec<PathBuf>,
    progress: WriteProgress,
}

impl<'a, S: Storage> FragmentWriter<'a, S> {
    pub(crate) fn new(
        storage: &'a S,
        root: &Path,
        schema: Arc<FileSchema>,
        options: &'a TableWriteOptions,
    ) -> Self {
        let (root, progress) = (root.to_owned(), WriteProgress::default());
        let (done, begun, unsynced) = (Vec::new(), Vec::new(), Unsynced::default());
        Self { storage, root, schema, options, open: None, done, unsynced, begun, progress }
    }

    /// Adds rows, which are as [`FileSchema::conform`] makes them.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.options.check_cancelled()?;
        let mut first = 0_usize;
        while first < batch.num_rows() {
            let mut file = match self.open.take() {
                Some(file) => file,
                None => {
                    let schema = self.schema.clone();
                    let (root, options) = (&self.root, self.options);
                    let file = NewDataFile::create(self.storage, root, schema, options).await?;
                    self.begun.push(file.path.clone());
                    file
                }
            };
            let room = self.options.max_rows.saturating_sub(file.num_rows);
            let left = batch.num_rows().saturating_sub(first);
            let rows = usize::try_from(room).unwrap_or(usize::MAX).min(left);
            let before = file.bytes();
            file.write(&batch.slice(first, rows)).await?;
            first = first.saturating_add(rows);
            let written = file.bytes().saturating_sub(before);
            self.progress.bytes = self.progress.bytes.saturating_add(written);
            self.progress.rows = self.progress.rows.saturating_add(rows as u64);
            let is_full =
                file.num_rows >= self.options.max_rows || file.bytes() >= self.options.max_bytes;
            self.open = Some(file);
            if is_full {
                self.finish_file().await?;
                // There may be very many.
                self.storage.sync(&mut self.unsynced).await?;
            }
        }
        self.options.tell(self.progress);
        Ok(())
    }

    async fn finish_file(&mut self) -> Result<()> {
        let Some(file) = self.open.take() else { return Ok(()) };
        let (num_rows, before) = (file.num_rows, file.bytes());
        let file = file.finish(&mut self.unsynced).await?;
        let rest = file.size_bytes.unwrap_or(0).saturating_sub(before);
        self.progress.bytes = self.progress.bytes.saturating_add(rest);
        self.progress.files = self.progress.files.saturating_add(1);
        self.done.push(Fragment::new(file, num_rows));
        Ok(())
    }

    /// Ends the last file, which the commit syncs with its own. Fragments have no ids, row ids and versions yet: these are
    /// given by the commit.
    pub(crate) async fn finish(&mut self) -> Result<(Vec<Fragment>, Unsynced)> {
        self.finish_file().await?;
        self.options.tell(self.progress);
        Ok((self.done.clone(), std::mem::take(&mut self.unsynced)))
    }

    /// Removes what was written, as far as that is possible: nobody will ever need it.
    pub(crate) async fn give_up(self) {
        drop(self.open);
        for path in &self.begun {
            remove_file(self.storage, path).await;
        }
    }
}

/// Removes data files that no version names.
pub(crate) async fn remove_files<S: Storage>(storage: &S, root: &Path, fragments: &[Fragment]) {
    for file in fragments.iter().flat_map(|fragment| &fragment.files) {
        remove_file(storage, &root.join(DATA_DIR).join(&*file.path)).await;
    }
}

/// Removes a data file, and the blobs beside it. What stays is found by a cleanup.
pub(crate) async fn remove_file<S: Storage>(storage: &S, path: &Path) {
    let _ = storage.delete(path).await;
    let folder = stem(path);
    for entry in storage.entries(&folder).await.unwrap_or_default() {
        let _ = storage.delete(&folder.join(entry.path)).await;
    }
}

impl Fragment {
    /// New rows in a file.
    pub(crate) fn new(file: DataFile, num_rows: u64) -> Self {
        Self {
            id: 0,
            files: smallvec![file],
            deletion_file: None,
            physical_rows: Some(num_rows),
            row_ids: None,
            created: None,
            last_updated: None,
            unknown: UnknownFields::default(),
        }
    }
}
