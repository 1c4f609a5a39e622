//! A made-up table of orders, the same for the same seed.
//!
//! The columns are what tables in the wild are made of: a counter, codes, times that mostly
//! grow, a few categories, prices with two decimals and gaps, sentences, links, a struct.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

const STATUS: [&str; 5] = ["delivered", "shipped", "paid", "open", "returned"];
const CITIES: [(&str, &str); 8] = [
    ("Bern", "3011"),
    ("Lyon", "69002"),
    ("Porto", "4050-253"),
    ("Graz", "8010"),
    ("Turku", "20100"),
    ("Ghent", "9000"),
    ("Kraków", "31-042"),
    ("Aarhus", "8000"),
];
const WORDS: [&str; 24] = [
    "please",
    "leave",
    "the",
    "parcel",
    "with",
    "neighbour",
    "behind",
    "door",
    "ring",
    "twice",
    "gift",
    "wrap",
    "blue",
    "paper",
    "call",
    "before",
    "noon",
    "thanks",
    "very",
    "fragile",
    "no",
    "plastic",
    "second",
    "floor",
];
const ITEMS: [&str; 6] = ["lamp", "chair", "teapot", "notebook", "headphones", "rain-jacket"];
/// 2024-01-01T00:00:00Z.
const FIRST_DAY: i32 = 19_723;
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Numbers that look random and never change (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        // The remainder of a division by the length is an index.
        of[self.below(of.len() as u64) as usize]
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Makes the table batch by batch.
#[derive(Debug)]
pub struct Orders {
    random: Random,
    schema: SchemaRef,
    next_row: u64,
    ordered_at: i64,
}

/// The column with the instant of the order.
pub const ORDERED_AT: &str = "ordered_at";

/// Number of the first order; row `n` is order `FIRST_ORDER + n`.
pub const FIRST_ORDER: i64 = 1_000_001;

impl Orders {
    /// The table of a seed, from its first row.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            schema: schema(),
            next_row: 0,
            ordered_at: i64::from(FIRST_DAY) * MICROS_PER_DAY,
        }
    }

    /// Schema of the table.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The next rows.
    pub fn batch(&mut self, rows: usize) -> Result<RecordBatch, ArrowError> {
        let mut columns = Columns::default();
        for _ in 0..rows {
            self.push_row(&mut columns);
        }
        RecordBatch::try_new(self.schema.clone(), columns.finish()?)
    }

    fn push_row(&mut self, columns: &mut Columns) {
        let random = &mut self.random;
        columns.order_id.append_value(FIRST_ORDER + self.next_row as i64);
        self.next_row += 1;

        columns.customer.append_value(format!("C-{:06}", random.below(40_000)));
        self.ordered_at += 40_000_000 + random.below(60_000_000) as i64;
        let jitter = random.below(5_000_000) as i64;
        columns.ordered_at.append_value(self.ordered_at - jitter);
        let unlikely = random.below(100);
        let status = [65, 80, 90, 97].iter().filter(|bound| unlikely >= **bound).count();
        columns.status.append_value(STATUS[status]);

        let cents = 99 + random.below(20_000) * (1 + random.below(5));
        let price = (!random.one_in(20)).then_some(cents as f64 / 100.0);
        columns.price.append_option(price);
        let comment = (!random.one_in(3)).then(|| sentence(random));
        columns.comment.append_option(comment);
        let item = random.pick(&ITEMS);
        let number = random.below(9_000);
        columns.url.append_value(format!("https://shop.example/{item}/{number}?from=mail"));
        columns.is_gift.append_value(random.one_in(8));

        let (city, zip) = random.pick(&CITIES);
        columns.city.append_value(city);
        columns.zip.append_value(zip);
        let day = i32::try_from(self.ordered_at / MICROS_PER_DAY).unwrap_or(FIRST_DAY);
        columns.ship_by.append_value(day.saturating_add(2 + random.below(9) as i32));
    }
}

fn sentence(random: &mut Random) -> String {
    let mut words = String::new();
    let longest = 3 + random.below(18);
    for _ in 0..=random.below(longest) {
        let space = if words.is_empty() { "" } else { " " };
        words.push_str(space);
        words.push_str(random.pick(&WORDS));
    }
    words
}

fn address_fields() -> Fields {
    vec![Field::new("city", DataType::Utf8, false), Field::new("zip", DataType::Utf8, false)].into()
}

fn schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("order_id", DataType::Int64, false),
        Field::new("customer", DataType::Utf8, false),
        Field::new(ORDERED_AT, time, false),
        Field::new("status", DataType::Utf8, false),
        Field::new("price", DataType::Float64, true),
        Field::new("comment", DataType::Utf8, true),
        Field::new("url", DataType::Utf8, false),
        Field::new("is_gift", DataType::Boolean, false),
        Field::new("address", DataType::Struct(address_fields()), false),
        Field::new("ship_by", DataType::Date32, false),
    ]))
}

#[derive(Debug, Default)]
struct Columns {
    order_id: Int64Builder,
    customer: StringBuilder,
    ordered_at: TimestampMicrosecondBuilder,
    status: StringBuilder,
    price: Float64Builder,
    comment: StringBuilder,
    url: StringBuilder,
    is_gift: BooleanBuilder,
    city: StringBuilder,
    zip: StringBuilder,
    ship_by: Date32Builder,
}

impl Columns {
    fn finish(mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let address: Vec<ArrayRef> =
            vec![Arc::new(self.city.finish()), Arc::new(self.zip.finish())];
        Ok(vec![
            Arc::new(self.order_id.finish()),
            Arc::new(self.customer.finish()),
            Arc::new(self.ordered_at.finish().with_timezone("UTC")),
            Arc::new(self.status.finish()),
            Arc::new(self.price.finish()),
            Arc::new(self.comment.finish()),
            Arc::new(self.url.finish()),
            Arc::new(self.is_gift.finish()),
            Arc::new(StructArray::try_new(address_fields(), address, None)?),
            Arc::new(self.ship_by.finish()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};

    #[test]
    fn the_same_seed_makes_the_same_table() {
        let whole = Orders::new(7).batch(500).unwrap();
        let mut orders = Orders::new(7);
        let first = orders.batch(200).unwrap();
        let rest = orders.batch(300).unwrap();
        assert_eq!(first, whole.slice(0, 200));
        assert_eq!(rest, whole.slice(200, 300));
        assert_ne!(Orders::new(8).batch(500).unwrap(), whole);
    }

    #[test]
    fn the_values_are_what_the_names_say() {
        let batch = Orders::new(1).batch(2_000).unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let ids = column("order_id").as_primitive::<Int64Type>().values();
        assert!(ids.iter().enumerate().all(|(row, id)| *id == FIRST_ORDER + row as i64));
        let prices = column("price").as_primitive::<Float64Type>();
        assert!(prices.null_count() > 50 && prices.null_count() < 200);
        assert!(prices.iter().flatten().all(|p| ((p * 100.0).round() / 100.0) == p));
        let comments = column("comment").as_string::<i32>();
        let lengths: Vec<_> = comments.iter().flatten().map(str::len).collect();
        assert!(lengths.iter().min() < Some(&10) && lengths.iter().max() > Some(&60));
    }
}
