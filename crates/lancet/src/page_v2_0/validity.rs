//! Which rows are not null, collected from several runs of rows.

use arrow_buffer::{BooleanBuffer, MutableBuffer, NullBuffer};

use crate::codec::FixedValues;
use crate::error::Result;

/// A bitmap of as many bits.
pub(super) fn bitmap(len: usize, is_set: impl FnMut(usize) -> bool) -> Result<FixedValues> {
    let mut bits = FixedValues::new(1);
    bits.append_bits(&MutableBuffer::collect_bool(len, is_set), 0..len)?;
    Ok(bits)
}

/// A bitmap that exists only once something is null.
#[derive(Debug, Default)]
pub(super) struct Validity {
    pub(super) len: usize,
    pub(super) bits: Option<FixedValues>,
}

impl Validity {
    /// Appends a run; `None` if nothing in it is null.
    pub(super) fn push(&mut self, len: usize, valid: Option<FixedValues>) -> Result<()> {
        match (&mut self.bits, valid) {
            (None, None) => {}
            (Some(bits), None) => bits.push_ones(len)?,
            (Some(bits), Some(valid)) => bits.append_range(&valid, 0..len)?,
            (None, Some(valid)) if self.len == 0 => self.bits = Some(valid),
            (None, Some(valid)) => {
                let mut bits = FixedValues::new(1);
                bits.push_ones(self.len)?;
                bits.append_range(&valid, 0..len)?;
                self.bits = Some(bits);
            }
        }
        self.len = self.len.saturating_add(len);
        Ok(())
    }

    /// The bitmap as Arrow has it.
    pub(super) fn finish(self) -> Option<NullBuffer> {
        let bits = self.bits?;
        let len = bits.len();
        let nulls = NullBuffer::new(BooleanBuffer::new(bits.into_buffer(), 0, len));
        (nulls.null_count() > 0).then_some(nulls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_null_makes_the_bitmap() {
        let mut validity = Validity::default();
        validity.push(3, None).unwrap();
        assert!(validity.bits.is_none());
        let bits = |bits: u8, len| {
            let mut values = FixedValues::new(1);
            values.append_bits(&[bits], 0..len).unwrap();
            Some(values)
        };
        validity.push(2, bits(0b01, 2)).unwrap();
        validity.push(2, None).unwrap();
        validity.push(1, bits(0, 1)).unwrap();
        let nulls = validity.finish().unwrap();
        let seen: Vec<bool> = nulls.iter().collect();
        assert_eq!(seen, [true, true, true, true, false, true, true, false]);
    }
}
