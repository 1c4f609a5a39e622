//! Random columns and filters: no row that matches may be left out.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    DictionaryArray, Float16Array, Float32Array, Float64Array, Int8Array, Int64Array,
    LargeStringArray, NullArray, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, i256};
use half::f16;

use super::check::check;
use super::evaluate::matching;
use super::filter::{Comparison, Filter};
use super::gather::Gatherer;
use super::map::ZoneMap;
use super::prune::prune;
use crate::rows::RowRanges;

/// A value, as far as it compares.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Whole(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

/// How engines order floats.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// NaN above all numbers, zeros equal.
    NanLast,
    Total,
    /// NaN compares with nothing, zeros are equal.
    Ieee,
}

impl Order {
    fn compare(self, a: &Value, b: &Value) -> Option<Ordering> {
        match (a, b) {
            (Value::Whole(a), Value::Whole(b)) => Some(a.cmp(b)),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => match self {
                Self::Total => Some(a.total_cmp(b)),
                Self::Ieee => a.partial_cmp(b),
                Self::NanLast => {
                    Some(a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())))
                }
            },
            _ => panic!("{a:?} and {b:?} do not compare"),
        }
    }

    fn holds(self, op: Comparison, a: &Value, b: &Value) -> bool {
        let order = self.compare(a, b);
        match op {
            Comparison::Eq => order == Some(Ordering::Equal),
            Comparison::NotEq => order != Some(Ordering::Equal),
            Comparison::Lt => order == Some(Ordering::Less),
            Comparison::LtEq => order.is_some_and(Ordering::is_le),
            Comparison::Gt => order == Some(Ordering::Greater),
            Comparison::GtEq => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn of<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }
}

/// Kinds of columns: what makes an array of values, and the values it is made of.
const KINDS: usize = 14;

fn pool(kind: usize) -> Vec<Value> {
    let wholes = |list: &[i128]| list.iter().map(|n| Value::Whole(*n)).collect();
    match kind {
        0 => wholes(&[0, 1]),
        1 => wholes(&[-128, -3, -1, 0, 1, 2, 127]),
        2 => wholes(&[0, 1, 2, u64::MAX.into(), 1 << 53]),
        3..=7 => wholes(&[-5_000, -1, 0, 1, 2, 1_000, 2_000, 1 << 30]),
        8..=10 => {
            let negative_nan = f64::from_bits(0xfff8_0000_0000_0000);
            let inf = f64::INFINITY;
            [-inf, -1.5, -0.0, 0.0, 0.5, 2.0, f64::NAN, negative_nan, inf].map(Value::Float).into()
        }
        _ => {
            let mut texts = ["", "a", "ab", "abc", "b", "ba", "z"].map(str::to_owned).to_vec();
            texts.extend(["a".repeat(64), "a".repeat(65), "a".repeat(70) + "b", "ä".repeat(40)]);
            texts.extend(["\u{10ffff}".repeat(17), "b\u{10ffff}".repeat(20)]);
            let mut bytes: Vec<_> = texts.into_iter().map(String::into_bytes).collect();
            if kind == 13 {
                bytes.extend([vec![0xff; 64], vec![0xff; 66], vec![0; 80]]);
            }
            bytes.into_iter().map(Value::Bytes).collect()
        }
    }
}

