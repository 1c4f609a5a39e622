//! Checks a whole file and collects what is wrong with it.
//!
//! | step | what |
//! |---|---|
//! | columns | the metadata of every column, the places of its buffers, its number of rows |
//! | checksums | every buffer that has one, and the metadata |
//! | pages | every page by itself: its index, all its rows, their values as Arrow |
//! | fields | the columns of each top-level field together, if nothing was wrong before |
//! | zone maps | their rules; their bounds against all rows, if nothing was wrong before |
//!
//! Where no byte vouches for a number of rows, a few of them stand for all.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::Schema;

use super::FileReader;
use super::file::{FileColumn, OpenFile};
use super::projected::ProjectedColumns;
use super::request::leaf_column;
use super::{verify_arrays, verify_zones};
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::error::{Corrupt, Error, Locate, Result, ensure};
use crate::page::{LeafSink, Page, SinkValues};
use crate::schema::columns::{Leaf, Node, leaves};
use crate::schema::leaves::LeafColumnType;
use crate::schema::projection::Projection;
use crate::schema::to_arrow;

/// Rows that stand for all others where they are alike.
pub(super) const SOME_ROWS: u64 = 8192;
/// Fields are read in stretches such that each has this many bytes of the file, on average.
pub(super) const STRETCH_BYTES: u64 = 4096;

/// So many different things that are not read are told of; a forged file could have one for each page.
const MAX_UNREAD: usize = 100;

/// What [`FileReader::verify`] found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verification {
    /// What is wrong, with its place; empty if the file is sound.
    pub problems: Vec<Corrupt>,
    /// What could not be checked, because this build of lancet does not read it; nothing is known to
    /// be wrong with it.
    pub unread: Vec<String>,
    /// Pages that were checked.
    pub num_pages: u64,
    /// Buffers whose checksum was compared; 0 if the file has no checksums.
    pub num_checksums: u64,
    /// Zone maps that were checked.
    pub num_zone_maps: u64,
}

impl Verification {
    /// Takes the value out of a result. What is wrong with the file becomes a problem; a failed
    /// read stays an error.
    pub(super) fn note<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => return Ok(Some(value)),
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(Error::Corrupt(corrupt)) => self.problems.push(*corrupt),
            Err(Error::Unsupported(what)) => {
                // Every page may say the same.
                if self.unread.len() < MAX_UNREAD && !self.unread.contains(&what) {
                    self.unread.push(what);
                }
            }
            Err(other) => {
                self.problems.push(Corrupt { rule: other.to_string(), ..Corrupt::default() });
            }
        }
        Ok(None)
    }

    /// Whether everything so far was read, and is as it should be.
    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.unread.is_empty()
    }
}

/// How far a check has come. Three steps look at all bytes of the pages: checksums, pages, fields.
pub(super) struct Progress<'a> {
    tell: &'a mut dyn FnMut(u64, u64),
    /// Bytes of the pages.
    step_bytes: u64,
    steps_done: u64,
    done: u64,
}

impl<'a> Progress<'a> {
    const STEPS: u64 = 3;

    fn new(tell: &'a mut dyn FnMut(u64, u64)) -> Self {
        Self { tell, step_bytes: 0, steps_done: 0, done: 0 }
    }

