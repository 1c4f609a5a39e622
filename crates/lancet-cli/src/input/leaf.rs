//! A column of values that were text, on its way to be an Arrow array.
//!
//! A value goes in only if the column's type gives the same value back; else the reader is told which one does not.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::kind::Kind;
use super::parse::parse;
use super::types;

/// Characters of a value that are shown.
const SHOWN: usize = 40;

/// One value as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// A CSV field.
    Field(&'a str),
    /// A JSON number, boolean or nested value.
    Json(&'a str),
    /// What a JSON string says, and the string itself.
    JsonString(&'a str, &'a str),
}

impl<'a> Cell<'a> {
    fn kind(self) -> Kind {
        match self {
            Self::Field(text) => Kind::of(text),
            Self::Json(raw) | Self::JsonString(_, raw) => Kind::of_json(raw),
        }
    }

    fn text(self) -> &'a str {
        match self {
            Self::Field(text) | Self::Json(text) | Self::JsonString(text, _) => text,
        }
    }

    fn shown(self) -> String {
        let text = match self {
            Self::Field(text) | Self::Json(text) | Self::JsonString(_, text) => text,
        };
        shown(text)
    }
}

/// A value for a message: escaped, and cut if it is long.
pub fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// A value that does not fit.
#[derive(Debug, PartialEq)]
pub struct Misfit {
    /// Row in the batch.
    pub row: usize,
    /// The column, with the names of those around it.
    pub column: String,
    /// What is wrong.
    pub message: String,
    /// Whether the type was given by an option.
    pub given: bool,
}

/// The values of a column so far.
#[derive(Debug)]
pub struct Leaf {
    data_type: DataType,
    given: bool,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Boolean(BooleanBuilder),
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
    /// Other types are parsed from text, all at once. The rows are those that the values belong to.
    Parsed(StringBuilder, Vec<usize>),
}

impl Leaf {
    /// An empty column. Types that were `given` take every value that they can hold; types that were inferred only
    /// what the inference would have accepted.
    pub fn new(data_type: &DataType, given: bool) -> Self {
        let values = match data_type {
            DataType::Utf8 => Values::Text(StringBuilder::new()),
            DataType::Boolean if !given => Values::Boolean(BooleanBuilder::new()),
            DataType::Int64 if !given => Values::Int64(Int64Builder::new()),
            DataType::UInt64 if !given => Values::UInt64(UInt64Builder::new()),
            DataType::Float64 if !given => Values::Float64(Float64Builder::new()),
            _ => Values::Parsed(StringBuilder::new(), Vec::new()),
        };
        Self { data_type: data_type.clone(), given, values }
    }

    /// Whether an empty text is a value of this column.
    pub fn holds_text(&self) -> bool {
        matches!(values_of(&self.data_type), DataType::Utf8 | DataType::LargeUtf8)
    }