fn array(kind: usize, values: &[Option<Value>]) -> ArrayRef {
    let whole = |value: &Option<Value>| match value {
        Some(Value::Whole(number)) => Some(*number),
        _ => None,
    };
    let float = |value: &Option<Value>| match value {
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    };
    let text = |value: &Option<Value>| match value {
        Some(Value::Bytes(bytes)) => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    };
    let values = values.iter();
    match kind {
        0 => Arc::new(values.map(|v| whole(v).map(|n| n > 0)).collect::<BooleanArray>()),
        1 => Arc::new(values.map(|v| whole(v).map(|n| n as i8)).collect::<Int8Array>()),
        2 => Arc::new(values.map(|v| whole(v).map(|n| n as u64)).collect::<UInt64Array>()),
        3 => Arc::new(values.map(|v| whole(v).map(|n| n as i64)).collect::<Int64Array>()),
        4 => Arc::new(values.map(|v| whole(v).map(|n| n as i32)).collect::<Date32Array>()),
        5 => Arc::new(
            values.map(|v| whole(v).map(|n| n as i64)).collect::<TimestampMicrosecondArray>(),
        ),
        6 => {
            let array: Decimal128Array = values.map(whole).collect();
            Arc::new(array.with_precision_and_scale(20, 3).unwrap())
        }
        7 => {
            let array: Decimal256Array = values.map(|v| whole(v).map(i256::from_i128)).collect();
            Arc::new(array.with_precision_and_scale(50, 3).unwrap())
        }
        8 => Arc::new(values.map(|v| float(v).map(f16::from_f64)).collect::<Float16Array>()),
        9 => Arc::new(values.map(|v| float(v).map(|n| n as f32)).collect::<Float32Array>()),
        10 => Arc::new(values.map(float).collect::<Float64Array>()),
        11 => Arc::new(values.map(text).collect::<StringArray>()),
        12 => {
            let texts: Vec<_> = values.map(text).collect();
            let array: DictionaryArray<Int8Type> = texts.iter().map(|t| t.as_deref()).collect();
            Arc::new(array)
        }
        _ => Arc::new(BinaryArray::from_iter(values.map(|v| match v {
            Some(Value::Bytes(bytes)) => Some(bytes.clone()),
            _ => None,
        }))),
    }
}

/// A literal, now and then of another type than the column.
fn literal(kind: usize, random: &mut Random, pool: &[Value]) -> (ArrayRef, Option<Value>) {
    let value = (random.below(20) > 0).then(|| random.of(pool));
    let number = match value {
        Some(Value::Whole(number)) => Some(number),
        _ => None,
    };
    let array: ArrayRef = match (kind, random.below(3), number) {
        (1 | 3, 0, Some(n)) => Arc::new(Int64Array::from(vec![n as i64])),
        (1..=3, 1, Some(n)) => Arc::new(Float64Array::from(vec![n as f64])),
        (5, 0, Some(n)) if n % 1000 == 0 => {
            Arc::new(TimestampMillisecondArray::from(vec![(n / 1000) as i64]))
        }
        (5, 1, Some(n)) => Arc::new(TimestampNanosecondArray::from(vec![n as i64 * 1000])),
        (6 | 7, 0, Some(n)) if n % 1000 == 0 => Arc::new(Int64Array::from(vec![(n / 1000) as i64])),
        (9, 0, _) => array(10, std::slice::from_ref(&value)),
        (11, 0, _) => {
            let array = array(11, std::slice::from_ref(&value));
            let text = array.as_string::<i32>().iter().collect::<LargeStringArray>();
            Arc::new(text)
        }
        (_, 2, None) if value.is_none() => Arc::new(NullArray::new(1)),
        _ => array(kind, std::slice::from_ref(&value)),
    };
    (array, value)
}

/// A column of random rows and the map of its zones.
#[derive(Debug)]
struct Column {
    kind: usize,
    pool: Vec<Value>,
    rows: Vec<Option<Value>>,
    /// The rows, as part of a longer array.
    values: ArrayRef,
    map: Arc<ZoneMap>,
}

