//! Arrays of every type, with values at the edges of what they hold.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder, TimestampSecondBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{
    IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256,
};
use arrow_schema::{Field, UnionFields, UnionMode};

const ZONES: [Option<&str>; 6] = [
    None,
    Some("UTC"),
    Some("+02:00"),
    Some("-05:30"),
    Some("Europe/Zurich"),
    Some("America/New_York"),
];

/// Arrays of all types.
pub fn all() -> Vec<ArrayRef> {
    let mut all = leaves();
    all.extend(nested(&leaves()));
    let deep = nested(&all.iter().skip(leaves().len()).step_by(7).cloned().collect::<Vec<_>>());
    all.extend(deep);
    all.extend([maps(), unions(UnionMode::Sparse), unions(UnionMode::Dense)]);
    all
}

fn of<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> PrimitiveArray<T> {
    values.into_iter().map(Some).chain([None]).collect()
}

/// Floats of all sizes.
pub fn floats() -> Vec<f64> {
    let mut values =
        vec![0.0, -0.0, 1.0, 0.1, 1.5e300, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    for exponent in -30..30 {
        let texts = ["1", "-1.25", "1234"].map(|digits| format!("{digits}e{exponent}"));
        values.extend(texts.map(|text| text.parse::<f64>().unwrap()));
    }
    values
}

fn leaves() -> Vec<ArrayRef> {
    let mut arrays: Vec<ArrayRef> = Vec::new();
    macro_rules! add {
        ($($type:ty: $values:expr),* $(,)?) => {
            $(arrays.push(Arc::new(of::<$type>($values)));)*
        };
    }
    let wide = || {
        let mut values =
            vec![0, 1, -1, i64::MIN, i64::MAX, 86_399, 86_400, -86_401, 253_402_300_800];
        values.extend([1_720_000_000, -2_208_988_800, 1_234_567_890_123_456_789, -4_000_000_000]);
        values.extend([1_720_000_000_120, 1_720_000_000_123_400, 1_720_000_000_000_000_100]);
        values.extend([8_210_266_000_000, -8_334_601_000_000, 253_402_300_799, -62_167_219_201]);
        values
    };
    let days =
        || vec![0, 1, -1, i32::MIN, i32::MAX, 19_000, 86_399, 86_400_000, -719_529, 2_932_897];
    let halves =
        || floats().into_iter().map(|value| value as f32).filter(|value| value.is_finite());
    add!(
        Int8Type: vec![0, i8::MIN, i8::MAX],
        Int16Type: vec![0, i16::MIN, i16::MAX],
        Int32Type: vec![0, i32::MIN, i32::MAX],
        Int64Type: wide(),
        UInt8Type: vec![0, u8::MAX],
        UInt16Type: vec![0, u16::MAX],
        UInt32Type: vec![0, u32::MAX],
        UInt64Type: vec![0, u64::MAX],
        Float32Type: halves().collect(),
        Float64Type: floats(),
        Date32Type: days(),
        Date64Type: wide(),
        Time32SecondType: days(),
        Time32MillisecondType: days(),
        Time64MicrosecondType: wide(),
        Time64NanosecondType: wide(),
        DurationSecondType: wide(),
        DurationMillisecondType: wide(),
        DurationMicrosecondType: wide(),
        DurationNanosecondType: wide(),
        IntervalYearMonthType: vec![0, 1, -1, 12, -12, 25, i32::MIN, i32::MAX],
        IntervalDayTimeType: [(0, 0), (1, 2), (-1, -2), (0, i32::MIN), (i32::MAX, i32::MAX), (0, -61_001)]
            .map(|(days, millis)| IntervalDayTime::new(days, millis)).to_vec(),
        IntervalMonthDayNanoType: wide().into_iter()
            .map(|nanos| IntervalMonthDayNano::new(nanos as i32 % 3, nanos as i32 % 5, nanos)).collect(),
    );
    let small = Float32Array::from(halves().collect::<Vec<_>>());
    let small =
        small.iter().map(|value| value.map(<Float16Type as ArrowPrimitiveType>::Native::from_f32));
    let small: Float16Array =
        small.filter(|value| value.is_some_and(|value| value.is_finite())).collect();
    arrays.push(Arc::new(small));
    for zone in ZONES {
        arrays.push(Arc::new(of::<TimestampSecondType>(wide()).with_timezone_opt(zone)));
        arrays.push(Arc::new(of::<TimestampMillisecondType>(wide()).with_timezone_opt(zone)));
        arrays.push(Arc::new(of::<TimestampMicrosecondType>(wide()).with_timezone_opt(zone)));
        arrays.push(Arc::new(of::<TimestampNanosecondType>(wide()).with_timezone_opt(zone)));
    }
    for scale in [0, 1, 5, 9, -3] {
        let narrow = || vec![0, 5, -5, 12_345, -12_345, 999_999_999, -999_999_999];
        let wide = || narrow().into_iter().map(i64::from);
        let scaled = "decimal";
        arrays.push(Arc::new(
            of::<Decimal32Type>(narrow()).with_precision_and_scale(9, scale).expect(scaled),
        ));
        arrays.push(Arc::new(
            of::<Decimal64Type>(wide().collect())
                .with_precision_and_scale(18, scale)
                .expect(scaled),
        ));
        let wider =
            wide().map(i128::from).chain([10_i128.pow(38) - 1, 1 - 10_i128.pow(38)]).collect();
        arrays.push(Arc::new(
            of::<Decimal128Type>(wider).with_precision_and_scale(38, scale).expect(scaled),
        ));
        let widest = wide().map(|value| {
            i256::from_i128(value.into()).wrapping_mul(i256::from_i128(10_i128.pow(30)))
        });
        arrays.push(Arc::new(
            of::<Decimal256Type>(widest.collect())
                .with_precision_and_scale(76, scale)
                .expect(scaled),
        ));
    }
    let words = [
        Some("a"),
        Some(""),
        None,
        Some("quo\"te, \\ \n\u{1}\u{7f} é 漢 🙂 and more than twelve bytes"),
    ];
    let bytes = words.map(|word| word.map(str::as_bytes));
    arrays.extend([
        Arc::new(NullArray::new(3)) as ArrayRef,
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        Arc::new(StringArray::from_iter(words)),
        Arc::new(LargeStringArray::from_iter(words)),
        Arc::new(StringViewArray::from_iter(words)),
        Arc::new(BinaryArray::from_iter(bytes)),
        Arc::new(LargeBinaryArray::from_iter(bytes)),
        Arc::new(BinaryViewArray::from_iter(bytes)),
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                [Some([0_u8, 255]), None].into_iter(),
                2,
            )
            .expect("two"),
        ),
    ]);
    arrays
}

