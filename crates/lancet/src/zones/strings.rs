//! Bounds of strings and binaries, cut where they are long.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths of strings in memory"
)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::gather::{Bounds, FoundBounds, unexpected};
use crate::error::{Error, Result};

/// Bounds of strings, or of binaries.
#[derive(Debug)]
pub(super) struct Strings {
    data_type: DataType,
    /// Bounds are cut after so many bytes.
    bound_bytes: usize,
    min: Vec<Option<Vec<u8>>>,
    max: Vec<Option<Vec<u8>>>,
    exact: Vec<bool>,
    /// The least and the greatest string of the zone that is open, or a little more of them than is kept.
    open: Option<(Vec<u8>, Vec<u8>)>,
}

impl Strings {
    pub(super) fn new(data_type: &DataType, bound_bytes: usize) -> Self {
        let (min, max, exact) = (Vec::new(), Vec::new(), Vec::new());
        Self { data_type: data_type.clone(), bound_bytes, min, max, exact, open: None }
    }

    fn is_text(&self) -> bool {
        matches!(self.data_type, DataType::Utf8 | DataType::LargeUtf8)
    }

    /// Takes strings: `value` finds them by number.
    fn widen<'a>(
        &mut self,
        len: usize,
        valid: Option<&NullBuffer>,
        value: impl Fn(usize) -> &'a [u8],
    ) {
        let found = match valid {
            Some(valid) => extremes(valid.valid_indices().map(value)),
            None => extremes((0..len).map(value)),
        };
        let Some((low, high)) = found else { return };
        // More is not needed to cut them where they have to be cut.
        let kept = |value: &'a [u8]| value.get(..=self.bound_bytes).unwrap_or(value);
        let (low, high) = (kept(low), kept(high));
        match &mut self.open {
            None => self.open = Some((low.to_vec(), high.to_vec())),
            Some((known_low, known_high)) => {
                if low < known_low.as_slice() {
                    low.clone_into(known_low);
                }
                if high > known_high.as_slice() {
                    high.clone_into(known_high);
                }
            }
        }
    }
}

impl Bounds for Strings {
    fn add(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()> {
        let len = values.len();
        if let Some(array) = values.as_string_opt::<i32>() {
            self.widen(len, valid, |i| array.value(i).as_bytes());
        } else if let Some(array) = values.as_string_opt::<i64>() {
            self.widen(len, valid, |i| array.value(i).as_bytes());
        } else if let Some(array) = values.as_string_view_opt() {
            self.widen(len, valid, |i| array.value(i).as_bytes());
        } else if let Some(array) = values.as_binary_opt::<i32>() {
            self.widen(len, valid, |i| array.value(i));
        } else if let Some(array) = values.as_binary_opt::<i64>() {
            self.widen(len, valid, |i| array.value(i));
        } else if let Some(array) = values.as_binary_view_opt() {
            self.widen(len, valid, |i| array.value(i));
        } else {
            return Err(unexpected(values.data_type()));
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some((low, high)) = self.open.take() else {
            self.min.push(None);
            self.max.push(None);
            self.exact.push(true);
            return;
        };
        let (limit, is_text) = (self.bound_bytes, self.is_text());
        self.exact.push(low.len() <= limit && high.len() <= limit);
        let cut = cut_at(&low, limit, is_text);
        self.min.push(Some(low[..cut].to_vec()));
        let cut = cut_at(&high, limit, is_text);
        self.max.push(if cut == high.len() {
            Some(high)
        } else if is_text {
            after_text(&high[..cut])
        } else {
            after_prefix(&high[..cut])
        });
    }

    fn finish(self: Box<Self>) -> Result<FoundBounds> {
        let nan_counts = vec![0; self.min.len()];
        let min = array(&self.data_type, &self.min)?;
        let max = array(&self.data_type, &self.max)?;
        Ok(FoundBounds { min, max, nan_counts, exact: self.exact })
    }
}

/// The least and the greatest string. Most are told apart by their first 8 bytes.
fn extremes<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Option<(&'a [u8], &'a [u8])> {
    let first = values.next()?;
    let (mut low, mut high) = (first, first);
    let (mut low_start, mut high_start) = (start(first), start(first));
    for value in values {
        let begin = start(value);
        if begin <= low_start && value < low {
            (low, low_start) = (value, begin);
        }
        if begin >= high_start && value > high {
            (high, high_start) = (value, begin);
        }
    }
    Some((low, high))
}

/// The first 8 bytes as a number, zeros after the end: of two strings the lesser has not the
/// greater number.
fn start(value: &[u8]) -> u64 {
    match value.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => value.iter().rev().fold(0, |number, byte| number >> 8 | u64::from(*byte) << 56),
    }
}

/// Where a bound is cut: at `limit` bytes or, in text, at the start of the character there.
fn cut_at(value: &[u8], limit: usize, is_text: bool) -> usize {
    if value.len() <= limit {
        return value.len();
    }
    let is_inside = |at: &usize| is_text && value[*at] & 0xc0 == 0x80;
    (0..=limit).rev().find(|at| !is_inside(at)).unwrap_or(0)
}

/// The least text above all that start with `text`; none if there is none.
fn after_text(text: &[u8]) -> Option<Vec<u8>> {
    let mut text = String::from_utf8(text.to_vec()).ok()?;
    while let Some(last) = text.pop() {
        // Surrogates are no characters.
        let next = if last == '\u{d7ff}' { '\u{e000}'.into() } else { u32::from(last) + 1 };
        if let Some(next) = char::from_u32(next) {
            text.push(next);
            return Some(text.into_bytes());
        }
    }
    None
}

/// The least bytes above all that start with `prefix`; none if there are none.
pub(super) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < 0xff)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

