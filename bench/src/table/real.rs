//! Tables as they are met: a thousand columns, TPC-H's lineitem, a year of taxi rides.

use std::sync::Arc;

use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, Decimal128Array, PrimitiveArray, StringArray, TimestampMicrosecondArray,
};

use super::random::Random;
use super::text::Words;
use super::{Columns, Kind};

/// A thousand columns.
pub fn wide(rows: usize, random: &mut Random) -> Columns {
    columns(1_000, rows, random)
}

/// Some columns: numbers and short strings in turn.
pub fn columns(count: usize, rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 500);
    let column = |i: usize, random: &mut Random| -> ArrayRef {
        match i % 4 {
            0 => Arc::new(ints(rows, |_| random.below(1_000) as i64)),
            1 => Arc::new(floats(rows, |_| random.normal())),
            2 => Arc::new(codes(rows, |_| random.below(1 << 20) as i32)),
            _ => Arc::new(StringArray::from_iter_values((0..rows).map(|_| words.word(random)))),
        }
    };
    (0..count).map(|i| (wide_name(i), Kind::Whole, column(i, random))).collect()
}

/// Names live as long as the program; they are made once a run.
fn wide_name(i: usize) -> &'static str {
    Box::leak(format!("c{i:03}").into_boxed_str())
}

/// Looks like TPC-H's lineitem.
pub fn lineitem(rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 800);
    let (mut order, mut line, mut lines) = (1_i64, 0_i32, 1_i32);
    let keys: Vec<(i64, i32)> = (0..rows)
        .map(|_| {
            line += 1;
            if line > lines {
                order += 1 + i64::from(random.chance(25)) * 24;
                (line, lines) = (1, 1 + random.below(7) as i32);
            }
            (order, line)
        })
        .collect();
    let quantity: Vec<i128> = (0..rows).map(|_| 1 + random.below(50) as i128).collect();
    let price: Vec<i128> =
        quantity.iter().map(|q| q * (90_000 + random.below(110_000)) as i128).collect();
    let shipped: Vec<i32> = (0..rows).map(|_| 8_036 + random.below(2_526) as i32).collect();
    let commit = shipped.iter().map(|day| day + random.below(60) as i32 - 30).collect::<Vec<_>>();
    let receipt = shipped.iter().map(|day| day + 1 + random.below(30) as i32).collect::<Vec<_>>();
    let returned = receipt.iter().map(|day| match day {
        ..9_298 => *random.pick(&["R", "A"]),
        _ => "N",
    });
    let returned = StringArray::from_iter_values(returned);
    let status = shipped.iter().map(|day| if *day > 9_298 { "O" } else { "F" });
    let status = StringArray::from_iter_values(status);
    const INSTRUCT: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
    const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
    let instruct = StringArray::from_iter_values((0..rows).map(|_| *random.pick(&INSTRUCT)));
    let mode = StringArray::from_iter_values((0..rows).map(|_| *random.pick(&MODES)));
    let comment = StringArray::from_iter_values((0..rows).map(|_| {
        let mut text = String::new();
        let bytes = 8 + random.below(28) as usize;
        words.fill(random, &mut text, bytes);
        text
    }));
    vec![
        ("l_orderkey", Kind::Whole, Arc::new(ints(rows, |i| keys[i].0))),
        ("l_partkey", Kind::Whole, Arc::new(ints(rows, |_| 1 + random.below(200_000) as i64))),
        ("l_suppkey", Kind::Whole, Arc::new(ints(rows, |_| 1 + random.below(10_000) as i64))),
        ("l_linenumber", Kind::Whole, Arc::new(codes(rows, |i| keys[i].1))),
        ("l_quantity", Kind::Whole, money(rows, |i| quantity[i] * 100)),
        ("l_extendedprice", Kind::Whole, money(rows, |i| price[i])),
        ("l_discount", Kind::Whole, money(rows, |_| random.below(11) as i128)),
        ("l_tax", Kind::Whole, money(rows, |_| random.below(9) as i128)),
        ("l_returnflag", Kind::Whole, Arc::new(returned)),
        ("l_linestatus", Kind::Whole, Arc::new(status)),
        ("l_shipdate", Kind::Whole, days(&shipped)),
        ("l_commitdate", Kind::Whole, days(&commit)),
        ("l_receiptdate", Kind::Whole, days(&receipt)),
        ("l_shipinstruct", Kind::Whole, Arc::new(instruct)),
        ("l_shipmode", Kind::Whole, Arc::new(mode)),
        ("l_comment", Kind::Whole, Arc::new(comment)),
    ]
}

