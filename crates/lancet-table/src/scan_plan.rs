//! What a scan of a table reads: fragments, then pieces of them, each of which becomes a batch.
//!
//! Fragments are looked at first: their deletion files, and what zone maps leave of them. What is left is cut into
//! batches, none of which reaches over the end of a fragment.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use lancet::{Filter, RowRanges, Rows};

use crate::assemble::null_bytes;
use crate::columns::{Column, TableColumns, TableProjection};
use crate::error::{Error, Result};
use crate::opening::Opened;
use crate::plan::{FragmentPlan, Part};
use crate::read::Reads;
use crate::scan_filter::{TableFilter, has_blob};
use crate::snapshot::rows_within;
use crate::storage::Storage;
use crate::together;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct ScanPlan {
    pub(crate) columns: TableColumns,
    pub(crate) fragments: Option<HashSet<u32>>,
    pub(crate) rows: Option<RowRanges>,
    pub(crate) filter: Option<Filter>,
    pub(crate) limit: Option<u64>,
    pub(crate) batch_rows: usize,
    pub(crate) batch_bytes: u64,
    pub(crate) described: bool,
}

impl Default for ScanPlan {
    fn default() -> Self {
        Self {
            columns: TableColumns::All,
            fragments: None,
            rows: None,
            filter: None,
            limit: None,
            batch_rows: 8192,
            batch_bytes: 8 << 20,
            described: false,
        }
    }
}

/// A scan that can begin.
pub(crate) struct Started<S: Storage> {
    pub(crate) work: Arc<Work<S>>,
    pub(crate) fragments: VecDeque<Selected>,
    /// Rows that are wanted in all.
    pub(crate) num_rows: u64,
    /// How many rows of all batches are wanted, where a filter tells only in the end how many there are.
    pub(crate) limit: Option<u64>,
}

impl ScanPlan {
    /// Only rows that are also among these.
    pub(crate) fn select(&mut self, rows: RowRanges) {
        self.rows = Some(match &self.rows {
            Some(known) => known.intersection(&rows),
            None => rows,
        });
    }

    /// Only rows that also make this filter true.
    pub(crate) fn filter(&mut self, filter: Filter) {
        self.filter = Some(match self.filter.take() {
            Some(known) => known.and(filter),
            None => filter,
        });
    }

    /// Checks the description.
    pub(crate) async fn start<S: Storage>(self, at: &Opened<S>) -> Result<Started<S>> {
        if self.batch_rows == 0 {
            return Err(Error::invalid("a batch needs at least one row"));
        }
        let mut columns = at.project(self.columns.clone())?;
        if self.described {
            columns = columns.with_blobs_described();
        }
        let reads = at.reads.clone();
        let filter = match &self.filter {
            Some(filter) => Some(TableFilter::new(&reads.snapshot, filter.clone(), &columns)?),
            None => None,
        };
        let mut fragments = self.selected(&reads).await?;
        let num_rows = fragments.iter().map(|fragment| fragment.numbers.count());
        let num_rows = num_rows.fold(0, u64::saturating_add);
        let limit = self.limit.filter(|_| filter.is_some());
        if limit == Some(0) {
            fragments.clear();
        }
        let (batch_rows, batch_bytes) = (self.batch_rows as u64, self.batch_bytes);
        let work = Arc::new(Work { reads, columns, filter, batch_rows, batch_bytes });
        Ok(Started { work, fragments, num_rows, limit })
    }

    /// The fragments, with the rows of each that are wanted.
    async fn selected<S: Storage>(&self, reads: &Reads<S>) -> Result<VecDeque<Selected>> {
        let starts = reads.starts().await?;
        let num_rows = starts.last().copied().unwrap_or(0);
        let mut rows = self.rows.clone().unwrap_or_else(|| RowRanges::from(0..num_rows));
        if rows.end() > num_rows {
            let end = rows.end();
            return Err(Error::invalid(format!(
                "rows up to {end} are out of range: there are {num_rows} rows"
            )));
        }
        let snapshot = &reads.snapshot;
        let unknown = |id: &&u32| snapshot.place(**id).is_none();
        if let Some(id) = self.fragments.iter().flatten().filter(unknown).min() {
            return Err(Error::invalid(format!("the table has no fragment {id}")));
        }
        let ids = snapshot.manifest.fragments.iter().map(|fragment| fragment.id);
        let bounds = starts.iter().zip(starts.iter().skip(1)).map(|(start, end)| *start..*end);
        let mut wanted: Vec<(usize, Range<u64>)> = Vec::new();
        for (place, (id, bounds)) in ids.zip(bounds).enumerate() {
            if self.fragments.as_ref().is_none_or(|ids| ids.contains(&id)) && !bounds.is_empty() {
                wanted.push((place, bounds));
            }
        }
        if self.fragments.is_some() {
            rows = rows.intersection(&wanted.iter().map(|(_, bounds)| bounds.clone()).collect());
        }
        if let Some(limit) = self.limit.filter(|_| self.filter.is_none()) {
            drop(rows.split_off(limit));
        }
        let mut selected = VecDeque::new();
        let is_all = rows.ranges() == [0..num_rows];
        for (place, bounds) in wanted {
            let numbers = if is_all {
                RowRanges::from(0..bounds.end.saturating_sub(bounds.start))
            } else {
                rows_within(&rows, bounds)
            };
            if !numbers.is_empty() {
                selected.push_back(Selected { place, numbers });
            }
        }
        Ok(selected)
    }
}

