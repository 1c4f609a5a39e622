//! The live rows of a table one batch after the other, for those who write them again.
//!
//! A scan reads some batches at a time and hides where fragments end. Here memory is what counts, and fragments matter.

use arrow_array::RecordBatch;
use lancet::Rows;

use crate::columns::TableColumns;
use crate::error::{Error, Result};
use crate::opening::Opened;
use crate::read::Reads;
use crate::scan_plan::{Piece, Prepared, ScanPlan, Started};
use crate::storage::Storage;

/// Bytes of blobs in one batch, at most, unless a single row has more.
pub(crate) const BLOB_BYTES: u64 = 64 << 20;

/// Live rows, fragment by fragment.
pub(crate) struct LiveRows<S: Storage> {
    started: Started<S>,
    current: Option<Prepared>,
    /// Parts of the current fragment that were too large together, last one first.
    parts: Vec<Piece>,
}

impl<S: Storage> LiveRows<S> {
    /// Some columns of some fragments, by their ids; of all fragments by default.
    pub(crate) async fn new(
        at: &Opened<S>,
        columns: TableColumns,
        fragments: Option<impl IntoIterator<Item = u32>>,
    ) -> Result<Self> {
        let fragments = fragments.map(|ids| ids.into_iter().collect());
        let plan = ScanPlan { columns, fragments, ..ScanPlan::default() };
        Ok(Self { started: plan.start(at).await?, current: None, parts: Vec::new() })
    }

    /// The place of the next fragment that has live rows.
    pub(crate) async fn next_fragment(&mut self) -> Result<Option<usize>> {
        self.parts.clear();
        let Some(selected) = self.started.fragments.pop_front() else { return Ok(None) };
        let place = selected.place;
        self.current = self.started.work.prepare(selected).await?;
        Ok(Some(place))
    }

    /// The next rows of the current fragment.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let next = self.parts.pop();
        let next = next.or_else(|| self.current.as_mut().and_then(Prepared::next_piece));
        let Some(mut piece) = next else { return Ok(None) };
        let limit = self.started.work.reads.memory_limit;
        loop {
            // Blobs tell their sizes only when they are looked at, and before they are read.
            match self.read(&piece, limit.min(BLOB_BYTES)).await {
                Err(error) if is_too_large(&error) => match piece.halved() {
                    Some((first, second)) => {
                        self.parts.push(second);
                        piece = first;
                    }
                    // A single row may have as many bytes as the options of the table allow.
                    None => return self.read(&piece, limit).await.map(Some),
                },
                read => return read.map(Some),
            }
        }
    }

    async fn read(&self, piece: &Piece, memory_limit: u64) -> Result<RecordBatch> {
        let work = &self.started.work;
        let reads = Reads { memory_limit, ..work.reads.clone() };
        let rows = reads.live_rows(piece.place, &piece.numbers).await?;
        reads.read(piece.place, &work.columns, &Rows::Ranges(rows)).await
    }
}

pub(crate) fn is_too_large(error: &Error) -> bool {
    match error {
        Error::Limit { option, .. } => *option == "memory_limit",
        Error::Data { source: lancet::Error::Limit { option, .. }, .. } => {
            *option == "memory_limit"
        }
        _ => false,
    }
}