    /// Whether its type was given.
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        match &self.values {
            Values::Boolean(values) => values.len(),
            Values::Int64(values) => values.len(),
            Values::UInt64(values) => values.len(),
            Values::Float64(values) => values.len(),
            Values::Text(values) | Values::Parsed(values, _) => values.len(),
        }
    }

    /// Adds a null.
    pub fn push_null(&mut self, row: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.append_null(),
            Values::Int64(values) => values.append_null(),
            Values::UInt64(values) => values.append_null(),
            Values::Float64(values) => values.append_null(),
            Values::Text(values) => values.append_null(),
            Values::Parsed(values, rows) => {
                values.append_null();
                rows.push(row);
            }
        }
    }

    /// Adds a value.
    pub fn push(&mut self, cell: Cell<'_>, row: usize) -> Result<(), Misfit> {
        let added = match &mut self.values {
            Values::Text(values) => {
                values.append_value(cell.text());
                Some(())
            }
            Values::Parsed(values, rows) => {
                if let Err(message) = check(cell, &self.data_type, self.given) {
                    return Err(self.misfit_with(row, message));
                }
                values.append_value(cell.text());
                rows.push(row);
                Some(())
            }
            Values::Boolean(values) => (cell.kind() == Kind::Boolean)
                .then(|| values.append_value(cell.text().eq_ignore_ascii_case("true"))),
            Values::Int64(values) => match cell.kind() {
                Kind::Integer(value) => Some(value),
                _ => None,
            }
            .map(|value| values.append_value(value)),
            Values::UInt64(values) => match cell.kind() {
                Kind::Integer(value) => u64::try_from(value).ok(),
                Kind::Unsigned(value) => Some(value),
                _ => None,
            }
            .map(|value| values.append_value(value)),
            Values::Float64(values) => {
                let float = cell.kind().is_exact_float().then(|| cell.text().parse().ok());
                float.flatten().map(|value| values.append_value(value))
            }
        };
        added.ok_or_else(|| {
            let name = types::name(&self.data_type);
            self.misfit_with(row, format!("{} is no {name}", cell.shown()))
        })
    }

    fn misfit_with(&self, row: usize, message: String) -> Misfit {
        Misfit { row, column: String::new(), message, given: self.given }
    }

    /// The values as an array; the column is empty again.
    pub fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        let (text, rows) = match &mut self.values {
            Values::Boolean(values) => return Ok(Arc::new(values.finish())),
            Values::Int64(values) => return Ok(Arc::new(values.finish())),
            Values::UInt64(values) => return Ok(Arc::new(values.finish())),
            Values::Float64(values) => return Ok(Arc::new(values.finish())),
            Values::Text(values) => return Ok(Arc::new(values.finish())),
            Values::Parsed(values, rows) => (values.finish(), std::mem::take(rows)),
        };
        let failed = |error: ArrowError| self.misfit_with(0, error.to_string());
        let array = parse(&text, &self.data_type).map_err(failed)?;
        let misfit = (0..text.len()).find(|at| text.is_valid(*at) && array.is_null(*at));
        match misfit {
            Some(at) => {
                let name = types::name(&self.data_type);
                let message = format!("{} is no {name}", shown(text.value(at)));
                Err(self.misfit_with(rows.get(at).copied().unwrap_or_default(), message))
            }
            None => Ok(array),
        }
    }
}

/// The type of the values, which a dictionary may hold.
fn values_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// Refuses what parsing would cut without a word: offsets, fractions, times of day.
fn check(cell: Cell<'_>, data_type: &DataType, given: bool) -> Result<(), String> {
    let text = cell.text();
    let kind = || Kind::of(text);
    let name = || types::name(data_type);
    match values_of(data_type) {
        DataType::Timestamp(unit, zone) => match kind() {
            Kind::Date if given || zone.is_none() => Ok(()),
            Kind::Time(time) if time.zoned && zone.is_none() => {
                Err(format!("{} has an offset from UTC, which {} would lose", cell.shown(), name()))
            }
            Kind::Time(time) if !time.zoned && zone.is_some() && !given => {
                Err(format!("{} has no offset from UTC, as those before it have", cell.shown()))
            }
            Kind::Time(time) if time.needed > *unit => {
                Err(format!("{} is finer than {}", cell.shown(), name()))
            }
            Kind::Time(_) => Ok(()),
            _ => Err(format!("{} is no {}", cell.shown(), name())),
        },
        DataType::Date32 | DataType::Date64 if kind() != Kind::Date => {
            Err(format!("{} is no {}", cell.shown(), name()))
        }
        DataType::Time32(unit) | DataType::Time64(unit) if digits(text) > places(*unit) => {
            Err(format!("{} is finer than {}", cell.shown(), name()))
        }
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)
            if digits(text) > usize::try_from(*scale).unwrap_or(0) =>
        {
            Err(format!("{} has more places than {}", cell.shown(), name()))
        }
        _ => Ok(()),
    }
}

