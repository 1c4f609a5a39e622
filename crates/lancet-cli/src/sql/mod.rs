//! `lancet sql`: queries over files.

mod changes;
mod columns;
mod disk;
mod errors;
mod expression;
mod files;
mod from_first;
mod interrupt;
mod memory;
mod order;
mod session;
mod shell;
mod statement;
mod summary;
mod upload;
mod zeros;

use std::cell::Cell;
use std::io::{IsTerminal, Read, Write, stderr, stdin};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::SchemaRef;
use datafusion::datasource::DefaultTableSource;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::parser::Statement as DfStatement;
use futures::{StreamExt, TryStreamExt, stream};
use lancet_datafusion::LanceTable;
use tokio::runtime::Runtime;

use crate::copy::Destination;
use crate::error::{Error, InFile, Result};
use crate::format::{Format, check_is_file};
use crate::guard::{self, guarded};
use crate::input::Input;
use crate::tables::{ATTEMPTS, Done};
use crate::units;
use disk::Disk;
use errors::told;
use interrupt::Interrupt;
use session::Resources;
use statement::Statement;

pub use expression::Expression;

/// Rows of a table when nobody says how many.
const TABLE_ROWS: u64 = 100;

/// How long a query that was given up may take to clean up.
const CLEAN_UP: Duration = Duration::from_secs(5);

/// What a panic of a library is taken for.
pub(super) const FAILED: &str = "the query failed in a library; one of its files may be damaged";

const EXAMPLES: &str = "\
Examples:
  lancet sql                                        a shell; .help tells what it knows
  lancet sql \"FROM 'orders.lance' LIMIT 5\"
  lancet sql \"SELECT city, count(*) FROM 'orders.lance' GROUP BY city\"
  lancet sql \"SELECT * FROM 'orders-*.lance' WHERE price > 100\" --format csv
  lancet sql \"SELECT o.id, c.name FROM 'orders.lance' o JOIN 'customers.parquet' c ON c.id = o.customer\"
  lancet sql \"SELECT * FROM 'data/' ORDER BY id\" -o sorted.lance --memory-limit 2GB
  lancet sql \"SUMMARIZE 'orders.lance'\"             least, greatest and distinct values of each column
  lancet sql \"DESCRIBE 'orders.lance'\"              names and types of the columns
  lancet sql \"SELECT count(*) FROM 'cities.lance@3'\"  version 3 of a Lance table; see below
  lancet sql \"SELECT _rowid, name FROM 'cities.lance'\" --with-row-id
  lancet sql \"EXPLAIN ANALYZE SELECT max(price) FROM 'orders.lance' WHERE id < 1000\"
  lancet sql \"INSERT INTO 'cities.lance' SELECT * FROM 'more.parquet'\"
  lancet sql \"UPDATE 'cities.lance' SET population = population + 1 WHERE name = 'Bern'\"
  lancet sql \"DELETE FROM 'cities.lance' WHERE country IN (SELECT code FROM 'gone.csv')\"
  lancet sql \"COPY (SELECT * FROM 'orders.lance') TO 'table.lance' OPTIONS (table true)\"
  lancet sql --file report.sql
  lancet sql < report.sql

Tables are files, folders or patterns in quotes: .lance, .parquet .pq, .arrow .feather, .csv,
.jsonl .ndjson. In a folder such as data/year=2025/ the names of folders are columns. Without
ORDER BY, the rows of files come in the order of the files, files in the order of their names.

A folder that is a Lance table is read as one, without its deleted rows, at its latest version or at
the one behind an @: 'cities.lance@3' is version 3, 'cities.lance@released' a tag or a branch,
'cities.lance@test:3' version 3 of a branch. A statement reads one version, whatever is written
meanwhile.

INSERT INTO, INSERT OVERWRITE, UPDATE, DELETE, MERGE INTO and TRUNCATE change such a table, each in
one new version or not at all; older versions stay. INSERT goes by the position of columns, unless it
names them: INSERT INTO 'cities.lance' (name, population) SELECT … COPY to a table replaces its rows
and columns in a new version; where there is none, OPTIONS (table true) makes one instead of a file.
Tables in memory (CREATE TABLE t AS SELECT …) are replaced, not changed: CREATE OR REPLACE TABLE.

Statements are those of DataFusion; several have semicolons between them. The rows of each are
shown, and those of the last one go to -o OUT; the first error ends a script. Where the answer goes
to a Lance file, dots in the names of columns become _.";

/// What to ask.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Statements; - reads them from standard input (by default a shell, on a terminal)
    #[arg(value_name = "SQL")]
    query: Option<String>,
    /// Read the statements from a file
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    file: Option<PathBuf>,
    /// Most rows of an answer (a table shows 100 by default)
    #[arg(short = 'n', long)]
    limit: Option<u64>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    resources: Resources,
}

