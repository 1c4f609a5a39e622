//! Zone maps as pictures: the band between the least and the greatest value of every zone.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use lancet::ZoneMap;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The heights of a band chart.
pub const HEIGHT: f64 = 1000.0;

/// What the zone map of a column shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Zones {
    pub num_zones: usize,
    pub rows_per_zone: u64,
    /// Zones, or several together: lower and upper bound between 0 and [`HEIGHT`], if they are known, and the share of
    /// nulls in per cent.
    pub bands: Vec<Band>,
    /// How the zones lie.
    pub order: Order,
    /// The share of the zones that a filter for one value has to read, on average, between 0 and 1.
    pub read_share: f64,
}

/// One zone, or several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    pub bounds: Option<(f64, f64)>,
    pub null_share: f64,
}

/// How the values of a column lie in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
    Constant,
    Clustered,
    Random,
    /// There is but one zone, or bounds are not known.
    Unknown,
}

impl Order {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascending => "sorted, ascending",
            Self::Descending => "sorted, descending",
            Self::Constant => "one value",
            Self::Clustered => "clustered",
            Self::Random => "in no order",
            Self::Unknown => "too few zones to tell",
        }
    }
}

impl Zones {
    /// The chart of a zone map, with at most `most` bands. None for types that have no place on a line.
    pub fn new(map: &ZoneMap, most: usize) -> Option<Self> {
        let (min, max) = numbers(map.min(), map.max())?;
        let bounds: Vec<Option<(f64, f64)>> =
            min.iter().zip(&max).map(|(min, max)| (*min).zip(*max)).collect();
        let known = bounds.iter().flatten();
        let low = known.clone().map(|(min, _)| *min).fold(f64::INFINITY, f64::min);
        let high = known.map(|(_, max)| *max).fold(f64::NEG_INFINITY, f64::max);
        let height = |value: f64| match high > low {
            true => ((value - low) / (high - low) * HEIGHT).clamp(0.0, HEIGHT),
            false => HEIGHT / 2.0,
        };
        let zones: Vec<Band> = bounds
            .iter()
            .enumerate()
            .map(|(zone, bounds)| {
                let rows = map.rows(zone);
                let nulls = f64::from(map.null_counts().value(zone));
                Band {
                    bounds: bounds.map(|(min, max)| (height(min), height(max))),
                    null_share: 100.0 * nulls / (rows.end - rows.start).max(1) as f64,
                }
            })
            .collect();
        Some(Self {
            num_zones: map.num_zones(),
            rows_per_zone: map.rows_per_zone(),
            order: order(&zones, high > low),
            read_share: read_share(&zones),
            bands: together(&zones, most),
        })
    }
}

/// How the zones lie.
fn order(zones: &[Band], differs: bool) -> Order {
    let bounds: Vec<(f64, f64)> = zones.iter().filter_map(|zone| zone.bounds).collect();
    if bounds.is_empty() {
        return Order::Unknown;
    }
    if !differs {
        return Order::Constant;
    }
    if bounds.len() < 2 {
        return Order::Unknown;
    }
    let pairs = || bounds.iter().zip(bounds.iter().skip(1));
    if pairs().all(|(a, b)| a.1 <= b.0) {
        return Order::Ascending;
    }
    if pairs().all(|(a, b)| a.0 >= b.1) {
        return Order::Descending;
    }
    // Of values in no order every zone has nearly all.
    match read_share(zones) {
        share if share < 0.5 => Order::Clustered,
        _ => Order::Random,
    }
}

/// The share of zones that hold the middle of a zone, on average.
fn read_share(zones: &[Band]) -> f64 {
    let bounds: Vec<(f64, f64)> = zones.iter().filter_map(|zone| zone.bounds).collect();
    if bounds.is_empty() {
        return 0.0;
    }
    // At most some of the zones are asked for, so that very many do not take for ever.
    let step = bounds.len().div_ceil(500);
    let asked: Vec<f64> =
        bounds.iter().step_by(step).map(|(low, high)| low.midpoint(*high)).collect();
    let hits =
        |value: &f64| bounds.iter().filter(|(low, high)| low <= value && value <= high).count();
    let all: usize = asked.iter().map(hits).sum();
    all as f64 / (asked.len() * zones.len()) as f64
}

/// Neighbours put together, so that there are at most `most`.
fn together(zones: &[Band], most: usize) -> Vec<Band> {
    let size = zones.len().div_ceil(most.max(1)).max(1);
    let join = |some: &[Band]| {
        let bounds = some.iter().filter_map(|band| band.bounds);
        Band {
            bounds: bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            null_share: some.iter().map(|band| band.null_share).sum::<f64>()
                / some.len().max(1) as f64,
        }
    };
    zones.chunks(size).map(join).collect()
}

/// A number for each zone, if it has a bound.
type Numbers = Vec<Option<f64>>;

/// Bounds as numbers that are ordered as they are.
fn numbers(min: &ArrayRef, max: &ArrayRef) -> Option<(Numbers, Numbers)> {
    let both = match min.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            let (min, max) = (bytes(min)?, bytes(max)?);
            let prefix = common_prefix(min.iter().chain(&max).flatten());
            let number = |value: &Option<&[u8]>| value.map(|value| leading(value, prefix));
            (min.iter().map(number).collect(), max.iter().map(number).collect())
        }
        _ => (fixed(min)?, fixed(max)?),
    };
    Some(both)
}

