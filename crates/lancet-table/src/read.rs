//! Rows of one fragment, read from wherever its files lie.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use lancet::{RowRanges, Rows};
use lancet_row_ids::{FragmentRowIds, RowIdIndex, RowIdSequence};

use crate::assemble::{Beside, Inputs, assemble, collect_blobs, has_blob_v2};
use crate::blobs;
use crate::columns::{Column, TableProjection};
use crate::data_file::FileVersion;
use crate::deletions::Deletions;
use crate::error::{Error, Problem, Result};
use crate::files::{OpenData, OpenFiles};
use crate::fragment::Fragment;
use crate::manifest::Limits;
use crate::paths::Folders;
use crate::plan::{FragmentPlan, Part};
use crate::row_columns::{self, Found};
use crate::row_ids::RowIds;
use crate::snapshot::Snapshot;
use crate::storage::Storage;

/// What reads of one version need: what is known of it, where its files are, and those that are open.
pub(crate) struct Reads<S: Storage> {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) folders: Arc<Folders>,
    pub(crate) files: Arc<OpenFiles<S>>,
    pub(crate) threads: usize,
    pub(crate) memory_limit: u64,
    pub(crate) limits: Limits,
}

impl<S: Storage> Clone for Reads<S> {
    fn clone(&self) -> Self {
        Self {
            snapshot: self.snapshot.clone(),
            folders: self.folders.clone(),
            files: self.files.clone(),
            threads: self.threads,
            memory_limit: self.memory_limit,
            limits: self.limits,
        }
    }
}

/// What is known of fragments.
impl<S: Storage> Reads<S> {
    /// A data file of a fragment, open.
    pub(crate) async fn open(&self, place: usize, file: usize) -> Result<Arc<OpenData<S>>> {
        let fragment = self.snapshot.fragment(place)?;
        let data_file = fragment.files.get(file).ok_or_else(|| {
            Error::invalid(format!("fragment {} has no data file {file}", fragment.id))
        })?;
        let path = self.folders.data_file(data_file.base, &data_file.path)?;
        self.files.open(path, data_file, self.snapshot.physical_rows(place)?).await
    }

    /// The rows of a fragment, deleted ones included.
    pub(crate) async fn physical_rows(&self, place: usize) -> Result<u64> {
        if let Some(rows) = self.snapshot.physical_rows(place)? {
            return Ok(rows);
        }
        let rows = self.open(place, 0).await?.file().num_rows();
        self.snapshot.set_physical_rows(place, rows)?;
        Ok(rows)
    }

    /// The deleted rows of a fragment; its deletion file is read once.
    pub(crate) async fn deletions(&self, place: usize) -> Result<Arc<Deletions>> {
        if let Some(known) = self.snapshot.deletions(place)? {
            return Ok(known);
        }
        let fragment = self.snapshot.fragment(place)?;
        let Some(file) = &fragment.deletion_file else { return Ok(Arc::default()) };
        let path = self.folders.deletion_file(file.base, &file.file_name(fragment.id))?;
        let bytes = self.files.storage.read(&path, self.limits.max_metadata_bytes).await?;
        let found = Deletions::of_file(file, &bytes, self.physical_rows(place).await?);
        let found = found.map_err(|problem| problem.in_file(&path.display().to_string()))?;
        self.snapshot.set_deletions(place, found)
    }

    /// The number of the first row of each fragment, and behind them that of all rows.
    pub(crate) async fn starts(&self) -> Result<&[u64]> {
        if let Some(known) = self.snapshot.starts() {
            return Ok(known);
        }
        let fragments = &self.snapshot.manifest.fragments;
        let mut rows = Vec::with_capacity(fragments.len());
        for (place, fragment) in fragments.iter().enumerate() {
            rows.push(match fragment.num_rows() {
                Some(rows) => rows,
                None => self
                    .physical_rows(place)
                    .await?
                    .saturating_sub(self.num_deleted(place, fragment).await?),
            });
        }
        self.snapshot.set_starts(rows);
        self.snapshot.starts().ok_or_else(|| Error::invalid("the rows of the table are not known"))
    }

    async fn num_deleted(&self, place: usize, fragment: &Fragment) -> Result<u64> {
        match fragment.num_deleted_rows() {
            Some(deleted) => Ok(deleted),
            None => Ok(self.deletions(place).await?.len()),
        }
    }