/// Runs the command.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    args.destination.check(None)?;
    match script(args)? {
        Some(text) => {
            let statements = statement::parse(&text).map_err(told)?;
            if statements.is_empty() {
                return Err(Error::new(
                    "there is no query; try: lancet sql \"SELECT * FROM 'a.lance'\"",
                ));
            }
            Answers::start(args, quiet)?.give(statements, out)
        }
        None if args.destination.output().is_some() => {
            Err(Error::Usage("-o needs a query: lancet sql \"SELECT …\" -o OUT".into()))
        }
        None => shell::run(&Answers::start(args, quiet)?, quiet, out),
    }
}

/// The statements that were given; none: ask for them.
fn script(args: &Args) -> Result<Option<String>> {
    if let Some(path) = &args.file {
        check_is_file(path)?;
        return Ok(Some(std::fs::read_to_string(path).in_file(path)?));
    }
    match args.query.as_deref() {
        None if stdin().is_terminal() => Ok(None),
        None | Some("-") => {
            let mut text = String::new();
            let read = stdin().read_to_string(&mut text);
            read.map_err(|error| Error::new(format!("cannot read standard input: {error}")))?;
            Ok(Some(text))
        }
        Some(query) => Ok(Some(query.to_owned())),
    }
}

/// Runs statements and shows what they give.
struct Answers<'a> {
    args: &'a Args,
    quiet: bool,
    ctx: SessionContext,
    disk: Arc<Disk>,
    interrupt: Interrupt,
    runtime: Arc<Runtime>, // the last to go: what the others hold may need it
}

impl Drop for Answers<'_> {
    fn drop(&mut self) {
        self.wait_for_the_rest();
    }
}

impl<'a> Answers<'a> {
    /// A query that was given up is still removing its temporary files, and may still begin some.
    fn wait_for_the_rest(&self) {
        let end = Instant::now() + CLEAN_UP;
        while self.runtime.metrics().num_alive_tasks() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
        // Files are removed on threads of their own, in turn; those that have begun are waited for.
        let _ = self.runtime.block_on(self.runtime.spawn_blocking(|| ()));
    }

    fn start(args: &'a Args, quiet: bool) -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(args.resources.threads()).on_thread_start(guard::quiet_thread);
        let runtime = guarded("cannot start the threads of the query, see --threads", || {
            runtime.enable_all().build().map_err(|error| Error::new(error.to_string()))
        })?;
        let disk = Arc::new(Disk::default());
        let ctx = args.resources.session(disk.clone()).map_err(told)?;
        let interrupt = Interrupt::listen().map_err(|error| Error::new(error.to_string()))?;
        Ok(Self { args, quiet, ctx, disk, interrupt, runtime: Arc::new(runtime) })
    }

    /// Runs statements one after the other, up to the first that fails.
    fn give(&self, statements: Vec<Statement>, out: &mut dyn Write) -> Result<()> {
        let (destination, shown) = (&self.args.destination, self.args.destination.shown());
        let last = statements.len().saturating_sub(1);
        for (at, statement) in statements.into_iter().enumerate() {
            self.interrupt.reset();
            self.disk.begin();
            let destination = if at == last { destination } else { &shown };
            let answered = guarded(FAILED, || self.answer(statement, destination, out));
            let answered = answered.map_err(|error| self.disk.failure().unwrap_or(error));
            // What was written by a statement that failed goes away now, not with the next one.
            if answered.is_err() {
                self.wait_for_the_rest();
            }
            self.disk.begin();
            answered?;
            out.flush()?;
        }
        Ok(())
    }

