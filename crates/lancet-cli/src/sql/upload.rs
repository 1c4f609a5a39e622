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
pub(super) struct Upload {
    file: Arc<Mutex<Writing>>,
    work: Arc<Work>,
}

#[derive(Debug)]
struct Writing {
    name: String,
    /// None once it is complete, or given up.
    file: Option<NewFile>,
    /// Parts in their order. Whoever comes first writes those before its own too.
    parts: VecDeque<PutPayload>,
}

impl Upload {
    pub(super) fn new(name: String, file: NewFile, work: Arc<Work>) -> Self {
        let writing = Writing { name, file: Some(file), parts: VecDeque::new() };
        Self { file: Arc::new(Mutex::new(writing)), work }
    }
}

impl Writing {
    fn write(&mut self, work: &Work) -> Result<()> {
        let file = self.file.as_mut().ok_or_else(|| failed("the file was given up"))?;
        while let Some(part) = self.parts.pop_front() {
            for bytes in &part {
                if let Err(error) = file.write_all(bytes) {
                    // Nothing may be written behind what is missing.
                    self.file = None;
                    return Err(work.fail(format!("cannot write {}: {error}", self.name)));
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
        let (file, work) = (self.file.clone(), self.work.clone());
        file.lock().unwrap_or_else(PoisonError::into_inner).parts.push_back(data);
        async move { blocking(&file, move |writing| writing.write(&work)).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let work = self.work.clone();
        let written = move |writing: &mut Writing| {
            writing.write(&work)?;
            writing.file.take().ok_or_else(|| failed("the file was given up"))
        };
        self.work.keep(blocking(&self.file, written).await?);
        Ok(PutResult { e_tag: None, version: None })
    }

    async fn abort(&mut self) -> Result<()> {
        blocking(&self.file, |writing| {
            writing.file = None;
            Ok(())
        })
        .await
    }
}
