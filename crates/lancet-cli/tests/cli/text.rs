//! CSV and JSON as people have them.

use std::io::Write;

use crate::lancet::{Dir, Ran};

/// Runs with arguments that may have spaces or be empty.
fn run(dir: &Dir, args: &[&str]) -> Ran {
    let output = dir.command("").args(args).output().unwrap();
    Ran::new(&args.join(" "), output)
}

/// The rows of a file as JSON lines.
#[track_caller]
fn rows(dir: &Dir, args: &str) -> String {
    dir.lancet(&format!("cat --format jsonl --quiet {args}")).ok()
}

/// The fields of a file, without the line above them.
#[track_caller]
fn schema(dir: &Dir, args: &str) -> String {
    let schema = dir.lancet(&format!("schema --quiet {args}")).ok();
    let fields: Vec<_> = schema.lines().skip(1).map(str::trim).collect();
    fields.join(", ")
}

#[test]
fn what_separates_fields_is_found_out_and_told() {
    let dir = Dir::new("text-sniff");
    dir.write("a.csv", "id;name\r\n1;ada\r\n2;\"b;c\"\r\n");
    let ran = dir.lancet("cat a.csv --format jsonl");
    assert_eq!(ran.stderr, "a.csv: `;` between fields, header, 2 columns\n");
    let expected = "{\"id\":1,\"name\":\"ada\"}\n{\"id\":2,\"name\":\"b;c\"}\n";
    assert_eq!(ran.ok(), expected);
    dir.write("b.csv", "1|x\n2|y\n");
    let ran = dir.lancet("cat b.csv --format csv");
    assert_eq!(ran.stderr, "b.csv: `|` between fields, no header, 2 columns\n");
    assert_eq!(ran.ok(), "column_1,column_2\n1,x\n2,y\n");
    assert_eq!(dir.lancet("cat b.csv --format csv --quiet").stderr, "");
    dir.write("c.csv", "a,b\n1,2\n");
    assert_eq!(dir.lancet("cat c.csv --format csv").stderr, "");
}

#[test]
fn options_win_over_what_is_found() {
    let dir = Dir::new("text-options");
    dir.write("a.csv", "1;2,x\n3;4,y\n");
    assert_eq!(rows(&dir, "a.csv --delimiter , --header"), "{\"1;2\":\"3;4\",\"x\":\"y\"}\n");
    let both = "{\"column_1\":1,\"column_2\":\"2,x\"}\n{\"column_1\":3,\"column_2\":\"4,y\"}\n";
    assert_eq!(rows(&dir, "a.csv --delimiter ; --no-header"), both);
    dir.write("q.csv", "# a comment\nid,name\n1,'a,b'\n2,NA\n");
    let expected = "{\"id\":1,\"name\":\"a,b\"}\n{\"id\":2,\"name\":null}\n";
    assert_eq!(rows(&dir, "q.csv --quote ' --comment # --null-values NA,-"), expected);
    dir.write("e.csv", "id,name\n1,\"a\\\"b\"\n");
    assert_eq!(rows(&dir, "e.csv --escape \\"), "{\"id\":1,\"name\":\"a\\\"b\"}\n");
    dir.write("t.csv", "id\tname\n1\tx\n");
    for tab in ["tab", "\\t"] {
        let expected = "{\"id\":1,\"name\":\"x\"}\n";
        assert_eq!(rows(&dir, &format!("t.csv --delimiter {tab}")), expected);
    }
}

