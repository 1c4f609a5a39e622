//! Flatbuffers, as far as Arrow files need them: every offset is checked before it is followed.
//!
//! ```text
//! table     i32 back to its vtable, then fields
//! vtable    u16 own bytes, u16 bytes of the table, then for each field u16 its offset in the table, 0 if absent
//! vector    u32 count, then elements; strings are vectors of bytes
//! ```
//!
//! Tables, vectors and strings are referred to by a u32 that counts from where it stands.

use crate::error::Problem;

/// A table in a buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    buffer: &'a [u8],
    at: usize,
    vtable: &'a [u8],
}

/// The elements of a vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<'a> {
    buffer: &'a [u8],
    /// Where the first element is.
    at: usize,
    pub(super) len: usize,
}

fn outside() -> Problem {
    Problem::corrupt("its metadata refers to bytes that are not there")
}

pub(super) fn bytes_at<const N: usize>(buffer: &[u8], at: usize) -> Result<[u8; N], Problem> {
    let bytes = buffer.get(at..).and_then(|rest| rest.first_chunk());
    bytes.copied().ok_or_else(outside)
}

/// Where the offset that stands at `at` leads.
fn follow(buffer: &[u8], at: usize) -> Result<usize, Problem> {
    let offset = u32::from_le_bytes(bytes_at(buffer, at)?);
    usize::try_from(offset).ok().and_then(|offset| at.checked_add(offset)).ok_or_else(outside)
}

impl<'a> Table<'a> {
    /// The table that a buffer begins with.
    pub(super) fn root(buffer: &'a [u8]) -> Result<Self, Problem> {
        Self::at(buffer, follow(buffer, 0)?)
    }

    fn at(buffer: &'a [u8], at: usize) -> Result<Self, Problem> {
        let back = i64::from(i32::from_le_bytes(bytes_at(buffer, at)?));
        let start = i64::try_from(at).ok().and_then(|at| at.checked_sub(back));
        let start = start.and_then(|start| usize::try_from(start).ok()).ok_or_else(outside)?;
        let len = usize::from(u16::from_le_bytes(bytes_at(buffer, start)?));
        let end = start.checked_add(len).ok_or_else(outside)?;
        let vtable = buffer.get(start..end).ok_or_else(outside)?;
        Ok(Self { buffer, at, vtable })
    }

    /// Where a field stands; none if it has its default value.
    fn field(&self, number: usize) -> Result<Option<usize>, Problem> {
        let place = number.saturating_add(2).saturating_mul(2);
        let Ok(offset) = bytes_at(self.vtable, place) else { return Ok(None) };
        match u16::from_le_bytes(offset) {
            0 => Ok(None),
            offset => self.at.checked_add(offset.into()).map(Some).ok_or_else(outside),
        }
    }

    pub(super) fn byte(&self, number: usize) -> Result<u8, Problem> {
        let Some(at) = self.field(number)? else { return Ok(0) };
        bytes_at::<1>(self.buffer, at).map(|[byte]| byte)
    }

    pub(super) fn int32(&self, number: usize) -> Result<i32, Problem> {
        let Some(at) = self.field(number)? else { return Ok(0) };
        bytes_at(self.buffer, at).map(i32::from_le_bytes)
    }

    pub(super) fn int64(&self, number: usize) -> Result<i64, Problem> {
        let Some(at) = self.field(number)? else { return Ok(0) };
        bytes_at(self.buffer, at).map(i64::from_le_bytes)
    }

    pub(super) fn table(&self, number: usize) -> Result<Option<Self>, Problem> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        Self::at(self.buffer, follow(self.buffer, at)?).map(Some)
    }

    /// A vector of elements of `size` bytes; an empty one if it is absent.
    pub(super) fn vector(&self, number: usize, size: usize) -> Result<Vector<'a>, Problem> {
        let Some(at) = self.field(number)? else {
            return Ok(Vector { buffer: self.buffer, at: 0, len: 0 });
        };
        let start = follow(self.buffer, at)?;
        let len = u32::from_le_bytes(bytes_at(self.buffer, start)?);
        let len = usize::try_from(len).map_err(|_| outside())?;
        let at = start.checked_add(4).ok_or_else(outside)?;
        let end = len.checked_mul(size).and_then(|bytes| at.checked_add(bytes));
        let fits = end.is_some_and(|end| end <= self.buffer.len());
        fits.then_some(Vector { buffer: self.buffer, at, len }).ok_or_else(outside)
    }

    pub(super) fn text(&self, number: usize) -> Result<&'a [u8], Problem> {
        let Vector { buffer, at, len } = self.vector(number, 1)?;
        buffer.get(at..at.saturating_add(len)).ok_or_else(outside)
    }
}

impl<'a> Vector<'a> {
    /// The bytes of an element of `N` bytes.
    pub(super) fn bytes<const N: usize>(&self, index: usize) -> Result<[u8; N], Problem> {
        let place = index.checked_mul(N).and_then(|bytes| self.at.checked_add(bytes));
        bytes_at(self.buffer, place.filter(|_| index < self.len).ok_or_else(outside)?)
    }

    /// An element that is a table.
    pub(super) fn table(&self, index: usize) -> Result<Table<'a>, Problem> {
        let place = index.checked_mul(4).and_then(|bytes| self.at.checked_add(bytes));
        let place = place.filter(|_| index < self.len).ok_or_else(outside)?;
        Table::at(self.buffer, follow(self.buffer, place)?)
    }
}

/// Two numbers of 8 bytes: where something is and how long, or a count and its nulls.
pub(super) fn pair(bytes: [u8; 16]) -> (i64, i64) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    let first = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
    (first, i64::from_le_bytes([i, j, k, l, m, n, o, p]))
}
