//! The names of types in `--types`.

use std::str::FromStr;

use arrow_array::timezone::Tz;
use arrow_schema::{DataType, TimeUnit};

use super::kind::UTC;

/// What an unknown name is answered with.
const KNOWN: &str = "string, large_string, bool, int8 to int64, uint8 to uint64, float32, float64, \
                     decimal(10,2), date, time[ms], timestamp[ms] and timestamp[ms,UTC]; units are s, ms, us and ns";

/// The columns of one `--types`.
#[derive(Debug, Clone, PartialEq)]
pub struct Types(pub Vec<(String, DataType)>);

impl FromStr for Types {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let column = |part: &str| {
            let (name, kind) =
                part.split_once('=').ok_or_else(|| format!("`{part}`: write it as COLUMN=TYPE"))?;
            Ok((name.trim().to_owned(), parse(kind)?))
        };
        split(text).into_iter().map(column).collect::<Result<_, _>>().map(Self)
    }
}

/// Splits at the commas that are not inside brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let outside = |c: char| {
        match c {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(outside).collect()
}

/// The type of that name, as Arrow or SQL has it.
pub fn parse(name: &str) -> Result<DataType, String> {
    let lower = name.trim().to_ascii_lowercase();
    let unknown = || format!("no type `{name}`; known are {KNOWN}");
    let (base, arguments) = match lower.find(['(', '[']) {
        Some(at) => {
            let (base, rest) = lower.split_at(at);
            let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let inner =
                inner.or_else(|| rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')));
            (base.trim(), inner.ok_or_else(unknown)?.split(',').map(str::trim).collect())
        }
        None => (lower.as_str(), Vec::new()),
    };
    // The zone as it was written: names of zones have capitals.
    let zone = name.rsplit([',', '[', '(']).next().unwrap_or_default();
    let zone = zone.trim_matches([')', ']', ' ', '"', '\'']);
    plain(base, &arguments)
        .or_else(|| decimal(base, &arguments))
        .or_else(|| temporal(base, &arguments, zone))
        .ok_or_else(unknown)
}

fn plain(base: &str, arguments: &[&str]) -> Option<DataType> {
    let found = match base {
        "string" | "utf8" | "text" => DataType::Utf8,
        "varchar" | "char" => return Some(DataType::Utf8), // with or without a length
        "large_string" | "large_utf8" => DataType::LargeUtf8,
        "bool" | "boolean" => DataType::Boolean,
        "int8" | "tinyint" => DataType::Int8,
        "int16" | "smallint" => DataType::Int16,
        "int32" | "int" | "integer" => DataType::Int32,
        "int64" | "bigint" | "long" => DataType::Int64,
        "uint8" | "utinyint" => DataType::UInt8,
        "uint16" | "usmallint" => DataType::UInt16,
        "uint32" | "uint" | "uinteger" => DataType::UInt32,
        "uint64" | "ubigint" => DataType::UInt64,
        "float32" | "real" => DataType::Float32,
        // SQL and Arrow disagree about `float`; the wider one loses nothing.
        "float64" | "double" | "float" => DataType::Float64,
        "date" | "date32" => DataType::Date32,
        "date64" => DataType::Date64,
        _ => return None,
    };
    arguments.is_empty().then_some(found)
}

fn decimal(base: &str, arguments: &[&str]) -> Option<DataType> {
    if !matches!(base, "decimal" | "numeric" | "decimal128" | "decimal256") {
        return None;
    }
    let (precision, scale): (u8, i8) = match arguments {
        [precision] => (precision.parse().ok()?, 0),
        [precision, scale] => (precision.parse().ok()?, scale.parse().ok()?),
        _ => return None,
    };
    let scale_fits = u8::try_from(scale).is_ok_and(|scale| scale <= precision);
    match precision {
        1..=38 if scale_fits && base != "decimal256" => {
            Some(DataType::Decimal128(precision, scale))
        }
        1..=76 if scale_fits && base != "decimal128" => {
            Some(DataType::Decimal256(precision, scale))
        }
        _ => None,
    }
}

fn temporal(base: &str, arguments: &[&str], zone: &str) -> Option<DataType> {
    let unit = match arguments.first() {
        Some(&"s") => TimeUnit::Second,
        Some(&"ms") => TimeUnit::Millisecond,
        Some(&"us") | None => TimeUnit::Microsecond,
        Some(&"ns") => TimeUnit::Nanosecond,
        Some(_) => return None,
    };
    match (base, arguments.len()) {
        ("time" | "time32" | "time64", ..=1) => Some(match unit {
            TimeUnit::Second | TimeUnit::Millisecond => DataType::Time32(unit),
            TimeUnit::Microsecond | TimeUnit::Nanosecond => DataType::Time64(unit),
        }),
        ("timestamp" | "datetime", ..=1) => Some(DataType::Timestamp(unit, None)),
        ("timestamptz", ..=1) => Some(DataType::Timestamp(unit, Some(UTC.into()))),
        ("timestamp" | "datetime", 2) => {
            let zone = if zone.eq_ignore_ascii_case(UTC) { UTC } else { zone };
            let known = zone == UTC || zone.parse::<Tz>().is_ok();
            known.then(|| DataType::Timestamp(unit, Some(zone.into())))
        }
        _ => None,
    }
}

/// The name that `--types` has for a type.
pub fn name(data_type: &DataType) -> String {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    match data_type {
        DataType::Utf8 => "string".into(),
        DataType::LargeUtf8 => "large_string".into(),
        DataType::Boolean => "bool".into(),
        DataType::Date32 => "date".into(),
        DataType::Dictionary(_, values) => name(values),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            format!("decimal({precision},{scale})")
        }
        DataType::Time32(u) | DataType::Time64(u) => format!("time[{}]", unit(u)),
        DataType::Timestamp(u, None) => format!("timestamp[{}]", unit(u)),
        DataType::Timestamp(u, Some(zone)) => format!("timestamp[{},{zone}]", unit(u)),
        other => other.to_string().to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(text: &str) -> Result<Vec<String>, String> {
        let Types(types) = text.parse()?;
        Ok(types.iter().map(|(column, kind)| format!("{column}: {}", name(kind))).collect())
    }

    #[test]
    fn names_of_arrow_and_of_sql() {
        let text = "a=string,b=BIGINT,c=decimal(10,2),d=timestamp[ms, UTC],e=varchar(20),f=double";
        assert_eq!(
            types(text).unwrap(),
            [
                "a: string",
                "b: int64",
                "c: decimal(10,2)",
                "d: timestamp[ms,UTC]",
                "e: string",
                "f: float64"
            ]
        );
        assert_eq!(types("t=time[s],u=timestamp").unwrap(), ["t: time[s]", "u: timestamp[us]"]);
        assert_eq!(types("t=timestamp(ns,+02:00)").unwrap(), ["t: timestamp[ns,+02:00]"]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = types("a=strnig").unwrap_err();
        assert!(message.starts_with("no type `strnig`; known are string, "), "{message}");
        for wrong in ["a", "a=", "a=decimal", "a=decimal(99,2)", "a=decimal(5,9)", "a=int64(3)"] {
            assert!(types(wrong).is_err(), "{wrong}");
        }
        assert!(types("a=timestamp[ms").is_err());
        assert!(types("a=timestamp[ms,Nowhere]").is_err());
    }
}