#[test]
fn types_are_chosen_by_the_usual_names() {
    let dir = Dir::new("text-types");
    dir.write("a.csv", "id,when,price\n1,2024-05-01T10:00:00,1.5\n");
    let args = "a.csv --types id=string,when=timestamp[ms],price=decimal(10,2)";
    assert_eq!(schema(&dir, args), "id: Utf8, when: Timestamp(ms), price: Decimal128(10, 2)");
    let expected = "{\"id\":\"1\",\"when\":\"2024-05-01T10:00:00\",\"price\":1.50}\n";
    assert_eq!(rows(&dir, args), expected);
    let message = dir.lancet("cat a.csv --types nope=string").failed();
    assert_eq!(message, "a.csv: no column `nope`; there are: id, when, price");
    let usage = dir.lancet("cat a.csv --types id=strnig");
    assert_eq!(usage.code, 2);
    assert!(usage.stderr.contains("no type `strnig`; known are string, "), "{}", usage.stderr);

    dir.write(
        "a.jsonl",
        "{\"id\":1,\"s\":{\"n\":5},\"m\":[1]}\n{\"id\":2,\"s\":{\"n\":6},\"m\":7}\n",
    );
    let args = "a.jsonl --types id=int16,s.n=string,m=string";
    assert_eq!(schema(&dir, args), "id: Int16, s: Struct, n: Utf8, m: Utf8");
    let expected = "{\"id\":1,\"s\":{\"n\":\"5\"},\"m\":\"[1]\"}\n\
                    {\"id\":2,\"s\":{\"n\":\"6\"},\"m\":\"7\"}\n";
    assert_eq!(rows(&dir, args), expected);
}

#[test]
fn an_option_of_another_format_is_a_usage_error() {
    let dir = Dir::new("text-wrong-option");
    dir.write("a.csv", "a\n1\n");
    dir.write("a.jsonl", "{\"a\":1}\n");
    dir.lancet("convert a.csv a.parquet").ok();
    for (args, option) in [
        (
            "cat a.jsonl --delimiter ;",
            "--delimiter is for reading CSV, but the input is JSON lines",
        ),
        (
            "convert a.parquet b.csv --no-header",
            "--no-header is for reading CSV, but the input is Parquet",
        ),
        (
            "schema a.parquet --types a=string",
            "--types is for reading CSV and JSON, but the input is Parquet",
        ),
        ("analyze a.jsonl --null-values NA", "--null-values is for reading CSV"),
    ] {
        let ran = dir.lancet(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args}");
        assert!(ran.stderr.starts_with(&format!("error: {option}")), "{}", ran.stderr);
    }
}

#[test]
fn late_values_are_named_with_the_option_that_helps() {
    let dir = Dir::new("text-late");
    dir.write("a.csv", "id,x\n".to_owned() + &"1,a\n".repeat(20_000) + "abc\u{7},b\n");
    let message = dir.lancet("convert a.csv b.lance").failed();
    let expected = "a.csv: row 20001 (line 20002), column `id`: `abc\\u{7}` is no int64; the schema \
                    comes from the first 10000 records: --types id=string keeps such values, \
                    --infer-rows all looks at every record";
    assert_eq!(message, expected);
    assert!(!dir.path("b.lance").exists());
    assert_eq!(schema(&dir, "a.csv --infer-rows all"), "id: Utf8, x: Utf8");
    assert_eq!(schema(&dir, "a.csv --types id=string"), "id: Utf8, x: Utf8");
    dir.lancet("convert a.csv b.lance --infer-rows 0").ok();

    let records = "{\"s\":{\"id\":1}}\n".repeat(12_000);
    for late in ["{\"s\":{\"id\":1.5}}", "{\"s\":{\"id\":[1]}}", "{\"s\":{\"id\":\"1\"}}"] {
        dir.write("a.jsonl", records.clone() + late);
        let message = dir.lancet("convert a.jsonl b.lance").failed();
        let expected = "a.jsonl: row 12001 (line 12001), column `s.id`: `";
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("--types s.id=string"), "{message}");
    }
    dir.write("w.jsonl", "{\"w\":\"x\"}\n".repeat(10_000) + "{\"w\":{}}\n");
    let message = dir.lancet("convert w.jsonl b.lance").failed();
    assert!(message.contains("column `w`: `{}` is no single value"), "{message}");
    dir.write("a.jsonl", records + "{\"s\":{\"id\":1,\"more\":2}}");
    let message = dir.lancet("convert a.jsonl b.lance").failed();
    assert!(message.contains("column `s.more`: is a name that no record before had"), "{message}");
}

