//! The folder of a branch that is opened by itself, by a path that does not lead through `tree/`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::Result;
use crate::fault_tests::{options, source};
use crate::opening::Opened;
use crate::options::TableOptions;
use crate::shape_fault_tests::everything;
use crate::storage::{Disk, ready};
use crate::write::create;

type Table = Opened<Disk>;

fn open(path: &Path) -> Table {
    let options = TableOptions::default().with_any_base(true);
    ready(Opened::open(Disk, path.to_owned(), options)).unwrap()
}

/// A table with the branch `dev/one`, and the folder of that.
fn branched() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t.lance");
    let rows = source(&[(1, 1), (2, 2)]);
    let (table, _) = ready(create(Disk, root.clone(), rows, &options(true))).unwrap();
    let branch = ready(table.create_branch("dev/one")).unwrap();
    ready(branch.append(source(&[(3, 3)]), &options(true))).unwrap();
    let tree = root.join("tree/dev/one");
    (folder, root, tree)
}

#[test]
fn a_link_leads_to_the_tags_of_the_main_table() {
    let (folder, root, tree) = branched();
    let link = folder.path().join("link");
    symlink(&tree, &link).unwrap();
    let branch = open(&link);
    ready(branch.create_tag("kept")).unwrap();
    assert!(root.join("_refs/tags/kept.json").is_file() && !tree.join("_refs").exists());
    let (branch, _) = ready(branch.append(source(&[(4, 4)]), &options(true))).unwrap();
    ready(branch.move_tag("kept")).unwrap();
    let main = open(&root);
    assert_eq!(ready(main.tags()).unwrap()[0].branch.as_deref(), Some("dev/one"));
    let refused = ready(main.delete_branch("dev/one")).unwrap_err().to_string();
    assert!(refused.contains("the tag `kept`"), "{refused}");

    // Verbs that begin with the newest version, those with names beside them, and a cleanup.
    let rename = |from: &'static str, to: &'static str| {
        move |before: crate::schema_change::SchemaBefore<'_>| before.renamed(from, to)
    };
    let branch = ready(branch.change_schema(&rename("v", "w"), true, &options(true))).unwrap();
    assert_eq!(branch.manifest().version, 4);
    ready(branch.create_branch("two")).unwrap();
    assert!(root.join("tree/two/_versions").is_dir());
    let restored = ready(open(&link).restore(&options(true))).unwrap();
    assert_eq!(ready(main.tags()).unwrap().len(), 1);
    ready(restored.change_schema(&rename("w", "v"), true, &options(true))).unwrap();
    let done = ready(open(&link).cleanup(&everything())).unwrap();
    // 3 has the tag, 4 the branch `two`.
    assert_eq!(done.versions, [1, 2, 5]);
    assert_eq!(done.files.len(), 3, "{done:?}");
    ready(open(&link).delete_tag("kept")).unwrap();
    assert!(ready(main.tags()).unwrap().is_empty());
}

#[test]
fn a_branch_without_its_table_gets_no_names() {
    let (folder, _, tree) = branched();
    let copy = folder.path().join("copy");
    for file in crate::local::entries(&tree).unwrap() {
        let to = copy.join(&file.path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(tree.join(&file.path), to).unwrap();
    }
    let branch = open(&copy);
    let refused: [Result<()>; 6] = [
        ready(branch.create_tag("new")),
        ready(branch.move_tag("new")),
        ready(branch.delete_tag("new")),
        ready(branch.create_branch("new")).map(drop),
        ready(branch.delete_branch("new")),
        ready(branch.restore(&options(true))).map(drop),
    ];
    for refused in refused {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("open the main table"), "{refused}");
    }
    assert!(!copy.join("_refs").exists());
    // What needs no names works.
    let options = &options(true);
    let dropped = branch.change_schema(&|before| before.without(&["v"]), true, options);
    assert_eq!(ready(dropped).unwrap().manifest().version, 3);
}