    pub(crate) async fn num_rows(&self) -> Result<u64> {
        Ok(self.starts().await?.last().copied().unwrap_or(0))
    }

    /// Finds live rows by their stable ids. Made once: it reads all deletion files, and hidden columns.
    pub(crate) async fn row_index(&self) -> Result<Arc<RowIdIndex>> {
        if let Some(known) = self.snapshot.row_index.get() {
            return Ok(known.clone());
        }
        let mut fragments = Vec::with_capacity(self.snapshot.manifest.fragments.len());
        for (place, fragment) in self.snapshot.manifest.fragments.iter().enumerate() {
            let row_ids = match self.snapshot.row_ids(place)?.as_ref() {
                RowIds::Sequence(sequence) => sequence.clone(),
                RowIds::Column { file, column } => {
                    self.hidden_sequence(place, *file, *column).await?
                }
                RowIds::Addresses => continue,
            };
            let deleted = self.deleted_list(place).await?;
            let (row_ids, deleted) = (Arc::new(row_ids), deleted.into());
            fragments.push(FragmentRowIds { fragment: fragment.id, row_ids, deleted });
        }
        let index = RowIdIndex::new(fragments)
            .map_err(|error| Problem::from(error).in_file(&self.snapshot.manifest.file))?;
        let index = Arc::new(index);
        let _ = self.snapshot.row_index.set(index.clone());
        Ok(index)
    }

    /// The deleted rows of a fragment one by one. A bitmap of runs may hold very many in a few bytes.
    pub(crate) async fn deleted_list(&self, place: usize) -> Result<Vec<u32>> {
        let deletions = self.deletions(place).await?;
        let (needed, limit) = (deletions.len().saturating_mul(4), self.limits.max_metadata_bytes);
        if needed > limit {
            let fragment = self.snapshot.fragment(place)?;
            let option = "max_metadata_bytes";
            return Err(self.snapshot.problem(fragment, Problem::Limit { needed, limit, option }));
        }
        Ok(deletions.iter().collect())
    }

    pub(crate) async fn hidden_sequence(
        &self,
        place: usize,
        file: usize,
        column: u32,
    ) -> Result<RowIdSequence> {
        use arrow_array::cast::AsArray;
        let values = self.read_hidden(place, file, column, Rows::All).await?;
        let values = values.as_primitive::<arrow_array::types::UInt64Type>().values();
        let fragment = self.snapshot.fragment(place)?;
        RowIdSequence::from_ids(values)
            .map_err(|error| self.snapshot.problem(fragment, Problem::from(error)))
    }
}

