//! The files of a table: what all their bytes are for, and the pages of its columns in the order of the rows.
//!
//! Files are handed over one by one and nothing of them is kept but sums, some parts of each, and groups of pages.

use std::collections::HashMap;

use lancet_table::{
    ColumnOwner, DataFileReport, FragmentReport, InspectedFile, Manifest, TableReport,
};

use super::Budget;
use super::byte_map::{ByteMap, Kind, Part};
use super::facts::{FragmentFiles, Pages, Stored, StoredFile, TableMap, cut};
use super::pages::PageList;

/// Data files whose parts are listed: the first.
const MOST_FILES: usize = 1_000;
/// Parts of all of them, about.
const MOST_PARTS: usize = 2_500;
/// How many times as many there may be inside of those that stand together.
const INSIDE: usize = 4;
/// Longest name of a file.
const MOST_NAME: usize = 120;

/// What was found in files so far.
pub struct Files {
    budget: Budget,
    parts_each: usize,
    /// Columns in the order in which they were met.
    places: HashMap<ColumnOwner, usize>,
    pages: Vec<PageList>,
    kinds: [u64; Kind::ALL.len()],
    /// The parts of the first files.
    parts: Vec<Vec<Part>>,
    num_files: u64,
    num_with_checksums: u64,
}

impl Files {
    pub fn new(manifest: &Manifest) -> Self {
        let files: usize = manifest.fragments.iter().map(|fragment| fragment.files.len()).sum();
        Self {
            budget: Budget::new(manifest.fields.len()),
            parts_each: (MOST_PARTS / files.clamp(1, MOST_FILES)).clamp(2, 200),
            places: HashMap::new(),
            pages: Vec::new(),
            kinds: [0; Kind::ALL.len()],
            parts: Vec::new(),
            num_files: 0,
            num_with_checksums: 0,
        }
    }

    /// Adds a file.
    pub fn add(&mut self, file: &InspectedFile) {
        let owned = file.owners.iter().map(|owner| {
            let next = self.places.len();
            *self.places.entry(*owner).or_insert(next)
        });
        let places: Vec<usize> = owned.collect();
        self.pages.resize_with(self.places.len(), || PageList::new(self.budget.pages));
        for (column, place) in file.report.columns.iter().zip(&places) {
            let Some(list) = self.pages.get_mut(*place) else { continue };
            column.pages.iter().for_each(|page| list.push(page, Some(file.fragment)));
        }
        let mut map = ByteMap::new(&file.report);
        for (kind, bytes) in map.by_kind() {
            self.count(kind, bytes);
        }
        self.count(Kind::Blobs, file.file.side_bytes);
        if self.parts.len() < MOST_FILES {
            let place = |column: usize| places.get(column).copied();
            map.parts.iter_mut().for_each(|part| part.set_columns(&place));
            self.parts.push(map.coarse(self.parts_each, self.parts_each.saturating_mul(INSIDE)));
        }
        self.num_files += 1;
        let has_checksums = file.report.parts.iter().any(|part| part.holds == "checksums");
        self.num_with_checksums += u64::from(has_checksums);
    }

    /// Whether lancet wrote all of the files, as far as they tell.
    pub fn have_checksums(&self) -> bool {
        self.num_files > 0 && self.num_with_checksums == self.num_files
    }

    /// All bytes, and the pages of the columns of the report that are listed.
    pub fn finish(mut self, report: &TableReport, listed: &[usize]) -> (TableMap, Vec<Pages>) {
        self.count(Kind::DeletionFiles, report.deletion_bytes);
        // Columns by the places that the report has them at.
        let mut found: HashMap<ColumnOwner, PageList> = HashMap::new();
        let mut order: Vec<(ColumnOwner, usize)> = self.places.drain().collect();
        order.sort_by_key(|(_, place)| *place);
        for ((owner, _), list) in order.iter().zip(self.pages.drain(..)) {
            found.insert(*owner, list);
        }
        let shown = || listed.iter().filter_map(|place| report.columns.get(*place));
        let in_report: HashMap<ColumnOwner, usize> =
            shown().enumerate().map(|(at, column)| (column.owner, at)).collect();
        let moved: Vec<Option<usize>> =
            order.iter().map(|(owner, _)| in_report.get(owner).copied()).collect();
        let place = |place: usize| moved.get(place).copied().flatten();
        self.parts.iter_mut().flatten().for_each(|part| part.set_columns(&place));
        let mut pages = |owner| found.remove(owner).map_or_else(Pages::default, PageList::finish);
        let pages = shown().map(|column| pages(&column.owner)).collect();
        let all = Kind::ALL.into_iter().zip(self.kinds);
        let kinds = all.filter(|(_, bytes)| *bytes > 0).collect();
        let fragments = fragments(&report.fragments, self.parts);
        let more = report.fragments.len().saturating_sub(fragments.len()) as u64;
        (TableMap { kinds, fragments, more }, pages)
    }

    fn count(&mut self, kind: Kind, bytes: u64) {
        if let Some(sum) = self.kinds.get_mut(kind as usize) {
            *sum = sum.saturating_add(bytes);
        }
    }
}

/// The fragments of whose files the parts are known.
fn fragments(all: &[FragmentReport], parts: Vec<Vec<Part>>) -> Vec<FragmentFiles> {
    let mut parts = parts.into_iter();
    let mut found = Vec::new();
    for fragment in all {
        let of_files: Vec<Vec<Part>> = parts.by_ref().take(fragment.files.len()).collect();
        if of_files.len() < fragment.files.len() {
            break;
        }
        let mut files = Vec::with_capacity(fragment.files.len() + 1);
        for (file, parts) in fragment.files.iter().zip(of_files) {
            files.push(data_file(file, parts));
            if file.side_bytes > 0 {
                let name = cut(&format!("blobs of {}", file.name), MOST_NAME);
                files.push(StoredFile { name, bytes: file.side_bytes, holds: Stored::Blobs });
            }
        }
        files.extend(fragment.deletion_file.iter().map(|file| StoredFile {
            name: cut(&file.name, MOST_NAME),
            bytes: file.bytes,
            holds: Stored::Deletions,
        }));
        found.push(FragmentFiles {
            id: fragment.id,
            rows: fragment.num_physical_rows.saturating_sub(fragment.num_deleted_rows),
            deleted: fragment.num_deleted_rows,
            files,
        });
    }
    found
}

fn data_file(file: &DataFileReport, parts: Vec<Part>) -> StoredFile {
    StoredFile {
        name: cut(&file.name, MOST_NAME),
        bytes: file.bytes,
        holds: Stored::Data {
            format: file.version.to_string(),
            columns: file.num_columns,
            unused: file.unused_bytes,
            parts,
        },
    }
}
