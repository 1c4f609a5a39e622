//! The bytes of fixed-width values: grown by decoders, or a page's bytes as they were read.

use std::ops::Deref;

use arrow_buffer::{ArrowNativeType, Buffer, MutableBuffer};
use bytes::Bytes;

/// Bytes that may lie in someone else's memory, until something is appended to them.
#[derive(Debug)]
pub(crate) struct ValueBuffer {
    own: MutableBuffer,
    /// All the bytes there are; `own` is empty.
    shared: Option<Buffer>,
}

impl ValueBuffer {
    /// No bytes yet, aligned for Arrow.
    pub(crate) fn new() -> Self {
        MutableBuffer::new(0).into()
    }

    /// Bytes as they are, if values of `width` bytes may lie there in memory.
    pub(crate) fn share(bytes: &Bytes, width: usize) -> Option<Self> {
        // The widest numbers of Arrow, decimals and intervals, are aligned to 16 bytes.
        let alignment = width.checked_next_power_of_two().unwrap_or(16).min(16);
        let aligned = bytes.as_ptr().addr().is_multiple_of(alignment);
        aligned.then(|| Self { shared: Some(Buffer::from(bytes.clone())), ..Self::new() })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.shared.as_ref().map_or(self.own.as_slice(), Buffer::as_slice)
    }

    /// The bytes as numbers of the width of the values.
    pub(crate) fn typed_data<T: ArrowNativeType>(&self) -> &[T] {
        self.shared.as_ref().map_or_else(|| self.own.typed_data(), Buffer::typed_data)
    }

    /// The bytes, to be changed or appended to.
    pub(crate) fn to_mut(&mut self) -> &mut MutableBuffer {
        if let Some(shared) = self.shared.take() {
            self.own.extend_from_slice(shared.as_slice());
        }
        &mut self.own
    }
}

impl Deref for ValueBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for ValueBuffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<MutableBuffer> for ValueBuffer {
    fn from(own: MutableBuffer) -> Self {
        Self { own, shared: None }
    }
}

impl From<ValueBuffer> for Buffer {
    fn from(buffer: ValueBuffer) -> Self {
        buffer.shared.unwrap_or_else(|| buffer.own.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bytes_are_copied_when_appended_to() {
        let bytes = Bytes::from([1_u64, 2].map(u64::to_le_bytes).concat());
        let mut buffer = ValueBuffer::share(&bytes, 8).unwrap();
        assert_eq!(buffer.as_ptr(), bytes.as_ptr());
        buffer.to_mut().extend_from_slice(&[7_u8]);
        assert_eq!(buffer.as_slice(), [&bytes[..], &[7]].concat());
        assert_eq!(Buffer::from(buffer).len(), 17);
    }

    #[test]
    fn bytes_at_odd_places_are_not_shared() {
        let bytes = Bytes::from(vec![0; 32]);
        let odd = bytes.slice(1..17);
        assert!(ValueBuffer::share(&odd, 1).is_some());
        assert!(
            [2, 3, 4, 8, 16, 32].iter().all(|width| ValueBuffer::share(&odd, *width).is_none())
        );
    }
}
