//! `analyze`: what it says of a column, and whether `convert` then writes what it foretold.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, RecordBatch, StringArray, StringViewArray};
use serde_json::Value;

use crate::lancet::Dir;

/// Enough rows that only a part of them is looked at.
fn with_orders(name: &str, rows: u32) -> Dir {
    let dir = Dir::new(name);
    let mut csv = "id,status,price,note\n".to_owned();
    for i in 0..rows {
        let noise = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        let noise = noise.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
        let price = (noise % 9_000) as f64 / 100.0;
        let status = ["open", "paid", "sent"][(i / 5) as usize % 3];
        let note = if i % 4 == 0 { String::new() } else { format!("order {i} of {}", i % 977) };
        writeln!(csv, "{i},{status},{price},{note}").unwrap();
    }
    dir.write("orders.csv", csv);
    dir.lancet("convert orders.csv orders.arrow").ok();
    dir
}

fn analyzed(dir: &Dir, args: &str) -> Value {
    serde_json::from_str(&dir.lancet(&format!("analyze {args} --json")).ok()).unwrap()
}

fn column<'a>(analysis: &'a Value, name: &str) -> &'a Value {
    let columns = analysis["columns"].as_array().unwrap();
    columns.iter().find(|column| column["name"] == name).unwrap()
}

#[test]
fn columns_are_described() {
    let dir = with_orders("analyze", 30_000);
    for file in ["orders.arrow", "orders.parquet", "orders.lance"] {
        if file != "orders.arrow" {
            dir.lancet(&format!("convert orders.arrow {file}")).ok();
        }
        let analysis = analyzed(&dir, file);
        assert_eq!(
            (&analysis["rows"], &analysis["rows_looked_at"]),
            (&30_000.into(), &30_000.into())
        );
        let id = column(&analysis, "id");
        assert_eq!((&id["distinct"], &id["bit_width"]), (&30_000.into(), &15.into()));
        assert_eq!(column(&analysis, "status")["distinct"], 3);
        assert_eq!(column(&analysis, "status")["run_length"], 5.0);
        assert_eq!(column(&analysis, "note")["null_share"], 0.25);
        let forms = |name: &str| {
            let candidates = column(&analysis, name)["candidates"].as_array().unwrap();
            let forms = candidates.iter().map(|c| c["form"].as_str().unwrap().to_owned());
            forms.collect::<Vec<_>>().join("\n")
        };
        for form in ["bit-packed 64-bit", "Parquet DELTA_BINARY_PACKED", "Parquet zstd over PLAIN"]
        {
            assert!(forms("id").contains(form), "{}", forms("id"));
        }
        for form in ["fsst over", "Parquet DELTA_BYTE_ARRAY", "Parquet DELTA_LENGTH_BYTE_ARRAY"] {
            assert!(forms("note").contains(form), "{}", forms("note"));
        }
    }
}

#[test]
fn convert_writes_what_was_foretold() {
    let dir = with_orders("analyze-predicts", 600_000);
    for profile in ["balanced", "small"] {
        let analysis =
            analyzed(&dir, &format!("orders.arrow --profile {profile} --sample-rows 250000"));
        assert!(analysis["rows_looked_at"].as_u64().unwrap() <= 250_000);
        let options = analysis["convert_options"].as_array().unwrap();
        let options: Vec<_> = options.iter().map(|option| option.as_str().unwrap()).collect();
        let options = options.join(" ");
        dir.lancet(&format!("convert orders.arrow out.lance --profile {profile} {options}")).ok();
        let written = dir.path("out.lance").metadata().unwrap().len() as f64;
        let foretold = analysis["predicted_bytes"].as_f64().unwrap();
        let off = foretold / written - 1.0;
        assert!(off.abs() < 0.05, "{foretold} instead of {written}, {options}");
    }
}

/// A column of strings as `Utf8` and as `Utf8View`, in one Arrow file.
fn with_views(name: &str) -> Dir {
    let dir = Dir::new(name);
    let texts = (0..5_000).map(|i| format!("a text that is long enough, number {}", i % 700));
    let plain = StringArray::from_iter_values(texts);
    let views = StringViewArray::from_iter_values(plain.iter().flatten());
    let bytes = BinaryViewArray::from_iter_values(plain.iter().flatten());
    let columns: [(&str, ArrayRef); 3] =
        [("plain", Arc::new(plain)), ("views", Arc::new(views)), ("bytes", Arc::new(bytes))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(dir.path("views.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    dir
}

#[test]
fn views_are_counted_with_their_values() {
    let dir = with_views("analyze-views");
    let analysis = analyzed(&dir, "views.arrow");
    let plain = column(&analysis, "plain");
    let texts = plain["arrow_bytes"].as_u64().unwrap() - 4 * 5_001;
    for name in ["views", "bytes"] {
        let views = column(&analysis, name);
        assert_eq!(views["arrow_bytes"], texts + 16 * 5_000, "{name}");
        let forms = |column: &Value| {
            let candidates = column["candidates"].as_array().unwrap();
            let form = |c: &Value| (c["form"].clone(), c["bytes"].clone());
            candidates.iter().map(form).collect::<Vec<_>>()
        };
        assert_eq!(forms(views), forms(plain), "{name}");
        let (ratio, bytes) = (&views["candidates"][0]["ratio"], &views["candidates"][0]["bytes"]);
        let expected = bytes.as_f64().unwrap() / (texts + 16 * 5_000) as f64;
        assert!((ratio.as_f64().unwrap() - expected).abs() < 1e-9, "{name}: {ratio}");
    }
}

#[test]
fn a_report_for_people() {
    let dir = with_orders("analyze-report", 2_000);
    let report = dir.lancet("analyze orders.arrow -c status").ok();
    assert!(report.starts_with("orders.arrow: 2,000 rows, 2,000 looked at, "), "{report}");
    assert!(report.contains("status: Utf8, 0.0 % null, about 3 distinct, runs of 5.0"), "{report}");
    assert!(report.contains("►") && report.contains("  take: "), "{report}");
    assert!(!report.contains("price"), "{report}");
    let error = dir.lancet("analyze orders.arrow --columns prize").failed();
    assert!(error.contains("no column `prize`; there are: id, status, price, note"), "{error}");
}
