//! The JSON is that of Arrow's writer.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array, RecordBatch,
};
use arrow_schema::DataType;

use crate::show::samples;

fn theirs(batch: &RecordBatch) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut writer = arrow_json::WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, arrow_json::writer::LineDelimited>(&mut bytes);
    writer.write(batch).and_then(|()| writer.finish()).map_err(|e| e.to_string())?;
    drop(writer);
    Ok(String::from_utf8(bytes).unwrap())
}

fn ours(batch: &RecordBatch) -> Result<String, String> {
    let bytes = super::json_lines(batch, 0)?;
    Ok(String::from_utf8(bytes).unwrap())
}

fn compare(array: ArrayRef) {
    let batch = RecordBatch::try_from_iter([("a \"b\"", array)]).unwrap();
    let of = batch.column(0).data_type();
    let (ours, theirs) = match (ours(&batch), theirs(&batch)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        // Times without a date, which Arrow writes as words.
        (Err(ours), Ok(theirs)) => {
            assert!(ours.contains("Failed to convert "), "{ours}");
            let words = ["\"ERROR: Cast error", "\"<invalid>\""];
            return assert!(words.iter().any(|words| theirs.contains(words)), "{of}: {ours}");
        }
        (ours, theirs) => {
            let (ours, theirs) = (ours.unwrap_err(), theirs.unwrap_err());
            return assert!(ours.ends_with(&theirs), "{of}: {ours}, not {theirs}");
        }
    };
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{of}");
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        assert_eq!(ours, theirs, "{of}");
    }
}

#[test]
fn rows_have_the_text_of_arrow() {
    for array in samples::all() {
        // One by one where some have no text.
        match ours(&RecordBatch::try_from_iter([("a", array.clone())]).unwrap()) {
            Ok(_) => compare(array),
            Err(_) => (0..array.len()).for_each(|row| compare(array.slice(row, 1))),
        }
    }
}

/// Arrow writes what lies under the null.
#[test]
fn nulls_among_the_values_of_a_dictionary_are_nulls() {
    let values: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(7)]));
    let array: ArrayRef = Arc::new(DictionaryArray::new(Int8Array::from(vec![0, 1]), values));
    let batch = RecordBatch::try_from_iter([("v", array)]).unwrap();
    assert_eq!(ours(&batch).unwrap(), "{\"v\":null}\n{\"v\":7}\n");
}

/// Arrow's digits are not always the shortest, nor the nearest.
#[test]
fn floats_are_those_of_arrow_in_no_more_digits() {
    let mut state = 1_u64;
    let bits: Vec<u64> = std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    })
    .take(20_000)
    .collect();
    let near = bits.iter().map(|bits| *bits as f64 / 2_f64.powi((bits % 90) as i32));
    let wide = bits.iter().map(|bits| f64::from_bits(*bits)).chain(near).filter(|v| v.is_finite());
    let wide = Float64Array::from_iter_values(wide);
    let narrow = wide.values().iter().map(|value| *value as f32).filter(|v| v.is_finite());
    let narrow = Float32Array::from_iter_values(narrow);
    for array in [Arc::new(wide) as ArrayRef, Arc::new(narrow)] {
        let batch = RecordBatch::try_from_iter([("v", array)]).unwrap();
        let (ours, theirs) = (ours(&batch).unwrap(), theirs(&batch).unwrap());
        assert_eq!(ours.lines().count(), batch.num_rows());
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            let number = |line: &str| line[5..line.len() - 1].to_owned();
            let (ours, theirs) = (number(ours), number(theirs));
            let same = match batch.column(0).data_type() {
                DataType::Float32 => ours.parse::<f32>() == theirs.parse::<f32>(),
                _ => ours.parse::<f64>() == theirs.parse::<f64>(),
            };
            let form = |text: &str| (text.find('e').is_some(), text.find('.'));
            assert!(same && form(&ours) == form(&theirs), "{ours} {theirs}");
            assert!(ours.len() <= theirs.len(), "{ours} {theirs}");
        }
    }
}
