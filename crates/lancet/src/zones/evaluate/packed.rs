//! Many values against few, one bit a value.

use std::cmp::Ordering;

use arrow_buffer::{BooleanBuffer, Buffer};

use super::super::filter::Comparison;
use super::place::Place;

/// Lists of more values are searched by halves.
const SHORT_LIST: usize = 8;

/// What values are tested for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test<T> {
    pub(super) kind: Kind<T>,
    /// Whether those that fail are wanted. NaN is neither less than, nor at most, nor equal to a
    /// number, and so is greater, as "not at most".
    pub(super) negated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<T> {
    Never,
    Less(T),
    AtMost(T),
    Equal(T),
    /// Sorted.
    OneOf(Vec<T>),
}

impl<T: Copy + PartialOrd> Test<T> {
    /// A comparison with a literal that stands at some place.
    pub(super) fn comparison(op: Comparison, place: Place<T>) -> Self {
        use Comparison as C;
        let (kind, negated) = match (op, place) {
            (C::Eq, Place::At(value)) => (Kind::Equal(value), false),
            (C::NotEq, Place::At(value)) => (Kind::Equal(value), true),
            (C::Eq, _) => (Kind::Never, false),
            (C::NotEq, _) => (Kind::Never, true),
            (C::Lt, Place::At(value)) => (Kind::Less(value), false),
            (C::GtEq, Place::At(value)) => (Kind::Less(value), true),
            (C::LtEq, Place::At(value)) | (C::Lt | C::LtEq, Place::After(value)) => {
                (Kind::AtMost(value), false)
            }
            (C::Gt, Place::At(value)) | (C::Gt | C::GtEq, Place::After(value)) => {
                (Kind::AtMost(value), true)
            }
            (C::Lt | C::LtEq, Place::BelowAll) | (C::Gt | C::GtEq, Place::AboveAll) => {
                (Kind::Never, false)
            }
            (C::Lt | C::LtEq, Place::AboveAll) | (C::Gt | C::GtEq, Place::BelowAll) => {
                (Kind::Never, true)
            }
        };
        Self { kind, negated }
    }

    /// Whether a value is among some, none of them NaN.
    pub(super) fn one_of(mut list: Vec<T>) -> Self {
        list.sort_by(compare);
        list.dedup();
        Self { kind: Kind::OneOf(list), negated: false }
    }

    /// The values that pass.
    pub(super) fn run<V: Values<T> + ?Sized>(&self, values: &V) -> BooleanBuffer {
        let bits = match &self.kind {
            Kind::Never => BooleanBuffer::new_unset(values.count()),
            Kind::Less(limit) => values.pack(|value| value < *limit),
            Kind::AtMost(limit) => values.pack(|value| value <= *limit),
            Kind::Equal(wanted) => values.pack(|value| value == *wanted),
            Kind::OneOf(list) if list.len() <= SHORT_LIST => {
                values.pack(|value| list.contains(&value))
            }
            Kind::OneOf(list) => {
                values.pack(|value| list.binary_search_by(|item| compare(item, &value)).is_ok())
            }
        };
        if self.negated { !&bits } else { bits }
    }
}

/// NaN, which is in no list, is above all that are.
fn compare<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Less)
}

/// Values, one after the other.
pub(super) trait Values<T> {
    /// How many they are.
    fn count(&self) -> usize;

    /// A bit for each value.
    fn pack(&self, test: impl Fn(T) -> bool) -> BooleanBuffer;
}

/// Bytes first and bits of them second: that way the compiler tests many values at a time.
impl<T: Copy> Values<T> for [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn pack(&self, test: impl Fn(T) -> bool) -> BooleanBuffer {
        let word = |values: &[T]| {
            let mut truths = [0_u8; 64];
            for (truth, value) in truths.iter_mut().zip(values) {
                *truth = test(*value).into();
            }
            low_bits(&truths)
        };
        let words: Vec<u64> = self.chunks(64).map(word).collect();
        BooleanBuffer::new(Buffer::from_vec(words), 0, self.len())
    }
}

/// The bits of bytes that are 0 or 1.
fn low_bits(truths: &[u8; 64]) -> u64 {
    let (eights, _) = truths.as_chunks::<8>();
    let mut bytes = [0_u8; 8];
    for (byte, eight) in bytes.iter_mut().zip(eights) {
        // Moves byte `i` to bit `56 + i`.
        let moved = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
        let [.., top] = moved.to_le_bytes();
        *byte = top;
    }
    u64::from_le_bytes(bytes)
}

/// Values of differing lengths, by their position.
pub(super) struct Bytes<F> {
    pub(super) len: usize,
    pub(super) value: F,
}

impl<'a, F: Fn(usize) -> &'a [u8]> Values<&'a [u8]> for Bytes<F> {
    fn count(&self) -> usize {
        self.len
    }

    fn pack(&self, test: impl Fn(&'a [u8]) -> bool) -> BooleanBuffer {
        BooleanBuffer::collect_bool(self.len, |row| test((self.value)(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_where_values_do() {
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
            let values: Vec<usize> = (0..len).collect();
            let odd = |value: usize| value * value % 7 == 2 || value % 11 == 3;
            let bits = values[..].pack(odd);
            assert_eq!(bits.len(), len);
            assert_eq!(
                bits.iter().collect::<Vec<_>>(),
                values.iter().map(|v| odd(*v)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn short_and_long_lists_find_the_same() {
        let values: Vec<i32> = (-50..50).collect();
        for len in 0..30 {
            let list: Vec<i32> = (0..len).map(|n| n * 37 % 60 - 30).collect();
            let found = Test::one_of(list.clone()).run(&values[..]);
            let expected = values.iter().map(|value| list.contains(value));
            assert!(found.iter().eq(expected), "{list:?}");
        }
    }
}
