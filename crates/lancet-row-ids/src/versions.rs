//! The table version of every row of a fragment, as runs.
//!
//! Row `r` belongs to the run that covers `r` when the runs are laid end to end. The numbers in a
//! run's span are positions that the rows once had, in other fragments; only how many there are counts.

use std::iter::FusedIterator;
use std::ops::{Range, RangeInclusive};

use crate::edit::{check_positions, cut, mask_segment};
use crate::error::{Result, ensure};
use crate::index;
use crate::segment::Segment;
use crate::sequence::too_many;

/// The version of each row, in row order: the one that made it, or the one that last changed it.
///
/// ```
/// use lancet_row_ids::RowVersionSequence;
///
/// # fn main() -> lancet_row_ids::Result<()> {
/// let mut versions = RowVersionSequence::uniform(100, 1);
/// versions.extend(&RowVersionSequence::uniform(50, 4))?;
/// versions.mask(&[3, 4, 120])?;
/// assert_eq!(versions.version_at(97), Some(1));
/// assert_eq!(versions.version_at(98), Some(4));
/// assert_eq!(versions.counts().collect::<Vec<_>>(), [(98, 1), (49, 4)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowVersionSequence {
    runs: Vec<VersionRun>,
    /// Rows up to the end of each run.
    ends: Vec<u64>,
}

/// As many rows of one version as the span has numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRun {
    span: Segment,
    version: u64,
}

impl VersionRun {
    pub(crate) fn new(span: Segment, version: u64) -> Self {
        Self { span, version }
    }

    /// The stored numbers; only how many there are counts.
    pub fn span(&self) -> &Segment {
        &self.span
    }

    /// How many rows.
    pub fn num_rows(&self) -> u64 {
        self.span.len()
    }

    /// Their version.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl RowVersionSequence {
    /// Without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// `rows` rows of one version.
    pub fn uniform(rows: u64, version: u64) -> Self {
        let run = (rows > 0).then(|| VersionRun::new(Segment::Range(0..rows), version));
        Self::of_runs(run)
    }

    /// One run for each stretch of equal versions.
    pub fn from_versions(versions: &[u64]) -> Self {
        let mut end = 0_u64;
        let runs = versions.chunk_by(|a, b| a == b).filter_map(|equal| {
            let start = end;
            end = end.saturating_add(equal.len() as u64);
            Some(VersionRun::new(Segment::Range(start..end), *equal.first()?))
        });
        Self::of_runs(runs)
    }

    /// What all runs together may hold is the caller's to know.
    fn of_runs(runs: impl IntoIterator<Item = VersionRun>) -> Self {
        let mut sequence = Self::new();
        runs.into_iter().for_each(|run| _ = sequence.add(run));
        sequence
    }

    pub(crate) fn add(&mut self, run: VersionRun) -> Result<()> {
        let Some(end) = self.len().checked_add(run.num_rows()) else {
            return Err(too_many());
        };
        self.runs.push(run);
        self.ends.push(end);
        Ok(())
    }

    /// The runs as they are stored: neighbours may have the same version, and runs may be empty.
    pub fn runs(&self) -> &[VersionRun] {
        &self.runs
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The version of the row at `position`.
    pub fn version_at(&self, position: u64) -> Option<u64> {
        let run = self.ends.partition_point(|&end| end <= position);
        self.runs.get(run).map(VersionRun::version)
    }

    /// The version of each row, from both ends.
    pub fn iter(&self) -> VersionIter<'_> {
        VersionIter { sequence: self, rows: 0..self.len(), front: 0, back: self.runs.len() }
    }