#[test]
fn rows_of_another_length_are_named() {
    let dir = Dir::new("text-ragged");
    dir.write("a.csv", "a,b\n1,2\n1,2,3\n");
    let message = dir.lancet("cat a.csv").failed();
    let expected = "a.csv: line 3 has 3 fields, but the first one has 2; see --delimiter, --quote and --comment";
    assert_eq!(message, expected);
}

#[test]
fn every_text_ending_is_read_and_written() {
    let dir = Dir::new("text-endings");
    let lines = "{\"id\":1,\"name\":\"a\\tb\"}\n{\"id\":2,\"name\":null}\n";
    dir.write("a.jsonl", lines);
    for ending in ["tsv", "csv", "json", "ndjson"] {
        for compression in ["", ".gz", ".zst"] {
            let name = format!("b.{ending}{compression}");
            dir.lancet(&format!("convert a.jsonl {name}")).ok();
            dir.lancet(&format!("convert {name} c.lance")).ok();
            assert_eq!(rows(&dir, "c.lance"), lines, "{name}");
            let bytes = std::fs::read(dir.path(&name)).unwrap();
            let magic: &[u8] = match compression {
                ".gz" => b"\x1F\x8B",
                ".zst" => b"\x28\xB5\x2F\xFD",
                _ => b"",
            };
            assert!(bytes.starts_with(magic), "{name}");
        }
    }
    assert_eq!(dir.read("b.tsv"), "id\tname\n1\t\"a\tb\"\n2\t\n");
    assert_eq!(
        dir.read("b.json"),
        "[\n{\"id\":1,\"name\":\"a\\tb\"},\n{\"id\":2,\"name\":null}\n]\n"
    );
    assert!(dir.lancet("convert a.jsonl b.parquet.gz").failed().contains("unknown ending"));
}

#[test]
fn json_may_be_an_array_an_object_or_lines() {
    let dir = Dir::new("text-json");
    let expected = "{\"a\":1}\n{\"a\":2}\n";
    for text in
        ["[{\"a\":1},{\"a\":2}]", "{\"a\":1}\n{\"a\":2}\n", "[\n  {\n \"a\": 1 },\n{\"a\":2}\n]\n"]
    {
        dir.write("a.json", text);
        assert_eq!(rows(&dir, "a.json"), expected, "{text}");
    }
    dir.write("a.json", "{\n  \"a\": 1\n}\n");
    assert_eq!(rows(&dir, "a.json"), "{\"a\":1}\n");
    dir.write("a.json", "[{\"a\":1},\n{\"a\":2}\n");
    let message = dir.lancet("cat a.json").failed();
    assert_eq!(message, "a.json: the file ends before the `]` of its array");
    dir.write("a.json", "[{\"a\":1},\n7]\n");
    assert_eq!(dir.lancet("cat a.json").failed(), "a.json: line 2: record 2 is not a JSON object");
}

#[test]
fn other_encodings_are_refused_with_a_way_out() {
    let dir = Dir::new("text-encodings");
    let utf16: Vec<u8> = "id,name\n1,ada\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    dir.write("a.csv", [b"\xFF\xFE".as_slice(), &utf16].concat());
    dir.write("b.csv", &utf16);
    for file in ["a.csv", "b.csv"] {
        let message = dir.lancet(&format!("cat {file}")).failed();
        assert!(
            message.starts_with(&format!("{file}: is UTF-16, and lancet reads UTF-8")),
            "{message}"
        );
    }
    dir.write("c.csv", b"id,name\n1,b\xFCro\n");
    let message = dir.lancet("cat c.csv").failed();
    assert!(message.starts_with("c.csv: line 2 is not UTF-8: `b\u{fffd}ro`; convert"), "{message}");
    dir.write("d.csv.gz", b"\x1F\x8B\x08\x00broken");
    assert!(dir.lancet("cat d.csv.gz").failed().starts_with("d.csv.gz: "));
}

