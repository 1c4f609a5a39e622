//! What a value looks like as text, and the type that a column of such values takes.
//!
//! A value has a kind only if a column of that type gives the same value back. So `007` is text (a number would lose
//! its zeros), and so is a number that no type holds exactly.

use std::num::NonZero;

use arrow_array::timezone::Tz;
use arrow_schema::{DataType, TimeUnit};

use super::moments;

/// The zone of times that were written with an offset.
pub const UTC: &str = "UTC";
/// Floats hold every integer up to this one.
const EXACT: u64 = 1 << 53;

/// What one value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Integer(i64),
    /// Beyond `Integer`.
    Unsigned(u64),
    Float,
    /// `NaN`, `Infinity` or `-Infinity` as a JSON string: a float among numbers, a word among words.
    FloatName,
    /// An integer of more than 64 bits.
    Huge,
    Date,
    Time(Time),
    Text,
}

/// A date with a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// The unit that its digits ask for.
    pub unit: TimeUnit,
    /// The unit that its value needs: zeros at the end do not count.
    pub needed: TimeUnit,
    /// Whether it says how far from UTC it is.
    pub zoned: bool,
}

impl Kind {
    /// Of a CSV field.
    pub fn of(text: &str) -> Self {
        let Some(first) = text.bytes().next() else { return Self::Text };
        match first {
            b'0'..=b'9' => number(text)
                .or_else(|| date(text))
                .or_else(|| Time::of(text).map(Self::Time))
                .unwrap_or(Self::Text),
            b'-' | b'.' if text != "-inf" => number(text).unwrap_or(Self::Text),
            _ if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
                Self::Boolean
            }
            _ if matches!(text, "NaN" | "nan" | "inf" | "-inf") => Self::Float,
            _ => Self::Text,
        }
    }

    /// Of a JSON value that is neither null nor nested.
    pub fn of_json(raw: &str) -> Self {
        match raw.bytes().next() {
            Some(b'"') => match raw {
                "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"" => Self::FloatName,
                _ => Self::Text,
            },
            Some(b't' | b'f') => Self::Boolean,
            _ => number(raw).unwrap_or(Self::Text),
        }
    }

    /// Whether a float is this very number.
    pub fn is_exact_float(self) -> bool {
        match self {
            Self::Float | Self::FloatName => true,
            Self::Integer(n) => n.unsigned_abs() <= EXACT,
            _ => false,
        }
    }
}

fn number(text: &str) -> Option<Kind> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mut bytes = digits.bytes();
    let padded = bytes.next() == Some(b'0') && bytes.next().is_some_and(|b| b.is_ascii_digit());
    if padded || !digits.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return Some(match (text.parse().map(NonZero::<i64>::new), text.parse()) {
            (Ok(None), _) if text.starts_with('-') => Kind::Float, // only floats have a -0
            (Ok(n), _) => Kind::Integer(n.map_or(0, NonZero::get)),
            (_, Ok(n)) => Kind::Unsigned(n),
            _ => Kind::Huge,
        });
    }
    let may = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    let float = digits.bytes().all(may).then(|| text.parse::<f64>().ok()).flatten();
    float.filter(|float| float.is_finite()).map(|_| Kind::Float)
}

fn date(text: &str) -> Option<Kind> {
    moments::date(text).map(|_| Kind::Date)
}

impl Time {
    fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is = |at: usize, of: &[u8]| bytes.get(at).is_some_and(|b| of.contains(b));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"T ") && is(13, b":") && is(16, b":")) {
            return None;
        }
        let rest = text.get(19..)?;
        let (fraction, zone) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", rest),
        };
        let time = Self {
            unit: unit(fraction)?,
            needed: unit(fraction.trim_end_matches('0'))?,
            zoned: !zone.is_empty(),
        };
        let parsed = moments::instant(text, &utc()?)?;
        let fits = time.unit != TimeUnit::Nanosecond || parsed.timestamp_nanos_opt().is_some();
        fits.then_some(time)
    }
}

/// The unit that holds this many digits behind the point.
fn unit(fraction: &str) -> Option<TimeUnit> {
    match fraction.len() {
        0 => Some(TimeUnit::Second),
        1..=3 => Some(TimeUnit::Millisecond),
        4..=6 => Some(TimeUnit::Microsecond),
        7..=9 => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}

fn utc() -> Option<Tz> {
    "+00:00".parse().ok()
}

/// What the values of a column have been so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    booleans: bool,
    integers: bool,
    negative: bool,
    /// Integers that no float holds exactly.
    wide: bool,
    unsigned: bool,
    floats: bool,
    float_names: bool,
    huge: bool,
    dates: bool,
    local: Option<TimeUnit>,
    zoned: Option<TimeUnit>,
    text: bool,
}

