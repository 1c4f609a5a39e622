//! What decoding on one thread takes: a share of a budget, and buffers that are used again.

use super::{Scheme, general, size_u64};
use crate::budget::Budget;
use crate::error::{Result, ensure};

/// Bytes that a [`Scratch`] takes from its budget at once, where there are as many.
const LEASE: u64 = 1 << 20;

/// What decoding on one thread may still allocate, and buffers to reuse.
#[derive(Debug)]
pub(crate) struct Scratch {
    budget: Budget,
    /// Bytes taken from the budget and not claimed yet.
    leased: u64,
    /// Decompressed bytes of the unit at hand.
    pub(crate) bytes: Vec<u8>,
    /// Checked dictionary indices of a unit.
    pub(super) indices: Vec<u32>,
    /// Where the codes of a unit of coded strings go.
    pub(crate) places: Vec<u32>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A read of thousands of pages would otherwise use up its budget with leases.
        self.budget.put_back(self.leased);
    }
}

impl Scratch {
    /// A scratch that lets decoding claim `limit` bytes.
    #[cfg(test)]
    pub(crate) fn new(limit: u64) -> Self {
        Self::sharing(&Budget::new(limit))
    }

    /// A scratch that takes what it needs from a budget.
    pub(crate) fn sharing(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            leased: 0,
            bytes: Vec::new(),
            indices: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Asks for `bytes` more, on the word of a number from the file. Call before allocating.
    pub(crate) fn claim(&mut self, bytes: u64, what: &str) -> Result<()> {
        let missing = bytes.saturating_sub(self.leased);
        if missing > 0 {
            let lease = missing.max(LEASE.min(self.budget.left()));
            if self.budget.claim(lease, what).is_err() {
                // Another column may have taken the rest of what a lease adds.
                self.budget.claim(missing, what)?;
                self.leased = 0;
                return Ok(());
            }
            self.leased = self.leased.saturating_add(lease);
        }
        self.leased = self.leased.saturating_sub(bytes);
        Ok(())
    }

    /// Hands back what was claimed for something that is gone again.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.leased = self.leased.saturating_add(bytes);
    }

    /// Bytes claimed so far.
    #[cfg(test)]
    pub(super) fn claimed(&self) -> u64 {
        self.budget.used().saturating_sub(self.leased)
    }

    /// What may still be claimed.
    fn left(&self) -> u64 {
        self.budget.left().saturating_add(self.leased)
    }

    /// Decompresses one unit into the buffer that [`Scratch::bytes`] keeps for it.
    ///
    /// `bound` is the most bytes the inner encoding can have, where that is known. The caller
    /// hands the buffer back with [`Scratch::recycle`], so that nested units work too.
    pub(crate) fn decompress(
        &mut self,
        scheme: Scheme,
        unit: &[u8],
        bound: Option<u64>,
    ) -> Result<Vec<u8>> {
        let bound = bound.unwrap_or(u64::MAX);
        let max_bytes = match general::uncompressed_size(scheme, unit)? {
            Some(size) => {
                ensure!(
                    size <= bound,
                    "a compressed unit claims {size} bytes, but its values need at most {bound}"
                );
                size
            }
            None => bound.min(self.left()),
        };
        self.claim(max_bytes, "a compressed unit")?;
        let mut bytes = std::mem::take(&mut self.bytes);
        general::decompress(scheme, unit, max_bytes, &mut bytes)?;
        // A frame that does not tell its size was given all there is; keep only what it took.
        self.release(max_bytes.saturating_sub(size_u64(bytes.len())));
        Ok(bytes)
    }

    /// Takes back a buffer of [`Scratch::decompress`]; `kept` of its bytes live on as values.
    pub(super) fn recycle(&mut self, bytes: Vec<u8>, kept: usize) {
        self.release(size_u64(bytes.len().saturating_sub(kept)));
        self.bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn claims_stop_at_the_limit_and_can_be_handed_back() {
        let mut scratch = Scratch::new(100);
        scratch.claim(60, "a").unwrap();
        assert!(matches!(scratch.claim(41, "b"), Err(Error::Limit { needed: 101, .. })));
        scratch.release(1);
        scratch.claim(41, "b").unwrap();
        assert!(matches!(scratch.claim(1, "c"), Err(Error::Limit { .. })));
    }

    #[test]
    fn columns_share_a_budget() {
        let budget = Budget::new(3 << 20);
        let (mut a, mut b) = (Scratch::sharing(&budget), Scratch::sharing(&budget));
        a.claim(10, "a").unwrap();
        b.claim(2 << 20, "b").unwrap();
        assert!(matches!(b.claim(1, "b"), Err(Error::Limit { option: "memory_limit", .. })));
        a.claim(1000, "a").unwrap();
        assert!(budget.claim(1, "more").is_err());
        drop(a);
        budget.claim((1 << 20) - 1010, "what was leased and not claimed").unwrap();
        assert!(budget.claim(1, "more").is_err());
    }
}
