//! Byte arrays in two buffers: where each ends, and their bytes back to back.
//!
//! Value `i` is `bytes[offsets[i] .. offsets[i + 1]]`. These are the buffers of Arrow's binary arrays,
//! so they can become one without a copy. A page holds less than 2^31 bytes, hence `i32`.

use crate::error::{Result, Rule};

/// The most bytes that offsets can tell.
pub(crate) const MOST_BYTES: usize = i32::MAX as usize;

/// Byte arrays that decoders append to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteArrays {
    /// Begins with 0 and never falls; the last is the number of bytes.
    pub(crate) offsets: Vec<i32>,
    pub(crate) bytes: Vec<u8>,
}

/// Byte arrays of the caller, to encode.
#[derive(Clone, Copy, Debug)]
pub struct ByteArraysRef<'a> {
    offsets: &'a [i32],
    bytes: &'a [u8],
}

impl Default for ByteArrays {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: vec![] }
    }
}

impl ByteArrays {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of byte arrays.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all byte arrays and keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Appends one; an error when there would be 2^31 bytes or more.
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(value);
        match i32::try_from(self.bytes.len()) {
            Ok(end) => {
                self.offsets.push(end);
                Ok(())
            }
            Err(_) => {
                self.truncate(self.len());
                Err(Rule::Size.broken(self.bytes.len()))
            }
        }
    }

    /// The byte array at `index`.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.view().get(index)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.view().iter()
    }

    /// What encoders take.
    pub fn view(&self) -> ByteArraysRef<'_> {
        ByteArraysRef { offsets: &self.offsets, bytes: &self.bytes }
    }

    /// Offsets and bytes.
    pub fn into_parts(self) -> (Vec<i32>, Vec<u8>) {
        (self.offsets, self.bytes)
    }

    /// Keeps the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len.saturating_add(1));
        let end = self.offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0));
        self.bytes.truncate(end);
    }

    /// Appends zero bytes for values of `len` bytes in all; returns where they begin. `offset` is for
    /// the error.
    pub(crate) fn grow(&mut self, len: usize, offset: usize) -> Result<usize> {
        let start = self.bytes.len();
        let end = start.checked_add(len).filter(|&end| end <= MOST_BYTES);
        self.bytes.resize(end.ok_or_else(|| Rule::Size.broken(offset))?, 0);
        Ok(start)
    }
}

impl<'a> FromIterator<&'a [u8]> for ByteArrays {
    /// Collects what fits into 2^31 - 1 bytes.
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(values: I) -> Self {
        let mut arrays = Self::new();
        for value in values {
            if arrays.push(value).is_err() {
                break;
            }
        }
        arrays
    }
}

impl<'a> ByteArraysRef<'a> {
    /// Byte arrays of the caller's buffers; `offsets` may begin anywhere in `bytes`. `None` where an
    /// offset falls below the one before it or lies outside the bytes, or where there is none.
    pub fn new(offsets: &'a [i32], bytes: &'a [u8]) -> Option<Self> {
        let first = offsets.first()?;
        let last = usize::try_from(*offsets.last()?).ok()?;
        let sound = *first >= 0 && offsets.is_sorted() && last <= bytes.len();
        sound.then_some(Self { offsets, bytes })
    }

    /// The number of byte arrays.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The byte array at `index`.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        match self.offsets.get(index..index.checked_add(2)?)? {
            &[start, end] => self.slice(start, end),
            _ => None,
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let this = *self;
        let after = self.offsets.get(1..).unwrap_or_default();
        self.offsets
            .iter()
            .zip(after)
            .map(move |(&start, &end)| this.slice(start, end).unwrap_or_default())
    }

    /// The lengths, in order.
    pub(crate) fn lengths(&self) -> impl ExactSizeIterator<Item = i32> + Clone + use<'a> {
        let after = self.offsets.get(1..).unwrap_or_default();
        self.offsets.iter().zip(after).map(|(start, end)| end.wrapping_sub(*start))
    }

    /// The bytes of all values, back to back.
    pub(crate) fn all_bytes(&self) -> &'a [u8] {
        let (first, last) = (self.offsets.first(), self.offsets.last());
        first.zip(last).and_then(|(&start, &end)| self.slice(start, end)).unwrap_or_default()
    }

    #[inline]
    fn slice(&self, start: i32, end: i32) -> Option<&'a [u8]> {
        self.bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

/// Copies `len` bytes. Most values are short, and a move of fixed size is quicker than a call; what it
/// writes too much is in the place of the values that follow, so they have to be copied in order.
#[inline(always)]
pub(crate) fn copy(from: &[u8], from_at: usize, to: &mut [u8], to_at: usize, len: usize) {
    let from = from.get(from_at..).unwrap_or_default();
    let to = to.get_mut(to_at..).unwrap_or_default();
    if len <= 16
        && let (Some(from), Some(to)) = (from.first_chunk::<16>(), to.first_chunk_mut())
    {
        *to = *from;
    } else if len <= 32
        && let (Some(from), Some(to)) = (from.first_chunk::<32>(), to.first_chunk_mut())
    {
        *to = *from;
    } else if let (Some(from), Some(to)) = (from.get(..len), to.get_mut(..len)) {
        to.copy_from_slice(from);
    }
}
