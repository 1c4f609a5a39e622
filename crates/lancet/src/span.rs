//! Bytes of a file, which are not to be mixed up with rows.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result};

/// Some bytes of a file: from `start` up to `end`, which is not before it.
///
/// Rows are counted by ranges of numbers; bytes have this type, so that nobody counts the one as the other.
///
/// ```
/// use lancet::Span;
///
/// let span = Span::new(100, 110).unwrap();
/// assert_eq!((span.start(), span.end(), span.len()), (100, 110, 10));
/// assert_eq!(span.range(), 100..110); // as other crates take it
/// assert_eq!(Span::new(110, 100), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    start: u64,
    end: u64,
}

impl Span {
    /// The bytes from `start` up to `end`; none if that is before it.
    pub const fn new(start: u64, end: u64) -> Option<Self> {
        if start <= end { Some(Self { start, end }) } else { None }
    }

    /// `len` bytes from `start` on; none if there are no such positions.
    pub const fn at(start: u64, len: u64) -> Option<Self> {
        match start.checked_add(len) {
            Some(end) => Some(Self { start, end }),
            None => None,
        }
    }

    /// The bytes between two positions, for those whose order is known or does not matter.
    pub(crate) const fn between(a: u64, b: u64) -> Self {
        if a <= b { Self { start: a, end: b } } else { Self { start: b, end: a } }
    }

    /// Position of the first byte.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Position after the last byte.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Number of bytes.
    pub const fn len(&self) -> u64 {
        self.end.abs_diff(self.start)
    }

    /// Number of bytes, as memory counts them.
    pub(crate) fn memory_len(&self) -> usize {
        usize::try_from(self.len()).unwrap_or(usize::MAX)
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The positions as a range, as other crates take them.
    pub const fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Whether all bytes of the other span are among these.
    pub const fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether there are bytes in both spans.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }

    /// The bytes from the first of both spans up to the last, with what lies between them.
    pub(crate) fn to(&self, other: &Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// From the first of some spans in file order to the end of the last one.
    pub(crate) fn around(spans: &[Self]) -> Self {
        let first = spans.first().copied().unwrap_or_default();
        spans.iter().fold(first, |all, span| all.to(span))
    }

    /// Bytes `part`, counted from the start of this span; none if they are not all inside.
    pub(crate) fn part(&self, part: Range<u64>) -> Option<Self> {
        let (start, end) = (self.start.checked_add(part.start)?, self.start.checked_add(part.end)?);
        Self::new(start, end).filter(|span| span.end <= self.end)
    }

    /// Bytes of a buffer that lies here: [`Span::part`], or an error that tells which are not inside.
    pub(crate) fn part_of_buffer(&self, Range { start, end }: Range<u64>) -> Result<Self> {
        self.part(start..end).ok_or_else(|| {
            let len = self.len();
            Error::corrupt(format!("bytes {start}..{end} lie outside a buffer of {len} bytes"))
        })
    }

    /// The bytes of this span, if they are all among those that begin at `position`.
    pub(crate) fn cut(&self, position: u64, bytes: &bytes::Bytes) -> Option<bytes::Bytes> {
        let start = usize::try_from(self.start.checked_sub(position)?).ok()?;
        let end = start.checked_add(usize::try_from(self.len()).ok()?)?;
        (end <= bytes.len()).then(|| bytes.slice(start..end))
    }

    /// Number of bytes of several spans; those that overlap count as often as they are named.
    pub(crate) fn total<'a>(spans: impl IntoIterator<Item = &'a Self>) -> u64 {
        spans.into_iter().map(Self::len).fold(0, u64::saturating_add)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A span, as tests write it.
#[cfg(test)]
pub(crate) const fn span(range: Range<u64>) -> Span {
    Span::new(range.start, range.end).expect("the end is not before the start")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_inside() {
        let buffer = span(100..110);
        assert_eq!(buffer.part(2..5), Some(span(102..105)));
        assert_eq!(buffer.part(10..10), Some(span(110..110)));
        assert_eq!(buffer.part(2..11), None);
        assert_eq!(buffer.part(u64::MAX..u64::MAX), None);
        let (start, end) = (5, 4);
        assert_eq!(buffer.part(start..end), None);
        let error = buffer.part_of_buffer(2..11).unwrap_err().to_string();
        assert!(error.contains("bytes 2..11 lie outside a buffer of 10 bytes"), "{error}");
        assert_eq!(Span::at(u64::MAX, 1), None);
        assert_eq!(Span::at(u64::MAX, 0), Some(span(u64::MAX..u64::MAX)));
    }

    #[test]
    fn bytes_are_cut_where_they_are() {
        let bytes = bytes::Bytes::from_static(b"abcdef");
        assert_eq!(span(12..14).cut(10, &bytes).unwrap(), "cd");
        assert_eq!(span(16..16).cut(10, &bytes).unwrap(), "");
        assert_eq!(span(12..17).cut(10, &bytes), None);
        assert_eq!(span(9..12).cut(10, &bytes), None);
        assert_eq!(Span::total(&[span(0..3), span(1..9)]), 11);
    }

    #[test]
    fn positions_come_in_any_order() {
        assert_eq!(Span::between(3, 5), span(3..5));
        assert_eq!(Span::between(5, 3), span(3..5));
        assert_eq!(Span::between(4, 4).memory_len(), 0);
        assert_eq!(span(3..5).memory_len(), 2);
    }
}
