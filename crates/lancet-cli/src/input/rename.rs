//! Other names for the columns of text: files have names twice, and with dots, that Lance has not.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};

use super::Input;
use crate::error::{Error, Result};

/// One `--rename`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The name of a column, or its number, counted from 1.
    column: String,
    /// What it is called from here on.
    pub name: String,
}

impl FromStr for Rename {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((column, name)) if !column.is_empty() && !name.is_empty() => {
                Ok(Self { column: column.into(), name: name.into() })
            }
            _ => Err("write it as OLD=NEW, or as NUMBER=NEW with the number of the column".into()),
        }
    }
}

impl Rename {
    /// The place of its column among those with these names.
    fn place(&self, names: &[&str]) -> Result<usize> {
        let mut named = names.iter().enumerate().filter(|(_, name)| **name == self.column);
        let number = self.column.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match (named.next(), named.next(), number) {
            (Some((place, _)), None, _) => Ok(place),
            (Some(_), Some((second, _)), _) => Err(Error::new(format!(
                "several columns are called `{}`; --rename takes the number of one: {}={}",
                self.column,
                second + 1,
                self.name
            ))),
            (None, _, Some(place)) if place < names.len() => Ok(place),
            _ => Err(Error::new(format!(
                "no column `{}` to rename; there are: {}",
                self.column,
                names.join(", ")
            ))),
        }
    }
}

/// The columns of a file under their new names. Numbers and old names are those of the file, whatever is renamed besides.
pub fn renamed_fields(file: &Schema, renames: &[Rename]) -> Result<Vec<Field>> {
    let names: Vec<&str> = file.fields().iter().map(|f| f.name().as_str()).collect();
    let mut fields: Vec<Field> = file.fields().iter().map(|field| Field::clone(field)).collect();
    let mut places = HashSet::new();
    for rename in renames {
        let place = rename.place(&names)?;
        if !places.insert(place) {
            return Err(Error::new(format!("--rename has two new names for column {}", place + 1)));
        }
        if let Some(field) = fields.get_mut(place) {
            *field = Field::clone(field).with_name(&rename.name);
        }
    }
    for Rename { name, .. } in renames {
        if fields.iter().filter(|field| field.name() == name).count() > 1 {
            return Err(Error::new(format!("--rename would give two columns the name `{name}`")));
        }
    }
    Ok(fields)
}

/// The rows with other names.
pub fn renamed(input: Input, renames: &[Rename]) -> Result<Input> {
    if renames.is_empty() {
        return Ok(input);
    }
    let fields = renamed_fields(&input.schema, renames)?;
    let schema = Arc::new(Schema::new_with_metadata(fields, input.schema.metadata().clone()));
    let new = schema.clone();
    let batches = input.batches.map(move |batch| {
        let batch = batch?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(new.clone(), batch.columns().to_vec(), &options)
            .map_err(|error| Error::new(error.to_string()))
    });
    Ok(Input { schema, batches: Box::new(batches), ..input })
}
