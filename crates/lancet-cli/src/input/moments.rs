//! Dates and times out of text.

use arrow_array::timezone::Tz;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Timelike, Utc};

/// A day, as `2024-02-29`.
pub fn date(text: &str) -> Option<NaiveDate> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    NaiveDate::from_ymd_opt(year.try_into().ok()?, number(&[*m1, *m2])?, number(&[*d1, *d2])?)
}

/// Days since 1970.
pub fn days(text: &str) -> Option<i32> {
    let since = date(text)?.signed_duration_since(NaiveDate::default());
    since.num_days().try_into().ok()
}

/// A date, or a date with a time of day and maybe an offset or a zone, as `2024-02-29T10:00:00.5+02:00`. Without one it
/// is a time of `zone`. Times that a zone has twice or never are none.
pub fn instant(text: &str, zone: &Tz) -> Option<DateTime<Utc>> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = date(day)?;
    if rest.is_empty() {
        return in_zone(day.and_time(NaiveTime::MIN), zone);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock.as_bytes() else { return None };
    let (nanos, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (fraction, rest) = rest.split_at_checked(digits)?;
            (nanoseconds(fraction.as_bytes())?, rest)
        }
        None => (0, rest),
    };
    let time = time(number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?, nanos)?;
    let local = day.and_time(time);
    match rest {
        "" => in_zone(local, zone),
        "Z" | "z" => Some(local.and_utc()),
        _ => in_zone(local, &rest.trim_start().parse().ok()?),
    }
}

fn in_zone(local: NaiveDateTime, zone: &Tz) -> Option<DateTime<Utc>> {
    Some(zone.from_local_datetime(&local).single()?.to_utc())
}

/// A time of day in nanoseconds: `23:59:59.5`, `9:00`, `6:00 pm`.
pub fn since_midnight(text: &str) -> Option<i64> {
    let (clock, half) = match text.split_at_checked(text.len().saturating_sub(3)) {
        Some((clock, half)) if half.eq_ignore_ascii_case(" am") => (clock, Some(0)),
        Some((clock, half)) if half.eq_ignore_ascii_case(" pm") => (clock, Some(12)),
        _ => (text, None),
    };
    let (hour, rest) = clock.split_once(':')?;
    if !matches!(hour.len(), 1 | 2) {
        return None;
    }
    let hour = match (number(hour.as_bytes())?, half) {
        (hour, None) => hour,
        (hour @ 1..=12, Some(half)) => hour % 12 + half,
        _ => return None,
    };
    let (minute, second, nanos) = match rest.as_bytes() {
        [m1, m2] => (number(&[*m1, *m2])?, 0, 0),
        [m1, m2, b':', s1, s2] => (number(&[*m1, *m2])?, number(&[*s1, *s2])?, 0),
        [m1, m2, b':', s1, s2, b'.', fraction @ ..] => {
            (number(&[*m1, *m2])?, number(&[*s1, *s2])?, nanoseconds(fraction)?)
        }
        _ => return None,
    };
    let time = time(hour, minute, second, nanos)?;
    Some(i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond()))
}

/// A time of day, which may be a leap second.
fn time(hour: u32, minute: u32, second: u32, nanos: u32) -> Option<NaiveTime> {
    match second {
        60 => NaiveTime::from_hms_nano_opt(hour, minute, 59, 1_000_000_000 + nanos),
        _ => NaiveTime::from_hms_nano_opt(hour, minute, second, nanos),
    }
}

/// At least one digit behind a point; those after the ninth are left out.
fn nanoseconds(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let nine = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
    Some(nine.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, digit| {
        digit.is_ascii_digit().then(|| sum * 10 + u32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Date32Type, Time64NanosecondType};
    use arrow_cast::parse::{Parser, string_to_datetime};

    use super::*;

    #[test]
    fn dates() {
        for text in [
            "2024-02-29",
            "2023-02-29",
            "0000-01-01",
            "9999-12-31",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-01-32",
            "2024/01/01",
            "x024-01-01",
            "2024-0a-01",
            "é024-01-0",
            "1970-01-01",
            "1969-12-31",
        ] {
            assert_eq!(days(text), Date32Type::parse(text), "{text}");
        }
        // Arrow takes these for the first of January.
        assert_eq!([days("2024-01-1x"), days("2024-01-1 "), days("")], [None; 3]);
    }

    #[test]
    fn instants() {
        let clocks = [
            "",
            "T",
            "T10:00:00",
            " 10:00:00",
            "t10:00:00",
            "_10:00:00",
            "T24:00:00",
            "T23:59:60",
            "T23:59:61",
            "T10:60:00",
            "T1:00:00",
            "T10:00",
            "T10:00:00.",
            "T10:00:00.1",
            "T10:00:00.123456789",
            "T10:00:00.12345678901234567890",
            "T10-00-00",
            "T10:00:0é",
            "T02:30:00",
            "T01:30:00",
            "T10:00:00.5x",
        ];
        let zones = [
            "",
            "Z",
            "z",
            "+02:00",
            "-0530",
            "+02",
            " +02:00",
            " Europe/Zurich",
            "Europe/Zurich",
            " Nowhere",
            "ZZ",
            "+25:00",
            "é",
            " ",
            "Z ",
            "+2",
            "UTC",
            " America/New_York",
        ];
        for zone in ["+00:00", "-03:00", "Europe/Zurich"] {
            let zone: Tz = zone.parse().unwrap();
            for day in
                ["2024-03-31", "2024-10-27", "1890-01-01", "9999-12-31", "2024-02-30", "0000-01-01"]
            {
                for (clock, offset) in
                    clocks.iter().flat_map(|clock| zones.map(|zone| (clock, zone)))
                {
                    let text = format!("{day}{clock}{offset}");
                    let theirs = string_to_datetime(&zone, &text).ok().map(|time| time.to_utc());
                    assert_eq!(instant(&text, &zone), theirs, "{text}");
                }
            }
        }
    }

    #[test]
    fn times_of_day() {
        for text in [
            "00:00",
            "0:00",
            "9:5",
            "09:05",
            "23:59:59",
            "23:59:60",
            "23:59:60.5",
            "24:00",
            "12:60",
            "12:00:61",
            "1:2:3",
            "12:00:00.",
            "12:00:00.1",
            "12:00:00.1234567891",
            "12:00:00.12x",
            "12:00 am",
            "12:00 PM",
            "0:00 am",
            "13:00 pm",
            "6:00 Pm",
            "6:00pm",
            " am",
            "",
            ":",
            "::",
            "1:",
            ":00",
            "111:00",
            "12:00:",
            "12:00:0",
            "12:00:00 am",
            "12:00:00.5 pm",
            "é:00",
            "12:é0",
            "12:00é",
            "12:00:00x",
            "1é:00",
            "--:--",
            "12:00 é",
            "12:00:00.é",
        ] {
            let theirs = Time64NanosecondType::parse(text).filter(|_| text.contains(':'));
            assert_eq!(since_midnight(text), theirs, "{text}");
        }
    }
}
