//! Sequences from and to protobuf bytes.
//!
//! What is read keeps the form of its segments, so that it is written again as it was. Every rule of
//! the format is checked here; behind it nothing can be out of bounds. Decoding costs what the bytes
//! cost, whatever they claim.

use std::ops::Range;

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};

use crate::array::{EncodedArray, Width};
use crate::bitmap::RangeWithBitmap;
use crate::error::{Error, Result, ensure};
use crate::holes::RangeWithHoles;
use crate::index;
use crate::proto;
use crate::segment::Segment;
use crate::sequence::RowIdSequence;
use crate::versions::{RowVersionSequence, VersionRun};
use proto::encoded_u64_array::{Array as ArrayArm, U16Array, U32Array, U64Array};
use proto::u64_segment::{self, Segment as SegmentArm};

impl RowIdSequence {
    /// Reads a serialized sequence.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut sequence = Self::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let message = next_segment(&mut rest)?;
            let segment = proto::U64Segment::decode(message).map_err(undecodable)?;
            sequence.add(read_segment(segment)?).map_err(too_long)?;
        }
        check_iterable(sequence.len())?;
        Ok(sequence)
    }

    /// The serialized sequence.
    pub fn encode(&self) -> Vec<u8> {
        let segments = self.segments().iter().map(write_segment).collect();
        proto::RowIdSequence { segments }.encode_to_vec()
    }
}

impl RowVersionSequence {
    /// Reads a serialized sequence.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let message = proto::RowDatasetVersionSequence::decode(bytes).map_err(undecodable)?;
        let mut sequence = Self::new();
        for run in message.runs {
            let Some(span) = run.span else {
                return Err(Error::corrupt("a run of row versions has no span"));
            };
            let run = VersionRun::new(read_segment(span)?, run.version);
            sequence.add(run).map_err(too_long)?;
        }
        check_iterable(sequence.len())?;
        Ok(sequence)
    }

    /// The serialized sequence.
    pub fn encode(&self) -> Vec<u8> {
        let run = |run: &VersionRun| proto::RowDatasetVersionRun {
            span: Some(write_segment(run.span())),
            version: run.version(),
        };
        let runs = self.runs().iter().map(run).collect();
        proto::RowDatasetVersionSequence { runs }.encode_to_vec()
    }
}

fn undecodable(error: prost::DecodeError) -> Error {
    Error::corrupt(format!("the message does not decode: {error}"))
}

fn too_long(error: Error) -> Error {
    Error::corrupt(error.to_string())
}

fn check_iterable(len: u64) -> Result<()> {
    ensure!(usize::try_from(len).is_ok(), "{len} rows are more than this machine can count");
    Ok(())
}

/// The bytes of the next segment message. Other fields are refused here, where elsewhere they are
/// skipped: one that lancet does not know could hide ids.
fn next_segment<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (tag, wire_type) = decode_key(rest).map_err(undecodable)?;
    ensure!(
        tag == 1 && wire_type == WireType::LengthDelimited,
        "a row id sequence has a field {tag} of wire type {wire_type:?}"
    );
    let len = decode_varint(rest).map_err(undecodable)?;
    let Some((message, after)) = rest.split_at_checked(index(len)) else {
        return Err(Error::corrupt(format!(
            "a segment of {len} bytes goes past the end of the sequence"
        )));
    };
    *rest = after;
    Ok(message)
}

fn read_segment(message: proto::U64Segment) -> Result<Segment> {
    let Some(segment) = message.segment else {
        return Err(Error::corrupt("a segment is of no known kind"));
    };
    Ok(match segment {
        SegmentArm::Range(arm) => Segment::Range(read_range(arm.start, arm.end)?),
        SegmentArm::RangeWithHoles(arm) => {
            let Some(holes) = arm.holes else {
                return Err(Error::corrupt("a range with holes has no array of holes"));
            };
            let range = read_range(arm.start, arm.end)?;
            Segment::RangeWithHoles(Box::new(RangeWithHoles::read(range, read_array(holes)?)?))
        }
        SegmentArm::RangeWithBitmap(arm) => {
            let range = read_range(arm.start, arm.end)?;
            Segment::RangeWithBitmap(Box::new(RangeWithBitmap::read(range, &arm.bitmap)?))
        }
        SegmentArm::SortedArray(arm) => {
            let array = read_array(arm)?;
            ensure!(array.is_increasing(), "the numbers of a sorted array do not increase");
            Segment::SortedArray(Box::new(array))
        }
        SegmentArm::Array(arm) => Segment::Array(Box::new(read_array(arm)?)),
    })
}

fn read_range(start: u64, end: u64) -> Result<Range<u64>> {
    ensure!(start <= end, "a range starts at {start} and ends at {end}");
    Ok(start..end)
}

fn read_array(message: proto::EncodedU64Array) -> Result<EncodedArray> {
    match message.array {
        Some(ArrayArm::U16Array(arm)) => EncodedArray::read(Width::U16, arm.base, &arm.offsets),
        Some(ArrayArm::U32Array(arm)) => EncodedArray::read(Width::U32, arm.base, &arm.offsets),
        Some(ArrayArm::U64Array(arm)) => EncodedArray::read(Width::U64, 0, &arm.values),
        None => Err(Error::corrupt("an array is of no known width")),
    }
}

fn write_segment(segment: &Segment) -> proto::U64Segment {
    let arm = match segment {
        Segment::Range(range) => {
            SegmentArm::Range(u64_segment::Range { start: range.start, end: range.end })
        }
        Segment::RangeWithHoles(holes) => SegmentArm::RangeWithHoles(u64_segment::RangeWithHoles {
            start: holes.range().start,
            end: holes.range().end,
            holes: Some(write_array(holes.holes())),
        }),
        Segment::RangeWithBitmap(bitmap) => {
            SegmentArm::RangeWithBitmap(u64_segment::RangeWithBitmap {
                start: bitmap.range().start,
                end: bitmap.range().end,
                bitmap: bitmap.write(),
            })
        }
        Segment::SortedArray(array) => SegmentArm::SortedArray(write_array(array)),
        Segment::Array(array) => SegmentArm::Array(write_array(array)),
    };
    proto::U64Segment { segment: Some(arm) }
}

fn write_array(array: &EncodedArray) -> proto::EncodedU64Array {
    let (width, base, offsets) = array.write();
    let arm = match width {
        Width::U16 => ArrayArm::U16Array(U16Array { base, offsets }),
        Width::U32 => ArrayArm::U32Array(U32Array { base, offsets }),
        Width::U64 => ArrayArm::U64Array(U64Array { values: offsets }),
    };
    proto::EncodedU64Array { array: Some(arm) }
}
