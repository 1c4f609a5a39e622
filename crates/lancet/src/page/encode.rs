//! What all layouts share when they are written.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "sizes of values in memory, not of numbers from a file"
)]

use bytes::Bytes;

use super::constant;
use super::layout::Layout;
use super::rules::Rules;
use crate::codec::{Encoding, Values};
use crate::error::Result;
use crate::levels::{Layer, Shredded};

/// A page ready to be written.
#[derive(Debug)]
pub(crate) struct EncodedPage {
    pub(crate) layout: Layout,
    pub(crate) buffers: Vec<Bytes>,
    /// Rows (entries under fixed-size lists of structs).
    pub(crate) num_rows: u64,
}

/// The levels of a page to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLevels<'a> {
    pub(crate) layers: &'a [Layer],
    pub(crate) rep: Option<&'a [u16]>,
    pub(crate) def: Option<&'a [u16]>,
    pub(crate) num_entries: usize,
    pub(crate) num_rows: u64,
}

impl<'a> From<&'a Shredded> for PageLevels<'a> {
    fn from(shredded: &'a Shredded) -> Self {
        Self {
            layers: &shredded.layers,
            rep: shredded.rep.as_deref(),
            def: shredded.def.as_deref(),
            num_entries: shredded.num_entries,
            // Without lists every entry counts as a row, also under fixed-size lists of structs.
            num_rows: match shredded.rep {
                Some(_) => shredded.num_rows,
                None => shredded.num_entries as u64,
            },
        }
    }
}

/// A page without any value that is not null.
pub(crate) fn all_null(levels: PageLevels<'_>, rules: Rules) -> Result<EncodedPage> {
    constant::encode(levels, None, rules)
}

/// A page whose values that are not null are all the same one.
pub(crate) fn scalar(levels: PageLevels<'_>, value: &Values, rules: Rules) -> Result<EncodedPage> {
    constant::encode(levels, Some(value), rules)
}

/// The form of a page's repetition or definition levels: the smallest of flat, bit-packed and,
/// where readers know it, run-length coded.
pub(super) fn level_encoding(levels: &[u16], runs_allowed: bool) -> Encoding {
    let flat = levels.len() * 2;
    let all = levels.iter().fold(0, |all, level| all | level);
    // Nobody has seen values of no bits, so levels that are all 0 take one.
    let width = u64::from(u16::BITS - all.leading_zeros()).max(1);
    let block = 128 * width as usize;
    let (packed, packed_bytes) = if levels.len() <= 1024 {
        (Encoding::InlineBitpacking { bits: 16 }, 2 + block)
    } else {
        let (full, rest) = (levels.len() / 1024 * block, levels.len() % 1024);
        let encoding = Encoding::OutOfLineBitpacking { bits: 16, packed_bits: width };
        (encoding, full + block.min(rest * 2))
    };
    let smallest = flat.min(packed_bytes);
    if runs_allowed {
        let run_bytes = |run: &[u16]| run.len().div_ceil(255) * 3;
        let runs: usize = levels.chunk_by(|a, b| a == b).map(run_bytes).sum();
        if runs + 8 < smallest {
            return Encoding::Rle { bits: 16 };
        }
    }
    if packed_bytes < flat { packed } else { Encoding::Flat { bits: 16 } }
}
