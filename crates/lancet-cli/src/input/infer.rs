//! The schema of text files, from their first records.
//!
//! Columns keep the order in which they first appear, so that the same text always gives the
//! same schema. A column without any value becomes text.

use std::io::BufRead;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The schema, with text in place of columns that had only nulls.
pub fn without_nulls(schema: &Schema) -> Schema {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Null => Field::new(field.name(), DataType::Utf8, true),
        _ => field.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

/// The schema that the first `max_records` JSON objects have in common.
pub fn json_lines_schema(lines: impl BufRead, max_records: usize) -> Result<Schema> {
    let mut columns = Columns::default();
    let values = serde_json::Deserializer::from_reader(lines).into_iter::<Value>();
    for (record, value) in values.take(max_records).enumerate() {
        let record = record + 1;
        match value.map_err(|e| Error::new(format!("record {record} is not JSON: {e}")))? {
            Value::Object(object) => {
                columns.see(&object).map_err(|e| Error::new(format!("record {record}: {e}")))?
            }
            _ => return Err(Error::new(format!("record {record} is not a JSON object"))),
        }
    }
    Ok(Schema::new(columns.fields()))
}

/// What is known of a value's type so far.
#[derive(Debug, Clone, Default, PartialEq)]
enum Seen {
    #[default]
    Nothing,
    Boolean,
    Integer,
    Float,
    Text,
    List(Box<Seen>),
    Struct(Columns),
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Columns(Vec<(String, Seen)>);

impl Columns {
    fn see(&mut self, object: &Map<String, Value>) -> Result<(), String> {
        for (at, (name, value)) in object.iter().enumerate() {
            // Records mostly list their names in the same order.
            let known = match self.0.get(at) {
                Some((known, _)) if known == name => Some(at),
                _ => self.0.iter().position(|(known, _)| known == name),
            };
            let at = known.unwrap_or_else(|| {
                self.0.push((name.clone(), Seen::Nothing));
                self.0.len() - 1
            });
            if let Some((_, seen)) = self.0.get_mut(at) {
                seen.see(value).map_err(|e| format!("`{name}`: {e}"))?;
            }
        }
        Ok(())
    }

    fn fields(self) -> Fields {
        self.0.into_iter().map(|(name, seen)| Field::new(name, seen.data_type(), true)).collect()
    }
}

impl Seen {
    fn see(&mut self, value: &Value) -> Result<(), String> {
        let scalar = match value {
            Value::Null => return Ok(()),
            Value::Array(items) => {
                let mut of = match std::mem::take(self) {
                    Self::Nothing => Self::Nothing,
                    Self::List(of) => *of,
                    other => return Err(format!("a list, after {}", other.name())),
                };
                items.iter().try_for_each(|item| of.see(item))?;
                *self = Self::List(Box::new(of));
                return Ok(());
            }
            Value::Object(object) => {
                let mut columns = match std::mem::take(self) {
                    Self::Nothing => Columns::default(),
                    Self::Struct(columns) => columns,
                    other => return Err(format!("an object, after {}", other.name())),
                };
                columns.see(object)?;
                *self = Self::Struct(columns);
                return Ok(());
            }
            Value::Bool(_) => Self::Boolean,
            Value::Number(n) if n.is_i64() => Self::Integer,
            Value::Number(_) => Self::Float,
            Value::String(_) => Self::Text,
        };
        *self = match (std::mem::take(self), scalar) {
            (Self::Nothing, scalar) => scalar,
            (before, scalar) if before == scalar => scalar,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            (Self::List(_) | Self::Struct(_), scalar) => {
                return Err(format!("{}, after a list or an object", scalar.name()));
            }
            _ => Self::Text, // numbers among words are read as text
        };
        Ok(())
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Boolean => "a boolean",
            Self::Integer | Self::Float => "a number",
            Self::Text => "text",
            Self::List(_) => "a list",
            Self::Struct(_) => "an object",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::List(of) => DataType::new_list(of.data_type(), true),
            Self::Struct(columns) => DataType::Struct(columns.fields()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(lines: &str) -> Vec<String> {
        let schema = json_lines_schema(lines.as_bytes(), 100).unwrap();
        schema.fields().iter().map(|f| format!("{}: {}", f.name(), f.data_type())).collect()
    }

    #[test]
    fn columns_come_in_the_order_of_the_text() {
        let lines = "{\"z\": 1, \"a\": \"x\"}\n{\"m\": true, \"z\": 2.5}\n\n{\"n\": null}\n";
        assert_eq!(types(lines), ["z: Float64", "a: Utf8", "m: Boolean", "n: Utf8"]);
    }

    #[test]
    fn nested_values_are_merged() {
        let lines = r#"{"s": {"a": 1}, "l": []} {"s": {"b": "x", "a": null}, "l": [1, null]}"#;
        assert_eq!(types(lines), ["s: Struct(\"a\": Int64, \"b\": Utf8)", "l: List(Int64)"]);
        assert_eq!(types(r#"{"m": 1} {"m": "x"}"#), ["m: Utf8"]);
    }

    #[test]
    fn only_the_first_records_count() {
        let schema = json_lines_schema("{\"a\":1}\n{\"b\":2}".as_bytes(), 1).unwrap();
        assert_eq!(schema.fields().len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let message = |lines: &str| match json_lines_schema(lines.as_bytes(), 100) {
            Err(Error::Message(message)) => message,
            _ => panic!("accepted"),
        };
        assert_eq!(message("{}\n[1]"), "record 2 is not a JSON object");
        assert_eq!(message(r#"{"a":1}{"a":[1]}"#), "record 2: `a`: a list, after a number");
        let after = "record 2: `a`: text, after a list or an object";
        assert_eq!(message(r#"{"a":{}}{"a":"x"}"#), after);
        assert!(message("{\"a\":").starts_with("record 1 is not JSON"));
    }
}
