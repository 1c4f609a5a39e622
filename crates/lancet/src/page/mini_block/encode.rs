//! Levels and values to a mini-block page.
//!
//! Chunks are cut by values; levels follow. A chunk takes as many values as fit the target, a
//! power of two, and all entries up to its last value; the last chunk takes what is left.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "sizes of values in memory, not of numbers from a file"
)]

use std::ops::Range;

use bytes::Bytes;

use super::super::encode::{EncodedPage, LevelForms, PageLevels, level_encoding};
use super::super::layout::Layout;
use super::super::rules::Rules;
use super::PADDING;
use super::layout::{DictionaryLayout, MiniBlockLayout};
use crate::codec::{self, Encoding, Scheme, Values};
use crate::error::{Error, Result};
use crate::levels::Numbering;

/// How a writer wants its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkSize {
    /// Stored bytes of values to aim at.
    pub(crate) target_bytes: usize,
    /// Most values, a power of two.
    pub(crate) max_values: usize,
}

/// What a mini-block page is to hold.
#[derive(Debug)]
pub(crate) struct MiniBlockInput<'a> {
    pub(crate) levels: PageLevels<'a>,
    /// The values, or the indices when there is a dictionary.
    pub(crate) values: &'a Values,
    pub(crate) encoding: Encoding,
    pub(crate) dictionary: Option<(Encoding, &'a Values)>,
    pub(crate) chunk_size: ChunkSize,
    /// A compressor for levels, where the version knows it.
    pub(crate) level_compression: Option<(Scheme, Option<i32>)>,
}

/// Encodes a page; `None` if a chunk would hold more levels or bytes than its header can say.
pub(crate) fn encode(input: &MiniBlockInput<'_>, rules: Rules) -> Result<Option<EncodedPage>> {
    let levels = input.levels;
    let numbering = Numbering::new(levels.layers)?;
    let forms = LevelForms {
        runs: rules.compressed_levels,
        compression: input.level_compression.filter(|_| rules.compressed_levels),
        levels_per_chunk: input.levels_per_chunk(),
    };
    let rep = levels.rep.map(|rep| level_encoding(rep, forms)).transpose()?;
    let def = levels.def.map(|def| level_encoding(def, forms)).transpose()?;
    let mut writer = ChunkWriter {
        input,
        rules,
        numbering,
        rep_encoding: rep.as_ref(),
        def_encoding: def.as_ref(),
        words: Vec::new(),
        chunks: Vec::new(),
        index: Vec::new(),
        buffers: Vec::new(),
        level_bytes: [Vec::new(), Vec::new()],
    };
    if !writer.write_chunks()? {
        return Ok(None);
    }
    let ChunkWriter { words, chunks, index, .. } = writer;
    let mut buffers = vec![Bytes::from(words), Bytes::from(chunks)];
    let mut dictionary = None;
    if let Some((encoding, items)) = &input.dictionary {
        buffers.push(codec::block::encode_block(encoding, items)?.into());
        dictionary = Some(DictionaryLayout {
            encoding: encoding.clone(),
            num_items: items.len() as u64,
            counted: false,
        });
    }
    if levels.rep.is_some() {
        buffers.push(index.into());
    }
    let layout = Layout::MiniBlock(MiniBlockLayout {
        rep,
        def,
        values: input.encoding.clone(),
        dictionary,
        layers: levels.layers.to_vec(),
        num_values: input.values.len() as u64,
        large_chunks: rules.large_chunks,
    });
    Ok(Some(EncodedPage { layout, buffers, num_rows: levels.num_rows }))
}

impl MiniBlockInput<'_> {
    /// About how many levels a chunk has.
    fn levels_per_chunk(&self) -> usize {
        let num_values = self.values.len().max(1);
        let mean_bytes = (self.values.size_bytes() / num_values).max(1);
        let values =
            (self.chunk_size.target_bytes / mean_bytes).clamp(1, self.chunk_size.max_values);
        values.saturating_mul(self.levels.num_entries) / num_values
    }
}

struct ChunkWriter<'a> {
    input: &'a MiniBlockInput<'a>,
    rules: Rules,
    numbering: Numbering,
    rep_encoding: Option<&'a Encoding>,
    def_encoding: Option<&'a Encoding>,
    words: Vec<u8>,
    chunks: Vec<u8>,
    /// The repetition index.
    index: Vec<u8>,
    /// Value buffers of the chunk at hand.
    buffers: Vec<Vec<u8>>,
    /// Repetition and definition levels of the chunk at hand.
    level_bytes: [Vec<u8>; 2],
}

