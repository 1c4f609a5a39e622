//! Random filters over a table keep the rows that they keep over a table in memory: with deletions, columns that some
//! fragments lack, fragments of several files and files of several versions.

use super::*;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, StructArray, new_null_array};
use datafusion::arrow::compute::filter_record_batch;
use filters::{Random, filter, table};
use lancet::Version;
use made::Made;

const ALL: [&str; 9] = ["id", "i", "f", "r", "s", "b", "d", "m", "p"];

/// The rows without some columns, and without a field of `p`, as a file has them that was written before.
fn without(rows: &RecordBatch, missing: &[&str], child: bool) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns());
    let columns = columns.filter(|(field, _)| !missing.contains(&field.name().as_str()));
    RecordBatch::try_from_iter_with_nullable(columns.map(|(field, column)| {
        let column = match (field.name().as_str(), child) {
            ("p", true) => {
                let (fields, columns, nulls) =
                    column.as_any().downcast_ref::<StructArray>().unwrap().clone().into_parts();
                let first = vec![fields[0].clone()].into();
                Arc::new(StructArray::new(first, columns[..1].to_vec(), nulls)) as ArrayRef
            }
            _ => column.clone(),
        };
        (field.name().clone(), column, true)
    }))
    .unwrap()
}

/// The same rows, null where a file does not tell.
fn with_nulls(rows: &RecordBatch, missing: &[&str], child: bool) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        if missing.contains(&field.name().as_str()) {
            return new_null_array(field.data_type(), rows.num_rows());
        }
        if field.name() == "p" && child {
            let (fields, mut columns, nulls) =
                column.as_any().downcast_ref::<StructArray>().unwrap().clone().into_parts();
            columns[1] = new_null_array(fields[1].data_type(), rows.num_rows());
            return Arc::new(StructArray::new(fields, columns, nulls));
        }
        column.clone()
    });
    RecordBatch::try_new(rows.schema(), columns.collect()).unwrap()
}

fn live(rows: &RecordBatch, deleted: &[u32]) -> RecordBatch {
    let mask = (0..rows.num_rows() as u32).map(|row| !deleted.contains(&row));
    filter_record_batch(rows, &mask.map(Some).collect::<BooleanArray>()).unwrap()
}

/// A table of 40,000 rows in six fragments, and its rows that are not deleted.
pub(super) fn make(folder: &Path) -> RecordBatch {
    let whole = table(40_000);
    let schema = Arc::new(datafusion::arrow::datatypes::Schema::new(
        whole
            .schema()
            .fields()
            .iter()
            .map(|f| f.as_ref().clone().with_nullable(true))
            .collect::<Vec<_>>(),
    ));
    let whole = RecordBatch::try_new(schema.clone(), whole.columns().to_vec()).unwrap();
    let mut made = Made::new(folder, schema.clone());
    let mut random = Random(7);
    let few: Vec<u32> = (0..12_000).filter(|_| random.next(50) == 0).collect();
    let stretch: Vec<u32> = (1_000..9_500).collect();
    let all: Vec<u32> = (0..500).collect();
    let one_file: &[&[&str]] = &[&ALL];
    let two_files: &[&[&str]] = &[&["s", "id", "p"], &["m", "i", "b", "d", "f", "r"]];
    let early: &[&[&str]] = &[&["id", "f", "s", "p", "i", "r"]];
    let none: &[u32] = &[];
    let mut expected = Vec::new();
    for (start, len, files, version, deleted, missing, child) in [
        (0, 12_000, one_file, Version::V2_1, &few[..], &[][..], false),
        (12_000, 500, one_file, Version::V2_1, &all[..], &[][..], false),
        (12_500, 10_000, two_files, Version::V2_1, &stretch[..], &[][..], false),
        (22_500, 7_500, early, Version::V2_1, none, &["b", "d", "m"][..], true),
        (30_000, 9_000, one_file, Version::V2_0, &few[..100], &[][..], false),
        (39_000, 1_000, two_files, Version::V2_2, none, &[][..], false),
    ] {
        let rows = whole.slice(start, len);
        made.fragment(&without(&rows, missing, child), files, version, deleted);
        expected.push(live(&with_nulls(&rows, missing, child), deleted));
    }
    made.commit(1);
    assert_eq!(made.schema(), schema);
    concat_batches(&schema, &expected).unwrap()
}

#[tokio::test]
async fn filters_keep_what_they_keep_in_memory() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let expected = make(&path);
    let (ctx, memory) = (session(3), SessionContext::new());
    memory.register_batch("t", expected.clone()).unwrap();
    let everything = "SELECT * FROM t ORDER BY id";
    let found = rows(&ctx, &everything.replace(" t ", &format!(" '{}' ", path.display()))).await;
    assert_eq!(found, rows(&memory, everything).await);
    let mut random = Random(4242);
    let (mut empty, mut full) = (0, 0);
    for _ in 0..300 {
        let filter = filter(&mut random, 2);
        let sql = format!("SELECT id, s, p FROM t WHERE {filter} ORDER BY id");
        let want = rows(&memory, &sql).await;
        let found = rows(&ctx, &sql.replace(" t ", &format!(" '{}' ", path.display()))).await;
        assert_eq!(found, want, "{filter}");
        empty += usize::from(want.num_rows() == 0);
        full += usize::from(want.num_rows() == expected.num_rows());
    }
    assert!(empty < 250 && full < 100, "{empty} filters keep nothing, {full} all");
}
