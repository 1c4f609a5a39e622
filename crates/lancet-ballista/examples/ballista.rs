//! A query over Lance files on a scheduler and two executors in this process.
//!
//! ```text
//! cargo run -p lancet-ballista --example ballista -- orders.lance "SELECT count(*) FROM t"
//! ```
//!
//! The file, or the folder of files, is the table `t`.

mod cluster;

use datafusion::error::Result;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(query)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: ballista FILE-OR-FOLDER SQL");
        std::process::exit(2);
    };
    let ctx = cluster::start(2).await?;
    let create = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{path}'");
    ctx.sql(&create).await?.collect().await?;
    ctx.sql(&query).await?.show().await
}
