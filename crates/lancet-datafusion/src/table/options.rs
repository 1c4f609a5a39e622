//! How a table is opened, in Rust and in the options of `STORED AS LANCE`.
//!
//! | option | value |
//! |---|---|
//! | `table.version` | the number of a version |
//! | `table.tag`, `table.branch` | the name of a tag or of a branch |
//! | `table.base` | a folder outside of the table that it may read |
//! | `table.row_ids`, `table.row_addresses`, `table.row_versions` | true: columns that rows have of themselves |

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{config_datafusion_err, plan_err};
use datafusion::error::Result;
use lancet::ReadOptions;
use lancet_table::columns::{CREATED_AT_VERSION, LAST_UPDATED_AT_VERSION, ROW_ADDRESS, ROW_ID};
use lancet_table::{At, Limits, TableOptions, TableWriteOptions};

/// The beginning of the names of options.
const PREFIX: &str = "table.";

/// How a [`LanceTable`](crate::LanceTable) is opened and read.
#[derive(Debug, Clone, Default)]
pub struct LanceTableOptions {
    at: At,
    read: ReadOptions,
    row_ids: bool,
    row_addresses: bool,
    row_versions: bool,
    bases: Vec<(PathBuf, PathBuf)>,
    write: TableWriteOptions,
}

impl LanceTableOptions {
    /// The version to read; the latest by default.
    #[must_use]
    pub fn with_version(mut self, at: At) -> Self {
        self.at = at;
        self
    }

    /// Reads data files in this way.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// Whether there is a column `_rowid`, behind those of the table.
    #[must_use]
    pub fn with_row_ids(mut self, given: bool) -> Self {
        self.row_ids = given;
        self
    }

    /// Whether there is a column `_rowaddr`, behind those of the table.
    #[must_use]
    pub fn with_row_addresses(mut self, given: bool) -> Self {
        self.row_addresses = given;
        self
    }

    /// Whether there are columns `_row_created_at_version` and `_row_last_updated_at_version`, behind those of the table.
    #[must_use]
    pub fn with_row_versions(mut self, given: bool) -> Self {
        self.row_versions = given;
        self
    }

    /// Lets the table read files in this folder; see [`TableOptions::with_base`].
    #[must_use]
    pub fn with_base(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.with_moved_base(folder.clone(), folder)
    }

    /// The same for a folder that was moved; see [`TableOptions::with_moved_base`].
    #[must_use]
    pub fn with_moved_base(
        mut self,
        recorded: impl Into<PathBuf>,
        actual: impl Into<PathBuf>,
    ) -> Self {
        self.bases.push((recorded.into(), actual.into()));
        self
    }

    /// How statements write to the table: its files, messages, how often a commit is tried.
    #[must_use]
    pub fn with_write_options(mut self, options: TableWriteOptions) -> Self {
        self.write = options;
        self
    }

    /// What [`LanceTableOptions::with_version`] sets.
    pub fn at(&self) -> &At {
        &self.at
    }

    /// What [`LanceTableOptions::with_read_options`] sets.
    pub fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    /// What [`LanceTableOptions::with_row_ids`] sets.
    pub fn row_ids(&self) -> bool {
        self.row_ids
    }

    /// What [`LanceTableOptions::with_row_addresses`] sets.
    pub fn row_addresses(&self) -> bool {
        self.row_addresses
    }

    /// What [`LanceTableOptions::with_row_versions`] sets.
    pub fn row_versions(&self) -> bool {
        self.row_versions
    }

    /// The folders that the table may read: where they were, and where they are.
    pub fn bases(&self) -> &[(PathBuf, PathBuf)] {
        &self.bases
    }

    /// What [`LanceTableOptions::with_write_options`] sets.
    pub fn write_options(&self) -> &TableWriteOptions {
        &self.write
    }

