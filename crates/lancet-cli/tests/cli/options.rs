//! Options that would have no effect are errors; sizes are written as people write them.

use crate::lancet::Dir;

/// The message of a command whose usage is wrong.
#[track_caller]
fn usage(dir: &Dir, args: &str) -> String {
    let ran = dir.lancet(args);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "lancet {args}\n{}", ran.stderr);
    ran.stderr
}

#[test]
fn options_of_lance_files_are_for_lance_files() {
    let dir = Dir::new("options-lance");
    dir.write("a.csv", "id\n1\n");
    for option in [
        "--profile small",
        "--set id.compression=zstd",
        "--page-bytes 1MB",
        "--format-version 2.2",
        "--no-zone-maps",
        "--explain",
    ] {
        let name = option.split(' ').next().unwrap();
        for (target, format) in [("b.parquet", "Parquet"), ("out/ --to csv", "CSV")] {
            let message = usage(&dir, &format!("convert a.csv {target} {option}"));
            let start = format!("error: {name} is about Lance files, but ");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.contains(&format!("will be {format}; leave it out")), "{message}");
        }
        dir.lancet(&format!("convert a.csv b.lance {option}")).ok();
    }
    assert_eq!(dir.files(), ["a.csv", "b.lance"]);
}

#[test]
fn sizes_have_units() {
    let dir = Dir::new("options-sizes");
    let rows: String = (0..200_000).map(|i| format!("{}\n", i * 7919 % 1_000_003)).collect();
    dir.write("a.csv", format!("id\n{rows}"));
    let pages = |size: &str| {
        let mut command = dir.command("-q convert a.csv a.lance --page-bytes");
        assert!(command.arg(size).status().unwrap().success(), "{size}");
        let json = dir.lancet("inspect a.lance --json").ok();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        json["columns"][0]["num_pages"].as_u64().unwrap()
    };
    let few = pages("8 MiB");
    assert_eq!((few, pages("8MB"), pages("8MiB"), pages("8388608")), (1, 1, 1, 1));
    let many = pages("128 KiB");
    assert!(many > 5 && many == pages("128KiB") && many == pages("131072"), "{many}");
    for bad in ["0", "8 XB", "lots"] {
        let output = dir.command("convert a.csv a.lance --page-bytes").arg(bad).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
}

#[test]
fn limits_are_heeded() {
    let dir = Dir::new("options-limits");
    let rows: String = (0..50_000).map(|i| format!("{i},text {i}\n")).collect();
    dir.write("a.csv", format!("id,text\n{rows}"));
    dir.lancet("convert a.csv a.lance --threads 1").ok();
    dir.lancet("convert a.csv b.lance --threads 3 --memory-limit 1GiB").ok();
    // The same input gives the same bytes, whatever the number of threads.
    assert!(
        std::fs::read(dir.path("a.lance")).unwrap() == std::fs::read(dir.path("b.lance")).unwrap()
    );
    let message = dir.lancet("convert a.lance c.csv --memory-limit 10kB").failed();
    assert!(message.contains("--memory-limit allows 10000; raise --memory-limit"), "{message}");
    assert!(!dir.path("c.csv").exists());
    dir.lancet("convert a.csv a.parquet --memory-limit 1MB").ok();
    let message = usage(&dir, "convert a.csv c.jsonl --memory-limit 1GB");
    assert!(message.contains("not about CSV to JSON lines; leave it out"), "{message}");
    usage(&dir, "convert a.csv b.lance --threads 0");
    usage(&dir, "convert a.csv b.lance --memory-limit 0");
}

#[test]
fn options_that_contradict_each_other() {
    let dir = Dir::new("options-contradict");
    dir.write("a.csv", "id\n1\n");
    dir.lancet("convert a.csv a.lance").ok();
    usage(&dir, "convert a.csv b.lance --skip-existing --no-clobber");
    usage(&dir, "convert a.csv b.lance --json --explain");
    usage(&dir, "cat a.lance --to csv");
    usage(&dir, "cat a.lance --from xlsx");
    for option in ["--json", "--explain"] {
        let message = usage(&dir, &format!("convert a.csv - --to lance {option}"));
        assert!(message.contains(&format!("{option} prints to standard output")), "{message}");
    }
    for args in [
        "cat a.lance",
        "take a.lance --rows 0",
        "schema a.lance",
        "verify a.lance",
        "stats a.lance",
        "inspect a.lance",
        "convert a.csv b.lance",
    ] {
        let message = usage(&dir, &format!("{args} --store-option aws_region=x"));
        assert!(message.contains("--store-option is for URLs"), "{message}");
    }
    assert_eq!(dir.files(), ["a.csv", "a.lance"]);
}

#[test]
fn numbers_below_zero_are_told_of() {
    let dir = Dir::new("options-negative");
    dir.write("t.csv", "a\n1\n");
    for (args, told) in [
        ("cat t.csv --limit -1", "'-1' for '--limit': it takes a whole number from 0"),
        ("cat t.csv --rows -1", "'-1' for '--rows': it takes rows counted from 0"),
        ("cat t.csv --rows -5..7", "'-5..7' for '--rows': it takes rows counted from 0"),
        ("take t.lance -r -2", "'-2' for '-r': it takes rows counted from 0"),
        ("cat t --version -1", "'-1' for '--version': it takes the number of a version"),
        ("row-ids t --version -3", "'-3' for '--version': it takes the number of a version"),
    ] {
        let ran = dir.lancet(args);
        assert_eq!(ran.code, 2, "{args}");
        assert!(ran.stderr.starts_with("error: invalid value "), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{args}: {}", ran.stderr);
    }
    assert!(dir.lancet("cat t.csv -5").stderr.contains("unexpected argument"));
    // Where they make sense they are taken.
    dir.write("n.csv", "a\n1\n-999\n");
    let told = dir.lancet("cat n.csv --null-values -999 --format jsonl").ok();
    assert_eq!(told, "{\"a\":1}\n{\"a\":null}\n");
    let message = dir.lancet("cat n.csv --delimiter -1").stderr;
    assert!(message.contains("write one ASCII character"), "{message}");
}

#[test]
fn renamed_columns_are_read_as_the_types_of_the_table() {
    let dir = Dir::new("options-rename-types");
    dir.write("t.csv", "zip,n\n0123,1\n");
    dir.lancet("-q table create t t.csv --types zip=string").ok();
    dir.write("u.csv", "ZIP,n\n456,2\n");
    dir.lancet("-q table append t u.csv --rename ZIP=zip").ok();
    let told = dir.lancet("cat t --format jsonl").ok();
    assert_eq!(told, "{\"zip\":\"0123\",\"n\":1}\n{\"zip\":\"456\",\"n\":2}\n");
}

#[test]
fn a_name_that_is_there_twice_is_no_question_of_types() {
    let dir = Dir::new("options-twice");
    dir.write("t.jsonl", "{\"a\":1,\"a\":2}\n");
    let message = dir.lancet("convert t.jsonl t.lance").failed();
    assert!(message.ends_with("rename or remove one of the two"), "{message}");
}

#[test]
fn columns_of_text_get_other_names() {
    let dir = Dir::new("options-rename");
    dir.write("t.csv", "a,a,b.c,d\n1,2,3,4\n");
    let renames = "--rename 2=second --rename b.c=b_c";
    dir.lancet(&format!("convert t.csv t.lance {renames}")).ok();
    let told = dir.lancet("cat t.lance --format csv").ok();
    assert_eq!(told, "a,second,b_c,d\n1,2,3,4\n");
    let told = dir.lancet(&format!("cat t.csv {renames} --columns b_c,second --format csv")).ok();
    assert_eq!(told, "b_c,second\n3,2\n");
    dir.write("t.jsonl", "{\"a.b\":1,\"c\":{\"d\":2}}\n");
    dir.lancet("-q table create t t.jsonl --rename a.b=ab").ok();
    dir.lancet("-q table append t t.jsonl --rename a.b=ab").ok();
    let told = dir.lancet("cat t --format jsonl").ok();
    assert_eq!(told, "{\"ab\":1,\"c\":{\"d\":2}}\n".repeat(2));
    for (rename, told) in [
        ("a=b", "several columns are called `a`; --rename takes the number of one: 2=b"),
        ("x=y", "no column `x` to rename; there are: a, a, b.c, d"),
        ("5=y", "no column `5` to rename"),
        ("d=b.c", "--rename would give two columns the name `b.c`"),
        ("1=x --rename 1=y", "--rename has two new names for column 1"),
    ] {
        let message = dir.lancet(&format!("cat t.csv --rename {rename}")).failed();
        assert!(message.contains(told), "{message}");
    }
    assert_eq!(dir.lancet("cat t.csv --rename x").code, 2);
    assert_eq!(dir.lancet("cat t.lance --rename a=b").code, 2);
}
