//! The options that say how text is to be read, and which format each of them belongs to.

use std::str::FromStr;

use arrow_schema::{DataType, Fields, Schema};

use super::parse::is_read_as;
use super::rename::{Rename, renamed_fields};
use super::types::Types;
use crate::error::{Error, Result};
use crate::format::Format;

/// Records that decide the schema by default.
pub const INFERRED_RECORDS: usize = 10_000;

/// How CSV and JSON are read.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options for reading CSV and JSON")]
pub struct TextOptions {
    /// What stands between CSV fields: , ; | tab or another character [default: found out]
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub delimiter: Option<u8>,
    /// The first CSV record holds the names of the columns [default: found out]
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,
    /// The first CSV record is a row; columns are called column_1, column_2 …
    #[arg(long)]
    pub no_header: bool,
    /// What stands around CSV fields [default: "]
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub quote: Option<u8>,
    /// What stands before a quote inside a CSV field [default: a second quote]
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub escape: Option<u8>,
    /// What CSV lines begin with that are left out
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub comment: Option<u8>,
    /// CSV fields that are null besides empty ones: NA,null; "" for empty fields in quotes too
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub null_values: Option<NullValues>,
    /// Types of columns: id=string,price=decimal(10,2),when=timestamp[ms]
    #[arg(long, value_name = "COLUMN=TYPE,…")]
    pub types: Vec<Types>,
    /// Another name for a column: its name or its number, and the new one; repeatable
    #[arg(long, value_name = "OLD=NEW")]
    pub rename: Vec<Rename>,
    /// Records that decide the types of the other columns, or `all` [default: 10000]
    #[arg(long, value_name = "N")]
    pub infer_rows: Option<InferRows>,
}

/// The fields that stand for null.
#[derive(Debug, Clone, PartialEq)]
pub struct NullValues(pub Vec<String>);

impl FromStr for NullValues {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A shell has already taken the quotes of `""`, other callers have not.
        let value = |value: &str| if value == "\"\"" { String::new() } else { value.to_owned() };
        Ok(Self(text.split(',').map(value).collect()))
    }
}

/// How many records are looked at before the first is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InferRows(pub usize);

impl FromStr for InferRows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" | "0" => Ok(Self(usize::MAX)),
            _ => text.parse().map(Self).map_err(|_| "write a number of records, or `all`".into()),
        }
    }
}

impl TextOptions {
    /// Fails if an option cannot mean anything for files of that format.
    pub fn check(&self, format: Format) -> Result<()> {
        let csv = [
            ("--delimiter", self.delimiter.is_some()),
            ("--header", self.header),
            ("--no-header", self.no_header),
            ("--quote", self.quote.is_some()),
            ("--escape", self.escape.is_some()),
            ("--comment", self.comment.is_some()),
            ("--null-values", self.null_values.is_some()),
        ];
        let text = [
            ("--types", !self.types.is_empty()),
            ("--rename", !self.rename.is_empty()),
            ("--infer-rows", self.infer_rows.is_some()),
        ];
        let find = |options: &[(&'static str, bool)], kinds: &'static str| {
            let found = options.iter().find(|(_, given)| *given);
            found.map(|(option, _)| (*option, kinds))
        };
        let wrong = match format {
            Format::Csv | Format::Tsv => None,
            Format::Json | Format::JsonLines => find(&csv, "CSV"),
            _ => find(&csv, "CSV").or_else(|| find(&text, "CSV and JSON")),
        };
        wrong.map_or(Ok(()), |(option, kinds)| {
            let name = format.name();
            Err(Error::usage(format!("{option} is for reading {kinds}, but the input is {name}")))
        })
    }

    /// Records that decide the schema.
    pub fn inferred_records(&self) -> usize {
        self.infer_rows.map_or(INFERRED_RECORDS, |InferRows(records)| records)
    }

    /// The columns whose types were given, and those.
    pub fn given_types(&self) -> Vec<(String, DataType)> {
        self.types.iter().flat_map(|Types(types)| types.clone()).collect()
    }
}

impl TextOptions {
    /// The same, with the types of a table for columns and fields of structs that have none given. Those that text is not
    /// read as stay out. `file` is as it was found, without new names: types are those of its own names.
    pub fn like(&self, file: &Schema, table: &Schema) -> Result<Self> {
        let mut types = Vec::new();
        let fields = renamed_fields(file, &self.rename)?;
        for (field, old) in fields.into_iter().zip(file.fields()) {
            let same = file.fields().iter().filter(|other| other.name() == old.name()).count();
            // A name with a dot would be that of a field in a struct.
            if same > 1 || old.name().contains('.') {
                continue;
            }
            let (start, len) = (types.len(), field.name().len());
            types_like(&Fields::from(vec![field]), table.fields(), "", &mut types);
            for (name, _) in types.iter_mut().skip(start) {
                *name = format!("{}{}", old.name(), name.get(len..).unwrap_or_default());
            }
        }
        let given = self.given_types();
        types.retain(|(name, _)| !given.iter().any(|(given, _)| given == name));
        let mut like = self.clone();
        like.types.push(Types(types));
        Ok(like)
    }
}

/// The types that columns have in a table, by their names; those of fields in structs with dots.
fn types_like(found: &Fields, table: &Fields, before: &str, types: &mut Vec<(String, DataType)>) {
    for field in found {
        let Some((_, like)) = table.find(field.name()) else { continue };
        let name = format!("{before}{}", field.name());
        match (field.data_type(), like.data_type()) {
            (DataType::Struct(found), DataType::Struct(table)) => {
                types_like(found, table, &format!("{name}."), types);
            }
            (_, like) if is_read_as(like) => types.push((name, like.clone())),
            _ => {}
        }
    }
}

/// One character that is one byte.
fn character(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => match *text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(byte),
            _ => Err("write one ASCII character, or `tab`".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options() {
        assert_eq!(character("\\t"), Ok(b'\t'));
        assert_eq!(character("tab"), Ok(b'\t'));
        assert_eq!(character(";"), Ok(b';'));
        assert!(character("ab").is_err() && character("").is_err() && character("é").is_err());
        assert_eq!("all".parse(), Ok(InferRows(usize::MAX)));
        assert_eq!("7".parse(), Ok(InferRows(7)));
        assert!("few".parse::<InferRows>().is_err());
        let Ok(nulls) = "NA,\"\",".parse::<NullValues>();
        assert_eq!(nulls.0, ["NA", "", ""]);
    }
}
