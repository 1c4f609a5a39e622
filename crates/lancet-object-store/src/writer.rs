//! The writer: pages leave as parts of a multipart upload while later ones are encoded.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::{FileWriter, WriteOptions, WriteSummary};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};

use crate::error::Result;

/// Parts that may be under way at a time; what they hold is about this many times 5 MiB.
const PARTS_UNDER_WAY: usize = 8;

/// Writes a Lance file into an object store. The object appears when [`Writer::finish`] returns;
/// what was sent before a failure is taken back by [`Writer::abort`].
#[derive(Debug)]
pub struct Writer {
    file: FileWriter<Outbox>,
    outbox: Outbox,
    upload: WriteMultipart,
}

impl Writer {
    /// Starts a file.
    pub async fn new(
        store: Arc<dyn ObjectStore>,
        path: &Path,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<Self> {
        let outbox = Outbox::default();
        // What cannot be written is refused before the store hears of it.
        let file = FileWriter::new(outbox.clone(), schema, options)?;
        let upload = WriteMultipart::new(store.put_multipart(path).await?);
        Ok(Self { file, outbox, upload })
    }

    /// Writes a batch.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.file.write(batch)?;
        self.upload.wait_for_capacity(PARTS_UNDER_WAY).await?;
        self.upload.put(self.outbox.take().into());
        Ok(())
    }

    /// Writes what is left and completes the object.
    pub async fn finish(self) -> Result<WriteSummary> {
        let Self { file, outbox, mut upload } = self;
        let (summary, _) = file.finish_into()?;
        upload.put(outbox.take().into());
        upload.finish().await?;
        Ok(summary)
    }

    /// Gives up; parts that were sent are removed.
    pub async fn abort(self) -> Result<()> {
        Ok(self.upload.abort().await?)
    }
}

/// Bytes on their way from the writer to the store.
#[derive(Debug, Clone, Default)]
struct Outbox(Arc<Mutex<Vec<u8>>>);

impl Outbox {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Outbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
