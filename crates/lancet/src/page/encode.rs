//! What all layouts share when they are written.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "sizes of values in memory, not of numbers from a file"
)]

use bytes::Bytes;

use super::constant;
use super::layout::Layout;
use super::rules::Rules;
use crate::codec::{Encoding, Scheme, Values, block};
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

/// How the levels of a page may be compressed.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelForms {
    /// Runs may be used.
    pub(super) runs: bool,
    /// A compressor to try.
    pub(super) compression: Option<(Scheme, Option<i32>)>,
    /// Levels of one chunk, about.
    pub(super) levels_per_chunk: usize,
}

/// The form of a page's repetition or definition levels: the smallest of flat, bit-packed and,
/// where readers know them, run-length coded and compressed. A few chunks tell.
pub(super) fn level_encoding(levels: &[u16], forms: LevelForms) -> Result<Encoding> {
    let all = levels.iter().fold(0, |all, level| all | level);
    let packed = if levels.len() <= 1024 {
        Encoding::InlineBitpacking { bits: 16 }
    } else {
        // Nobody has seen values of no bits, so levels that are all 0 take one.
        let packed_bits = u64::from(u16::BITS - all.leading_zeros()).max(1);
        Encoding::OutOfLineBitpacking { bits: 16, packed_bits }
    };
    let mut smallest = (Encoding::Flat { bits: 16 }, usize::MAX);
    let plain = [Some(Encoding::Flat { bits: 16 }), Some(packed)];
    let runs = forms.runs.then_some(Encoding::Rle { bits: 16 });
    for encoding in plain.into_iter().chain([runs]).flatten() {
        let bytes = sampled_bytes(&encoding, levels, forms)?;
        if bytes < smallest.1 {
            smallest = (encoding, bytes);
        }
    }
    let Some((scheme, level)) = forms.compression else { return Ok(smallest.0) };
    // A compressor has to save a good part of the bytes to be worth its time.
    let mut to_beat = smallest.1 / 10 * 7;
    for inner in [smallest.0.clone(), Encoding::Flat { bits: 16 }] {
        let encoding = Encoding::General { scheme, level, values: Box::new(inner) };
        let bytes = sampled_bytes(&encoding, levels, forms)?;
        if bytes < to_beat {
            (smallest.0, to_beat) = (encoding, bytes);
        }
    }
    Ok(smallest.0)
}

/// Bytes of some chunks of levels.
fn sampled_bytes(encoding: &Encoding, levels: &[u16], forms: LevelForms) -> Result<usize> {
    /// Chunks that are tried.
    const SAMPLE: usize = 8;
    let levels_per_chunk = forms.levels_per_chunk.clamp(1, levels.len().max(1));
    let step = levels.len().div_ceil(levels_per_chunk).div_ceil(SAMPLE).max(1);
    let mut bytes = Vec::new();
    for chunk in levels.chunks(levels_per_chunk).step_by(step) {
        block::encode_levels(encoding, chunk, &mut bytes)?;
    }
    Ok(bytes.len())
}
