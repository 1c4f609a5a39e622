//! Cold spans that lie near each other, read one after the other with what lies between them.
//!
//! ```text
//! file     ··▒▒····▒▒▒·····▒▒··▒▒▒▒▒·····▒▒···
//!            ├───────────┼───────────┼────┤      blocks: to the system, one who reads all of it
//! ```
//!
//! A device that is asked for one piece after the other takes some 10 us for each, and twice as long for its bytes as the
//! system does that reads ahead of one who leaves nothing out: that comes at 2.4 GB/s, with larger pages of memory.

use std::io;

use crate::pool::Pool;
use crate::span::Span;

/// Reads that leave out no more than this are one after the other to the system. Where they leave out more, it does not
/// read ahead: reads of 4 KiB with gaps of 16 KiB took 35 us each, and 5 us when they were announced.
pub(super) const NEAR_BYTES: u64 = 4 << 10;
/// What lies further apart is in no stream.
const FAR_BYTES: u64 = 64 << 10;
/// A stream has so many bytes, at least.
pub(super) const STREAM_BYTES: u64 = 256 << 10;
/// A piece that is read by itself takes as long as so many bytes of a stream, and each of its bytes as long as so many.
const PIECE_BYTES: u64 = 8 << 10;
const PIECE_TIMES: u64 = 2;
/// So many bytes are read at once.
const BLOCK_BYTES: usize = 128 << 10;

/// Spans in file order, cut into runs that are each read as one where they are cold.
pub(super) fn runs(spans: &[Span]) -> Vec<&[Span]> {
    let mut runs = Vec::new();
    for group in spans.chunk_by(|span, next| gap(span, next) <= FAR_BYTES) {
        if is_stream(group) {
            runs.push(group);
        } else {
            runs.extend(group.chunk_by(|span, next| gap(span, next) <= NEAR_BYTES));
        }
    }
    runs
}

/// Whether spans are read faster with what lies between them.
fn is_stream(spans: &[Span]) -> bool {
    let piece = |span: &Span| span.len().saturating_mul(PIECE_TIMES).saturating_add(PIECE_BYTES);
    let apart = spans.iter().map(piece).fold(0, u64::saturating_add);
    (STREAM_BYTES..=apart).contains(&Span::around(spans).len())
}

/// The bytes between two spans. Pages are where a file says that they are: some may lie before those that they come after.
fn gap(span: &Span, next: &Span) -> u64 {
    if next.start() < span.start() {
        return u64::MAX;
    }
    next.start().saturating_sub(span.end())
}

/// Reads a run of spans forward, and leaves out nothing.
pub(super) struct Stream<'a> {
    /// What was not read yet.
    rest: Span,
    /// The last block, which ends there.
    block: Vec<u8>,
    pool: &'a Pool,
}

impl<'a> Stream<'a> {
    /// None where there is nothing to be left out.
    pub(super) fn new(run: &[Span], pool: &'a Pool) -> Option<Self> {
        let is_one = matches!(run, [_]);
        (!is_one).then(|| Self { rest: Span::around(run), block: pool.take(BLOCK_BYTES), pool })
    }

    /// Fills a buffer, which may have some of it, with a span of the run; that of the next call does not begin before it.
    /// `read` fills a buffer up to so many bytes with those from a position of the file on.
    pub(super) fn read(
        &mut self,
        span: &Span,
        buffer: &mut Vec<u8>,
        mut read: impl FnMut(&mut Vec<u8>, usize, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let len = span.memory_len();
        while buffer.len() < len {
            let missing = len.saturating_sub(buffer.len());
            let at = span.start().saturating_add(buffer.len() as u64);
            match self.held(at) {
                // Spans that overlap.
                [] if at < self.rest.start() => return read(buffer, len, span.start()),
                // What is long is not copied.
                [] if at == self.rest.start() && missing >= BLOCK_BYTES => {
                    let end = buffer.len().saturating_add(BLOCK_BYTES);
                    read(buffer, end, span.start())?;
                    self.pass(BLOCK_BYTES);
                    self.block.clear();
                }
                [] => {
                    let len = self.rest.memory_len().min(BLOCK_BYTES);
                    if len == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.block.clear();
                    read(&mut self.block, len, self.rest.start())?;
                    self.pass(len);
                }
                held => buffer.extend_from_slice(held.get(..missing).unwrap_or(held)),
            }
        }
        Ok(())
    }

    /// What the block has from a position on.
    fn held(&self, at: u64) -> &[u8] {
        let start = self.rest.start().saturating_sub(self.block.len() as u64);
        let within = at.checked_sub(start).and_then(|within| usize::try_from(within).ok());
        within.and_then(|within| self.block.get(within..)).unwrap_or_default()
    }

    fn pass(&mut self, len: usize) {
        let start = self.rest.start().saturating_add(len as u64);
        self.rest = Span::between(start.min(self.rest.end()), self.rest.end());
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.block));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn spans(places: &[(u64, u64)]) -> Vec<Span> {
        places.iter().map(|(start, len)| Span::at(*start, *len).unwrap()).collect()
    }

