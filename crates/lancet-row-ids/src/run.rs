//! Runs of consecutive ids, and filters over them.
//!
//! Edits go from runs to runs, so that their cost follows what is stored: three deletions in a range
//! of a billion ids touch four runs. Every iterator here can be cloned cheaply, because a segment is
//! built in two passes: one to choose its form, one to fill it.

use crate::ranges::seek;

/// The ids `first..=last`; never empty. Inclusive, because 2^64-1 has no exclusive end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Run {
    pub(crate) fn one(id: u64) -> Self {
        Self { first: id, last: id }
    }

    /// How many ids; no run in a sequence has 2^64 of them.
    pub(crate) fn len(&self) -> u64 {
        self.last.wrapping_sub(self.first).wrapping_add(1)
    }

    pub(crate) fn ids(self) -> impl Iterator<Item = u64> {
        (self.first..self.last).chain([self.last])
    }
}

/// Joins numbers that follow each other into runs.
#[derive(Debug, Clone)]
pub(crate) struct Joined<I> {
    ids: I,
    held: Option<u64>,
}

impl<I: Iterator<Item = u64>> Joined<I> {
    pub(crate) fn new(mut ids: I) -> Self {
        let held = ids.next();
        Self { ids, held }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Joined<I> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let first = self.held.take()?;
        let mut last = first;
        for id in self.ids.by_ref() {
            if last.checked_add(1) != Some(id) {
                self.held = Some(id);
                break;
            }
            last = id;
        }
        Some(Run { first, last })
    }
}

/// What [`Filter`] does with the ids of its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Keep,
    Remove,
}

/// The parts of runs that are in a set of increasing runs, or not in it.
#[derive(Debug, Clone)]
pub(crate) struct Filter<'a, I> {
    runs: I,
    set: &'a [Run],
    rule: Rule,
    /// Where in the set the last search ended.
    at: usize,
    /// The part of the current run that is not looked at yet.
    rest: Option<Run>,
}

impl<'a, I: Iterator<Item = Run>> Filter<'a, I> {
    pub(crate) fn new(runs: I, set: &'a [Run], rule: Rule) -> Self {
        Self { runs, set, rule, at: 0, rest: None }
    }
}

impl<I: Iterator<Item = Run>> Iterator for Filter<'_, I> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let run = self.rest.take().or_else(|| self.runs.next())?;
            self.at = seek(self.set, self.at, run.first);
            let Some(inside) = self.set.get(self.at).filter(|set| set.first <= run.last) else {
                match self.rule {
                    Rule::Keep => continue,
                    Rule::Remove => return Some(run),
                }
            };
            let both = Run { first: inside.first.max(run.first), last: inside.last.min(run.last) };
            self.rest = (both.last < run.last)
                .then(|| Run { first: both.last.wrapping_add(1), last: run.last });
            match self.rule {
                Rule::Keep => return Some(both),
                Rule::Remove if run.first < both.first => {
                    return Some(Run { first: run.first, last: both.first.wrapping_sub(1) });
                }
                Rule::Remove => {}
            }
        }
    }
}

/// Runs without the ids at some increasing positions.
#[derive(Debug, Clone)]
pub(crate) struct Masked<'a, I> {
    runs: I,
    /// Positions to leave out; those before `position` are used up.
    masked: &'a [u32],
    /// Position of the first id of `rest`, or of the next run.
    position: u64,
    rest: Option<Run>,
}

impl<'a, I: Iterator<Item = Run>> Masked<'a, I> {
    /// `position` is that of the first id.
    pub(crate) fn new(runs: I, position: u64, masked: &'a [u32]) -> Self {
        Self { runs, masked, position, rest: None }
    }
}

impl<I: Iterator<Item = Run>> Iterator for Masked<'_, I> {
    /// The position of the first id, and the run.
    type Item = (u64, Run);

    fn next(&mut self) -> Option<(u64, Run)> {
        loop {
            let run = self.rest.take().or_else(|| self.runs.next())?;
            let position = self.position;
            let before = self.masked.first().map_or(u64::MAX, |&masked| masked.into());
            let before = before.saturating_sub(position);
            if before >= run.len() {
                self.position = position.wrapping_add(run.len());
                return Some((position, run));
            }
            let hole = run.first.wrapping_add(before);
            self.masked = self.masked.get(1..).unwrap_or_default();
            self.position = position.wrapping_add(before).wrapping_add(1);
            self.rest =
                (hole < run.last).then(|| Run { first: hole.wrapping_add(1), last: run.last });
            if before > 0 {
                return Some((position, Run { first: run.first, last: hole.wrapping_sub(1) }));
            }
        }
    }
}
