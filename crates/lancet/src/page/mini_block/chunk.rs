//! The parts of one chunk.

use super::layout::MiniBlockLayout;
use crate::cursor::Cursor;
use crate::error::{Result, ensure};

/// At most 16 fixed-size list layers with validity, and their items.
const MAX_BUFFERS: usize = 17;

/// The parts of a chunk as slices of it.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) num_levels: u16,
    pub(super) rep: Option<&'a [u8]>,
    pub(super) def: Option<&'a [u8]>,
    /// Where there are more than two, which is rare, all are in `many`: a place for each would cost every chunk.
    few: [&'a [u8]; 2],
    many: Vec<&'a [u8]>,
    num_buffers: usize,
}

impl<'a> Chunk<'a> {
    /// Cuts a chunk into its parts.
    pub(super) fn parse(bytes: &'a [u8], layout: &MiniBlockLayout) -> Result<Self> {
        let num_buffers = layout.values.num_buffers();
        ensure!(num_buffers <= MAX_BUFFERS, "{num_buffers} value buffers in a chunk");
        let mut cursor = Cursor::new(bytes);
        let num_levels = cursor.u16("number of levels")?;
        let rep_size = layout.rep.as_ref().map(|_| cursor.u16("size of repetition levels"));
        let def_size = layout.def.as_ref().map(|_| cursor.u16("size of definition levels"));
        let (rep_size, def_size) = (rep_size.transpose()?, def_size.transpose()?);
        ensure!(
            num_levels == 0 || rep_size.is_some() || def_size.is_some(),
            "{num_levels} levels in a chunk of a page without levels"
        );

        let next_size = |cursor: &mut Cursor<'_>| -> Result<usize> {
            Ok(if layout.large_chunks {
                usize::try_from(cursor.u32("size of a value buffer")?).unwrap_or(usize::MAX)
            } else {
                usize::from(cursor.u16("size of a value buffer")?)
            })
        };
        let mut sizes = cursor;
        for _ in 0..num_buffers {
            next_size(&mut cursor)?;
        }
        cursor.align(8, "padding of the chunk header")?;

        let mut part = |size: usize, what: &str| -> Result<&'a [u8]> {
            let part = cursor.take(size, what)?;
            cursor.align(8, "padding in a chunk")?;
            Ok(part)
        };
        let rep = rep_size.map(|size| part(usize::from(size), "repetition levels")).transpose()?;
        let def = def_size.map(|size| part(usize::from(size), "definition levels")).transpose()?;
        let mut value = || part(next_size(&mut sizes)?, "values of a chunk");
        let mut few: [&[u8]; 2] = [&[]; 2];
        let mut many = Vec::new();
        if num_buffers <= few.len() {
            for buffer in few.iter_mut().take(num_buffers) {
                *buffer = value()?;
            }
        } else {
            many = (0..num_buffers).map(|_| value()).collect::<Result<_>>()?;
        }
        ensure!(
            cursor.rest().is_empty(),
            "{} bytes after the parts of a chunk",
            cursor.rest().len()
        );
        Ok(Self { num_levels, rep, def, few, many, num_buffers })
    }

    /// The value buffers.
    pub(super) fn values(&self) -> &[&'a [u8]] {
        self.few.get(..self.num_buffers).unwrap_or(&self.many)
    }
}

#[cfg(test)]
#[path = "chunk_tests.rs"]
mod tests;
