//! Values as they are written in conditions and behind `--set`.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, LargeBinaryArray, StringArray, make_array,
    new_null_array,
};
use arrow_schema::{DataType, Fields, Schema};

use super::tokens::Token;
use crate::{dictionaries, input, leaves};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Number(String),
    Text(String),
    Boolean(bool),
    Null,
}

impl Literal {
    /// The value that a word is, if it is one.
    pub fn of(token: &Token) -> Option<Self> {
        match token {
            Token::Number(number) => Some(Self::Number(number.clone())),
            Token::Text(text) => Some(Self::Text(text.clone())),
            word if word.is("true") => Some(Self::Boolean(true)),
            word if word.is("false") => Some(Self::Boolean(false)),
            word if word.is("null") => Some(Self::Null),
            _ => None,
        }
    }

    /// An array of this one value, of the type of a column.
    pub fn of_type(&self, data_type: &DataType) -> Result<ArrayRef, String> {
        use DataType as D;
        match (self, data_type) {
            (Self::Null, any) => Ok(new_null_array(any, 1)),
            (_, D::Dictionary(_, values)) => {
                let value = self.of_type(values)?;
                dictionaries::of_values(&value, data_type).map_err(|error| error.to_string())
            }
            (Self::Text(text), D::Binary) => Ok(Arc::new(BinaryArray::from(vec![text.as_bytes()]))),
            (Self::Text(text), D::LargeBinary) => {
                Ok(Arc::new(LargeBinaryArray::from(vec![text.as_bytes()])))
            }
            (Self::Number(text), D::Duration(_)) => {
                let units = input::value(text, &D::Int64)?.to_data();
                let units = leaves::relabel(units, data_type).map_err(|error| error.to_string())?;
                Ok(make_array(units))
            }
            (_, D::Duration(_)) => {
                Err(format!("{} is no {data_type}; write the number of its units", self.shown()))
            }
            (Self::Boolean(value), D::Boolean) => Ok(Arc::new(BooleanArray::from(vec![*value]))),
            (Self::Number(text), any) if any.is_numeric() => input::value(text, any),
            (Self::Text(text), D::Utf8 | D::LargeUtf8) => input::value(text, data_type),
            (Self::Text(text), any) if any.is_temporal() => input::value(text, any),
            (Self::Text(_), any) if any.is_numeric() => {
                Err(format!("{} is no {any}; write numbers without quotes", self.shown()))
            }
            (_, D::Utf8 | D::LargeUtf8) => {
                Err(format!("{} is no text; write texts in single quotes", self.shown()))
            }
            (_, any) if any.is_temporal() => {
                Err(format!("{} is no {any}; write it in single quotes", self.shown()))
            }
            (_, any) => Err(format!("{} is no value of type {any}", self.shown())),
        }
    }

    /// An array of this one value, to be compared with a column. Whole numbers and decimals are compared as they are,
    /// whatever the column can hold.
    pub fn to_compare(&self, data_type: &DataType) -> Result<ArrayRef, String> {
        use DataType as D;
        let is_exact =
            data_type.is_integer() || matches!(data_type, D::Decimal128(..) | D::Decimal256(..));
        match (self, data_type) {
            (Self::Null, _) => Err("nothing equals null; write IS NULL or IS NOT NULL".into()),
            (_, D::Dictionary(_, values)) => self.to_compare(values),
            (Self::Number(text), _) if is_exact => exact(text),
            (Self::Text(text), D::Utf8View) => Ok(Arc::new(StringArray::from(vec![text.as_str()]))),
            _ => self.of_type(data_type),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Number(text) => format!("`{text}`"),
            Self::Text(text) => format!("`'{}'`", text.escape_debug()),
            Self::Boolean(value) => format!("`{value}`"),
            Self::Null => "`null`".into(),
        }
    }
}

/// A number with all its digits.
fn exact(text: &str) -> Result<ArrayRef, String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let expanded = without_exponent(text).ok_or_else(|| format!("`{text}` has too many digits"))?;
    let text = expanded.as_str();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let scale = i8::try_from(decimals).ok().filter(|scale| *scale <= 76);
    let scale = scale.ok_or_else(|| format!("`{text}` has too many digits"))?;
    let decimal = DataType::Decimal256(76, scale);
    input::value(
        text,
        if decimals == 0 && text.parse::<i64>().is_ok() { &DataType::Int64 } else { &decimal },
    )
}

/// `1.5e3` as `1500`; none where that is longer than any number of a table.
fn without_exponent(text: &str) -> Option<String> {
    const MOST: usize = 76;
    let Some((number, exponent)) = text.split_once(['e', 'E']) else { return Some(text.into()) };
    let exponent: i64 = exponent.parse().ok()?;
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let zeros = |count: i64| usize::try_from(count).ok().filter(|count| *count <= MOST);
    let point = exponent.checked_add(i64::try_from(whole.len()).ok()?)?;
    let digits = format!("{whole}{fraction}");
    let behind = point.checked_sub(i64::try_from(digits.len()).ok()?)?;
    Some(if point <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat(zeros(point.checked_neg()?)?))
    } else if behind >= 0 {
        format!("{sign}{digits}{}", "0".repeat(zeros(behind)?))
    } else {
        let (whole, fraction) = digits.split_at_checked(usize::try_from(point).ok()?)?;
        format!("{sign}{whole}.{fraction}")
    })
}

/// The type of a column, whose name may be that of a field in structs, with dots.
pub fn column_type<'a>(schema: &'a Schema, column: &str) -> Result<&'a DataType, String> {
    find(schema.fields(), column).ok_or_else(|| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("there is no column `{}`; there are {}", column.escape_debug(), names.join(", "))
    })
}

fn find<'a>(fields: &'a Fields, path: &str) -> Option<&'a DataType> {
    if let Some((_, field)) = fields.find(path) {
        return Some(field.data_type());
    }
    let (first, rest) = path.split_once('.')?;
    match fields.find(first)?.1.data_type() {
        DataType::Struct(inner) => find(inner, rest),
        _ => None,
    }
}
