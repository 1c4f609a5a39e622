//! Help texts, version, usage errors.

use crate::lancet::{Dir, assert_snapshot};

/// The commands of every build.
const COMMANDS: [&str; 15] = [
    "convert",
    "cat",
    "take",
    "table",
    "schema",
    "inspect",
    "stats",
    "verify",
    "report",
    "versions",
    "row-ids",
    "analyze",
    "demo",
    "completions",
    "man",
];

#[test]
fn every_help_text() {
    let dir = Dir::new("help");
    assert_snapshot("help", &dir.lancet("--help").ok());
    for command in COMMANDS {
        check_help(&dir, command);
    }
}

#[cfg(not(feature = "sql"))]
#[test]
fn a_build_without_sql_says_how_to_get_it() {
    let dir = Dir::new("no-sql");
    let how = "error: this build has no SQL; get it with: \
               cargo install --path crates/lancet-cli --locked --profile dist --features sql\n";
    for args in ["sql", "sql --help", "sql -h", "-q sql SELECT --format csv -o a.lance", "sql -"] {
        let ran = dir.lancet(args);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", how), "{args}");
    }
    let help = dir.lancet("help sql").ok();
    assert!(how.ends_with(&help), "{help}");
}

#[test]
#[cfg(feature = "sql")]
fn help_of_sql() {
    let dir = Dir::new("help-sql");
    check_help(&dir, "sql");
}

fn check_help(dir: &Dir, command: &str) {
    let help = dir.lancet(&format!("{command} --help")).ok();
    assert!(help.contains("Examples:\n  lancet"), "{help}");
    assert_snapshot(&format!("help-{command}"), &help);
}

/// Every command stands once in the help, in its group.
#[test]
fn commands_in_groups() {
    let help = Dir::new("help-groups").lancet("help").ok();
    for command in COMMANDS.into_iter().chain(["sql"]) {
        assert_eq!(help.matches(&format!("\n  {command} ")).count(), 1, "{command}: {help}");
    }
    let places =
        ["Read and write:\n  convert", "Look inside:\n  schema", "Try and set up:\n  demo"];
    assert!(places.map(|place| help.find(place).unwrap()).is_sorted(), "{help}");
    assert!(!help.contains("Others:"), "a command has no group: {help}");
    assert!(help.contains("Exit codes: 0 fine, 1 bad input"), "{help}");
    assert!(help.contains("cargo install --path crates/lancet-cli --locked"), "{help}");
}

#[test]
fn version() {
    let dir = Dir::new("version");
    let short = format!("lancet {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(dir.lancet("-V").ok(), format!("{short}\n"));
    let sql = match (cfg!(feature = "sql"), cfg!(feature = "cloud")) {
        (true, _) => "sql",
        (false, true) => "cloud",
        (false, false) => "none",
    };
    let long = dir.lancet("--version").ok();
    assert!(long.starts_with(&format!("{short} (Lance files 2.0, 2.1, 2.2; features: ")), "{long}");
    assert!(long.contains(sql) && long.ends_with(")\n") && long.lines().count() == 1, "{long}");
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

/// Examples that not every build can run say so.
#[test]
fn examples_name_the_features_that_they_need() {
    let dir = Dir::new("help-features");
    let mut marked = 0;
    for args in [
        "convert",
        "cat",
        "take",
        "stats",
        "table",
        "table delete",
        "table update",
        "table add-column",
        "table merge",
    ] {
        let help = dir.lancet(&format!("{args} --help")).ok();
        for line in help.lines().filter(|line| line.starts_with("  lancet ")) {
            let needs_sql = ["lower(", "upper(", " = population + 1", "--expr"];
            let (mark, is_needed) = match line.contains("://") {
                true => ("(cloud)", true),
                false => ("(SQL)", needs_sql.iter().any(|words| line.contains(words))),
            };
            assert_eq!(line.ends_with(mark), is_needed, "{args}: {line}");
            marked += usize::from(is_needed);
            assert!(!is_needed || help.contains(&format!("{mark}: a build with the feature")));
        }
    }
    assert_eq!(marked, 7);
}