    /// Sets the size of a step.
    fn start(&mut self, pages: &[PlacedPage<'_>]) {
        self.step_bytes = pages.iter().map(|page| size(page.buffers)).fold(0, u64::saturating_add);
        self.add(0);
    }

    /// Counts bytes of a step. Some belong to no page and pages may share some, so the sum is held
    /// inside the step.
    pub(super) fn add(&mut self, bytes: u64) {
        let end = self.step_bytes.saturating_mul(self.steps_done.saturating_add(1));
        self.done = self.done.saturating_add(bytes).min(end);
        (self.tell)(self.done, self.step_bytes.saturating_mul(Self::STEPS));
    }

    /// Some steps are done, whatever was counted.
    pub(super) fn finish_steps(&mut self, steps: u64) {
        self.steps_done = steps.min(Self::STEPS);
        self.done = self.step_bytes.saturating_mul(self.steps_done);
        (self.tell)(self.done, self.step_bytes.saturating_mul(Self::STEPS));
    }
}

/// Bytes of some spans.
pub(super) fn size(spans: &[Range<u64>]) -> u64 {
    spans.iter().map(|span| span.end.saturating_sub(span.start)).fold(0, u64::saturating_add)
}

/// Checks everything.
pub(super) fn verify(
    reader: &FileReader,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verification> {
    let mut found = Verification::default();
    let mut progress = Progress::new(progress);
    match &reader.file.arrays {
        Some(columns) => verify_arrays::verify(reader, columns, &mut found, &mut progress)?,
        None => verify_layouts(reader, &mut found, &mut progress)?,
    }
    verify_zones::verify(reader, &mut found)?;
    progress.finish_steps(Progress::STEPS);
    reader.file.name_problems(&mut found.problems);
    Ok(found)
}

fn verify_layouts(
    reader: &FileReader,
    found: &mut Verification,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let file = reader.file.as_ref();
    let columns = load_columns(reader, found)?;
    let pages = columns.iter().flat_map(|column| {
        column.column.pages.iter().map(|page| PlacedPage {
            column: column.leaf.column,
            number: page.number,
            buffers: &page.buffers,
        })
    });
    found.compare_checksums(file, &pages.collect::<Vec<_>>(), progress)?;
    for column in &columns {
        for page in &column.column.pages {
            found.num_pages = found.num_pages.saturating_add(1);
            let checked = check_page(file, column, page);
            found.note(checked.in_page(page.number).in_column(column.leaf.column))?;
            progress.add(size(&page.buffers));
        }
    }
    progress.finish_steps(2);
    if found.is_clean() {
        read_fields(reader, &columns, found, progress)?;
    }
    Ok(())
}

/// A column whose metadata is sound.
struct LoadedColumn<'a> {
    leaf: &'a LeafColumnType,
    node: Node,
    column: Arc<FileColumn>,
}

fn load_columns<'a>(
    reader: &'a FileReader,
    found: &mut Verification,
) -> Result<Vec<LoadedColumn<'a>>> {
    let file = &reader.file;
    let mut columns = Vec::new();
    let nodes: Vec<&Leaf> = leaves(&reader.everything.nodes);
    for (leaf, node) in reader.everything.leaves.iter().zip(nodes) {
        let load = || match file.column(leaf.column) {
            Some(column) => Ok(column),
            None => {
                let metadata = file.column_metadata(leaf.column)?;
                let bytes = metadata.or_else(|span| file.read_buffer(span))?;
                file.load_column(leaf, &bytes)
            }
        };
        if let Some(column) = found.note(load().in_column(leaf.column))? {
            columns.push(LoadedColumn { leaf, node: Node::Leaf(node.clone()), column });
        }
    }
    let num_rows = file.index.num_rows;
    let longest = columns.iter().map(|column| column.column.num_rows).max().unwrap_or(num_rows);
    if columns.len() == reader.everything.leaves.len() && longest != num_rows {
        let rule = format!("the columns have {longest} rows in a file of {num_rows}");
        found.problems.push(Corrupt { rule, ..Corrupt::default() });
    }
    Ok(columns)
}

/// A page and where its buffers lie.
pub(super) struct PlacedPage<'a> {
    pub(super) column: u32,
    pub(super) number: u32,
    pub(super) buffers: &'a [Range<u64>],
}

