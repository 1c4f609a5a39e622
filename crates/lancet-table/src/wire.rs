//! Messages taken apart without copies, one part after the other.
//!
//! A manifest lists a fragment in some hundred bytes, and there may be a million of them: whoever opens a table waits for
//! nothing else. So fragments are read right out of the bytes, in one pass, and what is the same in all of their files is read
//! once. Other messages are few, and decoded as they are declared ([`proto`](crate::proto)).

use std::sync::Arc;

use prost::encoding::{WireType, decode_key, decode_varint};

use crate::error::{Problem, Result};

/// What a part of a message holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// 4 or 8 bytes.
    Fixed(&'a [u8]),
}

/// A part of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The number of its field.
    pub(crate) field: u32,
    pub(crate) value: Value<'a>,
    /// All of it: field, length and value.
    pub(crate) whole: &'a [u8],
}

/// The parts of a message.
pub(crate) struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    // Its caller looks at each part once: one that is handed over in memory costs more than all else here.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Option<Part<'a>>, Problem> {
        let before = self.rest;
        if before.is_empty() {
            return Ok(None);
        }
        let mut rest = before;
        let (field, wire) = decode_key(&mut rest).map_err(unreadable)?;
        let len = match wire {
            WireType::Varint => {
                let value = Value::Number(varint(&mut rest)?);
                return Ok(Some(self.part(field, value, rest)));
            }
            WireType::LengthDelimited => varint(&mut rest)?,
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::StartGroup | WireType::EndGroup => {
                return Err(unreadable("it has a group, which the format does not use"));
            }
        };
        let taken = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
        let Some((bytes, later)) = taken else {
            return Err(unreadable(format!("field {field} reaches past its end")));
        };
        let is_long = wire == WireType::LengthDelimited;
        let value = if is_long { Value::Bytes(bytes) } else { Value::Fixed(bytes) };
        Ok(Some(self.part(field, value, later)))
    }

    /// The next part, if its field is one that is wanted.
    pub(crate) fn next_if(
        &mut self,
        is_wanted: impl FnOnce(u32) -> bool,
    ) -> Result<Option<Part<'a>>, Problem> {
        let before = self.rest;
        let part = self.next()?.filter(|part| is_wanted(part.field));
        if part.is_none() {
            self.rest = before;
        }
        Ok(part)
    }

    /// Goes behind some parts, if they are the next ones.
    pub(crate) fn skip(&mut self, parts: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(parts);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The parts that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A part that ends where `rest` begins.
    #[inline(always)]
    fn part(&mut self, field: u32, value: Value<'a>, rest: &'a [u8]) -> Part<'a> {
        let len = self.rest.len().saturating_sub(rest.len());
        let whole = self.rest.get(..len).unwrap_or_default();
        self.rest = rest;
        Part { field, value, whole }
    }
}

impl<'a> Part<'a> {
    /// The bytes of its value, if it has some.
    pub(crate) fn any_bytes(&self) -> &'a [u8] {
        match self.value {
            Value::Bytes(bytes) | Value::Fixed(bytes) => bytes,
            Value::Number(_) => &[],
        }
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Problem> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Number(_) | Value::Fixed(_) => Err(self.wrong("bytes")),
        }
    }

    #[inline(always)]
    pub(crate) fn number(&self) -> Result<u64, Problem> {
        match self.value {
            Value::Number(number) => Ok(number),
            Value::Bytes(_) | Value::Fixed(_) => Err(self.wrong("a number")),
        }
    }

    /// A number of 32 bits: as everywhere in such messages, higher ones do not count.
    #[inline(always)]
    pub(crate) fn number32(&self) -> Result<u32, Problem> {
        self.number().map(low)
    }

    #[cold]
    pub(crate) fn wrong(&self, expected: &str) -> Problem {
        unreadable(format!("field {} is not {expected}", self.field))
    }
}

