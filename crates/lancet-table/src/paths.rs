//! Where the files of a table lie on disk.
//!
//! Names of data files are plain names, which the manifest has been checked for. What is left to decide is the
//! folder: the table's own, or a base path.

use std::path::{Component, Path, PathBuf};

use crate::data_file::DATA_DIR;
use crate::deletion::DELETIONS_DIR;
use crate::error::{Error, Result};
use crate::manifest::{BasePath, Manifest};
use crate::options::TableOptions;
use crate::refs::{TREE_DIR, is_branch};

/// The folders of the files of one version.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    own: Folder,
    /// By the ids of the bases; an error says why a base may not be read.
    bases: Vec<(u32, Result<Folder, String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    /// Whether it has `data/` and `_deletions/` below.
    is_table: bool,
}

impl Folders {
    /// The folders of a version of the table at `root`.
    pub(crate) fn new(root: &Path, manifest: &Manifest, options: &TableOptions) -> Self {
        let own = Folder { path: root.to_owned(), is_table: true };
        let main = main_root(root, manifest.branch.as_deref());
        let bases = manifest.base_paths.iter().map(|base| {
            let path = resolve(base, root, main.as_deref(), &manifest.base_paths, options);
            (base.id, path.map(|path| Folder { path, is_table: base.is_table }))
        });
        Self { own, bases: bases.collect() }
    }

    /// Where a data file is.
    pub(crate) fn data_file(&self, base: Option<u32>, name: &str) -> Result<PathBuf> {
        self.below(base, DATA_DIR, name)
    }

    /// Where a deletion file is.
    pub(crate) fn deletion_file(&self, base: Option<u32>, name: &str) -> Result<PathBuf> {
        self.below(base, DELETIONS_DIR, name)
    }

    fn below(&self, base: Option<u32>, folder: &str, name: &str) -> Result<PathBuf> {
        let found = match base {
            None => Ok(&self.own),
            Some(id) => match self.bases.iter().find(|(known, _)| *known == id) {
                Some((_, Ok(folder))) => Ok(folder),
                Some((_, Err(why))) => Err(why.clone()),
                None => Err(format!("base {id} is not among the base paths")),
            },
        };
        let base = found.map_err(Error::invalid)?;
        Ok(if base.is_table { base.path.join(folder).join(name) } else { base.path.join(name) })
    }
}

/// The folder of the main table, if `root` is that of a branch: `X/tree/<branch>` belongs to `X`.
pub(crate) fn main_root(root: &Path, branch: Option<&str>) -> Option<PathBuf> {
    let branch = branch.filter(|branch| is_branch(branch))?;
    let below = Path::new(TREE_DIR).join(branch);
    if !root.ends_with(&below) {
        return None;
    }
    let steps = below.components().count();
    root.ancestors().nth(steps).map(Path::to_owned)
}

/// The folder of a base, or why it may not be read.
fn resolve(
    base: &BasePath,
    root: &Path,
    main: Option<&Path>,
    all: &[BasePath],
    options: &TableOptions,
) -> Result<PathBuf, String> {
    let recorded = Path::new(&base.path);
    let steps_up = recorded.components().any(|step| step == Component::ParentDir);
    if let Some(allowed) = options.allowed(recorded).filter(|_| !steps_up) {
        return Ok(allowed);
    }
    // What lies in the table itself may be read.
    let inside = |folder: &Path| !steps_up && lies_in(recorded, folder);
    if inside(root) || main.is_some_and(inside) {
        return Ok(recorded.to_owned());
    }
    if let Some(found) = main.and_then(|main| led_back(base, main, all)) {
        return Ok(found);
    }
    Err(format!(
        "the table refers to files in `{}`, outside of its folder; allow that with \
         `TableOptions::with_base` if you trust its writer",
        base.path.escape_debug()
    ))
}

/// Whether a path lies in a folder. The folder without a name is the current one: all names begin with its name, and only
/// relative ones lie in it.
pub(crate) fn lies_in(path: &Path, folder: &Path) -> bool {
    let is_here = folder.as_os_str().is_empty();
    path.starts_with(folder) && (!is_here || !path.has_root() && path.is_relative())
}