impl Seen {
    /// Counts a value in.
    pub fn see(&mut self, kind: Kind) {
        match kind {
            Kind::Boolean => self.booleans = true,
            Kind::Integer(n) => {
                self.integers = true;
                self.negative |= n < 0;
                self.wide |= !kind.is_exact_float();
            }
            Kind::Unsigned(_) => self.unsigned = true,
            Kind::Float => self.floats = true,
            Kind::FloatName => self.float_names = true,
            Kind::Huge => self.huge = true,
            Kind::Date => self.dates = true,
            Kind::Time(time) if time.zoned => self.zoned = self.zoned.max(Some(time.unit)),
            Kind::Time(time) => self.local = self.local.max(Some(time.unit)),
            Kind::Text => self.text = true,
        }
    }

    /// The type that holds all of them.
    pub fn data_type(&self) -> DataType {
        let numbers = self.integers || self.unsigned || self.floats || self.huge;
        let days = self.dates || self.local.is_some();
        let groups = [self.booleans, numbers, days, self.zoned.is_some(), self.text];
        let named_only = self.float_names && !numbers;
        if groups.iter().filter(|seen| **seen).count() != 1 || named_only {
            return DataType::Utf8;
        }
        if self.booleans {
            DataType::Boolean
        } else if let Some(unit) = self.zoned {
            DataType::Timestamp(unit, Some(UTC.into()))
        } else if let Some(unit) = self.local {
            DataType::Timestamp(unit, None)
        } else if self.dates {
            DataType::Date32
        } else if numbers {
            self.number_type().unwrap_or(DataType::Utf8)
        } else {
            DataType::Utf8
        }
    }

    fn number_type(&self) -> Option<DataType> {
        let floats = self.floats || self.float_names;
        match (self.unsigned, floats) {
            _ if self.huge => None,
            (false, false) => Some(DataType::Int64),
            (true, false) if !self.negative => Some(DataType::UInt64),
            (false, true) if !self.wide => Some(DataType::Float64),
            _ => None,
        }
    }

    /// Whether only numbers came, and no type of numbers holds them all.
    pub fn is_unholdable(&self) -> bool {
        let numbers = self.integers || self.unsigned || self.floats || self.huge;
        let others = self.booleans || self.dates || self.text;
        let times = self.local.is_some() || self.zoned.is_some();
        numbers && !others && !times && self.number_type().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(values: &[&str]) -> String {
        let mut seen = Seen::default();
        values.iter().for_each(|value| seen.see(Kind::of(value)));
        seen.data_type().to_string()
    }

    #[test]
    fn columns_take_the_type_of_all_values() {
        assert_eq!(type_of(&[]), "Utf8");
        assert_eq!(type_of(&["1", "-2", "0"]), "Int64");
        assert_eq!(type_of(&["1", "2.5", "-1e3", ".5", "NaN"]), "Float64");
        assert_eq!(type_of(&["inf", "-inf", "nan"]), "Float64");
        assert_eq!(type_of(&["true", "FALSE"]), "Boolean");
        assert_eq!(type_of(&["true", "1"]), "Utf8");
        assert_eq!(type_of(&["2024-02-29"]), "Date32");
        assert_eq!(type_of(&["2024-02-29", "2024-01-01 10:00:00.5"]), "Timestamp(ms)");
    }

    #[test]
    fn what_a_type_would_change_is_text() {
        for values in [
            &["007"][..],
            &["+5"],
            &["1", "1_000"],
            &["2023-02-29"],
            &["2024-01-1x"],
            &["2024-01-01T25:00:00"],
            &["1e999"],
            &["-"],
            &["123456789012345678901"],
            &["-1", "18446744073709551615"],
            &["0.5", "9007199254740993"],
            &["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"],
            &["2024-01-01T10:00:00.0123456789"],
        ] {
            assert_eq!(type_of(values), "Utf8", "{values:?}");
        }
    }

    #[test]
    fn wide_integers_and_zones_keep_their_value() {
        assert_eq!(type_of(&["1", "18446744073709551615"]), "UInt64");
        assert_eq!(type_of(&["9007199254740993", "-1"]), "Int64");
        assert_eq!(type_of(&["-0"]), "Float64");
        assert_eq!(
            type_of(&["2024-01-01T10:00:00+02:00", "2024-01-01 10:00:00.123Z"]),
            "Timestamp(ms, \"UTC\")"
        );
    }

    #[test]
    fn json_values_say_what_they_are() {
        assert_eq!(Kind::of_json("\"12\""), Kind::Text);
        assert_eq!(Kind::of_json("12"), Kind::Integer(12));
        assert_eq!(Kind::of_json("1e2"), Kind::Float);
        assert_eq!(Kind::of_json("true"), Kind::Boolean);
        assert_eq!(Kind::of_json("\"NaN\""), Kind::FloatName);
        assert_eq!(Kind::of_json("123456789012345678901"), Kind::Huge);
    }
}