fn array(data_type: &DataType, bounds: &[Option<Vec<u8>>]) -> Result<ArrayRef> {
    let bytes = || bounds.iter().map(|bound| bound.as_deref());
    let texts = || {
        let text = |bound: &[u8]| std::str::from_utf8(bound).map(str::to_owned);
        let texts = bytes().map(|bound| bound.map(text).transpose());
        let texts: std::result::Result<Vec<Option<String>>, _> = texts.collect();
        texts.map_err(|_| Error::invalid("a string that is not UTF-8"))
    };
    Ok(match data_type {
        DataType::Utf8 => Arc::new(StringArray::from(texts()?)),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(texts()?)),
        DataType::Binary => Arc::new(BinaryArray::from_iter(bytes())),
        DataType::LargeBinary => Arc::new(LargeBinaryArray::from_iter(bytes())),
        other => return Err(unexpected(other)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_order_as_strings_do() {
        let texts =
            ["", "\0", "a", "a\0", "ab", "abcdefgh", "abcdefgha", "abcdefgi", "b", "\u{ff}"];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let (x, y) = (start(a.as_bytes()), start(b.as_bytes()));
            assert!(x == y || (x < y) == (a < b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn what_comes_after() {
        let text = |text: &str| after_text(text.as_bytes()).map(|t| String::from_utf8(t).unwrap());
        assert_eq!(text("ab").as_deref(), Some("ac"));
        assert_eq!(text("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(text("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!((text("\u{10ffff}"), text("")), (None, None));
        assert_eq!(after_prefix(&[1, 255, 255]), Some(vec![2]));
        assert_eq!((after_prefix(&[255]), after_prefix(&[])), (None, None));
    }

    #[test]
    fn text_is_cut_at_characters() {
        assert_eq!(cut_at("aäb".as_bytes(), 2, true), 1);
        assert_eq!(cut_at("aäb".as_bytes(), 2, false), 2);
        assert_eq!(cut_at("aäb".as_bytes(), 3, true), 3);
        assert_eq!(cut_at("aä".as_bytes(), 3, true), 3);
    }
}
