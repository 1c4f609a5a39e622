//! `lancet table merge`: the rows of a file update those with the same keys, and the others are added.
//!
//! The file is read three times: for its keys, which are kept, for the rows that update, and for those that are added. Of
//! the table only the columns of the key are read.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Schema};
use arrow_select::take::take_record_batch;
use lancet_table::columns::ROW_ADDRESS;
use lancet_table::{Error as TableError, Table, TableChange, TableRows, TableWriteOptions};

use super::change::{ChangeArgs, Done};
use super::literal::column_type;
use super::source::{Failure, Rows, SourceArgs, into_dictionaries};
use crate::error::{Error, Result};
use crate::input::{Input, Selection};
use crate::keys::Keys;
use crate::places::InputFile;
use crate::progress;
use crate::signals::Cancel;

const EXAMPLES: &str = "\
Examples:
  lancet table merge cities.lance census.csv --on id
  lancet table merge cities.lance census.parquet --on country,name -m 'census of 2024'
  lancet table merge cities.lance prices.csv --on id --no-insert
  lancet table merge cities.lance new.csv --on id --no-update
  other-program | lancet table merge cities.lance - --from jsonl --on id

A key must not come twice in the file; in the table it may, and all its rows are updated. A key
with a null equals no other, so that its row is added. Columns that the file does not have stay as
they are, and are null in rows that are added.";

/// What is merged into what.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the table
    table: PathBuf,
    /// File or table to read: a path, a URL, - for standard input
    file: PathBuf,
    /// Columns that say which rows are the same: id or country,name
    #[arg(long, value_name = "COLUMNS", required = true, value_delimiter = ',')]
    on: Vec<String>,
    /// Add no rows: only update
    #[arg(long, conflicts_with = "no_update")]
    no_insert: bool,
    /// Update no rows: only add
    #[arg(long)]
    no_update: bool,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// The rows of the file, by number: by key, and those whose key is null.
struct Source {
    file: InputFile,
    rows: HashMap<Vec<u8>, u64>,
    num_rows: u64,
}

/// What becomes of the rows of the file.
struct Matches {
    /// Rows of the file and the addresses of rows of the table that they update, by the former.
    updates: Vec<(u64, u64)>,
    /// By row of the file, whether it is added.
    is_new: Vec<bool>,
}

/// Runs the verb.
pub fn run(args: &Args, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let schema = args.change.open(&args.table)?.schema();
    let file = args.source.open_one(&args.file, &schema, quiet)?;
    check_keys(&file.rows(&Selection::default())?.schema, &schema, &args.on)
        .map_err(|message| Error::new(message).about(&args.file))?;
    let (bar, cancel) = (progress::bar(None, quiet), Cancel::begin());
    let source = Source::read(file, &args.on, &cancel)?;
    let options = args.change.options(&bar, &cancel);
    let failed = Failure::default();
    let merged = args.change.on_newest(&args.table, |table| {
        let matches = source.find(table, args, &cancel)?;
        source.merge(table, &matches, &options, &failed)
    });
    let change = failed.or_told(merged)?;
    bar.finish_and_clear();
    Done::rows("merge", &args.table, &change).tell(args.change.json, quiet, out)
}

/// Fails where keys cannot be compared.
fn check_keys(file: &Schema, table: &Schema, on: &[String]) -> Result<(), String> {
    for column in on {
        let there =
            column_type(table, column).map_err(|message| format!("in the table, {message}"))?;
        let here = column_type(file, column)?;
        if plain(here) != plain(there) {
            return Err(format!("column `{column}` is {here} here, but {there} in the table"));
        }
    }
    Ok(())
}

/// The type that keys go by: how strings and dictionaries are held is no matter.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::LargeUtf8 | DataType::Utf8View => &DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => &DataType::Binary,
        other => other,
    }
}

/// The keys of the rows of a batch, whose last columns may be others; none where a part is null.
fn keys_of(columns: &[ArrayRef]) -> Result<impl Fn(usize) -> Option<Vec<u8>> + '_, String> {
    let keys = columns.iter().map(|array| Keys::new(array.as_ref()));
    let keys = keys.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let mut nulls = Vec::new();
    columns.iter().for_each(|array| add_nulls(array.as_ref(), &mut nulls));
    Ok(move |row: usize| {
        if nulls.iter().any(|nulls: &NullBuffer| nulls.is_null(row)) {
            return None;
        }
        let mut key = Vec::new();
        keys.iter().for_each(|keys| keys.write(row, &mut key));
        Some(key)
    })
}

