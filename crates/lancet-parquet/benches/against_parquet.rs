//! Every codec beside that of the `parquet` crate, on the same values, in one run.
//!
//! ```text
//! cargo bench -p lancet-parquet [-- WORDS]     only rows that contain one of the words
//! ```
//!
//! Rounds of both alternate, so that a machine that is busy for a while is so for both. Shown is the
//! quickest round of each, in nanoseconds a value, and how many times as long the `parquet` crate takes:
//! what else runs can only add to a round.
//! PLAIN INT32, INT64, FLOAT and DOUBLE are one copy of memory on both sides: they differ by where the
//! memory lies.
//!
//! Each side gets the values in its own form, made before the clock runs: this crate slices, or offsets and
//! bytes; the other `&[T]`, for byte arrays `&[ByteArray]`. Decoders of both fill memory that was
//! allocated before; encoders of both make a new page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lancet_parquet::plain::{Fixed, Int96};
use lancet_parquet::{
    ByteArrays, Integer, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};
use parquet::basic::{Encoding, Type};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96 as TheirInt96, Int96Type,
};
use parquet::encodings::decoding::get_decoder;
use parquet::encodings::encoding::get_encoder;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type as SchemaType};

/// Values of a page: what the `parquet` crate puts into one by default.
const VALUES: usize = 20_000;
/// How long one row of the table takes to measure, about.
const TIME: Duration = Duration::from_millis(1500);

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    println!(
        "{:<64} {:>9} {:>9} {:>7}",
        "ns a value, quickest round", "lancet", "parquet", "times"
    );
    let bench = Bench { words, times: RefCell::default() };
    plain_values(&bench);
    packed_integers(&bench);
    byte_arrays(&bench);
    println!("\ngeometric means");
    for (name, logarithms) in bench.times.into_inner() {
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        println!("{name:<84} {mean:>7.2}");
    }
}

struct Bench {
    words: Vec<String>,
    /// Logarithms of the last column, for each encoding and direction.
    times: RefCell<BTreeMap<String, Vec<f64>>>,
}

impl Bench {
    /// Measures both in turn and prints a row.
    fn row(&self, name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
        if !self.words.is_empty() && !self.words.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        let mut times = (f64::INFINITY, f64::INFINITY);
        let start = Instant::now();
        while start.elapsed() < TIME {
            times.0 = times.0.min(time(&mut ours));
            times.1 = times.1.min(time(&mut theirs));
        }
        let (ours, theirs) = (times.0, times.1);
        println!("{name:<64} {ours:>9.3} {theirs:>9.3} {:>7.2}", theirs / ours);
        let (encoding, rest) = name.split_once(' ').unwrap();
        let group = format!("{encoding} {}", rest.rsplit(' ').next().unwrap());
        self.times.borrow_mut().entry(group).or_default().push((theirs / ours).ln());
    }

    /// Encodes and decodes values with both.
    fn codec<T: DataType>(
        &self,
        name: &str,
        (encoding, len): (Encoding, i32),
        theirs: &[T::T],
        mut encode: impl FnMut(&mut Vec<u8>),
        mut decode: impl FnMut(&[u8]),
    ) {
        let column = column(T::get_physical_type(), len);
        let mut page = vec![];
        encode(&mut page);
        let mut encoder = get_encoder::<T>(encoding, &column).unwrap();
        encoder.put(theirs).unwrap();
        let their_page = encoder.flush_buffer().unwrap();
        assert_eq!(page, their_page, "{name}");

        self.row(
            &format!("{encoding} {name} encode"),
            || {
                let mut page = Vec::new();
                encode(&mut page);
                black_box(page);
            },
            || {
                encoder.put(black_box(theirs)).unwrap();
                black_box(encoder.flush_buffer().unwrap());
            },
        );
        let mut decoder = get_decoder::<T>(column, encoding).unwrap();
        let mut values = vec![T::T::default(); theirs.len()];
        self.row(
            &format!("{encoding} {name} decode"),
            // The same bytes in the same place: where they lie changes what a copy costs.
            || decode(black_box(&their_page)),
            || {
                decoder.set_data(their_page.clone(), theirs.len()).unwrap();
                assert_eq!(decoder.get(&mut values).unwrap(), theirs.len());
                black_box(&mut values);
            },
        );
    }
}

