//! Parts of an object on their way to a store.

use std::collections::VecDeque;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, PutPayload};
use tokio::task::JoinSet;

use crate::error::{Error, Result};

/// Parts that may be under way at a time.
const PARTS_UNDER_WAY: usize = 8;
/// Bytes of a part; all but the last have to be of the same size in some stores, and not smaller in most.
const PART_BYTES: usize = 5 << 20;

/// An object that appears when it is complete. Whatever else ends it, what was sent is taken back: at once by
/// [`Upload::abort`], in the background when it is dropped.
#[derive(Debug)]
pub(crate) struct Upload {
    path: Path,
    /// None when nothing has to be taken back any more.
    upload: Option<Box<dyn MultipartUpload>>,
    parts: JoinSet<object_store::Result<()>>,
    /// Bytes that are not in a part yet. They stay here while one waits, so that a wait that is given up loses none.
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    failed: bool,
}

impl Upload {
    pub(crate) fn new(path: Path, upload: Box<dyn MultipartUpload>) -> Self {
        Self {
            path,
            upload: Some(upload),
            parts: JoinSet::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            failed: false,
        }
    }

    /// Sends bytes in parts, as far as there is a whole part of them.
    pub(crate) async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes.len());
        self.waiting.push_back(bytes);
        while self.waiting_bytes >= PART_BYTES {
            self.send_part().await?;
        }
        Ok(())
    }

    /// Sends what is left, and waits until all of it has arrived.
    pub(crate) async fn send_rest(&mut self) -> Result<()> {
        while self.waiting_bytes > 0 {
            self.send_part().await?;
        }
        self.wait_for_less_than(1).await
    }

    /// Makes the object appear.
    pub(crate) async fn complete(&mut self) -> Result<()> {
        self.send_rest().await?;
        if let Some(upload) = &mut self.upload {
            upload.complete().await?;
        }
        self.upload = None;
        Ok(())
    }

    /// Takes back what was sent.
    pub(crate) async fn abort(&mut self) -> Result<()> {
        // A part that arrives later would stay.
        self.parts.shutdown().await;
        if let Some(upload) = &mut self.upload {
            upload.abort().await?;
        }
        self.upload = None;
        Ok(())
    }

    async fn send_part(&mut self) -> Result<()> {
        self.wait_for_less_than(PARTS_UNDER_WAY).await?;
        let part = self.take_part();
        if let Some(upload) = &mut self.upload {
            self.parts.spawn(upload.put_part(part));
        }
        Ok(())
    }

    async fn wait_for_less_than(&mut self, parts: usize) -> Result<()> {
        while self.parts.len() >= parts
            && let Some(done) = self.parts.join_next().await
        {
            if let Err(error) = done.map_err(Into::into).and_then(|sent| sent) {
                self.failed = true;
                return Err(Error::Store(error));
            }
        }
        if self.failed { Err(Error::Incomplete(self.path.clone())) } else { Ok(()) }
    }

    fn take_part(&mut self) -> PutPayload {
        let mut room = PART_BYTES;
        let mut part = Vec::new();
        while let Some(mut bytes) = self.waiting.pop_front() {
            if bytes.len() > room {
                self.waiting.push_front(bytes.split_off(room));
            }
            room = room.saturating_sub(bytes.len());
            self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes.len());
            part.push(bytes);
            if room == 0 {
                break;
            }
        }
        part.into_iter().collect()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(mut upload) = self.upload.take() else { return };
        // Outside of a runtime nothing can be sent; a store that cleans up by itself does so.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let mut parts = std::mem::take(&mut self.parts);
            runtime.spawn(async move {
                parts.shutdown().await;
                // Nobody is there to be told of a failure.
                let _ = upload.abort().await;
            });
        }
    }
}
