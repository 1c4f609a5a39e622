//! Chunks to levels and values.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use bytes::Bytes;

use super::super::sink::{LeafSink, SinkValues};
use super::super::{PageTask, clip, dictionary};
use super::chunk::Chunk;
use super::index::{ChunkStart, MiniBlockIndex};
use super::layout::{MiniBlockLayout, index_bits};
use crate::bits::Planes;
use crate::codec::{self, Dictionary, Encoding, Scratch, ValueType, Values, block};
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::{Numbering, Rows, leaf_validity};

/// What an entry costs: its two levels, in the chunk and in the sink, and its validity.
const LEVEL_BYTES: u64 = 9;

impl MiniBlockIndex {
    /// Appends the task's rows to the sink.
    pub(crate) fn decode(
        &self,
        layout: &MiniBlockLayout,
        task: &PageTask,
        fetched: &[Bytes],
        sink: &mut LeafSink,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut page = PageDecoder {
            layout,
            numbering: Numbering::new(&layout.layers)?,
            dictionary: self.dictionary.as_ref(),
            rep: Planes::default(),
            def: Planes::default(),
            rows: Vec::new(),
            ranges: Vec::new(),
            indices: None,
            num_entries: 0,
        };
        if let Some(dictionary) = page.dictionary {
            dictionary::open_page(&dictionary.items, &mut sink.values, scratch)?;
        }
        for (run, bytes) in task.chunks.iter().zip(fetched) {
            let base = self.chunks.get(run.start).map_or(0, |c| c.offset);
            for chunk in run.clone() {
                let (start, end) = (self.start(chunk)?, self.start(chunk.saturating_add(1))?);
                let local = |offset: u64| usize::try_from(offset.saturating_sub(base)).ok();
                let slice = local(start.offset)
                    .zip(local(end.offset))
                    .and_then(|(start, end)| bytes.get(start..end))
                    .ok_or_else(|| Error::corrupt("a read returned too few bytes"))?;
                clip(&task.rows, start.ended..end.started, &mut page.rows);
                page.decode_chunk(slice, &start, &end, sink, scratch)
                    .at(start.offset)
                    .in_buffer(1)?;
            }
        }
        sink.close_page(&layout.layers, page.num_entries, scratch)
    }

    fn start(&self, chunk: usize) -> Result<ChunkStart> {
        self.chunks.get(chunk).copied().ok_or_else(|| Error::corrupt("a chunk is missing"))
    }
}

/// What the chunks of one page share while they are decoded.
struct PageDecoder<'a> {
    layout: &'a MiniBlockLayout,
    numbering: Numbering,
    dictionary: Option<&'a Dictionary>,
    /// Levels of the chunk at hand.
    rep: Planes,
    def: Planes,
    /// Wanted rows of the chunk at hand; the first row is the one that holds entry 0.
    rows: Vec<Range<usize>>,
    /// Wanted values of the chunk at hand.
    ranges: Vec<Range<usize>>,
    /// Indices of the chunk at hand into the dictionary.
    indices: Option<Values>,
    /// Entries appended so far.
    num_entries: usize,
}

