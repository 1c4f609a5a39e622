//! Each rule by hand, and numbers of all types against all.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, i256};
use half::f16;

use super::super::filter::{Comparison, Filter};
use super::super::oracle::OPS;
use super::matching;
use crate::error::{Error, Result};

/// What each operator wants of the order of a value and a literal.
const WANTED: [fn(Ordering) -> bool; 6] = [
    Ordering::is_eq,
    Ordering::is_ne,
    Ordering::is_lt,
    Ordering::is_le,
    Ordering::is_gt,
    Ordering::is_ge,
];

/// The rows of a column `x` that match.
fn try_rows(column: &ArrayRef, filter: &Filter) -> Result<Vec<usize>> {
    let find = |name: &str| match name {
        "x" => Ok(column.clone()),
        _ => Err(Error::invalid(format!("no column `{name}`"))),
    };
    let found = matching(filter, column.len(), &find)?;
    assert_eq!(found.len(), column.len());
    Ok(found.set_indices().collect())
}

fn rows(column: &ArrayRef, filter: &Filter) -> Vec<usize> {
    try_rows(column, filter).unwrap()
}

fn refused(column: &ArrayRef, filter: &Filter) -> String {
    try_rows(column, filter).unwrap_err().to_string()
}

fn compare(op: Comparison, value: impl Array + 'static) -> Filter {
    Filter::Compare { column: "x".into(), op, value: Arc::new(value) }
}

/// The rows for each comparison with a value.
fn all_ops(column: &ArrayRef, value: &ArrayRef) -> [Vec<usize>; 6] {
    OPS.map(|op| rows(column, &Filter::Compare { column: "x".into(), op, value: value.clone() }))
}

/// Checks that rows 0, 1, 2.. with one null at the end compare with a value as given.
fn compares(column: &ArrayRef, value: &ArrayRef, orders: &[Ordering]) {
    let of = |wanted: fn(Ordering) -> bool| {
        let orders = orders.iter().enumerate();
        orders.filter(|(_, order)| wanted(**order)).map(|(row, _)| row).collect::<Vec<_>>()
    };
    assert_eq!(column.len(), orders.len() + 1);
    assert!(column.logical_nulls().unwrap().is_null(orders.len()));
    let expected = WANTED.map(of);
    assert_eq!(all_ops(column, value), expected, "{column:?} {value:?}");
}

#[test]
fn null_is_neither_true_nor_false() {
    let x: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
    let (t, null) = (Filter::is_true("x"), compare(Comparison::Eq, NullArray::new(1)));
    let yes = Filter::Constant(true);
    let no = Filter::Constant(false);
    let cases: [(Filter, &[usize]); 22] = [
        (t.clone(), &[0]),
        (!t.clone(), &[1]),
        (!!t.clone(), &[0]),
        (null.clone(), &[]),
        (!null.clone(), &[]),
        (t.clone().and(null.clone()), &[]),
        (!t.clone().and(null.clone()), &[1]),
        (t.clone().or(null.clone()), &[0]),
        (!t.clone().or(null.clone()), &[]),
        (null.clone().or(yes.clone()), &[0, 1, 2]),
        (!null.clone().and(no.clone()), &[0, 1, 2]),
        (!null.and(yes.clone()), &[]),
        (!t.clone().and(no.clone()), &[0, 1, 2]),
        (t.clone().or(!t), &[0, 1]),
        (Filter::is_null("x"), &[2]),
        (Filter::is_not_null("x"), &[0, 1]),
        (yes, &[0, 1, 2]),
        (no.clone(), &[]),
        (!no, &[0, 1, 2]),
        (Filter::And(vec![]), &[0, 1, 2]),
        (Filter::Or(vec![]), &[]),
        (!Filter::Or(vec![]), &[0, 1, 2]),
    ];
    for (filter, expected) in cases {
        assert_eq!(rows(&x, &filter), expected, "{filter:?}");
    }
}

