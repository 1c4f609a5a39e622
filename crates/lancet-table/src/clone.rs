//! Shallow clones: a table of its own whose first version names the files of another.
//!
//! A branch is one too, in `tree/<name>/` of the table. Files that the source has in its own folder get a base, the folder of
//! the source; those that have a base keep it, with the list of bases. New files of the clone carry none.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::manifest::{BasePath, Manifest};
use crate::unknown::UnknownFields;

/// What a clone is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) manifest: &'a Manifest,
    /// Its folder, as it is to be recorded: absolute.
    pub(crate) path: &'a str,
    /// The branch it is; `None` for the main one.
    pub(crate) branch: Option<&'a str>,
}

impl Source<'_> {
    /// The manifest of a clone, under the same version, and the id of the base that stands for the source. `branch` is
    /// the name of the branch that the clone becomes, if it becomes one.
    pub(crate) fn cloned(&self, branch: Option<&str>) -> Result<(Manifest, u32)> {
        let mut manifest = self.manifest.clone();
        let ids = manifest.base_paths.iter().map(|base| base.id);
        let id = ids.max().map_or(Some(0), |highest| highest.checked_add(1)).ok_or_else(|| {
            Error::invalid(format!("{}: there are no ids left for a base path", manifest.file))
        })?;
        for fragment in &mut manifest.fragments {
            let fragment = Arc::make_mut(fragment);
            for file in &mut fragment.files {
                file.base.get_or_insert(id);
            }
            if let Some(file) = &mut fragment.deletion_file {
                file.base.get_or_insert(id);
            }
        }
        manifest.base_paths.push(BasePath {
            id,
            name: self.branch.map(str::to_owned),
            is_table: true,
            path: self.path.to_owned(),
            unknown: UnknownFields::default(),
        });
        manifest.branch = branch.map(str::to_owned);
        Ok((manifest, id))
    }
}
