//! Files that are odd, forged or damaged.

use std::sync::Mutex;
use std::time::Duration;

use datafusion::arrow::array::{Array, ArrayRef, FixedSizeBinaryArray, Int64Array, NullArray};
use datafusion::execution::memory_pool::human_readable_size;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;

use super::*;
use crate::mutate::{file::Parts, wire};

#[tokio::test]
async fn columns_without_width_keep_their_rows() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
    let nulls = (0..20_000).map(|i| i % 5 != 0).collect::<Vec<_>>();
    let empty: ArrayRef = Arc::new(
        FixedSizeBinaryArray::try_new_with_len(
            0,
            Vec::<u8>::new().into(),
            Some(nulls.into()),
            20_000,
        )
        .unwrap(),
    );
    write(&path, &[RecordBatch::try_from_iter([("id", ids), ("e", empty)]).unwrap()]);
    let ctx = session(2);
    let place = path.display();
    for (filter, kept, present) in [
        ("id % 2 = 0", 10_000, 8_000),
        ("id % 1000 = 1", 20, 20),
        ("id < 5", 5, 4),
        ("e IS NULL", 4_000, 0),
        ("e IS NOT NULL AND id > 9", 15_992, 15_992),
    ] {
        let plan = plan(&ctx, &format!("SELECT e, id FROM '{place}' WHERE {filter}")).await;
        let batches =
            collect(plan, ctx.task_ctx()).await.unwrap_or_else(|e| panic!("{filter}: {e}"));
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let values: usize =
            batches.iter().map(|b| b.column(0).len() - b.column(0).null_count()).sum();
        assert_eq!((rows, values), (kept, present), "{filter}");
    }
}

/// A file that claims so many rows of nothing.
fn nulls(rows: u64) -> Vec<u8> {
    let column: ArrayRef = Arc::new(NullArray::new(7));
    let batch = RecordBatch::try_from_iter_with_nullable([("n", column, true)]).unwrap();
    let options = lancet::WriteOptions::default();
    let mut writer = lancet::FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    let mut parts = Parts::split(&writer.finish_into().unwrap().1).unwrap();
    let messages: Vec<Vec<u8>> = parts.messages().iter().map(|message| message.to_vec()).collect();
    for (number, mut message) in messages.into_iter().enumerate() {
        let sevens = wire::sites(&message);
        let sevens = sevens.iter().filter(|site| matches!(site.kind, wire::Kind::Number(7)));
        for site in sevens {
            message = wire::set_number(&message, site, rows).unwrap();
        }
        parts.set_message(number, message);
    }
    parts.join()
}

/// Windows of rows are made when they are read.
#[tokio::test]
async fn more_rows_than_could_be_counted_one_by_one() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    for rows in [1_u64 << 40, 1 << 62, (1 << 63) - 1] {
        std::fs::write(&path, nulls(rows)).unwrap();
        assert_eq!(lancet::FileReader::open(&path).unwrap().num_rows(), rows);
        for partitions in [1, 3] {
            let ctx = session(partitions);
            let query = format!("SELECT n FROM '{}' LIMIT 3", path.display());
            assert_eq!(rows_of(&ctx, &query).await, 3);
            let query = format!("SELECT n FROM '{}' WHERE n IS NULL LIMIT 3", path.display());
            assert_eq!(rows_of(&ctx, &query).await, 3);
            let query = format!("SELECT count(*) AS n FROM '{}'", path.display());
            assert!(text(&ctx, &query).await.contains(&rows.to_string()));
        }
    }
}

/// The number of rows of a file is what its columns say, also for a query that reads none of them.
#[tokio::test]
async fn a_number_of_rows_that_no_column_vouches_for_is_an_error() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let options = lancet::WriteOptions::default();
    let mut writer = lancet::FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    let parts = Parts::split(&writer.finish_into().unwrap().1).unwrap();
    for (rows, rule) in [
        (1_u64 << 62, "the columns have 1000 rows in a file of"),
        (1 << 63, "more than a query can count"),
        (u64::MAX, "more than a query can count"),
    ] {
        let mut parts = parts.clone();
        let sites = wire::sites(&parts.descriptor);
        let site = sites.iter().find(|site| matches!(site.kind, wire::Kind::Number(1_000)));
        parts.descriptor = wire::set_number(&parts.descriptor, site.unwrap(), rows).unwrap();
        std::fs::write(&path, parts.join()).unwrap();
        let ctx = session(2);
        for query in ["count(*)", "count(*) + sum(0)", "id"] {
            let query = format!("SELECT {query} FROM '{}'", path.display());
            let error = match ctx.sql(&query).await {
                Ok(frame) => frame.collect().await.unwrap_err(),
                Err(error) => error,
            };
            assert!(error.to_string().contains(rule), "{query}: {error}");
        }
    }
}

