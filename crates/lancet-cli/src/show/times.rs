//! Dates, times and durations as text, in the forms of RFC 3339 and ISO 8601.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    as_datetime, as_time, date32_to_datetime, date64_to_datetime, duration_ns_to_duration,
    duration_us_to_duration, try_duration_ms_to_duration, try_duration_s_to_duration,
};
use arrow_array::timezone::Tz;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use chrono::{
    Datelike, NaiveDate, NaiveDateTime, NaiveTime, Offset, SecondsFormat, TimeDelta, TimeZone,
    Timelike, Utc,
};

use super::{OutOfRange, Value, unknown};

/// Years that have four digits and no sign.
const PLAIN_YEARS: std::ops::RangeInclusive<i32> = 0..=9_999;

pub fn times(array: &dyn Array) -> Result<Value<'_>, ArrowError> {
    use DataType as D;
    use TimeUnit as U;
    Ok(match array.data_type() {
        D::Timestamp(unit, zone) => {
            let zone = zone.as_deref().map(str::parse::<Tz>).transpose()?;
            match unit {
                U::Second => instants::<TimestampSecondType>(array, zone),
                U::Millisecond => instants::<TimestampMillisecondType>(array, zone),
                U::Microsecond => instants::<TimestampMicrosecondType>(array, zone),
                U::Nanosecond => instants::<TimestampNanosecondType>(array, zone),
            }
        }
        D::Date32 => temporal(array.as_primitive::<Date32Type>(), |days, out| {
            date(date32_to_datetime(days)?.date(), out)
        }),
        D::Date64 => temporal(array.as_primitive::<Date64Type>(), |millis, out| {
            local(date64_to_datetime(millis)?, out)
        }),
        D::Time32(U::Second) => of_day(array.as_primitive::<Time32SecondType>()),
        D::Time32(_) => of_day(array.as_primitive::<Time32MillisecondType>()),
        D::Time64(U::Microsecond) => of_day(array.as_primitive::<Time64MicrosecondType>()),
        D::Time64(_) => of_day(array.as_primitive::<Time64NanosecondType>()),
        D::Duration(unit) => match unit {
            U::Second => durations::<DurationSecondType>(array, try_duration_s_to_duration),
            U::Millisecond => {
                durations::<DurationMillisecondType>(array, try_duration_ms_to_duration)
            }
            U::Microsecond => {
                durations::<DurationMicrosecondType>(array, |v| Some(duration_us_to_duration(v)))
            }
            U::Nanosecond => {
                durations::<DurationNanosecondType>(array, |v| Some(duration_ns_to_duration(v)))
            }
        },
        other => return Err(unknown(other)),
    })
}

fn instants<T>(array: &dyn Array, zone: Option<Tz>) -> Value<'_>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row, out| {
        let value = array.value(row);
        let written = as_datetime::<T>(value).and_then(|instant| match &zone {
            Some(zone) => zoned(instant, zone, out),
            None => local(instant, out),
        });
        written.ok_or_else(|| out_of_range(value, "datetime", array))
    })
}

/// Values that `write` tells, or has no date or time for.
fn temporal<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &PrimitiveArray<T>,
    write: impl Fn(T::Native, &mut Vec<u8>) -> Option<()> + 'static,
) -> Value<'_> {
    Box::new(move |row, out| {
        let value = array.value(row);
        write(value, out).ok_or_else(|| out_of_range(value.into(), "temporal", array))
    })
}

fn of_day<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &PrimitiveArray<T>) -> Value<'_> {
    temporal(array, |value, out| clock(as_time::<T>(value.into())?, out))
}

fn durations<T>(array: &dyn Array, duration: fn(i64) -> Option<TimeDelta>) -> Value<'_>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    let array = array.as_primitive::<T>();
    Box::new(move |row, out| {
        let value = array.value(row);
        let duration = duration(value).ok_or_else(|| out_of_range(value, "duration", array))?;
        let _ = write!(out, "{duration}"); // a Vec takes everything
        Ok(())
    })
}

fn out_of_range(number: i64, what: &str, array: &dyn Array) -> OutOfRange {
    let of = array.data_type();
    let error = ArrowError::CastError(format!("Failed to convert {number} to {what} for {of}"));
    OutOfRange { number, error }
}

/// None where the time is none that a calendar has, though that of UTC is.
fn zoned(instant: NaiveDateTime, zone: &Tz, out: &mut Vec<u8>) -> Option<()> {
    let offset = zone.offset_from_utc_datetime(&instant).fix();
    let there = instant.checked_add_offset(offset)?;
    let seconds = offset.local_minus_utc();
    if !PLAIN_YEARS.contains(&there.year()) || seconds % 60 != 0 {
        // Far years, and offsets of old days that had seconds.
        let there = Utc.from_utc_datetime(&instant).with_timezone(zone);
        out.extend_from_slice(there.to_rfc3339_opts(SecondsFormat::AutoSi, true).as_bytes());
        return Some(());
    }
    local(there, out)?;
    if seconds == 0 {
        out.push(b'Z');
        return Some(());
    }
    out.push(if seconds < 0 { b'-' } else { b'+' });
    two(seconds.unsigned_abs() / 3_600, out);
    out.push(b':');
    two(seconds.unsigned_abs() / 60 % 60, out);
    Some(())
}

fn local(time: NaiveDateTime, out: &mut Vec<u8>) -> Option<()> {
    date(time.date(), out)?;
    out.push(b'T');
    clock(time.time(), out)
}

fn date(date: NaiveDate, out: &mut Vec<u8>) -> Option<()> {
    match u32::try_from(date.year()) {
        Ok(year) if PLAIN_YEARS.contains(&date.year()) => {
            two(year / 100, out);
            two(year % 100, out);
        }
        _ => _ = write!(out, "{:+05}", date.year()),
    }
    out.push(b'-');
    two(date.month(), out);
    out.push(b'-');
    two(date.day(), out);
    Some(())
}

/// With as many digits behind the point as the time asks for, by threes.
fn clock(time: NaiveTime, out: &mut Vec<u8>) -> Option<()> {
    two(time.hour(), out);
    out.push(b':');
    two(time.minute(), out);
    out.push(b':');
    two(time.second(), out);
    let nanos = time.nanosecond();
    if nanos != 0 {
        out.push(b'.');
        three(nanos / 1_000_000, out);
    }
    if !nanos.is_multiple_of(1_000_000) {
        three(nanos / 1_000 % 1_000, out);
    }
    if !nanos.is_multiple_of(1_000) {
        three(nanos % 1_000, out);
    }
    Some(())
}

fn three(number: u32, out: &mut Vec<u8>) {
    out.push(digit(number / 100));
    two(number % 100, out);
}

fn two(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[digit(number / 10), digit(number % 10)]);
}

fn digit(number: u32) -> u8 {
    b'0' + (number % 10) as u8
}
