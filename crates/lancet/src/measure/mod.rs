//! Plain statistics of the values of a page, computed once before a form is chosen.
//!
//! | file | what |
//! |---|---|
//! | `numbers` | widths and runs of fixed-width values |
//! | `distinct` | how many different values there are, estimated from a sample |
//! | `entropy` | what coding single bytes could gain, from a sample |
//! | `nulls` | null slots are given the value before them, so that they break no pattern |

mod distinct;
mod entropy;
mod nulls;
mod numbers;

pub(crate) use distinct::{estimate_distinct, has_more_distinct, hash_bytes};
pub(crate) use entropy::entropy_bytes;
pub(crate) use nulls::fill_nulls;
pub(crate) use numbers::{NumberMeasures, measure_numbers};

use crate::codec::{FixedValues, Values, VariableValues};

/// What a choice needs to know about the values of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measures {
    /// Longest value in bytes; for lists and structs the bytes of one row.
    pub(crate) max_value_bytes: usize,
    /// The first value that is not null, if all that are not null equal it.
    pub(crate) constant: Option<usize>,
    /// Of fixed-width values that are whole words.
    pub(crate) numbers: Option<NumberMeasures>,
}

/// Measures values whose nulls have been filled; `valid` tells which of them are not null.
pub(crate) fn measure(values: &Values, valid: Option<&[bool]>) -> Measures {
    let numbers = match values {
        Values::Fixed(fixed) => measure_numbers(fixed),
        _ => None,
    };
    let first = match valid {
        None => (values.len() > 0).then_some(0),
        Some(valid) => valid.iter().position(|valid| *valid),
    };
    let constant = first.filter(|&first| match values {
        Values::Fixed(fixed) => match numbers {
            // Nulls repeat the value before them: they start no run.
            Some(numbers) => numbers.runs == 1,
            None => is_constant_fixed(fixed, first, valid),
        },
        Values::Variable(variable) => is_constant_variable(variable, first, valid),
        Values::Nothing { .. } | Values::FixedSizeList(_) | Values::Struct { .. } => false,
    });
    Measures { max_value_bytes: max_value_bytes(values), constant, numbers }
}

fn is_constant_fixed(fixed: &FixedValues, first: usize, valid: Option<&[bool]>) -> bool {
    let mut rest = valid_after(first, fixed.len(), valid);
    if fixed.bits() == 1 {
        let bit = fixed.bit(first);
        return rest.all(|i| fixed.bit(i) == bit);
    }
    let value = |i: usize| fixed.bytes(i..i + 1).ok();
    rest.all(|i| value(i) == value(first))
}

fn is_constant_variable(values: &VariableValues, first: usize, valid: Option<&[bool]>) -> bool {
    let value = values.value(first).ok();
    valid_after(first, values.len(), valid).all(|i| values.value(i).ok() == value)
}

fn valid_after(
    first: usize,
    len: usize,
    valid: Option<&[bool]>,
) -> impl Iterator<Item = usize> + '_ {
    let is_valid = move |i: &usize| valid.is_none_or(|v| v.get(*i).copied().unwrap_or(false));
    (first + 1..len).filter(is_valid)
}

fn max_value_bytes(values: &Values) -> usize {
    match values {
        Values::Nothing { .. } => 0,
        Values::Fixed(fixed) => fixed.width_bytes().unwrap_or(0),
        Values::Variable(variable) => variable.max_len(),
        Values::FixedSizeList(lists) => {
            let dimension = usize::try_from(lists.dimension).unwrap_or(usize::MAX);
            max_value_bytes(&lists.items).saturating_mul(dimension)
        }
        Values::Struct { children, .. } => children.iter().map(max_value_bytes).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::ValueType;

    fn strings(values: &[&str]) -> Values {
        let mut out = VariableValues::new(32);
        values.iter().for_each(|value| out.push(value.as_bytes()).unwrap());
        Values::Variable(out)
    }

    fn numbers(values: &[u32]) -> Values {
        Values::Fixed(FixedValues::from_words(values.iter().copied()))
    }

    #[test]
    fn constants_ignore_nulls() {
        assert_eq!(measure(&strings(&["", "a", "", "a"]), None).constant, None);
        let valid = [false, true, false, true];
        assert_eq!(measure(&strings(&["", "a", "", "a"]), Some(&valid)).constant, Some(1));
        let mut values = numbers(&[0, 7, 0, 7]);
        assert_eq!(measure(&values, None).constant, None);
        fill_nulls(&mut values, &valid);
        assert_eq!(measure(&values, Some(&valid)).constant, Some(1));
        assert_eq!(measure(&numbers(&[]), None).constant, None);
    }

    #[test]
    fn booleans_are_measured_bit_by_bit() {
        let mut bits = FixedValues::new(1);
        bits.append_bits(&[0b1110_1111], 0..8).unwrap();
        let mut valid = [true; 8];
        assert_eq!(measure(&Values::Fixed(bits), Some(&valid)).constant, None);
        let mut bits = FixedValues::new(1);
        bits.append_bits(&[0b1110_1111], 0..8).unwrap();
        valid[4] = false;
        assert_eq!(measure(&Values::Fixed(bits), Some(&valid)).constant, Some(0));
    }

    #[test]
    fn the_longest_value() {
        assert_eq!(measure(&strings(&["abc", "", "hello"]), None).max_value_bytes, 5);
        let item = Box::new(ValueType::Fixed { bits: 32 });
        let lists = Values::new(&ValueType::FixedSizeList { dimension: 7, item });
        assert_eq!(measure(&lists, None).max_value_bytes, 28);
    }
}
