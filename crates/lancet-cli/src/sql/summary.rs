//! SUMMARIZE: what each column of an answer holds.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::{approx_distinct, avg, count, max, min};
use datafusion::logical_expr::{Expr, cast, lit};
use datafusion::prelude::DataFrame;

use crate::show::Show;

/// The figures of one column, as expressions over all rows.
const FIGURES: usize = 5;

/// One row for each column of an answer.
pub(super) async fn summarize(frame: DataFrame) -> Result<RecordBatch> {
    let schema = frame.schema().clone();
    let columns = schema.columns();
    let mut expressions = vec![count(lit(1)).alias("rows")];
    for (at, (column, field)) in columns.iter().zip(schema.fields()).enumerate() {
        for (figure, expression) in figures(column, field.data_type()).into_iter().enumerate() {
            expressions.push(expression.alias(format!("{at} {figure}")));
        }
    }
    let found = frame.aggregate(Vec::new(), expressions)?.collect().await?;
    let found = arrow_select::concat::concat_batches(
        &found.first().map_or_else(|| Arc::new(schema.as_arrow().clone()), |b| b.schema()),
        &found,
    )?;
    let rows = integer(found.columns().first());
    let figure = |column: usize, figure: usize| {
        found.column_by_name(&format!("{column} {figure}")).filter(|values| !values.is_empty())
    };
    let each = 0..columns.len();
    let texts = |wanted: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter(each.clone().map(|at| text(figure(at, wanted)))))
    };
    let counts = |wanted: usize| each.clone().map(move |at| integer(figure(at, wanted)));
    let nulls = counts(4).map(|values| Some(share_of_nulls(values?, rows?)));
    let names = columns.iter().map(|column| Some(column.name.as_str()));
    let types = schema.fields().iter().map(|field| Some(field.data_type().to_string()));
    let table: [(&str, ArrayRef); 8] = [
        ("column_name", Arc::new(StringArray::from_iter(names))),
        ("column_type", Arc::new(StringArray::from_iter(types))),
        ("min", texts(0)),
        ("max", texts(1)),
        ("approx_unique", Arc::new(Int64Array::from_iter(counts(2)))),
        ("avg", texts(3)),
        ("count", Arc::new(Int64Array::from_iter(each.clone().map(|_| rows)))),
        ("null_percentage", Arc::new(nulls.collect::<Float64Array>())),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(table.map(|(name, values)| (name, values, true)))?)
}

fn figures(column: &Column, data_type: &DataType) -> [Expr; FIGURES] {
    let values = || Expr::Column(column.clone());
    let none = || lit(ScalarValue::Utf8(None));
    let plain = !data_type.is_nested() && !data_type.is_null();
    let number = data_type.is_numeric();
    [
        if plain { min(values()) } else { max(none()) },
        if plain { max(values()) } else { max(none()) },
        match data_type {
            // They are not counted as they are.
            DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::Dictionary(..) => approx_distinct(cast(values(), DataType::Utf8)),
            _ if plain => approx_distinct(values()),
            _ => max(none()),
        },
        if number { avg(cast(values(), DataType::Float64)) } else { max(none()) },
        count(values()),
    ]
}

/// The one value of a figure, as text.
fn text(values: Option<&ArrayRef>) -> Option<String> {
    let values = values.filter(|values| values.is_valid(0))?;
    Show::new(values.as_ref(), "").ok()?.text(0).ok()
}

fn integer(values: Option<&ArrayRef>) -> Option<i64> {
    text(values)?.parse().ok()
}

/// In percent, with two places.
fn share_of_nulls(values: i64, rows: i64) -> f64 {
    if rows == 0 {
        return 0.0;
    }
    let share = 1.0 - values as f64 / rows as f64;
    (share * 10_000.0).round() / 100.0
}
