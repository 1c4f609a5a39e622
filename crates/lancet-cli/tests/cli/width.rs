//! Reports are as wide as asked for, whatever they are about.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::lancet::Dir;

const REPORTS: [&str; 6] = [
    "inspect t.lance",
    "inspect t.lance --pages",
    "stats t.lance",
    "stats t.lance --zones",
    "analyze t.lance --sample-rows 2000",
    "convert t.lance u.lance --explain -q",
];

/// Long names, in wide letters too, deep types, long encodings, long values.
fn with_table(name: &str) -> Dir {
    let dir = Dir::new(name);
    let long = "a_name_that_goes_on_and_on_".repeat(4);
    let wide = "長い名前".repeat(12);
    let mut rows = String::new();
    for i in 0..9_000_u32 {
        let text = format!("{}{}", "no space in this ".repeat(3), i % 400);
        let deep = format!("[{{\"deeper\":{{\"deepest\":[{i}],\"{wide}\":\"{}\"}}}}]", i % 7);
        writeln!(rows, "{{\"id\":{i},\"{long}\":\"{text}\",\"deep\":{deep},\"{wide}\":{}}}", i % 5)
            .unwrap();
    }
    dir.write("t.jsonl", rows);
    dir.lancet("convert t.jsonl t.lance").ok();
    dir
}

#[test]
fn lines_fit() {
    let dir = with_table("width");
    for report in REPORTS {
        for width in [40, 80, 100] {
            let text = dir.lancet(&format!("{report} --width {width}")).ok();
            assert!(text.lines().count() > 4, "{text}");
            for line in text.lines().filter(|line| line.width() > width) {
                // Options of a command to be pasted are whole, however long.
                assert!(line.trim_start().starts_with("--set "), "{report} {width}: {line}");
            }
        }
    }
}

#[test]
fn nothing_is_cut_in_files_and_pipes() {
    let dir = with_table("width-none");
    let report = dir.lancet("inspect t.lance").ok();
    assert!(report.contains(&"a_name_that_goes_on_and_on_".repeat(4)), "{report}");
    assert!(report.lines().any(|line| line.width() > 200), "{report}");
    assert!(!report.contains('…'), "{report}");
}

#[test]
fn too_narrow_is_wrong_usage() {
    let ran = Dir::new("width-usage").lancet("inspect t.lance --width 10");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("20.."), "{}", ran.stderr);
}
