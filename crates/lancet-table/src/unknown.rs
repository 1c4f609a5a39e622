//! Fields of messages that this crate does not know, kept as they came.
//!
//! A table is shared with writers that know more: what they note in a manifest must be in the next one
//! too, whoever writes it. Protobuf marks every field with its number and kind, so a field can be copied
//! without being understood.

use std::ops::{Deref, DerefMut};

use prost::bytes::{Buf, BufMut};
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};
use prost::{DecodeError, Message};

use crate::wire::Part;

/// Fields that are not known, as bytes: each with its number and its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownFields(Vec<u8>);

impl UnknownFields {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers of the fields.
    pub(crate) fn tags(&self) -> impl Iterator<Item = u32> + '_ {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            // They were checked when they were kept.
            let (tag, wire) = decode_key(&mut rest).ok()?;
            skip_field(wire, tag, &mut rest, DecodeContext::default()).ok()?;
            Some(tag)
        })
    }

    /// Copies a field.
    pub(crate) fn keep(&mut self, part: &Part<'_>) {
        self.0.extend_from_slice(part.whole);
    }

    /// Copies the value of a field.
    fn add(&mut self, tag: u32, wire: WireType, buf: &mut impl Buf) -> Result<(), DecodeError> {
        let len = match wire {
            WireType::Varint => {
                encode_key(tag, wire, &mut self.0);
                encode_varint(decode_varint(buf)?, &mut self.0);
                return Ok(());
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => decode_varint(buf)?,
            WireType::StartGroup | WireType::EndGroup => {
                return Err(refused("it has a group, which the format does not use"));
            }
        };
        let len = usize::try_from(len).ok().filter(|len| *len <= buf.remaining());
        let Some(len) = len else { return Err(refused("a field reaches past its end")) };
        encode_key(tag, wire, &mut self.0);
        if wire == WireType::LengthDelimited {
            encode_varint(u64::try_from(len).unwrap_or(u64::MAX), &mut self.0);
        }
        self.0.put(buf.take(len));
        Ok(())
    }
}

fn refused(why: &'static str) -> DecodeError {
    #[allow(deprecated)] // the one way to make one outside of prost
    DecodeError::new(why)
}

/// A message of which the numbers of all fields are known.
pub(crate) trait Known: Message + Default + Clone + PartialEq {
    /// The numbers of its fields.
    const TAGS: &'static [u32];
}

/// Tells the numbers of the fields of messages.
macro_rules! known {
    ($($message:ident: $($tag:literal),+;)+) => {
        $(impl $crate::unknown::Known for $message {
            const TAGS: &'static [u32] = &[$($tag),+];
        })+
    };
}
pub(crate) use known;

/// A message, and the fields of it that are not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Kept<M> {
    pub(crate) message: M,
    pub(crate) unknown: UnknownFields,
}

impl<M> From<M> for Kept<M> {
    fn from(message: M) -> Self {
        Self { message, unknown: UnknownFields::default() }
    }
}

impl<M> Deref for Kept<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.message
    }
}

impl<M> DerefMut for Kept<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.message
    }
}

impl<M: Known> Message for Kept<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        self.message.encode_raw(buf);
        buf.put_slice(&self.unknown.0);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if M::TAGS.contains(&tag) {
            return self.message.merge_field(tag, wire_type, buf, ctx);
        }
        self.unknown.add(tag, wire_type, buf)
    }

    fn encoded_len(&self) -> usize {
        self.message.encoded_len().saturating_add(self.unknown.0.len())
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{DataFragment, DeletionFile};

    #[test]
    fn unknown_fields_come_out_as_they_came() {
        // A varint, 8 bytes, a byte string, 4 bytes; all of field 100, around one that is known.
        let varint = [0xa0, 0x06, 0xff, 0xff, 0x03];
        let eight = [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8];
        let bytes = [0xa2, 0x06, 2, 9, 9];
        let four = [0xa5, 0x06, 1, 2, 3, 4];
        let message = [&varint[..], &[0x18, 7], &eight, &bytes, &four].concat();
        let kept = Kept::<DeletionFile>::decode(&*message).unwrap();
        assert_eq!(kept.id, 7);
        let expected = [&[0x18, 7], &varint[..], &eight, &bytes, &four].concat();
        assert_eq!(kept.encode_to_vec(), expected);
        // Inside another message, too.
        let fragment = [&[0x1a, u8::try_from(message.len()).unwrap()], &message[..]].concat();
        let fragment = Kept::<DataFragment>::decode(&*fragment).unwrap();
        assert_eq!(fragment.encode_to_vec()[2..], expected);
    }

    #[test]
    fn broken_ones_are_refused() {
        let lengths: [&[u8]; 4] =
            [&[0xa2, 0x06, 5, 1], &[0xa1, 0x06, 1], &[0xa0, 0x06], &[0xa3, 0x06]];
        for broken in lengths {
            assert!(Kept::<DeletionFile>::decode(broken).is_err(), "{broken:?}");
        }
        let long = [0xa2, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert!(Kept::<DeletionFile>::decode(&long[..]).is_err());
    }
}