/// A base of a branch that was moved together with its table. The last base without a name is the main table, one with
/// the name of a branch lies in `tree/`. Both stay in the table that was opened, whatever the manifest says.
fn led_back(base: &BasePath, main: &Path, all: &[BasePath]) -> Option<PathBuf> {
    if !base.is_table {
        return None;
    }
    if let Some(name) = &base.name {
        let below = Path::new(TREE_DIR).join(name);
        let is_parent = is_branch(name) && Path::new(&base.path).ends_with(&below);
        return is_parent.then(|| main.join(below));
    }
    let last = all.iter().rfind(|other| other.is_table && other.name.is_none());
    last.filter(|last| last.id == base.id).map(|_| main.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unknown::UnknownFields;

    fn base(id: u32, name: Option<&str>, path: &str) -> BasePath {
        let (name, path) = (name.map(str::to_owned), path.to_owned());
        BasePath { id, name, is_table: true, path, unknown: UnknownFields::default() }
    }

    fn resolved(
        base: &BasePath,
        root: &str,
        branch: Option<&str>,
        options: &TableOptions,
    ) -> Option<String> {
        let (root, all) = (Path::new(root), [base.clone()]);
        let main = main_root(root, branch);
        let found = resolve(base, root, main.as_deref(), &all, options).ok()?;
        Some(found.to_str().unwrap().to_owned())
    }

    #[test]
    fn foreign_folders_are_refused_unless_allowed() {
        let none = TableOptions::default();
        let foreign = base(0, None, "/etc");
        assert_eq!(resolved(&foreign, "/t", None, &none), None);
        let one = TableOptions::default().with_base("/lake");
        assert_eq!(resolved(&foreign, "/t", None, &one), None);
        assert_eq!(resolved(&base(0, None, "/lake/a"), "/t", None, &one).unwrap(), "/lake/a");
        assert_eq!(resolved(&base(0, None, "/lake/../etc"), "/t", None, &one), None);
        assert_eq!(resolved(&base(0, None, "/lakes"), "/t", None, &one), None);
        let any = TableOptions::default().with_any_base(true);
        assert_eq!(resolved(&foreign, "/t", None, &any).unwrap(), "/etc");
        let moved = TableOptions::default().with_moved_base("/old", "/new");
        assert_eq!(resolved(&base(0, None, "/old/a"), "/t", None, &moved).unwrap(), "/new/a");
        assert_eq!(resolved(&base(0, None, "/t/tree/x"), "/t", None, &none).unwrap(), "/t/tree/x");
        assert_eq!(resolved(&base(0, None, "/t/../etc"), "/t", None, &none), None);
    }

    #[test]
    fn only_relative_folders_lie_in_the_current_one() {
        let none = TableOptions::default();
        assert_eq!(resolved(&base(0, None, "/etc"), "", None, &none), None);
        let other = base(0, Some("y"), "/etc");
        assert_eq!(resolved(&other, "tree/x", Some("x"), &none), None);
        assert_eq!(resolved(&base(0, None, "../etc"), "", None, &none), None);
        assert_eq!(resolved(&base(0, None, "tree/x"), "", None, &none).unwrap(), "tree/x");
        assert_eq!(resolved(&base(0, None, ""), "/t", None, &none), None);
        let here = TableOptions::default().with_base("");
        assert_eq!(resolved(&base(0, None, "/etc"), "/t", None, &here), None);
        assert_eq!(resolved(&base(0, None, "etc"), "/t", None, &here).unwrap(), "etc");
        let moved = TableOptions::default().with_moved_base("", "/new");
        assert_eq!(resolved(&base(0, None, "/etc"), "/t", None, &moved), None);
    }

    #[test]
    fn bases_of_moved_branches_are_led_back() {
        let none = TableOptions::default();
        let main = base(0, None, "/old/t");
        let at = "/new/t/tree/dev/one";
        assert_eq!(resolved(&main, at, Some("dev/one"), &none).unwrap(), "/new/t");
        assert_eq!(resolved(&main, at, Some("one"), &none), None);
        assert_eq!(resolved(&main, at, None, &none), None);
        assert_eq!(resolved(&main, at, Some("../one"), &none), None);
        let parent = base(1, Some("old"), "/old/t/tree/old");
        assert_eq!(resolved(&parent, at, Some("dev/one"), &none).unwrap(), "/new/t/tree/old");
        let odd = base(1, Some("old"), "/old/t/tree/other");
        assert_eq!(resolved(&odd, at, Some("dev/one"), &none), None);
    }
}