impl PageDecoder<'_> {
    fn decode_chunk(
        &mut self,
        bytes: &[u8],
        start: &ChunkStart,
        end: &ChunkStart,
        sink: &mut LeafSink,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let chunk = Chunk::parse(bytes, self.layout)?;
        let num_values = usize::try_from(end.value.saturating_sub(start.value))
            .map_err(|_| Error::corrupt("too many values in a chunk"))?;
        self.decode_levels(&chunk, num_values, scratch)?;

        let first_def = sink.def.len();
        if self.layout.rep.is_some() {
            self.select_nested(start, end, num_values, sink)?;
        } else {
            self.ranges.clone_from(&self.rows);
            for range in &self.rows {
                self.num_entries = self.num_entries.saturating_add(range.len());
                if self.layout.def.is_some() {
                    sink.def.extend(&self.def, range.clone());
                }
            }
        }
        if self.ranges.is_empty() {
            return Ok(());
        }
        match (self.dictionary, &mut sink.values) {
            (None, SinkValues::Plain(values)) => codec::mini_block::decode_chunk(
                &self.layout.values,
                chunk.values(),
                num_values,
                &self.ranges,
                values,
                scratch,
            ),
            (Some(dictionary), values) => {
                let bits = index_bits(&self.layout.values)?;
                let indices =
                    self.indices.get_or_insert_with(|| Values::new(&ValueType::Fixed { bits }));
                if let Values::Fixed(indices) = indices {
                    indices.clear();
                }
                codec::mini_block::decode_chunk(
                    &self.layout.values,
                    chunk.values(),
                    num_values,
                    &self.ranges,
                    indices,
                    scratch,
                )?;
                let Values::Fixed(indices) = indices else {
                    return Err(Error::corrupt("dictionary indices that are not integers"));
                };
                let mut selected = Planes::default();
                selected.extend(&sink.def, first_def..sink.def.len());
                let validity = leaf_validity(&selected, self.numbering.max_visible);
                let validity = validity.as_ref().map(NullBuffer::validity);
                dictionary::append(dictionary, indices, validity, values, scratch)
            }
            _ => Err(Error::corrupt("a page without a dictionary in a dictionary column")),
        }
    }

    /// Decodes the levels of a chunk and checks them.
    fn decode_levels(
        &mut self,
        chunk: &Chunk<'_>,
        num_values: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.rep.clear();
        self.def.clear();
        let rep = self.layout.rep.as_ref().zip(chunk.rep);
        let def = self.layout.def.as_ref().zip(chunk.def);
        if rep.is_none() && def.is_none() {
            return Ok(());
        }
        let count = |stream: Option<(&Encoding, &[u8])>| match stream {
            Some((encoding, bytes)) => block::num_levels(encoding, bytes, chunk.num_levels),
            None => Ok(usize::from(chunk.num_levels)),
        };
        let num_levels = count(rep)?.max(count(def)?);
        let bytes = u64::try_from(num_levels).unwrap_or(u64::MAX).saturating_mul(LEVEL_BYTES);
        scratch.claim(bytes, "the levels of a chunk")?;
        if let Some((encoding, bytes)) = rep {
            block::decode_levels(encoding, bytes, num_levels, &mut self.rep, scratch)?;
        }
        if let Some((encoding, bytes)) = def {
            block::decode_levels(encoding, bytes, num_levels, &mut self.def, scratch)?;
        }
        self.numbering.check(rep.map(|_| &self.rep), def.map(|_| &self.def))?;
        ensure!(
            rep.is_some() || num_levels == num_values,
            "{num_levels} levels for {num_values} values"
        );
        Ok(())
    }

    /// Appends the levels of the wanted rows and notes the values that belong to them.
    fn select_nested(
        &mut self,
        start: &ChunkStart,
        end: &ChunkStart,
        num_values: usize,
        sink: &mut LeafSink,
    ) -> Result<()> {
        let rep = &self.rep;
        let def = self.layout.def.as_ref().map(|_| &self.def);
        let rows = Rows::new(rep, def, &self.numbering);
        let runs_in = start.started > start.ended;
        let starts = end.started.saturating_sub(start.started);
        let found = rows.num_started;
        ensure!(
            u64::try_from(found) == Ok(starts)
                && rows.continues().is_none_or(|continues| continues == runs_in),
            "the repetition index counts {starts} row starts in a chunk that has {found}"
        );
        let visible = rows.num_values();
        ensure!(visible == num_values, "{visible} visible levels for {num_values} values");

        self.ranges.clear();
        let (ranges, num_entries) = (&mut self.ranges, &mut self.num_entries);
        let mut append = |entries: Range<usize>, values: Range<usize>| {
            *num_entries = num_entries.saturating_add(entries.len());
            sink.rep.extend(rep, entries.clone());
            if let Some(def) = def {
                sink.def.extend(def, entries);
            }
            if !values.is_empty() {
                ranges.push(values);
            }
        };
        if runs_in {
            // The row that runs into the chunk is the first of the wanted ones, if it is wanted.
            if self.rows.first().is_some_and(|wanted| wanted.start == 0) {
                let (entries, values) = rows.preamble();
                append(0..entries, 0..values);
            }
            for wanted in &mut self.rows {
                *wanted = wanted.start.saturating_sub(1)..wanted.end.saturating_sub(1);
            }
            self.rows.retain(|wanted| !wanted.is_empty());
        }
        rows.select(&self.rows, append)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