async fn rows_of(ctx: &SessionContext, query: &str) -> usize {
    let before = resident();
    let batches = ctx.sql(query).await.unwrap().collect().await.unwrap();
    let grown = resident().saturating_sub(before);
    assert!(grown < 500 << 20, "{query} took {}", human_readable_size(grown));
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// Bytes that this process holds; 0 where nobody tells.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Damaged files through queries: an answer or an error, never a panic, and always an end. `LANCET_MUTANTS` says how
/// many, `LANCET_SEED` from which on.
#[test]
fn damaged_files_end_in_answers_or_errors() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let (count, start) = (number("LANCET_MUTANTS", 1_000), number("LANCET_SEED", 0));
    let files = crate::small::files();
    // One that waits for ever is told by name.
    let current = Arc::new(Mutex::new((start, std::time::Instant::now())));
    let watched = current.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(5));
            let (seed, since) = *watched.lock().unwrap();
            if since.elapsed() > Duration::from_secs(60) {
                eprintln!("the mutant of seed {seed} does not end");
                std::process::abort();
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = folder();
    let mut answers = 0;
    for seed in start..start + count {
        *current.lock().unwrap() = (seed, std::time::Instant::now());
        let (name, mutant) = crate::small::mutant(&files, seed);
        let path = folder.path().join("t.lance");
        // A new name for the system: what is known of the old file is not asked.
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, &mutant).unwrap();
        answers += runtime.block_on(async {
            tokio::spawn(ask(path, mutant.clone()))
                .await
                .unwrap_or_else(|error| panic!("seed {seed}, from {name}: {error}"))
        });
    }
    *current.lock().unwrap() = (u64::MAX, std::time::Instant::now() + Duration::from_secs(1 << 30));
    assert!(answers > 0);
}

/// Asks all there is of a file, as long as it does not claim too many rows to wait for; returns how many questions
/// were answered.
async fn ask(path: std::path::PathBuf, bytes: Vec<u8>) -> usize {
    let read = lancet::ReadOptions::default().with_memory_limit(64 << 20);
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(256 << 20, 1.0).build_arc().unwrap();
    let mut config = SessionConfig::new().with_target_partitions(2);
    config.options_mut().optimizer.repartition_file_min_size = 0;
    let ctx = SessionContext::new_with_config_rt(config, runtime);
    let format = Arc::new(lancet_datafusion::LanceFormatFactory::new(read.clone()));
    lancet_datafusion::register(&ctx).unwrap();
    ctx.state_ref().write().register_file_format(format, true).unwrap();
    let create = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{}'", path.display());
    if ctx.sql(&create).await.is_err() {
        return 0;
    }
    let schema = ctx.table("t").await.unwrap().schema().clone();
    let Some(name) = schema.fields().first().map(|field| field.name().replace('"', "\"\"")) else {
        return 0;
    };
    let rows = lancet::FileReader::from_bytes(bytes, read).map_or(0, |reader| reader.num_rows());
    let mut queries = vec![
        "SELECT count(*) FROM t".to_owned(),
        "SELECT * FROM t LIMIT 3".to_owned(),
        format!("SELECT * FROM t WHERE \"{name}\" IS NOT NULL LIMIT 3"),
    ];
    if rows <= 1_000_000 {
        queries.push(format!("SELECT count(\"{name}\"), min(\"{name}\"), max(\"{name}\") FROM t"));
        queries.push(format!("SELECT sum(\"{name}\") FROM t WHERE \"{name}\" > 3"));
        queries.push("SELECT * FROM t".to_owned());
    } else {
        // Rows that no byte vouches for: a filter that finds nothing among them would not end for a long time.
        queries.truncate(2);
    }
    let mut answers = 0;
    for query in queries {
        let Ok(frame) = ctx.sql(&query).await else { continue };
        answers += usize::from(frame.collect().await.is_ok());
    }
    answers
}
