//! The writer: pages leave as parts of a multipart upload while later ones are encoded.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lancet::{FileWriter, WriteOptions, WriteSummary};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::Result;
use crate::upload::Upload;

/// Writes a Lance file into an object store. The object appears when [`Writer::finish`] returns.
///
/// If it does not come to that, what was sent is taken back: at once by [`Writer::abort`], and in the background
/// when the writer is dropped inside of a runtime.
#[derive(Debug)]
pub struct Writer {
    file: FileWriter<Outbox>,
    outbox: Outbox,
    upload: Upload,
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
        let upload = Upload::new(path.clone(), store.put_multipart(path).await?);
        Ok(Self { file, outbox, upload })
    }

    /// Writes a batch.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.file.write(batch)?;
        self.upload.send(self.outbox.take().into()).await
    }

    /// Bytes of the file that are made so far. Rows that wait for their pages are not among them.
    pub fn written_bytes(&self) -> u64 {
        self.file.written_bytes()
    }

    /// Writes what is left and completes the object.
    pub async fn finish(self) -> Result<WriteSummary> {
        self.seal().await?.publish().await
    }

    /// Writes and sends what is left. The object appears with [`Sealed::publish`], so that several can wait
    /// until all of them are there.
    pub async fn seal(self) -> Result<Sealed> {
        let Self { file, outbox, mut upload } = self;
        let sent = match file.finish_into() {
            Ok((summary, _)) => {
                let sent = upload.send(outbox.take().into()).await;
                let sent = if sent.is_ok() { upload.send_rest().await } else { sent };
                sent.map(|()| summary)
            }
            Err(error) => Err(error.into()),
        };
        match sent {
            Ok(summary) => Ok(Sealed { summary, upload }),
            Err(error) => Err(given_up(upload, error).await),
        }
    }

    /// Gives up; parts that were sent are removed.
    pub async fn abort(mut self) -> Result<()> {
        self.upload.abort().await
    }
}

/// A file of which all bytes are in the store, and which is not to be seen yet. Dropped, it is taken back.
#[derive(Debug)]
pub struct Sealed {
    summary: WriteSummary,
    upload: Upload,
}

impl Sealed {
    /// Makes the object appear.
    pub async fn publish(mut self) -> Result<WriteSummary> {
        match self.upload.complete().await {
            Ok(()) => Ok(self.summary),
            Err(error) => Err(given_up(self.upload, error).await),
        }
    }

    /// Gives up; parts that were sent are removed.
    pub async fn abort(mut self) -> Result<()> {
        self.upload.abort().await
    }
}

/// Takes back what was sent; the first failure is the one to tell.
async fn given_up(mut upload: Upload, error: crate::Error) -> crate::Error {
    let _ = upload.abort().await;
    error
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
