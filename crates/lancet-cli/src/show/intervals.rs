//! Intervals as text: `1 mons 2 days 3 hours 4 mins 5.000000000 secs`.

use std::io::Write;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType};
use arrow_schema::{ArrowError, DataType, IntervalUnit};

use super::{Value, unknown};

pub fn intervals(array: &dyn Array) -> Result<Value<'_>, ArrowError> {
    Ok(match array.data_type() {
        DataType::Interval(IntervalUnit::YearMonth) => {
            let array = array.as_primitive::<IntervalYearMonthType>();
            Box::new(move |row, out| {
                let months = array.value(row);
                let (years, months) = (months.div_euclid(12), months.rem_euclid(12));
                let _ = write!(out, "{years} years {months} mons"); // a Vec takes everything
                Ok(())
            })
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let array = array.as_primitive::<IntervalDayTimeType>();
            Box::new(move |row, out| {
                let value = array.value(row);
                parts(0, value.days, value.milliseconds.into(), 3, out);
                Ok(())
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row, out| {
                let value = array.value(row);
                parts(value.months, value.days, value.nanoseconds, 9, out);
                Ok(())
            })
        }
        other => return Err(unknown(other)),
    })
}

/// The parts that are not zero. The rest is in units of which a second has `10^places`.
fn parts(months: i32, days: i32, rest: i64, places: usize, out: &mut Vec<u8>) {
    let second = if places == 3 { 1_000 } else { 1_000_000_000 };
    let seconds = rest / second;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let (seconds, fraction) = (seconds % 60, rest % second);
    let start = out.len();
    let named =
        [(months.into(), "mons"), (days.into(), "days"), (hours, "hours"), (minutes, "mins")];
    for (count, name) in named.into_iter().filter(|(count, _)| *count != 0_i64) {
        let space = if out.len() == start { "" } else { " " };
        let _ = write!(out, "{space}{count} {name}"); // a Vec takes everything
    }
    if seconds != 0 || fraction != 0 {
        let space = if out.len() == start { "" } else { " " };
        let sign = if rest < 0 { "-" } else { "" };
        let (seconds, fraction) = (seconds.abs(), fraction.abs());
        let _ = write!(out, "{space}{sign}{seconds}.{fraction:0places$} secs");
    }
    if out.len() == start {
        out.extend_from_slice(b"0 secs");
    }
}
