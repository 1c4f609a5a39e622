//! What is known of a table: its versions, fragments and columns.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use lancet_table::{
    At, Fragment, FragmentReport, Manifest, Table, TableColumnReport, TableColumnStatistics,
    TableReport, TableVerification,
};

use super::facts::{
    ColumnFacts, Count, FragmentFacts, Health, Pages, Problem, State, TableFacts, VersionFacts, cut,
};
use super::file::{MOST_FORM, MOST_NAME, MOST_TYPE, Wanted, unchecked};
use super::rows::{self, ShownRows};
use super::sample::Sample;
use crate::error::Result;
use crate::places::InTable;
use crate::{progress, stats, units, versions};

/// Versions that are shown: the latest.
const MOST_VERSIONS: usize = 200;
/// Bars of the chart of fragments.
const MOST_FRAGMENTS: usize = 200;
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
    let report = table.inspect(|done| bar.set_position(done as u64)).in_table(name);
    bar.finish_and_clear();
    let report = report?;
    let statistics = table.statistics(.., |_| {}).unwrap_or_default();
    let statistics: HashMap<&str, &TableColumnStatistics> =
        statistics.iter().map(|column| (column.name.as_str(), column)).collect();
    let column = |column: &TableColumnReport| {
        column_facts(column, statistics.get(column.name.as_str()).copied())
    };
    let mut columns: Vec<ColumnFacts> = report.columns.iter().map(column).collect();
    let sample = Sample::of_table(table, report.file_bytes, wanted.analyze.rows());
    if let Some(sample) = &sample {
        sample.describe(&mut columns, report.num_rows);
    }
    let manifest = table.manifest();
    let (versions, older_versions) = history(table, name)?;
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
        fragments: fragments(&report.fragments),
        versions,
        older_versions,
        tags: tags.map(|tag| (tag.name, tag.version)).collect(),
        branches: branches.map(|branch| (branch.name, branch.parent_version)).collect(),
        advice: advice(&report),
        health: if wanted.verify { health(name, table, wanted.quiet)? } else { unchecked() },
        shown: rows::of_table(table).unwrap_or_else(ShownRows::failed),
    })
}

