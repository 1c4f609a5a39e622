//! `stats`, and zone maps in the other commands.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, TimestampSecondArray};
use lancet::{FileWriter, WriteOptions};

use crate::lancet::{Dir, assert_snapshot};

/// A table large enough for zone maps, with a column too small for one of its own.
fn with_table(name: &str, convert: &str) -> Dir {
    let dir = Dir::new(name);
    let mut csv = String::from("id,price,word,few\n");
    for i in 0..20_000_u64 {
        let scattered = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let price = if i % 10 == 0 {
            String::new()
        } else {
            format!("{:?}", (scattered >> 40) as f64 / 8.0)
        };
        writeln!(csv, "{i},{price},word {scattered:016x},{}", i % 2).unwrap();
    }
    dir.write("t.csv", csv);
    dir.lancet(&format!("convert t.csv t.lance {convert}")).ok();
    dir
}

#[test]
fn columns_zones_and_json() {
    let dir = with_table("stats", "");
    assert_snapshot("stats", &dir.lancet("stats t.lance").ok());
    assert_snapshot("stats-zones", &dir.lancet("stats t.lance --zones --columns price").ok());
    assert_snapshot("stats-json", &dir.lancet("stats t.lance --json --zones --columns id").ok());
    let message = dir.lancet("stats t.lance --columns prize").failed();
    assert!(message.contains("did you mean `price`?"), "{message}");
}

#[test]
fn the_same_in_every_version() {
    let stats = |version: &str| {
        let name = format!("stats-{version}");
        with_table(&name, &format!("--format-version {version}")).lancet("stats t.lance").ok()
    };
    assert_eq!(stats("2.0"), stats("2.2"));
    assert_eq!(stats("2.1"), stats("2.2"));
}

#[test]
fn other_commands_tell_of_maps() {
    let dir = with_table("stats-others", "");
    let verified = dir.lancet("verify t.lance").ok();
    assert!(verified.ends_with(" zone maps)\n"), "{verified}");
    let pages = dir.lancet("inspect t.lance --pages --columns id").ok();
    assert!(pages.contains("zone map, 8192 rows a zone at "), "{pages}");
    let json: serde_json::Value =
        serde_json::from_str(&dir.lancet("inspect t.lance --json --columns id").ok()).unwrap();
    assert!(json["columns"][0]["zone_map_bytes"].as_u64().unwrap() > 500, "{json}");
}

/// Instants from the start of 2024 on in four time zones, one of which nobody knows.
fn with_zones(name: &str) -> Dir {
    let dir = Dir::new(name);
    let instants = TimestampSecondArray::from_iter_values((0..100_000_u64).map(|i| {
        let scattered = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36;
        1_704_067_200 + scattered.cast_signed()
    }));
    let zoned = |zone: &str| -> ArrayRef { Arc::new(instants.clone().with_timezone(zone)) };
    let columns = ["UTC", "Europe/Zurich", "+05:30", "Mars/Olympus"].map(|z| (z, zoned(z)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = dir.path("t.lance");
    let mut writer = FileWriter::create(path, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    dir
}

#[test]
fn instants_are_shown_as_cat_shows_them() {
    let dir = with_zones("stats-time-zones");
    let words = |text: &str, start: &str| -> Vec<String> {
        let words = text.split([' ', '│', '┆']).filter(|word| word.starts_with(start));
        words.map(str::to_owned).collect()
    };
    let first = ["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "2024-01-01T05:30:00+05:30"];
    let cat = words(&dir.lancet("cat t.lance --rows ..1").ok(), "2024");
    assert_eq!(cat[..3], first);
    assert_eq!(cat[3], first[0]);
    let stats = dir.lancet("stats t.lance").ok();
    let least: Vec<_> = stats.lines().skip(4).map(|line| words(line, "2024")[0].clone()).collect();
    assert_eq!(least, cat);
    let json: serde_json::Value =
        serde_json::from_str(&dir.lancet("stats t.lance --json").ok()).unwrap();
    let jsonl = dir.lancet("cat t.lance --columns Europe/Zurich --rows ..1 --format jsonl").ok();
    let row: serde_json::Value = serde_json::from_str(&jsonl).unwrap();
    assert_eq!(json["columns"][1]["min"], row["Europe/Zurich"]);
    assert_eq!(json["columns"][3]["min"], json["columns"][0]["min"]);
}

#[test]
fn files_without_maps_say_so() {
    let dir = with_table("stats-none", "--no-zone-maps");
    let stats = dir.lancet("stats t.lance").ok();
    assert_eq!(stats.matches("no zone map").count(), 4, "{stats}");
    assert!(dir.lancet("verify t.lance").ok().ends_with(" checksums)\n"));
}
