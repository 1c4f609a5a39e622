//! Spans merged into fewer reads.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::span::Span;

/// Spans merged into fewer reads, for sources to which a read costs more than a few bytes.
#[derive(Debug)]
pub struct Coalesced {
    /// What to read, in file order.
    pub reads: Vec<Span>,
    /// The read that holds each of the original spans.
    read_of: Vec<usize>,
}

/// Merges spans whose gap is at most `gap` bytes, into reads of at most `max_bytes` each; a span that
/// is larger by itself stays whole.
///
/// ```
/// # use lancet::Span;
/// let spans = [(100, 110), (0, 10), (12, 20)].map(|(start, end)| Span::new(start, end).unwrap());
/// let plan = lancet::coalesce(&spans, 2, 1000);
/// assert_eq!(plan.reads.iter().map(Span::range).collect::<Vec<_>>(), [0..20, 100..110]);
/// let reads = [vec![b'a'; 20].into(), vec![b'b'; 10].into()];
/// assert_eq!(plan.cut(&reads, &spans)?, ["bbbbbbbbbb", "aaaaaaaaaa", "aaaaaaaa"]);
/// # Ok::<(), lancet::Error>(())
/// ```
pub fn coalesce(spans: &[Span], gap: u64, max_bytes: u64) -> Coalesced {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_unstable_by_key(|&i| spans.get(i).map_or(0, Span::start));
    let mut reads: Vec<Span> = Vec::new();
    let mut read_of = vec![0; spans.len()];
    for (i, span) in order.iter().filter_map(|&i| spans.get(i).map(|span| (i, span))) {
        match reads.last_mut() {
            Some(read) if joins(read, span, gap, max_bytes) => *read = read.to(span),
            _ => reads.push(*span),
        }
        if let Some(read) = read_of.get_mut(i) {
            *read = reads.len().saturating_sub(1);
        }
    }
    Coalesced { reads, read_of }
}

/// Whether a span is read together with what was read before it.
fn joins(read: &Span, span: &Span, gap: u64, max_bytes: u64) -> bool {
    let inside = span.end() <= read.end();
    let near = span.start() <= read.end().saturating_add(gap);
    inside || near && span.end().saturating_sub(read.start()) <= max_bytes
}

impl Coalesced {
    /// Cuts the bytes of the reads into those of the original spans.
    pub fn cut(&self, reads: &[Bytes], spans: &[Span]) -> Result<Vec<Bytes>> {
        let cut =
            |span: &Span, read: usize| span.cut(self.reads.get(read)?.start(), reads.get(read)?);
        let spans = spans.iter().zip(&self.read_of);
        spans.map(|(span, read)| cut(span, *read).ok_or_else(|| short(span))).collect()
    }
}

/// A read that gave less than was asked for.
fn short(span: &Span) -> Error {
    Error::invalid(format!("a read gave too few bytes for {span}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(range: &std::ops::Range<u64>) -> Span {
        Span::new(range.start, range.end).unwrap()
    }

    #[test]
    fn near_spans_are_read_together_and_cut_apart() {
        let spans = [100..110, 0..10, 12..20, 105..120, 40..40].each_ref().map(span);
        let plan = coalesce(&spans, 2, 1000);
        assert_eq!(plan.reads, [0..20, 40..40, 100..120].each_ref().map(span));
        let file = Bytes::from((0..=255).collect::<Vec<u8>>());
        let read =
            |spans: &[Span]| spans.iter().map(|s| s.cut(0, &file).unwrap()).collect::<Vec<_>>();
        let reads = read(&plan.reads);
        let cut = plan.cut(&reads, &spans).unwrap();
        assert_eq!(cut, read(&spans));
        assert_eq!(cut[3].first(), Some(&105));
        assert!(plan.cut(&reads[..1], &spans).is_err());
    }
}
