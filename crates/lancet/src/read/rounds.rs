//! A read in progress, whatever the version of the file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::arrays::ArrayRequest;
use super::file::OpenFile;
use super::projected::ProjectedColumns;
use super::request::LayoutRequest;
use super::source::FileSource;
use crate::budget::Budget;
use crate::error::Result;

/// Names spans and is handed their bytes until it is complete; see [`super::request`].
#[derive(Debug)]
pub(crate) enum Rounds {
    Layouts(Box<LayoutRequest>),
    /// 2.0.
    Arrays(Box<ArrayRequest>),
}

impl Rounds {
    /// Starts a read of rows, or only of the column metadata, on at most so many threads.
    pub(crate) fn new(
        file: Arc<OpenFile>,
        projection: Arc<ProjectedColumns>,
        rows: Option<Vec<Range<u64>>>,
        budget: Budget,
        threads: usize,
    ) -> Result<Self> {
        let of_file = file.clone();
        of_file.named(if file.arrays.is_some() {
            ArrayRequest::new(file, projection, rows, budget).map(Box::new).map(Self::Arrays)
        } else {
            let request = LayoutRequest::new(file, projection, rows, budget, threads);
            request.map(Box::new).map(Self::Layouts)
        })
    }

    /// The spans of the file whose bytes are needed next; none when the read is complete.
    pub(crate) fn spans(&self) -> &[Range<u64>] {
        match self {
            Self::Layouts(request) => request.spans(),
            Self::Arrays(request) => request.spans(),
        }
    }

    /// Hands over the bytes of [`Rounds::spans`], in the same order.
    pub(crate) fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        let supplied = match self {
            Self::Layouts(request) => request.supply(bytes),
            Self::Arrays(request) => request.supply(bytes),
        };
        self.file().named(supplied)
    }

    /// See [`LayoutRequest::place_values`].
    pub(crate) fn place_values(&mut self, source: &Arc<FileSource>) -> Result<()> {
        let placed = match self {
            Self::Layouts(request) => request.place_values(source),
            Self::Arrays(_) => Ok(()),
        };
        self.file().named(placed)
    }

    /// The rows, in file order.
    pub(crate) fn finish(self) -> Result<RecordBatch> {
        let file = self.file().clone();
        file.named(match self {
            Self::Layouts(request) => request.finish(),
            Self::Arrays(request) => request.finish(),
        })
    }

    /// Corruptions leave here with the name of their column: whatever reads rows passes by.
    fn file(&self) -> &Arc<OpenFile> {
        match self {
            Self::Layouts(request) => &request.file,
            Self::Arrays(request) => &request.file,
        }
    }
}
