//! Changes to files of any format, the same in every run, and an allocator that bounds what reading them takes.

use std::alloc::{GlobalAlloc, Layout, System};

/// Hands out no more than so many bytes at once: who asks for that aborts, and so do the tests.
pub struct Limited<const MOST_BYTES: usize>;

// SAFETY: everything is left to the system's allocator, which may refuse as well.
unsafe impl<const MOST_BYTES: usize> GlobalAlloc for Limited<MOST_BYTES> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > MOST_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % end.max(1)
    }
}

/// One to four changes: a bit, a byte, a large number, a cut.
pub fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        // Most of what can go wrong is in the last part, where footers are.
        let start = if random.below(2) == 0 { 0 } else { bytes.len() * 2 / 3 };
        let at = start + random.below(bytes.len() - start);
        match random.below(8) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = 0xFF,
            2 => {
                let len = bytes.len();
                bytes[at..len.min(at + 8)].fill(0x7F);
            }
            3 => bytes[at] = random.below(256) as u8,
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    bytes
}
