//! `lancet sql`: queries over files.

mod files;

use std::io::{Read, Write, stderr, stdin};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::parser::DFParser;
use futures::StreamExt;
use tokio::runtime::Runtime;

use crate::copy::Destination;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::units;

/// Rows of a table when nobody says how many.
const TABLE_ROWS: u64 = 100;

const EXAMPLES: &str = "\
Examples:
  lancet sql \"SELECT city, count(*) FROM 'orders.lance' GROUP BY city\"
  lancet sql \"SELECT * FROM 'orders-*.lance' WHERE price > 100\" --format csv
  lancet sql \"SELECT o.id, c.name FROM 'orders.lance' o JOIN 'customers.parquet' c ON c.id = o.customer\"
  lancet sql \"SELECT * FROM 'data/' ORDER BY id\" -o sorted.lance
  lancet sql \"EXPLAIN ANALYZE SELECT max(price) FROM 'orders.lance' WHERE id < 1000\"

Tables are files, folders or patterns in quotes: .lance, .parquet .pq, .arrow .feather, .csv,
.jsonl .ndjson. In a folder such as data/year=2025/ the names of folders are columns.
Statements are those of DataFusion; several have semicolons between them, and the rows of the last
one are shown.";

/// What to ask.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Query; - reads it from standard input
    #[arg(value_name = "SQL")]
    query: String,
    /// Most rows to show (a table shows 100 unless told)
    #[arg(short = 'n', long)]
    limit: Option<u64>,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.destination.check(None)?;
    let runtime = Arc::new(Runtime::new().map_err(|e| Error::new(e.to_string()))?);
    let frame = runtime.block_on(last_statement(&query(args)?))?;
    if let LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) = frame.logical_plan() {
        return print_plan(&runtime.block_on(frame.collect()).map_err(told)?, out);
    }
    let stream = runtime.block_on(frame.execute_stream()).map_err(told)?;
    let limit = args.limit.or(args.destination.is_table().then_some(TABLE_ROWS));
    let (input, more) = limited(runtime, stream, limit.unwrap_or(u64::MAX));
    args.destination.fill(input, quiet, out)?;
    if args.limit.is_none() && more.get() && !quiet {
        out.flush()?;
        // A closed standard error must not turn an answer into a failure.
        let _ = writeln!(
            stderr(),
            "there are more than {}; see --limit, --format csv or -o",
            units::rows(TABLE_ROWS)
        );
    }
    Ok(())
}

fn query(args: &Args) -> Result<String> {
    if args.query != "-" {
        return Ok(args.query.clone());
    }
    let mut text = String::new();
    let read = stdin().read_to_string(&mut text);
    read.map_err(|error| Error::new(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

/// Runs all statements but the last, which is only planned.
async fn last_statement(sql: &str) -> Result<DataFrame> {
    let ctx: SessionContext = files::session().map_err(told)?;
    let mut statements = DFParser::parse_sql(sql).map_err(told)?;
    let Some(last) = statements.pop_back() else {
        return Err(Error::new("there is no query; try: lancet sql \"SELECT * FROM 'a.lance'\""));
    };
    for statement in statements {
        let plan = ctx.state().statement_to_plan(statement).await.map_err(told)?;
        let frame = ctx.execute_logical_plan(plan).await.map_err(told)?;
        frame.collect().await.map_err(told)?;
    }
    let plan = ctx.state().statement_to_plan(last).await.map_err(told)?;
    ctx.execute_logical_plan(plan).await.map_err(told)
}

/// The first rows of an answer; the flag tells afterwards whether there were more.
fn limited(
    runtime: Arc<Runtime>,
    mut stream: SendableRecordBatchStream,
    limit: u64,
) -> (Input, std::rc::Rc<std::cell::Cell<bool>>) {
    let schema = stream.schema();
    let more = std::rc::Rc::new(std::cell::Cell::new(false));
    let (mut left, seen) = (limit, more.clone());
    let batches = std::iter::from_fn(move || {
        if seen.get() {
            return None;
        }
        let batch = match runtime.block_on(stream.next())? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(told(error))),
        };
        let rows = batch.num_rows() as u64;
        seen.set(rows > left);
        let kept = rows.min(left);
        left -= kept;
        Some(Ok(batch.slice(0, usize::try_from(kept).unwrap_or(usize::MAX))))
    });
    (Input { schema, file_rows: None, rows: None, batches: Box::new(batches) }, more)
}

/// Plans are text of many lines, not cells of a table.
fn print_plan(batches: &[RecordBatch], out: &mut dyn Write) -> Result<()> {
    for batch in batches {
        let (Some(names), Some(plans)) = (
            batch.columns().first().and_then(|column| column.as_string_opt::<i32>()),
            batch.columns().get(1).and_then(|column| column.as_string_opt::<i32>()),
        ) else {
            return Err(Error::new("the plan is no text"));
        };
        for (name, plan) in names.iter().zip(plans) {
            writeln!(out, "{}\n{}", name.unwrap_or_default(), plan.unwrap_or_default().trim_end())?;
        }
    }
    Ok(())
}

/// An error of the query in one line, with what to do about it where that is known.
fn told(error: DataFusionError) -> Error {
    let message = match error.find_root() {
        DataFusionError::Plan(message) | DataFusionError::Configuration(message) => message.clone(),
        DataFusionError::External(cause) => cause.to_string(),
        other => other.strip_backtrace(),
    };
    let line = message.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    let hint = if line.contains("table '") && line.contains("not found") {
        "; a file is a table when its name is in quotes: FROM 'data.lance'"
    } else {
        ""
    };
    Error::new(format!("{line}{hint}"))
}
