//! The one reader of untrusted little-endian bytes.

use crate::error::{Error, Result};

/// Walks a byte slice; every step is checked and names what was missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes consumed so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Bytes not consumed yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Consumes `len` bytes; `what` names them in the error.
    #[inline]
    pub(crate) fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let end = self.position.checked_add(len);
        match end.and_then(|end| self.bytes.get(self.position..end)) {
            Some(taken) => {
                self.position = self.position.saturating_add(len);
                Ok(taken)
            }
            None => Err(self.missing(len, what)),
        }
    }

    #[cold]
    fn missing(&self, len: usize, what: &str) -> Error {
        Error::corrupt(format!(
            "{what} needs {len} bytes at byte {}, but only {} are left",
            self.position,
            self.rest().len()
        ))
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, what)?);
        Ok(out)
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Skips to the next multiple of `alignment`; padding is never looked at.
    pub(crate) fn align(&mut self, alignment: usize, what: &str) -> Result<()> {
        let padding = self.position.next_multiple_of(alignment).saturating_sub(self.position);
        self.take(padding, what).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_aligns_and_names_what_is_missing() {
        let bytes = [1, 0, 2, 0, 0, 0, 0xfe, 0xfe, 9];
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.u16("a").unwrap(), 1);
        assert_eq!(cursor.u32("b").unwrap(), 2);
        cursor.align(8, "padding").unwrap();
        assert_eq!(cursor.rest(), [9]);
        let error = cursor.u64("row count").unwrap_err().to_string();
        assert!(
            error.contains("row count needs 8 bytes at byte 8, but only 1 are left"),
            "{error}"
        );
    }
}