/// Digits behind the point that matter.
fn digits(text: &str) -> usize {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let end = fraction.bytes().take_while(u8::is_ascii_digit).count();
    fraction.get(..end).unwrap_or_default().trim_end_matches('0').len()
}

fn places(unit: TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::make_array;

    use super::super::kind::UTC;
    use super::*;

    fn read(data_type: &DataType, given: bool, values: &[&str]) -> Result<String, String> {
        let mut leaf = Leaf::new(data_type, given);
        let pushed = values.iter().enumerate();
        let pushed = pushed.map(|(row, text)| leaf.push(Cell::Field(text), row));
        pushed.collect::<Result<(), _>>().map_err(|misfit| misfit.message)?;
        let array =
            leaf.finish().map_err(|misfit| format!("{}: {}", misfit.row, misfit.message))?;
        assert_eq!(array.data_type(), data_type);
        let utc = DataType::Timestamp(TimeUnit::Second, Some("+00:00".into()));
        let array = match data_type {
            DataType::Timestamp(..) => {
                make_array(array.to_data().into_builder().data_type(utc).build().unwrap())
            }
            _ => array,
        };
        let show = crate::show::Show::new(array.as_ref(), "").unwrap();
        Ok((0..array.len()).map(|i| show.text(i).unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn inferred_types_take_only_what_they_give_back() {
        assert_eq!(read(&DataType::Int64, false, &["1", "-5"]).unwrap(), "1 -5");
        assert_eq!(read(&DataType::Int64, false, &["abc"]).unwrap_err(), "`abc` is no int64");
        assert_eq!(read(&DataType::Int64, false, &["007"]).unwrap_err(), "`007` is no int64");
        assert!(read(&DataType::Int64, false, &["1.5"]).is_err());
        assert!(read(&DataType::Float64, false, &["9007199254740993"]).is_err());
        assert_eq!(
            read(&DataType::UInt64, false, &["18446744073709551615"]).unwrap(),
            u64::MAX.to_string()
        );
    }

    #[test]
    fn given_types_take_what_they_can_hold() {
        assert_eq!(read(&DataType::Int64, true, &["007"]).unwrap(), "7");
        assert_eq!(read(&DataType::Int8, true, &["7", "300"]).unwrap_err(), "1: `300` is no int8");
        let decimal = DataType::Decimal128(10, 2);
        assert_eq!(read(&decimal, true, &["1.5", "2.250", "3"]).unwrap(), "1.50 2.25 3.00");
        let places = read(&decimal, true, &["1.555"]).unwrap_err();
        assert_eq!(places, "`1.555` has more places than decimal(10,2)");
        assert!(read(&DataType::Date32, true, &["2024-01-01T10:00:00"]).is_err());
    }

    #[test]
    fn times_keep_their_offset_and_their_fraction() {
        let local = DataType::Timestamp(TimeUnit::Second, None);
        let utc = DataType::Timestamp(TimeUnit::Second, Some(UTC.into()));
        let offset = "2024-01-01T10:00:00+02:00";
        assert_eq!(read(&utc, false, &[offset]).unwrap(), "2024-01-01T08:00:00Z");
        assert!(read(&local, true, &[offset]).unwrap_err().contains("has an offset from UTC"));
        assert!(read(&utc, false, &["2024-01-01T10:00:00"]).unwrap_err().contains("no offset"));
        let fine = read(&local, true, &["2024-01-01T10:00:00.5"]).unwrap_err();
        assert!(fine.ends_with("is finer than timestamp[s]"), "{fine}");
        assert_eq!(
            read(&local, true, &["2024-01-01 10:00:00.00"]).unwrap(),
            "2024-01-01T10:00:00Z"
        );
    }

    #[test]
    fn long_and_odd_values_are_shown_short_and_escaped() {
        assert_eq!(shown("a\tb\u{1b}"), "`a\\tb\\u{1b}`");
        assert!(shown(&"x".repeat(1_000)).len() < 60);
    }
}
