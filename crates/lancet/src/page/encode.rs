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
/// where readers know them, run-length coded and compressed.
pub(super) fn level_encoding(levels: &[u16], forms: LevelForms) -> Result<Encoding> {
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
    let mut smallest = (Encoding::Flat { bits: 16 }, flat);
    let mut consider = |encoding, bytes| {
        if bytes < smallest.1 {
            smallest = (encoding, bytes);
        }
    };
    consider(packed, packed_bytes);
    let levels_per_chunk = forms.levels_per_chunk.clamp(1, levels.len().max(1));
    if forms.runs {
        let run_bytes = |run: &[u16]| run.len().div_ceil(255) * 3;
        let runs: usize = levels.chunk_by(|a, b| a == b).map(run_bytes).sum();
        // Each chunk has a header, and may cut a run.
        consider(
            Encoding::Rle { bits: 16 },
            runs + levels.len().div_ceil(levels_per_chunk) * (8 + 3),
        );
    }
    let (plain, plain_bytes) = smallest;
    let Some((scheme, level)) = forms.compression.filter(|_| plain_bytes > 256) else {
        return Ok(plain);
    };
    let compressed = Encoding::General { scheme, level, values: Box::new(plain.clone()) };
    let num_chunks = levels.len().div_ceil(levels_per_chunk);
    let (mut bytes, mut seen) = (Vec::new(), 0);
    for chunk in levels.chunks(levels_per_chunk).step_by(num_chunks.div_ceil(LEVEL_SAMPLE)) {
        block::encode_levels(&compressed, chunk, &mut bytes)?;
        seen += chunk.len();
    }
    let pays = bytes.len() as f64 / (seen as f64) < 0.7 * plain_bytes as f64 / levels.len() as f64;
    Ok(if pays { compressed } else { plain })
}

/// Chunks whose levels are tried with a compressor.
const LEVEL_SAMPLE: usize = 8;
