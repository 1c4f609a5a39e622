//! Spans that are asked for together, and cut apart again.

use bytes::Bytes;
use lancet::Span;

/// One request for some spans that lie near each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Together {
    /// What to ask for.
    pub(crate) span: Span,
    /// The spans in it, with their numbers among all.
    parts: Vec<(usize, Span)>,
}

impl Together {
    /// Puts spans together whose gap is at most `gap` bytes, into requests of at most `max_bytes`. An empty
    /// span asks for nothing, and stores refuse to be asked for it.
    pub(crate) fn of(spans: &[Span], gap: u64, max_bytes: u64) -> Vec<Self> {
        let wanted: Vec<Span> = spans.iter().copied().filter(|span| !span.is_empty()).collect();
        let reads = lancet::coalesce(&wanted, gap, max_bytes).reads;
        let mut all: Vec<Self> =
            reads.into_iter().map(|span| Self { span, parts: Vec::new() }).collect();
        for (number, span) in spans.iter().enumerate().filter(|(_, span)| !span.is_empty()) {
            // Of those that begin before it, the last one ends last.
            let after = all.partition_point(|one| one.span.start() <= span.start());
            if let Some(one) = after.checked_sub(1).and_then(|last| all.get_mut(last)) {
                one.parts.push((number, *span));
            }
        }
        all
    }

    /// The bytes of the spans. Where most of the answer is gaps they are copied, so that the gaps are not kept
    /// for as long as the spans are.
    pub(crate) fn cut(&self, answer: &Bytes) -> Vec<(usize, Bytes)> {
        let wanted = self.parts.iter().map(|(_, span)| span.len()).fold(0, u64::saturating_add);
        let mostly_gaps = wanted < self.span.len() / 2;
        let cut = |(number, span): &(usize, Span)| {
            let start = usize::try_from(span.start().checked_sub(self.span.start())?).ok()?;
            let end = start.checked_add(usize::try_from(span.len()).ok()?)?;
            let bytes = answer.get(start..end)?;
            let bytes =
                if mostly_gaps { Bytes::copy_from_slice(bytes) } else { answer.slice_ref(bytes) };
            Some((*number, bytes))
        };
        // Answers have the length that was asked for, so that every span is in its answer.
        self.parts.iter().filter_map(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(ranges: &[(u64, u64)], gap: u64, max_bytes: u64) -> usize {
        let file: Vec<u8> = (0..=255).collect();
        let spans: Vec<Span> = ranges.iter().map(|(a, b)| Span::new(*a, *b).unwrap()).collect();
        let all = Together::of(&spans, gap, max_bytes);
        let mut found = vec![Bytes::new(); spans.len()];
        for one in &all {
            let answer =
                Bytes::copy_from_slice(&file[one.span.start() as usize..one.span.end() as usize]);
            one.cut(&answer).into_iter().for_each(|(number, bytes)| found[number] = bytes);
        }
        for (span, bytes) in spans.iter().zip(&found) {
            assert_eq!(bytes[..], file[span.start() as usize..span.end() as usize], "{ranges:?}");
        }
        all.len()
    }

    #[test]
    fn spans_come_back_in_their_order() {
        assert_eq!(check(&[(100, 110), (0, 10), (12, 20), (105, 120), (40, 40)], 2, 1000), 2);
        assert_eq!(check(&[(0, 10), (250, 256)], 1000, 1000), 1);
        // Overlapping, and too long to be put together.
        assert_eq!(check(&[(0, 100), (50, 150), (60, 70), (50, 60), (50, 100)], 10, 100), 2);
        assert_eq!(check(&[(0, 10), (0, 200), (0, 0)], 10, 100), 2);
        assert_eq!(check(&[], 10, 100), 0);
        let mut state = 1_u64;
        let mut draw = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % end
        };
        for _ in 0..2000 {
            let count = draw(8);
            let ranges: Vec<_> = (0..count)
                .map(|_| {
                    let start = draw(200);
                    (start, start + draw(56))
                })
                .collect();
            check(&ranges, draw(20), 1 + draw(100));
        }
    }
}
