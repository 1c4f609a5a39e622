//! Data files: which columns of which file hold the fields of a fragment.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;

use crate::error::{Problem, ensure};
use crate::unknown::UnknownFields;
use crate::wire::{Numbers, Part, Parts};

/// The folder of the data files, below that of the table.
pub const DATA_DIR: &str = "data";

/// Field id of the hidden column of row ids.
pub const ROW_ID_FIELD: i32 = -3;
/// Field id of the hidden column of the versions in which rows were made.
pub const CREATED_FIELD: i32 = -4;
/// Field id of the hidden column of the versions in which rows were last changed.
pub const LAST_UPDATED_FIELD: i32 = -5;

/// The version of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileVersion {
    /// The first format. Tables of it are listed; their data cannot be read.
    Legacy,
    /// 2.0
    V2_0,
    /// 2.1
    V2_1,
    /// 2.2
    V2_2,
    /// 2.3, which is not stable yet. Tables of it are listed; their data cannot be read.
    V2_3,
}

impl FileVersion {
    /// From the numbers that a manifest has for each data file.
    fn from_numbers(major: u32, minor: u32) -> Result<Self, Problem> {
        match (major, minor) {
            (0, 0..=2) => Ok(Self::Legacy),
            (0, 3) | (2, 0) => Ok(Self::V2_0),
            (2, 1) => Ok(Self::V2_1),
            (2, 2) => Ok(Self::V2_2),
            (2, 3) => Ok(Self::V2_3),
            _ => Err(Problem::unsupported(format!(
                "its version is {major}.{minor}; lancet knows 2.0 to 2.3"
            ))),
        }
    }

    /// From the name that a manifest has for all of them.
    pub(crate) fn from_name(name: &str) -> Result<Self, Problem> {
        match name {
            "0.1" => Ok(Self::Legacy),
            "2.0" => Ok(Self::V2_0),
            "2.1" => Ok(Self::V2_1),
            "2.2" => Ok(Self::V2_2),
            "2.3" => Ok(Self::V2_3),
            _ => Err(Problem::unsupported(format!(
                "the data format is `{}`; lancet knows 2.0 to 2.3",
                name.escape_debug()
            ))),
        }
    }
}

impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "0.1",
            Self::V2_0 => "2.0",
            Self::V2_1 => "2.1",
            Self::V2_2 => "2.2",
            Self::V2_3 => "2.3",
        })
    }
}

/// A file with some columns of a fragment, and all of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataFile {
    /// Its name in the folder `data/` of its base. Never a path that leads elsewhere. Those of a table that
    /// was opened may share the bytes of its manifest, which then stay in memory with them.
    pub path: ByteString,
    /// Field ids. Negative ones are hidden columns and columns that count no more. Files that have the same share the list.
    pub fields: Arc<[i32]>,
    /// The column of each of `fields`, -1 for none; there may be more of them.
    pub columns: Arc<[i32]>,
    /// Its version.
    pub version: FileVersion,
    /// The numbers that the manifest has for it: some versions have several.
    pub(crate) version_numbers: (u32, u32),
    /// Its size, if the manifest tells it.
    pub size_bytes: Option<u64>,
    /// The base path it lies under; `None` for the table's own folder.
    pub base: Option<u32>,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

/// What the files of a table have in common.
pub(crate) struct Rules<'a> {
    /// Fields that must have a column, if that is known.
    pub(crate) leaves: Option<&'a HashSet<i32>>,
    /// Bases that there are, if that is known.
    pub(crate) bases: Option<&'a HashSet<u32>>,
    /// The version that all files have, if they must have one.
    pub(crate) version: Option<FileVersion>,
}

impl Rules<'_> {
    pub(crate) fn check_base(&self, base: Option<u32>) -> Result<(), Problem> {
        let listed = match (base, self.bases) {
            (Some(base), Some(bases)) => bases.contains(&base),
            _ => true,
        };
        ensure!(listed, "its base {} is not among the base paths", base.unwrap_or_default());
        Ok(())
    }
}

impl DataFile {
    /// The column that holds a field; `None` if the file does not have it.
    pub fn column_of(&self, field: i32) -> Option<u32> {
        let at = self.fields.iter().position(|id| *id == field)?;
        self.columns.get(at).and_then(|column| u32::try_from(*column).ok())
    }

