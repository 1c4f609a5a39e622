//! Large buffers, used again.
//!
//! Memory that an allocator gets anew from the system is filled with zeros by the system first, page
//! by page, which costs several times what it takes to read or decode into it. What a batch or a
//! decoder has let go is kept here for the next one, as long as its file is open. In a new process a
//! scan of vectors takes some 28 ms instead of 50 this way, and one of 100 KiB values 26 instead of
//! 44.

mod huge_pages;

use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;

use crate::parallel::try_lock;

/// Smaller buffers are left to the allocator, which keeps such itself.
pub(crate) const MIN_BYTES: usize = 32 << 10;
/// How many times larger than asked for a buffer may be.
const MAX_SLACK: usize = 6;
/// Bytes that are kept.
const MAX_KEPT_BYTES: usize = 32 << 20;
/// Sizes are rounded up to a multiple of this, so that buffers fit more often.
const STEP_BYTES: usize = 16 << 10;

/// Buffers that nobody uses; the one that was let go last comes last.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Vec<u8>>>);

impl Pool {
    /// An empty buffer with room for `len` bytes.
    pub(crate) fn take(&self, len: usize) -> Vec<u8> {
        let fresh = || Vec::with_capacity(round_up(len));
        let mut buffer = self.find(len).unwrap_or_else(|| huge_pages::wanted_for(fresh()));
        buffer.clear();
        buffer
    }

    /// A buffer of `len` bytes, to be written over: what is in them may be left from before.
    pub(crate) fn take_filled(&self, len: usize) -> Vec<u8> {
        // Zeros of a new buffer come from the system, without being written.
        let fresh = || vec![0; round_up(len)];
        let mut buffer = self.find(len).unwrap_or_else(|| huge_pages::wanted_for(fresh()));
        buffer.resize(len, 0);
        buffer
    }

    fn find(&self, len: usize) -> Option<Vec<u8>> {
        if len < MIN_BYTES {
            return None;
        }
        let sizes = len..=len.saturating_mul(MAX_SLACK);
        let mut kept = try_lock(&self.0)?;
        // The last one is warmest, and the one that most likely is what the same column needed before.
        let place = kept.iter().rposition(|buffer| sizes.contains(&buffer.capacity()));
        place.map(|place| kept.remove(place))
    }

    /// Bytes whose memory comes back once nobody needs them any more.
    pub(crate) fn lend(self: &Arc<Self>, buffer: Vec<u8>) -> Bytes {
        if buffer.capacity() < MIN_BYTES {
            return buffer.into();
        }
        Bytes::from_owner(Lent { buffer, pool: Arc::downgrade(self) })
    }

    /// Keeps a buffer for the next one.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        if !(MIN_BYTES..=MAX_KEPT_BYTES).contains(&buffer.capacity()) {
            return;
        }
        let Some(mut kept) = try_lock(&self.0) else { return };
        kept.push(buffer);
        let mut bytes = kept.iter().map(Vec::capacity).fold(0, usize::saturating_add);
        // What nobody took for longest goes, once the others may have the pool again.
        let mut gone = Vec::new();
        while bytes > MAX_KEPT_BYTES {
            let oldest = kept.remove(0);
            bytes = bytes.saturating_sub(oldest.capacity());
            gone.push(oldest);
        }
        drop(kept);
    }
}

/// The size of a new buffer.
fn round_up(len: usize) -> usize {
    if len < MIN_BYTES { len } else { len.checked_next_multiple_of(STEP_BYTES).unwrap_or(len) }
}

/// A buffer in use.
struct Lent {
    buffer: Vec<u8>,
    pool: Weak<Pool>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.give_back(std::mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::lock;

    #[test]
    fn buffers_come_back_once_nobody_needs_them() {
        let pool = Arc::new(Pool::default());
        let mut buffer = pool.take(MIN_BYTES);
        buffer.resize(MIN_BYTES, 7);
        let place = buffer.as_ptr();
        let bytes = pool.lend(buffer);
        let part = bytes.slice(5..9);
        drop(bytes);
        assert_eq!(lock(&pool.0).len(), 0, "a part of it is still in use");
        assert_eq!(part, [7; 4].as_slice());
        drop(part);
        let again = pool.take(MIN_BYTES);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        drop(pool.lend(again));
        assert!(pool.take(MIN_BYTES / 2).capacity() < MIN_BYTES);
        assert!(pool.take(MIN_BYTES * 2).capacity() >= MIN_BYTES * 2);
        drop(pool.lend(Vec::with_capacity(10)));
        assert_eq!(lock(&pool.0).len(), 1, "small ones are not kept");
        let late = pool.lend(vec![1; MIN_BYTES]);
        let weak = Arc::downgrade(&pool);
        drop(pool);
        assert!(weak.upgrade().is_none(), "bytes in use do not keep the pool");
        assert_eq!(late.len(), MIN_BYTES);
    }

    #[test]
    fn filled_buffers_have_their_size_and_old_bytes() {
        let pool = Arc::new(Pool::default());
        assert_eq!(pool.take_filled(5), [0; 5]);
        let mut buffer = pool.take_filled(MIN_BYTES + 1);
        assert_eq!(buffer, [0; MIN_BYTES + 1]);
        assert!(buffer.capacity() > MIN_BYTES + 1, "room for others");
        buffer.fill(7);
        let place = buffer.as_ptr();
        drop(pool.lend(buffer));
        let again = pool.take_filled(MIN_BYTES + 2);
        assert_eq!(again.as_ptr(), place);
        assert_eq!(again.split_at(MIN_BYTES + 1), (&[7; MIN_BYTES + 1][..], &[0][..]));
        drop(pool.lend(again));
        assert!(pool.take(MIN_BYTES).is_empty());
    }

    #[test]
    fn what_nobody_takes_goes_first() {
        let pool = Arc::new(Pool::default());
        let (a, b, c) = (MIN_BYTES, MAX_KEPT_BYTES / 2, MAX_KEPT_BYTES - 2 * MIN_BYTES);
        [a, b].into_iter().for_each(|size| drop(pool.lend(Vec::with_capacity(size))));
        assert_eq!(lock(&pool.0).len(), 2);
        drop(pool.lend(Vec::with_capacity(c)));
        assert_eq!(lock(&pool.0).iter().map(Vec::capacity).collect::<Vec<_>>(), [c]);
        drop(pool.lend(Vec::with_capacity(MAX_KEPT_BYTES + 1)));
        assert_eq!(lock(&pool.0).len(), 1, "too large a one is not kept, and the others stay");
        assert!(pool.take(a).capacity() < c, "too large a buffer is left for others");
    }
}