/// Nearly all numbers and lengths are below 128, for which a call would cost more than the byte.
#[inline(always)]
fn varint(bytes: &mut &[u8]) -> Result<u64, Problem> {
    match bytes.split_first() {
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            Ok(u64::from(*byte))
        }
        _ => decode_varint(bytes).map_err(unreadable),
    }
}

fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}

pub(crate) fn unreadable(why: impl std::fmt::Display) -> Problem {
    Problem::corrupt(format!("the message does not decode: {why}"))
}

fn read_packed(mut bytes: &[u8], numbers: &mut Vec<i32>) -> Result<(), Problem> {
    // Each takes a byte at least.
    numbers.reserve(bytes.len());
    while !bytes.is_empty() {
        numbers.push(low(varint(&mut bytes)?).cast_signed());
    }
    Ok(())
}

/// A list of numbers in the making. Writers put it into one part; it may come in several, or number by number.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Those it begins with, where they are known.
    known: Option<Arc<[i32]>>,
    /// All of them, if there are others.
    all: Vec<i32>,
}

impl Numbers {
    pub(crate) fn add(&mut self, part: &Part<'_>) -> Result<(), Problem> {
        self.all.extend_from_slice(&self.known.take().unwrap_or_default());
        match part.value {
            Value::Bytes(bytes) => read_packed(bytes, &mut self.all),
            _ => {
                self.all.push(part.number32()?.cast_signed());
                Ok(())
            }
        }
    }

    pub(crate) fn finish(self) -> Arc<[i32]> {
        self.known.unwrap_or_else(|| self.all.into())
    }
}

impl From<Arc<[i32]>> for Numbers {
    fn from(known: Arc<[i32]>) -> Self {
        Self { known: Some(known), all: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(message: &[u8]) -> Result<Arc<[i32]>, Problem> {
        lists_behind(&[], message)
    }

    fn lists_behind(known: &[i32], message: &[u8]) -> Result<Arc<[i32]>, Problem> {
        let (mut parts, mut numbers) = (Parts::new(message), Numbers::from(Arc::from(known)));
        while let Some(part) = parts.next()? {
            numbers.add(&part)?;
        }
        Ok(numbers.finish())
    }

    #[test]
    fn lists_come_in_any_number_of_parts() {
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        let packed = [&[0x12, 12, 7][..], &minus_one, &[9]].concat();
        assert_eq!(*lists(&packed).unwrap(), [7, -1, 9]);
        assert!(lists(&[]).unwrap().is_empty());
        assert!(lists(&[0x12, 0]).unwrap().is_empty());
        // One by one, and mixed.
        assert_eq!(*lists(&[0x10, 7, 0x10, 8]).unwrap(), [7, 8]);
        assert_eq!(*lists(&[0x12, 2, 7, 8, 0x10, 9, 0x12, 1, 3]).unwrap(), [7, 8, 9, 3]);
        assert_eq!(*lists(&[0x10, 9, 0x12, 1, 3]).unwrap(), [9, 3]);
        for broken in [&[0x12, 2, 7][..], &[0x12, 1, 0x80], &[0x15, 0, 0, 0, 0], &[0x13], &[0x10]] {
            assert!(lists(broken).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn lists_go_on_behind_those_that_are_known() {
        assert_eq!(*lists_behind(&[4, 5], &[0x12, 2, 7, 8]).unwrap(), [4, 5, 7, 8]);
        assert_eq!(*lists_behind(&[4, 5], &[]).unwrap(), [4, 5]);
    }

    #[test]
    fn parts_are_looked_at_before_they_are_taken() {
        let message = [0x10, 7, 0x1a, 1, 9];
        let mut parts = Parts::new(&message);
        assert!(parts.next_if(|field| field == 3).unwrap().is_none());
        assert_eq!(parts.next_if(|field| field == 2).unwrap().unwrap().number().unwrap(), 7);
        assert!(!parts.skip(&[0x1a, 2]));
        assert!(parts.skip(&[0x1a, 1, 9]));
        assert!(parts.next_if(|_| true).unwrap().is_none());
    }
}
