//! `google.protobuf.Any`: a message together with its name.
//!
//! The name is a URL. Lance writes it with an empty authority, `/lance.encodings21.PageLayout`;
//! only the part after the last `/` counts on read.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

use prost::{Message, Name};

use crate::error::{Error, Result, ensure};

/// A message and its name.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// The message `M` inside the serialized `Any`.
pub(crate) fn unwrap<M: Message + Name + Default>(bytes: &[u8]) -> Result<M> {
    unwrap_both(bytes).map(|(message, _)| message)
}

/// The message `M` inside the serialized `Any`, and its bytes.
pub(crate) fn unwrap_both<M: Message + Name + Default>(bytes: &[u8]) -> Result<(M, Vec<u8>)> {
    let value = unwrap_value(bytes, &M::full_name())?;
    match M::decode(value.as_slice()) {
        Ok(message) => Ok((message, value)),
        Err(e) => Err(Error::corrupt(format!("the `{}` message does not decode: {e}", M::NAME))),
    }
}

/// Whether the serialized `Any` holds a message called `name`.
pub(crate) fn is_named(bytes: &[u8], name: &str) -> bool {
    let found = Any::decode(bytes).ok();
    found.is_some_and(|any| any.type_url.rsplit_once('/').is_some_and(|(_, found)| found == name))
}

/// The bytes of the message called `name` inside the serialized `Any`.
pub(crate) fn unwrap_value(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let any = Any::decode(bytes)
        .map_err(|e| Error::corrupt(format!("the `Any` around a `{name}` does not decode: {e}")))?;
    let found = any.type_url.rsplit_once('/').map(|(_, found)| found);
    ensure!(
        found == Some(name),
        "expected a message of type `/{name}`, found `{}`",
        any.type_url.escape_debug()
    );
    Ok(any.value)
}

/// A message wrapped in a serialized `Any`.
pub(crate) fn wrap<M: Message + Name>(message: &M) -> Vec<u8> {
    wrap_value::<M>(message.encode_to_vec())
}

/// The bytes of a message `M` wrapped in a serialized `Any`.
pub(crate) fn wrap_value<M: Name>(value: Vec<u8>) -> Vec<u8> {
    Any { type_url: format!("/{}", M::full_name()), value }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::encodings::{ColumnEncoding, Empty, column_encoding::Encoding};

    fn values() -> ColumnEncoding {
        ColumnEncoding { encoding: Some(Encoding::Values(Empty {})) }
    }

    #[test]
    fn wraps_as_the_format_does() {
        let mut expected = vec![0x0a, 0x1f];
        expected.extend_from_slice(b"/lance.encodings.ColumnEncoding");
        expected.extend_from_slice(&[0x12, 0x02, 0x0a, 0x00]);
        assert_eq!(wrap(&values()), expected);
        assert_eq!(unwrap::<ColumnEncoding>(&expected).unwrap(), values());
    }

    #[test]
    fn only_the_name_after_the_last_slash_counts() {
        let any = |type_url: &str| {
            let any = Any { type_url: type_url.into(), value: values().encode_to_vec() };
            unwrap::<ColumnEncoding>(&any.encode_to_vec())
        };
        assert_eq!(any("type.googleapis.com/lance.encodings.ColumnEncoding").unwrap(), values());
        for refused in ["lance.encodings.ColumnEncoding", "/lance.encodings21.ColumnEncoding", ""] {
            let error = any(refused).unwrap_err().to_string();
            assert!(error.contains(&format!("found `{refused}`")), "{error}");
        }
        assert!(unwrap::<ColumnEncoding>(&[0x0a, 0x7f]).is_err());
    }
}
