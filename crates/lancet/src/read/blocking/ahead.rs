//! What is going to be read, announced to the device a window ahead of the reads.
//!
//! ```text
//! file     ··▒···▒▒··············▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒··▒··▒··
//!            └───┴┴─ announced   └ a stream: the system reads ahead   └──┴─ announced when the reads come near
//! ```

use std::fs::File;
use std::sync::Mutex;

use super::page_cache::will_need;
use super::stream::{NEAR_BYTES, STREAM_BYTES, runs};
use crate::span::Span;

/// So many bytes are announced and not read, at most, about.
const WINDOW_BYTES: u64 = 32 << 20;
/// Of each batch of a scan so many bytes, at most, about.
const BATCH_BYTES: u64 = 8 << 20;
/// More is not announced at once.
const MAX_STEP_BYTES: u64 = 1 << 20;
/// Memory comes in pages of so many bytes, or a multiple.
const PAGE_BYTES: u64 = 4 << 10;

/// What the system does for the device that a file is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Device {
    /// Of what is announced at once, only so many bytes come.
    pub(super) step_bytes: u64,
    /// How far it reads ahead by itself.
    pub(super) read_ahead_bytes: u64,
}

impl Default for Device {
    /// What systems do that were not told otherwise.
    fn default() -> Self {
        Self { step_bytes: 128 << 10, read_ahead_bytes: 128 << 10 }
    }
}

impl Device {
    /// Whether streams are better left to the system: it reads as far ahead as one would announce, with larger pages of
    /// memory.
    fn reads_far(self) -> bool {
        self.read_ahead_bytes >= MAX_STEP_BYTES
    }
}

/// What is to be announced, and how far that has come.
#[derive(Debug)]
pub(super) struct Ahead {
    /// In file order.
    pieces: Vec<Span>,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    /// Pieces before which the reads are, and up to which was announced.
    passed: usize,
    next: usize,
    /// Bytes between both.
    open_bytes: u64,
}

impl Ahead {
    /// The reads of a take, in file order. Long values that lie apart are announced, however long they are, and streams are
    /// not where the system reads far ahead of them by itself.
    pub(super) fn of_take(reads: &[Span], device: Device) -> Self {
        Self::new(reads, device, |_| false)
    }

    /// The same of a batch that comes after another one. Where its reads go on behind those, the system has seen what comes.
    pub(super) fn of_scan(reads: &[Span], before: &[Span], device: Device) -> Self {
        let mut before = before.to_vec();
        before.sort_unstable_by_key(Span::end);
        let goes_on = |whole: &Span| {
            let is_behind = |span: &Span| span.end().saturating_add(NEAR_BYTES) < whole.start();
            let near = before.get(before.partition_point(is_behind));
            near.is_some_and(|span| span.start() <= whole.start())
        };
        Self::new(reads, device, goes_on)
    }

    fn new(reads: &[Span], device: Device, goes_on: impl Fn(&Span) -> bool) -> Self {
        let mut pieces = Vec::new();
        for run in runs(reads) {
            let whole = Span::around(run);
            let is_stream = run.len() > 1 && whole.len() >= STREAM_BYTES;
            if !device.reads_far() || !is_stream && !goes_on(&whole) {
                cut(whole, device.step_bytes, &mut pieces);
            }
        }
        Self { pieces, window: Mutex::default() }
    }

    /// Announces what is within reach of the reads, which are at `position` now.
    pub(super) fn pass(&self, file: &File, position: u64) {
        self.open_window(position, WINDOW_BYTES, |piece| will_need(file, piece));
    }

    /// Announces a batch of a scan, or its beginning.
    pub(super) fn begin(&self, file: &File) {
        self.open_window(0, BATCH_BYTES, |piece| will_need(file, piece));
    }

    fn open_window(&self, position: u64, reach: u64, announce: impl Fn(Span)) {
        // Another thread is at it.
        let Ok(mut window) = self.window.try_lock() else { return };
        while let Some(piece) = self.pieces.get(window.passed).filter(|p| p.end() <= position) {
            if window.passed < window.next {
                window.open_bytes = window.open_bytes.saturating_sub(piece.len());
            }
            window.passed = window.passed.saturating_add(1);
        }
        window.next = window.next.max(window.passed);
        while window.open_bytes < reach {
            let Some(piece) = self.pieces.get(window.next) else { return };
            announce(*piece);
            window.next = window.next.saturating_add(1);
            window.open_bytes = window.open_bytes.saturating_add(piece.len());
        }
    }
}