#[test]
fn values_survive_csv() {
    let dir = Dir::new("text-values-csv");
    let csv = "zip,big,when,note,minus\n\
               01234,18446744073709551615,2024-05-01T08:00:00Z,\"\",-0.0\n\
               99999,1,2024-05-01T08:00:01Z,,1.0\n";
    dir.write("a.csv", csv);
    dir.lancet("convert a.csv b.lance").ok();
    let types = "zip: Utf8, big: UInt64, when: Timestamp(s, \"UTC\"), note: Utf8, minus: Float64";
    assert_eq!(schema(&dir, "b.lance"), types);
    dir.lancet("convert b.lance c.csv").ok();
    assert_eq!(dir.read("c.csv"), csv);
    // An offset is kept as an instant, and never dropped.
    dir.write("a.csv", "when\n2024-05-01T10:00:00+02:00\n2024-05-01T10:00:00.5Z\n");
    let expected = "{\"when\":\"2024-05-01T08:00:00Z\"}\n{\"when\":\"2024-05-01T10:00:00.500Z\"}\n";
    assert_eq!(rows(&dir, "a.csv"), expected);
    dir.write("a.csv", "when\n2024-05-01T10:00:00+02:00\n2024-05-01T10:00:00\n");
    assert_eq!(schema(&dir, "a.csv"), "when: Utf8");
    let late = "when\n".to_owned()
        + &"2024-05-01T10:00:00\n".repeat(10_000)
        + "2024-05-01T10:00:00+02:00\n";
    dir.write("a.csv", late);
    let message = dir.lancet("convert a.csv b.lance").failed();
    assert!(message.contains("`2024-05-01T10:00:00+02:00` has an offset from UTC"), "{message}");
}

