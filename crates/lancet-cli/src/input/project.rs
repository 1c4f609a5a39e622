//! Columns by their names, nested ones with dots, of rows that were read whole: those that are asked for, in that order,
//! as a Lance file gives them.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

/// The columns that are asked for.
pub struct Projection {
    pub schema: SchemaRef,
    columns: Vec<(usize, Wanted)>,
}

/// What is wanted of a field.
enum Wanted {
    All,
    /// Fields below it by their places, in the order asked for.
    Some(Vec<(usize, Wanted)>),
}

impl Projection {
    /// Finds columns by their names.
    pub fn new(schema: &Schema, names: &[String]) -> Result<Self, String> {
        let mut columns = Vec::new();
        for name in names {
            let path = find(schema.fields(), name).ok_or_else(|| {
                let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                format!("no column `{name}`; there are: {}", names.join(", "))
            })?;
            want(&mut columns, &path);
        }
        let fields = kept(schema.fields(), &columns);
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        Ok(Self { schema, columns })
    }

    /// These columns of some rows.
    pub fn of(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        for ((place, wanted), field) in self.columns.iter().zip(self.schema.fields()) {
            let array = batch.columns().get(*place).ok_or_else(missing)?;
            arrays.push(match wanted {
                Wanted::All => array.clone(),
                Wanted::Some(_) => make_array(part(array.to_data(), field.data_type(), wanted)?),
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
    }
}

fn missing() -> ArrowError {
    ArrowError::SchemaError("the rows lack a column of their schema".into())
}

/// Places from the top down to the field with a name. A field whose own name has dots comes first.
fn find(fields: &Fields, name: &str) -> Option<Vec<usize>> {
    if let Some((place, _)) = fields.find(name) {
        return Some(vec![place]);
    }
    fields.iter().enumerate().find_map(|(place, field)| {
        let rest = name.strip_prefix(field.name().as_str())?.strip_prefix('.')?;
        let DataType::Struct(children) = field.data_type() else { return None };
        Some([vec![place], find(children, rest)?].concat())
    })
}

fn want(wanted: &mut Vec<(usize, Wanted)>, path: &[usize]) {
    let Some((first, rest)) = path.split_first() else { return };
    let known = wanted.iter().position(|(place, _)| place == first).unwrap_or_else(|| {
        wanted.push((*first, Wanted::Some(Vec::new())));
        wanted.len().saturating_sub(1)
    });
    let Some((_, entry)) = wanted.get_mut(known) else { return };
    match entry {
        Wanted::All => {}
        whole if rest.is_empty() => *whole = Wanted::All,
        Wanted::Some(children) => want(children, rest),
    }
}

fn kept(fields: &Fields, wanted: &[(usize, Wanted)]) -> Fields {
    let keep = |(place, wanted): &(usize, Wanted)| -> Option<FieldRef> {
        let field = fields.get(*place)?;
        Some(match (wanted, field.data_type()) {
            (Wanted::Some(below), DataType::Struct(children)) => {
                let part = DataType::Struct(kept(children, below));
                Arc::new(Field::clone(field).with_data_type(part))
            }
            _ => field.clone(),
        })
    };
    wanted.iter().filter_map(keep).collect()
}

/// The wanted fields of a struct, which are then of the type `to`.
fn part(data: ArrayData, to: &DataType, wanted: &Wanted) -> Result<ArrayData, ArrowError> {
    let (Wanted::Some(below), DataType::Struct(fields)) = (wanted, to) else { return Ok(data) };
    let mut children = Vec::with_capacity(below.len());
    for ((place, wanted), field) in below.iter().zip(fields) {
        let child = data.child_data().get(*place).ok_or_else(missing)?;
        children.push(part(child.clone(), field.data_type(), wanted)?);
    }
    data.into_builder().data_type(to.clone()).child_data(children).build()
}