fn column(random: &mut Random, num_rows: usize, rows_per_zone: usize) -> Column {
    let kind = random.below(KINDS);
    let pool = pool(kind);
    let nulls = random.of(&[0, 0, 3, 9, 10]);
    let mut rows: Vec<Option<Value>> = Vec::new();
    // Runs of few values, so that zones differ.
    let mut few = pool.clone();
    for _ in 0..num_rows {
        if random.below(4) == 0 {
            few = vec![random.of(&pool), random.of(&pool)];
        }
        rows.push((random.below(10) >= nulls).then(|| random.of(&few)));
    }
    let values = array(kind, &rows);
    // As if the struct around some rows was null.
    let outer: Option<NullBuffer> = (random.below(2) == 0)
        .then(|| (0..num_rows).map(|_| random.below(8) > 0).collect::<Vec<bool>>().into());
    for (row, value) in rows.iter_mut().enumerate() {
        if outer.as_ref().is_some_and(|outer| outer.is_null(row)) {
            *value = None;
        }
    }
    let valid = NullBuffer::union(values.logical_nulls().as_ref(), outer.as_ref());
    let mut zones = Gatherer::new(values.data_type(), rows_per_zone as u32, 64).unwrap();
    let cut = random.below(num_rows + 1);
    for (start, len) in [(0, cut), (cut, num_rows - cut)] {
        let valid = valid.as_ref().map(|valid| valid.slice(start, len));
        zones.push(&values.slice(start, len), valid.as_ref()).unwrap();
    }
    let columns = zones.finish().unwrap();
    // Maps of others have three columns only.
    let columns = &columns[..random.of(&[3, 4, 5])];
    let map = ZoneMap::new(rows_per_zone as u64, num_rows as u64, columns).unwrap();
    let margin = random.below(10);
    let mut padded = vec![Some(random.of(&pool)); margin];
    padded.extend_from_slice(&rows);
    padded.push(Some(random.of(&pool)));
    let values = array(kind, &padded).slice(margin, num_rows);
    Column { kind, pool, rows, values, map: Arc::new(map) }
}

/// What a filter comes to in a row.
type Eval = Box<dyn Fn(Order, usize) -> Option<bool>>;

pub(super) const OPS: [Comparison; 6] = [
    Comparison::Eq,
    Comparison::NotEq,
    Comparison::Lt,
    Comparison::LtEq,
    Comparison::Gt,
    Comparison::GtEq,
];