fn plain_values(bench: &Bench) {
    let random: Vec<i64> = noise().take(VALUES).collect();
    fixed::<Int32Type, i32>(bench, "INT32", &random.iter().map(|v| *v as i32).collect::<Vec<_>>());
    fixed::<Int64Type, i64>(bench, "INT64", &random);
    fixed::<FloatType, f32>(bench, "FLOAT", &random.iter().map(|v| *v as f32).collect::<Vec<_>>());
    fixed::<DoubleType, f64>(
        bench,
        "DOUBLE",
        &random.iter().map(|v| *v as f64).collect::<Vec<_>>(),
    );

    let theirs: Vec<TheirInt96> =
        random.iter().map(|v| vec![*v as u32, (*v >> 32) as u32, 7].into()).collect();
    let ours: Vec<Int96> = random
        .iter()
        .map(|v| {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&v.to_le_bytes());
            bytes[8] = 7;
            Int96(bytes)
        })
        .collect();
    let mut out = vec![Int96::default(); VALUES];
    bench.codec::<Int96Type>(
        "INT96",
        (Encoding::PLAIN, -1),
        &theirs,
        |page| plain::encode(black_box(&ours), page),
        |page| {
            plain::decode(page, &mut out).unwrap();
            black_box(&mut out);
        },
    );

    let booleans: Vec<bool> = random.iter().map(|v| v & 1 == 1).collect();
    let mut out = vec![false; VALUES];
    bench.codec::<BoolType>(
        "BOOLEAN",
        (Encoding::PLAIN, -1),
        &booleans,
        |page| plain::encode_booleans(black_box(&booleans), page),
        |page| {
            plain::decode_booleans(page, &mut out).unwrap();
            black_box(&mut out);
        },
    );
}

fn fixed<T: DataType<T = V>, V: Fixed>(bench: &Bench, name: &str, values: &[V]) {
    let mut out = vec![V::default(); VALUES];
    bench.codec::<T>(
        name,
        (Encoding::PLAIN, -1),
        values,
        |page| plain::encode(black_box(values), page),
        |page| {
            plain::decode(page, &mut out).unwrap();
            black_box(&mut out);
        },
    );
}

fn packed_integers(bench: &Bench) {
    let random: Vec<i64> = noise().take(VALUES).collect();
    let steps = |most: i64| -> Vec<i64> {
        let sum = |at: &mut i64, step: &i64| {
            *at = at.wrapping_add(step.rem_euclid(most));
            Some(*at)
        };
        random.iter().scan(1_000, sum).collect()
    };
    let kinds = [
        ("constant steps", steps(1)),
        ("steps below 4", steps(4)),
        ("steps below 1000", steps(1_000)),
        ("numbers below 2^20", random.iter().map(|v| v.rem_euclid(1 << 20)).collect()),
        ("random", random),
    ];
    for (kind, values) in &kinds {
        let narrow: Vec<i32> = values.iter().map(|v| *v as i32).collect();
        packed::<Int32Type, i32>(bench, &format!("INT32 {kind}"), &narrow);
        packed::<Int64Type, i64>(bench, &format!("INT64 {kind}"), values);
    }
}

fn packed<T: DataType<T = V>, V: Integer>(bench: &Bench, name: &str, values: &[V]) {
    let mut out = vec![V::default(); VALUES];
    bench.codec::<T>(
        name,
        (Encoding::DELTA_BINARY_PACKED, -1),
        values,
        |page| delta_binary_packed::encode(black_box(values), page),
        |page| {
            delta_binary_packed::decode(page, &mut out).unwrap();
            black_box(&mut out);
        },
    );
}

