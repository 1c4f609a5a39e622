//! The bounds of zone maps as numbers that are ordered as the bounds are, for pictures.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

type Half = <Float16Type as ArrowPrimitiveType>::Native;
/// The bounds of each zone, if it has some.
pub type Numbers = Vec<Option<(f64, f64)>>;

/// The least and the greatest values of the zones of some maps, as numbers. None for a map of another type than the first;
/// none at all without maps, and for types that have no place on a line.
pub fn numbers(maps: &[[&ArrayRef; 2]]) -> Option<Vec<Option<Numbers>>> {
    let data_type = maps.first()?[0].data_type();
    let same = |map: &[&ArrayRef; 2]| map.iter().all(|bounds| bounds.data_type() == data_type);
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            let all: Vec<Option<Texts<'_>>> =
                maps.iter().map(|map| texts(map).filter(|_| same(map))).collect();
            let prefix = common_prefix(all.iter().flatten().flatten().flatten().flatten());
            let number = |value: &Option<&[u8]>| value.map(|value| leading(value, prefix));
            let found = |texts: &Texts<'_>| {
                pairs(texts.each_ref().map(|bounds| bounds.iter().map(number).collect()))
            };
            Some(all.iter().map(|texts| texts.as_ref().map(found)).collect())
        }
        _ => {
            let found = |map: &[&ArrayRef; 2]| match same(map) {
                true => Some(Some(pairs([fixed(map[0])?, fixed(map[1])?]))),
                false => Some(None),
            };
            maps.iter().map(found).collect()
        }
    }
}

fn pairs([min, max]: [Vec<Option<f64>>; 2]) -> Numbers {
    min.into_iter().zip(max).map(|(min, max)| min.zip(max)).collect()
}

/// The least and the greatest values of zones.
type Texts<'a> = [Vec<Option<&'a [u8]>>; 2];

fn texts<'a>(map: &[&'a ArrayRef; 2]) -> Option<Texts<'a>> {
    Some([text(map[0])?, text(map[1])?])
}

/// Texts and bytes as bytes.
fn text(array: &ArrayRef) -> Option<Vec<Option<&[u8]>>> {
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

    #[test]
    fn bounds_keep_their_order_as_numbers() {
        let sorted = |array: ArrayRef| {
            let numbers = numbers(&[[&array, &array]]).unwrap().remove(0).unwrap();
            let numbers: Vec<f64> = numbers.into_iter().flatten().map(|(min, _)| min).collect();
            assert!(numbers.len() > 2 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        };
        sorted(Arc::new(Int16Array::from(vec![-300, -1, 0, 7, 300])));
        sorted(Arc::new(UInt64Array::from(vec![0, 5, u64::MAX])));
        sorted(Arc::new(Float64Array::from(vec![-1e300, -0.5, 2.0])));
        sorted(Arc::new(Date32Array::from(vec![-9, 0, 20_000])));
        sorted(Arc::new(Decimal128Array::from(vec![i128::MIN, -5, 0, 1 << 100])));
        sorted(Arc::new(StringArray::from(vec!["word a", "word b", "word é"])));
        let with_null: ArrayRef = Arc::new(Int16Array::from(vec![None, Some(1)]).slice(0, 2));
        let found = numbers(&[[&with_null, &with_null]]).unwrap();
        assert_eq!(found, [Some(vec![None, Some((1.0, 1.0))])]);
    }

    /// Maps of several files share what all their texts begin with; those of other types are left out.
    #[test]
    fn several_maps_are_one_scale() {
        let first: ArrayRef = Arc::new(StringArray::from(vec!["key-10", "key-20"]));
        let second: ArrayRef = Arc::new(StringArray::from(vec!["key-30"]));
        let other: ArrayRef = Arc::new(Int16Array::from(vec![7]));
        let found = numbers(&[[&first, &first], [&other, &other], [&second, &second]]).unwrap();
        let all: Vec<f64> =
            found.iter().flatten().flatten().flatten().map(|(min, _)| *min).collect();
        assert!(all.len() == 3 && all.is_sorted_by(|a, b| a < b), "{all:?}");
        assert_eq!(found[1], None);
        assert_eq!(numbers(&[]), None);
    }
}