/// Each of the arrays in everything that can be around it.
fn nested(of: &[ArrayRef]) -> Vec<ArrayRef> {
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for values in of {
        let len = values.len();
        let end = i32::try_from(len).expect("short");
        let item = Arc::new(Field::new("item", values.data_type().clone(), true));
        let nulls = Some(NullBuffer::from(vec![true, false, true, true]));
        let offsets = OffsetBuffer::new(vec![0, 0, 1, 1, end].into());
        let wide = OffsetBuffer::new(vec![0, 0, 1, 1, i64::from(end)].into());
        arrays.push(Arc::new(ListArray::new(item.clone(), offsets, values.clone(), nulls.clone())));
        arrays.push(Arc::new(
            LargeListArray::new(item.clone(), wide, values.clone(), nulls.clone()).slice(1, 3),
        ));
        let (starts, sizes) =
            (ScalarBuffer::from(vec![1, 0, 0, 0]), ScalarBuffer::from(vec![1, 0, end, 1]));
        arrays.push(Arc::new(ListViewArray::new(
            item.clone(),
            starts,
            sizes,
            values.clone(),
            nulls.clone(),
        )));
        let nulls = (len / 2 == 2).then(|| NullBuffer::from(vec![true, false]));
        let pairs = values.slice(0, len / 2 * 2);
        arrays.push(Arc::new(FixedSizeListArray::new(item.clone(), 2, pairs, nulls)));
        let nulls = NullBuffer::from_iter((0..len).map(|row| row % 3 != 1));
        let twice =
            vec![item.clone(), Arc::new(Field::new("a \"b\"", item.data_type().clone(), true))];
        let twins = vec![values.clone(), values.clone()];
        arrays.push(Arc::new(StructArray::new(twice.into(), twins, Some(nulls)).slice(1, len - 1)));
        let nulls = values.logical_nulls();
        let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let keys = (0..len.min(60)).map(|key| (key != 1 && valid(key)).then_some(key as i8));
        let keys: Int8Array = keys.collect();
        arrays.push(Arc::new(DictionaryArray::new(keys.slice(1, keys.len() - 1), values.clone())));
        let ends = Int32Array::from_iter_values((0..end).map(|run| run * 2 + 1));
        let runs = RunArray::try_new(&ends, values);
        arrays.extend(runs.ok().map(|runs| Arc::new(runs.slice(1, runs.len() - 1)) as ArrayRef));
    }
    arrays
}

fn maps() -> ArrayRef {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), TimestampSecondBuilder::new());
    for (key, value) in [("a", Some(1)), ("b\"", None), ("c", Some(i64::MAX))] {
        maps.keys().append_value(key);
        maps.values().append_option(value);
    }
    for valid in [true, true, false] {
        maps.append(valid).expect("as many keys as values");
    }
    Arc::new(maps.finish())
}

fn unions(mode: UnionMode) -> ArrayRef {
    let fields = UnionFields::try_new(
        vec![1, 4],
        vec![
            Field::new("number", arrow_schema::DataType::Int64, true),
            Field::new("word", arrow_schema::DataType::Utf8, true),
        ],
    );
    let ids = ScalarBuffer::from(vec![1_i8, 4, 4, 1]);
    let offsets = (mode == UnionMode::Dense).then(|| ScalarBuffer::from(vec![0, 0, 1, 3]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), None]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
    let union = UnionArray::try_new(fields.expect("two"), ids, offsets, vec![numbers, words]);
    Arc::new(union.expect("sound"))
}
