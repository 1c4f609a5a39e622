//! JSON values on their way to be Arrow arrays.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Fields};
use serde_json::value::RawValue;

use super::entries::{Entries, string};
use super::{Given, join};
use crate::input::leaf::{Cell, Leaf, Misfit};

/// The values of a column so far.
#[derive(Debug)]
pub enum Column {
    Leaf(Leaf),
    List(List),
    Struct(Struct),
}

#[derive(Debug)]
pub struct List {
    field: FieldRef,
    items: Box<Column>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

/// The fields of an object; also all columns of a file.
#[derive(Debug)]
pub struct Struct {
    fields: Fields,
    columns: Vec<Column>,
    nulls: NullBufferBuilder,
}

impl Column {
    fn new(data_type: &DataType, path: &str, given: &Given) -> Self {
        match data_type {
            DataType::List(field) => Self::List(List {
                field: field.clone(),
                items: Box::new(Self::new(field.data_type(), path, given)),
                offsets: vec![0],
                nulls: NullBufferBuilder::new(0),
            }),
            DataType::Struct(fields) => Self::Struct(Struct::new(fields, path, given)),
            leaf => Self::Leaf(Leaf::new(leaf, given.contains_key(path))),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(leaf) => leaf.len(),
            Self::List(list) => list.nulls.len(),
            Self::Struct(fields) => fields.nulls.len(),
        }
    }

    fn push_null(&mut self, row: usize) {
        match self {
            Self::Leaf(leaf) => leaf.push_null(row),
            Self::List(list) => {
                list.offsets.push(list.offsets.last().copied().unwrap_or_default());
                list.nulls.append_null();
            }
            Self::Struct(fields) => {
                fields.columns.iter_mut().for_each(|column| column.push_null(row));
                fields.nulls.append_null();
            }
        }
    }

    fn push(&mut self, raw: &str, row: usize) -> Result<(), Misfit> {
        if raw == "null" {
            self.push_null(row);
            return Ok(());
        }
        let misfit = |message: String| misfit(row, message);
        let no = |what: &str| misfit(format!("{} is no {what}", crate::input::leaf::shown(raw)));
        let first = raw.bytes().next();
        match self {
            Self::Leaf(leaf) if first == Some(b'"') => {
                let text = string(raw).map_err(|error| misfit(error.to_string()))?;
                leaf.push(Cell::JsonString(&text, raw), row)
            }
            // Nested values among single ones stay JSON, if the type was chosen for that.
            Self::Leaf(leaf) if matches!(first, Some(b'[' | b'{')) && !leaf.is_given() => {
                Err(no("single value"))
            }
            Self::Leaf(leaf) => leaf.push(Cell::Json(raw), row),
            Self::List(_) if first != Some(b'[') => Err(no("list")),
            Self::List(list) => {
                let items: Vec<&RawValue> =
                    serde_json::from_str(raw).map_err(|error| misfit(error.to_string()))?;
                items.iter().try_for_each(|item| list.items.push(item.get(), row))?;
                let end = i32::try_from(list.items.len());
                list.offsets.push(end.map_err(|_| misfit("has too many items".into()))?);
                list.nulls.append_non_null();
                Ok(())
            }
            Self::Struct(_) if first != Some(b'{') => Err(no("object")),
            Self::Struct(fields) => {
                let Entries(entries) =
                    serde_json::from_str(raw).map_err(|error| misfit(error.to_string()))?;
                fields.push(&entries, row)
            }
        }
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        let failed = |error: arrow_schema::ArrowError| misfit(0, error.to_string());
        match self {
            Self::Leaf(leaf) => leaf.finish(),
            Self::List(list) => {
                let offsets = std::mem::replace(&mut list.offsets, vec![0]);
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let items = list.items.finish()?;
                let list =
                    ListArray::try_new(list.field.clone(), offsets, items, list.nulls.finish());
                Ok(Arc::new(list.map_err(failed)?))
            }
            Self::Struct(fields) => {
                let len = fields.nulls.len();
                let columns = fields.finish()?;
                let nulls = fields.nulls.finish();
                let fields = fields.fields.clone();
                let array = StructArray::try_new_with_length(fields, columns, nulls, len);
                Ok(Arc::new(array.map_err(failed)?))
            }
        }
    }
}

impl Struct {
    /// Columns of these fields, without rows.
    pub fn new(fields: &Fields, path: &str, given: &Given) -> Self {
        let column =
            |field: &FieldRef| Column::new(field.data_type(), &join(path, field.name()), given);
        Self {
            columns: fields.iter().map(column).collect(),
            fields: fields.clone(),
            nulls: NullBufferBuilder::new(0),
        }
    }

    /// Adds an object.
    pub fn push(
        &mut self,
        entries: &[(Cow<'_, str>, &RawValue)],
        row: usize,
    ) -> Result<(), Misfit> {
        let before = self.nulls.len();
        for (at, (name, value)) in entries.iter().enumerate() {
            let known = match self.fields.get(at) {
                Some(field) if field.name() == name => Some(at),
                _ => self.fields.iter().position(|field| field.name() == name),
            };
            let column = known.and_then(|at| self.columns.get_mut(at));
            let within = |misfit: Misfit| Misfit { column: join(name, &misfit.column), ..misfit };
            let Some(column) = column else {
                return Err(within(misfit(row, "is a name that no record before had".into())));
            };
            if column.len() != before {
                let message = "is there twice in one record; rename or remove one of the two";
                // No type helps.
                return Err(within(Misfit { given: true, ..misfit(row, message.into()) }));
            }
            column.push(value.get(), row).map_err(within)?;
        }
        for column in self.columns.iter_mut().filter(|column| column.len() == before) {
            column.push_null(row);
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// The arrays of all columns; they are empty again.
    pub fn finish(&mut self) -> Result<Vec<ArrayRef>, Misfit> {
        let fields = self.columns.iter_mut().zip(&self.fields);
        let finish = |(column, field): (&mut Column, &FieldRef)| {
            column
                .finish()
                .map_err(|misfit| Misfit { column: join(field.name(), &misfit.column), ..misfit })
        };
        fields.map(finish).collect()
    }

    /// Forgets the rows that were finished.
    pub fn clear(&mut self) {
        self.nulls = NullBufferBuilder::new(0);
    }
}

fn misfit(row: usize, message: String) -> Misfit {
    Misfit { row, column: String::new(), message, given: false }
}