    /// The data file that a message stands for.
    pub(crate) fn decode<'a>(
        message: &'a [u8],
        rules: &Rules<'_>,
        last: &mut LastColumns<'a>,
    ) -> Result<Self, Problem> {
        let mut parts = Parts::new(message);
        let mut path = match parts.next_if(|field| field == 1)? {
            Some(part) => last.text(&part)?,
            None => ByteString::new(),
        };
        let common = last.read(&mut parts)?;
        let mut numbers = common.version_numbers;
        let mut fields = Numbers::from(common.fields.clone());
        let mut columns = Numbers::from(common.columns.clone());
        let (mut size_bytes, mut base, mut unknown) = (0, None, UnknownFields::default());
        while let Some(part) = parts.next()? {
            match part.field {
                1 => path = last.text(&part)?,
                2 => fields.add(&part)?,
                3 => columns.add(&part)?,
                4 => numbers.0 = part.number32()?,
                5 => numbers.1 = part.number32()?,
                6 => size_bytes = part.number()?,
                7 => base = Some(part.number32()?),
                _ => unknown.keep(&part),
            }
        }
        let (fields, columns) = (fields.finish(), columns.finish());
        let checked = check(&path, (&fields, &columns), numbers, rules, last);
        let checked = checked.and_then(|version| rules.check_base(base).map(|()| version));
        let version = checked
            .map_err(|problem| problem.within(&format!("data file `{}`", path.escape_debug())))?;
        Ok(Self {
            path,
            fields,
            columns,
            version,
            version_numbers: numbers,
            size_bytes: (size_bytes > 0).then_some(size_bytes),
            base,
            unknown,
        })
    }
}

/// What most data files of a table have in common, and right behind their names: fields, columns and version.
#[derive(Debug, Default)]
struct Common<'a> {
    /// The parts of the message that say it.
    bytes: &'a [u8],
    fields: Arc<[i32]>,
    columns: Arc<[i32]>,
    version_numbers: (u32, u32),
}

/// What the data file that was read last has in common with others, and the columns that were checked last, by the same rules.
#[derive(Debug, Default)]
pub(crate) struct LastColumns<'a> {
    common: Common<'a>,
    checked: Option<[Arc<[i32]>; 2]>,
    /// The bytes that messages are read out of, if names may share them.
    source: Option<&'a Bytes>,
}

impl<'a> LastColumns<'a> {
    /// None yet, of messages that may lie in some bytes. What is read out of these keeps them in memory.
    pub(crate) fn sharing(source: Option<&'a Bytes>) -> Self {
        Self { source, ..Self::default() }
    }

    /// A name: where thousands of them are read, their copies would take as long as all else.
    #[inline(always)]
    fn text(&self, part: &Part<'a>) -> Result<ByteString, Problem> {
        let bytes = part.bytes()?;
        let shared = self.source.filter(|source| {
            let (outer, inner) = (source.as_ptr_range(), bytes.as_ptr_range());
            outer.start <= inner.start && inner.end <= outer.end
        });
        let bytes = match shared {
            Some(source) => source.slice_ref(bytes),
            None => Bytes::copy_from_slice(bytes),
        };
        ByteString::try_from(bytes).map_err(|_| part.wrong("UTF-8"))
    }

