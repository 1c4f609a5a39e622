//! `demo`: one screen, true figures, commands that work.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::lancet::Dir;

fn widest(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Without options, started as a user would, in a directory that has the program.
#[test]
#[cfg(unix)]
fn one_screen_and_three_commands_that_work() {
    let dir = Dir::new("demo");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lancet"), dir.path("lancet")).unwrap();
    let shell = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).current_dir(dir.path("")).env("TMPDIR", ".");
        crate::lancet::Ran::new(line, shell.output().unwrap()).ok()
    };
    let report = shell("./lancet demo");
    assert!(report.lines().count() <= 40, "{report}");
    assert!(widest(&report) <= 100, "{report}");
    for part in ["\nSMALL ", "\nFAST ", "\nFRUGAL ", "\nSAFE ", "Parquet, zstd", "column 4, page 0"]
    {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let (_, commands) = report.split_once("\nTry next:\n").unwrap();
    let commands = commands.replace("\\\n", " ");
    assert_eq!(commands.lines().count(), 3, "{commands}");
    for command in commands.lines() {
        assert!(command.trim_start().starts_with("./lancet "), "{command}");
        assert!(command.contains(" ./lancet-demo/orders"), "{command}");
        shell(command);
    }
}

#[test]
fn every_width_is_kept() {
    let dir = Dir::new("demo-width");
    for width in [60, 80] {
        let report = dir.lancet(&format!("demo --rows 2000 --dir kept --width {width}")).ok();
        let (figures, _) = report.split_once("\nTry next:\n").unwrap();
        assert!(widest(figures) <= width, "{report}");
    }
}

#[test]
fn figures_are_those_of_the_files() {
    let dir = Dir::new("demo-json");
    let json: Value =
        serde_json::from_str(&dir.lancet("demo --rows 20000 --dir kept --json").ok()).unwrap();
    let files = json["files"].as_array().unwrap();
    assert_eq!(files.len(), 5);
    for file in files {
        let size = dir.path(file["path"].as_str().unwrap()).metadata().unwrap().len();
        assert_eq!(file["bytes"], size, "{file}");
        let rows = dir.lancet(&format!("schema {} --json", file["path"].as_str().unwrap())).ok();
        assert!(rows.contains("20000"), "{rows}");
    }
    assert_eq!(json["takes"].as_array().unwrap().len(), 2 * files.len());

    let filter = &json["filter"];
    let rows = filter["rows"].as_u64().unwrap();
    let day = filter["day"].as_str().unwrap();
    let all = dir.lancet("cat kept/orders.lance --columns ordered_at --format csv").ok();
    assert_eq!(all.lines().filter(|line| line.starts_with(day)).count() as u64, rows);
    assert!(rows > 1_000 && filter["rows_looked_at"].as_u64().unwrap() >= rows, "{filter}");
    assert!(filter["bytes_read"].as_u64() < filter["file_bytes"].as_u64(), "{filter}");

    let damage = &json["damage"];
    let verified = dir.lancet("verify kept/damaged.lance");
    assert_eq!(verified.code, 1);
    assert!(verified.stdout.contains(damage["problem"].as_str().unwrap()), "{}", verified.stdout);
    let (sound, damaged) = (bytes(&dir, "orders.lance"), bytes(&dir, "damaged.lance"));
    let flipped: Vec<u64> = (0..)
        .zip(sound.iter().zip(&damaged))
        .filter(|(_, (a, b))| a != b)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(flipped, [damage["byte"].as_u64().unwrap()]);
    assert!(damage["checked_read"]["error"].is_string(), "{damage}");
    let prices = |file: &str| dir.lancet(&format!("cat kept/{file} -c price --format csv")).stdout;
    let (right, read) = (prices("orders.lance"), prices("damaged.lance"));
    let wrong = right.lines().zip(read.lines()).filter(|(a, b)| a != b).count() as u64;
    assert_eq!(damage["plain_read"]["wrong_values"], wrong);
}

fn bytes(dir: &Dir, name: &str) -> Vec<u8> {
    std::fs::read(dir.path("kept").join(name)).unwrap()
}

#[test]
fn a_directory_that_cannot_be_made() {
    let dir = Dir::new("demo-no-dir");
    dir.write("file", "");
    let message = dir.lancet("demo --rows 100 --dir file/below").failed();
    assert!(message.contains("choose another directory with --dir"), "{message}");
}
