//! `analyze`: what it says of a column, and whether `convert` then writes what it foretold.

use std::fmt::Write as _;

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

#[test]
fn a_report_for_people() {
    let dir = with_orders("analyze-report", 2_000);
    let report = dir.lancet("analyze orders.arrow --columns status").ok();
    assert!(report.starts_with("orders.arrow: 2,000 rows, 2,000 looked at, "), "{report}");
    assert!(report.contains("status: Utf8, 0.0 % null, about 3 distinct, runs of 5.0"), "{report}");
    assert!(report.contains("►") && report.contains("  take: "), "{report}");
    assert!(!report.contains("price"), "{report}");
    let error = dir.lancet("analyze orders.arrow --columns prize").failed();
    assert!(error.contains("no column `prize`; there are: id, status, price, note"), "{error}");
}
