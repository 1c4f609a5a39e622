//! All bytes of a file: which part of it each of them belongs to.
//!
//! Every byte is counted once, also where a forged file has parts that overlap: the first part keeps what it shares. What no
//! part claims is a gap.

use lancet::{FileReport, PageReport};

/// Gaps of fewer bytes are there because buffers start at multiples of 64.
const MOST_PADDING: u64 = 64;

/// What bytes are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Values,
    Levels,
    Indexes,
    Dictionaries,
    ZoneMaps,
    Checksums,
    Schema,
    Metadata,
    UserBuffers,
    /// Between the parts, too long for padding, and no blobs.
    Outside,
    Padding,
    /// A file that cannot be opened.
    Unread,
    /// Outside of the pages, or in files of their own.
    Blobs,
    /// Files of a table beside its data files.
    DeletionFiles,
}

impl Kind {
    pub const ALL: [Self; 14] = [
        Self::Values,
        Self::Levels,
        Self::Indexes,
        Self::Dictionaries,
        Self::ZoneMaps,
        Self::Checksums,
        Self::Schema,
        Self::Metadata,
        Self::UserBuffers,
        Self::Outside,
        Self::Padding,
        Self::Unread,
        Self::Blobs,
        Self::DeletionFiles,
    ];

    /// What a buffer of a page is for, by what it holds.
    pub fn of_buffer(holds: &str) -> Self {
        match holds {
            "repetition levels" | "definition levels" | "validity" => Self::Levels,
            "chunk words" | "repetition index" | "ends of lists" | "ends of strings" => {
                Self::Indexes
            }
            "dictionary" => Self::Dictionaries,
            _ => Self::Values,
        }
    }

    fn of_part(holds: &str) -> Self {
        match holds {
            "schema" => Self::Schema,
            "checksums" => Self::Checksums,
            _ if holds.starts_with("global buffer") => Self::UserBuffers,
            _ => Self::Metadata,
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Levels => "nulls and lists",
            Self::Indexes => "indexes of pages",
            Self::Dictionaries => "dictionaries",
            Self::ZoneMaps => "zone maps",
            Self::Checksums => "checksums",
            Self::Schema => "schema",
            Self::Metadata => "metadata",
            Self::UserBuffers => "buffers of the writer",
            Self::Outside => "outside of pages",
            Self::Padding => "padding",
            Self::Unread => "not readable",
            Self::Blobs => "blobs",
            Self::DeletionFiles => "deletion files",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Values => "the rows themselves, encoded",
            Self::Levels => "which values are null, and where lists begin",
            Self::Indexes => "where rows, lists and strings lie in a page: what makes a take fast",
            Self::Dictionaries => "values that occur often, stored once",
            Self::ZoneMaps => {
                "the least and the greatest value of every zone: what lets filters skip rows"
            }
            Self::Checksums => "what tells damaged bytes from sound ones",
            Self::Schema => "names and types of the columns",
            Self::Metadata => "where pages are and how they are encoded, and the footer",
            Self::UserBuffers => "bytes that the writer of the file has added",
            Self::Outside => "bytes that nothing refers to",
            Self::Padding => "so that buffers start at multiples of 64 bytes",
            Self::Unread => "the file does not open, so nobody knows what they are",
            Self::Blobs => "long values, which lie outside of the pages or in files of their own",
            Self::DeletionFiles => "which rows of the data files are deleted",
        }
    }
}

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub start: u64,
    pub bytes: u64,
    pub kind: Kind,
    /// The column it belongs to, by its place in the report.
    pub column: Option<usize>,
    /// Parts that stand together: how many there are; 1 for one part.
    pub parts: u64,
    /// Those parts, or groups of them; none where there are too many to be listed.
    pub inside: Vec<Part>,
}

impl Part {
    /// One part.
    pub fn one((start, bytes): (u64, u64), kind: Kind, column: Option<usize>) -> Self {
        Self { start, bytes, kind, column, parts: 1, inside: Vec::new() }
    }

    /// Changes the columns of it and of all that stand together in it.
    pub fn set_columns(&mut self, column: &impl Fn(usize) -> Option<usize>) {
        self.column = self.column.and_then(column);
        self.inside.iter_mut().for_each(|part| part.set_columns(column));
    }
}

/// All parts of a file, from its first byte to its last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByteMap {
    pub parts: Vec<Part>,
}