#[test]
fn lists_with_null_have_no_outside() {
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None]));
    let list = |values: Vec<Option<i64>>| Filter::in_list("x", Arc::new(Int64Array::from(values)));
    assert_eq!(rows(&x, &list(vec![Some(1)])), [0]);
    assert_eq!(rows(&x, &!list(vec![Some(1)])), [1]);
    assert_eq!(rows(&x, &list(vec![Some(1), None])), [0]);
    assert!(rows(&x, &!list(vec![Some(1), None])).is_empty());
    assert!(rows(&x, &!list(vec![None])).is_empty());
    assert!(rows(&x, &list(vec![])).is_empty());
    assert_eq!(rows(&x, &!list(vec![])), [0, 1, 2]);
    assert_eq!(rows(&x, &!list(vec![Some(1 << 40)])), [0, 1]);
    assert!(rows(&x, &!Filter::in_list("x", Arc::new(NullArray::new(2)))).is_empty());
    let long = list((2..5_000).map(Some).collect());
    assert_eq!(rows(&x, &long), [1]);
    assert_eq!(rows(&x, &!long), [0]);
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), Some("7"), None]));
    let texts: LargeStringArray = (0..100).map(|n| Some(n.to_string())).collect();
    assert_eq!(rows(&words, &Filter::in_list("x", Arc::new(texts))), [1]);
}

#[test]
fn nan_is_above_all_numbers() {
    use Ordering::{Equal, Greater, Less};
    let negative_nan = f64::from_bits(0xfff8_0000_0000_0001);
    let numbers = [f64::NEG_INFINITY, -0.0, 0.0, 1.5, f64::INFINITY, f64::NAN, negative_nan];
    let some = || numbers.iter().copied().map(Some).chain([None]);
    let columns: [ArrayRef; 3] = [
        Arc::new(some().map(|v| v.map(f16::from_f64)).collect::<Float16Array>()),
        Arc::new(some().map(|v| v.map(|v| v as f32)).collect::<Float32Array>()),
        Arc::new(some().collect::<Float64Array>()),
    ];
    for x in &columns {
        let orders = |at: usize| match at {
            0 => [Equal, Greater, Greater, Greater, Greater, Greater, Greater],
            1 | 2 => [Less, Equal, Equal, Greater, Greater, Greater, Greater],
            3 => [Less, Less, Less, Equal, Greater, Greater, Greater],
            4 => [Less, Less, Less, Less, Equal, Greater, Greater],
            _ => [Less, Less, Less, Less, Less, Equal, Equal],
        };
        for at in 0..numbers.len() {
            compares(x, &x.slice(at, 1), &orders(at));
            let equal: Vec<usize> = (0..7).filter(|row| orders(at)[*row].is_eq()).collect();
            assert_eq!(rows(x, &Filter::in_list("x", x.slice(at, 1))), equal);
        }
        assert_eq!(rows(x, &Filter::in_list("x", x.slice(1, 3))), [1, 2, 3]);
        assert_eq!(rows(x, &Filter::in_list("x", x.slice(3, 3))), [3, 4, 5, 6]);
        assert_eq!(rows(x, &!Filter::in_list("x", x.slice(3, 3))), [0, 1, 2]);
    }
}

#[test]
fn literals_between_values_are_exact() {
    use Ordering::{Equal, Greater, Less};
    let ids: ArrayRef = Arc::new(UInt8Array::from(vec![Some(0), Some(2), Some(3), None]));
    let decimal = |value: i128, scale| -> ArrayRef {
        Arc::new(Decimal128Array::from(vec![value]).with_precision_and_scale(38, scale).unwrap())
    };
    compares(&ids, &decimal(25, 1), &[Less, Less, Greater]);
    compares(&ids, &decimal(2_000_000_000_000_000_000_000, 21), &[Less, Equal, Greater]);
    compares(&ids, &decimal(2_000_000_000_000_000_000_001, 21), &[Less, Less, Greater]);
    compares(&ids, &decimal(-1, 30), &[Greater, Greater, Greater]);
    compares(&ids, &decimal(3, -2), &[Less, Less, Less]);
    let seconds: ArrayRef =
        Arc::new(TimestampSecondArray::from(vec![Some(-1), Some(0), Some(1), None]));
    let millis = |value| -> ArrayRef { Arc::new(TimestampMillisecondArray::from(vec![value])) };
    compares(&seconds, &millis(500), &[Less, Less, Greater]);
    compares(&seconds, &millis(-500), &[Less, Greater, Greater]);
    compares(&seconds, &millis(1000), &[Less, Less, Equal]);
    let nanos: ArrayRef =
        Arc::new(TimestampNanosecondArray::from(vec![Some(i64::MAX), Some(i64::MIN), None]));
    let far: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
    compares(&nanos, &far, &[Less, Less]);
    let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(-1), Some(0), Some(1), None]));
    let noon: ArrayRef = Arc::new(Date64Array::from(vec![43_200_000]));
    compares(&days, &noon, &[Less, Less, Greater]);
}

