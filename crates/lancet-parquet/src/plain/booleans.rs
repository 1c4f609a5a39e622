//! Values of one bit.

use crate::error::{Result, Rule};

/// Appends booleans.
pub fn encode_booleans(values: &[bool], out: &mut Vec<u8>) {
    let (bytes, rest) = values.as_chunks::<8>();
    out.extend(bytes.iter().map(packed));
    if !rest.is_empty() {
        let mut last = [false; 8];
        for (place, value) in last.iter_mut().zip(rest) {
            *place = *value;
        }
        out.push(packed(&last));
    }
}

/// Decodes all booleans of a page, as many as there are places; returns how many bytes they took.
pub fn decode_booleans(bytes: &[u8], values: &mut [bool]) -> Result<usize> {
    decode_booleans_range(bytes, 0, values)?;
    Ok(values.len().div_ceil(8))
}

/// Decodes the booleans from `start` on, as many as there are places.
pub fn decode_booleans_range(bytes: &[u8], start: usize, values: &mut [bool]) -> Result<()> {
    let complete = || Rule::Complete.broken(bytes.len());
    let end = start.checked_add(values.len()).ok_or_else(complete)?;
    let bytes = bytes.get(start / 8..end.div_ceil(8)).ok_or_else(complete)?;
    let in_first = start % 8;
    let (bytes, values) = match bytes.split_first() {
        Some((first, rest)) if in_first > 0 => {
            let here = 8_usize.saturating_sub(in_first).min(values.len());
            let (now, later) = values.split_at_mut(here);
            now.copy_from_slice(
                unpacked(*first)
                    .get(in_first..)
                    .and_then(|b| b.get(..here))
                    .ok_or_else(complete)?,
            );
            (rest, later)
        }
        _ => (bytes, values),
    };
    let (whole, part) = values.as_chunks_mut::<8>();
    for (places, byte) in whole.iter_mut().zip(bytes) {
        *places = unpacked(*byte);
    }
    if let Some(last) = bytes.get(whole.len()) {
        for (place, value) in part.iter_mut().zip(unpacked(*last)) {
            *place = value;
        }
    }
    Ok(())
}

/// Eight booleans in a byte. The product moves byte `i` of the word, which is 0 or 1, to bit `56 + i`;
/// no two products meet in one bit.
#[inline(always)]
fn packed(values: &[bool; 8]) -> u8 {
    let word = u64::from_le_bytes(values.map(u8::from));
    word.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes()[7]
}

#[inline(always)]
fn unpacked(byte: u8) -> [bool; 8] {
    [1, 2, 4, 8, 16, 32, 64, 128].map(|bit: u8| byte & bit != 0)
}