impl ByteMap {
    /// The parts of a file that is open.
    pub fn new(report: &FileReport) -> Self {
        let mut claimed = Vec::new();
        for (place, column) in report.columns.iter().enumerate() {
            column.pages.iter().for_each(|page| claim_page(page, place, &mut claimed));
            let map = column.zone_map.iter();
            claimed.extend(
                map.map(|map| Part::one((map.position, map.bytes), Kind::ZoneMaps, Some(place))),
            );
        }
        claimed.extend(
            report.parts.iter().map(|part| {
                Part::one((part.position, part.bytes), Kind::of_part(&part.holds), None)
            }),
        );
        let mut parts = without_gaps(claimed, report.file_bytes);
        // Where each of them lies is in the values of their columns, which nobody has read for this.
        if report.columns.iter().flat_map(|column| &column.pages).any(|page| page.layout == "blob")
        {
            let outside = parts.iter_mut().filter(|part| part.kind == Kind::Outside);
            outside.for_each(|part| part.kind = Kind::Blobs);
        }
        Self { parts }
    }

    /// A file that does not open.
    pub fn unread(file_bytes: u64) -> Self {
        let part = Part::one((0, file_bytes), Kind::Unread, None);
        Self { parts: Some(part).filter(|part| part.bytes > 0).into_iter().collect() }
    }

    /// Bytes of each kind that there is.
    pub fn by_kind(&self) -> Vec<(Kind, u64)> {
        let bytes = |kind: Kind| {
            self.parts.iter().filter(|part| part.kind == kind).map(|part| part.bytes).sum::<u64>()
        };
        Kind::ALL
            .into_iter()
            .map(|kind| (kind, bytes(kind)))
            .filter(|(_, bytes)| *bytes > 0)
            .collect()
    }

    /// The same, with columns by their places among those that are listed; the others are none.
    pub fn with_columns(mut self, listed: &[usize]) -> Self {
        let place = |column: usize| listed.binary_search(&column).ok();
        self.parts.iter_mut().for_each(|part| part.set_columns(&place));
        self
    }

    /// At most about so many parts. Neighbours of the same column are one; where that does not do, small ones stand together,
    /// and inside of these `most_inside` in all.
    pub fn coarse(&self, most: usize, most_inside: usize) -> Vec<Part> {
        let same = |a: &Part, b: &Part| match a.column {
            Some(column) => Some(column) == b.column,
            None => b.column.is_none() && (a.kind == b.kind || b.kind == Kind::Padding),
        };
        let merged = merge(&self.parts, same);
        if merged.len() <= most {
            return merged;
        }
        // What fills up a buffer belongs to it.
        let merged = merge(&merged, |a, b| b.kind == Kind::Padding || same(a, b));
        if merged.len() <= most {
            return merged;
        }
        let listed = match merged.len() <= most_inside {
            true => merged,
            false => together(merged, most_inside, false),
        };
        together(listed, most, true)
    }
}

/// Small neighbours as one; `listed` says whether it tells which.
fn together(parts: Vec<Part>, most: usize, listed: bool) -> Vec<Part> {
    let all = parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add);
    let least = all / most.max(1) as u64;
    let mut groups: Vec<Vec<Part>> = Vec::new();
    let mut bytes = u64::MAX;
    for part in parts {
        // With what is before it, if both are small.
        match groups.last_mut().filter(|_| bytes < least && part.bytes < least) {
            Some(group) => {
                bytes = bytes.saturating_add(part.bytes);
                group.push(part);
            }
            None => {
                bytes = part.bytes;
                groups.push(vec![part]);
            }
        }
    }
    groups.into_iter().filter_map(|group| as_one(group, listed)).collect()
}

fn as_one(mut group: Vec<Part>, listed: bool) -> Option<Part> {
    if group.len() == 1 {
        return group.pop();
    }
    let sum = |of: fn(&Part) -> u64| group.iter().map(of).fold(0, u64::saturating_add);
    let (bytes, parts) = (sum(|part| part.bytes), sum(|part| part.parts));
    let kind = group.iter().max_by_key(|part| part.bytes)?.kind;
    let start = group.first()?.start;
    let inside = if listed { group } else { Vec::new() };
    Some(Part { start, bytes, kind, column: None, parts, inside })
}

fn claim_page(page: &PageReport, column: usize, claimed: &mut Vec<Part>) {
    claimed.extend(page.buffers.iter().map(|buffer| {
        Part::one((buffer.position, buffer.bytes), Kind::of_buffer(&buffer.holds), Some(column))
    }));
}

/// The parts in order, none over another, with the gaps between them.
fn without_gaps(mut claimed: Vec<Part>, file_bytes: u64) -> Vec<Part> {
    claimed.sort_by_key(|part| part.start);
    let mut parts = Vec::with_capacity(claimed.len());
    let mut at = 0_u64;
    let end = Part::one((file_bytes, 0), Kind::Padding, None);
    for part in claimed.into_iter().chain([end]) {
        let part_end = part.start.saturating_add(part.bytes).min(file_bytes);
        let start = part.start.clamp(at, file_bytes.max(at));
        if start > at {
            let kind = if start - at < MOST_PADDING { Kind::Padding } else { Kind::Outside };
            parts.push(Part::one((at, start - at), kind, None));
        }
        if part_end > start {
            parts.push(Part { start, bytes: part_end - start, ..part });
        }
        at = at.max(start).max(part_end);
    }
    parts
}

