//! The text is that of Arrow's display.

use arrow_cast::display::{ArrayFormatter, FormatOptions};

use super::{Show, samples};

#[test]
fn values_have_the_text_of_arrow() {
    for null in ["", "null"] {
        let options = FormatOptions::default().with_null(null);
        for array in samples::all() {
            let theirs = ArrayFormatter::try_new(&array, &options).unwrap();
            let ours = Show::new(&array, null).unwrap();
            for row in 0..array.len() {
                let theirs = theirs.value(row).try_to_string();
                let theirs = theirs.map_err(|e| e.to_string());
                // What Arrow says in the middle of a text.
                if theirs.as_ref().is_ok_and(|t| t.contains("ERROR: ") || t.contains("<invalid>")) {
                    assert!(ours.told(row).contains(" (out of range)"));
                    continue;
                }
                assert_eq!(
                    ours.text(row).map_err(|e| e.to_string()),
                    theirs,
                    "{} at {row}",
                    array.data_type()
                );
            }
        }
    }
}

#[test]
fn floats_that_are_no_numbers_have_names() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let wide = arrow_array::Float64Array::from(values.to_vec());
    let narrow = arrow_array::Float32Array::from(values.map(|value| value as f32).to_vec());
    for array in [&wide as &dyn arrow_array::Array, &narrow] {
        let show = Show::new(array, "").unwrap();
        let texts: Vec<String> = (0..3).map(|row| show.text(row).unwrap()).collect();
        assert_eq!(texts, ["NaN", "inf", "-inf"]);
    }
}

#[test]
fn zones_that_nobody_knows_are_refused() {
    let times = arrow_array::TimestampSecondArray::from(vec![0]).with_timezone("Nowhere");
    assert!(Show::new(&times, "").is_err());
}

#[test]
fn times_at_the_end_of_the_calendar_are_told_or_refused() {
    let ends = arrow_array::TimestampSecondArray::from(vec![8_210_266_876_799, -8_334_601_228_800]);
    for (zone, told) in
        [("+00:00", [true, true]), ("+02:00", [false, true]), ("-02:00", [true, false])]
    {
        let ends = ends.clone().with_timezone(zone);
        let show = Show::new(&ends, "").unwrap();
        assert_eq!([0, 1].map(|row| show.text(row).is_ok()), told, "{zone}");
    }
}

#[test]
fn what_has_no_date_is_told_as_a_number() {
    let times = arrow_array::TimestampSecondArray::from(vec![i64::MAX, 0]);
    let show = Show::new(&times, "").unwrap();
    assert_eq!(show.told(0), "9223372036854775807 (out of range)");
    assert_eq!(show.told(1), "1970-01-01T00:00:00");
    let days = arrow_array::Date32Array::from(vec![i32::MIN]);
    assert_eq!(Show::new(&days, "").unwrap().told(0), "-2147483648 (out of range)");
}
