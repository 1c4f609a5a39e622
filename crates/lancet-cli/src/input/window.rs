//! Rows and columns of a stream that can only be read from its beginning.

use arrow_array::RecordBatch;

use super::project::Projection;
use super::{Batches, Input, Selection};
use crate::error::{Error, Result};

/// Leaves the selected columns and rows of an input.
pub fn narrow(input: Input, selection: &Selection) -> Result<Input> {
    let Input { mut schema, file_rows, mut rows, mut batches } = input;
    let (start, end) = (selection.rows.start, selection.rows.end.unwrap_or(u64::MAX));
    rows = rows.map(|rows| rows.min(end).saturating_sub(start));
    if let Some(file_rows) = file_rows {
        let range = selection.rows.within(file_rows)?;
        rows = Some(range.end - range.start);
    }
    if !selection.columns.is_empty() {
        let columns = Projection::new(&schema, &selection.columns).map_err(Error::new)?;
        schema = columns.schema.clone();
        batches = Box::new(
            batches.map(move |batch| columns.of(&batch?).map_err(|e| Error::new(e.to_string()))),
        );
    }
    let skip = selection.rows.start;
    let left = selection.rows.end.map_or(u64::MAX, |end| end.saturating_sub(skip));
    if skip > 0 || left < u64::MAX {
        batches = Box::new(Window { batches, skip, left });
    }
    Ok(Input { schema, file_rows, rows, batches })
}

/// Skips rows, then passes rows on until enough have come.
struct Window {
    batches: Batches,
    skip: u64,
    left: u64,
}

impl Iterator for Window {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            let rows = batch.num_rows() as u64;
            if self.skip >= rows {
                self.skip -= rows;
                continue;
            }
            let start = std::mem::take(&mut self.skip);
            let len = self.left.min(rows - start);
            self.left -= len;
            // Both are at most the rows of the batch, which are a usize.
            return Some(Ok(batch.slice(start as usize, len as usize)));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rows::RowRange;
    use arrow_array::{ArrayRef, Int32Array, cast::AsArray, types::Int32Type};

    fn input(batches: &[&[i32]], file_rows: Option<u64>) -> Input {
        let batch = |values: &&[i32]| {
            let column = |factor: i32| {
                Arc::new(values.iter().map(|v| Some(v * factor)).collect::<Int32Array>())
                    as ArrayRef
            };
            RecordBatch::try_from_iter([("a", column(1)), ("b", column(10))]).unwrap()
        };
        let batches: Vec<_> = batches.iter().map(batch).collect();
        let schema = batches[0].schema();
        Input { schema, file_rows, rows: file_rows, batches: Box::new(batches.into_iter().map(Ok)) }
    }

    fn values(columns: &[&str], rows: &str) -> Vec<Vec<i32>> {
        let selection = Selection {
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            rows: RowRange::parse(rows).unwrap(),
        };
        let narrowed = narrow(input(&[&[0, 1, 2], &[3], &[4, 5, 6]], Some(7)), &selection).unwrap();
        assert_eq!(narrowed.schema.fields().len(), columns.len());
        let first =
            |batch: RecordBatch| batch.column(0).as_primitive::<Int32Type>().values().to_vec();
        narrowed.batches.map(|batch| first(batch.unwrap())).collect()
    }

    #[test]
    fn rows_are_cut_across_batches() {
        assert_eq!(values(&["a"], "2..5"), [vec![2], vec![3], vec![4]]);
        assert_eq!(values(&["a"], "4.."), [vec![4, 5, 6]]);
        assert_eq!(values(&["b", "a"], "..2"), [vec![0, 10]]);
        assert_eq!(values(&["a"], "3..3"), Vec::<Vec<i32>>::new());
    }

    #[test]
    fn mistakes_are_named() {
        let narrowed = |columns: &[&str], rows: &str| {
            let columns = columns.iter().map(|c| (*c).to_owned()).collect();
            let selection = Selection { columns, rows: RowRange::parse(rows).unwrap() };
            match narrow(input(&[&[0]], Some(1)), &selection) {
                Err(Error::Message(message)) => message,
                _ => panic!("accepted"),
            }
        };
        assert_eq!(narrowed(&["x"], ".."), "no column `x`; there are: a, b");
        assert_eq!(narrowed(&[], "2.."), "the rows start at 2, but the file has 1 rows");
    }
}
