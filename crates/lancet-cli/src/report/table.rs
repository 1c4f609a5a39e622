//! What is known of a table: its fragments, columns and health.

use std::path::Path;

use lancet_table::{FragmentReport, Table, TableColumnReport, TableReport, TableVerification};

use super::facts::{
    ColumnFacts, Count, FragmentFacts, Health, LeftOut, Pages, Problem, State, TableFacts, cut,
    largest,
};
use super::file::{MOST_FORM, MOST_NAME, MOST_TYPE, Wanted, unchecked};
use super::row_source::Source;
use super::rows::{self, ShownRows};
use super::sample::Sample;
use super::table_map::Files;
use super::table_zones::{self, ColumnZones};
use super::{MOST_COLUMNS, history, why};
use crate::error::Result;
use crate::places::InTable;
use crate::{progress, stats, units, versions};

/// Bars of the chart of fragments.
pub const MOST_FRAGMENTS: usize = 200;
/// Problems that are listed.
const MOST_PROBLEMS: usize = 100;
/// A fragment with less than this is small.
const SMALL_BYTES: u64 = 8 << 20;
/// So many small fragments are worth a word.
const MANY_SMALL: usize = 8;

/// All that is known of a table.
pub fn gather(name: &Path, table: &Table, wanted: &Wanted) -> Result<TableFacts> {
    let bar = progress::share(wanted.quiet);
    bar.set_length(table.manifest().fragments.len() as u64);
    let mut files = Files::new(table.manifest());
    let report = table.inspect_files(|done| bar.set_position(done as u64), |file| files.add(&file));
    bar.finish_and_clear();
    let report = report.in_table(name)?;
    let is_lancet = files.have_checksums();
    let sizes: Vec<u64> = report.columns.iter().map(|column| column.bytes).collect();
    let listed = largest(&sizes, MOST_COLUMNS);
    let (map, pages) = files.finish(&report, &listed);
    let known = table_zones::gather(table);
    let mut columns: Vec<ColumnFacts> = listed
        .iter()
        .filter_map(|place| report.columns.get(*place))
        .zip(pages)
        .map(|(column, pages)| column_facts(column, known.columns.get(&column.name), pages))
        .collect();
    let sample = Sample::of_table(table, &report, &listed, wanted.analyze.rows());
    let profiles = sample.as_ref().and_then(|sample| {
        sample.describe(&mut columns, report.num_rows);
        why::explain(sample, &mut columns, wanted.analyze, is_lancet, wanted.quiet)
    });
    let manifest = table.manifest();
    let (versions, older_versions) = history::gather(table, name)?;
    let tags = table.tags().in_table(name)?.into_iter().filter(|tag| tag.branch == manifest.branch);
    let branches = table.branches().in_table(name)?.into_iter();
    Ok(TableFacts {
        name: name.display().to_string(),
        version: manifest.version,
        branch: manifest.branch.clone(),
        written: versions::written(manifest),
        writer: versions::writer(manifest).map(|writer| cut(&writer, 60)),
        format: manifest.data_format.map_or_else(|| "?".into(), |format| format.to_string()),
        rows: report.num_rows,
        deleted: report.num_deleted_rows,
        file_bytes: report.file_bytes,
        side_bytes: report.side_bytes,
        deletion_bytes: report.deletion_bytes,
        page_bytes: report.page_bytes,
        zone_map_bytes: report.zone_map_bytes,
        columns,
        left_out: LeftOut::beside(&listed, &sizes),
        zones_left_out: known.left_out,
        profiles,
        fragments: fragments(&report.fragments),
        map,
        versions,
        older_versions,
        tags: tags.map(|tag| (tag.name, tag.version)).collect(),
        branches: branches.map(|branch| (branch.name, branch.parent_version)).collect(),
        advice: advice(&report),
        health: if wanted.verify { health(name, table, wanted.quiet)? } else { unchecked() },
        shown: rows::of(&Source::Table(table)).unwrap_or_else(ShownRows::failed),
    })
}

fn column_facts(
    column: &TableColumnReport,
    known: Option<&ColumnZones>,
    pages: Pages,
) -> ColumnFacts {
    let zones = known.and_then(|column| column.zones.clone());
    let known = known.and_then(|column| column.statistics.known.as_ref());
    let range = known.and_then(|known| {
        let text = |bound: &Option<_>| stats::bound(bound.as_ref(), 0, known.exact).ok();
        Some((cut(&text(&known.min)?, 40), cut(&text(&known.max)?, 40)))
    });
    let nulls = known.map(|known| match known.counts_exact {
        true => Count::Exact(known.null_count),
        false => Count::AtMost(known.null_count),
    });
    let data_type = column.data_type.as_ref().map_or_else(|| "–".into(), ToString::to_string);
    ColumnFacts {
        name: cut(&column.name, MOST_NAME),
        data_type: cut(&data_type, MOST_TYPE),
        rows: column.num_rows,
        bytes: column.bytes,
        nulls,
        distinct: None,
        arrow_bytes: None,
        range,
        forms: column.forms.iter().map(|(form, n)| (cut(form, MOST_FORM), *n)).collect(),
        pages,
        zones,
        candidates: None,
    }
}

