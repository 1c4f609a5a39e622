//! A Lance file taken apart: data, messages, tables. Put together again, all sizes fit.

use super::wire::{self, Value};

const FOOTER: usize = 40;

/// The parts of a file.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Everything before the descriptor.
    pub data: Vec<u8>,
    pub descriptor: Vec<u8>,
    pub columns: Vec<Vec<u8>>,
    /// Positions and sizes of the global buffers after the descriptor.
    pub user_buffers: Vec<(u64, u64)>,
    /// The last 8 bytes: version and magic.
    pub end: [u8; 8],
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes.get(at..at + width)?);
    Some(u64::from_le_bytes(word))
}

fn slice(bytes: &[u8], position: u64, size: u64) -> Option<Vec<u8>> {
    let start = usize::try_from(position).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?).map(<[u8]>::to_vec)
}

impl Parts {
    /// Takes an intact file apart.
    pub fn split(file: &[u8]) -> Option<Self> {
        let footer = file.len().checked_sub(FOOTER)?;
        let at = |offset, width| number(file, footer + offset, width);
        let (cmo, gbo) = (at(8, 8)? as usize, at(16, 8)? as usize);
        let (num_buffers, num_columns) = (at(24, 4)? as usize, at(28, 4)? as usize);
        let entry = |table: usize, i: usize| {
            Some((number(file, table + 16 * i, 8)?, number(file, table + 16 * i + 8, 8)?))
        };
        let entries = |table, n: usize| (0..n).map(|i| entry(table, i)).collect::<Option<Vec<_>>>();
        let buffers = entries(gbo, num_buffers)?;
        let (position, size) = *buffers.first()?;
        let columns = entries(cmo, num_columns)?;
        Some(Self {
            data: slice(file, 0, position)?,
            descriptor: slice(file, position, size)?,
            columns: columns.iter().map(|(p, s)| slice(file, *p, *s)).collect::<Option<_>>()?,
            user_buffers: buffers[1..].to_vec(),
            end: file.last_chunk().copied()?,
        })
    }

    /// The file of these parts.
    pub fn join(&self) -> Vec<u8> {
        let mut out = self.data.clone();
        let mut buffers = vec![(out.len() as u64, self.descriptor.len() as u64)];
        out.extend_from_slice(&self.descriptor);
        let column_meta_start = out.len() as u64;
        let mut columns = Vec::new();
        for column in &self.columns {
            columns.push((out.len() as u64, column.len() as u64));
            out.extend_from_slice(column);
        }
        buffers.extend_from_slice(&self.user_buffers);
        let cmo = out.len() as u64;
        let mut table = |entries: &[(u64, u64)]| {
            let start = out.len() as u64;
            for (position, size) in entries {
                out.extend_from_slice(&position.to_le_bytes());
                out.extend_from_slice(&size.to_le_bytes());
            }
            start
        };
        table(&columns);
        let gbo = table(&buffers);
        for start in [column_meta_start, cmo, gbo] {
            out.extend_from_slice(&start.to_le_bytes());
        }
        out.extend_from_slice(&(buffers.len() as u32).to_le_bytes());
        out.extend_from_slice(&(columns.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.end);
        out
    }

    /// Where the buffers of all pages are in the data.
    pub fn page_buffers(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for column in &self.columns {
            for field in wire::parse(column).unwrap_or_default() {
                let (2, Value::Bytes(page)) = (field.number, &field.value) else { continue };
                let mut lists = [Vec::new(), Vec::new()];
                for field in wire::parse(page).unwrap_or_default() {
                    if let (n @ (1 | 2), Value::Bytes(bytes)) = (field.number, &field.value) {
                        lists[n as usize - 1] = wire::packed(bytes).unwrap_or_default();
                    }
                }
                let [offsets, sizes] = lists;
                out.extend(offsets.iter().zip(sizes).map(|(o, s)| (*o as usize, s as usize)));
            }
        }
        out.retain(|(start, size)| {
            start.checked_add(*size).is_some_and(|end| *size > 0 && end <= self.data.len())
        });
        out
    }

    /// The messages: the descriptor, then the columns.
    pub fn messages(&self) -> Vec<&[u8]> {
        std::iter::once(&self.descriptor).chain(&self.columns).map(Vec::as_slice).collect()
    }

    /// Replaces a message, numbered as in [`Parts::messages`].
    pub fn set_message(&mut self, i: usize, message: Vec<u8>) {
        match i.checked_sub(1) {
            None => self.descriptor = message,
            Some(column) => self.columns[column] = message,
        }
    }
}