    fn lengths(places: &[(u64, u64)]) -> Vec<usize> {
        runs(&spans(places)).iter().map(|run| run.len()).collect()
    }

    #[test]
    fn what_is_read_with_its_gaps_is_worth_it() {
        let every =
            |step: u64, count: u64| (0..count).map(|i| (i * step, 4096)).collect::<Vec<_>>();
        // Gaps of 8 KiB, of 40 KiB, and of 8 KiB where there are few.
        assert_eq!(lengths(&every(12 << 10, 100)), [100]);
        assert_eq!(lengths(&every(44 << 10, 100)), [1; 100]);
        assert_eq!(lengths(&every(12 << 10, 10)), [1; 10]);
        // What hardly has gaps, and two streams far from each other.
        assert_eq!(lengths(&[(0, 100), (4_000, 100), (20_000, 100)]), [2, 1]);
        let far = every(12 << 10, 100).into_iter().map(|(start, len)| (start + (9 << 20), len));
        let two: Vec<(u64, u64)> = every(12 << 10, 50).into_iter().chain(far).collect();
        assert_eq!(lengths(&two), [50, 100]);
        assert_eq!(lengths(&[]), [0; 0]);
        // Back in the file, which is no gap.
        assert_eq!(lengths(&[(9 << 20, 300_000), (0, 300_000), (300_000, 300_000)]), [1, 2]);
    }

    fn file() -> Vec<u8> {
        (0..4_u32 << 20).map(|i| (i >> 8) as u8 ^ i as u8).collect()
    }

    #[test]
    fn streams_leave_out_nothing_and_read_nothing_twice() {
        let (file, pool) = (file(), Arc::new(Pool::default()));
        // Short ones, one that is empty, one of several blocks, and one that ends with the file.
        let mut run = spans(&[(10_000, 5_000), (20_000, 0), (30_000, 150_000), (190_000, 700_000)]);
        run.extend((0..300).map(|i| Span::at(900_000 + i * 10_000, 3_000).unwrap()));
        run.push(Span::new(4_150_000, 4 << 20).unwrap());
        let mut stream = Stream::new(&run, &pool).unwrap();
        let mut position = 10_000;
        for span in &run {
            let mut buffer = Vec::new();
            let read = |buffer: &mut Vec<u8>, len: usize, start: u64| {
                let (from, to) = (start as usize + buffer.len(), start as usize + len);
                assert_eq!(from, position, "{span}");
                position = to;
                buffer.extend_from_slice(&file[from..to]);
                Ok(())
            };
            stream.read(span, &mut buffer, read).unwrap();
            assert!(buffer == file[span.start() as usize..span.end() as usize], "{span}");
        }
        assert_eq!(position, file.len());
    }

    #[test]
    fn spans_that_overlap_are_read_too() {
        let (file, pool) = (file(), Arc::new(Pool::default()));
        let run = spans(&[(0, 400_000), (100_000, 400_000), (100_001, 3)]);
        let mut stream = Stream::new(&run, &pool).unwrap();
        for span in &run {
            let mut buffer = Vec::new();
            let read = |buffer: &mut Vec<u8>, len: usize, start: u64| {
                let from = start as usize + buffer.len();
                buffer.extend_from_slice(&file[from..start as usize + len]);
                Ok(())
            };
            stream.read(span, &mut buffer, read).unwrap();
            assert!(buffer == file[span.start() as usize..span.end() as usize], "{span}");
        }
        assert!(Stream::new(&run[..1], &pool).is_none());
    }
}