fn column_facts(
    column: &TableColumnReport,
    statistics: Option<&TableColumnStatistics>,
) -> ColumnFacts {
    let known = statistics.and_then(|column| column.known.as_ref());
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
        zone_map_bytes: column.zone_map_bytes,
        nulls,
        distinct: None,
        arrow_bytes: None,
        range,
        forms: column.forms.iter().map(|(form, n)| (cut(form, MOST_FORM), *n)).collect(),
        pages: Pages { count: column.num_pages, groups: Vec::new() },
        zones: None,
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

fn fragment_bytes(fragment: &FragmentReport) -> u64 {
    fragment.files.iter().map(|file| file.bytes.saturating_add(file.side_bytes)).sum()
}

/// What would make the table faster or smaller.
fn advice(report: &TableReport) -> Vec<String> {
    let mut advice = Vec::new();
    let small = report.fragments.iter().filter(|f| fragment_bytes(f) < SMALL_BYTES).count();
    if small >= MANY_SMALL {
        let bytes: u64 = report.fragments.iter().map(fragment_bytes).sum();
        let enough = bytes.div_ceil(64 * SMALL_BYTES).max(1);
        advice.push(format!(
            "{} of {} fragments have less than {}. Each costs an open file and a request; compacted, \
             {} would do.",
            units::count(small as u64),
            units::count(report.fragments.len() as u64),
            units::bytes(SMALL_BYTES),
            units::count(enough)
        ));
    }
    let physical = report.num_rows.saturating_add(report.num_deleted_rows);
    if report.num_deleted_rows.saturating_mul(10) > physical {
        advice.push(format!(
            "{} of the rows in the files are deleted and still take space and reading time; compaction \
             leaves them out.",
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

/// The latest versions, oldest first, and how many came before them.
fn history(table: &Table, name: &Path) -> Result<(Vec<VersionFacts>, u64)> {
    let numbers = table.versions();
    let up_to = numbers.partition_point(|number| *number <= table.version());
    let numbers = numbers.get(..up_to).unwrap_or_default();
    let shown = numbers.get(numbers.len().saturating_sub(MOST_VERSIONS)..).unwrap_or_default();
    let older = numbers.len().saturating_sub(shown.len()) as u64;
    let (mut found, mut before): (Vec<VersionFacts>, Option<Manifest>) = (Vec::new(), None);
    for number in shown {
        // A version that cannot be read does not hide the others.
        let Ok(manifest) = table.manifest_of(*number) else {
            before = None;
            continue;
        };
        found.push(version_facts(&manifest, before.as_ref(), older == 0 && found.is_empty()));
        before = Some(manifest);
    }
    if found.is_empty() {
        let manifest = table.checkout(At::Version(table.version())).in_table(name)?;
        found.push(version_facts(manifest.manifest(), None, false));
    }
    Ok((found, older))
}

fn version_facts(manifest: &Manifest, before: Option<&Manifest>, is_first: bool) -> VersionFacts {
    VersionFacts {
        version: manifest.version,
        written: versions::written(manifest),
        rows: manifest.num_rows(),
        deleted: manifest.num_deleted_rows(),
        bytes: versions::data_bytes(manifest),
        fragments: manifest.fragments.len() as u64,
        changes: match before {
            Some(before) => changes(before, manifest),
            None if is_first => vec!["written first".into()],
            None => Vec::new(),
        },
    }
}

/// What differs between two versions, in words.
fn changes(before: &Manifest, after: &Manifest) -> Vec<String> {
    let mut changes = schema_changes(before, after);
    let by_id = |manifest: &Manifest| -> BTreeMap<u32, Fragment> {
        manifest.fragments.iter().map(|fragment| (fragment.id, fragment.clone())).collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let rows = |fragments: &[&Fragment]| -> u64 {
        fragments.iter().filter_map(|fragment| fragment.num_rows()).fold(0, u64::saturating_add)
    };
    let added: Vec<&Fragment> = new.values().filter(|f| !old.contains_key(&f.id)).collect();
    let removed: Vec<&Fragment> = old.values().filter(|f| !new.contains_key(&f.id)).collect();
    let count = |fragments: &[&Fragment]| units::counted(fragments.len() as u64, "fragment");
    match (added.is_empty(), removed.is_empty()) {
        (false, true) => {
            changes.push(format!("{} added in {}", units::rows(rows(&added)), count(&added)));
        }
        (true, false) => {
            changes.push(format!(
                "{} removed with {}",
                units::rows(rows(&removed)),
                count(&removed)
            ));
        }
        (false, false) if rows(&added) == rows(&removed) => {
            changes.push(format!("{} rewritten as {}", count(&removed), added.len()));
        }
        (false, false) => changes.push(format!(
            "{} with {} replaced by {} with {}",
            count(&removed),
            units::rows(rows(&removed)),
            added.len(),
            units::rows(rows(&added))
        )),
        (true, true) => {}
    }
    let kept = || new.values().filter_map(|fragment| Some((old.get(&fragment.id)?, fragment)));
    let deleted: u64 = kept()
        .map(|(old, new)| {
            let [old, new] = [old, new].map(|f| f.num_deleted_rows().unwrap_or(0));
            new.saturating_sub(old)
        })
        .fold(0, u64::saturating_add);
    if deleted > 0 {
        changes.push(format!("{} deleted", units::rows(deleted)));
    }
    let rewritten = kept().filter(|(old, new)| old.files != new.files).count() as u64;
    if rewritten > 0 {
        changes.push(format!("files of {} changed", units::counted(rewritten, "fragment")));
    }
    if before.config != after.config {
        changes.push("settings changed".into());
    }
    if changes.is_empty() {
        changes.push("rows and columns as before".into());
    }
    changes
}

fn schema_changes(before: &Manifest, after: &Manifest) -> Vec<String> {
    let fields = |manifest: &Manifest| -> BTreeMap<i32, (String, String)> {
        let field = |field: &lancet_table::Field| {
            (field.id, (cut(&field.name, 60), cut(&field.logical_type, 60)))
        };
        manifest.fields.iter().map(field).collect()
    };
    let (old, new) = (fields(before), fields(after));
    let ids: BTreeSet<i32> = old.keys().chain(new.keys()).copied().collect();
    let mut changes = Vec::new();
    for id in ids {
        match (old.get(&id), new.get(&id)) {
            (None, Some((name, kind))) => changes.push(format!("column `{name}` ({kind}) added")),
            (Some((name, _)), None) => changes.push(format!("column `{name}` dropped")),
            (Some((a, _)), Some((b, _))) if a != b => {
                changes.push(format!("column `{a}` renamed to `{b}`"));
            }
            _ => {}
        }
    }
    let more = changes.len().saturating_sub(8);
    changes.truncate(8);
    if more > 0 {
        changes.push(format!("{more} more changes of columns"));
    }
    changes
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
