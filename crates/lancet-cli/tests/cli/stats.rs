//! `stats`, and zone maps in the other commands.

use std::fmt::Write;

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

#[test]
fn files_without_maps_say_so() {
    let dir = with_table("stats-none", "--no-zone-maps");
    let stats = dir.lancet("stats t.lance").ok();
    assert_eq!(stats.matches("no zone map").count(), 4, "{stats}");
    assert!(dir.lancet("verify t.lance").ok().ends_with(" checksums)\n"));
}
