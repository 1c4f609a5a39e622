//! What a scan gives of what it reads: batches of so many rows, up to its limit, and nothing after an error.

use arrow_array::RecordBatch;
use futures::stream::{self, BoxStream, Stream, StreamExt};

/// So many batches in a row of which a filter leaves nothing are not given to the caller.
const MAX_SKIPPED: usize = 1_000;

/// The batches of a scan out of its reads, in their order. `left` says how many rows are wanted, where a filter tells
/// only in the end how many there are.
pub fn given<E: Send + 'static>(
    reads: impl Stream<Item = Result<RecordBatch, E>> + Send + 'static,
    batch_rows: usize,
    left: Option<u64>,
) -> BoxStream<'static, Result<RecordBatch, E>> {
    let batches = reads.flat_map(move |read| stream::iter(cut(read, batch_rows)));
    let given = Given { batches: batches.boxed(), left };
    stream::unfold(given, Given::next).boxed()
}

/// The batches of a read.
fn cut<E>(read: Result<RecordBatch, E>, batch_rows: usize) -> Vec<Result<RecordBatch, E>> {
    let batch = match read {
        Ok(batch) if batch.num_rows() > batch_rows => batch,
        read => return vec![read],
    };
    let starts = (0..batch.num_rows()).step_by(batch_rows.max(1));
    let rows = |start: usize| batch_rows.min(batch.num_rows().saturating_sub(start));
    starts.map(|start| Ok(batch.slice(start, rows(start)))).collect()
}

/// What a scan still gives.
struct Given<E> {
    batches: BoxStream<'static, Result<RecordBatch, E>>,
    left: Option<u64>,
}

impl<E> Given<E> {
    async fn next(mut self) -> Option<(Result<RecordBatch, E>, Self)> {
        if self.left == Some(0) {
            return None;
        }
        let mut batch = self.batches.next().await?;
        for _ in 0..MAX_SKIPPED {
            if !matches!(&batch, Ok(batch) if batch.num_rows() == 0) {
                break;
            }
            batch = self.batches.next().await?;
        }
        if batch.is_err() {
            // After an error there is nothing sensible to go on with.
            self.left = Some(0);
        }
        let batch = batch.map(|batch| {
            let Some(left) = &mut self.left else { return batch };
            let num_rows = usize::try_from(*left).unwrap_or(usize::MAX).min(batch.num_rows());
            *left = left.saturating_sub(num_rows as u64);
            batch.slice(0, num_rows)
        });
        Some((batch, self))
    }
}
