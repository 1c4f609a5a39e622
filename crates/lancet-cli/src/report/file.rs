//! What is known of a Lance file: gathered from what the library says of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lancet::{ColumnReport, Corrupt, FileReader, FileReport, PageReport, Verification, ZoneMap};

use super::byte_map::ByteMap;
use super::facts::{
    ColumnFacts, Count, FileFacts, Health, Opened, Pages, Place, Problem, Sampled, State, cut,
};
use super::pages::PageList;
use super::rows::{self, ShownRows};
use super::sample::Sample;
use super::zones::Zones;
use super::{Budget, why};
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
            let problems =
                vec![Problem { what: corrupt.to_string(), at: corrupt.offset.map(Place::Byte) }];
            let about = "The file does not open.".into();
            let health = Health { state: State::Damaged, about, problems, more: 0 };
            return Ok(FileFacts {
                name,
                bytes,
                opened: None,
                map: ByteMap::unread(bytes),
                health,
            });
        }
        other => other.in_file(file.name())?,
    };
    let report = match reader.inspect() {
        Ok(report) => report,
        Err(lancet::Error::Corrupt(corrupt)) => {
            let mut verification = reader.verify().in_file(file.name())?;
            if verification.problems.is_empty() {
                verification.problems.push(*corrupt);
            }
            let health = health(&verification, None);
            return Ok(FileFacts {
                name,
                bytes,
                opened: None,
                map: ByteMap::unread(bytes),
                health,
            });
        }
        other => other.in_file(file.name())?,
    };
    let health = match wanted.verify {
        true => health(&verify(&reader, wanted.quiet).in_file(file.name())?, Some(&report)),
        false => unchecked(),
    };
    let opened = open(&reader, &report, wanted)?;
    Ok(FileFacts { name, bytes, opened: Some(opened), map: ByteMap::new(&report), health })
}

fn open(reader: &FileReader, report: &FileReport, wanted: &Wanted) -> Result<Opened> {
    let budget = Budget::new(report.columns.len());
    let maps = zone_maps(reader, report);
    let sample = Sample::of_file(reader, report, wanted.analyze.rows());
    let mut columns: Vec<ColumnFacts> =
        report.columns.iter().map(|column| column_facts(column, &maps, &budget)).collect();
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
    Ok(Opened {
        version: report.version.to_string(),
        rows: report.num_rows,
        writer: writer(is_lancet),
        columns,
        sampled: sample.as_ref().filter(|_| !has_blobs).map(|sample| Sampled {
            rows: sample.num_rows(),
            arrow_bytes: sample.arrow_bytes(report.num_rows),
        }),
        profiles,
        shown: rows::of_file(reader).unwrap_or_else(ShownRows::failed),
    })
}

/// Who wrote a file: files do not tell, but those of lancet have checksums.
pub fn writer(has_checksums: bool) -> &'static str {
    if has_checksums { "lancet" } else { "unknown" }
}

/// The zone maps that can be had. What lies in a struct without a name cannot be asked for.
fn zone_maps(reader: &FileReader, report: &FileReport) -> BTreeMap<String, Arc<ZoneMap>> {
    let with_map = report.columns.iter().filter(|column| column.zone_map.is_some());
    let names = with_map.map(|column| column.name.as_str());
    let asked: Vec<&str> = names.filter(|name| reader.file().project([name]).is_ok()).collect();
    let maps = reader.zone_maps(&asked).unwrap_or_default();
    let named = asked.into_iter().zip(maps);
    named.filter_map(|(name, map)| Some((name.to_owned(), map?))).collect()
}

fn column_facts(
    column: &ColumnReport,
    maps: &BTreeMap<String, Arc<ZoneMap>>,
    budget: &Budget,
) -> ColumnFacts {
    let map = maps.get(&column.name);
    let statistics = map.map(|map| map.statistics());
    let range = statistics.as_ref().and_then(|all| {
        let text = |bound: &Option<_>| stats::bound(bound.as_ref(), 0, all.exact).ok();
        Some((cut(&text(&all.min)?, 40), cut(&text(&all.max)?, 40)))
    });
    ColumnFacts {
        name: cut(&column.name, MOST_NAME),
        data_type: cut(&column.data_type.to_string(), MOST_TYPE),
        rows: column.pages.iter().map(|page| page.num_rows).fold(0, u64::saturating_add),
        bytes: column.bytes,
        zone_map_bytes: column.zone_map.as_ref().map_or(0, |map| map.bytes),
        nulls: statistics.map(|all| Count::Exact(all.null_count)),
        distinct: None,
        arrow_bytes: None,
        range,
        forms: forms(&column.pages),
        pages: pages(&column.pages, budget.pages),
        zones: map.and_then(|map| Zones::of_file(map, budget.zones)),
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
