//! Feature flags: what a program must know to read, or to write, a table.
//!
//! A manifest has two words of them. A bit of the reader's word that is not known here means that a
//! plain reader would give wrong rows, or none: such a table is refused before its data is touched.

use crate::error::{Problem, ensure};

/// A word of feature flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u64);

impl Flags {
    /// Some fragment has a deletion file.
    pub const DELETION_FILES: Self = Self(1);
    /// Rows keep their ids when they move.
    pub const STABLE_ROW_IDS: Self = Self(1 << 1);
    /// The table has settings.
    const CONFIG: Self = Self(1 << 3);
    /// Files may lie under base paths.
    pub const BASE_PATHS: Self = Self(1 << 4);
    /// Transactions are not written as files of their own.
    pub(crate) const NO_TRANSACTION_FILES: Self = Self(1 << 5);
    /// Indexes may hold values of further fields.
    const COVERING_FIELDS: Self = Self(1 << 7);
    /// Data files may have different versions.
    pub const MIXED_FILE_VERSIONS: Self = Self(1 << 8);
    /// Row ids and row versions may be hidden columns.
    pub const SPILLED_LINEAGE: Self = Self(1 << 11);
    /// Bytes of blobs may lie in files that the table manages.
    pub const MANAGED_BLOBS: Self = Self(1 << 14);
    /// The ids of dropped fields are not used again.
    const FIELD_IDS_NEVER_REUSED: Self = Self(1 << 15);

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`, if it is so.
    #[must_use]
    fn with(self, other: Self, is_so: bool) -> Self {
        if is_so { Self(self.0 | other.0) } else { self }
    }
}

/// What the words of a new version follow from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Contents {
    pub(crate) deletion_files: bool,
    pub(crate) stable_row_ids: bool,
    pub(crate) config: bool,
    pub(crate) base_paths: bool,
    pub(crate) no_transaction_files: bool,
    pub(crate) covering_fields: bool,
    pub(crate) mixed_file_versions: bool,
    pub(crate) spilled_lineage: bool,
    pub(crate) max_field_id: bool,
}

impl Contents {
    /// The words of readers and writers.
    pub(crate) fn flags(self) -> (Flags, Flags) {
        let both = Flags::default()
            .with(Flags::DELETION_FILES, self.deletion_files)
            .with(Flags::STABLE_ROW_IDS, self.stable_row_ids)
            .with(Flags::BASE_PATHS, self.base_paths)
            .with(Flags::COVERING_FIELDS, self.covering_fields)
            .with(Flags::MIXED_FILE_VERSIONS, self.mixed_file_versions)
            .with(Flags::SPILLED_LINEAGE, self.spilled_lineage);
        let writer = both
            .with(Flags::CONFIG, self.config)
            .with(Flags::NO_TRANSACTION_FILES, self.no_transaction_files)
            .with(Flags::FIELD_IDS_NEVER_REUSED, self.max_field_id);
        (both, writer)
    }
}

/// Bits of the writer's word that a version of lancet keeps right.
const WRITABLE: u64 = 1 | 2 | 4 | 8 | 16 | 32 | 128 | 256 | 2048 | (1 << 15);

/// Refuses to change tables that need more of a writer.
pub(crate) fn check_writable(reader: Flags, writer: Flags) -> Result<(), Problem> {
    let refused = writer.0 & !WRITABLE;
    if refused == 0 {
        // Readers go by their own word: rows would have ids for writers and none for readers. The other way round the word
        // of writers is set right by the next version.
        let is_stable = |word: Flags| word.contains(Flags::STABLE_ROW_IDS);
        ensure!(
            is_stable(reader) || !is_stable(writer),
            "the flag 2 (stable row ids) is set for writers, but not for readers"
        );
        return Ok(());
    }
    let lowest = 1_u64.checked_shl(refused.trailing_zeros()).unwrap_or_default();
    let name = REFUSED.iter().find(|(bit, _)| *bit == lowest).map_or("something new", |(_, n)| n);
    Err(Problem::Unsupported(format!(
        "the table needs another writer: it uses {name} (writer flag {lowest})"
    )))
}

/// Bits of the reader's word with which a scan is right. The marks of old formats, of the table
/// configuration, of missing transaction files and of indexes change nothing for it.
const READABLE: u64 = 1 | 2 | 4 | 8 | 16 | 32 | 128 | 256 | 1024 | 2048 | 16384;

/// Bits that both words must have, or none.
const PAIRED: u64 = 256 | 1024 | 16384 | 65536;

/// What the refused bits stand for, as far as it is published.
const REFUSED: [(u64, &str); 6] = [
    (64, "overlay files"),
    (512, "a fragment reuse index with stable row ids"),
    (4096, "a fragment tree"),
    (8192, "independent covering fields"),
    (65536, "zone statistics seeds"),
    (131_072, "object metadata"),
];

/// Refuses tables that this reader would misread, and words that contradict each other.
pub(crate) fn check(reader: Flags, writer: Flags, has_max_field_id: bool) -> Result<(), Problem> {
    let refused = reader.0 & !READABLE;
    if refused != 0 {
        let lowest = 1_u64.checked_shl(refused.trailing_zeros()).unwrap_or_default();
        let name = REFUSED.iter().find(|(bit, _)| *bit == lowest);
        let what = name.map_or_else(
            || format!("the table needs a newer reader: it sets the unknown reader flag {lowest}"),
            |(bit, name)| format!("the table uses {name} (reader flag {bit})"),
        );
        return Err(Problem::Unsupported(what));
    }
    let unpaired = (reader.0 ^ writer.0) & PAIRED;
    ensure!(
        unpaired == 0,
        "the flags {unpaired} must be set for readers and writers alike, but the words are {} and {}",
        reader.0,
        writer.0
    );
    ensure!(
        writer.contains(Flags::FIELD_IDS_NEVER_REUSED) == has_max_field_id,
        "the writer flag {} and `max_allocated_field_id` go together, but only one of them is there",
        Flags::FIELD_IDS_NEVER_REUSED.0
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(reader: u64, writer: u64) -> Result<(), Problem> {
        check(Flags(reader), Flags(writer), false)
    }

    #[test]
    fn bit_by_bit() {
        let readable = [0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 14];
        for bit in 0..64 {
            let word = 1 << bit;
            let accepted = checked(word, word).is_ok();
            assert_eq!(accepted, readable.contains(&bit) && bit != 15, "reader bit {bit}");
            // What only writers must know does not concern a reader.
            let accepted = checked(0, word).is_ok();
            assert_eq!(accepted, ![8, 10, 14, 15, 16].contains(&bit), "writer bit {bit}");
        }
    }

    #[test]
    fn refusals_say_what_it_is() {
        let text = |reader| match checked(reader, 0) {
            Err(Problem::Unsupported(what)) => what,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(64 | 2), "the table uses overlay files (reader flag 64)");
        assert!(text(1 << 18).contains("needs a newer reader"), "{}", text(1 << 18));
        assert!(text(1 << 63).ends_with("9223372036854775808"));
    }

    #[test]
    fn stable_row_ids_are_what_readers_say() {
        let stable = Flags::STABLE_ROW_IDS;
        assert!(check_writable(stable, Flags(0)).is_ok());
        assert!(matches!(check_writable(Flags(0), stable), Err(Problem::Corrupt(_))));
    }

    #[test]
    fn what_lancet_keeps_right_can_be_written() {
        let writable = [0, 1, 2, 3, 4, 5, 7, 8, 11, 15];
        for bit in 0..64 {
            let word = Flags(1 << bit);
            assert_eq!(check_writable(word, word).is_ok(), writable.contains(&bit), "{bit}");
        }
        let all = Contents {
            deletion_files: true,
            stable_row_ids: true,
            config: true,
            base_paths: true,
            no_transaction_files: true,
            covering_fields: true,
            mixed_file_versions: true,
            spilled_lineage: true,
            max_field_id: true,
        };
        let (reader, writer) = all.flags();
        assert_eq!(reader.0, 1 | 2 | 16 | 128 | 256 | 2048);
        assert_eq!(writer.0, reader.0 | 8 | 32 | 32768);
        assert_eq!(Contents::default().flags(), (Flags(0), Flags(0)));
    }

    #[test]
    fn the_highest_field_id_goes_with_its_flag() {
        assert!(check(Flags(0), Flags(1 << 15), true).is_ok());
        assert!(check(Flags(0), Flags(1 << 15), false).is_err());
        assert!(check(Flags(0), Flags(0), true).is_err());
    }
}
