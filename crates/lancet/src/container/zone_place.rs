//! Where the zone map of a column is, by the encoding of the column; see [`crate::zones`].

use prost::Message;

use super::cost;
use crate::error::{Corrupt, Error, Result, ensure};
use crate::proto::any;
use crate::proto::encodings::buffer::BufferType;
use crate::proto::encodings::column_encoding::Encoding;
use crate::proto::encodings::{Buffer, ColumnEncoding, Empty, ZoneIndex};
use crate::span::Span;

/// Field number of `zone_index`.
const ZONE_INDEX: u64 = 2;

/// A buffer with a zone map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ZonePlace {
    pub(crate) rows_per_zone: u32,
    /// Where it is in the file.
    pub(crate) span: Span,
}

/// What a column encoding says about a zone map; none if it says nothing.
pub(crate) type FoundPlace = Option<Result<ZonePlace, Corrupt>>;

impl ZonePlace {
    /// Looks into an encoding and its bytes; `buffers` are those of the column. The record may be
    /// followed by one that other readers take instead, so it is looked for among the bytes.
    pub(crate) fn find(encoding: &ColumnEncoding, bytes: &[u8], buffers: &[Span]) -> FoundPlace {
        let mut records =
            cost::fields(bytes).filter(|(number, _)| *number == ZONE_INDEX).map(|(_, bytes)| bytes);
        let record = records.next()?;
        Some(match (records.next(), Self::parse(record, encoding, buffers)) {
            (Some(_), _) => Err(Corrupt::of("a column has several zone maps")),
            (None, Ok(place)) => Ok(place),
            (None, Err(Error::Corrupt(corrupt))) => Err(*corrupt),
            (None, Err(other)) => Err(Corrupt::of(other.to_string())),
        })
    }

    fn parse(record: &[u8], encoding: &ColumnEncoding, buffers: &[Span]) -> Result<Self> {
        let message = ZoneIndex::decode(record)
            .map_err(|e| Error::corrupt(format!("the `zone_index` does not decode: {e}")))?;
        ensure!(message.rows_per_zone > 0, "a zone map has zones of 0 rows");
        ensure!(
            message.inner.as_deref() == Some(&values()),
            "what is inside a `zone_index` is not `values`"
        );
        ensure!(
            matches!(encoding.encoding, Some(Encoding::Values(_) | Encoding::ZoneIndex(_))),
            "a zone map of a column that does not hold its values"
        );
        let Some(Buffer { buffer_index, buffer_type }) = message.zone_map_buffer else {
            return Err(Error::corrupt("a `zone_index` names no buffer"));
        };
        ensure!(
            buffer_type == i32::from(BufferType::Column),
            "the buffer of a zone map is none of the column"
        );
        let span = usize::try_from(buffer_index).ok().and_then(|index| buffers.get(index));
        let Some(&span) = span else {
            let found = buffers.len();
            let rule = format!("a zone map is buffer {buffer_index} of {found} buffers");
            return Err(Error::corrupt(rule));
        };
        Ok(Self { rows_per_zone: message.rows_per_zone, span })
    }
}

fn values() -> ColumnEncoding {
    ColumnEncoding { encoding: Some(Encoding::Values(Empty {})) }
}

/// The column encoding, as a serialized `Any`, of a column whose buffer `buffer` is its zone map.
/// `followed` by `values` it is read by those who know no zone maps.
pub(crate) fn encode_zone_index(rows_per_zone: u32, buffer: u32, followed: bool) -> Vec<u8> {
    let index = ZoneIndex {
        rows_per_zone,
        zone_map_buffer: Some(Buffer {
            buffer_index: buffer,
            buffer_type: BufferType::Column.into(),
        }),
        inner: Some(Box::new(values())),
    };
    let message = ColumnEncoding { encoding: Some(Encoding::ZoneIndex(Box::new(index))) };
    let mut value = message.encode_to_vec();
    if followed {
        value.extend(values().encode_to_vec());
    }
    any::wrap_value::<ColumnEncoding>(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::span;

    const BUFFERS: [Span; 1] = [span(64..529)];

    fn encoding(followed: bool) -> Vec<u8> {
        let any = encode_zone_index(4, 0, followed);
        any::unwrap_value(&any, "lance.encodings.ColumnEncoding").unwrap()
    }

    fn find(bytes: &[u8]) -> FoundPlace {
        ZonePlace::find(&ColumnEncoding::decode(bytes).unwrap(), bytes, &BUFFERS)
    }

    #[test]
    fn the_example_of_the_format() {
        let expected = [0x12, 0x0a, 0x08, 4, 0x12, 2, 0x10, 1, 0x1a, 2, 0x0a, 0];
        assert_eq!(encoding(false), expected);
        assert_eq!(encoding(true), [&expected[..], &[0x0a, 0]].concat());
        for followed in [false, true] {
            let place = find(&encoding(followed)).unwrap().unwrap();
            assert_eq!(place, ZonePlace { rows_per_zone: 4, span: BUFFERS[0] });
        }
        assert!(find(&[0x0a, 0]).is_none());
    }

    #[test]
    fn each_broken_rule_is_named() {
        let sound = ZoneIndex {
            rows_per_zone: 4,
            zone_map_buffer: Some(Buffer { buffer_index: 0, buffer_type: 1 }),
            inner: Some(Box::new(values())),
        };
        let nested =
            ColumnEncoding { encoding: Some(Encoding::ZoneIndex(Box::new(sound.clone()))) };
        let broken = [
            (ZoneIndex { rows_per_zone: 0, ..sound.clone() }, "zones of 0 rows"),
            (ZoneIndex { zone_map_buffer: None, ..sound.clone() }, "names no buffer"),
            (
                ZoneIndex {
                    zone_map_buffer: Some(Buffer { buffer_index: 0, buffer_type: 0 }),
                    ..sound.clone()
                },
                "none of the column",
            ),
            (
                ZoneIndex {
                    zone_map_buffer: Some(Buffer { buffer_index: 1, buffer_type: 1 }),
                    ..sound.clone()
                },
                "buffer 1 of 1 buffers",
            ),
            (ZoneIndex { inner: None, ..sound.clone() }, "is not `values`"),
            (ZoneIndex { inner: Some(Box::new(nested)), ..sound.clone() }, "is not `values`"),
        ];
        let wrap = |index: &ZoneIndex| {
            let encoding = Some(Encoding::ZoneIndex(Box::new(index.clone())));
            ColumnEncoding { encoding }.encode_to_vec()
        };
        for (index, rule) in broken {
            let error = find(&wrap(&index)).unwrap().unwrap_err();
            assert!(error.rule.contains(rule), "{rule}: {error}");
        }
        let twice = wrap(&sound).repeat(2);
        assert!(find(&twice).unwrap().is_err());
        let blob = [wrap(&sound), vec![0x1a, 0]].concat();
        assert!(find(&blob).unwrap().is_err());
    }
}