/// A fragment, and the numbers of the rows of it that are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Selected {
    pub(crate) place: usize,
    numbers: RowRanges,
}

/// A fragment of which it is known what has to be read.
#[derive(Debug)]
pub(crate) struct Prepared {
    place: usize,
    /// Numbers of live rows that nobody reads yet.
    numbers: RowRanges,
    /// Offsets that zone maps leave; none if they leave all.
    pruned: Option<Arc<RowRanges>>,
    batch_rows: u64,
    pub(crate) row_bytes: u64,
}

impl Prepared {
    /// Live rows that nobody reads yet.
    #[cfg(feature = "object-store")]
    pub(crate) fn num_rows(&self) -> u64 {
        self.numbers.count()
    }

    /// The rows of the next batch; none if there are no more.
    pub(crate) fn next_piece(&mut self) -> Option<Piece> {
        self.next_piece_of(self.batch_rows)
    }

    /// The next rows, at most so many; none if there are no more.
    pub(crate) fn next_piece_of(&mut self, rows: u64) -> Option<Piece> {
        if self.numbers.is_empty() {
            return None;
        }
        let rest = self.numbers.split_off(rows);
        let numbers = std::mem::replace(&mut self.numbers, rest);
        Some(Piece { place: self.place, numbers, pruned: self.pruned.clone() })
    }
}

/// Rows of a fragment that become one batch.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) place: usize,
    pub(crate) numbers: RowRanges,
    pruned: Option<Arc<RowRanges>>,
}

impl Piece {
    /// Its first and its second half; none if it has only one row.
    pub(crate) fn halved(&self) -> Option<(Self, Self)> {
        let mut numbers = self.numbers.clone();
        let rest = numbers.split_off(numbers.count() / 2);
        if numbers.is_empty() {
            return None;
        }
        let (place, pruned) = (self.place, self.pruned.clone());
        let first = Self { place, numbers, pruned: pruned.clone() };
        Some((first, Self { place, numbers: rest, pruned }))
    }
}

/// What all batches of a scan have in common.
pub(crate) struct Work<S: Storage> {
    pub(crate) reads: Reads<S>,
    pub(crate) columns: TableProjection,
    filter: Option<TableFilter>,
    batch_rows: u64,
    batch_bytes: u64,
}

impl<S: Storage> Work<S> {
    /// Rows of a batch, at most.
    pub(crate) fn batch_rows(&self) -> u64 {
        self.batch_rows
    }

    /// Whether rows may be much longer than the data files tell.
    pub(crate) fn reads_blobs(&self) -> bool {
        !self.columns.is_described() && self.columns.nodes().iter().any(has_blob)
    }

    /// Finds out what has to be read of a fragment; nothing if zone maps rule it out.
    pub(crate) async fn prepare(&self, fragment: Selected) -> Result<Option<Prepared>> {
        let Selected { place, numbers } = fragment;
        let pruned = match &self.filter {
            Some(filter) => filter.prune(&self.reads, place).await?,
            None => None,
        };
        if pruned.as_ref().is_some_and(RowRanges::is_empty) {
            return Ok(None);
        }
        let row_bytes = self.reads.row_bytes(place, &self.columns);
        // They are needed to read anything.
        let (row_bytes, _) = together::both(row_bytes, self.reads.deletions(place)).await?;
        let most = self.batch_bytes.checked_div(row_bytes).unwrap_or(u64::MAX);
        let batch_rows = most.clamp(1, self.batch_rows);
        let pruned = pruned.map(Arc::new);
        Ok(Some(Prepared { place, numbers, pruned, batch_rows, row_bytes }))
    }

    pub(crate) async fn read(&self, piece: &Piece) -> Result<RecordBatch> {
        let mut rows = self.reads.live_rows(piece.place, &piece.numbers).await?;
        if let Some(pruned) = &piece.pruned {
            rows = rows.intersection(pruned);
        }
        if rows.is_empty() {
            return Ok(RecordBatch::new_empty(self.columns.schema()));
        }
        match &self.filter {
            Some(filter) => filter.read(&self.reads, piece.place, &self.columns, rows).await,
            None => self.reads.read(piece.place, &self.columns, &Rows::Ranges(rows)).await,
        }
    }
}

impl<S: Storage> Reads<S> {
    /// About how many bytes a row takes in memory. Reads what is needed to know where its columns lie.
    pub(crate) async fn row_bytes(&self, place: usize, columns: &TableProjection) -> Result<u64> {
        let plan = FragmentPlan::new(self.snapshot.fragment(place)?, columns.nodes());
        // Numbers of rows, and what values of different lengths need beside their bytes.
        let schema = columns.schema();
        let wide = columns.columns().iter().zip(schema.fields()).filter(|(column, field)| {
            matches!(column, Column::Row(_)) || !field.data_type().is_primitive()
        });
        let mut bytes = (wide.count() as u64).saturating_mul(8);
        let missing = plan.parts.iter().zip(columns.nodes());
        let missing = missing.filter(|(part, _)| **part == Part::Missing);
        for (_, node) in missing {
            bytes = bytes.saturating_add(null_bytes(node.field.data_type()));
        }
        let files = plan.files.into_iter().map(|wanted| async move {
            let file = self.open(place, wanted.file).await?;
            let projection = file.project(&wanted.columns, columns.is_described())?;
            file.run(file.file().prepare(&projection)).await?;
            Ok(file.file().row_bytes(&projection))
        });
        let files = together::all(files).await?;
        Ok(files.into_iter().fold(bytes, u64::saturating_add))
    }
}