#[test]
fn instants_compare_in_any_zone_but_not_with_clocks() {
    let zoned = |zone: &str| -> ArrayRef {
        Arc::new(TimestampSecondArray::from(vec![Some(5), None]).with_timezone(zone))
    };
    compares(&zoned("UTC"), &zoned("+02:00").slice(0, 1), &[Ordering::Equal]);
    let clock = TimestampSecondArray::from(vec![5]);
    let error = refused(&zoned("UTC"), &compare(Comparison::Eq, clock));
    assert!(error.contains("does not compare with"), "{error}");
}

/// All the ways to hold strings or binaries, the last row null.
fn forms(texts: &[&str]) -> (Vec<ArrayRef>, Vec<ArrayRef>) {
    let some = || texts.iter().map(|text| Some(*text)).chain([None]);
    let bytes = || some().map(|text| text.map(str::as_bytes));
    // Values that are null or of no row, and keys that are null.
    let mut values: Vec<Option<&str>> = vec![None, Some("of no row")];
    values.extend(texts.iter().map(|text| Some(*text)));
    let keys = (2..values.len() as u64).map(Some);
    let by_value = keys.clone().chain([Some(0)]).collect::<UInt64Array>();
    let by_key = keys.chain([None]).map(|k| k.map(|k| k as i32)).collect::<Int32Array>();
    let values: ArrayRef = Arc::new(StringArray::from(values));
    let strings: Vec<ArrayRef> = vec![
        Arc::new(some().collect::<StringArray>()),
        Arc::new(some().collect::<LargeStringArray>()),
        Arc::new(some().collect::<StringViewArray>()),
        Arc::new(some().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(DictionaryArray::<UInt64Type>::new(by_value, values.clone())),
        Arc::new(DictionaryArray::<Int32Type>::new(by_key, values)),
    ];
    let binaries: Vec<ArrayRef> = vec![
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(bytes().collect::<LargeBinaryArray>()),
        Arc::new(bytes().collect::<BinaryViewArray>()),
    ];
    (strings, binaries)
}

#[test]
fn strings_compare_in_all_forms() {
    let texts = ["", "a", "ab", "abcdefghijklmnopq", "abcdefghijklmnopr", "b", "ä"];
    let (strings, binaries) = forms(&texts);
    for forms in [&strings, &binaries] {
        for column in forms {
            for literals in forms {
                for (at, text) in texts.iter().enumerate() {
                    let orders: Vec<Ordering> = texts.iter().map(|other| other.cmp(text)).collect();
                    compares(column, &literals.slice(at, 1), &orders);
                }
                assert!(all_ops(column, &literals.slice(7, 1)).iter().all(Vec::is_empty));
                let list = Filter::in_list("x", literals.slice(1, 2));
                assert_eq!(rows(column, &list), [1, 2]);
                assert_eq!(rows(column, &!list), [0, 3, 4, 5, 6]);
            }
            assert_eq!(rows(column, &Filter::starts_with("x", "ab")), [2, 3, 4]);
            assert_eq!(rows(column, &!Filter::starts_with("x", "ab")), [0, 1, 5, 6]);
            assert_eq!(rows(column, &Filter::is_null("x")), [7]);
            // Few rows of a dictionary of many values.
            let part = column.slice(2, 2);
            assert_eq!(rows(&part, &Filter::starts_with("x", "abc")), [1]);
            assert_eq!(rows(&part, &!Filter::starts_with("x", "abc")), [0]);
        }
    }
    let error = refused(&strings[0], &compare(Comparison::Eq, BinaryArray::from(vec![&b"a"[..]])));
    assert!(error.contains("does not compare with"), "{error}");
}

#[test]
fn other_types() {
    use Ordering::{Equal, Greater, Less};
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(false), Some(true), None]));
    compares(&truths, &truths.slice(0, 1), &[Equal, Greater]);
    compares(&truths, &truths.slice(1, 1), &[Less, Equal]);
    assert_eq!(rows(&truths, &Filter::in_list("x", truths.slice(0, 2))), [0, 1]);
    assert_eq!(rows(&truths, &!Filter::in_list("x", truths.slice(0, 1))), [1]);
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    fixed.append_value(b"ab").unwrap();
    fixed.append_value(b"b\0").unwrap();
    fixed.append_null();
    let fixed: ArrayRef = Arc::new(fixed.finish());
    compares(&fixed, &fixed.slice(1, 1), &[Less, Equal]);
    assert_eq!(rows(&fixed, &Filter::in_list("x", fixed.clone())), [0, 1]);
    let months: ArrayRef = Arc::new(IntervalYearMonthArray::from(vec![Some(-1), Some(13), None]));
    compares(&months, &months.slice(0, 1), &[Equal, Greater]);
    let nulls: ArrayRef = Arc::new(NullArray::new(2));
    assert_eq!(rows(&nulls, &Filter::is_null("x")), [0, 1]);
    assert!(rows(&nulls, &!compare(Comparison::Eq, NullArray::new(1))).is_empty());
    let runs: ArrayRef = Arc::new(
        RunArray::<Int32Type>::try_new(
            &Int32Array::from(vec![2, 3]),
            &StringArray::from(vec![None, Some("a")]),
        )
        .unwrap(),
    );
    assert_eq!(rows(&runs, &Filter::is_null("x")), [0, 1]);
    let numbers = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(1), Some(0), Some(0), None]),
        Arc::new(Int64Array::from(vec![5, 7])),
    );
    let numbers: ArrayRef = Arc::new(numbers);
    let six: ArrayRef = Arc::new(Int8Array::from(vec![6]));
    compares(&numbers, &six, &[Greater, Less, Less]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let unsupported = |column: &ArrayRef| {
        let value = column.slice(0, 1);
        let filter = Filter::Compare { column: "x".into(), op: Comparison::Eq, value };
        let error = refused(column, &filter);
        assert!(error.contains("which a scan does not compare"), "{error}");
    };
    assert!(refused(&x, &Filter::Unknown).contains("a scan cannot answer"));
    assert!(refused(&x, &Filter::Constant(false).and(Filter::Unknown)).contains("cannot answer"));
    assert!(refused(&x, &Filter::is_null("y")).contains("no column `y`"));
    for filter in [
        compare(Comparison::Eq, StringArray::from(vec!["1"])),
        compare(Comparison::Eq, StringArray::from(vec![None::<&str>])),
        compare(Comparison::Eq, Float64Array::from(vec![1.0])),
        compare(Comparison::Eq, Int64Array::from(vec![1, 2])),
        compare(Comparison::Eq, Int64Array::new_null(0)),
        compare(Comparison::Eq, Date64Array::from(vec![1])),
        Filter::in_list("x", Arc::new(StringArray::new_null(0))),
        Filter::starts_with("x", "1"),
        Filter::is_true("x"),
    ] {
        assert!(try_rows(&x, &filter).is_err(), "{filter:?}");
    }
    let few = matching(&Filter::is_null("x"), 3, &|_| Ok(x.clone())).unwrap_err().to_string();
    assert!(few.contains("2 values for 3 rows"), "{few}");
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    unsupported(&(Arc::new(lists) as ArrayRef));
    let hours = IntervalDayTimeArray::from(vec![IntervalDayTime::new(0, 3_600_000)]);
    unsupported(&(Arc::new(hours) as ArrayRef));
}