#[test]
fn empty_texts_and_nulls_are_told_apart() {
    let dir = Dir::new("text-empty");
    dir.write("a.csv", "a,b,n\n\"\",,\"\"\nx,NA,1\n");
    let first = "{\"a\":\"\",\"b\":null,\"n\":null}\n";
    assert_eq!(rows(&dir, "a.csv"), format!("{first}{{\"a\":\"x\",\"b\":\"NA\",\"n\":1}}\n"));
    let ran = run(&dir, &["cat", "a.csv", "--format", "jsonl", "--null-values", "NA,"]);
    let expected = "{\"a\":null,\"b\":null,\"n\":null}\n{\"a\":\"x\",\"b\":null,\"n\":1}\n";
    assert_eq!(ran.ok(), expected);
    // The only column has no other way to write a null, and says so.
    dir.write("a.jsonl", "{\"a\":\"x\"}\n{\"a\":null}\n");
    let ran = dir.lancet("cat a.jsonl --format csv");
    assert!(
        ran.stderr.starts_with("warning: column `a`, row 1: a null in the only"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.ok(), "a\nx\n\"\"\n");
}

#[test]
fn values_survive_json() {
    let dir = Dir::new("text-values-json");
    dir.write("a.csv", "f,g\nNaN,1.5\ninf,2\n-inf,0.1\n1.5,\n");
    dir.lancet("convert a.csv a.lance").ok();
    dir.lancet("convert a.lance a.jsonl").ok();
    let expected = "{\"f\":\"NaN\",\"g\":1.5}\n{\"f\":\"Infinity\",\"g\":2.0}\n\
                    {\"f\":\"-Infinity\",\"g\":0.1}\n{\"f\":1.5,\"g\":null}\n";
    assert_eq!(dir.read("a.jsonl"), expected);
    assert_eq!(schema(&dir, "a.jsonl"), "f: Float64, g: Float64");
    assert_eq!(rows(&dir, "a.jsonl"), expected);

    dir.write("b.jsonl", "{\"n\":1}\n{\"n\":18446744073709551615}\n");
    assert_eq!(schema(&dir, "b.jsonl"), "n: UInt64");
    assert_eq!(rows(&dir, "b.jsonl"), dir.read("b.jsonl"));
    for numbers in [
        ["-1", "18446744073709551615"],
        ["0.5", "9007199254740993"],
        ["1", "123456789012345678901"],
    ] {
        let [a, b] = numbers;
        dir.write("c.jsonl", format!("{{\"n\":{a}}}\n{{\"n\":{b}}}\n"));
        let ran = dir.lancet("cat c.jsonl --format jsonl");
        assert!(
            ran.stderr.starts_with("c.jsonl: read as text, since no 64-bit type"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.ok(), format!("{{\"n\":\"{a}\"}}\n{{\"n\":\"{b}\"}}\n"));
    }
    dir.write("d.jsonl", "{\"a\":1,\"a\":2}\n");
    let message = dir.lancet("cat d.jsonl").failed();
    assert!(message.contains("column `a`: is there twice"), "{message}");
}

#[cfg(unix)]
#[test]
fn endless_records_end() {
    let dir = Dir::new("text-endless");
    std::os::unix::fs::symlink("/dev/zero", dir.path("zero.csv")).unwrap();
    let message = dir.lancet("cat zero.csv").failed();
    assert_eq!(message, "zero.csv: has zero bytes at its beginning; this is not a text file");
    // A small file that becomes a record without an end.
    let mut zst = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let block = vec![b'x'; 1 << 20];
    zst.write_all(b"a\n\"").unwrap();
    (0..70).for_each(|_| zst.write_all(&block).unwrap());
    let zst = zst.finish().unwrap();
    assert!(zst.len() < 1 << 20);
    dir.write("bomb.csv.zst", &zst);
    let message = dir.lancet("cat bomb.csv.zst").failed();
    assert!(message.starts_with("bomb.csv.zst: the record at line "), "{message}");
    assert!(message.ends_with("is a quote not closed?"), "{message}");
}

#[test]
fn times_without_a_date_are_shown_and_not_exported() {
    use arrow_array::{ArrayRef, DictionaryArray, Int8Array, RecordBatch, TimestampSecondArray};
    use std::sync::Arc;

    let dir = Dir::new("text-no-date");
    let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, i64::MAX, 60]));
    let keys = Int8Array::from(vec![0, 1, 2]);
    let packed: ArrayRef = Arc::new(DictionaryArray::new(keys, times.clone()));
    for (name, column) in [("times", times), ("packed", packed)] {
        let batch = RecordBatch::try_from_iter([("at", column)]).unwrap();
        let mut writer =
            arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        dir.write(&format!("{name}.arrows"), writer.into_inner().unwrap());
        for to in ["--format csv", "--format jsonl", "-o out.tsv", "-o out.json"] {
            let message = dir.lancet(&format!("cat {name}.arrows {to}")).failed();
            assert!(
                message.contains(
                    "column `at`, row 1 of the output (counted from 0), cannot be written"
                ),
                "{message}"
            );
            assert!(message.contains("9223372036854775807"), "{message}");
        }
        let shown = dir.lancet(&format!("cat {name}.arrows")).ok();
        assert!(shown.contains("9223372036854775807 (out of range)"), "{shown}");
        assert!(shown.contains("1970-01-01T00:00:00 "), "{shown}");
        assert!(shown.contains("1970-01-01T00:01:00 "), "{shown}");
    }
    let many = (0..100_000).map(|row| if row == 1 { i64::MAX } else { row });
    let many: ArrayRef = Arc::new(TimestampSecondArray::from_iter_values(many));
    let batch = RecordBatch::try_from_iter([("at", many)]).unwrap();
    let file = std::fs::File::create(dir.path("times.arrows")).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    dir.lancet("convert times.arrows times.lance").ok();
    assert!(dir.lancet("stats times.lance").ok().contains("(out of range)"));
    let json = dir.lancet("stats times.lance --json").ok();
    assert!(json.contains("9223372036854775807"), "{json}");
}