impl Verification {
    /// Compares every checksum of the file, if it has some, and looks for buffers without one.
    pub(super) fn compare_checksums(
        &mut self,
        file: &OpenFile,
        pages: &[PlacedPage<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        progress.start(pages);
        self.compare_each(file, pages, progress)?;
        progress.finish_steps(1);
        Ok(())
    }

    fn compare_each(
        &mut self,
        file: &OpenFile,
        pages: &[PlacedPage<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let Some(Some(checksums)) = self.note(file.load_checksums())? else { return Ok(()) };
        let columns = (0..).take(file.index.columns.len());
        for (column, place) in columns.filter_map(|c| Some((c, file.zone_place(c)?.0.ok()?))) {
            if checksums.of(&place.span).is_none() {
                let missing: Result<()> = Err(Error::corrupt("the zone map has no checksum"));
                self.note(missing.in_column(column))?;
            }
        }
        for buffer in &checksums.buffers {
            let compare = || {
                ensure!(
                    buffer.span.end <= file.index.data_end,
                    "a checksum is for the bytes {:?}, which are not data",
                    buffer.span
                );
                buffer.check(&file.read_buffer(buffer.span.clone())?)
            };
            let compared = place(compare(), &buffer.span, pages);
            self.note(compared)?;
            self.num_checksums = self.num_checksums.saturating_add(1);
            progress.add(buffer.span.end.saturating_sub(buffer.span.start));
        }
        for page in pages {
            for (i, span) in page.buffers.iter().enumerate() {
                if !span.is_empty() && checksums.of(span).is_none() {
                    let missing: Result<()> = Err(Error::corrupt("the buffer has no checksum"));
                    self.note(missing.in_buffer(i).in_page(page.number).in_column(page.column))?;
                }
            }
        }
        Ok(())
    }
}

/// Names the page buffer that lies at `span`, or the position in the file.
fn place<T>(result: Result<T>, span: &Range<u64>, pages: &[PlacedPage<'_>]) -> Result<T> {
    if result.is_ok() {
        return result;
    }
    for page in pages {
        if let Some(buffer) = page.buffers.iter().position(|buffer| buffer == span) {
            return result.in_buffer(buffer).in_page(page.number).in_column(page.column);
        }
    }
    result.at(span.start)
}

/// Decodes all rows of a page.
fn check_page(file: &OpenFile, column: &LoadedColumn<'_>, page: &Page) -> Result<()> {
    let leaf = &column.leaf.leaf;
    let read = |spans: &[Range<u64>], budget: &Budget| {
        let sizes = spans.iter().map(|span| span.end.saturating_sub(span.start));
        budget.claim(sizes.fold(0, u64::saturating_add), "a page")?;
        file.source.read(spans)
    };
    let budget = Budget::new(file.options.memory_limit);
    let bytes = read(&page.index_spans(), &budget)?;
    let index = page.parse_index(leaf, &bytes, &mut Scratch::sharing(&budget))?;
    let alike = column.leaf.first_entry(SOME_ROWS);
    let num_rows = if page.rows_are_alike() { page.num_rows.min(alike) } else { page.num_rows };
    let task = page.plan(&index, vec![0..num_rows])?;
    let fetched = read(&task.spans, &budget)?;
    let mut sink = LeafSink::new(leaf)?;
    page.decode(&index, &task, &fetched, &mut sink, &mut Scratch::sharing(&budget))?;
    if let SinkValues::Blob(blobs) = &sink.values {
        let outside = blobs.spans.iter().find(|span| span.end > file.index.data_end);
        ensure!(outside.is_none(), "a blob at {outside:?} lies outside the data");
    } else {
        to_arrow::build(&column.node, &mut std::iter::once(leaf_column(sink)?))?;
    }
    Ok(())
}

/// Reads the columns of each top-level field together.
fn read_fields(
    reader: &FileReader,
    columns: &[LoadedColumn<'_>],
    found: &mut Verification,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let fields = reader.everything.schema.fields().iter();
    for (field, node) in fields.zip(&reader.everything.nodes) {
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let projection = Projection { schema, nodes: vec![node.clone()] };
        let projection = ProjectedColumns::new(projection)?;
        let of_field = |column: &&LoadedColumn<'_>| {
            projection.leaves.iter().any(|leaf| leaf.column == column.leaf.column)
        };
        let columns: Vec<&LoadedColumn<'_>> = columns.iter().filter(of_field).collect();
        let bytes = reader.file.stored_bytes(&projection.leaves);
        let stretches = stretches(reader, &columns);
        let share = bytes.checked_div(stretches.len() as u64).unwrap_or(0);
        for rows in stretches {
            found.note(reader.read(&projection, rows))?;
            progress.add(share);
        }
    }
    Ok(())
}

/// Ranges of rows that cover all pages of the columns and begin and end with some of them; of
/// rows that are alike in all columns only some.
fn stretches(reader: &FileReader, columns: &[&LoadedColumn<'_>]) -> Vec<Range<u64>> {
    let num_rows = columns.iter().map(|column| column.column.num_rows).min().unwrap_or(0);
    let mut edges = BTreeSet::from([num_rows]);
    for column in columns {
        for page in &column.column.pages {
            edges.extend(column.leaf.rows_of_entries(page.first_row).ok());
        }
    }
    let most = (reader.file.index.file_bytes / STRETCH_BYTES).saturating_add(16);
    let at_least = num_rows.checked_div(most).unwrap_or(0).max(SOME_ROWS);
    let mut stretches = Vec::new();
    let mut start = 0;
    for edge in edges.iter().filter(|edge| (1..=num_rows).contains(*edge)) {
        let alike = columns.iter().all(|column| alike_at(column, start));
        if edge.saturating_sub(start) >= at_least || *edge == num_rows || alike {
            let end = if alike { (*edge).min(start.saturating_add(SOME_ROWS)) } else { *edge };
            stretches.push(start..end);
            start = *edge;
        }
    }
    stretches
}

/// Whether the rows of the page that holds a row are alike.
fn alike_at(column: &LoadedColumn<'_>, row: u64) -> bool {
    let entry = column.leaf.first_entry(row);
    let after = column.column.pages.partition_point(|page| page.first_row <= entry);
    let page = after.checked_sub(1).and_then(|page| column.column.pages.get(page));
    page.is_some_and(Page::rows_are_alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read_is_told_once_and_not_for_ever() {
        let mut found = Verification::default();
        for page in 0..10_000 {
            let error: Result<()> = Err(Error::unsupported(format!("page {}", page / 2)));
            assert!(found.note(error).unwrap().is_none());
        }
        assert_eq!(found.unread.len(), MAX_UNREAD);
        assert_eq!(found.unread.first().map(String::as_str), Some("page 0"));
        assert_eq!(found.unread.get(1).map(String::as_str), Some("page 1"));
        assert!(!found.is_clean());
    }
}
