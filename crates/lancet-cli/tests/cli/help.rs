//! Help texts, version, usage errors.

use crate::lancet::{Dir, assert_snapshot};

#[test]
fn every_help_text() {
    let dir = Dir::new("help");
    assert_snapshot("help", &dir.lancet("--help").ok());
    for command in [
        "convert", "cat", "take", "sql", "schema", "inspect", "stats", "verify", "analyze",
        "row-ids", "demo",
    ] {
        let help = dir.lancet(&format!("{command} --help")).ok();
        assert!(help.contains("Examples:\n  lancet"), "{help}");
        assert_snapshot(&format!("help-{command}"), &help);
    }
}

#[test]
fn version() {
    let version = Dir::new("version").lancet("--version").ok();
    assert_eq!(version, format!("lancet {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_code_2() {
    let dir = Dir::new("usage");
    let usage = |args: &str| {
        let ran = dir.lancet(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "lancet {args}");
        ran.stderr
    };
    usage("");
    usage("frobnicate");
    usage("cat");
    usage("cat a.lance --format xml");
    usage("cat a.lance --format csv -o b.csv");
    usage("demo --rows 0");
    let rows = usage("cat a.lance --rows 5");
    assert!(rows.contains("`5` is no range of rows; write it as 10..20, 10.. or ..20"), "{rows}");
    let rows = usage("take a.lance --rows 1,x");
    assert!(rows.contains("`x` is no row; write rows as 5,9,2 or 5,9,100..110"), "{rows}");
    let version = usage("convert a.csv b.lance --format-version 2.3");
    assert!(version.contains("choose 2.0, 2.1 or 2.2"), "{version}");
    let version = usage("analyze a.csv --format-version 2.0");
    assert!(version.contains("2.0 leaves no choice; choose 2.1 or 2.2"), "{version}");
}
