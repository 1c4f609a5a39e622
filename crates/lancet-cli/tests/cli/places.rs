//! Several files as one, standard input and output, URLs.

use std::io::Read;
use std::process::Stdio;

use crate::lancet::{Dir, Ran};

const TABLE: &str = "id,name\n1,ada\n2,bob\n3,cy\n";

fn with_parts(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("t.csv", TABLE);
    dir.write("part-1.csv", "id,name\n1,a\n2,b\n3,c\n");
    dir.write("part-2.csv", "id,name\n4,d\n");
    dir.write("part-3.csv", "id,name\n5,e\n6,f\n");
    for part in 1..=3 {
        dir.lancet(&format!("convert part-{part}.csv part-{part}.lance")).ok();
    }
    dir
}

#[test]
fn rows_of_several_files_come_one_after_the_other() {
    let dir = with_parts("places-several");
    for ending in ["csv", "lance"] {
        let cat = |args: &str| dir.lancet(&format!("cat part-*.{ending} {args}")).ok();
        assert_eq!(cat("--format csv"), "id,name\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n");
        assert_eq!(cat("--columns id --rows 2..5 --format csv"), "id\n3\n4\n5\n");
        assert_eq!(cat("--columns id --rows 4.. --limit 1 --format csv"), "id\n5\n");
        assert_eq!(cat("--columns id --rows 5.. --format csv"), "id\n6\n");
    }
    let table = dir.lancet("cat part-*.lance --limit 4").ok();
    assert!(table.ends_with("4 of 6 rows\n"), "{table}");
    let mixed = dir.lancet("cat part-3.lance part-2.csv --columns id --format csv").ok();
    assert_eq!(mixed, "id\n5\n6\n4\n");
    dir.lancet("cat part-*.lance -o all.lance").ok();
    assert_eq!(dir.lancet("cat all.lance --columns id --rows 5.. --format csv").ok(), "id\n6\n");
    let message = dir.lancet("cat part-*.lance --rows 7..").failed();
    assert!(message.contains("the rows start at 7, but the file"), "{message}");
}

#[test]
fn columns_that_differ_are_named_before_the_first_row() {
    let dir = with_parts("places-differ");
    dir.write("x.csv", "id,name\nseven,g\n");
    dir.write("y.csv", "id\n7\n");
    let differ = |args: &str| {
        let ran = dir.lancet(args);
        assert_eq!(ran.stdout, "");
        ran.failed()
    };
    assert_eq!(
        differ("cat part-1.csv x.csv --format csv"),
        "x.csv: column `id` is Utf8 here, but Int64 in part-1.csv"
    );
    assert_eq!(
        differ("cat part-1.lance y.csv --format csv"),
        "y.csv: column `name` is missing, but part-1.lance has it"
    );
    assert_eq!(differ("cat nothing*.csv"), "nothing*.csv: no file matches");
}

#[test]
fn reports_about_several_files() {
    let dir = with_parts("places-reports");
    let schema = dir.lancet("schema part-1.lance t.csv").ok();
    assert!(schema.starts_with("part-1.lance: Lance 2.2, 3 rows\n"), "{schema}");
    assert!(schema.contains("\n\nt.csv: CSV\n"), "{schema}");
    let stats = dir.lancet("stats part-?.lance").ok();
    assert!(stats.contains("part-1.lance: 3 rows") && stats.contains("part-3.lance: 2 rows"));
    for command in ["schema", "stats"] {
        let json = dir.lancet(&format!("{command} part-*.lance --json")).ok();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let rows: Vec<_> = json.as_array().unwrap().iter().map(|file| &file["rows"]).collect();
        assert_eq!(rows, [3, 1, 2], "{command}");
        let one = dir.lancet(&format!("{command} part-1.lance --json")).ok();
        assert!(one.starts_with('{'), "{one}");
        assert!(dir.lancet(&format!("{command} no*.lance")).failed().contains("no file matches"));
    }
}