    fn answer(
        &self,
        statement: Statement,
        destination: &Destination,
        out: &mut dyn Write,
    ) -> Result<()> {
        let dots = !destination
            .output()
            .is_some_and(|path| matches!(Format::from_path(path), Ok(Format::Lance)));
        let (input, more) = match statement {
            Statement::Summarize(statement) => {
                let batch = self.wait(async {
                    let frame = self.frame(*statement, true).await?;
                    summary::summarize(frame).await.map_err(told)
                })?;
                (of_batch(batch), Rc::default())
            }
            Statement::Plain(statement) => {
                let again = statement.clone();
                let frame = self.wait(self.frame(*statement, dots))?;
                let plan = frame.logical_plan();
                let is_plan = matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
                let writes = matches!(
                    plan,
                    LogicalPlan::Copy(_) | LogicalPlan::Dml(_) | LogicalPlan::Analyze(_)
                );
                let no_columns = plan.schema().fields().is_empty();
                let stream: SendableRecordBatchStream = if writes {
                    let (schema, batches) = self.write(frame, &again)?;
                    if is_plan && destination.is_table() {
                        return print_plan(&batches, out);
                    }
                    let batches = stream::iter(batches.into_iter().map(Ok));
                    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
                } else {
                    self.wait(async { frame.execute_stream().await.map_err(told) })?
                };
                if is_plan && !writes && destination.is_table() {
                    let plan: Vec<RecordBatch> =
                        self.wait(async { stream.try_collect().await.map_err(told) })?;
                    return print_plan(&plan, out);
                }
                if no_columns {
                    return self.nothing_to_show(stream, destination);
                }
                let limit = self.args.limit.or(destination.is_table().then_some(TABLE_ROWS));
                self.limited(stream, limit.unwrap_or(u64::MAX))
            }
        };
        destination.fill(input, self.quiet, out)?;
        if self.args.limit.is_none() && more.get() && !self.quiet {
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

    /// Runs a statement that writes to its end. A change of a table is worked out again where another writer was faster with
    /// one that it does not go together with.
    fn write(
        &self,
        mut frame: DataFrame,
        again: &DfStatement,
    ) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        for attempt in 1.. {
            let changed = changed_table(frame.logical_plan());
            let run = async {
                let rows = frame.execute_stream().await?;
                Ok::<_, DataFusionError>((rows.schema(), rows.try_collect().await?))
            };
            match self.wait(async { Ok(run.await) })? {
                Err(error) if attempt < ATTEMPTS && can_run_again(&error) => {
                    self.disk.begin();
                    frame = self.wait(self.frame(again.clone(), true))?;
                }
                Err(error) => return Err(told(error)),
                Ok(done) => {
                    // How much was written is told when it is there.
                    self.disk.publish()?;
                    if let Some((name, table)) = changed
                        && let Some(change) = table.last_change()
                    {
                        Done::rows("sql", Path::new(&name), &change).say(self.quiet);
                    }
                    return Ok(done);
                }
            }
        }
        Err(Error::new("the statement was never run"))
    }

    /// Runs a future to its end, or up to Ctrl-C.
    fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(self.interrupt.or_stop(work))
    }

    /// Plans a statement; those that change the session are run.
    async fn frame(&self, statement: DfStatement, dots: bool) -> Result<DataFrame> {
        let plan = self.ctx.state().statement_to_plan(statement).await.map_err(told)?;
        changes::check_targets(&plan).map_err(told)?;
        let plan = match plan {
            LogicalPlan::Copy(_) => columns::rename_copied(plan),
            LogicalPlan::Ddl(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Statement(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::DescribeTable(_) => Ok(plan),
            query => columns::rename(query, dots),
        };
        self.ctx.execute_logical_plan(plan.map_err(told)?).await.map_err(told)
    }

    /// Ends a statement whose answer has no columns, such as CREATE TABLE.
    fn nothing_to_show(
        &self,
        stream: SendableRecordBatchStream,
        destination: &Destination,
    ) -> Result<()> {
        let (mut input, _) = self.limited(stream, u64::MAX);
        input.batches.try_for_each(|batch| batch.map(drop))?;
        match destination.output() {
            Some(path) => Err(Error::new(format!(
                "{}: the last statement gives no rows to write; end with a SELECT",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// The first rows of an answer; the flag tells afterwards whether there were more.
    fn limited(
        &self,
        mut stream: SendableRecordBatchStream,
        limit: u64,
    ) -> (Input, Rc<Cell<bool>>) {
        let schema = stream.schema();
        let (runtime, interrupt) = (self.runtime.clone(), self.interrupt.clone());
        let more = Rc::new(Cell::new(false));
        let (mut left, seen) = (limit, more.clone());
        let batches = std::iter::from_fn(move || {
            if seen.get() {
                return None;
            }
            let next = async { stream.next().await.transpose().map_err(told) };
            let batch = match runtime.block_on(interrupt.or_stop(next)) {
                Ok(batch) => batch?,
                Err(error) => return Some(Err(error)),
            };
            let rows = batch.num_rows() as u64;
            seen.set(rows > left);
            let kept = rows.min(left);
            left -= kept;
            Some(Ok(batch.slice(0, usize::try_from(kept).unwrap_or(usize::MAX))))
        });
        (Input { schema, file_rows: None, rows: None, batches: Box::new(batches) }, more)
    }
}

/// The Lance table that a statement changes, with its name.
fn changed_table(plan: &LogicalPlan) -> Option<(String, LanceTable)> {
    let LogicalPlan::Dml(statement) = plan else { return None };
    let source = statement.target.downcast_ref::<DefaultTableSource>()?;
    let table = source.table_provider.downcast_ref::<LanceTable>()?;
    Some((statement.table_name.table().to_owned(), table.clone()))
}

/// Whether a change may work when it is done again on the newest version.
fn can_run_again(error: &DataFusionError) -> bool {
    let DataFusionError::External(cause) = error.find_root() else { return false };
    match cause.downcast_ref() {
        Some(lancet_table::Error::Conflict(conflict)) => conflict.can_retry,
        _ => false,
    }
}

fn of_batch(batch: RecordBatch) -> Input {
    let rows = Some(batch.num_rows() as u64);
    Input {
        schema: batch.schema(),
        file_rows: None,
        rows,
        batches: Box::new([Ok(batch)].into_iter()),
    }
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