/// What is read.
impl<S: Storage> Reads<S> {
    /// Columns of some rows of a fragment, by their offsets.
    pub(crate) async fn read(
        &self,
        place: usize,
        columns: &TableProjection,
        rows: &Rows,
    ) -> Result<RecordBatch> {
        let fragment = self.snapshot.fragment(place)?;
        let physical_rows = self.physical_rows(place).await?;
        let num_rows = match rows {
            Rows::Ranges(ranges) => ranges.count(),
            Rows::List(list) => list.len() as u64,
            _ => physical_rows,
        };
        let len = usize::try_from(num_rows)
            .map_err(|_| Error::invalid(format!("{num_rows} rows are too many for one batch")))?;
        let fields = self.read_fields(place, fragment, columns, rows, len).await?;
        let mut arrays = Vec::with_capacity(columns.columns().len());
        for column in columns.columns() {
            arrays.push(match column {
                Column::Field(at) => fields.get(*at).cloned().ok_or_else(missing)?,
                Column::Row(column) => {
                    let offsets = row_columns::offsets(rows, physical_rows);
                    match row_columns::find(&self.snapshot, place, *column, offsets)? {
                        Found::Values(values) => values,
                        Found::Hidden { file, column } => {
                            self.read_hidden(place, file, column, rows.clone()).await?
                        }
                    }
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        RecordBatch::try_new_with_options(columns.schema(), arrays, &options)
            .map_err(|error| self.snapshot.problem(fragment, Problem::corrupt(error.to_string())))
    }

    async fn read_fields(
        &self,
        place: usize,
        fragment: &Fragment,
        columns: &TableProjection,
        rows: &Rows,
        len: usize,
    ) -> Result<Vec<ArrayRef>> {
        check_readable(fragment).map_err(|problem| self.snapshot.problem(fragment, problem))?;
        let plan = FragmentPlan::new(fragment, columns.nodes());
        if plan.files.is_empty() && len > 0 {
            // Nothing is read, but rows that no file vouches for are not believed.
            self.open(place, 0).await?;
        }
        let mut files = Vec::with_capacity(plan.files.len());
        let mut inputs: Vec<Inputs> = vec![Vec::new(); columns.nodes().len()];
        for (input, wanted) in plan.files.iter().enumerate() {
            let file = self.open(place, wanted.file).await?;
            let projection = file.project(&wanted.columns, columns.is_described())?;
            let batch = file.read(&projection, rows.clone()).await?;
            let mut arrays = batch.columns().iter().cloned();
            for (part, inputs) in plan.parts.iter().zip(&mut inputs) {
                if has_input(part, input) {
                    inputs.push((input, arrays.next().ok_or_else(missing)?));
                }
            }
            let is_left = arrays.next().is_some();
            if is_left {
                let rule = "its fields are made of other columns than the manifest says";
                return Err(Problem::corrupt(rule).in_file(&file.path.display().to_string()));
            }
            files.push(file);
        }
        let failed = |problem: Problem| self.snapshot.problem(fragment, problem);
        let mut bytes = Vec::new();
        if !columns.is_described() && columns.nodes().iter().any(has_blob_v2) {
            let mut blobs = Vec::new();
            let fields = columns.nodes().iter().zip(&plan.parts).zip(&inputs);
            for ((node, part), inputs) in fields {
                collect_blobs(node, part, inputs.clone(), &mut blobs).map_err(failed)?;
            }
            for (input, descriptions) in blobs {
                let file = files.get(input).ok_or_else(missing)?;
                bytes.push(
                    blobs::read_all(&self.files.storage, file, &descriptions, self.memory_limit)
                        .await?,
                );
            }
        }
        let bytes = bytes.into_iter();
        let mut beside = Beside { bytes, limit: self.memory_limit, spent: 0 };
        let fields = columns.nodes().iter().zip(&plan.parts).zip(inputs);
        let arrays = fields.map(|((node, part), inputs)| {
            assemble(node, part, inputs, len, &mut beside).map_err(failed)
        });
        arrays.collect()
    }

    /// Numbers of rows that are kept in a data file, under no name.
    pub(crate) async fn read_hidden(
        &self,
        place: usize,
        file: usize,
        column: u32,
        rows: Rows,
    ) -> Result<ArrayRef> {
        let file = self.open(place, file).await?;
        let projection = file.project(&[column], false)?;
        let batch = file.read(&projection, rows).await?;
        match batch.columns() {
            [values]
                if *values.data_type() == arrow_schema::DataType::UInt64
                    && values.null_count() == 0 =>
            {
                Ok(values.clone())
            }
            _ => {
                let rule =
                    format!("its hidden column {column} does not hold a number for each row");
                Err(Problem::Corrupt(rule).in_file(&file.path.display().to_string()))
            }
        }
    }

    /// The live rows with these numbers in a fragment, as offsets.
    pub(crate) async fn live_rows(&self, place: usize, numbers: &RowRanges) -> Result<RowRanges> {
        let deletions = self.deletions(place).await?;
        if deletions.is_empty() {
            return Ok(numbers.clone());
        }
        let end = self.physical_rows(place).await?;
        let offsets = numbers.iter().flat_map(|range| {
            let count = range.end.saturating_sub(range.start);
            deletions.live(deletions.nth_live(range.start)..end, count).0.ranges().to_vec()
        });
        Ok(offsets.collect())
    }
}

/// Files of the first format say themselves where their columns are, so that to look in the manifest would give nulls.
fn check_readable(fragment: &Fragment) -> Result<(), Problem> {
    if fragment.files.iter().all(|file| file.version != FileVersion::Legacy) {
        return Ok(());
    }
    Err(Problem::unsupported(
        "its data files are of the first format (0.1), which lancet does not read; let the reference \
         write the table again in format 2.0 or later",
    ))
}

fn has_input(part: &Part, input: usize) -> bool {
    match part {
        Part::Missing => false,
        Part::Leaf(place) => *place == input,
        Part::Group { inputs, .. } => inputs.contains(&input),
    }
}

fn missing() -> Error {
    Error::invalid("a column that was asked for was not read")
}