fn bytes(array: &ArrayRef) -> Option<Vec<Option<&[u8]>>> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)).collect(),
        DataType::LargeUtf8 => {
            array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)).collect()
        }
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        _ => return None,
    })
}

/// What all values begin with.
fn common_prefix<'a>(mut values: impl Iterator<Item = &'a &'a [u8]>) -> usize {
    let Some(first) = values.next() else { return 0 };
    let shared = |other: &&[u8]| first.iter().zip(other.iter()).take_while(|(a, b)| a == b).count();
    values.map(shared).min().unwrap_or(first.len())
}

/// The eight bytes behind the prefix, the first as the most significant.
fn leading(value: &[u8], prefix: usize) -> f64 {
    let mut word = [0; 8];
    let rest = value.get(prefix..).unwrap_or_default();
    word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(word) as f64
}

/// Values of fixed width.
fn fixed(array: &ArrayRef) -> Option<Vec<Option<f64>>> {
    use DataType as D;
    let data_type = array.data_type();
    if *data_type == D::Boolean {
        let values = array.as_boolean();
        return Some(values.iter().map(|value| value.map(|v| f64::from(u8::from(v)))).collect());
    }
    let width = data_type.primitive_width().filter(|width| *width <= 16)?;
    if matches!(data_type, D::Interval(_)) {
        return None;
    }
    let data = array.to_data();
    let values = data.buffers().first()?.as_slice().chunks_exact(width).skip(data.offset());
    let number = |bytes: &[u8]| -> Option<f64> {
        Some(match data_type {
            D::Float16 => Half::from_le_bytes(bytes.try_into().ok()?).to_f64(),
            D::Float32 => f32::from_le_bytes(bytes.try_into().ok()?).into(),
            D::Float64 => f64::from_le_bytes(bytes.try_into().ok()?),
            _ => {
                let is_unsigned = data_type.is_unsigned_integer();
                let is_negative = !is_unsigned && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
                let mut word = [if is_negative { 0xff } else { 0 }; 16];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                i128::from_le_bytes(word) as f64
            }
        })
    };
    let value = |(row, bytes): (usize, &[u8])| {
        data.is_valid(row).then(|| number(bytes)).flatten().filter(|value| value.is_finite())
    };
    Some(values.take(data.len()).enumerate().map(value).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Date32Array, Decimal128Array, Float64Array, Int16Array, StringArray, UInt64Array,
    };

    use super::*;

    fn bands(bounds: &[(f64, f64)]) -> Vec<Band> {
        bounds.iter().map(|b| Band { bounds: Some(*b), null_share: 0.0 }).collect()
    }

    #[test]
    fn orders_are_told() {
        let ascending: Vec<_> = (0..10).map(|i| (f64::from(i), f64::from(i + 1))).collect();
        let descending: Vec<_> = ascending.iter().rev().copied().collect();
        let random = vec![(0.0, 10.0); 10];
        let clustered: Vec<_> =
            (0..10).map(|i| (f64::from(i % 5), f64::from(i % 5) + 0.5)).collect();
        assert_eq!(order(&bands(&ascending), true), Order::Ascending);
        assert_eq!(order(&bands(&descending), true), Order::Descending);
        assert_eq!(order(&bands(&random), true), Order::Random);
        assert_eq!(order(&bands(&clustered), true), Order::Clustered);
        assert_eq!(order(&bands(&random), false), Order::Constant);
        assert_eq!(order(&bands(&random[..1]), true), Order::Unknown);
        assert!((read_share(&bands(&random)) - 1.0).abs() < 1e-9);
        assert!(read_share(&bands(&ascending)) < 0.2);
    }

    #[test]
    fn bounds_keep_their_order_as_numbers() {
        let sorted = |array: ArrayRef| {
            let (numbers, _) = numbers(&array, &array).unwrap();
            let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
            assert!(numbers.len() > 2 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        };
        sorted(Arc::new(Int16Array::from(vec![-300, -1, 0, 7, 300])));
        sorted(Arc::new(UInt64Array::from(vec![0, 5, u64::MAX])));
        sorted(Arc::new(Float64Array::from(vec![-1e300, -0.5, 2.0])));
        sorted(Arc::new(Date32Array::from(vec![-9, 0, 20_000])));
        sorted(Arc::new(Decimal128Array::from(vec![i128::MIN, -5, 0, 1 << 100])));
        sorted(Arc::new(StringArray::from(vec!["word a", "word b", "word é"])));
        let with_null: ArrayRef = Arc::new(Int16Array::from(vec![None, Some(1)]).slice(0, 2));
        assert_eq!(numbers(&with_null, &with_null).unwrap().0, [None, Some(1.0)]);
    }

    #[test]
    fn bands_are_put_together() {
        let zones = bands(&[(0.0, 1.0), (4.0, 5.0), (2.0, 3.0)]);
        let two = together(&zones, 2);
        assert_eq!(two.len(), 2);
        assert_eq!(two[0].bounds, Some((0.0, 5.0)));
        assert_eq!(together(&zones, 9).len(), 3);
        assert!(together(&[], 5).is_empty());
    }
}
