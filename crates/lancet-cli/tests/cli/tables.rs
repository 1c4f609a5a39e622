//! Tables of the reference, where files are accepted.

use serde_json::Value;

use crate::archives;
use crate::lancet::{Dir, assert_snapshot};

/// A folder with a table in `table` and the rows of its versions in `expect`.
pub fn with_table(name: &str, table: &str) -> Dir {
    let dir = Dir::new(name);
    let kept = archives::kept();
    let tar = kept.iter().find(|tar| archives::name(tar) == table).unwrap();
    archives::write_into(&archives::unpack(tar), &dir.path(""));
    dir
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The rows of a file or table, one a line, without their ids and versions.
fn lines(dir: &Dir, what: &str) -> String {
    without_ids(&dir.lancet(&format!("cat {what} --format jsonl")).ok())
}

fn without_ids(lines: &str) -> String {
    let line = |line: &str| {
        let mut row = json(line);
        row.as_object_mut().unwrap().retain(|name, _| !name.starts_with("_row"));
        format!("{row}\n")
    };
    lines.lines().map(line).collect()
}

#[test]
fn every_version_reads_as_what_was_written() {
    let dir = with_table("table-versions", "rebased_v20");
    for version in 1..=7 {
        let expected = lines(&dir, &format!("expect/v{version}.arrow"));
        assert_eq!(lines(&dir, &format!("table --version {version}")), expected, "{version}");
        dir.lancet(&format!("-q convert table v.lance --version {version}")).ok();
        assert_eq!(lines(&dir, "v.lance"), expected, "{version}");
        let rows = expected.lines().count();
        let ends = format!("take table --version {version} --rows {},0 --format jsonl", rows - 1);
        let (first, last) = (expected.lines().next().unwrap(), expected.lines().next_back());
        let taken = without_ids(&dir.lancet(&ends).ok());
        assert_eq!(taken, format!("{}\n{first}\n", last.unwrap()));
    }
    assert_eq!(lines(&dir, "table"), lines(&dir, "expect/v7.arrow"));
    assert_eq!(lines(&dir, "table --rows 40.."), lines(&dir, "expect/v7.arrow --rows 40.."));
    let missing = dir.lancet("cat table --version 99").failed();
    assert!(missing.contains("99"), "{missing}");
}

#[test]
fn branches_and_tags_are_versions() {
    let dir = with_table("table-branches", "branches_v22");
    for (at, expected) in [
        ("--branch deep", "deep.v6"),
        ("--branch dev/one", "dev%2Fone.v5"),
        ("--branch dev/one --version 3", "dev%2Fone.v3"),
        ("--tag on_branch", "dev%2Fone.v4"),
        ("--tag on_main", "v2"),
    ] {
        let expected = lines(&dir, &format!("expect/{expected}.arrow"));
        assert_eq!(lines(&dir, &format!("table {at}")), expected, "{at}");
    }
    let history: Value = serde_json::from_str(&dir.lancet("versions table --json").ok()).unwrap();
    assert_eq!(history["versions"][1]["tags"], Value::from(vec!["on_main"]));
    assert_eq!(history["branches"][0]["name"], "deep");
    let text = dir.lancet("versions table --branch deep").ok();
    assert!(text.starts_with("table: 2 versions\n"), "{text}");
}

#[test]
fn rows_have_ids_and_addresses() {
    let dir = with_table("table-ids", "rebased_v20");
    let shown = dir.lancet("cat table -c k --with-row-id --with-row-address --format csv").ok();
    let last = shown.lines().next_back().unwrap();
    let [key, id, address] = last.split(',').collect::<Vec<_>>()[..] else { panic!("{last}") };
    assert_eq!(shown.lines().next(), Some("k,_rowid,_rowaddr"));
    assert_eq!(id, address, "without stable ids");
    let taken = dir.lancet(&format!("take table -c k --row-ids {id} --format csv")).ok();
    assert_eq!(taken, format!("k\n{key}\n"));
    let schema: Value =
        serde_json::from_str(&dir.lancet("schema table --json --with-row-id").ok()).unwrap();
    assert_eq!((&schema["format"], &schema["rows"]), (&"Lance table".into(), &48.into()));
    assert_eq!(schema["fields"].as_array().unwrap().last().unwrap()["name"], "_rowid");
    let text = dir.lancet("schema table --version 3").ok();
    assert!(text.starts_with("table: Lance table, version 3, 49 rows\n"), "{text}");
}

#[test]
fn versions_are_listed() {
    let dir = with_table("table-history", "rebased_v20");
    let history: Value = serde_json::from_str(&dir.lancet("versions table --json").ok()).unwrap();
    let rows: Vec<_> = history["versions"].as_array().unwrap().iter().map(|v| &v["rows"]).collect();
    assert_eq!(rows, [25, 50, 49, 47, 47, 53, 48]);
    let text = dir.lancet("versions table").ok();
    assert!(text.starts_with("table: 7 versions\n") && text.contains(" UTC"), "{text}");
}

#[test]
fn options_for_tables_are_for_tables() {
    let dir = Dir::new("table-options");
    dir.write("t.csv", "a\n1\n");
    dir.lancet("-q convert t.csv t.lance").ok();
    for command in [
        "cat t.lance --version 1",
        "schema t.csv --tag a",
        "take t.lance --rows 0 --with-row-id",
        "take t.lance --row-ids 0",
    ] {
        let ran = dir.lancet(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("table"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn what_a_table_is_made_of() {
    let dir = with_table("table-inspect", "rebased_v20");
    assert_snapshot("inspect-table", &dir.lancet("inspect table --fragments").ok());
    assert_snapshot("inspect-table-narrow", &dir.lancet("inspect table --width 60 -c k,st").ok());
    let found = json(&dir.lancet("inspect table --json").ok());
    assert_eq!((&found["version"], &found["rows"]), (&7.into(), &48.into()));
    assert_eq!(found["versions"].as_array().unwrap().len(), 7);
    let fragments = found["fragments"].as_array().unwrap();
    let sum = |key: &str| fragments.iter().map(|f| f[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("physical_rows"), sum("deleted_rows")), (57, 9));
    // What the files are on disk.
    let mut on_disk = 0;
    for fragment in fragments {
        for file in fragment["files"].as_array().unwrap() {
            let name = format!("table/data/{}", file["file"].as_str().unwrap());
            let bytes = std::fs::metadata(dir.path(&name)).unwrap().len();
            assert_eq!(file["bytes"], bytes);
            let inner = json(&dir.lancet(&format!("inspect {name} --json")).ok());
            assert_eq!(inner["file_bytes"], bytes);
            on_disk += bytes;
        }
    }
    assert_eq!(found["file_bytes"], on_disk);
    let columns = found["columns"].as_array().unwrap();
    let pages: u64 = columns.iter().map(|column| column["bytes"].as_u64().unwrap()).sum();
    assert_eq!(found["page_bytes"], pages);
    let before = json(&dir.lancet("inspect table --json --version 1").ok());
    assert_eq!((&before["rows"], &before["deleted_rows"]), (&25.into(), &0.into()));
    for (args, words) in [
        ("inspect table/_versions --fragments", "directory"),
        ("inspect table --columns nothing", "no column `nothing`; there are: k, i,"),
    ] {
        let ran = dir.lancet(args);
        assert!(ran.code != 0 && ran.stderr.contains(words), "{args}: {}", ran.stderr);
    }
}

/// The pages of a table are those of its files, whatever the table calls the columns.
#[test]
fn pages_of_tables_are_those_of_their_files() {
    let dir = with_table("table-pages", "nested_changes_v22");
    let (mut renamed, mut unused) = (0, 0);
    for version in 1..=9 {
        let at = format!("inspect table --version {version} --pages");
        let found = json(&dir.lancet(&format!("{at} --json")).ok());
        let text = dir.lancet(&at).ok();
        let files = found["files"].as_array().unwrap();
        let of_fragments = found["fragments"].as_array().unwrap().iter();
        let listed: Vec<(&Value, &Value)> = of_fragments
            .flat_map(|f| {
                f["files"].as_array().unwrap().iter().map(|file| (&f["id"], &file["file"]))
            })
            .collect();
        let inside: Vec<(&Value, &Value)> =
            files.iter().map(|file| (&file["fragment"], &file["file"])).collect();
        assert_eq!(inside, listed, "{version}");
        let mut bytes = 0;
        for file in files {
            let name = file["file"].as_str().unwrap();
            let alone =
                json(&dir.lancet(&format!("inspect table/data/{name} --pages --json")).ok());
            assert_eq!(file["rows"], alone["rows"]);
            assert!(text.contains(&format!("fragment {}, {name}: ", file["fragment"])), "{text}");
            let both = [file, &alone].map(|file| file["columns"].as_array().unwrap());
            assert_eq!(both[0].len(), both[1].len());
            for (column, alone) in both[0].iter().zip(both[1]) {
                assert_eq!(
                    (&column["index"], &column["pages"]),
                    (&alone["index"], &alone["pages"])
                );
                let (name, in_file) = (&column["name"], alone["name"].as_str().unwrap());
                let is_unused = *name == format!("(unused).{in_file}");
                unused += usize::from(is_unused);
                renamed += usize::from(name != in_file && !is_unused);
                bytes += column["bytes"].as_u64().unwrap();
            }
        }
        assert_eq!(found["page_bytes"], bytes, "{version}");
    }
    assert!(renamed > 0 && unused > 0, "{renamed} renamed, {unused} unused");
    let some = json(&dir.lancet("inspect table --version 1 --pages --json -c k").ok());
    for file in some["files"].as_array().unwrap() {
        assert_eq!(file["columns"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn columns_that_files_lack_or_the_table_dropped() {
    let dir = with_table("table-inspect-dropped", "nested_changes_v22");
    let mut unused = 0;
    for version in 1..=9 {
        let found = json(&dir.lancet(&format!("inspect table --json --version {version}")).ok());
        let columns = found["columns"].as_array().unwrap();
        let name = |column: &Value| column["name"].as_str().unwrap().to_owned();
        let names: Vec<String> = columns.iter().map(name).filter(|n| n != "(unused)").collect();
        unused += usize::from(names.len() < columns.len());
        let schema = json(&dir.lancet(&format!("schema table --json --version {version}")).ok());
        let top: Vec<&str> = schema["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["name"].as_str().unwrap())
            .collect();
        for name in &names {
            assert!(top.contains(&name.split('.').next().unwrap()), "{version}: {name}");
        }
        for name in top {
            let is_it = |n: &String| n == name || n.starts_with(&format!("{name}."));
            assert!(names.iter().any(is_it), "{version}: {name} {names:?}");
        }
    }
    assert!(unused > 0, "a dropped column lies in the files of some version");
}

/// Every table is sound in every version, and every broken one is not.
#[test]
fn all_tables_are_verified() {
    for tar in archives::all() {
        let name = archives::name(&tar);
        let dir = Dir::new("table-verify");
        archives::write_into(&archives::unpack(&tar), &dir.path(""));
        let recorded = format!("/tmp/lancet-golden/{name}");
        let moved = match name.starts_with("broken_") {
            true => String::new(),
            false => format!("--allow-base {recorded}={}", dir.path("").display()),
        };
        let one = dir.lancet(&format!("verify table {moved}"));
        let all = dir.lancet(&format!("verify table --all-versions {moved}"));
        let told = format!("{name}: {}{}", one.stdout, one.stderr);
        if name.starts_with("broken_") {
            assert_eq!((one.code, all.code), (1, 1), "{told}");
            assert!(one.stderr.starts_with("error: table"), "{told}");
        } else if ["legacy", "v23"].contains(&name) {
            assert_eq!(one.code, 1, "{told}");
            assert!(one.stdout.contains("not checked: "), "{told}");
        } else {
            assert_eq!((one.code, all.code), (0, 0), "{told}{}{}", all.stdout, all.stderr);
            assert!(one.stdout.starts_with("table: sound (1 version, "), "{told}");
            let found =
                json(&dir.lancet(&format!("verify table --all-versions --json {moved}")).ok());
            let history = json(&dir.lancet("versions table --json").ok());
            let versions = history["versions"].as_array().unwrap().len();
            assert_eq!((&found["versions"], &found["sound"]), (&versions.into(), &true.into()));
        }
    }
}

#[test]
fn damage_in_an_old_version_is_found() {
    let dir = with_table("table-verify-old", "rebased_v20");
    let sound = dir.lancet("verify table --all-versions").ok();
    assert!(sound.starts_with("table: sound (7 versions, 4 data files, "), "{sound}");
    let message = dir.lancet("verify table --require-checksums");
    assert!(message.stdout.contains("4 data files have no checksums"), "{}", message.stdout);

    // A deletion file that the latest version does not have.
    let found = json(&dir.lancet("inspect table --json --version 3").ok());
    let old = found["fragments"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|f| f["deletion_file"]["file"].as_str());
    let old = format!("table/_deletions/{}", old.unwrap());
    let bytes = std::fs::read(dir.path(&old)).unwrap();
    std::fs::remove_file(dir.path(&old)).unwrap();
    dir.lancet("verify table").ok();
    let ran = dir.lancet("verify table --all-versions");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("_deletions/") && ran.stdout.lines().count() == 1,
        "{}",
        ran.stdout
    );
    dir.write(&old, bytes);

    // A manifest; the versions around it are checked all the same.
    let manifest = dir.path("table/_versions").join(format!("{}.manifest", u64::MAX - 4));
    std::fs::write(manifest, b"nothing").unwrap();
    dir.lancet("verify table").ok();
    let ran = dir.lancet("verify table --all-versions --json");
    assert_eq!(ran.code, 1);
    let found = json(&ran.stdout);
    assert_eq!((&found["sound"], &found["versions"]), (&false.into(), &6.into()));
    assert_eq!(found["problems"].as_array().unwrap().len(), 1);

    // One data file is in all versions, and is told once.
    let data = found_data(&dir);
    std::fs::write(&data, b"nothing").unwrap();
    let ran = dir.lancet("verify table --all-versions --json");
    let found = json(&ran.stdout);
    let of_file = |p: &&Value| p["file"].as_str().unwrap().contains("/data/");
    assert_eq!(found["problems"].as_array().unwrap().iter().filter(of_file).count(), 1);
    for args in ["verify table --all-versions --version 3", "verify expect/v1.arrow --all-versions"]
    {
        assert_eq!(dir.lancet(args).code, 2, "{args}");
    }
}

/// The data file of the first version.
fn found_data(dir: &Dir) -> std::path::PathBuf {
    let found = json(&dir.lancet("inspect table --json --version 1").ok());
    let name = found["fragments"][0]["files"][0]["file"].as_str().unwrap().to_owned();
    dir.path("table/data").join(name)
}

#[test]
fn tags_name_versions_that_are_there() {
    let dir = with_table("table-verify-tags", "branches_v22");
    dir.lancet("verify table --all-versions").ok();
    dir.lancet("verify table --all-versions --branch deep").ok();
    std::fs::write(dir.path("table/_refs/tags/lost.json"), r#"{"branch":null,"version":77}"#)
        .unwrap();
    let ran = dir.lancet("verify table --all-versions");
    assert_eq!(ran.stdout, "tag `lost`: it names version 77, which is not there\n");
    assert_eq!(ran.code, 1);
}

#[test]
fn clones_read_elsewhere_only_if_allowed() {
    let dir = with_table("table-clone", "shallow_clone_v21");
    let message = dir.lancet("cat table").failed();
    assert!(message.contains("--allow-base FOLDER if you trust its writer"), "{message}");
    let recorded = message.split('`').nth(1).unwrap().to_owned();
    assert!(recorded.ends_with("/source"), "{recorded}");
    let allow = format!("--allow-base {recorded}=source");
    assert_eq!(lines(&dir, &format!("table {allow}")), lines(&dir, "expect/v5.arrow"));
    for verb in ["inspect", "stats", "verify", "schema"] {
        dir.lancet(&format!("{verb} table {allow}")).ok();
    }
}

#[test]
fn tables_are_analyzed() {
    let dir = with_table("table-analyze", "rebased_v20");
    let found = json(&dir.lancet("-q analyze table --json --columns k,s").ok());
    let columns = found["columns"].as_array().unwrap();
    assert_eq!(columns.iter().map(|c| c["name"].as_str().unwrap()).collect::<Vec<_>>(), ["k", "s"]);
    assert_eq!(found["rows"], 48);
    let bytes = json(&dir.lancet("inspect table --json").ok())["file_bytes"].clone();
    assert_eq!(found["file_bytes"], bytes);
    assert_eq!(json(&dir.lancet("-q analyze table --json --version 2 --full").ok())["rows"], 50);
    assert_eq!(dir.lancet("analyze expect/v1.arrow --version 2").code, 2);
}
