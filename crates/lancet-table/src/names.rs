//! Names of version files.
//!
//! | naming | name | version 2 |
//! |---|---|---|
//! | V1 | the version in decimal, `.manifest` | `2.manifest` |
//! | V2 | 2^64-1 less the version, 20 digits, `.manifest`: the newest sorts first | `18446744073709551613.manifest` |
//! | detached | `d`, the version, `.manifest`; its highest bit is set | – |
//!
//! Every other name is no version: temporary files and the hint of the latest version lie there too.

use crate::error::{Problem, Result};

/// The folder of the version files, below that of the table.
pub const VERSIONS_DIR: &str = "_versions";

/// A file that notes the latest version. Not to be trusted: it may be missing, too low or too high.
pub(crate) const HINT_FILE: &str = "latest_version_hint.json";

const ENDING: &str = ".manifest";
/// The bit that marks the number of a detached version.
const DETACHED_BIT: u64 = 1 << 63;

/// How the name of a version file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The version.
    V1,
    /// What is left to 2^64-1.
    V2,
    /// A version outside the history of the table: never the latest, opened by number only.
    Detached,
}

/// The name of a version file, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionName {
    /// The version.
    pub version: u64,
    /// How its name is made.
    pub naming: Naming,
}

impl VersionName {
    /// The version that a file name stands for, if it is one of a version.
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(ENDING)?;
        let (digits, naming) = match stem.strip_prefix('d') {
            Some(digits) => (digits, Naming::Detached),
            None if stem.len() == 20 => (stem, Naming::V2),
            None => (stem, Naming::V1),
        };
        let number: u64 = digits.parse().ok()?;
        let version = if naming == Naming::V2 { u64::MAX.checked_sub(number)? } else { number };
        let parsed = Self { version, naming };
        // `+2`, `002` and detached numbers without their bit are names that no writer makes.
        let sound = (naming == Naming::Detached) == (version & DETACHED_BIT != 0);
        (sound && parsed.file_name() == name).then_some(parsed)
    }

    /// The name of the file, in [`VERSIONS_DIR`].
    pub fn file_name(&self) -> String {
        match self.naming {
            Naming::V1 => format!("{}{ENDING}", self.version),
            Naming::V2 => format!("{:020}{ENDING}", u64::MAX.saturating_sub(self.version)),
            Naming::Detached => format!("d{}{ENDING}", self.version),
        }
    }
}

/// The versions of a table, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    naming: Option<Naming>,
    numbers: Vec<u64>,
    detached: Vec<u64>,
}

impl Versions {
    /// The versions among the names of the files in [`VERSIONS_DIR`], in any order.
    pub fn from_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self> {
        let mut versions = Self::default();
        for name in names {
            let Some(found) = VersionName::parse(name.as_ref()) else { continue };
            if found.naming == Naming::Detached {
                versions.detached.push(found.version);
                continue;
            }
            if *versions.naming.get_or_insert(found.naming) != found.naming {
                let rule = "the version files have names of two kinds, 2.manifest and \
                            18446744073709551613.manifest; finish the migration between the two";
                return Err(Problem::corrupt(rule).in_file(VERSIONS_DIR));
            }
            versions.numbers.push(found.version);
        }
        versions.numbers.sort_unstable();
        versions.detached.sort_unstable();
        Ok(versions)
    }

    /// These and one more; the first tells how the others are named.
    #[must_use]
    pub(crate) fn with(mut self, version: u64, naming: Naming) -> Self {
        self.naming.get_or_insert(naming);
        self.numbers.push(version);
        self.numbers.sort_unstable();
        self.numbers.dedup();
        self
    }

    /// How they are named, the detached ones left out; `None` if there are none.
    pub(crate) fn naming(&self) -> Option<Naming> {
        self.naming
    }

    /// Their numbers, without the detached ones.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// The numbers of the detached versions.
    pub fn detached(&self) -> &[u64] {
        &self.detached
    }

    /// The latest one; `None` if there are no versions.
    pub fn latest(&self) -> Option<VersionName> {
        self.numbers.last().and_then(|version| self.get(*version))
    }

    /// The version with this number, detached ones among them.
    pub fn get(&self, version: u64) -> Option<VersionName> {
        if self.detached.binary_search(&version).is_ok() {
            return Some(VersionName { version, naming: Naming::Detached });
        }
        self.numbers.binary_search(&version).ok()?;
        self.naming.map(|naming| VersionName { version, naming })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Option<(u64, Naming)> {
        VersionName::parse(name).map(|found| (found.version, found.naming))
    }

    #[test]
    fn the_three_kinds_of_names() {
        assert_eq!(parsed("2.manifest"), Some((2, Naming::V1)));
        assert_eq!(parsed("18446744073709551613.manifest"), Some((2, Naming::V2)));
        let detached = "d11446274422288061289.manifest";
        assert_eq!(parsed(detached), Some((11446274422288061289, Naming::Detached)));
        for other in [
            ".tmp_7.manifest_0f",
            "7.manifest#1",
            "latest_version_hint.json",
            "",
            ".manifest",
            "manifest",
            "02.manifest",
            "+2.manifest",
            "-2.manifest",
            "2.x.manifest",
            "99999999999999999999.manifest", // above 2^64-1
            "00000000000000000002.manifest", // would be above 2^63
            "d2.manifest",
            "d.manifest",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn the_latest_is_the_highest() {
        let versions = |names: &[&str]| Versions::from_names(names);
        let v1 = versions(&["9.manifest", "10.manifest", "hint.json"]).unwrap();
        assert_eq!(v1.numbers(), [9, 10]);
        assert_eq!(v1.latest().unwrap().file_name(), "10.manifest");
        assert_eq!(v1.get(9).unwrap().file_name(), "9.manifest");
        assert_eq!(v1.get(8), None);
        let detached = "d11446274422288061289.manifest";
        let v2 = versions(&[detached, "18446744073709551613.manifest"]).unwrap();
        assert_eq!(v2.latest().unwrap().version, 2);
        assert_eq!(v2.get(11446274422288061289).unwrap().file_name(), detached);
        assert_eq!(versions(&[detached]).unwrap().latest(), None);
        assert_eq!(versions(&[]).unwrap().latest(), None);
    }

    #[test]
    fn two_kinds_in_one_folder_are_refused() {
        let mixed = ["2.manifest", "18446744073709551613.manifest"];
        let error = Versions::from_names(mixed).unwrap_err().to_string();
        assert!(error.starts_with("_versions: corrupt file: the version files have"), "{error}");
    }
}
