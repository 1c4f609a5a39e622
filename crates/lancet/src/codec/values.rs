//! The values of one leaf column as codecs see them: widths, offsets and bytes, no Arrow types.
//!
//! The same type is what decoders append to and what encoders read from. A decoder appends the
//! values of one chunk after another, over page boundaries, so a batch is built in place.

use arrow_buffer::MutableBuffer;

use crate::error::{Error, Result, ensure};

/// What one value of a leaf looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Nothing is stored for a value (the null type, structs without fields).
    Nothing,
    /// `bits` bits a value: 1, or a multiple of 8.
    Fixed { bits: u64 },
    /// Bytes of any length, addressed by offsets of 32 or 64 bits.
    Variable { offset_bits: u64 },
    /// `dimension` items a value; items may be null.
    FixedSizeList { dimension: u64, item: Box<ValueType> },
    /// One value of each child (packed structs).
    Struct(Vec<ValueType>),
}

/// Values of one leaf.
#[derive(Debug)]
pub(crate) enum Values {
    Nothing { len: usize },
    Fixed(FixedValues),
    Variable(VariableValues),
    FixedSizeList(FixedSizeListValues),
    Struct { len: usize, children: Vec<Values> },
}

/// Fixed-width values back to back; a width of one bit is a bitmap (least significant bit first).
#[derive(Debug)]
pub(crate) struct FixedValues {
    pub(crate) bits: u64,
    pub(crate) len: usize,
    /// `ceil(len * bits / 8)` bytes, aligned for Arrow.
    pub(crate) data: MutableBuffer,
}

/// Byte strings: value `i` is `bytes[offsets[i]..offsets[i + 1]]`; `offsets` starts as `[0]`.
#[derive(Debug)]
pub(crate) struct VariableValues {
    pub(crate) offsets: Offsets,
    pub(crate) bytes: Vec<u8>,
}

/// Offsets in the width of the Arrow type, so that no conversion is needed at the end.
#[derive(Debug)]
pub(crate) enum Offsets {
    Bits32(Vec<i32>),
    Bits64(Vec<i64>),
}

/// Fixed-size lists: `len * dimension` items and, when some item was stored with a validity
/// bitmap, one bit for each item (1 = valid).
#[derive(Debug)]
pub(crate) struct FixedSizeListValues {
    pub(crate) dimension: u64,
    pub(crate) len: usize,
    /// One-bit values, one for each item; `None` while every item is valid.
    pub(crate) item_validity: Option<FixedValues>,
    pub(crate) items: Box<Values>,
}

impl Values {
    /// No values yet.
    pub(crate) fn new(value_type: &ValueType) -> Self {
        match value_type {
            ValueType::Nothing => Self::Nothing { len: 0 },
            ValueType::Fixed { bits } => Self::Fixed(FixedValues::new(*bits)),
            ValueType::Variable { offset_bits } => {
                Self::Variable(VariableValues::new(*offset_bits))
            }
            ValueType::FixedSizeList { dimension, item } => {
                Self::FixedSizeList(FixedSizeListValues {
                    dimension: *dimension,
                    len: 0,
                    item_validity: None,
                    items: Box::new(Self::new(item)),
                })
            }
            ValueType::Struct(children) => {
                Self::Struct { len: 0, children: children.iter().map(Self::new).collect() }
            }
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nothing { len } | Self::Struct { len, .. } => *len,
            Self::Fixed(fixed) => fixed.len,
            Self::Variable(variable) => variable.len(),
            Self::FixedSizeList(list) => list.len,
        }
    }
}

impl FixedValues {
    pub(crate) fn new(bits: u64) -> Self {
        Self { bits, len: 0, data: MutableBuffer::new(0) }
    }

    /// Bytes of one value; `None` for bitmaps.
    pub(crate) fn width_bytes(&self) -> Option<usize> {
        (self.bits.is_multiple_of(8)).then(|| usize::try_from(self.bits.checked_div(8)?).ok())?
    }
}

impl VariableValues {
    pub(crate) fn new(offset_bits: u64) -> Self {
        let offsets =
            if offset_bits == 64 { Offsets::Bits64(vec![0]) } else { Offsets::Bits32(vec![0]) };
        Self { offsets, bytes: Vec::new() }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.offsets {
            Offsets::Bits32(offsets) => offsets.len(),
            Offsets::Bits64(offsets) => offsets.len(),
        }
        .saturating_sub(1)
    }

    /// Ends the current value where `bytes` ends now.
    pub(crate) fn close_value(&mut self) -> Result<()> {
        let end = self.bytes.len();
        match &mut self.offsets {
            Offsets::Bits32(offsets) => {
                let end = i32::try_from(end).map_err(|_| offsets_overflow())?;
                offsets.push(end);
            }
            Offsets::Bits64(offsets) => {
                let end = i64::try_from(end).map_err(|_| offsets_overflow())?;
                offsets.push(end);
            }
        }
        Ok(())
    }

    /// Appends one value.
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(value);
        self.close_value()
    }

    /// The bytes of value `index`.
    pub(crate) fn value(&self, index: usize) -> Result<&[u8]> {
        let next = index.saturating_add(1);
        let (start, end) = match &self.offsets {
            Offsets::Bits32(o) => {
                (o.get(index).map(|&o| i64::from(o)), o.get(next).map(|&o| i64::from(o)))
            }
            Offsets::Bits64(o) => (o.get(index).copied(), o.get(next).copied()),
        };
        let span = start.zip(end).and_then(|(start, end)| {
            self.bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        });
        ensure!(span.is_some(), "value {index} does not exist");
        Ok(span.unwrap_or_default())
    }
}

fn offsets_overflow() -> Error {
    Error::invalid(
        "one batch of this column holds more than 2 GiB, too much for its 32-bit offsets; \
         ask for fewer rows at a time",
    )
}
