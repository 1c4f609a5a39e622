//! What a report says, as values: nothing here knows of pages and pictures.

use super::byte_map::{ByteMap, Kind, Part};
use super::rows::ShownRows;
use super::why::{Candidates, Profiles};
use super::zones::Zones;

/// What a report is about.
pub enum Subject {
    File(Box<FileFacts>),
    Table(Box<TableFacts>),
    Comparison(Box<Comparison>),
}

/// What is known of a file.
pub struct FileFacts {
    pub name: String,
    pub bytes: u64,
    /// None if the file does not open.
    pub opened: Option<Opened>,
    pub map: ByteMap,
    pub health: Health,
}

/// What is known of a file that opens.
pub struct Opened {
    pub version: String,
    pub rows: u64,
    pub writer: &'static str,
    /// The largest columns, in the order of the file.
    pub columns: Vec<ColumnFacts>,
    pub left_out: LeftOut,
    /// Rows that were looked at for estimates; none if they could not be read, or are blobs.
    pub sampled: Option<Sampled>,
    pub profiles: Option<Profiles>,
    pub shown: ShownRows,
}

/// What was learned from some of the rows.
pub struct Sampled {
    pub rows: u64,
    /// Bytes that all rows take in Arrow's memory, estimated.
    pub arrow_bytes: u64,
}

/// Columns that are too many for a page: the smallest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub columns: usize,
    pub bytes: u64,
}

impl LeftOut {
    /// All but those that are listed; `bytes` are those of all columns.
    pub fn beside(listed: &[usize], bytes: &[u64]) -> Self {
        let sum = |bytes: &mut dyn Iterator<Item = u64>| bytes.fold(0, u64::saturating_add);
        let known = sum(&mut listed.iter().filter_map(|place| bytes.get(*place).copied()));
        Self {
            columns: bytes.len().saturating_sub(listed.len()),
            bytes: sum(&mut bytes.iter().copied()).saturating_sub(known),
        }
    }
}

/// A column of a file or table.
pub struct ColumnFacts {
    pub name: String,
    pub data_type: String,
    pub rows: u64,
    pub bytes: u64,
    pub nulls: Option<Count>,
    /// Different values.
    pub distinct: Option<Count>,
    /// Bytes that the column takes in Arrow's memory, estimated.
    pub arrow_bytes: Option<u64>,
    /// Least and greatest value, where they are known; inexact ones with a `~`.
    pub range: Option<(String, String)>,
    /// Layouts and encodings in words, with their pages.
    pub forms: Vec<(String, u64)>,
    pub pages: Pages,
    pub zones: Option<Zones>,
    pub candidates: Option<Candidates>,
}

/// How many rows are something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact(u64),
    AtMost(u64),
    /// From a part of the rows.
    About(u64),
}

impl Count {
    /// The number, however sure it is.
    pub fn number(self) -> u64 {
        match self {
            Self::Exact(n) | Self::AtMost(n) | Self::About(n) => n,
        }
    }
}

/// The pages of a column.
#[derive(Default)]
pub struct Pages {
    /// How many there are.
    pub count: u64,
    /// Each, or several together where there are very many.
    pub groups: Vec<PageGroup>,
}

/// One page, or several.
pub struct PageGroup {
    pub pages: u64,
    pub rows: u64,
    pub bytes: u64,
    pub start: u64,
    pub form: String,
    /// The fragment of a table that it is in; none for files, and where several are put together.
    pub fragment: Option<u32>,
    /// What its buffers hold, where the first of these starts, their bytes: of several pages together.
    pub buffers: Vec<(String, u64, u64)>,
}

/// What `verify` found.
pub struct Health {
    pub state: State,
    /// What was looked at, or why it was not.
    pub about: String,
    pub problems: Vec<Problem>,
    /// Problems beyond those.
    pub more: u64,
}

/// Whether something is sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Sound,
    Damaged,
    /// Not all could be looked at, or nothing was.
    Unknown,
}

/// One thing that is wrong.
pub struct Problem {
    pub what: String,
    /// Where in the file, as far as it is known.
    pub at: Option<Place>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Byte(u64),
    /// Somewhere in what begins here.
    From(u64),
}

impl Place {
    /// The byte it is at, or begins at.
    pub fn byte(self) -> u64 {
        match self {
            Self::Byte(byte) | Self::From(byte) => byte,
        }
    }
}