#[test]
fn every_format_through_pipes() {
    let dir = with_parts("places-pipes");
    for format in ["lance", "arrow", "arrows", "parquet", "csv", "jsonl"] {
        let written = dir.command(&format!("convert t.csv - --to {format}")).output().unwrap();
        assert!(written.status.success(), "{format}: {written:?}");
        for from in [format!("--from {format}"), String::new()] {
            if format == "csv" && from.is_empty() {
                continue;
            }
            let back = dir.piped(&format!("convert - back.csv {from}"), &written.stdout);
            assert!(back.status.success(), "{format}: {back:?}");
            assert_eq!(dir.read("back.csv"), TABLE, "{format}");
            let cat = Ran::new(
                "cat -",
                dir.piped(&format!("cat - --format csv {from}"), &written.stdout),
            );
            assert_eq!(cat.ok(), TABLE, "{format}");
        }
    }
    let text = dir.lancet("cat t.csv --columns id -o - --to jsonl").ok();
    assert_eq!(text, "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
    let text = dir.lancet("take part-1.lance --rows 2,0 -o - --to csv").ok();
    assert_eq!(text, "id,name\n3,c\n1,a\n");
}

#[test]
fn lance_files_come_through_pipes_to_every_command() {
    let dir = with_parts("places-stdin");
    let bytes = std::fs::read(dir.path("part-1.lance")).unwrap();
    let ran = |args: &str| Ran::new(args, dir.piped(args, &bytes)).ok();
    assert!(ran("verify -").starts_with("-: sound"));
    assert!(ran("schema -").starts_with("-: Lance 2.2, 3 rows\n"));
    assert!(ran("inspect -").contains("rows      3"));
    assert!(ran("stats -").starts_with("-: 3 rows"));
    assert_eq!(ran("take - --rows 1 --format csv"), "id,name\n2,b\n");
}

#[test]
fn what_pipes_cannot_tell_has_to_be_said() {
    let dir = with_parts("places-unknown");
    let ran = Ran::new("cat -", dir.piped("cat -", TABLE));
    assert_eq!(
        ran.failed(),
        "standard input: its bytes do not tell the format; say it: --from csv"
    );
    let ran = dir.lancet("convert t.csv -");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("say the format: --to csv"), "{}", ran.stderr);
    assert_eq!(dir.lancet("cat t.csv -o -").code, 2);
    assert_eq!(dir.lancet("cat - -").code, 2);
    assert_eq!(dir.lancet("convert - out/ --from csv").code, 2);
    // Errors name the pipe, not a file that nobody has seen.
    let bad = "{\"a\":1}\n".repeat(10_001) + "{\"a\":\"x\"}\n";
    let message = Ran::new("cat", dir.piped("cat - --from jsonl -o a.csv", bad)).failed();
    assert!(message.starts_with("standard input: "), "{message}");
    assert!(!dir.path("a.csv").exists());
}

#[test]
fn nothing_is_left_of_what_came_through_a_pipe() {
    let dir = Dir::new("places-temporary");
    std::fs::create_dir(dir.path("temp")).unwrap();
    let run = |args: &str, input: &str| {
        let mut child = dir
            .command(args)
            .env("TMPDIR", dir.path("temp"))
            .env("TMP", dir.path("temp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(std::fs::read_dir(dir.path("temp")).unwrap().count(), 0, "lancet {args}");
        output.status.code()
    };
    assert_eq!(run("cat - --from csv", TABLE), Some(0));
    assert_eq!(run("convert - a.lance --from csv", TABLE), Some(0));
    assert_eq!(run("cat - --from lance", TABLE), Some(1));
    assert_eq!(run("cat -", TABLE), Some(1));
    assert_eq!(dir.files(), ["a.lance", "temp"]);
}

#[test]
fn a_closed_pipe_is_no_error_for_files_either() {
    let dir = Dir::new("places-closed");
    let rows: String = (0..400_000_u64).map(|i| format!("{}\n", i * i % 1_000_003)).collect();
    dir.write("t.csv", format!("id\n{rows}"));
    for format in ["csv", "arrows", "lance"] {
        let mut child = dir
            .command(&format!("convert t.csv - --to {format}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut few = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut few).unwrap(); // and close
        let mut complaints = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaints.as_str()), (Some(0), ""), "{format}");
    }
}

#[test]
fn file_urls_are_files() {
    let dir = with_parts("places-file-url");
    let url = |name: &str| format!("file://{}", dir.path(name).display());
    assert_eq!(dir.lancet(&format!("cat {} --format csv", url("t.csv"))).ok(), TABLE);
    dir.lancet(&format!("convert {} {}", url("t.csv"), url("u.lance"))).ok();
    dir.lancet(&format!("verify {}", url("u.lance"))).ok();
    // Tables too, by every verb that reads them.
    dir.lancet("-q table create t.lance t.csv").ok();
    dir.lancet(&format!("take {} --rows 0", url("t.lance"))).ok();
    dir.lancet(&format!("versions {}", url("t.lance"))).ok();
    let message = dir.lancet("versions s3://bucket/t.lance").failed();
    assert!(message.contains("only tables on disk"), "{message}");
    let message = dir.lancet("cat file://t.csv").failed();
    assert!(message.contains("begins with a slash"), "{message}");
    let message = dir.lancet("cat ftp://host/t.csv").failed();
    assert!(message.starts_with("ftp://host/t.csv: unknown kind of URL"), "{message}");
}

#[cfg(not(feature = "cloud"))]
#[test]
fn a_program_without_urls_says_how_to_get_them() {
    let dir = with_parts("places-no-cloud");
    for args in [
        "cat s3://bucket/a.lance",
        "take https://host/a.lance --rows 1",
        "schema gs://bucket/a.csv",
        "inspect az://container/a.lance",
        "stats http://host/a.lance",
        "verify s3://bucket/a.lance",
        "convert t.csv s3://bucket/a.lance",
        "convert s3://bucket/a.csv a.lance",
        "cat t.csv -o s3://bucket/a.csv",
    ] {
        let message = dir.lancet(args).failed();
        assert!(message.contains("://") && message.contains("--features cloud"), "{message}");
    }
}
