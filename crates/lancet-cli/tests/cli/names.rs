//! Names out of files do not command the terminal.

use crate::lancet::Dir;
use crate::mutate::file::Parts;

const NAME: &str = "\u{1b}[31mred\nline";

/// Nothing that a terminal obeys, on no line of its own.
#[track_caller]
fn assert_harmless(args: &str, text: &str) {
    let obeyed = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(obeyed, None, "lancet {args}: {text:?}");
    assert!(!text.lines().any(|line| line.starts_with("line")), "lancet {args}: {text:?}");
}

#[test]
fn names_are_spelled_out() {
    let dir = Dir::new("names");
    let name = serde_json::Value::from(NAME);
    let row = |n: u32| format!("{{{name}:{n},\"in\":{{{name}:\"{n}\"}},\"l\":[{{{name}:{n}}}]}}\n");
    dir.write("t.jsonl", (0..50).map(row).collect::<String>());
    dir.lancet("convert t.jsonl t.lance").ok();
    dir.lancet("convert t.jsonl t.parquet").ok();
    dir.lancet("convert t.jsonl t.arrow").ok();
    dir.write("u.jsonl", format!("{{{name}:\"text\"}}\n"));
    dir.write(
        "bad.jsonl",
        (0..10_001).map(row).collect::<String>() + &format!("{{{name}:\"x\"}}\n"),
    );
    dir.write(
        "bad.csv",
        format!("\"{NAME}\",b\n1,2\n").repeat(1) + &"1,2\n".repeat(10_001) + "x,1\n",
    );
    let file = std::fs::read(dir.path("t.lance")).unwrap();
    // Damaged in each column, so that messages name them.
    let mut parts = Parts::split(&file).unwrap();
    for (start, size) in parts.page_buffers() {
        parts.data[start..start + size].fill(0xFF);
    }
    dir.write("damaged.lance", parts.join());
    let odd = "odd\u{1b}[31m.lance";
    dir.write(odd, &file);
    dir.write("odd\u{1b}[32m.lance", "nothing");

    for args in [
        "cat t.lance",
        "cat t.parquet --limit 3",
        "cat t.arrow --columns nope",
        "cat t.lance --columns nope",
        "cat t.lance u.jsonl",
        "cat t.lance --format csv",
        "cat t.jsonl -o out.csv",
        "cat damaged.lance",
        "take t.lance --rows 1",
        "take t.lance --rows 100",
        "take damaged.lance --rows 1",
        "schema t.lance t.parquet t.arrow t.jsonl u.jsonl",
        "inspect t.lance --pages",
        "inspect t.lance --columns nope",
        "inspect damaged.lance --pages",
        "stats t.lance",
        "stats t.lance --zones",
        "stats t.lance --columns nope",
        "verify t.lance",
        "verify damaged.lance",
        "verify t.lance damaged.lance",
        "analyze t.lance",
        "analyze t.lance --columns nope",
        "analyze damaged.lance",
        "convert t.lance new.lance --explain",
        "convert t.lance new.lance --set nope.compression=zstd",
        "convert t.lance new.csv",
        "convert damaged.lance new.parquet",
        "convert bad.jsonl new.lance",
        "convert bad.csv new.lance",
        "convert bad.csv t.jsonl out/",
        "convert u.jsonl new.lance --types nope=int64",
        "schema odd*",
        "verify odd*",
        "inspect odd*",
        "stats odd*",
        "convert odd* out/ --to csv",
        "row-ids damaged.lance",
    ] {
        let ran = dir.lancet(args);
        assert_harmless(args, &ran.stdout);
        assert_harmless(args, &ran.stderr);
    }
    // What is data stays what it is.
    assert!(dir.lancet("cat u.jsonl --format csv").ok().starts_with(&format!("\"{NAME}\"\n")));
}
