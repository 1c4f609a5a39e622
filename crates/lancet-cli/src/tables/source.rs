//! The rows that go into a table: those of files, of whatever format.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use lancet::ReadOptions;

use crate::copy::parts;
use crate::error::{Error, Result};
use crate::input::{Input, Selection, TextOptions};
use crate::places::{self, Access, FormatName, InTable, InputFile, TableArgs};
use crate::{claims, dictionaries, joined};

/// How the files are read.
#[derive(Debug, clap::Args)]
pub struct SourceArgs {
    /// Format of the files, if their endings do not tell
    #[arg(long, value_name = "FORMAT", value_parser = FormatName::parse)]
    from: Option<FormatName>,
    /// Take also a file that claims more rows than its size makes likely
    #[arg(long)]
    any_rows: bool,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    text: TextOptions,
}

impl SourceArgs {
    /// Opens all files as one. Text becomes what the columns of the table are, if there is one.
    pub fn open(&self, files: &[PathBuf], like: Option<&Schema>, quiet: bool) -> Result<Input> {
        let files = places::expand(files)?;
        self.access.check(files.paths.iter().map(PathBuf::as_path))?;
        let open = |path: &PathBuf| self.open_file(path, like, quiet);
        let opened = files.paths.iter().map(open).collect::<Result<Vec<_>>>()?;
        let bytes = opened.iter().map(InputFile::size_bytes).fold(0, u64::saturating_add);
        let mut input = joined::open(opened, &Selection::default())?;
        if let Some(table) = like {
            input = into_dictionaries(input, table);
        }
        self.check_claim(&input, bytes, files.paths.first().map(PathBuf::as_path))?;
        Ok(input)
    }

    /// Opens one file, to be read several times.
    pub fn open_one(&self, file: &Path, like: &Schema, quiet: bool) -> Result<InputFile> {
        self.access.check(std::iter::once(file))?;
        let opened = self.open_file(file, Some(like), quiet)?;
        self.check_claim(&opened.rows(&Selection::default())?, opened.size_bytes(), Some(file))?;
        Ok(opened.quiet())
    }

    fn open_file(&self, path: &Path, like: Option<&Schema>, quiet: bool) -> Result<InputFile> {
        let (from, table) = (self.from.as_ref(), TableArgs::default());
        let file = InputFile::or_table(path, from, &self.access, &table, ReadOptions::default())?;
        let Some(like) = like.filter(|_| file.format().is_text()) else {
            return file.with_text(&self.text, quiet);
        };
        let as_it_is = TextOptions { rename: Vec::new(), ..self.text.clone() };
        let file = file.with_text(&as_it_is, true)?;
        let found = file.rows(&Selection::default())?.schema;
        file.with_text(&self.text.like(&found, like)?, quiet)
    }

    fn check_claim(&self, input: &Input, bytes: u64, file: Option<&Path>) -> Result<()> {
        if self.any_rows {
            return Ok(());
        }
        claims::check(input.rows, bytes, "--any-rows takes them all the same").map_err(|error| {
            match file {
                Some(file) => error.about(file),
                None => error,
            }
        })
    }
}

/// Values of a file as dictionaries, where the table has these.
pub fn into_dictionaries(input: Input, table: &Schema) -> Input {
    let like = |field: &FieldRef| match table.field_with_name(field.name()).map(Field::data_type) {
        Ok(to @ DataType::Dictionary(_, values)) if values.as_ref() == field.data_type() => {
            Arc::new(Field::clone(field).with_data_type(to.clone()))
        }
        _ => field.clone(),
    };
    let fields: Fields = input.schema.fields().iter().map(like).collect();
    if fields == *input.schema.fields() {
        return input;
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, input.schema.metadata().clone()));
    let to = schema.clone();
    let convert = move |batch: RecordBatch| {
        let columns = batch.columns().iter().zip(to.fields());
        let columns =
            columns.map(|(column, field)| match column.data_type() == field.data_type() {
                true => Ok(column.clone()),
                false => dictionaries::of_values(column, field.data_type()),
            });
        RecordBatch::try_new(to.clone(), columns.collect::<Result<_, ArrowError>>()?)
    };
    let batches = input.batches.map(move |batch| {
        convert(batch?).map_err(|error: ArrowError| Error::new(error.to_string()))
    });
    Input { schema, batches: Box::new(batches), ..input }
}

/// Rows on their way into a table. What went wrong with them is kept as it was told.
pub struct Rows {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>>>,
    failed: Failure,
}

/// Why rows ended early, if they did.
#[derive(Debug, Clone, Default)]
pub struct Failure(Rc<RefCell<Option<Error>>>);

impl Failure {
    /// What a write came to: where the rows were at fault, what they had to say.
    pub fn or<T>(&self, written: lancet_table::Result<T>, table: &Path) -> Result<T> {
        self.or_told(written.in_table(table))
    }

    /// The same, where the table was named already.
    pub fn or_told<T>(&self, written: Result<T>) -> Result<T> {
        match (written, self.0.borrow_mut().take()) {
            (Err(_), Some(error)) => Err(error),
            (written, _) => written,
        }
    }

    /// Keeps an error, and gives a text that stands for it.
    pub fn keep(&self, error: Error) -> String {
        *self.0.borrow_mut() = Some(error);
        "the rows could not be read".into()
    }
}

impl Rows {
    /// The rows of files.
    pub fn new(input: Input, failed: &Failure) -> Self {
        // An Arrow file may be one huge batch; in parts it makes progress.
        let batches = input.batches.flat_map(|batch| match batch {
            Ok(batch) => parts(&batch).map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        Self { schema: input.schema, batches: Box::new(batches), failed: failed.clone() }
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(self.failed.keep(error).into())))
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
