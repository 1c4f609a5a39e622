//! A file that a statement writes.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};
use futures::FutureExt;
use lancet::NewFile;

use super::disk::{Work, failed};

/// A file that is being written; complete, it is kept until the statement has ended.
#[derive(Debug)]
pub(super) struct Upload(Arc<Mutex<Writing>>);

#[derive(Debug)]
struct Writing {
    name: String,
    /// None once it is complete, or given up.
    file: Option<NewFile>,
    /// Parts in their order. Whoever comes first writes those before its own too.
    parts: VecDeque<PutPayload>,
    /// Outlives the file, whoever drops them: it removes the folders that were made for files.
    work: Arc<Work>,
}

impl Upload {
    pub(super) fn new(name: String, file: NewFile, work: Arc<Work>) -> Self {
        let writing = Writing { name, file: Some(file), parts: VecDeque::new(), work };
        Self(Arc::new(Mutex::new(writing)))
    }
}

impl Writing {
    fn write(&mut self) -> Result<()> {
        let file = self.file.as_mut().ok_or_else(|| failed("the file was given up"))?;
        while let Some(part) = self.parts.pop_front() {
            for bytes in &part {
                if let Err(error) = file.write_all(bytes) {
                    // Nothing may be written behind what is missing.
                    self.file = None;
                    return Err(self.work.fail(format!("cannot write {}: {error}", self.name)));
                }
            }
        }
        Ok(())
    }
}

/// Runs what waits for the disk where waiting hurts nobody.
async fn blocking<T: Send + 'static>(
    file: &Arc<Mutex<Writing>>,
    work: impl FnOnce(&mut Writing) -> Result<T> + Send + 'static,
) -> Result<T> {
    let file = file.clone();
    let work = move || work(&mut file.lock().unwrap_or_else(PoisonError::into_inner));
    tokio::task::spawn_blocking(work).await?
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let file = self.0.clone();
        file.lock().unwrap_or_else(PoisonError::into_inner).parts.push_back(data);
        async move { blocking(&file, Writing::write).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        blocking(&self.0, |writing| {
            writing.write()?;
            let file = writing.file.take().ok_or_else(|| failed("the file was given up"))?;
            writing.work.keep(file);
            Ok(PutResult { e_tag: None, version: None })
        })
        .await
    }

    async fn abort(&mut self) -> Result<()> {
        blocking(&self.0, |writing| {
            writing.file = None;
            Ok(())
        })
        .await
    }
}
