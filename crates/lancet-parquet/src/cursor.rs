//! The one way to walk over untrusted bytes, and the varints in them.
//!
//! ULEB128: seven bits for each byte, the least significant first; bit 7 is set on all but the last.
//! Zigzag: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...

use crate::error::{Result, Rule};

/// The longest varint that is read; overlong forms up to here are fine.
const LONGEST_VARINT: u32 = 10;

/// A place in bytes. It never passes their end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.rest().get(..len).ok_or_else(|| Rule::Complete.broken(self.at))?;
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    /// An unsigned varint.
    pub(crate) fn uleb128(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value = 0;
        for index in 0..LONGEST_VARINT {
            let byte = match self.take(1) {
                Ok(&[byte]) => byte,
                _ => return Err(Rule::Complete.broken(start)),
            };
            let group = u64::from(byte & 0x7f);
            let shift = index.saturating_mul(7);
            // The tenth group has one bit of the 64 left.
            if shift == 63 && group > 1 {
                break;
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Rule::Varint.broken(start))
    }

    /// A signed varint.
    pub(crate) fn zigzag(&mut self) -> Result<i64> {
        let coded = self.uleb128()?;
        Ok((coded >> 1).cast_signed() ^ (coded & 1).cast_signed().wrapping_neg())
    }
}

/// Appends an unsigned varint in its shortest form.
pub(crate) fn push_uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a signed varint in its shortest form.
pub(crate) fn push_zigzag(value: i64, out: &mut Vec<u8>) {
    push_uleb128(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<u64> {
        Cursor::new(bytes, 0).uleb128()
    }

    #[test]
    fn varints() {
        for (value, bytes) in
            [(0, &[0][..]), (128, &[0x80, 1]), (256, &[0x80, 2]), (2048, &[0x80, 16])]
        {
            let mut out = vec![];
            push_uleb128(value, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(read(bytes), Ok(value));
        }
        assert_eq!(read(&[0x80, 0x81, 0x80, 0x80, 0]), Ok(128));
        let most = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(read(&most), Ok(u64::MAX));
        assert_eq!(
            read(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 2]),
            Err(Rule::Varint.broken(0))
        );
        assert_eq!(
            read(&[128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0]),
            Err(Rule::Varint.broken(0))
        );
        assert_eq!(read(&[0x80]), Err(Rule::Complete.broken(0)));
    }

    #[test]
    fn zigzags() {
        for value in [0, -1, 1, -2, 2, i64::MIN, i64::MAX] {
            let mut out = vec![];
            push_zigzag(value, &mut out);
            assert_eq!(Cursor::new(&out, 0).zigzag(), Ok(value));
        }
        let mut out = vec![];
        push_zigzag(-2, &mut out);
        assert_eq!(out, [3]);
    }
}