    /// What the next parts say. If they are those of the last file, they are not read again.
    fn read(&mut self, parts: &mut Parts<'a>) -> Result<&Common<'a>, Problem> {
        if self.common.bytes.is_empty() || !parts.skip(self.common.bytes) {
            self.common = Common::read(parts)?;
        }
        Ok(&self.common)
    }
}

impl<'a> Common<'a> {
    fn read(parts: &mut Parts<'a>) -> Result<Self, Problem> {
        let before = parts.rest();
        let (mut fields, mut columns) = (Numbers::default(), Numbers::default());
        let mut version_numbers = (0, 0);
        while let Some(part) = parts.next_if(|field| (2..=5).contains(&field))? {
            match part.field {
                2 => fields.add(&part)?,
                3 => columns.add(&part)?,
                4 => version_numbers.0 = part.number32()?,
                _ => version_numbers.1 = part.number32()?,
            }
        }
        let len = before.len().saturating_sub(parts.rest().len());
        let bytes = before.get(..len).unwrap_or_default();
        Ok(Self { bytes, fields: fields.finish(), columns: columns.finish(), version_numbers })
    }
}

fn check(
    path: &str,
    (fields, columns): (&Arc<[i32]>, &Arc<[i32]>),
    (major, minor): (u32, u32),
    rules: &Rules<'_>,
    last: &mut LastColumns<'_>,
) -> Result<FileVersion, Problem> {
    ensure!(is_name(path), "its path must be the plain name of a file");
    let found = FileVersion::from_numbers(major, minor)?;
    if let Some(version) = rules.version {
        ensure!(
            found == version,
            "its version is {found}, but the table says {version} of all data files"
        );
    }
    // Files of the first format say themselves where their columns are.
    let are_known = last.checked.as_ref().is_some_and(|[known_fields, known_columns]| {
        Arc::ptr_eq(known_fields, fields) && Arc::ptr_eq(known_columns, columns)
    });
    if found != FileVersion::Legacy && !are_known {
        check_columns(fields, columns, rules.leaves)?;
        last.checked = Some([fields.clone(), columns.clone()]);
    }
    Ok(found)
}

fn check_columns(
    fields: &[i32],
    columns: &[i32],
    leaves: Option<&HashSet<i32>>,
) -> Result<(), Problem> {
    ensure!(
        columns.len() >= fields.len(),
        "it has {} fields, but {} column indices",
        fields.len(),
        columns.len()
    );
    for (field, column) in fields.iter().zip(columns) {
        ensure!(*column >= -1, "the column index of field {field} is {column}");
        let missing = *column < 0 && leaves.is_some_and(|leaves| leaves.contains(field));
        ensure!(!missing, "field {field} holds values, but its column index is -1");
    }
    Ok(())
}

/// Bytes of which writers make names: one look at each tells that a path of them stays where it is.
const PLAIN: [bool; 256] = {
    let (mut plain, mut byte) = ([false; 256], 0_u8);
    while byte < u8::MAX {
        #[expect(clippy::indexing_slicing, reason = "there is a place for every byte")]
        {
            plain[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        }
        byte = byte.saturating_add(1);
    }
    plain
};

/// Whether a path stays in its folder, on every system.
fn is_name(path: &str) -> bool {
    let all_plain =
        |stem: &str| stem.bytes().all(|byte| PLAIN.get(usize::from(byte)) == Some(&true));
    if path.strip_suffix(".lance").is_some_and(all_plain) {
        return true;
    }
    let leads_away = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !path.is_empty() && path != "." && path != ".." && !path.contains(leads_away)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &[u8] = &[0x0a, 1, b'a'];
    /// Fields and columns, then the version: what most files have in common.
    const COMMON: &[u8] = &[0x12, 2, 1, 2, 0x1a, 2, 0, 1, 0x20, 2, 0x28, 2];
    const SIZE: &[u8] = &[0x30, 9];

    fn decoded<'a>(message: &'a [u8], last: &mut LastColumns<'a>) -> Result<DataFile, String> {
        let rules = Rules { leaves: None, bases: None, version: None };
        DataFile::decode(message, &rules, last).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn files_are_the_same_whichever_was_read_before() {
        let messages = [
            [NAME, COMMON, SIZE].concat(),
            [&[0x0a, 1, b'b'], COMMON].concat(),
            // Less and more than what they have in common, of which the last numbers count and lists are appended.
            [NAME, &COMMON[..8]].concat(),
            [NAME, &COMMON[..10], SIZE].concat(),
            [NAME, COMMON, &[0x28, 1]].concat(),
            [NAME, COMMON, &[0x12, 1, 7, 0x1a, 1, 5]].concat(),
            [NAME, COMMON, &[0x10, 7, 0x18, 5]].concat(),
            [NAME, COMMON, SIZE, &[0x10, 7, 0x18, 5, 0x28, 1]].concat(),
            [NAME, COMMON, &[0x10, 7]].concat(),
            // Names elsewhere, or twice, or none.
            [COMMON, NAME, SIZE].concat(),
            [NAME, COMMON, &[0x0a, 1, b'c']].concat(),
            [COMMON, SIZE].concat(),
            [NAME, SIZE, COMMON].concat(),
            // Other lists, other versions, and damage.
            [NAME, &[0x12, 2, 1, 3], &COMMON[4..]].concat(),
            [NAME, &COMMON[..8], &[0x20, 2, 0x28, 1]].concat(),
            [NAME, &COMMON[..8], &[0x20, 9]].concat(),
            [NAME, COMMON, &[0x12, 9]].concat(),
            [NAME, &COMMON[..3]].concat(),
            NAME.to_vec(),
        ];
        let alone = |message| decoded(message, &mut LastColumns::default());
        let kinds: Vec<bool> = messages.iter().map(|message| alone(message).is_ok()).collect();
        assert!(kinds.iter().filter(|is_sound| **is_sound).count() == 14, "{kinds:?}");
        for before in &messages {
            for message in &messages {
                let mut last = LastColumns::default();
                let _ = decoded(before, &mut last);
                assert_eq!(decoded(message, &mut last), alone(message), "{before:x?} {message:x?}");
            }
        }
        let (mut last, first) = (LastColumns::default(), &messages[0]);
        let one = decoded(first, &mut last).unwrap();
        let next = decoded(&messages[1], &mut last).unwrap();
        assert!(Arc::ptr_eq(&one.fields, &next.fields) && Arc::ptr_eq(&one.columns, &next.columns));
    }

    #[test]
    fn names_share_the_bytes_they_are_read_out_of() {
        let message = [NAME, COMMON, SIZE].concat();
        let source = Bytes::from([&[7; 9][..], &message].concat());
        let mut last = LastColumns::sharing(Some(&source));
        let within = |file: &DataFile| source.as_ptr_range().contains(&file.path.as_ptr());
        let shared = decoded(&source[9..], &mut last).unwrap();
        assert!(within(&shared));
        // Bytes that lie elsewhere are copied.
        let copied = decoded(&message, &mut last).unwrap();
        assert!(!within(&copied) && copied.path.as_ptr() != message[2..].as_ptr());
        assert_eq!((&*copied.path, shared), ("a", copied.clone()));
        let wrong = [0x0a, 1, 0xff];
        assert!(decoded(&wrong, &mut LastColumns::default()).unwrap_err().contains("UTF-8"));
    }
}
