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

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::Schema;

use super::blocks::BufferNames;
use super::{arrays, layouts, zones};
use crate::container::checksums::BufferChecksum;
use crate::error::{Corrupt, Error, Locate, Result, ensure};
use crate::read::columns::FileColumns;
use crate::read::file::OpenFile;
use crate::read::projection::Projection;
use crate::read::request::Progress;
use crate::read::steps::Io;
use crate::rows::Rows;
use crate::schema::projection::FileFields;
use crate::span::Span;

/// Rows that stand for all others where they are alike.
pub(super) const SOME_ROWS: u64 = 8192;
/// Fields are read in stretches such that each has this many bytes of the file, on average.
pub(super) const STRETCH_BYTES: u64 = 4096;

/// So many different things that are not read are told of; a forged file could have one for each page.
const MAX_UNREAD: usize = 100;

/// What [`FileReader::verify`](crate::FileReader::verify) found.
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
    /// Whether the file has checksums.
    pub has_checksums: bool,
    /// Buffers whose checksum was compared.
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
pub(super) struct StepCount {
    io: Io,
    /// Bytes of the pages.
    step_bytes: u64,
    steps_done: u64,
    done: u64,
}

impl StepCount {
    const STEPS: u64 = 3;

    fn new(io: &Io) -> Self {
        Self { io: io.clone(), step_bytes: 0, steps_done: 0, done: 0 }
    }

    /// Sets the size of a step.
    fn start(&mut self, pages: &[PlacedPage<'_>]) {
        let sizes = pages.iter().map(|page| Span::total(page.buffers));
        self.step_bytes = sizes.fold(0, u64::saturating_add);
        self.add(0);
    }

    /// Counts bytes of a step. Some belong to no page and pages may share some, so the sum is held
    /// inside the step.
    pub(super) fn add(&mut self, bytes: u64) {
        let end = self.step_bytes.saturating_mul(self.steps_done.saturating_add(1));
        self.done = self.done.saturating_add(bytes).min(end);
        self.tell();
    }

    /// Some steps are done, whatever was counted.
    pub(super) fn finish_steps(&mut self, steps: u64) {
        self.steps_done = steps.min(Self::STEPS);
        self.done = self.step_bytes.saturating_mul(self.steps_done);
        self.tell();
    }

    fn tell(&self) {
        let all = self.step_bytes.saturating_mul(Self::STEPS);
        self.io.tell(Progress { done: self.done, all });
    }
}

/// Checks everything.
pub(in crate::read) async fn verify(file: &Arc<OpenFile>, io: &Io) -> Result<Verification> {
    let mut found = Verification::default();
    let mut steps = StepCount::new(io);
    match &file.columns {
        FileColumns::Layouts(columns) => {
            layouts::verify(file, columns, io, &mut found, &mut steps).await?;
        }
        FileColumns::Arrays(columns) => {
            arrays::verify(file, columns, io, &mut found, &mut steps).await?;
        }
    }
    zones::verify(file, io, &mut found).await?;
    steps.finish_steps(StepCount::STEPS);
    file.name_problems(&mut found.problems);
    Ok(found)
}

/// A page and where its buffers lie.
pub(super) struct PlacedPage<'a> {
    pub(super) column: u32,
    pub(super) number: u32,
    pub(super) buffers: &'a [Span],
}

impl Verification {
    /// Compares every checksum of the file, if it has some, and looks for buffers without one.
    pub(super) async fn compare_checksums(
        &mut self,
        file: &OpenFile,
        io: &Io,
        pages: &[PlacedPage<'_>],
        steps: &mut StepCount,
    ) -> Result<()> {
        steps.start(pages);
        self.compare_each(file, io, pages, steps).await?;
        steps.finish_steps(1);
        Ok(())
    }

    async fn compare_each(
        &mut self,
        file: &OpenFile,
        io: &Io,
        pages: &[PlacedPage<'_>],
        steps: &mut StepCount,
    ) -> Result<()> {
        let loaded = file.load_checksums(io).await;
        let Some(Some(checksums)) = self.note(loaded)? else { return Ok(()) };
        self.has_checksums = true;
        let columns = (0..).take(file.index.columns.len());
        for (column, place) in columns.filter_map(|c| Some((c, file.zone_place(c)?.0.ok()?))) {
            if checksums.of(place.span).is_none() {
                let missing: Result<()> = Err(Error::corrupt("the zone map has no checksum"));
                self.note(missing.in_column(column))?;
            }
        }
        let names = BufferNames::new(pages);
        match &checksums.blocks {
            Some((blocks, sums)) => {
                self.compare_blocks(file, io, (&checksums, blocks, sums), &names, steps).await?;
            }
            None => {
                for buffer in &checksums.buffers {
                    let compared = compare(file, io, buffer).await;
                    self.note(names.place(compared, buffer.span))?;
                    steps.add(buffer.span.len());
                }
            }
        }
        let compared = checksums.buffers.len() as u64;
        self.num_checksums = self.num_checksums.saturating_add(compared);
        for page in pages {
            for (i, span) in page.buffers.iter().enumerate() {
                if !span.is_empty() && checksums.of(*span).is_none() {
                    let missing: Result<()> = Err(Error::corrupt("the buffer has no checksum"));
                    self.note(missing.in_buffer(i).in_page(page.number).in_column(page.column))?;
                }
            }
        }
        Ok(())
    }
}

/// Checks one buffer as a whole.
pub(super) async fn compare(file: &OpenFile, io: &Io, buffer: &BufferChecksum) -> Result<()> {
    ensure!(
        buffer.span.end() <= file.index.data_end,
        "a checksum is for the bytes {:?}, which are not data",
        buffer.span
    );
    buffer.check(&file.read_buffer(io, buffer.span).await?)
}

/// Reads the columns of each top-level field together, in stretches of rows.
pub(super) async fn read_fields(
    file: &Arc<OpenFile>,
    io: &Io,
    found: &mut Verification,
    steps: &mut StepCount,
    stretches: impl Fn(&Projection) -> Result<(Vec<Range<u64>>, u64)>,
) -> Result<()> {
    let everything = file.everything();
    for (field, node) in everything.schema().fields().iter().zip(everything.nodes()) {
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let fields = FileFields { schema, nodes: vec![node.clone()] };
        let columns = Projection::new(&file.index.schema, fields)?;
        let (stretches, bytes) = stretches(&columns)?;
        let share = bytes.checked_div(stretches.len() as u64).unwrap_or(0);
        for rows in stretches {
            found.note(read(file, io, &columns, rows).await)?;
            steps.add(share);
        }
    }
    Ok(())
}

/// Some rows.
pub(super) async fn read(
    file: &Arc<OpenFile>,
    io: &Io,
    columns: &Projection,
    rows: Range<u64>,
) -> Result<arrow_array::RecordBatch> {
    io.run(file.read_rows(columns, Rows::from(rows))?).await
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
