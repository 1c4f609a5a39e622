//! What a manifest takes in memory once it is decoded, told from its bytes alone.
//!
//! An empty fragment costs 2 bytes in the file and some hundred in memory, so the size of a message
//! says little. Counting such parts before anything is decoded does.

use crate::error::Problem;
use crate::unknown::Kept;
use crate::wire::Parts;
use crate::{data_file, deletion, fields, fragment, manifest, proto};

/// A list that grows holds its old half and its new whole for a moment.
const GROWTH: usize = 3;
/// A key and a value of metadata, with their share of the tree.
const ENTRY_BYTES: usize = 256;
/// An id in the sets of ids that must differ, and a field in the map of parents.
const SET_BYTES: usize = 64;

const FIELD_BYTES: usize = part::<Kept<proto::Field>, fields::Field>();
/// Without the data file that has its place in it.
const FRAGMENT_BYTES: usize = part::<Vec<u8>, fragment::Fragment>()
    .saturating_sub(size_of::<data_file::DataFile>().saturating_mul(GROWTH));
const DELETION_FILE_BYTES: usize = part::<Kept<proto::DeletionFile>, deletion::DeletionFile>();
const DATA_FILE_BYTES: usize = part::<Vec<u8>, data_file::DataFile>();
const BASE_PATH_BYTES: usize = part::<Kept<proto::BasePath>, manifest::BasePath>();
/// A byte of a packed list of numbers, or a number that stands alone; and once more, to be sorted.
const NUMBER_BYTES: usize = size_of::<i32>() * GROWTH * 2;
/// A byte string in a list of them.
const BYTES_BYTES: usize = size_of::<Vec<u8>>() * GROWTH;

/// A part, as a message and checked.
const fn part<Message, Checked>() -> usize {
    let both = size_of::<Message>().saturating_add(size_of::<Checked>());
    both.saturating_mul(GROWTH).saturating_add(SET_BYTES)
}

/// Bytes in memory for a byte of a message, at most: an empty part takes two of them.
const MOST_FOR_A_BYTE: usize = {
    let largest = if FRAGMENT_BYTES > DATA_FILE_BYTES { FRAGMENT_BYTES } else { DATA_FILE_BYTES };
    let largest = if FIELD_BYTES > largest { FIELD_BYTES } else { largest };
    let largest = if BASE_PATH_BYTES > largest { BASE_PATH_BYTES } else { largest };
    // Parts within parts share their bytes, and some are copied.
    largest.saturating_add(NUMBER_BYTES)
};

/// Whether a message is so short that nothing in it has to be counted.
pub(crate) fn is_short(message: &[u8], limit: u64) -> bool {
    let most = message.len().saturating_mul(MOST_FOR_A_BYTE);
    u64::try_from(most).is_ok_and(|most| most <= limit)
}

/// Bytes that a decoded manifest message takes at most, about.
pub(crate) fn manifest_bytes(message: &[u8]) -> Result<u64, Problem> {
    // Strings and byte strings are copied once, and a vector may be twice what it holds.
    let mut bytes = message.len().saturating_mul(2);
    each_field(message, |number, field| {
        bytes = bytes.saturating_add(match number {
            1 => FIELD_BYTES.saturating_add(field_bytes(field)?),
            2 => FRAGMENT_BYTES.saturating_add(fragment_bytes(field)?),
            5 | 16 | 19 => ENTRY_BYTES,
            18 => BASE_PATH_BYTES,
            _ => 0,
        });
        Ok(())
    })?;
    Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
}

fn field_bytes(message: &[u8]) -> Result<usize, Problem> {
    let mut bytes = 0_usize;
    each_field(message, |number, _| {
        bytes = bytes.saturating_add(if number == 10 { ENTRY_BYTES } else { 0 });
        Ok(())
    })?;
    Ok(bytes)
}

fn fragment_bytes(message: &[u8]) -> Result<usize, Problem> {
    let mut bytes = 0_usize;
    each_field(message, |number, field| {
        bytes = bytes.saturating_add(match number {
            2 => DATA_FILE_BYTES.saturating_add(data_file_bytes(field)?),
            3 => DELETION_FILE_BYTES,
            11 => BYTES_BYTES,
            _ => 0,
        });
        Ok(())
    })?;
    Ok(bytes)
}

