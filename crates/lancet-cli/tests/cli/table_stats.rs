//! `stats` of tables: a table whose files have zone maps, with and without deleted rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use lancet::{FileWriter, WriteOptions};
use lancet_table::{DeletionKind, Fragment, Limits, Manifest, Table};
use serde_json::Value;

use crate::lancet::Dir;
use crate::tables::with_table;

/// Rows of a fragment of the table that [`with_zone_maps`] makes.
pub const FRAGMENT_ROWS: i64 = 20_000;

fn fragment_rows(fragment: i64) -> RecordBatch {
    let scattered = |i: i64| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    let rows = fragment * FRAGMENT_ROWS..(fragment + 1) * FRAGMENT_ROWS;
    let ids = Int64Array::from_iter_values(rows.clone());
    let price = |i: i64| (i % 10 != 3).then(|| scattered(i) as f64 / 8.0);
    let prices: Float64Array = rows.clone().map(price).collect();
    let words = StringArray::from_iter_values(rows.map(|i| format!("word {:016x}", scattered(i))));
    let columns: [(&str, Arc<dyn Array>); 3] =
        [("id", Arc::new(ids)), ("price", Arc::new(prices)), ("word", Arc::new(words))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The bytes of a deletion file: a Roaring bitmap with one container, an array or bits.
fn roaring(offsets: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [12_346_u32, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0_u16.to_le_bytes());
    bytes.extend((offsets.len() as u16 - 1).to_le_bytes());
    bytes.extend(16_u32.to_le_bytes());
    if offsets.len() <= 4_096 {
        offsets.iter().for_each(|offset| bytes.extend(offset.to_le_bytes()));
        return bytes;
    }
    let mut bits = [0_u8; 8_192];
    for offset in offsets {
        bits[usize::from(*offset) / 8] |= 1 << (offset % 8);
    }
    bytes.extend(bits);
    bytes
}

/// A table of files with zone maps: that of the corpus, with other rows. `deleted` are rows of the first fragment.
pub fn with_zone_maps(name: &str, deleted: &[u16]) -> Dir {
    let dir = with_table(name, "blob_v21");
    let folder = dir.path("table/_versions");
    let read = |version: u64| {
        let path = folder.join(format!("{}.manifest", u64::MAX - version));
        Manifest::parse(
            &path.display().to_string(),
            &std::fs::read(path).unwrap(),
            &Limits::default(),
        )
        .unwrap()
    };
    let with_deletions = read(3);
    let deletion = with_deletions.fragments.iter().find_map(|f| f.deletion_file.clone()).unwrap();
    let mut made = read(1);
    let (fragment, field) = (made.fragments[0].clone(), made.fields[0].clone());
    made.fields.clear();
    for (id, (name, kind)) in
        [("id", "int64"), ("price", "double"), ("word", "string")].iter().enumerate()
    {
        let mut field = field.clone();
        (field.id, field.name, field.logical_type) = (id as i32, (*name).into(), (*kind).into());
        made.fields.push(field);
    }
    made.fragments.clear();
    for number in 0..3_i64 {
        let (batch, file) = (fragment_rows(number), format!("made-{number}.lance"));
        let path = dir.path("table/data").join(&file);
        let options = WriteOptions::default().with_version(lancet::Version::V2_1);
        let mut writer = FileWriter::create(&path, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let mut fragment = Fragment::clone(&fragment);
        fragment.files.truncate(1);
        (fragment.id, fragment.physical_rows) = (number as u32, Some(FRAGMENT_ROWS as u64));
        let data = &mut fragment.files[0];
        (data.path, data.size_bytes) = (file.into(), Some(std::fs::metadata(&path).unwrap().len()));
        // The second fragment lacks the price.
        data.fields = if number == 1 { [0, 2].into() } else { [0, 1, 2].into() };
        data.columns = if number == 1 { [0, 2].into() } else { [0, 1, 2].into() };
        if number == 0 && !deleted.is_empty() {
            let mut file = deletion.clone();
            (file.kind, file.num_deleted_rows) =
                (DeletionKind::Roaring, Some(deleted.len() as u64));
            let path = dir.path("table/_deletions").join(file.file_name(0));
            std::fs::write(path, roaring(deleted)).unwrap();
            fragment.deletion_file = Some(file);
            (made.reader_flags, made.writer_flags) =
                (with_deletions.reader_flags, with_deletions.writer_flags);
        }
        made.fragments.push(fragment.into());
    }
    let message = made.encode();
    let mut file = (message.len() as u32).to_le_bytes().to_vec();
    file.extend(&message);
    file.extend([0; 8]);
    file.extend([0, 0, 2, 0]);
    file.extend(b"LANC");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(format!("{}.manifest", u64::MAX - 1)), file).unwrap();
    dir
}

/// What `stats` says of a column.
fn stats(dir: &Dir, name: &str) -> Value {
    let found = dir.lancet(&format!("stats table --json --columns {name}")).ok();
    let found: Value = serde_json::from_str(&found).unwrap();
    found["columns"][0].clone()
}

fn values<T>(batches: &[RecordBatch], of: impl Fn(&RecordBatch) -> Vec<Option<T>>) -> Vec<T> {
    batches.iter().flat_map(of).flatten().collect()
}

#[test]
fn zone_maps_of_all_files_are_joined() {
    let first_zone: Vec<u16> = (0..8_192).collect();
    let prices: Vec<u16> = (8_192..12_000).filter(|i| i % 10 != 3).collect();
    // The rows that are deleted, and whether it is known of all zones what is left.
    for (number, (deleted, is_exact)) in
        [(vec![], true), (vec![0, 1], false), (first_zone, true), (prices, false)]
            .iter()
            .enumerate()
    {
        let dir = with_zone_maps(&format!("table-stats-{number}"), deleted);
        let table = Table::open(dir.path("table")).unwrap();
        let batches: Vec<RecordBatch> =
            table.scan().build().unwrap().map(|batch| batch.unwrap()).collect();
        let live: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(live as i64, 3 * FRAGMENT_ROWS - deleted.len() as i64);
        let ids = values(&batches, |b| b["id"].as_primitive::<Int64Type>().iter().collect());
        let prices =
            values(&batches, |b| b["price"].as_primitive::<Float64Type>().iter().collect());
        let (id, price) = (stats(&dir, "id"), stats(&dir, "price"));
        assert_eq!((&id["rows"], &price["rows"]), (&live.into(), &live.into()));
        assert_eq!((&id["nulls"], &id["counts_exact"]), (&0.into(), &true.into()));
        assert_eq!((&id["exact"], &price["exact"]), (&(*is_exact).into(), &(*is_exact).into()));
        assert_eq!(price["counts_exact"], *is_exact);

        // The second fragment has no prices.
        let nulls = live - prices.len();
        let (least, greatest) =
            (*ids.iter().min().unwrap(), prices.iter().copied().fold(f64::MIN, f64::max));
        if *is_exact {
            assert_eq!((&price["nulls"], &id["min"]), (&nulls.into(), &least.into()));
            assert_eq!(price["max"], greatest);
        } else {
            assert!(price["nulls"].as_u64().unwrap() >= nulls as u64, "{price}");
            assert!(id["min"].as_i64().unwrap() <= least, "{id}");
            assert!(price["max"].as_f64().unwrap() >= greatest, "{price}");
        }
        let text = dir.lancet("stats table").ok();
        assert_eq!(text.contains("may be those of deleted rows"), !is_exact, "{text}");
        assert_eq!(text.contains("≤ "), !is_exact, "{text}");
        dir.lancet("verify table").ok();
    }
}

#[test]
fn tables_without_zone_maps_say_so() {
    let dir = with_table("table-stats-none", "rebased_v20");
    let text = dir.lancet("stats table --columns k,i").ok();
    assert!(text.starts_with("table: version 7, 48 rows\n"), "{text}");
    assert_eq!(text.matches("no zone map in 4 fragments").count(), 2, "{text}");
    assert!(dir.lancet("stats table --columns kk").failed().contains("`kk`"));
    let zones = dir.lancet("stats table --zones --columns k").ok();
    assert_eq!(
        zones.matches("no zone map\n").count() + zones.matches("no zone map ").count(),
        5,
        "{zones}"
    );
}

/// What `stats --zones` says of a column, fragment by fragment.
fn fragments(dir: &Dir, name: &str) -> Vec<Value> {
    let found = dir.lancet(&format!("stats table --zones --json --columns {name}")).ok();
    let found: Value = serde_json::from_str(&found).unwrap();
    found["columns"][0]["each_fragment"].as_array().unwrap().clone()
}

/// Every zone of every fragment, beside the rows that lie in it.
#[test]
fn zones_of_tables_are_those_of_their_rows() {
    let deleted: Vec<u16> = (8_000..8_500).collect();
    let dir = with_zone_maps("table-zones", &deleted);
    let (ids, prices) = (fragments(&dir, "id"), fragments(&dir, "price"));
    assert_eq!((ids.len(), prices.len()), (3, 3));
    for (number, (id, price)) in ids.iter().zip(&prices).enumerate() {
        let rows = fragment_rows(number as i64);
        let all_ids = rows["id"].as_primitive::<Int64Type>();
        let all_prices = rows["price"].as_primitive::<Float64Type>();
        assert_eq!(
            (&id["fragment"], &id["physical_rows"]),
            (&number.into(), &FRAGMENT_ROWS.into())
        );
        let in_fragment = if number == 0 { deleted.len() } else { 0 };
        assert_eq!(id["deleted_rows"], in_fragment);
        let mut seen = 0;
        for zone in id["each_zone"].as_array().unwrap() {
            let (first, len) = (
                zone["first_row"].as_u64().unwrap() as usize,
                zone["rows"].as_u64().unwrap() as usize,
            );
            assert_eq!(first, seen);
            seen += len;
            let values = all_ids.slice(first, len);
            assert_eq!(
                (&zone["min"], &zone["max"]),
                (&values.value(0).into(), &values.value(len - 1).into())
            );
            let within = deleted.iter().filter(|row| (first..seen).contains(&usize::from(**row)));
            let within = if number == 0 { within.count() } else { 0 };
            assert_eq!(
                (&zone["deleted_rows"], &zone["exact"]),
                (&within.into(), &(within == 0).into())
            );
        }
        assert_eq!(seen as i64, FRAGMENT_ROWS);
        if number == 1 {
            // Its file has prices, but the table does not count them.
            assert_eq!(
                (&price["each_zone"], &price["missing"]),
                (&Value::Null, &"null in all rows".into())
            );
            continue;
        }
        for zone in price["each_zone"].as_array().unwrap() {
            let (first, len) = (
                zone["first_row"].as_u64().unwrap() as usize,
                zone["rows"].as_u64().unwrap() as usize,
            );
            let values = all_prices.slice(first, len);
            let least = values.iter().flatten().fold(f64::MAX, f64::min);
            assert_eq!(
                (&zone["min"], &zone["nulls"]),
                (&least.into(), &values.null_count().into())
            );
        }
    }
    let text = dir.lancet("stats table --zones --columns id,price").ok();
    assert!(text.contains("id (Int64)\n") && text.contains("price (Float64)\n"), "{text}");
    assert!(text.contains("null in all rows") && text.contains(" 192"), "{text}");
    // A file and a table of it say the same.
    let alone = dir.lancet("stats table/data/made-2.lance --zones --json --columns id").ok();
    let alone: Value = serde_json::from_str(&alone).unwrap();
    let mut zones = ids[2]["each_zone"].clone();
    for zone in zones.as_array_mut().unwrap() {
        zone.as_object_mut().unwrap().remove("deleted_rows");
    }
    assert_eq!(zones, alone["columns"][0]["each_zone"]);
}
