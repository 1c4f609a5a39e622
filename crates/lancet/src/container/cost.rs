//! What messages take in memory once they are decoded, told from their bytes alone.
//!
//! An empty field of a repeated message costs 2 bytes in the file and some hundred in memory, so
//! the size of a message says little. Counting such fields before anything is decoded does.

/// A field of the schema: its message, its place in the tree, its Arrow field, its column.
const FIELD_BYTES: u64 = 1024;
/// A key and a value of metadata.
const ENTRY_BYTES: u64 = 256;
/// A page without its buffers: its message and its checked layout.
const PAGE_BYTES: u64 = 768;
/// A byte of a packed list of offsets or sizes: a number, and a span made of two of them.
const PACKED_BYTES: u64 = 24;
/// A byte of a page layout while it is decoded. Empty fields of packed structs cost most.
const LAYOUT_BYTES: u64 = 64;

/// Bytes that a decoded file descriptor takes at most, about.
pub(crate) fn descriptor_bytes(message: &[u8]) -> u64 {
    let mut bytes = twice(message);
    for (_, schema) in fields(message).filter(|(number, _)| *number == 1) {
        for (number, field) in fields(schema) {
            bytes = bytes.saturating_add(match number {
                1 => entries(field, 10).saturating_add(FIELD_BYTES),
                5 => ENTRY_BYTES,
                _ => 0,
            });
        }
    }
    bytes
}

/// What the metadata of a column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnCost {
    /// As long as the file is open.
    pub(crate) kept: u64,
    /// Only while it is decoded.
    pub(crate) passing: u64,
}

/// Bytes that the decoded metadata of a column takes at most, about.
pub(crate) fn column_bytes(message: &[u8]) -> ColumnCost {
    let mut kept = twice(message);
    let mut passing = 0;
    for (number, field) in fields(message) {
        kept = kept.saturating_add(match number {
            2 => packed(field).saturating_add(PAGE_BYTES),
            3 | 4 => size(field).saturating_mul(PACKED_BYTES),
            _ => 0,
        });
        passing = size(field).saturating_mul(LAYOUT_BYTES).max(passing);
    }
    ColumnCost { kept, passing }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn twice(message: &[u8]) -> u64 {
    size(message).saturating_mul(2)
}

fn entries(message: &[u8], number: u64) -> u64 {
    let count = fields(message).filter(|(n, _)| *n == number).count();
    u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(ENTRY_BYTES)
}

/// The buffer lists of a page. Numbers that are not packed come one by one, with their key.
fn packed(page: &[u8]) -> u64 {
    let lists = fields(page).filter(|(number, _)| matches!(number, 1 | 2));
    lists.fold(0, |sum, (_, list)| {
        sum.saturating_add(size(list).saturating_add(1).saturating_mul(PACKED_BYTES))
    })
}

/// Numbers and bytes of the fields of a message, as far as it is one; numbers have no bytes.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let key = varint(&mut rest)?;
        let len = match key & 7 {
            0 => {
                varint(&mut rest)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut rest)?).ok()?,
            // Groups are stepped over by the decoder, which goes on behind them. What is inside
            // counts as if it stood outside: too much is safe, a place to hide is not.
            3 | 4 => 0,
            5 => 4,
            _ => return None,
        };
        let (field, later) = rest.split_at_checked(len)?;
        rest = later;
        Some((key >> 3, field))
    })
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, later) = rest.split_first()?;
        *rest = later;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::proto::file::{Field, FileDescriptor, Schema};
    use crate::proto::file_v2::{ColumnMetadata, column_metadata::Page};

    #[test]
    fn what_costs_little_in_the_file_is_counted() {
        let pages = ColumnMetadata { pages: vec![Page::default(); 1000], ..Default::default() };
        let message = pages.encode_to_vec();
        assert_eq!(message.len(), 2000);
        let cost = column_bytes(&message);
        assert_eq!(cost, ColumnCost { kept: 1000 * PAGE_BYTES + 4000, passing: 0 });

        let metadata = (0..10).map(|i| (i.to_string(), vec![])).collect();
        let field = Field { metadata, ..Default::default() };
        let schema = Schema { fields: vec![field; 100], metadata: Default::default() };
        let message = FileDescriptor { schema: Some(schema), length: 7 }.encode_to_vec();
        let expected = 100 * (FIELD_BYTES + 10 * ENTRY_BYTES) + 2 * message.len() as u64;
        assert_eq!(descriptor_bytes(&message), expected);
    }

    #[test]
    fn lists_of_numbers_are_counted_packed_or_not() {
        let page = Page { buffer_offsets: vec![0; 50], ..Default::default() };
        let pages = ColumnMetadata { pages: vec![page], ..Default::default() };
        let message = pages.encode_to_vec();
        assert!(column_bytes(&message).kept >= 50 * PACKED_BYTES);
        let apart = [8, 0].repeat(50);
        let message = [&[0x12, 100][..], &apart].concat();
        assert!(column_bytes(&message).kept >= 50 * PACKED_BYTES);
    }

    #[test]
    fn nothing_hides_behind_a_group() {
        // Field 15 as an empty group, then pages.
        let message = [&[0x7b, 0x7c][..], &[0x12, 0].repeat(1000)].concat();
        assert_eq!(ColumnMetadata::decode(&message[..]).unwrap().pages.len(), 1000);
        assert!(column_bytes(&message).kept >= 1000 * PAGE_BYTES);
    }

    #[test]
    fn broken_messages_are_counted_as_far_as_they_go() {
        assert_eq!(column_bytes(&[0x12, 0, 0x12, 5]).kept, PAGE_BYTES + 8);
        assert_eq!(descriptor_bytes(&[0xff; 20]), 40);
    }
}