/// What is known of a table.
pub struct TableFacts {
    pub name: String,
    pub version: u64,
    pub branch: Option<String>,
    pub written: Option<String>,
    pub writer: Option<String>,
    pub format: String,
    pub rows: u64,
    pub deleted: u64,
    pub file_bytes: u64,
    pub side_bytes: u64,
    pub deletion_bytes: u64,
    pub page_bytes: u64,
    pub zone_map_bytes: u64,
    /// The largest columns, in the order of the table.
    pub columns: Vec<ColumnFacts>,
    pub left_out: LeftOut,
    /// Columns that have too many zones for a picture.
    pub zones_left_out: usize,
    pub profiles: Option<Profiles>,
    pub fragments: Vec<FragmentFacts>,
    pub map: TableMap,
    pub versions: Vec<VersionFacts>,
    /// Versions before those.
    pub older_versions: u64,
    pub tags: Vec<(String, u64)>,
    pub branches: Vec<(String, u64)>,
    pub advice: Vec<String>,
    pub health: Health,
    pub shown: ShownRows,
}

/// A fragment, or several where there are very many.
pub struct FragmentFacts {
    /// The first and the last of them.
    pub ids: (u32, u32),
    pub fragments: u64,
    pub files: u64,
    pub rows: u64,
    pub deleted: u64,
    /// Of all its files.
    pub bytes: u64,
}

/// All bytes of a version of a table.
pub struct TableMap {
    /// What they are for.
    pub kinds: Vec<(Kind, u64)>,
    /// The first fragments, with their files.
    pub fragments: Vec<FragmentFiles>,
    /// Fragments behind those.
    pub more: u64,
}

/// The files of a fragment.
pub struct FragmentFiles {
    pub id: u32,
    pub rows: u64,
    pub deleted: u64,
    pub files: Vec<StoredFile>,
}

/// A file of a table.
pub struct StoredFile {
    pub name: String,
    pub bytes: u64,
    pub holds: Stored,
}

/// What a file of a table is.
pub enum Stored {
    Data {
        format: String,
        /// Columns that the version uses.
        columns: u64,
        /// Bytes of those it does not use.
        unused: u64,
        /// The bytes of the file in their order, by the columns of the table.
        parts: Vec<Part>,
    },
    /// Blobs of the data file before it, in files of their own.
    Blobs,
    Deletions,
}

/// A version of a table.
pub struct VersionFacts {
    pub version: u64,
    pub written: Option<String>,
    pub rows: Option<u64>,
    pub deleted: Option<u64>,
    pub bytes: u64,
    pub fragments: u64,
    /// What it changed, in words.
    pub changes: Vec<String>,
    /// What it changed about the columns.
    pub schema: SchemaChange,
}

/// What a version of a table changed about its columns: paths, with types where they matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SchemaChange {
    pub added: Vec<String>,
    pub dropped: Vec<String>,
    pub renamed: Vec<String>,
    /// Type, or whether there may be nulls.
    pub retyped: Vec<String>,
}

/// Two files side by side.
pub struct Comparison {
    pub names: [String; 2],
    pub sides: [Side; 2],
    /// The largest columns, in the order of the files.
    pub columns: Vec<ComparedColumn>,
    /// Of all others how many there are, and their bytes in both files.
    pub left_out: (usize, [u64; 2]),
}

/// One of two files.
pub struct Side {
    pub version: String,
    pub writer: &'static str,
    pub rows: u64,
    pub bytes: u64,
    pub data_bytes: u64,
    pub metadata_bytes: u64,
}

/// A column of two files; none where a file lacks it.
pub struct ComparedColumn {
    pub name: String,
    pub sides: [Option<ComparedSide>; 2],
}

/// A column of one of two files.
pub struct ComparedSide {
    pub data_type: String,
    pub bytes: u64,
    pub pages: u64,
    pub forms: String,
}

/// The places of the largest of some things, at most so many, in their order.
pub fn largest(bytes: &[u64], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..bytes.len()).collect();
    if places.len() > most {
        places.sort_by_key(|place| std::cmp::Reverse(bytes.get(*place).copied()));
        places.truncate(most);
        places.sort_unstable();
    }
    places
}

/// A text with at most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_in_order() {
        let left_out = LeftOut::beside(&[1, 3, 4], &[5, 9, 1, 9, 7]);
        assert_eq!(left_out, LeftOut { columns: 2, bytes: 6 });
        assert_eq!(largest(&[5, 9, 1, 9, 7], 3), [1, 3, 4]);
        assert_eq!(largest(&[0, 0, 0], 2), [0, 1]);
        assert_eq!(largest(&[3, 4], 2), [0, 1]);
    }
}