fn filter(random: &mut Random, columns: &[Column; 2], depth: usize) -> (Filter, Eval) {
    let part = |random: &mut Random| filter(random, columns, depth - 1);
    match random.below(if depth == 0 { 5 } else { 9 }) {
        5 => {
            let (inner, eval) = part(random);
            (!inner, Box::new(move |order, row| eval(order, row).map(|truth| !truth)))
        }
        6 | 7 => {
            let ((a, x), (b, y)) = (part(random), part(random));
            let and: Eval = Box::new(move |order, row| match (x(order, row), y(order, row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            });
            (a.and(b), and)
        }
        8 => {
            let ((a, x), (b, y)) = (part(random), part(random));
            let or: Eval = Box::new(move |order, row| match (x(order, row), y(order, row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            });
            (a.or(b), or)
        }
        leaf => of_column(random, columns, leaf),
    }
}

fn of_column(random: &mut Random, columns: &[Column; 2], node: usize) -> (Filter, Eval) {
    let which = random.below(2);
    let name = ["a", "b.c"][which];
    let Column { kind, pool, rows, .. } = &columns[which];
    let (kind, rows) = (*kind, rows.clone());
    match node {
        0 => (Filter::is_null(name), Box::new(move |_, row| Some(rows[row].is_none()))),
        1 if kind == 0 => {
            let eval = move |_, row: usize| Some(rows[row].as_ref()? == &Value::Whole(1));
            (Filter::is_true(name), Box::new(eval))
        }
        1 if kind >= 11 => {
            let Value::Bytes(mut prefix) = random.of(pool) else { panic!("not text") };
            prefix.truncate(random.below(prefix.len() + 1));
            let filter = Filter::starts_with(name, &prefix);
            let eval = move |_, row: usize| match rows[row].as_ref()? {
                Value::Bytes(bytes) => Some(bytes.starts_with(&prefix)),
                _ => None,
            };
            (filter, Box::new(eval))
        }
        2 => {
            let list: Vec<Option<Value>> = (0..random.below(4))
                .map(|_| (random.below(9) > 0).then(|| random.of(pool)))
                .collect();
            let filter = Filter::in_list(name, array(kind, &list));
            let eval = move |order: Order, row: usize| {
                if list.is_empty() {
                    return Some(false);
                }
                let value = rows[row].as_ref()?;
                let equal = |v: &Value| order.holds(Comparison::Eq, value, v);
                let found = list.iter().flatten().any(equal);
                if !found && list.contains(&None) { None } else { Some(found) }
            };
            (filter, Box::new(eval))
        }
        _ => {
            let op = random.of(&OPS);
            let (array, value) = literal(kind, random, pool);
            let filter = Filter::Compare { column: name.into(), op, value: array };
            let eval = move |order: Order, row: usize| {
                Some(order.holds(op, rows[row].as_ref()?, value.as_ref()?))
            };
            (filter, Box::new(eval))
        }
    }
}

#[test]
fn no_row_that_matches_is_left_out() {
    let mut random = Random(1);
    let (mut kept, mut all) = (0, 0);
    for _ in 0..5_000 {
        let num_rows = 1 + random.below(40);
        let rows_per_zone = 1 + random.below(6);
        let columns = [(); 2].map(|()| column(&mut random, num_rows, rows_per_zone));
        for _ in 0..20 {
            let depth = random.below(4);
            let (filter, eval) = filter(&mut random, &columns, depth);
            let rows = prune(&filter, num_rows as u64, |name| match name {
                "a" => Some(columns[0].map.clone()),
                "b.c" => Some(columns[1].map.clone()),
                _ => None,
            });
            for row in 0..num_rows {
                let survives = rows.contains(row as u64);
                kept += usize::from(survives);
                for order in [Order::NanLast, Order::Total, Order::Ieee] {
                    assert!(
                        survives || eval(order, row) != Some(true),
                        "row {row} of {:?} and {:?} by {rows_per_zone} is lost: {filter:?}",
                        columns[0].rows,
                        columns[1].rows
                    );
                }
            }
            check_evaluation(&filter, &eval, &columns, &rows);
            all += num_rows;
        }
    }
    // Keeping everything would be sound as well.
    assert!(kept * 4 < all * 3, "{kept} of {all} rows are kept");
}

/// Values give the very rows for which a filter that fits is true, all of them in what the maps leave.
fn check_evaluation(filter: &Filter, eval: &Eval, columns: &[Column; 2], kept: &RowRanges) {
    let find = |name: &str| match name {
        "a" => Ok(columns[0].values.clone()),
        "b.c" => Ok(columns[1].values.clone()),
        _ => Err(crate::error::Error::invalid("no such column")),
    };
    let num_rows = columns[0].rows.len();
    let found = matching(filter, num_rows, &find);
    let fits = check(filter, &|name| Ok(find(name)?.data_type().clone()));
    assert_eq!(found.is_ok(), fits.is_ok(), "{filter:?}");
    let Ok(found) = found else { return };
    for row in 0..num_rows {
        let is_true = eval(Order::NanLast, row) == Some(true);
        assert_eq!(found.value(row), is_true, "row {row} of {columns:?}: {filter:?}");
        assert!(!is_true || kept.contains(row as u64));
    }
}

#[test]
fn maps_say_what_columns_hold() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let num_rows = 1 + random.below(40);
        let column = column(&mut random, num_rows, 4);
        let all = column.map.statistics();
        let values: Vec<&Value> = column.rows.iter().flatten().collect();
        assert_eq!(all.null_count, (num_rows - values.len()) as u64);
        let nans = values.iter().filter(|v| matches!(v, Value::Float(f) if f.is_nan())).count();
        if let Some(counted) = all.nan_count {
            assert_eq!(counted, nans as u64);
        }
        assert!(all.max.is_none() || nans == 0);
        let position = |wanted: Ordering| {
            let mut values = values.iter().filter(|v| !matches!(v, Value::Float(f) if f.is_nan()));
            let first = values.next()?;
            Some(values.fold(first, |best, value| {
                if Order::Ieee.compare(value, best) == Some(wanted) { value } else { best }
            }))
        };
        for (bound, wanted) in [(&all.min, Ordering::Less), (&all.max, Ordering::Greater)] {
            let Some((bound, best)) = bound.as_ref().zip(position(wanted)) else { continue };
            let kind = if column.kind == 12 { 11 } else { column.kind };
            let best = array(kind, &[Some((*best).clone())]);
            if all.exact && !(8..=10).contains(&kind) {
                assert_eq!(bound, &best, "{:?}", column.rows);
            } else if kind == 10 {
                let number = |a: &ArrayRef| a.as_primitive::<Float64Type>().value(0);
                assert_eq!(number(bound), number(&best));
            }
        }
    }
}