/// The fragments, some together where there are very many.
fn fragments(all: &[FragmentReport]) -> Vec<FragmentFacts> {
    let size = all.len().div_ceil(MOST_FRAGMENTS).max(1);
    let sum = |some: &[FragmentReport], of: fn(&FragmentReport) -> u64| {
        some.iter().map(of).fold(0, u64::saturating_add)
    };
    let ids = |some: &[FragmentReport]| {
        let ids = some.iter().map(|fragment| fragment.id);
        (ids.clone().min().unwrap_or(0), ids.max().unwrap_or(0))
    };
    let together = |some: &[FragmentReport]| FragmentFacts {
        ids: ids(some),
        fragments: some.len() as u64,
        files: sum(some, |fragment| fragment.files.len() as u64),
        rows: sum(some, |fragment| {
            fragment.num_physical_rows.saturating_sub(fragment.num_deleted_rows)
        }),
        deleted: sum(some, |fragment| fragment.num_deleted_rows),
        bytes: sum(some, fragment_bytes),
    };
    all.chunks(size).map(together).collect()
}

/// The bytes of all files of a fragment.
fn fragment_bytes(fragment: &FragmentReport) -> u64 {
    let files = fragment.files.iter().map(|file| file.bytes.saturating_add(file.side_bytes));
    let deletions = fragment.deletion_file.iter().map(|file| file.bytes);
    files.chain(deletions).fold(0, u64::saturating_add)
}

/// What would make the table faster or smaller.
fn advice(report: &TableReport) -> Vec<String> {
    let mut advice = Vec::new();
    let small = report.fragments.iter().filter(|f| fragment_bytes(f) < SMALL_BYTES).count();
    if small >= MANY_SMALL {
        let bytes: u64 = report.fragments.iter().map(fragment_bytes).sum();
        let enough = bytes.div_ceil(64 * SMALL_BYTES).max(1);
        advice.push(format!(
            "{} of {} fragments have less than {}. Each costs an open file and a request; after \
             `lancet table compact`, {} would do.",
            units::count(small as u64),
            units::count(report.fragments.len() as u64),
            units::bytes(SMALL_BYTES),
            units::count(enough)
        ));
    }
    let physical = report.num_rows.saturating_add(report.num_deleted_rows);
    if report.num_deleted_rows.saturating_mul(10) > physical {
        advice.push(format!(
            "{} of the rows in the files are deleted and still take space and reading time; \
             `lancet table compact` leaves them out.",
            units::share(report.num_deleted_rows, physical)
        ));
    }
    let unused: u64 =
        report.fragments.iter().flat_map(|f| &f.files).map(|file| file.unused_bytes).sum();
    if unused.saturating_mul(20) > report.file_bytes {
        advice.push(format!(
            "{} ({}) hold columns that were dropped or replaced; rewriting the files frees them.",
            units::bytes(unused),
            units::share(unused, report.file_bytes)
        ));
    }
    advice
}

fn health(name: &Path, table: &Table, quiet: bool) -> Result<Health> {
    let bar = progress::share(quiet);
    let verified = table.verify(|at| {
        bar.set_length(at.all);
        bar.set_position(at.done);
    });
    bar.finish_and_clear();
    Ok(health_of(&verified.in_table(name)?))
}

fn health_of(found: &TableVerification) -> Health {
    let state = match (found.problems.is_empty(), found.unread.is_empty()) {
        (false, _) => State::Damaged,
        (true, false) => State::Unknown,
        (true, true) => State::Sound,
    };
    let problems = found.problems.iter().map(|p| format!("{}: {}", p.file, p.what));
    let unread = found.unread.iter().map(|p| format!("{}: not checked: {}", p.file, p.what));
    let all = problems.chain(unread).map(|what| Problem { what: cut(&what, 400), at: None });
    let problems: Vec<Problem> = all.take(MOST_PROBLEMS).collect();
    let count = found.problems.len() + found.unread.len();
    let about = format!(
        "{}, {} and {} checked.",
        units::counted(found.num_data_files, "data file"),
        units::counted(found.num_deletion_files, "deletion file"),
        units::counted(found.num_pages, "page")
    );
    Health { state, about, more: count.saturating_sub(problems.len()) as u64, problems }
}