    /// What the options of a statement say; those that do not begin with `table.` are for others.
    pub(crate) fn with_given(mut self, given: &HashMap<String, String>) -> Result<Self> {
        let (mut version, mut tag, mut branch) = (None, None, None);
        for (name, value) in given {
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            let flag = || {
                value.parse::<bool>().map_err(|_| {
                    config_datafusion_err!("option '{name}' is true or false, not '{value}'")
                })
            };
            match key {
                "version" => {
                    version = Some(value.parse::<u64>().map_err(|_| {
                        config_datafusion_err!("option '{name}' is a number, not '{value}'")
                    })?);
                }
                "tag" => tag = Some(value.clone()),
                "branch" => branch = Some(value.clone()),
                "base" => self = self.with_base(value),
                "row_ids" => self.row_ids = flag()?,
                "row_addresses" => self.row_addresses = flag()?,
                "row_versions" => self.row_versions = flag()?,
                _ => {
                    return Err(config_datafusion_err!(
                        "Lance tables have no option '{name}'; there are 'table.version', 'table.tag', \
                         'table.branch', 'table.base', 'table.row_ids', 'table.row_addresses' and \
                         'table.row_versions'"
                    ));
                }
            }
        }
        self.at = match (version, tag, branch) {
            (None, None, None) => self.at,
            (Some(version), None, None) => At::Version(version),
            (None, Some(tag), None) => At::Tag(tag),
            (None, None, Some(branch)) => At::Branch(branch),
            (Some(version), None, Some(branch)) => At::BranchVersion(branch, version),
            _ => return plan_err!("'table.tag' names a version already; leave the others out"),
        };
        Ok(self)
    }

    /// Whether a statement has options that only tables know.
    pub(crate) fn are_given(given: &HashMap<String, String>) -> bool {
        given.keys().any(|name| name.starts_with(PREFIX))
    }

    /// The same for the table itself.
    pub(crate) fn for_table(&self) -> TableOptions {
        let mut options = TableOptions::default()
            .with_version(self.at.clone())
            .with_read_options(self.read.clone());
        // A limit that somebody has set is one for manifests too.
        let most = self.read.max_metadata_bytes();
        if most != ReadOptions::default().max_metadata_bytes() {
            let mut limits = Limits::default();
            limits.max_metadata_bytes = most;
            options = options.with_limits(limits);
        }
        for (recorded, actual) in &self.bases {
            options = options.with_moved_base(recorded, actual);
        }
        options
    }

    /// The columns of a table with those that rows have of themselves. What is said of the table as a whole is left
    /// out, as with files.
    pub(crate) fn schema(&self, fields: &Schema) -> Result<SchemaRef> {
        let mut all: Vec<_> = fields.fields().iter().cloned().collect();
        for name in self.row_columns() {
            if fields.column_with_name(name).is_some() {
                return plan_err!("the table has a field `{name}` of its own");
            }
            all.push(Arc::new(Field::new(name, DataType::UInt64, true)));
        }
        Ok(Arc::new(Schema::new(all)))
    }

    /// The columns that rows have of themselves, where they are asked for.
    pub(crate) fn row_columns(&self) -> Vec<&'static str> {
        let columns = [
            (self.row_ids, ROW_ID),
            (self.row_addresses, ROW_ADDRESS),
            (self.row_versions, CREATED_AT_VERSION),
            (self.row_versions, LAST_UPDATED_AT_VERSION),
        ];
        columns.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(options: &[(&str, &str)]) -> Result<LanceTableOptions> {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        LanceTableOptions::default().with_given(&options.collect())
    }

    #[test]
    fn versions_are_named_in_one_way() {
        assert_eq!(*given(&[]).unwrap().at(), At::Latest);
        assert_eq!(*given(&[("table.version", "7")]).unwrap().at(), At::Version(7));
        assert_eq!(*given(&[("table.tag", "a")]).unwrap().at(), At::Tag("a".into()));
        let branch = [("table.branch", "a"), ("table.version", "7")];
        assert_eq!(*given(&branch).unwrap().at(), At::BranchVersion("a".into(), 7));
        assert_eq!(*given(&branch[..1]).unwrap().at(), At::Branch("a".into()));
        for wrong in [
            &[("table.version", "seven")][..],
            &[("table.tag", "a"), ("table.version", "7")],
            &[("table.tag", "a"), ("table.branch", "b")],
            &[("table.colour", "red")],
            &[("table.row_ids", "some")],
        ] {
            assert!(given(wrong).is_err(), "{wrong:?}");
        }
        assert!(given(&[("format.version", "2.0")]).is_ok());
        assert!(given(&[("table.row_ids", "true")]).unwrap().row_ids());
    }
}