fn byte_arrays(bench: &Bench) {
    let random: Vec<i64> = noise().take(VALUES).collect();
    let mut sorted: Vec<String> = random
        .iter()
        .map(|v| format!("https://example.com/item/{}", v.rem_euclid(100_000)))
        .collect();
    sorted.sort();
    let kinds = [
        (
            "words",
            random
                .iter()
                .map(|v| "abcdefghijkl"[..(v.rem_euclid(12)) as usize].to_owned())
                .collect(),
        ),
        ("sorted addresses", sorted),
        ("hundred bytes", random.iter().map(|v| format!("{v:0100}")).collect()),
    ];
    for (kind, values) in &kinds {
        let ours: ByteArrays = values.iter().map(String::as_bytes).collect();
        let theirs: Vec<ByteArray> = values.iter().map(|v| v.as_str().into()).collect();
        let name = format!("BYTE_ARRAY {kind}");
        let mut out = ByteArrays::new();
        bench.codec::<ByteArrayType>(
            &name,
            (Encoding::PLAIN, -1),
            &theirs,
            |page| plain::encode_byte_arrays(black_box(ours.view()), page),
            |page| {
                out.clear();
                plain::decode_byte_arrays(page, VALUES, &mut out).unwrap();
                black_box(&mut out);
            },
        );
        bench.codec::<ByteArrayType>(
            &name,
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, -1),
            &theirs,
            |page| delta_length_byte_array::encode(black_box(ours.view()), page),
            |page| {
                out.clear();
                delta_length_byte_array::decode(page, VALUES, &mut out).unwrap();
                black_box(&mut out);
            },
        );
        bench.codec::<ByteArrayType>(
            &name,
            (Encoding::DELTA_BYTE_ARRAY, -1),
            &theirs,
            |page| delta_byte_array::encode(black_box(ours.view()), page),
            |page| {
                out.clear();
                delta_byte_array::decode(page, VALUES, 1 << 30, &mut out).unwrap();
                black_box(&mut out);
            },
        );
    }
    fixed_len(bench, &random);
}

fn fixed_len(bench: &Bench, random: &[i64]) {
    let ours: Vec<u8> = random
        .iter()
        .flat_map(|v| u128::from(v.rem_euclid(1 << 20).cast_unsigned()).to_be_bytes())
        .collect();
    let theirs: Vec<FixedLenByteArray> =
        ours.chunks(16).map(|value| ByteArray::from(value.to_vec()).into()).collect();
    let mut out = vec![0; ours.len()];
    bench.codec::<FixedLenByteArrayType>(
        "FIXED_LEN_BYTE_ARRAY(16)",
        (Encoding::PLAIN, 16),
        &theirs,
        |page| plain::encode_fixed_len(black_box(&ours), page),
        |page| {
            // Decoding borrows from the page; the copy makes it the same work.
            out.copy_from_slice(plain::decode_fixed_len(page, 16, VALUES).unwrap());
            black_box(&mut out);
        },
    );
    let mut out = vec![];
    bench.codec::<FixedLenByteArrayType>(
        "FIXED_LEN_BYTE_ARRAY(16)",
        (Encoding::DELTA_BYTE_ARRAY, 16),
        &theirs,
        |page| delta_byte_array::encode_fixed_len(black_box(&ours), 16, page).unwrap(),
        |page| {
            out.clear();
            delta_byte_array::decode_fixed_len(page, VALUES, 16, &mut out).unwrap();
            black_box(&mut out);
        },
    );
}

fn column(physical: Type, len: i32) -> ColumnDescPtr {
    let leaf = SchemaType::primitive_type_builder("c", physical).with_length(len).build().unwrap();
    Arc::new(ColumnDescriptor::new(Arc::new(leaf), 0, 0, ColumnPath::new(vec!["c".into()])))
}

/// Numbers without a pattern, the same in every run.
fn noise() -> impl Iterator<Item = i64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).cast_signed()
    })
}

/// Nanoseconds a value of one round, which is some calls, so that the clock does not count.
fn time(call: &mut impl FnMut()) -> f64 {
    const CALLS: u32 = 2;
    let start = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS) / VALUES as f64
}