impl ChunkWriter<'_> {
    /// Whether everything fit.
    fn write_chunks(&mut self) -> Result<bool> {
        let num_values = self.input.values.len();
        let num_entries = self.input.levels.num_entries;
        let (mut value, mut entry) = (0, 0);
        while value < num_values {
            let mut count = self.count(value..num_values);
            loop {
                let last = value + count == num_values;
                let end = if last { num_entries } else { self.entries_of(entry, count) };
                if self.write_chunk(value..value + count, entry..end, last)? {
                    (value, entry) = (value + count, end);
                    break;
                }
                // Too large: try half as many values, the next lower power of two.
                count = count.next_power_of_two() / 2;
                if count < 2 {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// How many of the values that are left the next chunk should take.
    fn count(&self, left: Range<usize>) -> usize {
        let ChunkSize { target_bytes, max_values } = self.input.chunk_size;
        let fits = |count: usize| {
            let range = left.start..left.start + count;
            self.input.values.range_bytes(range) <= target_bytes
        };
        if left.len() <= max_values && (left.len() < 2 || fits(left.len())) {
            return left.len();
        }
        let mut count = 2;
        while count * 2 <= max_values.min(left.len() - 1) && fits(count * 2) {
            count *= 2;
        }
        count
    }

    /// The end of the entries that hold the next `count` values.
    fn entries_of(&self, start: usize, count: usize) -> usize {
        let (Some(_), Some(def)) = (self.input.levels.rep, self.input.levels.def) else {
            return start + count;
        };
        let visible = def.iter().enumerate().skip(start);
        let mut visible = visible.filter(|(_, def)| self.numbering.is_visible(**def));
        visible.nth(count - 1).map_or(def.len(), |(entry, _)| entry + 1)
    }

    /// Appends a chunk unless it is too large for its header.
    fn write_chunk(
        &mut self,
        values: Range<usize>,
        entries: Range<usize>,
        last: bool,
    ) -> Result<bool> {
        let levels = self.input.levels;
        let num_levels =
            if levels.rep.is_some() || levels.def.is_some() { entries.len() } else { 0 };
        if num_levels > usize::from(u16::MAX) {
            return Ok(false);
        }
        let streams = [(levels.rep, self.rep_encoding), (levels.def, self.def_encoding)];
        for (bytes, (levels, encoding)) in self.level_bytes.iter_mut().zip(streams) {
            bytes.clear();
            if let (Some(levels), Some(encoding)) = (levels, encoding) {
                codec::block::encode_levels(
                    encoding,
                    levels.get(entries.clone()).unwrap_or_default(),
                    bytes,
                )?;
            }
            if bytes.len() > usize::from(u16::MAX) {
                return Ok(false);
            }
        }
        codec::mini_block::encode_chunk(
            &self.input.encoding,
            self.input.values,
            values.clone(),
            &mut self.buffers,
        )?;
        let largest = if self.rules.large_chunks { 1 << 31 } else { usize::from(u16::MAX) };
        if self.buffers.iter().any(|buffer| buffer.len() > largest) {
            return Ok(false);
        }
        let start = self.chunks.len();
        self.append_chunk(num_levels)?;
        let size = self.chunks.len() - start;
        if size > self.rules.max_chunk_bytes {
            self.chunks.truncate(start);
            return Ok(false);
        }
        self.append_word(size, if last { 0 } else { values.len().trailing_zeros() })?;
        self.append_index(entries);
        Ok(true)
    }

    fn append_chunk(&mut self, num_levels: usize) -> Result<()> {
        let out = &mut self.chunks;
        put_u16(out, num_levels)?;
        let encodings = [self.rep_encoding, self.def_encoding];
        let streams = self.level_bytes.iter().zip(encodings);
        let streams = streams.filter_map(|(bytes, encoding)| encoding.map(|_| bytes));
        for bytes in streams.clone() {
            put_u16(out, bytes.len())?;
        }
        for buffer in &self.buffers {
            if self.rules.large_chunks {
                put_u32(out, buffer.len())?;
            } else {
                put_u16(out, buffer.len())?;
            }
        }
        pad(out);
        for part in streams.chain(&self.buffers) {
            out.extend_from_slice(part);
            pad(out);
        }
        Ok(())
    }

    fn append_word(&mut self, size: usize, log: u32) -> Result<()> {
        let word = ((size / 8 - 1) << 4) | log as usize;
        if self.rules.large_chunks {
            put_u32(&mut self.words, word)
        } else {
            put_u16(&mut self.words, word)
        }
    }

    /// Rows that end in the chunk, and entries of a row that goes on in the next one.
    fn append_index(&mut self, entries: Range<usize>) {
        let Some(rep) = self.input.levels.rep else { return };
        let starts_row = |entry: usize| rep.get(entry).is_none_or(|r| *r == self.numbering.max_rep);
        let ends = (entries.start + 1..=entries.end).filter(|entry| starts_row(*entry)).count();
        let partial = if starts_row(entries.end) {
            0
        } else {
            let start = entries.clone().rev().find(|entry| starts_row(*entry));
            entries.end - start.unwrap_or(entries.start)
        };
        self.index.extend_from_slice(&(ends as u64).to_le_bytes());
        self.index.extend_from_slice(&(partial as u64).to_le_bytes());
    }
}

fn put_u16(out: &mut Vec<u8>, n: usize) -> Result<()> {
    let n = u16::try_from(n).map_err(|_| Error::invalid("a chunk is too large for its header"))?;
    out.extend_from_slice(&n.to_le_bytes());
    Ok(())
}

fn put_u32(out: &mut Vec<u8>, n: usize) -> Result<()> {
    let n = u32::try_from(n).map_err(|_| Error::invalid("a chunk is too large for its header"))?;
    out.extend_from_slice(&n.to_le_bytes());
    Ok(())
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), PADDING);
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
