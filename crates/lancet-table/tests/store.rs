//! Tables in an object store: the rows of the same table on disk, and what the store is asked for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/requests.rs"]
mod requests;
mod support;

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::Arc;

use futures::TryStreamExt;
use lancet::arrow::array::RecordBatch;
use lancet::{Filter, RowRanges};
use lancet_object_store::object_store::ObjectStoreExt as _;
use lancet_object_store::object_store::path::Path;
use lancet_table::{At, StoreScan, StoreTable, Table, TableScan};
use requests::Noted;

async fn stored(files: &BTreeMap<String, Vec<u8>>) -> Arc<Noted> {
    let store = Arc::new(Noted::default());
    for (name, bytes) in files.iter().filter(|(name, _)| name.starts_with("table/")) {
        let path = Path::parse(format!("lake/{name}")).unwrap();
        store.put(&path, bytes.clone().into()).await.unwrap();
    }
    store
}

async fn collect(scan: StoreScan) -> RecordBatch {
    let batches = scan.stream().await.unwrap();
    let schema = batches.schema();
    let batches: Vec<RecordBatch> = batches.try_collect().await.unwrap();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

fn collect_here(scan: TableScan) -> RecordBatch {
    let batches = scan.build().unwrap();
    let schema = batches.schema();
    let batches: Vec<RecordBatch> = batches.map(std::result::Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

async fn check_version(there: &StoreTable, here: &Table) {
    assert_eq!(there.version(), here.version());
    assert_eq!(there.schema(), here.schema());
    let num_rows = here.num_rows().unwrap();
    assert_eq!(there.num_rows().await.unwrap(), num_rows);
    let first = here.schema().field(0).name().clone();
    let columns = [&first, "_rowid", "_rowaddr", "_row_last_updated_at_version"];
    let want = collect_here(here.scan().columns(columns));
    assert_eq!(collect(there.scan().columns(columns).batch_rows(7)).await, want);
    assert_eq!(collect(there.scan()).await, collect_here(here.scan()));
    let rows = RowRanges::from(num_rows / 3..num_rows);
    assert_eq!(
        collect(there.scan().select(&rows).limit(9)).await,
        collect_here(here.scan().select(&rows).limit(9))
    );
    let filter = || Filter::is_not_null(&first);
    assert_eq!(
        collect(there.scan().filter(filter()).limit(11)).await,
        collect_here(here.scan().filter(filter()).limit(11))
    );
    let some: Vec<u64> = (0..num_rows.min(20)).map(|row| (row * 7919) % num_rows).collect();
    let want = here.take(&some, ..).unwrap();
    assert_eq!(there.take(&some, ..).await.unwrap(), want);
    let ids: Vec<u64> = (0..30).collect();
    let want = here.take_row_ids(&ids, ..).unwrap();
    assert_eq!(there.take_row_ids(&ids, ..).await.unwrap(), want);
    assert_eq!(
        there.take_addresses(&ids, ..).await.unwrap(),
        here.take_addresses(&ids, ..).unwrap()
    );
    assert!(there.take(&[num_rows], ..).await.is_err());
}

#[tokio::test]
async fn rows_are_those_of_the_same_table_on_disk() {
    let mut seen = 0;
    for (index, folder) in support::indexes() {
        for entry in index["tables"].as_array().unwrap().iter().step_by(2) {
            let name = entry["name"].as_str().unwrap();
            if name.starts_with("shallow") || name.starts_with("fragments_v21") {
                continue;
            }
            println!("{name}");
            let files = support::archive::unpack(&folder.join(entry["file"].as_str().unwrap()));
            let place = tempfile::tempdir().unwrap();
            support::archive::write_into(&files, place.path());
            let here = Table::open(place.path().join("table")).unwrap();
            let there = StoreTable::open(stored(&files).await, "lake/table".into()).await.unwrap();
            assert_eq!(there.versions(), here.versions());
            assert_eq!(there.tags().await.unwrap(), here.tags().unwrap());
            assert_eq!(there.branches().await.unwrap(), here.branches().unwrap());
            let branches = here.branches().unwrap().into_iter().map(|b| At::Branch(b.name));
            let tags = here.tags().unwrap().into_iter().map(|tag| At::Tag(tag.name));
            let versions = here.versions().iter().map(|version| At::Version(*version));
            for at in versions.chain(branches).chain(tags) {
                let (there, here) = (there.checkout(at.clone()).await.unwrap(), here.checkout(at));
                check_version(&there, &here.unwrap()).await;
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[tokio::test]
async fn blobs_are_read_by_ranges() {
    let Some(index) = support::shared("tables/index.json") else { return };
    let files = support::archive::unpack(&index.with_file_name("blob_v2_v22.tar"));
    let place = tempfile::tempdir().unwrap();
    support::archive::write_into(&files, place.path());
    let here = Table::open(place.path().join("table")).unwrap();
    let there = StoreTable::open(stored(&files).await, "lake/table".into()).await.unwrap();
    let (here_blobs, there_blobs) = (here.blobs("b").unwrap(), there.blobs("b").unwrap());
    for row in 0..here.num_rows().unwrap() {
        let size = here_blobs.len(row).unwrap();
        assert_eq!(there_blobs.len(row).await.unwrap(), size);
        let Some(size) = size else { continue };
        for range in [0..size, size / 3..size / 2, size..size] {
            let want = here_blobs.read(row, range.clone()).unwrap();
            assert_eq!(there_blobs.read(row, range).await.unwrap(), want);
        }
    }
}

#[tokio::test]
async fn a_store_is_asked_for_little() {
    let kept = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/rebased_v20.tar");
    let store = stored(&support::archive::unpack(&kept)).await;
    let table = StoreTable::open(store.clone(), "lake/table".into()).await.unwrap();
    let asked = store.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked[0], "list lake/table/_versions");
    assert!(asked[1].starts_with("get lake/table/_versions/"), "{asked:?}");

    // The number of rows and the schema are known.
    table.num_rows().await.unwrap();
    table.schema();
    assert_eq!(store.asked(), [""; 0]);

    // One deletion file, one file, which is opened and read.
    table.take(&[0], ["k"]).await.unwrap();
    let asked = store.asked();
    assert_eq!(asked.iter().filter(|asked| asked.contains("/_deletions/")).count(), 1, "{asked:?}");
    assert!(asked.len() <= 4, "{asked:?}");
    // What was opened stays open, and what was deleted stays known.
    table.take(&[1], ["k"]).await.unwrap();
    let asked = store.asked();
    assert!(asked.len() <= 1, "{asked:?}");

    let missing = StoreTable::open(store.clone(), "lake/nothing".into()).await.unwrap_err();
    assert!(missing.to_string().contains("it is not a Lance table"), "{missing}");
    let tag = table.checkout(At::Tag("none".into())).await.unwrap_err();
    assert!(tag.to_string().contains("there is no tag `none`"), "{tag}");
}
