//! The schema of JSON objects.
//!
//! Columns keep the order in which they first appear, so that the same text always gives the same schema. A column
//! without any value becomes text.

use std::io::BufRead;

use arrow_schema::{DataType, Field, Fields};
use serde_json::value::RawValue;

use super::entries::Entries;
use super::split::Objects;
use super::{Given, MAX_NESTING, join};
use crate::input::kind::{Kind, Seen};

/// The columns that the first `max_records` objects have in common.
pub fn columns(text: impl BufRead, max_records: usize, given: &Given) -> Result<Columns, String> {
    let mut columns = Columns::default();
    let mut objects = Objects::new(text);
    let mut object = Vec::new();
    let max_records = u64::try_from(max_records).unwrap_or(u64::MAX);
    while objects.records < max_records && objects.read(&mut object)? {
        let (record, line) = (objects.records, objects.line);
        let Entries(entries) = super::parse(&object, record, line)?;
        columns
            .see(&entries, "", given, 0)
            .map_err(|message| format!("record {record} (line {line}): {message}"))?;
    }
    Ok(columns)
}

/// What is known of a value's type so far.
#[derive(Debug, Clone, Default)]
enum Shape {
    #[default]
    Nothing,
    Leaf(Seen),
    List(Box<Shape>),
    Struct(Columns),
}

/// The columns of all objects so far, or the fields of one of them.
#[derive(Debug, Clone, Default)]
pub struct Columns(Vec<(String, Shape)>);

impl Columns {
    fn see(
        &mut self,
        entries: &[(std::borrow::Cow<'_, str>, &RawValue)],
        path: &str,
        given: &Given,
        depth: usize,
    ) -> Result<(), String> {
        for (at, (name, value)) in entries.iter().enumerate() {
            // Records mostly list their names in the same order.
            let known = match self.0.get(at) {
                Some((known, _)) if known == name => Some(at),
                _ => self.0.iter().position(|(known, _)| known == name),
            };
            let at = known.unwrap_or_else(|| {
                self.0.push((name.to_string(), Shape::Nothing));
                self.0.len() - 1
            });
            let path = join(path, name);
            if given.contains_key(&path) {
                continue; // whatever it is
            }
            if let Some((_, shape)) = self.0.get_mut(at) {
                shape.see(value.get(), &path, given, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The columns as Arrow fields.
    pub fn fields(&self) -> Fields {
        let field = |(name, shape): &(String, Shape)| Field::new(name, shape.data_type(), true);
        self.0.iter().map(field).collect()
    }

    /// Paths of the columns of numbers that no type holds exactly.
    pub fn unholdable(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, shape) in &self.0 {
            shape.find_unholdable(name, &mut found);
        }
        found
    }
}

impl Shape {
    fn see(&mut self, raw: &str, path: &str, given: &Given, depth: usize) -> Result<(), String> {
        if depth > MAX_NESTING {
            return Err(format!("`{path}` is nested deeper than {MAX_NESTING} levels"));
        }
        let before = std::mem::take(self);
        let unlike = |what: &str, before: &Self| {
            format!(
                "`{path}` is {what}, after {}; --types {path}=string keeps both as text",
                before.name()
            )
        };
        *self = match (raw.bytes().next(), before) {
            (Some(b'n'), before) => before,
            (Some(b'['), Self::Nothing) => Self::list(Self::Nothing, raw, path, given, depth)?,
            (Some(b'['), Self::List(of)) => Self::list(*of, raw, path, given, depth)?,
            (Some(b'['), before) => return Err(unlike("a list", &before)),
            (Some(b'{'), before @ (Self::Nothing | Self::Struct(_))) => {
                let mut columns = match before {
                    Self::Struct(columns) => columns,
                    _ => Columns::default(),
                };
                let Entries(entries) = serde_json::from_str(raw).map_err(|e| e.to_string())?;
                columns.see(&entries, path, given, depth)?;
                Self::Struct(columns)
            }
            (Some(b'{'), before) => return Err(unlike("an object", &before)),
            (_, before @ (Self::List(_) | Self::Struct(_))) => {
                return Err(unlike("a single value", &before));
            }
            (_, before) => {
                let mut seen = match before {
                    Self::Leaf(seen) => seen,
                    _ => Seen::default(),
                };
                seen.see(Kind::of_json(raw));
                Self::Leaf(seen)
            }
        };
        Ok(())
    }

    fn list(
        mut of: Self,
        raw: &str,
        path: &str,
        given: &Given,
        depth: usize,
    ) -> Result<Self, String> {
        let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(|e| e.to_string())?;
        items.iter().try_for_each(|item| of.see(item.get(), path, given, depth + 1))?;
        Ok(Self::List(Box::new(of)))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Leaf(_) => "a single value",
            Self::List(_) => "a list",
            Self::Struct(_) => "an object",
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Nothing => DataType::Utf8,
            Self::Leaf(seen) => seen.data_type(),
            Self::List(of) => DataType::new_list(of.data_type(), true),
            Self::Struct(columns) => DataType::Struct(columns.fields()),
        }
    }

    fn find_unholdable(&self, path: &str, found: &mut Vec<String>) {
        match self {
            Self::Leaf(seen) if seen.is_unholdable() => found.push(path.to_owned()),
            Self::List(of) => of.find_unholdable(path, found),
            Self::Struct(Columns(columns)) => {
                columns.iter().for_each(|(n, shape)| shape.find_unholdable(&join(path, n), found));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(lines: &str, most: usize) -> Result<Fields, String> {
        columns(lines.as_bytes(), most, &Given::default()).map(|columns| columns.fields())
    }

    fn types(lines: &str) -> Vec<String> {
        let fields = infer(lines, 100).unwrap();
        fields.iter().map(|f| format!("{}: {}", f.name(), f.data_type())).collect()
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
    fn numbers_keep_their_value() {
        assert_eq!(types(r#"{"n": 1} {"n": 18446744073709551615}"#), ["n: UInt64"]);
        assert_eq!(types(r#"{"n": -1} {"n": 18446744073709551615}"#), ["n: Utf8"]);
        assert_eq!(types(r#"{"n": 1.5} {"n": "NaN"}"#), ["n: Float64"]);
        assert_eq!(types(r#"{"n": "Infinity"}"#), ["n: Utf8"]);
        let wide = columns(&b"{\"s\":{\"n\":123456789012345678901}}"[..], 9, &Given::default());
        assert_eq!(wide.unwrap().unholdable(), ["s.n"]);
    }

    #[test]
    fn only_the_first_records_count() {
        assert_eq!(infer("{\"a\":1}\n{\"b\":2}", 1).unwrap().len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let message = |lines: &str| infer(lines, 100).unwrap_err();
        let list = "record 2 (line 1): `a` is a list, after a single value; \
                    --types a=string keeps both as text";
        assert_eq!(message(r#"{"a":1}{"a":[1]}"#), list);
        assert!(message(r#"{"a":{}}{"a":"x"}"#).contains("`a` is a single value, after an object"));
        assert!(message("{\"a\" 1}").starts_with("record 1 (line 1) is not JSON: "));
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(message(&deep).contains("nested deeper"), "{}", message(&deep));
    }
}