/// Looks like the rides of yellow cabs.
pub fn taxi(rows: usize, random: &mut Random) -> Columns {
    let mut now = 1_704_067_200_i64;
    let pickup: Vec<i64> = (0..rows)
        .map(|_| {
            now += random.below(3) as i64;
            (now + random.below(600) as i64) * 1_000_000
        })
        .collect();
    let minutes: Vec<i64> = (0..rows).map(|_| 2 + random.skewed(70) as i64).collect();
    let dropoff =
        (0..rows).map(|i| pickup[i] + (minutes[i] * 60 + random.below(60) as i64) * 1_000_000);
    let dropoff = TimestampMicrosecondArray::from_iter_values(dropoff.collect::<Vec<_>>());
    let miles: Vec<f64> = minutes
        .iter()
        .map(|m| ((*m as f64) * (10.0 + random.unit() * 10.0)).round() / 100.0 + 0.1)
        .map(|miles| (miles * 100.0).round() / 100.0)
        .collect();
    let fare: Vec<f64> = miles.iter().map(|m| ((3.0 + m * 3.5) * 10.0).round() / 10.0).collect();
    let card: Vec<i64> = (0..rows).map(|_| 1 + i64::from(random.chance(25))).collect();
    let tip: Vec<f64> = (0..rows)
        .map(|i| {
            if card[i] == 1 {
                (fare[i] * (15 + random.below(15)) as f64).round() / 100.0
            } else {
                0.0
            }
        })
        .collect();
    let total = |i: usize| ((fare[i] + tip[i] + 4.8) * 100.0).round() / 100.0;
    let passengers = (0..rows).map(|_| (!random.chance(4)).then(|| 1 + random.skewed(6) as i64));
    let passengers = passengers.collect::<PrimitiveArray<Int64Type>>();
    let flag = (0..rows).map(|_| if random.chance(1) { "Y" } else { "N" });
    let flag = StringArray::from_iter_values(flag.collect::<Vec<_>>());
    let pickup = TimestampMicrosecondArray::from_iter_values(pickup);
    vec![
        ("vendor_id", Kind::Whole, Arc::new(codes(rows, |_| 1 + i32::from(random.chance(70))))),
        ("pickup", Kind::Whole, Arc::new(pickup)),
        ("dropoff", Kind::Whole, Arc::new(dropoff)),
        ("passenger_count", Kind::WithNulls, Arc::new(passengers)),
        ("trip_distance", Kind::Whole, Arc::new(floats(rows, |i| miles[i]))),
        ("rate_code", Kind::Whole, Arc::new(ints(rows, |_| 1 + i64::from(random.chance(5))))),
        ("store_and_fwd_flag", Kind::Whole, Arc::new(flag)),
        ("pickup_zone", Kind::Whole, Arc::new(codes(rows, |_| 1 + random.skewed(265) as i32))),
        ("dropoff_zone", Kind::Whole, Arc::new(codes(rows, |_| 1 + random.skewed(265) as i32))),
        ("payment_type", Kind::Whole, Arc::new(ints(rows, |i| card[i]))),
        ("fare_amount", Kind::Whole, Arc::new(floats(rows, |i| fare[i]))),
        ("mta_tax", Kind::Whole, Arc::new(floats(rows, |_| 0.5))),
        ("tip_amount", Kind::Whole, Arc::new(floats(rows, |i| tip[i]))),
        ("total_amount", Kind::Whole, Arc::new(floats(rows, total))),
    ]
}

fn ints(rows: usize, value: impl FnMut(usize) -> i64) -> PrimitiveArray<Int64Type> {
    PrimitiveArray::from_iter_values((0..rows).map(value))
}

fn codes(rows: usize, value: impl FnMut(usize) -> i32) -> PrimitiveArray<Int32Type> {
    PrimitiveArray::from_iter_values((0..rows).map(value))
}

fn floats(rows: usize, value: impl FnMut(usize) -> f64) -> PrimitiveArray<Float64Type> {
    PrimitiveArray::from_iter_values((0..rows).map(value))
}

fn days(values: &[i32]) -> ArrayRef {
    Arc::new(PrimitiveArray::<Date32Type>::from_iter_values(values.iter().copied()))
}

fn money(rows: usize, cents: impl FnMut(usize) -> i128) -> ArrayRef {
    let array = Decimal128Array::from_iter_values((0..rows).map(cents));
    // The type fits every value made here.
    Arc::new(array.with_data_type(arrow_schema::DataType::Decimal128(15, 2)))
}