/// The nulls of a key, and of fields inside it: `--on a.id` comes as a struct.
fn add_nulls(array: &dyn Array, nulls: &mut Vec<NullBuffer>) {
    nulls.extend(array.logical_nulls());
    if let Some(array) = array.as_struct_opt() {
        array.columns().iter().for_each(|child| add_nulls(child.as_ref(), nulls));
    }
}

impl Source {
    /// Reads the keys of a file.
    fn read(file: InputFile, on: &[String], cancel: &Cancel) -> Result<Self> {
        let selection = Selection { columns: on.to_vec(), ..Selection::default() };
        let (mut rows, mut num_rows) = (HashMap::new(), 0);
        for batch in file.rows(&selection)?.batches {
            cancel.check().map_err(|error| Error::new(error.to_string()))?;
            let batch = batch?;
            let key = keys_of(batch.columns()).map_err(|e| Error::new(e).about(file.name()))?;
            for row in 0..batch.num_rows() {
                let number = num_rows + row as u64;
                if let Some(first) = key(row).and_then(|key| rows.insert(key, number)) {
                    let message = format!(
                        "rows {first} and {number}, counted from 0, have the same key ({})",
                        on.join(", ")
                    );
                    return Err(Error::new(message).about(file.name()));
                }
            }
            num_rows += batch.num_rows() as u64;
        }
        Ok(Self { file, rows, num_rows })
    }

    /// Finds the rows of the table that have the keys.
    fn find(&self, table: &Table, args: &Args, cancel: &Cancel) -> lancet_table::Result<Matches> {
        let columns = args.on.iter().map(String::as_str).chain([ROW_ADDRESS]);
        let mut updates = Vec::new();
        let mut is_new = vec![true; usize::try_from(self.num_rows).unwrap_or(usize::MAX)];
        let mut batches = table.scan().columns(columns.collect::<Vec<_>>()).build()?;
        while let Some(batch) = batches.next_batch() {
            cancel.check()?;
            let batch = batch?;
            let Some((addresses, columns)) = batch.columns().split_last() else { continue };
            let addresses = addresses.as_primitive::<UInt64Type>().values();
            let key = keys_of(columns).map_err(TableError::Invalid)?;
            for (row, address) in addresses.iter().enumerate() {
                let Some(number) = key(row).and_then(|key| self.rows.get(&key)) else { continue };
                updates.push((*number, *address));
                if let Some(is_new) = usize::try_from(*number).ok().and_then(|n| is_new.get_mut(n))
                {
                    *is_new = false;
                }
            }
        }
        updates.sort_unstable();
        if args.no_update {
            updates.clear();
        }
        if args.no_insert {
            is_new.fill(false);
        }
        Ok(Matches { updates, is_new })
    }

    fn merge(
        &self,
        table: &mut Table,
        matches: &Matches,
        options: &TableWriteOptions,
        failed: &Failure,
    ) -> lancet_table::Result<TableChange> {
        let schema = table.schema();
        let rows = |pick: Vec<u64>| match self.picked(pick) {
            Ok(input) => Ok(Rows::new(into_dictionaries(input, &schema), failed)),
            Err(error) => Err(TableError::Invalid(failed.keep(error))),
        };
        let numbers = |(number, is_new): (usize, &bool)| is_new.then_some(number as u64);
        let new: Vec<u64> = matches.is_new.iter().enumerate().filter_map(numbers).collect();
        let (changed, addresses): (Vec<u64>, Vec<u64>) = matches.updates.iter().copied().unzip();
        let addresses = TableRows::Addresses(addresses);
        // A file that only updates need not have all columns.
        match (changed.is_empty(), new.is_empty()) {
            (_, true) => table.update_with(addresses, rows(changed)?, options),
            (true, false) => table.append_with(rows(new)?, options),
            (false, false) => table.merge_with(addresses, rows(changed)?, rows(new)?, options),
        }
    }

    /// Some rows of the file, by number, in order; one may come several times.
    fn picked(&self, rows: Vec<u64>) -> Result<Input> {
        let whole = self.file.rows(&Selection::default())?;
        let mut rows = rows.into_iter().peekable();
        let (mut start, name) = (0, self.file.name().to_owned());
        let batches = whole.batches.map(move |batch| {
            let batch = batch?;
            let end = start + batch.num_rows() as u64;
            let here = std::iter::from_fn(|| rows.next_if(|row| *row < end));
            let here = UInt64Array::from_iter_values(here.map(|row| row - start));
            start = end;
            taken(&batch, &here, &name)
        });
        Ok(Input { batches: Box::new(batches), ..whole })
    }
}

fn taken(batch: &RecordBatch, rows: &UInt64Array, name: &Path) -> Result<RecordBatch> {
    take_record_batch(batch, rows).map_err(|error| Error::new(error.to_string()).about(name))
}