/// Cuts a span into pieces that begin where pages of memory do.
fn cut(span: Span, step_bytes: u64, pieces: &mut Vec<Span>) {
    let step = (step_bytes.min(MAX_STEP_BYTES) / PAGE_BYTES).max(1).saturating_mul(PAGE_BYTES);
    let mut start = span.start().saturating_sub(span.start() % PAGE_BYTES);
    while start < span.end() {
        let end = start.saturating_add(step).min(span.end());
        pieces.push(Span::between(start, end));
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const FAR: Device = Device { step_bytes: 8 << 20, read_ahead_bytes: 8 << 20 };
    const MIB: u64 = 1 << 20;

    fn spans(places: &[(u64, u64)]) -> Vec<Span> {
        places.iter().map(|(start, len)| Span::at(*start, *len).unwrap()).collect()
    }

    /// What is announced while the reads are at `position`.
    fn announced(ahead: &Ahead, position: u64) -> Vec<Span> {
        let pieces = RefCell::new(Vec::new());
        ahead.open_window(position, WINDOW_BYTES, |piece| pieces.borrow_mut().push(piece));
        pieces.into_inner()
    }

    #[test]
    fn long_values_are_announced_beside_short_ones() {
        let apart: Vec<(u64, u64)> = (0..20).map(|i| (i * 10 * MIB, 300 << 10)).collect();
        let ahead = Ahead::of_take(&spans(&apart), FAR);
        assert_eq!(announced(&ahead, 0), spans(&apart));
        // One long value does not silence the others, nor does a stream.
        let mixed = spans(&[(0, 4096), (MIB, 4096), (8 * MIB, 2 * MIB), (20 * MIB, 4096)]);
        let ahead = Ahead::of_take(&mixed, FAR);
        let halves = [(0, 4096), (MIB, 4096), (8 * MIB, MIB), (9 * MIB, MIB), (20 * MIB, 4096)];
        assert_eq!(announced(&ahead, 0), spans(&halves));
        let stream = spans(&[(0, 4096), (MIB, MIB), (2 * MIB, MIB), (8 * MIB, 4096)]);
        let ends = spans(&[(0, 4096), (8 * MIB, 4096)]);
        assert_eq!(announced(&Ahead::of_take(&stream, FAR), 0), ends);
        // Where the system hardly reads ahead, nothing is left to it.
        let near = announced(&Ahead::of_take(&stream, Device::default()), 0);
        assert_eq!(Span::total(&near), 2 * MIB + 2 * 4096);
        assert!(near.iter().all(|piece| piece.len() <= 128 << 10), "{near:?}");
        // Neither are reads with gaps, but for those that are read, too.
        let gaps = |step: u64| spans(&(0..100).map(|i| (i * step, 4096)).collect::<Vec<_>>());
        assert_eq!(announced(&Ahead::of_take(&gaps(32_768), FAR), 0), gaps(32_768));
        assert_eq!(announced(&Ahead::of_take(&gaps(12_288), FAR), 0), []);
        let near = announced(&Ahead::of_take(&gaps(12_288), Device::default()), 0);
        assert_eq!(Span::total(&near), 99 * 12_288 + 4096);
    }

    #[test]
    fn pieces_begin_with_pages() {
        let ahead = Ahead::of_take(&spans(&[(5_000, 300_000)]), Device::default());
        let ends = [(4096, 131_072), (135_168, 131_072), (266_240, 305_000 - 266_240)];
        assert_eq!(announced(&ahead, 0), spans(&ends));
    }

    #[test]
    fn what_is_announced_stays_near_the_reads() {
        let places: Vec<(u64, u64)> = (0..100).map(|i| (i * 10 * MIB, MIB)).collect();
        let ahead = Ahead::of_take(&spans(&places), FAR);
        assert_eq!(announced(&ahead, 0), spans(&places[..32]));
        assert_eq!(announced(&ahead, 5 * MIB), spans(&places[32..33]));
        assert_eq!(announced(&ahead, 5 * MIB), []);
        // Reads that are far ahead of it: what is behind them is no longer needed.
        assert_eq!(announced(&ahead, 505 * MIB), spans(&places[51..83]));
        assert_eq!(announced(&ahead, 1_000 * MIB), []);
    }

    #[test]
    fn a_scan_announces_where_it_jumps() {
        // Behind a span, beginning with its last chunk, somewhere else, and long.
        let reads = spans(&[(10_000, 50_000), (MIB, 50_000), (4 * MIB, 50_000), (8 * MIB, MIB)]);
        let before = spans(&[(4 * MIB - 9_000, 10_000), (0, 10_000), (2 * MIB, 50_000)]);
        let jumps = Ahead::of_scan(&reads, &before, FAR);
        assert_eq!(announced(&jumps, 0), spans(&[(MIB, 50_000), (8 * MIB, MIB)]));
        // To a stream.
        let stream = spans(&[(20 * MIB, MIB), (21 * MIB, 50_000)]);
        assert_eq!(announced(&Ahead::of_scan(&stream, &before, FAR), 0), []);
        let all = Ahead::of_scan(&reads, &before, Device::default());
        assert_eq!(Span::total(&announced(&all, 0)), (10_000 - 8_192) + 150_000 + MIB);
    }
}
