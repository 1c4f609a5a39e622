//! Where lists and strings end, nulls among them.
//!
//! Stored is one unsigned number `o` for each row. With the adjustment `A` of the page:
//!
//! ```text
//! null(i)  = o[i] >= A
//! end(i)   = o[i] - A if null(i), else o[i]
//! start(i) = 0 if i = 0, else end(i - 1)
//! ```
//!
//! A null may have a length: what lies there is what the writer found under it.

use std::ops::Range;

use super::index::ArrayIndex;
use super::stream::Stream;
use super::validity::bitmap;
use super::{Fetched, count};
use crate::codec::{FixedValues, Scratch};
use crate::error::{Error, Result, ensure};
use crate::span::Span;

/// The ends of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ends {
    pub(super) words: Stream,
    pub(super) adjustment: u64,
    /// Number of rows.
    pub(super) len: u64,
}

/// Rows that follow each other, and where they lie in the items or bytes of the page.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) span: Range<u64>,
    /// Where each row ends, counted from the start of the span.
    pub(super) ends: Vec<u64>,
    /// Which rows are not null; `None` if all are.
    pub(super) valid: Option<FixedValues>,
    /// Whether a null has a length.
    pub(super) has_hidden: bool,
}

/// The rows whose numbers are needed: for the start of a range also the one before.
fn with_previous(rows: &[Range<u64>]) -> Vec<Range<u64>> {
    rows.iter().map(|r| r.start.saturating_sub(1)..r.end).collect()
}

impl Ends {
    pub(super) fn spans(&self, rows: &[Range<u64>], out: &mut Vec<Span>) -> Result<()> {
        self.words.spans(&with_previous(rows), out)
    }

    /// Finds the rows, given the bytes of [`Ends::spans`]; `most` is where the last one may end.
    pub(super) fn locate(
        &self,
        rows: &[Range<u64>],
        most: u64,
        fetched: &mut Fetched<'_>,
        index: &ArrayIndex,
        scratch: &mut Scratch,
    ) -> Result<Vec<Located>> {
        let mut located = Vec::with_capacity(rows.len());
        for (range, stored) in rows.iter().zip(with_previous(rows)) {
            let len = range.end.saturating_sub(range.start);
            scratch.claim(len.saturating_mul(8), "the ends of lists or strings")?;
            let mut words = FixedValues::new(self.words.bits);
            let stored = std::slice::from_ref(&stored);
            self.words.decode(stored, fetched, index, &mut words, scratch)?;
            let words = widen(words, scratch)?;
            located.push(self.locate_range(range, most, words.words())?);
        }
        Ok(located)
    }

    fn locate_range(&self, rows: &Range<u64>, most: u64, words: &[u64]) -> Result<Located> {
        let adjustment = self.adjustment;
        ensure!(adjustment > 0, "a null adjustment of 0 would make every row null");
        let end_of = |word: u64| word.checked_sub(adjustment).unwrap_or(word);
        let (start, words) = match words.split_first() {
            Some((&before, words)) if rows.start > 0 => (end_of(before), words),
            _ => (0, words),
        };
        let mut last = start;
        let mut ends = Vec::with_capacity(words.len());
        let (mut has_nulls, mut has_hidden) = (false, false);
        for (i, &word) in words.iter().enumerate() {
            let (end, null) = (end_of(word), word >= adjustment);
            if end < last || end > most || end >= adjustment {
                return Err(Error::corrupt(format!(
                    "row {} ends at {end}, which is not between {last} and {most}",
                    rows.start.saturating_add(count(i))
                )));
            }
            has_nulls |= null;
            has_hidden |= null && end > last;
            ends.push(end.saturating_sub(start));
            last = end;
        }
        let mut words = words.iter();
        let is_valid = |_| words.next().is_some_and(|word| *word < adjustment);
        let valid = has_nulls.then(|| bitmap(ends.len(), is_valid)).transpose()?;
        Ok(Located { span: start..last, ends, valid, has_hidden })
    }
}

/// Numbers of any width as numbers of 64 bits.
fn widen(words: FixedValues, scratch: &mut Scratch) -> Result<FixedValues> {
    if words.bits() == 64 {
        return Ok(words);
    }
    ensure!(matches!(words.bits(), 8 | 16 | 32), "ends of {} bits", words.bits());
    scratch.claim(count(words.len()).saturating_mul(8), "the ends of lists or strings")?;
    let wide = (0..words.len()).map(|i| words.unsigned(i).unwrap_or(u64::MAX));
    Ok(FixedValues::from_words(wide))
}

impl Located {
    /// Bytes this holds in memory.
    pub(super) fn size_bytes(&self) -> u64 {
        count(self.ends.len()).saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::stream::{Buffer, Form};
    use super::*;
    use crate::span::span;

    fn locate(stored: &[u64], adjustment: u64, rows: &[Range<u64>]) -> Result<Vec<Located>> {
        let file: Bytes = stored.iter().flat_map(|o| o.to_le_bytes()).collect::<Vec<_>>().into();
        let buffer = Buffer { number: Some(0), span: span(0..file.len() as u64) };
        let len = stored.len() as u64;
        let words = Stream { bits: 64, len: Some(len), form: Form::Flat(buffer) };
        let ends = Ends { words, adjustment, len };
        let mut spans = Vec::new();
        ends.spans(rows, &mut spans)?;
        let bytes: Vec<Bytes> = spans.iter().map(|s| s.cut(0, &file).unwrap()).collect();
        let index = ArrayIndex::default();
        let mut scratch = Scratch::new(1 << 20);
        ends.locate(rows, 5, &mut Fetched::new(&bytes), &index, &mut scratch)
    }

    fn valid(located: &Located) -> Vec<bool> {
        let valid = located.valid.as_ref().unwrap();
        (0..valid.len()).map(|i| valid.bit(i)).collect()
    }

    #[test]
    fn the_example_of_the_format() {
        let all = locate(&[2, 8, 2, 5], 6, &[0..4]).unwrap();
        assert_eq!((all[0].span.clone(), &all[0].ends[..]), (0..5, &[2, 2, 2, 5][..]));
        assert_eq!(valid(&all[0]), [true, false, true, true]);
        assert!(!all[0].has_hidden);
        let parts = locate(&[2, 8, 2, 5], 6, &[1..2, 3..4]).unwrap();
        assert_eq!((parts[0].span.clone(), &parts[0].ends[..]), (2..2, &[0][..]));
        assert_eq!((parts[1].span.clone(), &parts[1].ends[..]), (2..5, &[3][..]));
        assert!(parts[1].valid.is_none());
    }

    #[test]
    fn nulls_may_have_a_length() {
        let all = locate(&[2, 10, 5], 6, &[0..3]).unwrap();
        assert_eq!((&all[0].ends[..], all[0].has_hidden), (&[2, 4, 5][..], true));
    }

    #[test]
    fn broken_ends_are_named() {
        for (stored, adjustment) in
            [(vec![3, 2], 6), (vec![6, 2], 9), (vec![2, 12], 6), (vec![1, 1], 0)]
        {
            assert!(locate(&stored, adjustment, &[0..2]).is_err(), "{stored:?}");
        }
    }
}
