//! Numbers and strings, one kind to a column.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{PrimitiveArray, StringArray, TimestampMicrosecondArray};

use super::random::Random;
use super::text::Words;
use super::{Columns, Kind};

/// `id` counts up, `code` is random below 5,000, `ts` moves on with jitter, `run` repeats.
pub fn ints(rows: usize, random: &mut Random) -> Columns {
    let code = (0..rows).map(|_| random.below(5_000) as i32);
    let code = PrimitiveArray::<Int32Type>::from_iter_values(code);
    let mut now = 1_700_000_000_000_000_i64;
    let ts = (0..rows).map(|_| {
        now += 1_000_000 + random.below(200_000) as i64 - 100_000;
        now
    });
    let ts = TimestampMicrosecondArray::from_iter_values(ts);
    let (mut value, mut left) = (0, 0);
    let run = (0..rows).map(|_| {
        if left == 0 {
            (value, left) = (random.below(1_000) as i32, 1 + random.below(100));
        }
        left -= 1;
        value
    });
    let run = PrimitiveArray::<Int32Type>::from_iter_values(run);
    let id = PrimitiveArray::<Int64Type>::from_iter_values(0..rows as i64);
    vec![
        ("id", Kind::Whole, Arc::new(id)),
        ("code", Kind::Whole, Arc::new(code)),
        ("ts", Kind::Whole, Arc::new(ts)),
        ("run", Kind::Whole, Arc::new(run)),
    ]
}

/// Integers and words.
pub fn growing(rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 5_000);
    let word = StringArray::from_iter_values((0..rows).map(|_| words.word(random)));
    let mut columns = ints(rows, random);
    columns.push(("word", Kind::Whole, Arc::new(word)));
    columns
}

/// `walk` is a random walk with all its digits, `measure` and `price` have few.
pub fn floats(rows: usize, random: &mut Random) -> Columns {
    let mut at = 100.0;
    let walk = (0..rows).map(|_| {
        at += random.normal();
        at
    });
    let walk = PrimitiveArray::<Float64Type>::from_iter_values(walk);
    let measure = (0..rows).map(|_| ((200.0 + 40.0 * random.normal()).round() / 10.0) as f32);
    let measure = PrimitiveArray::<Float32Type>::from_iter_values(measure);
    let price = (0..rows).map(|_| (random.skewed(100_000) + 99) as f64 / 100.0);
    let price = PrimitiveArray::<Float64Type>::from_iter_values(price);
    vec![
        ("walk", Kind::Whole, Arc::new(walk)),
        ("measure", Kind::Whole, Arc::new(measure)),
        ("price", Kind::Whole, Arc::new(price)),
    ]
}

/// Sentences, URLs, UUIDs, and one of forty categories.
pub fn strings(rows: usize, random: &mut Random) -> Columns {
    let words = Words::new(random, 4_000);
    let sentence = StringArray::from_iter_values((0..rows).map(|_| {
        let mut text = String::new();
        let bytes = 10 + random.below(60) as usize;
        words.fill(random, &mut text, bytes);
        text
    }));
    let url = StringArray::from_iter_values((0..rows).map(|_| {
        let mut text = format!("https://www.{}.example/", words.word(random));
        for _ in 0..1 + random.below(3) {
            text.push_str(words.word(random));
            text.push('/');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "?id={}", random.below(1_000_000));
        text
    }));
    let uuid = StringArray::from_iter_values((0..rows).map(|_| {
        let (high, low) = (random.next(), random.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0xfff,
            low & 0xffff_ffff_ffff
        )
    }));
    let names: Vec<String> = (0..40).map(|i| format!("{}-{i}", words.word(random))).collect();
    let category = (0..rows).map(|_| names[random.skewed(40) as usize].as_str());
    let category = StringArray::from_iter_values(category);
    vec![
        ("sentence", Kind::Whole, Arc::new(sentence)),
        ("url", Kind::Whole, Arc::new(url)),
        ("uuid", Kind::Whole, Arc::new(uuid)),
        ("category", Kind::Whole, Arc::new(category)),
    ]
}