/// The types of numbers, and scales.
const NUMBERS: [(usize, i8); 17] = [
    (0, 0),
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 2),
    (8, -3),
    (9, 1),
    (9, 9),
    (10, 0),
    (10, 20),
    (10, -5),
    (11, 3),
    (11, 19),
];

/// An array of numbers, those that are none of the type left out.
fn numbers((kind, scale): (usize, i8), values: &[Option<i128>]) -> (ArrayRef, Vec<Option<i128>>) {
    fn of<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(
        values: &[Option<i128>],
    ) -> (PrimitiveArray<T>, Vec<Option<i128>>) {
        let fits = |v: &&Option<i128>| v.is_none_or(|v| T::Native::try_from(v).is_ok());
        let values: Vec<_> = values.iter().filter(fits).copied().collect();
        let natives = values.iter().map(|v| v.and_then(|v| T::Native::try_from(v).ok()));
        (natives.collect(), values)
    }
    fn integers<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(
        values: &[Option<i128>],
    ) -> (ArrayRef, Vec<Option<i128>>) {
        let (array, values) = of::<T>(values);
        (Arc::new(array), values)
    }
    fn decimals<T: DecimalType + ArrowPrimitiveType<Native: TryFrom<i128>>>(
        scale: i8,
        values: &[Option<i128>],
    ) -> (ArrayRef, Vec<Option<i128>>) {
        let (array, values) = of::<T>(values);
        (Arc::new(array.with_precision_and_scale(T::MAX_PRECISION, scale).unwrap()), values)
    }
    match kind {
        0 => integers::<Int8Type>(values),
        1 => integers::<Int16Type>(values),
        2 => integers::<Int32Type>(values),
        3 => integers::<Int64Type>(values),
        4 => integers::<UInt8Type>(values),
        5 => integers::<UInt16Type>(values),
        6 => integers::<UInt32Type>(values),
        7 => integers::<UInt64Type>(values),
        8 => decimals::<Decimal32Type>(scale, values),
        9 => decimals::<Decimal64Type>(scale, values),
        10 => decimals::<Decimal128Type>(scale, values),
        _ => {
            let wide = values.iter().map(|v| v.map(i256::from_i128));
            let array: Decimal256Array = wide.collect();
            (Arc::new(array.with_precision_and_scale(76, scale).unwrap()), values.to_vec())
        }
    }
}

