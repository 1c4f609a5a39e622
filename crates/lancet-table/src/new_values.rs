//! Where the values of new columns come from.

use std::future::Future;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::row_source::RowSource;

/// Values of new columns, for rows that come batch by batch, in the order of the table.
pub(crate) trait NewValues {
    /// The values for some rows, given the columns that were asked for.
    fn of(&mut self, rows: &RecordBatch) -> impl Future<Output = Result<RecordBatch>>;

    /// There are no more rows.
    fn finish(&mut self) -> impl Future<Output = Result<()>>;
}

/// Values that are made from others.
pub(crate) struct Made<F>(pub(crate) F);

impl<F: FnMut(&RecordBatch) -> Result<RecordBatch>> NewValues for Made<F> {
    async fn of(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        (self.0)(rows)
    }

    async fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// One value for all rows.
pub(crate) struct Constant {
    pub(crate) schema: SchemaRef,
    /// An array of one value.
    pub(crate) value: ArrayRef,
}

impl NewValues for Constant {
    async fn of(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        let all = UInt64Array::from(vec![0; rows.num_rows()]);
        Ok(RecordBatch::try_new(self.schema.clone(), vec![take(&self.value, &all, None)?])?)
    }

    async fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Values that are given, one for each row of the table.
pub(crate) struct Aligned<R> {
    pub(crate) source: R,
    /// Values that were given and not asked for yet.
    pub(crate) rest: Option<RecordBatch>,
}

impl<R: RowSource> Aligned<R> {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        while let Some(batch) = self.source.next().await {
            let batch = batch?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl<R: RowSource> NewValues for Aligned<R> {
    async fn of(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        let (mut parts, mut wanted) = (Vec::new(), rows.num_rows());
        while wanted > 0 {
            let Some(batch) = self.next().await? else {
                return Err(Error::invalid(
                    "there are fewer values of new columns than rows in the table",
                ));
            };
            let given = wanted.min(batch.num_rows());
            let left = batch.num_rows().saturating_sub(given);
            self.rest = (left > 0).then(|| batch.slice(given, left));
            parts.push(batch.slice(0, given));
            wanted = wanted.saturating_sub(given);
        }
        match <[RecordBatch; 1]>::try_from(parts) {
            Ok([only]) => Ok(only),
            Err(parts) => Ok(concat_batches(&self.source.schema(), &parts)?),
        }
    }

    async fn finish(&mut self) -> Result<()> {
        match self.next().await? {
            None => Ok(()),
            Some(_) => {
                Err(Error::invalid("there are more values of new columns than rows in the table"))
            }
        }
    }
}

/// Values must be as many as the rows they are for, of the types that were announced.
pub(crate) fn checked(
    values: &RecordBatch,
    new: &SchemaRef,
    num_rows: usize,
) -> Result<RecordBatch> {
    if values.num_rows() != num_rows {
        let found = values.num_rows();
        return Err(Error::invalid(format!(
            "{found} values of new columns were given for {num_rows} rows"
        )));
    }
    let arrays = new.fields().iter().map(|field| {
        let name = field.name();
        let array = values.column_by_name(name);
        let array =
            array.ok_or_else(|| Error::invalid(format!("no values for `{name}` were given")))?;
        if !array.data_type().equals_datatype(field.data_type()) {
            let (found, wanted) = (array.data_type(), field.data_type());
            return Err(Error::invalid(format!(
                "the values of `{name}` are {found}, not {wanted}"
            )));
        }
        if !field.is_nullable() && array.logical_null_count() > 0 {
            let what = format!("column `{name}` is never null, but some of its values are");
            return Err(Error::Invalid(what));
        }
        Ok(array.clone())
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    Ok(RecordBatch::try_new_with_options(new.clone(), arrays, &options)?)
}