/// Puts neighbours together; the largest says what the whole is.
fn merge(parts: &[Part], is_one: impl Fn(&Part, &Part) -> bool) -> Vec<Part> {
    let mut merged: Vec<(Part, u64)> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some((last, largest)) if is_one(last, part) => {
                last.bytes += part.bytes;
                if part.bytes > *largest && part.kind != Kind::Padding {
                    *largest = part.bytes;
                    (last.kind, last.column) = (part.kind, part.column.or(last.column));
                }
            }
            _ => merged.push((part.clone(), part.bytes)),
        }
    }
    merged.into_iter().map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: u64, bytes: u64, kind: Kind) -> Part {
        Part::one((start, bytes), kind, None)
    }

    /// The parts follow one another from 0 to the end.
    fn check(parts: &[Part], file_bytes: u64) {
        let mut at = 0;
        for part in parts {
            assert_eq!((part.start, part.bytes > 0), (at, true), "{parts:?}");
            at += part.bytes;
        }
        assert_eq!(at, file_bytes, "{parts:?}");
    }

    #[test]
    fn every_byte_is_counted_once() {
        let claims = [
            vec![],
            vec![part(0, 100, Kind::Values)],
            vec![part(10, 20, Kind::Values), part(40, 10, Kind::Schema)],
            // They overlap, one is in another, one leaves the file.
            vec![part(5, 50, Kind::Values), part(20, 50, Kind::Indexes), part(8, 2, Kind::Schema)],
            vec![
                part(90, 50, Kind::Values),
                part(u64::MAX, 9, Kind::Schema),
                part(3, 0, Kind::Values),
            ],
            vec![part(50, u64::MAX, Kind::Values), part(0, u64::MAX, Kind::Schema)],
        ];
        for claimed in claims {
            check(&without_gaps(claimed, 100), 100);
        }
        assert!(without_gaps(vec![], 0).is_empty());
        check(&ByteMap::unread(7).parts, 7);
    }

    #[test]
    fn gaps_are_padding_or_more() {
        let parts = without_gaps(vec![part(63, 1, Kind::Values), part(128, 2, Kind::Values)], 130);
        let kinds: Vec<Kind> = parts.iter().map(|part| part.kind).collect();
        assert_eq!(kinds, [Kind::Padding, Kind::Values, Kind::Outside, Kind::Values]);
    }

    /// What stands together is as much as what is inside, as deep as it goes.
    fn check_inside(parts: &[Part]) -> usize {
        let inside = |part: &Part| {
            if part.inside.is_empty() {
                return 1;
            }
            let sum = |of: fn(&Part) -> u64| part.inside.iter().map(of).sum::<u64>();
            assert_eq!((part.bytes, part.parts), (sum(|part| part.bytes), sum(|part| part.parts)));
            assert_eq!((part.start, part.column), (part.inside[0].start, None));
            check_inside(&part.inside)
        };
        parts.iter().map(inside).sum()
    }

    #[test]
    fn coarse_maps_have_all_bytes_too() {
        let column = |i: u64| Part::one((i * 10, 10), Kind::Values, Some(i as usize % 7));
        let map = ByteMap { parts: (0..1_000).map(column).collect() };
        let coarse = map.coarse(50, 2_000);
        assert!(coarse.len() <= 120, "{}", coarse.len());
        check(&coarse, 10_000);
        assert_eq!(map.by_kind(), [(Kind::Values, 10_000)]);
        // Every part is there, at most one step away.
        assert_eq!(check_inside(&coarse), 1_000);
        assert_eq!(coarse.iter().map(|part| part.parts).sum::<u64>(), 1_000);

        // Where even those are too many, they say how many they are.
        let coarse = map.coarse(10, 100);
        check(&coarse, 10_000);
        assert!(coarse.len() <= 21 && check_inside(&coarse) <= 201, "{}", coarse.len());
        assert_eq!(coarse.iter().map(|part| part.parts).sum::<u64>(), 1_000);
        assert!(coarse.iter().flat_map(|part| &part.inside).any(|part| part.parts > 1));
    }

    #[test]
    fn padding_does_not_cut_a_column() {
        let page = |i: u64| {
            let column = usize::from(i >= 500);
            [Part::one((i * 10, 9), Kind::Values, Some(column)), part(i * 10 + 9, 1, Kind::Padding)]
        };
        let map = ByteMap { parts: (0..1_000).flat_map(page).collect() };
        let coarse = map.coarse(50, 2_000);
        check(&coarse, 10_000);
        let columns: Vec<Option<usize>> = coarse.iter().map(|part| part.column).collect();
        assert_eq!(columns, [Some(0), Some(1)]);
        assert_eq!(map.with_columns(&[1]).coarse(50, 2_000).len(), 2, "the first is not listed");
    }
}