#[test]
fn numbers_of_all_types_compare_as_numbers() {
    let mut pool: Vec<Option<i128>> = (-13..=13).map(|n| Some(n * 5)).collect();
    for power in [1, 2, 3, 5, 8, 9, 10, 15, 18, 20, 25, 36] {
        pool.extend([-1, 0, 1].map(|n| Some(10_i128.pow(power) + n)));
        pool.extend([-1, 0, 1].map(|n| Some(n - 10_i128.pow(power))));
    }
    for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
        pool.extend([-1, 0, 1].map(|n| Some((1_i128 << bits) + n)));
        pool.extend([-1, 0, 1].map(|n| Some(n - (1_i128 << bits))));
    }
    pool.extend([None, Some(i128::MAX), Some(i128::MIN)]);
    // All in units of 10^-20.
    let in_common = |value: i128, scale: i8| {
        let factor = i256::from_i128(10).checked_pow((20 - i32::from(scale)) as u32).unwrap();
        i256::from_i128(value).checked_mul(factor).unwrap()
    };
    for column_type in NUMBERS {
        let (column, values) = numbers(column_type, &pool);
        // A slice that starts in the middle of a word.
        let (column, values) = (column.slice(3, column.len() - 4), &values[3..values.len() - 1]);
        for literal_type in NUMBERS {
            let (literals, exact) = numbers(literal_type, &pool);
            let order = |value: i128, literal: i128| {
                in_common(value, column_type.1).cmp(&in_common(literal, literal_type.1))
            };
            let mut some_equal = vec![false; values.len()];
            for (at, literal) in exact.iter().enumerate() {
                let orders: Vec<Option<Ordering>> =
                    values.iter().map(|v| Some(order((*v)?, (*literal)?))).collect();
                let found = all_ops(&column, &literals.slice(at, 1));
                let of = |wanted: fn(Ordering) -> bool| {
                    let rows = 0..orders.len();
                    rows.filter(|row| orders[*row].is_some_and(wanted)).collect::<Vec<_>>()
                };
                let expected = WANTED.map(of);
                assert_eq!(found, expected, "{column_type:?} {literal_type:?} {literal:?}");
                for row in &expected[0] {
                    some_equal[*row] = true;
                }
            }
            let found = rows(&column, &Filter::in_list("x", literals));
            let expected = (0..values.len()).filter(|row| some_equal[*row]);
            assert!(found.into_iter().eq(expected), "{column_type:?} {literal_type:?}");
        }
    }
}
