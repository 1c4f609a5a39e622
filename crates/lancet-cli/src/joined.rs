//! Several files as one: their rows one after the other.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::error::{Error, Result};
use crate::input::{Batches, Input, Selection};
use crate::places::InputFile;
use crate::rows::RowRange;

/// Opens all files; rows are counted over all of them. Fails before the first row if their columns
/// differ.
pub fn open(files: Vec<InputFile>, selection: &Selection) -> Result<Input> {
    if let [file] = files.as_slice() {
        return file.rows(selection);
    }
    let whole = Selection { columns: selection.columns.clone(), rows: RowRange::default() };
    let mut common: Option<(&Path, Schema)> = None;
    let mut counts = Vec::with_capacity(files.len());
    for file in &files {
        // Closed again: there may be more files than a process can hold open.
        let input = file.rows(&whole)?;
        counts.push(input.file_rows);
        match &mut common {
            None => common = Some((file.name(), input.schema.as_ref().clone())),
            Some((first, common)) => {
                *common = agreed(common, first, &input.schema)
                    .map_err(|message| Error::new(message).about(file.name()))?;
            }
        }
    }
    let schema = common.map_or_else(|| Arc::new(Schema::empty()), |(_, schema)| Arc::new(schema));
    let file_rows = counts.iter().try_fold(0_u64, |all, rows| Some(all.saturating_add((*rows)?)));
    let rows = match file_rows {
        Some(all) => selection.rows.within(all).map(|rows| Some(rows.end - rows.start))?,
        None => None,
    };
    let RowRange { start, end } = selection.rows;
    let batches = Box::new(Joined {
        files: files.into_iter().map(InputFile::quiet).zip(counts).collect::<Vec<_>>().into_iter(),
        columns: whole.columns,
        schema: schema.clone(),
        current: None,
        skip: start,
        left: end.map_or(u64::MAX, |end| end.saturating_sub(start)),
    });
    Ok(Input { schema, file_rows, rows, batches })
}

/// The schema of the files so far and of one more, of which any may have nulls.
fn agreed(common: &Schema, first: &Path, schema: &Schema) -> Result<Schema, String> {
    let first = first.display();
    let mut fields = Vec::with_capacity(common.fields().len());
    for (number, field) in common.fields().iter().enumerate() {
        let name = field.name().escape_debug();
        let found = schema.fields().get(number).filter(|found| found.name() == field.name());
        let Some(found) = found else {
            return Err(match schema.column_with_name(field.name()) {
                Some((at, _)) => format!(
                    "column `{name}` is number {} here, but number {} in {first}",
                    at + 1,
                    number + 1
                ),
                None => format!("column `{name}` is missing, but {first} has it"),
            });
        };
        let (here, there) = (found.data_type(), field.data_type());
        if here != there {
            return Err(format!("column `{name}` is {here} here, but {there} in {first}"));
        }
        let nullable = field.is_nullable() || found.is_nullable();
        fields.push(Field::clone(field).with_nullable(nullable));
    }
    if let Some(more) = schema.fields().get(fields.len()) {
        return Err(format!("column `{}` is not in {first}", more.name().escape_debug()));
    }
    Ok(Schema::new_with_metadata(fields, common.metadata().clone()))
}

/// The rows of files that are opened one by one.
struct Joined {
    /// The files still to come, with their numbers of rows where these are known.
    files: std::vec::IntoIter<(InputFile, Option<u64>)>,
    columns: Vec<String>,
    schema: SchemaRef,
    current: Option<Batches>,
    /// Rows that are not wanted.
    skip: u64,
    /// Rows that are wanted after those.
    left: u64,
}

impl Joined {
    /// Opens the next file; none where no row of it is wanted.
    fn begin(&mut self, file: &InputFile, count: Option<u64>) -> Result<Option<Batches>> {
        let mut rows = RowRange::default();
        match count {
            Some(count) if self.skip >= count => {
                self.skip -= count;
                return Ok(None);
            }
            Some(count) => {
                let start = std::mem::take(&mut self.skip);
                rows = RowRange { start, end: Some(start.saturating_add(self.left).min(count)) };
            }
            None => {}
        }
        let selection = Selection { columns: self.columns.clone(), rows };
        file.rows(&selection).map(|input| Some(input.batches))
    }

    /// The wanted rows of a batch, with the schema of all files.
    fn cut(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let rows = batch.num_rows() as u64;
        if self.skip >= rows {
            self.skip -= rows;
            return Ok(None);
        }
        let start = std::mem::take(&mut self.skip);
        let len = self.left.min(rows - start);
        self.left -= len;
        // Both are at most the rows of the batch, which are a usize.
        let batch = batch.slice(start as usize, len as usize);
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().to_vec();
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map(Some)
            .map_err(|error| Error::new(error.to_string()))
    }
}

impl Iterator for Joined {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let step = match self.current.as_mut().map(Iterator::next) {
                Some(Some(batch)) => batch.and_then(|batch| self.cut(&batch)),
                Some(None) => {
                    self.current = None;
                    Ok(None)
                }
                None => {
                    let (file, count) = self.files.next()?;
                    self.begin(&file, count).map(|batches| {
                        self.current = batches;
                        None
                    })
                }
            };
            if step.is_err() {
                self.left = 0; // there is nothing sensible to go on with
            }
            if let Some(step) = step.transpose() {
                return Some(step);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn schema(fields: &[(&str, DataType, bool)]) -> Schema {
        let field =
            |(name, kind, null): &(&str, DataType, bool)| Field::new(*name, kind.clone(), *null);
        Schema::new(fields.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn columns_have_to_agree() {
        let a = schema(&[("id", DataType::Int64, false), ("x", DataType::Utf8, true)]);
        let with = |fields: &[(&str, DataType, bool)]| agreed(&a, Path::new("a"), &schema(fields));
        let same = with(&[("id", DataType::Int64, true), ("x", DataType::Utf8, false)]).unwrap();
        assert!(same.field(0).is_nullable() && same.field(1).is_nullable());
        let message = |fields: &[(&str, DataType, bool)]| with(fields).unwrap_err();
        assert_eq!(
            message(&[("id", DataType::Utf8, true), ("x", DataType::Utf8, true)]),
            "column `id` is Utf8 here, but Int64 in a"
        );
        assert_eq!(
            message(&[("id", DataType::Int64, true)]),
            "column `x` is missing, but a has it"
        );
        assert_eq!(
            message(&[("x", DataType::Utf8, true), ("id", DataType::Int64, true)]),
            "column `id` is number 2 here, but number 1 in a"
        );
        let more = [("id", DataType::Int64, true), ("x", DataType::Utf8, true)];
        let more = [more.as_slice(), &[("y", DataType::Utf8, true)]].concat();
        assert_eq!(message(&more), "column `y` is not in a");
    }
}
