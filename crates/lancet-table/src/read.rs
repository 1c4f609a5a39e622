//! Rows of one fragment, wherever its files are.

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
use crate::plan::{FileColumns, FragmentPlan, Part};
use crate::row_columns::{self, Found};
use crate::row_ids::RowIds;
use crate::snapshot::Snapshot;
use crate::storage::Storage;
use crate::together;

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

    /// Has the deleted rows of some fragments known, whose files are read together.
    pub(crate) async fn load_deletions(&self, places: impl Iterator<Item = usize>) -> Result<()> {
        let mut unknown = Vec::new();
        for place in places {
            // Rows that are asked for lie beside each other more often than not.
            if self.snapshot.deletions(place)?.is_none() && unknown.last() != Some(&place) {
                unknown.push(place);
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        together::all(unknown.into_iter().map(|place| self.deletions(place))).await?;
        Ok(())
    }

    /// The number of the first row of each fragment, and behind them that of all rows.
    pub(crate) async fn starts(&self) -> Result<&[u64]> {
        if let Some(known) = self.snapshot.starts() {
            return Ok(known);
        }
        let fragments = &self.snapshot.manifest.fragments;
        let rows: Option<Vec<u64>> = fragments.iter().map(|fragment| fragment.num_rows()).collect();
        let rows = match rows {
            Some(rows) => rows,
            // Only the oldest writers do not tell them.
            None => together::all((0..fragments.len()).map(|place| self.live_count(place))).await?,
        };
        self.snapshot.set_starts(rows);
        self.snapshot.starts().ok_or_else(|| Error::invalid("the rows of the table are not known"))
    }

    async fn live_count(&self, place: usize) -> Result<u64> {
        let fragment = self.snapshot.fragment(place)?;
        if let Some(rows) = fragment.num_rows() {
            return Ok(rows);
        }
        let rows = self.physical_rows(place).await?;
        let deleted = match fragment.num_deleted_rows() {
            Some(deleted) => deleted,
            None => self.deletions(place).await?.len(),
        };
        Ok(rows.saturating_sub(deleted))
    }

    pub(crate) async fn num_rows(&self) -> Result<u64> {
        Ok(self.starts().await?.last().copied().unwrap_or(0))
    }

    /// Finds live rows by their stable ids. Made once: it reads all deletion files, and hidden columns.
    pub(crate) async fn row_index(&self) -> Result<Arc<RowIdIndex>> {
        if let Some(known) = self.snapshot.row_index.get() {
            return Ok(known.clone());
        }
        let places = 0..self.snapshot.manifest.fragments.len();
        let fragments = together::all(places.map(|place| self.fragment_row_ids(place))).await?;
        let index = RowIdIndex::new(fragments.into_iter().flatten())
            .map_err(|error| Problem::from(error).in_file(&self.snapshot.manifest.file))?;
        let index = Arc::new(index);
        let _ = self.snapshot.row_index.set(index.clone());
        Ok(index)
    }

    /// The ids of a fragment and its deleted rows; none if its ids are its addresses.
    async fn fragment_row_ids(&self, place: usize) -> Result<Option<FragmentRowIds>> {
        let row_ids = match self.snapshot.row_ids(place)?.as_ref() {
            RowIds::Sequence(sequence) => sequence.clone(),
            RowIds::Column { file, column } => self.hidden_sequence(place, *file, *column).await?,
            RowIds::Addresses => return Ok(None),
        };
        let (row_ids, deleted) = (Arc::new(row_ids), self.deleted_list(place).await?.into());
        let fragment = self.snapshot.fragment(place)?.id;
        Ok(Some(FragmentRowIds { fragment, row_ids, deleted }))
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
        let mut hidden = Vec::new();
        for column in columns.columns() {
            arrays.push(match column {
                Column::Field(at) => fields.get(*at).cloned(),
                Column::Row(column) => {
                    let offsets = row_columns::offsets(rows, physical_rows);
                    match row_columns::find(&self.snapshot, place, *column, offsets)? {
                        Found::Values(values) => Some(values),
                        Found::Hidden { file, column } => {
                            hidden.push((arrays.len(), file, column));
                            None
                        }
                    }
                }
            });
        }
        let reads = hidden.into_iter().map(|(at, file, column)| async move {
            Ok((at, self.read_hidden(place, file, column, rows.clone()).await?))
        });
        for (at, values) in together::all(reads).await? {
            if let Some(array) = arrays.get_mut(at) {
                *array = Some(values);
            }
        }
        let schema = columns.schema();
        let arrays = arrays.into_iter().zip(schema.fields()).map(|(array, field)| {
            array.ok_or_else(|| self.snapshot.problem(fragment, unread(field.name())))
        });
        let arrays = arrays.collect::<Result<_>>()?;
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
        let wanted = plan.files.into_iter();
        let reads = wanted.map(|wanted| self.read_file(place, wanted, columns, rows));
        let read = together::all(reads).await?;
        let mut inputs: Vec<Inputs> = vec![Vec::new(); columns.nodes().len()];
        for (input, (file, batch)) in read.iter().enumerate() {
            let mut arrays = batch.columns().iter().cloned();
            for ((part, inputs), node) in plan.parts.iter().zip(&mut inputs).zip(columns.nodes()) {
                if has_input(part, input) {
                    let array = arrays.next().ok_or_else(|| {
                        self.snapshot.problem(fragment, unread(node.field.name()))
                    })?;
                    inputs.push((input, array));
                }
            }
            let is_left = arrays.next().is_some();
            if is_left {
                let rule = "its fields are made of other columns than the manifest says";
                return Err(Problem::corrupt(rule).in_file(&file.path.display().to_string()));
            }
        }
        let failed = |problem: Problem| self.snapshot.problem(fragment, problem);
        let mut blobs = Vec::new();
        if !columns.is_described() && columns.nodes().iter().any(has_blob_v2) {
            let fields = columns.nodes().iter().zip(&plan.parts).zip(&inputs);
            for ((node, part), inputs) in fields {
                collect_blobs(node, part, inputs.clone(), &mut blobs).map_err(failed)?;
            }
        }
        let mut bytes = Vec::with_capacity(blobs.len());
        for (input, descriptions) in blobs {
            let file = read.get(input).map(|(file, _)| file);
            let file = file.ok_or_else(|| failed(Problem::corrupt("its blobs are in no file")))?;
            let (storage, limit) = (&self.files.storage, self.memory_limit);
            bytes.push(blobs::read_all(storage, file, &descriptions, limit).await?);
        }
        let bytes = bytes.into_iter();
        let mut beside = Beside { bytes, limit: self.memory_limit, spent: 0 };
        let fields = columns.nodes().iter().zip(&plan.parts).zip(inputs);
        let arrays = fields.map(|((node, part), inputs)| {
            assemble(node, part, inputs, len, &mut beside).map_err(failed)
        });
        arrays.collect()
    }

    /// Some columns of a data file, and the file.
    async fn read_file(
        &self,
        place: usize,
        wanted: FileColumns,
        columns: &TableProjection,
        rows: &Rows,
    ) -> Result<(Arc<OpenData<S>>, RecordBatch)> {
        let file = self.open(place, wanted.file).await?;
        let projection = file.project(&wanted.columns, columns.is_described())?;
        let batch = file.read(&projection, rows.clone()).await?;
        Ok((file, batch))
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

/// Fields of one fragment that the manifest says lie in one column, or in none.
fn unread(field: &str) -> Problem {
    Problem::corrupt(format!("field `{field}` has no column of its own in its data files"))
}
