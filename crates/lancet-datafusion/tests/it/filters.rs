//! Random filters keep the rows that they keep over a table in memory.

use super::*;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    StringArray, StructArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{not, nullif};
use datafusion::arrow::datatypes::{DataType, Field, Fields};

/// Numbers that are as good as random.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next(from.len() as u64) as usize]
    }
}

/// Some columns are sorted, some clustered, some neither; most have nulls in places.
pub(super) fn table(rows: i64) -> RecordBatch {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut maybe = |n: i64| random.next(10) > 0 || n % 3 == 0;
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let ints: ArrayRef = Arc::new(Int32Array::from_iter(
        (0..rows).map(|n| maybe(n).then_some((n / 100 - 100) as i32)),
    ));
    let floats: ArrayRef = Arc::new(Float64Array::from_iter((0..rows).map(|n| match n % 97 {
        0 if n % 2 == 0 => Some(f64::NAN),
        1 if n > rows / 2 => Some(f64::INFINITY),
        2 => Some(-0.0),
        3 => Some(0.0),
        4 => None,
        _ => Some((n / 50) as f64 / 4.0 - 50.0),
    })));
    // A stretch of rows that are all NaN, and one of nulls.
    let rare: ArrayRef = Arc::new(Float64Array::from_iter((0..rows).map(|n| match n * 4 / rows {
        1 => Some(f64::NAN),
        2 => None,
        _ => Some((n % 10) as f64),
    })));
    let strings: ArrayRef = Arc::new(StringArray::from_iter((0..rows).map(|n| {
        (n % 11 != 0)
            .then(|| format!("{}{}", ["ab", "b", "ba", "c", ""][(n * 5 / rows) as usize], n % 7))
    })));
    let flags: ArrayRef =
        Arc::new(BooleanArray::from_iter((0..rows).map(|n| (n % 13 != 0).then_some(n > rows / 3))));
    let days: ArrayRef =
        Arc::new(Date32Array::from_iter_values((0..rows).map(|n| 8_000 + (n / 10) as i32)));
    let money: ArrayRef = Arc::new(
        Decimal128Array::from_iter(
            (0..rows).map(|n| (n % 17 != 0).then_some(i128::from(n / 7 * 25))),
        )
        .with_precision_and_scale(12, 2)
        .unwrap(),
    );
    let children: Fields =
        vec![Field::new("n", DataType::Int32, true), Field::new("s", DataType::Utf8, true)].into();
    // Values of a struct that is null are null: what lies below it is not kept in files.
    let there = BooleanArray::from_iter((0..rows).map(|n| Some(n * 3 / rows != 1 || n % 4 > 0)));
    let gone = not(&there).unwrap();
    let below = |column: &ArrayRef| nullif(column, &gone).unwrap();
    let pair: ArrayRef = Arc::new(StructArray::new(
        children,
        vec![below(&ints), below(&strings)],
        Some(NullBuffer::new(there.values().clone())),
    ));
    RecordBatch::try_from_iter([
        ("id", ids),
        ("i", ints),
        ("f", floats),
        ("r", rare),
        ("s", strings),
        ("b", flags),
        ("d", days),
        ("m", money),
        ("p", pair),
    ])
    .unwrap()
}

const COMPARISONS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];
const INTS: [&str; 8] = ["0", "-100", "17", "150", "99999999999", "-7.5", "NULL", "2"];
const FLOATS: [&str; 9] =
    ["0.0", "-0.0", "'NaN'::double", "12.25", "-50", "1e300", "NULL", "'Infinity'::double", "9"];
const STRINGS: [&str; 6] = ["'ab3'", "'b'", "''", "'zz'", "NULL", "'c6'"];
const DAYS: [&str; 4] =
    ["date '1992-01-01'", "date '1995-06-17'", "date '2050-01-01'", "'1996-02-03'"];
const MONEY: [&str; 6] = ["0", "12.5", "100.25", "1e2", "123456", "99.999"];
const PATTERNS: [&str; 6] = ["'ab%'", "'b%'", "'%3'", "'c_'", "'%'", "''"];

/// A column with literals that suit it.
fn column(random: &mut Random) -> (&'static str, &'static [&'static str]) {
    match random.next(8) {
        0 => ("i", &INTS),
        1 => ("f", &FLOATS),
        2 => ("r", &FLOATS),
        3 => ("s", &STRINGS),
        4 => ("d", &DAYS),
        5 => ("m", &MONEY),
        6 => ("p['n']", &INTS),
        _ => ("p['s']", &STRINGS),
    }
}

pub(super) fn filter(random: &mut Random, depth: u64) -> String {
    if depth > 0 && random.next(3) > 0 {
        let (a, b) = (filter(random, depth - 1), filter(random, depth - 1));
        return match random.next(5) {
            0 | 1 => format!("({a} AND {b})"),
            2 | 3 => format!("({a} OR {b})"),
            _ => format!("NOT ({a})"),
        };
    }
    let (name, literals) = column(random);
    let (x, y) = (random.pick(literals), random.pick(literals));
    let not = random.pick(&["", "NOT "]);
    match random.next(9) {
        0..=2 => format!("{name} {} {x}", random.pick(&COMPARISONS)),
        3 => format!("{x} {} {name}", random.pick(&COMPARISONS)),
        4 => format!("{name} {not}BETWEEN {x} AND {y}"),
        5 => format!("{name} {not}IN ({x}, {y})"),
        6 => format!("{name} IS {not}NULL"),
        7 => format!("s {not}LIKE {}", random.pick(&PATTERNS)),
        _ => random
            .pick(&[
                "b",
                "NOT b",
                "b IS TRUE",
                "b IS NOT FALSE",
                "b = false",
                "i + 1 > 30",
                "abs(i) < 3",
                "i < f",
                "id % 7 = 3",
                "coalesce(b, true)",
            ])
            .to_owned(),
    }
}

#[tokio::test]
async fn filters_keep_what_they_keep_in_memory() {
    let folder = folder();
    let path = folder.path().join("t.lance");
    let table = table(40_000);
    write(&path, std::slice::from_ref(&table));
    let (ctx, memory) = (session(3), SessionContext::new());
    memory.register_batch("t", table).unwrap();
    let mut random = Random(42);
    let (mut empty, mut full) = (0, 0);
    for _ in 0..300 {
        let filter = filter(&mut random, 2);
        let sql = format!("SELECT id, s FROM t WHERE {filter} ORDER BY id");
        let expected = rows(&memory, &sql).await;
        let found = rows(&ctx, &sql.replace(" t ", &format!(" '{}' ", path.display()))).await;
        assert_eq!(found, expected, "{filter}");
        empty += usize::from(expected.num_rows() == 0);
        full += usize::from(expected.num_rows() == 40_000);
    }
    assert!(empty < 250 && full < 100, "{empty} filters keep nothing, {full} all");
}
