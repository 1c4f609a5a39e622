//! What is known of a Lance file: gathered from what the library says of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lancet::{ColumnReport, Corrupt, FileReader, FileReport, PageReport, Verification, ZoneMap};

use super::byte_map::ByteMap;
use super::facts::{
    ColumnFacts, Count, FileFacts, Health, LeftOut, Opened, Pages, Place, Problem, Sampled, State,
    cut, largest,
};
use super::pages::PageList;
use super::row_source::Source;
use super::rows::{self, ShownRows};
use super::sample::Sample;
use super::zones::Zones;
use super::{Budget, MOST_COLUMNS, why};
use crate::error::{InFile, Result};
use crate::places::InputFile;
use crate::{progress, stats, units};

/// Longest name of a column, longest type, longest encoding.
pub const MOST_NAME: usize = 120;
pub const MOST_TYPE: usize = 100;
pub const MOST_FORM: usize = 160;
/// Problems that are listed.
const MOST_PROBLEMS: usize = 100;

/// How thorough a report is.
pub struct Wanted {
    /// Whether all bytes are checked.
    pub verify: bool,
    /// How long encodings may be tried.
    pub analyze: why::Effort,
    pub quiet: bool,
}

/// All that is known of a file. One that is damaged has a report, too.
pub fn gather(file: &InputFile, wanted: &Wanted) -> Result<FileFacts> {
    let name = file.name().display().to_string();
    let bytes = file.size_bytes();
    let reader = match file.try_reader(super::read_options()) {
        Ok(reader) => reader,
        Err(lancet::Error::Corrupt(corrupt)) => {
            let health = unopened(&corrupt, "The file does not open.");
            let map = ByteMap::unread(bytes);
            return Ok(FileFacts { name, bytes, opened: None, map, health });
        }
        other => other.in_file(file.name())?,
    };
    let report = match reader.inspect() {
        Ok(report) => report,
        Err(lancet::Error::Corrupt(corrupt)) => {
            let health = match wanted.verify {
                true => {
                    let mut found = verify(&reader, wanted.quiet).in_file(file.name())?;
                    if found.problems.is_empty() {
                        found.problems.push(*corrupt);
                    }
                    health(&found, None)
                }
                false => unopened(&corrupt, "Its columns do not open; nothing else was checked."),
            };
            let map = ByteMap::unread(bytes);
            return Ok(FileFacts { name, bytes, opened: None, map, health });
        }
        other => other.in_file(file.name())?,
    };
    let health = match wanted.verify {
        true => health(&verify(&reader, wanted.quiet).in_file(file.name())?, Some(&report)),
        false => unchecked(),
    };
    let sizes: Vec<u64> = report.columns.iter().map(|column| column.bytes).collect();
    let listed = largest(&sizes, MOST_COLUMNS);
    let map = ByteMap::new(&report).with_columns(&listed);
    let left_out = LeftOut::beside(&listed, &sizes);
    let opened = Opened { left_out, ..open(&reader, &report, &listed, wanted) };
    Ok(FileFacts { name, bytes, opened: Some(opened), map, health })
}

/// A file of which nothing can be told.
fn unopened(corrupt: &Corrupt, about: &str) -> Health {
    let problem = Problem { what: corrupt.to_string(), at: place(corrupt, None) };
    Health { state: State::Damaged, about: about.into(), problems: vec![problem], more: 0 }
}

fn open(reader: &FileReader, report: &FileReport, listed: &[usize], wanted: &Wanted) -> Opened {
    let found: Vec<&ColumnReport> =
        listed.iter().filter_map(|place| report.columns.get(*place)).collect();
    let budget = Budget::new(found.len());
    let sample = Sample::of_file(reader, report, listed, wanted.analyze.rows());
    let maps = zone_maps(reader, &found).into_iter();
    let mut columns: Vec<ColumnFacts> =
        found.iter().zip(maps).map(|(column, map)| column_facts(column, map, &budget)).collect();
    if let Some(sample) = &sample {
        sample.describe(&mut columns, report.num_rows);
    }
    // Of blobs the rows say only where they are.
    let has_blobs = report.columns.iter().flat_map(|c| &c.pages).any(|page| page.layout == "blob");
    let is_lancet = report.parts.iter().any(|part| part.holds == "checksums");
    let profiles = match &sample {
        Some(sample) => why::explain(sample, &mut columns, wanted.analyze, is_lancet, wanted.quiet),
        None => None,
    };
    Opened {
        version: report.version.to_string(),
        rows: report.num_rows,
        writer: writer(is_lancet),
        columns,
        left_out: LeftOut::default(),
        sampled: sample.as_ref().filter(|_| !has_blobs).map(|sample| Sampled {
            rows: sample.num_rows(),
            arrow_bytes: sample.arrow_bytes(report.num_rows),
        }),
        profiles,
        shown: rows::of(&Source::File(reader)).unwrap_or_else(ShownRows::failed),
    }
}

/// Who wrote a file: files do not tell, but those of lancet have checksums.
pub fn writer(has_checksums: bool) -> &'static str {
    if has_checksums { "lancet" } else { "unknown" }
}

