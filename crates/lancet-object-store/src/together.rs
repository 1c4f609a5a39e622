//! Spans that are asked for together, and cut apart again.
//!
//! A request costs its latency and the time of its bytes; requests that are under way together share the latency. So
//!
//! - as long as all can be under way together, spans are one request only where the gap costs next to nothing;
//! - more than that wait for each other: then a gap is worth fetching that arrives sooner than another answer would, and
//!   requests are made of one size;
//! - fewer than that leave room: long ones are cut, so that their parts arrive at the same time.

use bytes::Bytes;
use lancet::Span;

use crate::options::FetchOptions;

/// A gap that takes this part of the latency is always fetched along: requests are paid for.
const NEXT_TO_NOTHING: u64 = 8;
/// Requests are not made shorter than this to be of one size.
const MIN_BYTES: u64 = 256 << 10;

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

    /// The requests that have all spans soonest. None is put together from more than `max_bytes`.
    pub(crate) fn soonest(spans: &[Span], options: &FetchOptions, max_bytes: u64) -> Vec<Self> {
        let most = options.concurrency.max(1);
        let near = Self::of(spans, options.gap() / NEXT_TO_NOTHING, max_bytes);
        if near.len() <= most {
            return near;
        }
        let whole = Self::of(spans, options.gap(), u64::MAX);
        let bytes = whole.iter().map(|one| one.span.len()).fold(0, u64::saturating_add);
        let mut share = (bytes / most as u64).max(MIN_BYTES).min(max_bytes);
        loop {
            let requests = Self::of(spans, options.gap(), share);
            // Spans and gaps do not fill their share, so there may be a few too many.
            if requests.len() <= most || whole.len() > most || share >= max_bytes {
                return requests;
            }
            share = share.saturating_add(share / 8).min(max_bytes);
        }
    }

    /// How long the parts of requests are, so that all parts are under way together. None arrives in less than a quarter of
    /// the latency.
    pub(crate) fn part_bytes(requests: &[Self], options: &FetchOptions) -> u64 {
        let most = options.concurrency.max(1) as u64;
        let bytes = requests.iter().map(|one| one.span.len()).fold(0, u64::saturating_add);
        let mut part = (bytes / most).max(options.gap() / 4).max(MIN_BYTES);
        let parts =
            |part: u64| requests.iter().map(|one| one.span.len().div_ceil(part)).sum::<u64>();
        while requests.len() as u64 <= most && parts(part) > most {
            part = part.saturating_add(part / 8);
        }
        if requests.len() as u64 > most { u64::MAX } else { part }
    }

    /// The request in parts of at most so many bytes.
    pub(crate) fn parts(&self, part_bytes: u64) -> Vec<Span> {
        let mut parts = Vec::new();
        let mut start = self.span.start();
        while start < self.span.end() {
            let end = start.saturating_add(part_bytes.max(1)).min(self.span.end());
            parts.extend(Span::new(start, end));
            start = end;
        }
        parts
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

    fn span(start: u64, len: u64) -> Span {
        Span::at(start, len).unwrap()
    }

    fn lengths(requests: &[Together]) -> Vec<u64> {
        requests.iter().map(|one| one.span.len()).collect()
    }

    #[test]
    fn requests_that_fit_beside_each_other_stay_apart() {
        // A second of latency is a million bytes.
        let options = FetchOptions::default()
            .with_latency(std::time::Duration::from_secs(1))
            .with_bytes_per_second(1_000_000)
            .with_concurrency(4);
        let apart = |count: u64| (0..count).map(|i| span(i * 500_000, 1_000)).collect::<Vec<_>>();
        let soonest = |spans: &[Span]| lengths(&Together::soonest(spans, &options, 16 << 20));
        assert_eq!(soonest(&apart(4)), [1_000; 4]);
        // A hundredth of a second is not worth another request.
        assert_eq!(soonest(&[span(0, 1_000), span(10_000, 1_000)]), [11_000]);
        // Five would wait for each other.
        assert_eq!(soonest(&apart(5)), [501_000, 501_000, 1_000]);
        assert_eq!(soonest(&apart(41)), [5_501_000, 5_501_000, 5_501_000, 2_001_000]);
        // No gap is fetched that takes longer than an answer.
        let far: Vec<Span> = (0..50).map(|i| span(i * 2_000_000, 1_000)).collect();
        assert_eq!(soonest(&far), [1_000; 50]);
        let bounded = Together::soonest(&apart(41), &options, 2_000_000);
        assert!(lengths(&bounded).iter().all(|len| *len <= 2_000_000));
    }

    #[test]
    fn long_requests_are_cut_where_there_is_room() {
        let options = FetchOptions::default()
            .with_latency(std::time::Duration::from_secs(1))
            .with_bytes_per_second(1_000_000)
            .with_concurrency(8);
        let one = |len| Together { span: span(7, len), parts: Vec::new() };
        let parts = |lengths: &[u64]| {
            let requests: Vec<Together> = lengths.iter().copied().map(one).collect();
            let part = Together::part_bytes(&requests, &options);
            requests.iter().map(|one| one.parts(part).len()).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[250_000]), [1]);
        assert_eq!(parts(&[1_500_000]), [6]);
        assert_eq!(parts(&[100_000_000]), [8]);
        // The longest is cut most, and all of them are under way together.
        assert_eq!(parts(&[100_000, 30_000_000, 10_000_000]), [1, 5, 2]);
        assert_eq!(parts(&[100_000_000; 9]), [1; 9]);
        for len in [1, 2, 499_999, 500_001, 7_654_321] {
            let parts = one(len).parts(500_000);
            assert!(parts.windows(2).all(|pair| pair[0].end() == pair[1].start()));
            assert_eq!((parts[0].start(), parts[parts.len() - 1].end()), (7, 7 + len));
        }
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