    /// How many rows in a row have which version; neighbours differ.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let runs = self.runs.chunk_by(|a, b| a.version == b.version);
        let count = |runs: &[VersionRun]| {
            let rows = runs.iter().map(VersionRun::num_rows).fold(0, u64::saturating_add);
            (rows, runs.first().map_or(0, VersionRun::version))
        };
        runs.map(count).filter(|(rows, _)| *rows > 0)
    }

    /// The positions of the rows whose version is in a range, as ranges that do not touch.
    ///
    /// Rows inserted after version `a`, up to `b`, were made in `a + 1..=b`. Rows updated then were made
    /// before and last changed in `a + 1..=b`.
    pub fn positions_in(&self, versions: RangeInclusive<u64>) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let mut start = 0;
        for (run, &end) in self.runs.iter().zip(&self.ends) {
            if versions.contains(&run.version) && start < end {
                match found.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => found.push(start..end),
                }
            }
            start = end;
        }
        found
    }

    /// Adds the rows of another sequence behind these. Runs stay apart. On an error nothing has changed.
    pub fn extend(&mut self, other: &Self) -> Result<()> {
        if self.len().checked_add(other.len()).is_none() {
            return Err(too_many());
        }
        other.runs.iter().try_for_each(|run| self.add(run.clone()))
    }

    /// The versions of the rows at some positions. Positions past the end have none.
    pub fn slice(&self, positions: Range<u64>) -> Self {
        let mut start = 0;
        let runs = self.runs.iter().zip(&self.ends).filter_map(|(run, &end)| {
            let inside = positions.start.max(start)..positions.end.min(end);
            let before = std::mem::replace(&mut start, end);
            let local = inside.start.saturating_sub(before)..inside.end.saturating_sub(before);
            (!inside.is_empty()).then(|| VersionRun::new(run.span.slice(local), run.version))
        });
        Self::of_runs(runs)
    }

    /// Removes the rows at some positions, which must increase and be here.
    pub fn mask(&mut self, positions: &[u32]) -> Result<()> {
        check_positions(positions, self.len())?;
        let mut rest = positions;
        let mut offset = 0;
        let mut runs = std::mem::take(&mut self.runs);
        runs.iter_mut().for_each(|run| mask_segment(&mut run.span, &mut offset, &mut rest));
        *self = Self::of_runs(runs.into_iter().filter(|run| !run.span.is_empty()));
        Ok(())
    }

    /// The rows of all sequences one after the other, cut into pieces of the given sizes, as
    /// [`RowIdSequence::rechunk`](crate::RowIdSequence::rechunk) does.
    pub fn rechunk<'a>(
        sequences: impl IntoIterator<Item = &'a Self>,
        sizes: impl IntoIterator<Item = u64>,
        allow_short: bool,
    ) -> Result<Vec<Self>> {
        let runs = sequences.into_iter().flat_map(|sequence| &sequence.runs);
        let chunks = cut(runs.map(|run| (&run.span, run.version)), sizes, allow_short)?;
        let sequence = |chunk: Vec<(Segment, u64)>| {
            let mut sequence = Self::new();
            let mut runs = chunk.into_iter().map(|(span, version)| VersionRun::new(span, version));
            runs.try_for_each(|run| sequence.add(run))?;
            Ok(sequence)
        };
        chunks.into_iter().map(sequence).collect()
    }

    /// Checks that there is a version for each physical row of a fragment.
    pub fn check_len(&self, physical_rows: u64) -> Result<()> {
        let len = self.len();
        ensure!(len == physical_rows, "a fragment of {physical_rows} rows has {len} row versions");
        Ok(())
    }
}

impl<'a> IntoIterator for &'a RowVersionSequence {
    type Item = u64;
    type IntoIter = VersionIter<'a>;

    fn into_iter(self) -> VersionIter<'a> {
        self.iter()
    }
}

/// The versions of a [`RowVersionSequence`], from both ends.
#[derive(Debug, Clone)]
pub struct VersionIter<'a> {
    sequence: &'a RowVersionSequence,
    /// Rows not yet seen.
    rows: Range<u64>,
    /// A run not behind that of the first of them; one more than a run not before that of the last.
    front: usize,
    back: usize,
}

impl VersionIter<'_> {
    fn end(&self, run: usize) -> u64 {
        self.sequence.ends.get(run).copied().unwrap_or(u64::MAX)
    }

    fn version(&self, run: usize) -> Option<u64> {
        self.sequence.runs.get(run).map(VersionRun::version)
    }
}

impl Iterator for VersionIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let row = self.rows.next()?;
        while self.end(self.front) <= row {
            self.front = self.front.saturating_add(1);
        }
        self.version(self.front)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = index(self.rows.end.saturating_sub(self.rows.start));
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        let row = self.rows.nth(n)?;
        if n > 0 {
            self.front = self.sequence.ends.partition_point(|&end| end <= row);
        }
        while self.end(self.front) <= row {
            self.front = self.front.saturating_add(1);
        }
        self.version(self.front)
    }
}

impl DoubleEndedIterator for VersionIter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        let row = self.rows.next_back()?;
        let mut run = self.back.saturating_sub(1);
        while let Some(before) = run.checked_sub(1).filter(|before| self.end(*before) > row) {
            run = before;
        }
        self.back = run.saturating_add(1);
        self.version(run)
    }
}

impl ExactSizeIterator for VersionIter<'_> {}
impl FusedIterator for VersionIter<'_> {}
