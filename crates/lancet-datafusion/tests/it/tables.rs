//! All versions, tags and branches of the tables of the reference, through SQL: their rows, and nothing of broken ones.

use super::*;
use std::collections::HashSet;
use std::fs::File;

use datafusion::arrow::array::{AsArray, UInt64Array};
use datafusion::arrow::compute::{sort_to_indices, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::datasource::listing::ListingTableUrl;
use lancet_datafusion::{At, LanceTable, LanceTableOptions};
use serde_json::Value;

fn expected(path: &Path) -> RecordBatch {
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// Blobs of the second kind have no type that all agree on: the bytes are what counts. What is said of a table as a whole
/// is left out by queries.
fn with_schema(batch: RecordBatch, like: &SchemaRef) -> RecordBatch {
    let is_blob = |field: &Field| {
        field.metadata().contains_key("lance-encoding:blob")
            && *field.data_type() == DataType::LargeBinary
    };
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(like.fields());
    let fields = fields
        .map(|(field, like)| if is_blob(like) { like.clone() } else { field.clone() })
        .collect::<Vec<_>>();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec()).unwrap()
}

#[track_caller]
fn same(what: &str, got: &RecordBatch, want: &RecordBatch) {
    if let Err(difference) = compare::batches(got, want) {
        panic!("{what}: {difference}");
    }
}

async fn open(
    ctx: &SessionContext,
    folder: &Path,
    options: LanceTableOptions,
) -> datafusion::error::Result<()> {
    let url = ListingTableUrl::parse(folder.to_str().unwrap())?;
    let options = options.with_row_ids(true).with_row_addresses(true).with_row_versions(true);
    let table = LanceTable::open(&ctx.runtime_env(), &url, options).await?;
    ctx.deregister_table("t")?;
    ctx.register_table("t", Arc::new(table))?;
    Ok(())
}

fn sorted(batch: &RecordBatch) -> RecordBatch {
    let order = sort_to_indices(&batch["_rowaddr"], None, None).unwrap();
    take_record_batch(batch, &order).unwrap()
}

/// All rows in one part, the first ones, and in three parts those that a filter keeps.
async fn check_version(
    [whole, parts]: &[SessionContext; 2],
    folder: &Path,
    options: &LanceTableOptions,
    want: RecordBatch,
) {
    let schema = want.schema();
    let names: Vec<String> =
        schema.fields().iter().map(|field| format!("\"{}\"", field.name())).collect();
    let names = names.join(", ");
    open(whole, folder, options.clone()).await.unwrap();
    let got = rows(whole, &format!("SELECT {names} FROM t")).await;
    let want = with_schema(want, &got.schema());
    same("all", &got, &want);
    let few = rows(whole, &format!("SELECT {names} FROM t LIMIT 7")).await;
    same("limit", &few, &want.slice(0, 7.min(want.num_rows())));
    open(parts, folder, options.clone()).await.unwrap();
    let Some(keys) = want.column_by_name("k").and_then(|k| k.as_primitive_opt::<Int64Type>())
    else {
        let got = rows(parts, &format!("SELECT {names} FROM t")).await;
        return same("in parts", &sorted(&got), &sorted(&want));
    };
    let middle = keys.iter().flatten().sum::<i64>() / (keys.len().max(1) as i64);
    let kept = (0..).zip(keys).filter(|(_, key)| key.is_some_and(|key| key > middle));
    let kept = UInt64Array::from_iter_values(kept.map(|(row, _)| row));
    let kept = take_record_batch(&want, &kept).unwrap();
    let got = rows(parts, &format!("SELECT {names} FROM t WHERE k > {middle}")).await;
    same("filter", &sorted(&got), &sorted(&kept));
    let figures = rows(parts, "SELECT count(*), count(k), min(k), max(k) FROM t").await;
    let figures: Vec<Option<i64>> = figures
        .columns()
        .iter()
        .map(|c| c.as_primitive::<Int64Type>().iter().next().flatten())
        .collect();
    let there = || keys.iter().flatten();
    let counts = [keys.len(), there().count()].map(|count| Some(count as i64));
    assert_eq!(figures, [counts[0], counts[1], there().min(), there().max()]);
}

async fn check_versions(
    folder: &Path,
    options: &LanceTableOptions,
    branch: Option<&str>,
    versions: &Value,
) -> usize {
    let ctxs = [session(1), session(3)];
    let versions = versions.as_array().unwrap();
    for version in versions {
        let number = version["version"].as_u64().unwrap();
        let at = match branch {
            Some(name) => At::BranchVersion(name.to_owned(), number),
            None => At::Version(number),
        };
        println!("  version {number}");
        let options = options.clone().with_version(at);
        let table = folder.join("table");
        match version["expect"].as_str() {
            Some(file) => {
                let want = expected(&folder.join("expect").join(file));
                check_version(&ctxs, &table, &options, want).await;
            }
            // Of long tables only the number of rows is kept.
            None => {
                open(&ctxs[1], &table, options).await.unwrap();
                let count = rows(&ctxs[1], "SELECT count(_rowaddr) FROM t").await;
                let count = count.column(0).as_primitive::<Int64Type>().value(0);
                assert_eq!(Some(count as u64), version["rows"].as_u64());
            }
        }
    }
    versions.len()
}

#[tokio::test]
async fn every_version_has_the_rows_it_should_have() {
    let (mut seen, mut names) = (0, HashSet::new());
    // Those that are kept are among those of the corpus, where it is there.
    for (index, folder) in golden::indexes().into_iter().rev() {
        for entry in index["tables"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            if !names.insert(name.to_owned()) {
                continue;
            }
            println!("{name}");
            let place = folder_of(&folder.join(entry["file"].as_str().unwrap()));
            let mut options = LanceTableOptions::default();
            if name.starts_with("shallow_clone") {
                // Clones read files of the table they were made from, which they may not by themselves.
                let ctx = session(1);
                open(&ctx, &place.path().join("table"), options.clone()).await.unwrap();
                let frame = ctx.sql("SELECT * FROM t").await.unwrap();
                let error = frame.collect().await.unwrap_err().to_string();
                assert!(error.contains("outside of its folder"), "{error}");
                let at = Path::new(entry["unpack_at"].as_str().unwrap());
                options = options.with_moved_base(at, place.path());
            }
            seen += check_versions(place.path(), &options, None, &entry["versions"]).await;
            for (branch, expected) in entry["branches"].as_object().unwrap() {
                println!(" branch {branch}");
                let versions = &expected["versions"];
                seen += check_versions(place.path(), &options, Some(branch), versions).await;
            }
        }
    }
    assert!(seen > 20, "only {seen} versions");
}

fn folder_of(tar: &Path) -> TempDir {
    let place = folder();
    golden::archive::write_into(&golden::archive::unpack(tar), place.path());
    place
}

async fn read_all(folder: &Path) -> datafusion::error::Result<()> {
    let ctx = session(2);
    open(&ctx, folder, LanceTableOptions::default()).await?;
    ctx.sql("SELECT * FROM t").await?.collect().await?;
    Ok(())
}

#[tokio::test]
async fn broken_tables_are_refused() {
    let mut seen = 0;
    for (index, folder) in golden::indexes() {
        for entry in index["broken"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            let place = folder_of(&folder.join(entry["file"].as_str().unwrap()));
            let root = place.path().join("table");
            let error = read_all(&root).await.expect_err(name).to_string();
            println!("{name} ({}): {error}", entry["why"]);
            assert!(error.contains(root.to_str().unwrap()), "{name}: {error}");
            // By its path it is a table too, not a folder of files.
            let ctx = session(2);
            let sql = format!("SELECT * FROM '{}'", root.display());
            let read = async { ctx.sql(&sql).await?.collect().await };
            // What is wrong may lie in columns that only rows have of themselves.
            if let Ok(batches) = read.await {
                assert!(name.contains("row_ids"), "{name}: {batches:?}");
            }
            seen += 1;
        }
    }
    assert!(seen > 3, "only {seen} tables");
}
