//! Queries over Lance and over Parquet, side by side, and over the same rows in memory.
//!
//! ```text
//! cargo run --release -p lancet-datafusion --example queries -- [scale] [partitions] [runs] [batch rows] [query]
//! ```
//!
//! Makes the tables of TPC-H at a scale (0.1 by default), checks that all answers agree, and then runs each query, or the
//! one with a name, over one and the other in turn (21 times by default). Shown are medians. Parquet is what DataFusion
//! writes by default but compressed with Snappy, read with filters pushed down. Over rows in memory a query takes what
//! DataFusion takes alone: no format makes it faster, unless it reads fewer rows. Batches have 8,192 rows by default; with
//! fewer it shows what a window of a scan costs.

mod tpch;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Queries that want few rows, on columns that are sorted and on others.
const SELECTIVE: [(&str, &str); 6] = [
    ("one key", "SELECT * FROM lineitem WHERE l_orderkey = 30000"),
    (
        "few keys",
        "SELECT l_orderkey, l_comment FROM lineitem WHERE l_orderkey BETWEEN 30000 AND 30500",
    ),
    (
        "rare value",
        "SELECT l_orderkey, l_partkey, l_comment FROM lineitem \
         WHERE l_partkey = 77 AND l_quantity > 10",
    ),
    ("one day", "SELECT sum(l_extendedprice) FROM lineitem WHERE l_shipdate = date '1995-06-17'"),
    ("top ten", "SELECT * FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey LIMIT 10"),
    ("distinct", "SELECT count(DISTINCT l_comment) FROM lineitem WHERE l_orderkey < 60000"),
];

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: f64| {
        arguments.next().map_or(otherwise, |text| text.parse().unwrap_or(otherwise))
    };
    let (scale, partitions, runs) = (number(0.1), number(1.0) as usize, number(21.0) as usize);
    let batch_rows = number(8192.0) as usize;
    let only = arguments.next();
    let folder = std::env::temp_dir().join(format!("lancet-queries-{scale}"));
    if !folder.join("done").exists() {
        std::fs::create_dir_all(&folder)?;
        tpch::write_tables(&folder, scale).await?;
        std::fs::write(folder.join("done"), "")?;
    }
    print_sizes(&folder)?;
    let lance = session(&folder, "lance", partitions, batch_rows).await?;
    let parquet = session(&folder, "parquet", partitions, batch_rows).await?;
    let memory = in_memory(&lance, partitions).await?;
    let sessions = [lance, parquet, memory];
    println!("Scale {scale}, {partitions} partitions, medians of {runs} runs, ms:\n");
    println!("| | lance | parquet | parquet ÷ lance | rows in memory |\n|---|---:|---:|---:|---:|");
    let mut product = 1.0;
    let mut queries: Vec<_> = tpch::QUERIES.into_iter().chain(SELECTIVE).collect();
    queries.retain(|(name, _)| only.as_ref().is_none_or(|only| name == only));
    assert!(
        !queries.is_empty(),
        "there is no such query: they are called Q1, Q3, … and \"one key\", …"
    );
    for &(name, query) in &queries {
        let [lance, parquet, memory] = medians(&sessions, name, query, runs).await?;
        let ratio = parquet.as_secs_f64() / lance.as_secs_f64();
        product *= ratio;
        let [lance, parquet, memory] = [lance, parquet, memory].map(shown);
        println!("| {name} | {lance} | {parquet} | {ratio:.2} | {memory} |");
    }
    println!(
        "\nGeometric mean of parquet ÷ lance: {:.2}",
        product.powf(1.0 / queries.len() as f64)
    );
    Ok(())
}

async fn session(
    folder: &Path,
    ending: &str,
    partitions: usize,
    batch_rows: usize,
) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_target_partitions(partitions);
    config = config.with_batch_size(batch_rows);
    config.options_mut().execution.parquet.pushdown_filters = true;
    config.options_mut().execution.parquet.reorder_filters = true;
    let ctx = SessionContext::new_with_config(config);
    tpch::register_tables(&ctx, folder, ending).await?;
    Ok(ctx)
}

/// A session that has the rows of the tables of another in memory.
async fn in_memory(ctx: &SessionContext, partitions: usize) -> Result<SessionContext> {
    let copy = SessionContext::new_with_config(ctx.copied_config());
    for table in tpch::TABLES {
        let rows = ctx.table(table).await?;
        let schema = Arc::new(rows.schema().as_arrow().clone());
        let mut parts = vec![Vec::new(); partitions.max(1)];
        for (number, batch) in rows.collect().await?.into_iter().enumerate() {
            parts[number % partitions.max(1)].push(batch);
        }
        copy.register_table(table, Arc::new(MemTable::try_new(schema, parts)?))?;
    }
    Ok(copy)
}

/// The median times of a query in each session, run in turn.
async fn medians<const N: usize>(
    sessions: &[SessionContext; N],
    name: &str,
    query: &str,
    runs: usize,
) -> Result<[Duration; N]> {
    let expected = answer(&sessions[0], query).await?.1;
    let mut times = [const { Vec::new() }; N];
    for session in sessions {
        assert_eq!(answer(session, query).await?.1, expected, "{name} differs");
    }
    for _ in 0..runs.max(1) {
        for (session, times) in sessions.iter().zip(&mut times) {
            times.push(answer(session, query).await?.0);
        }
    }
    Ok(times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    }))
}

/// How long a query takes, and its rows as sorted lines.
async fn answer(ctx: &SessionContext, query: &str) -> Result<(Duration, Vec<String>)> {
    let start = Instant::now();
    let batches = ctx.sql(query).await?.collect().await?;
    let time = start.elapsed();
    let text = pretty_format_batches(&batches)?.to_string();
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    lines.sort_unstable();
    Ok((time, lines))
}

fn print_sizes(folder: &Path) -> Result<()> {
    for table in tpch::TABLES {
        let size = |ending| folder.join(table).with_extension(ending).metadata().map(|m| m.len());
        eprintln!("{table}: {} bytes, Parquet {}", size("lance")?, size("parquet")?);
    }
    Ok(())
}

fn shown(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}
