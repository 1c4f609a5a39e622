//! Null slots filled so that they break no pattern.

use crate::codec::Values;

/// Gives null slots of numbers the value before them (the first valid one where none is before):
/// they lengthen runs and cost no bits. Other values keep their zeros.
pub(crate) fn fill_nulls(values: &mut Values, valid: &[bool]) {
    let Values::Fixed(fixed) = values else { return };
    let width = fixed.width_bytes();
    let bytes = fixed.data_mut();
    match width {
        Some(1) => fill::<1>(bytes, valid),
        Some(2) => fill::<2>(bytes, valid),
        Some(4) => fill::<4>(bytes, valid),
        Some(8) => fill::<8>(bytes, valid),
        Some(16) => fill::<16>(bytes, valid),
        _ => {}
    }
}

fn fill<const WIDTH: usize>(bytes: &mut [u8], valid: &[bool]) {
    let values = bytes.as_chunks_mut::<WIDTH>().0;
    let first = valid.iter().position(|valid| *valid);
    let Some(mut last) = first.and_then(|first| values.get(first).copied()) else { return };
    for (value, valid) in values.iter_mut().zip(valid) {
        last = if *valid { *value } else { last };
        *value = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FixedValues;

    #[test]
    fn nulls_repeat_what_was_before() {
        let mut values = Values::Fixed(FixedValues::from_words([0_u16, 5, 0, 0, 6, 0]));
        fill_nulls(&mut values, &[false, true, false, false, true, false]);
        let Values::Fixed(fixed) = &values else { panic!() };
        assert_eq!(fixed.words::<u16>(), [5, 5, 5, 5, 6, 6]);
        fill_nulls(&mut values, &[false; 6]);
        let Values::Fixed(fixed) = &values else { panic!() };
        assert_eq!(fixed.words::<u16>(), [5, 5, 5, 5, 6, 6]);
    }
}