fn data_file_bytes(message: &[u8]) -> Result<usize, Problem> {
    let mut bytes = 0_usize;
    each_field(message, |number, field| {
        bytes = bytes.saturating_add(match number {
            2 | 3 => field.len().max(1).saturating_mul(NUMBER_BYTES),
            _ => 0,
        });
        Ok(())
    })?;
    Ok(bytes)
}

/// Bytes that a decoded transaction takes at most, about: what its operation lists is counted as fragments, which take the
/// most.
pub(crate) fn transaction_bytes(message: &[u8]) -> Result<u64, Problem> {
    let mut bytes = message.len().saturating_mul(2);
    each_field(message, |number, operation| {
        if number < FIRST_OPERATION {
            bytes = bytes.saturating_add(ENTRY_BYTES);
            return Ok(());
        }
        each_field(operation, |_, part| {
            // Groups list fragments one level below.
            let mut inside = 0_usize;
            let counted = each_field(part, |_, below| {
                let below =
                    fragment_bytes(below).unwrap_or(below.len().saturating_mul(NUMBER_BYTES));
                inside = inside.saturating_add(FRAGMENT_BYTES).saturating_add(below);
                Ok(())
            });
            if counted.is_err() {
                // Numbers or text.
                inside = part.len().saturating_mul(NUMBER_BYTES);
            }
            let part = fragment_bytes(part).unwrap_or(0);
            bytes = bytes.saturating_add(FRAGMENT_BYTES).saturating_add(part.max(inside));
            Ok(())
        })
    })?;
    Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// The first number of an operation in a transaction.
const FIRST_OPERATION: u32 = 100;

/// Hands every field of a message to `visit`: its number, and its bytes if it has some.
///
/// It stops at nothing that the decoder would step over: else a part could hide behind it.
pub(crate) fn each_field<'a>(
    message: &'a [u8],
    mut visit: impl FnMut(u32, &'a [u8]) -> Result<(), Problem>,
) -> Result<(), Problem> {
    each_part(message, |number, _, field| visit(number, field))
}

/// The same with the whole of each field: its number, its length and its bytes.
pub(crate) fn each_part<'a>(
    message: &'a [u8],
    mut visit: impl FnMut(u32, &'a [u8], &'a [u8]) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut parts = Parts::new(message);
    while let Some(part) = parts.next()? {
        visit(part.field, part.whole, part.any_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    fn cost(manifest: &proto::Manifest) -> usize {
        usize::try_from(manifest_bytes(&manifest.encode_to_vec()).unwrap()).unwrap()
    }

    #[test]
    fn what_costs_little_in_the_file_is_counted() {
        let fragments = vec![Kept::<proto::DataFragment>::default(); 100];
        let mut manifest = proto::Manifest { fragments, ..Default::default() };
        assert_eq!(manifest.encoded_len(), 200);
        assert_eq!(cost(&manifest), 100 * FRAGMENT_BYTES + 400);

        let file = proto::DataFile { fields: vec![1; 50], ..Default::default() };
        manifest.fragments.truncate(1);
        manifest.fragments[0].files = vec![file.into(); 10];
        let least = 10 * (DATA_FILE_BYTES + 50 * size_of::<i32>());
        assert!(cost(&manifest) > least);

        let metadata = (0..10).map(|i| (i.to_string(), vec![])).collect();
        let field = proto::Field { metadata, ..Default::default() };
        let manifest = proto::Manifest { fields: vec![field.into(); 7], ..Default::default() };
        assert!(cost(&manifest) > 7 * (FIELD_BYTES + 10 * ENTRY_BYTES));
    }

    #[test]
    fn nothing_hides_behind_a_group() {
        // The unknown field 30 starts and ends: the decoder steps over it, to a fragment.
        let message = [0xf3, 0x01, 0xf4, 0x01, 0x12, 0];
        assert_eq!(proto::Manifest::decode(&message[..]).unwrap().fragments.len(), 1);
        let rule = manifest_bytes(&message).unwrap_err();
        assert!(format!("{rule:?}").contains("group"), "{rule:?}");
        assert!(manifest_bytes(&[0x12, 5, 0]).is_err());
        assert!(manifest_bytes(&[0x80; 20]).is_err());
    }
}