/// The zone map of each column, by its number: names may come twice.
fn zone_maps(reader: &FileReader, columns: &[&ColumnReport]) -> Vec<Option<Arc<ZoneMap>>> {
    let with_map = columns.iter().filter(|column| column.zone_map.is_some());
    let numbers: Vec<u32> = with_map.map(|column| column.index).collect();
    let maps = reader.file().zone_maps_of_columns(&numbers).and_then(|found| reader.run(found));
    let mut maps = maps.unwrap_or_default().into_iter();
    let of = |column: &&ColumnReport| column.zone_map.as_ref().and_then(|_| maps.next().flatten());
    columns.iter().map(of).collect()
}

fn column_facts(column: &ColumnReport, map: Option<Arc<ZoneMap>>, budget: &Budget) -> ColumnFacts {
    let statistics = map.as_ref().map(|map| map.statistics());
    let range = statistics.as_ref().and_then(|all| {
        let text = |bound: &Option<_>| stats::bound(bound.as_ref(), 0, all.exact).ok();
        Some((cut(&text(&all.min)?, 40), cut(&text(&all.max)?, 40)))
    });
    ColumnFacts {
        name: cut(&column.name, MOST_NAME),
        data_type: cut(&column.data_type.to_string(), MOST_TYPE),
        rows: column.pages.iter().map(|page| page.num_rows).fold(0, u64::saturating_add),
        bytes: column.bytes,
        nulls: statistics.map(|all| Count::Exact(all.null_count)),
        distinct: None,
        arrow_bytes: None,
        range,
        forms: forms(&column.pages),
        pages: pages(&column.pages, budget.pages),
        zones: map.and_then(|map| Zones::of_file(&map, budget.zones)),
        candidates: None,
    }
}

/// The encodings of pages, the most frequent first.
pub fn forms(pages: &[PageReport]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for page in pages {
        *counts.entry(cut(&page.form(), MOST_FORM)).or_default() += 1;
    }
    let mut forms: Vec<(String, u64)> = counts.into_iter().collect();
    forms.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
    forms
}

/// The pages of a column, at most so many.
fn pages(pages: &[PageReport], most: usize) -> Pages {
    let mut list = PageList::new(most);
    pages.iter().for_each(|page| list.push(page, None));
    list.finish()
}

fn verify(reader: &FileReader, quiet: bool) -> lancet::Result<Verification> {
    let bar = progress::share(quiet);
    let verified = reader.verify_with(|at| {
        bar.set_length(at.all);
        bar.set_position(at.done);
    });
    bar.finish_and_clear();
    verified
}

/// What is said where nothing was checked.
pub fn unchecked() -> Health {
    let about = "Not checked: `--verify` has all bytes of a large file checked.".into();
    Health { state: State::Unknown, about, problems: Vec::new(), more: 0 }
}

fn health(found: &Verification, report: Option<&FileReport>) -> Health {
    let state = match (found.problems.is_empty(), found.unread.is_empty()) {
        (false, _) => State::Damaged,
        (true, false) => State::Unknown,
        (true, true) => State::Sound,
    };
    let problem = |corrupt: &Corrupt| Problem {
        what: cut(&corrupt.to_string(), 400),
        at: place(corrupt, report),
    };
    let unread =
        |what: &String| Problem { what: cut(&format!("not checked: {what}"), 400), at: None };
    let all = found.problems.iter().map(problem).chain(found.unread.iter().map(unread));
    let problems: Vec<Problem> = all.take(MOST_PROBLEMS).collect();
    let count = found.problems.len() + found.unread.len();
    let checksums = match found.has_checksums {
        true => format!("{} compared", units::counted(found.num_checksums, "checksum")),
        false => "no checksums in the file".into(),
    };
    let about = format!("{} checked, {checksums}.", units::counted(found.num_pages, "page"));
    let more = count.saturating_sub(problems.len()) as u64;
    Health { state, about, problems, more }
}

/// Where in the file a problem is: its offset counts from the innermost part that is known.
fn place(corrupt: &Corrupt, report: Option<&FileReport>) -> Option<Place> {
    let column = corrupt
        .column
        .and_then(|number| report?.columns.iter().find(|column| column.index == number));
    let Some(column) = column else {
        return corrupt.offset.filter(|_| corrupt.column.is_none()).map(Place::Byte);
    };
    let page = corrupt.page.and_then(|page| column.pages.get(page as usize));
    let start = |page: &PageReport| page.buffers.iter().map(|buffer| buffer.position).min();
    let Some(page) = page else { return column.pages.first().and_then(start).map(Place::From) };
    let buffer = corrupt.buffer.and_then(|buffer| page.buffers.get(buffer as usize));
    match (buffer, corrupt.offset) {
        (Some(buffer), Some(offset)) => Some(Place::Byte(buffer.position.saturating_add(offset))),
        (Some(buffer), None) => Some(Place::From(buffer.position)),
        (None, _) => start(page).map(Place::From),
    }
}
