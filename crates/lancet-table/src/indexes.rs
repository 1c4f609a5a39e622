//! The indexes of a version: entries of its index section.
//!
//! lancet builds no indexes, but it must not break those of others: entries are copied byte by byte, and only the bitmap of
//! the fragments that an index covers is changed. A bitmap that names a fragment which is not in the index would make queries
//! miss rows; one that names fewer only makes them slower.

use std::collections::BTreeSet;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use roaring::RoaringBitmap;

use crate::cost::each_part;
use crate::deletions::roaring_file;
use crate::error::Problem;

/// The folder of the indexes, below that of the table.
pub const INDICES_DIR: &str = "_indices";

/// The field of an entry that holds the bitmap.
const BITMAP: u32 = 5;
/// The field of an entry that names the base path.
const BASE: u32 = 9;
/// The field of a section that holds an entry.
const ENTRY: u32 = 1;

/// An index, as a version lists it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// Its files lie in the folder with this name, in hexadecimal with hyphens.
    pub uuid: [u8; 16],
    /// Its name.
    pub name: String,
    /// The fields it is of.
    pub fields: Vec<i32>,
    /// The version it was built from.
    pub dataset_version: u64,
    /// The fragments it covers, some of which may be gone; `None` if it does not say.
    pub fragments: Option<RoaringBitmap>,
    /// The base path its files lie under; `None` for the table's own folder.
    pub base: Option<u32>,
    /// Whether it holds values of further fields.
    pub(crate) has_covering_fields: bool,
    bytes: Vec<u8>,
}

/// What lancet looks at.
#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(message, optional, tag = "1")]
    uuid: Option<Uuid>,
    #[prost(int32, repeated, tag = "2")]
    fields: Vec<i32>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(uint64, tag = "4")]
    dataset_version: u64,
    #[prost(bytes = "vec", optional, tag = "5")]
    fragment_bitmap: Option<Vec<u8>>,
    #[prost(uint32, optional, tag = "9")]
    base_id: Option<u32>,
    #[prost(int32, repeated, tag = "11")]
    covering_fields: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Uuid {
    #[prost(bytes = "vec", tag = "1")]
    uuid: Vec<u8>,
}

impl IndexEntry {
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, Problem> {
        let entry = Entry::decode(&*bytes).map_err(|error| {
            Problem::corrupt(format!("an index entry does not decode: {error}"))
        })?;
        let within =
            |problem: Problem| problem.within(&format!("index `{}`", entry.name.escape_debug()));
        let uuid = entry.uuid.as_ref().and_then(|uuid| uuid.uuid.as_slice().try_into().ok());
        let Some(uuid) = uuid else {
            return Err(within(Problem::corrupt("its uuid does not have 16 bytes")));
        };
        let fragments = entry.fragment_bitmap.as_deref().map(roaring_file).transpose();
        Ok(Self {
            uuid,
            fragments: fragments.map_err(within)?,
            fields: entry.fields,
            dataset_version: entry.dataset_version,
            base: entry.base_id,
            has_covering_fields: !entry.covering_fields.is_empty(),
            name: entry.name,
            bytes,
        })
    }

    /// The entry as it stands in a section.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name of the folder of its files, in [`INDICES_DIR`].
    pub fn folder_name(&self) -> String {
        let hex: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
        let parts = parts.iter().filter_map(|(start, end)| hex.get(*start..*end));
        parts.collect::<Vec<_>>().join("-")
    }

    /// Takes fragments out of its bitmap.
    pub(crate) fn remove_fragments(&mut self, gone: &BTreeSet<u64>) -> Result<(), Problem> {
        let Some(fragments) = &mut self.fragments else { return Ok(()) };
        let before = fragments.len();
        for id in gone.iter().filter_map(|id| u32::try_from(*id).ok()) {
            fragments.remove(id);
        }
        if fragments.len() == before {
            return Ok(());
        }
        let mut bitmap = Vec::with_capacity(fragments.serialized_size());
        // Writing to memory does not fail.
        let _ = fragments.serialize_into(&mut bitmap);
        let mut value = Vec::with_capacity(bitmap.len().saturating_add(10));
        encode_varint(bitmap.len() as u64, &mut value);
        value.extend_from_slice(&bitmap);
        self.replace(BITMAP, WireType::LengthDelimited, &value)
    }

    /// Says that its files lie under a base path.
    pub(crate) fn set_base(&mut self, base: u32) -> Result<(), Problem> {
        self.base = Some(base);
        let mut value = Vec::new();
        encode_varint(base.into(), &mut value);
        self.replace(BASE, WireType::Varint, &value)
    }

    /// Puts a field in the place of the one that is there, or behind the others; all else stays byte by byte.
    fn replace(&mut self, number: u32, wire: WireType, value: &[u8]) -> Result<(), Problem> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut is_there = false;
        let mut put = |bytes: &mut Vec<u8>| {
            if !std::mem::replace(&mut is_there, true) {
                encode_key(number, wire, bytes);
                bytes.extend_from_slice(value);
            }
        };
        each_part(&self.bytes, |found, whole, _| {
            if found == number {
                put(&mut bytes)
            } else {
                bytes.extend_from_slice(whole)
            }
            Ok(())
        })?;
        put(&mut bytes);
        self.bytes = bytes;
        Ok(())
    }
}

/// The index section of a version.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Indexes {
    pub(crate) entries: Vec<IndexEntry>,
    /// What else the section says, as it stands there.
    others: Vec<u8>,
}

impl Indexes {
    pub(crate) fn parse(section: &[u8]) -> Result<Self, Problem> {
        let mut indexes = Self::default();
        each_part(section, |number, whole, value| {
            if number == ENTRY {
                indexes.entries.push(IndexEntry::parse(value.to_vec())?);
            } else {
                indexes.others.extend_from_slice(whole);
            }
            Ok(())
        })?;
        Ok(indexes)
    }

    /// The section; `None` if there is nothing to say.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        if self.entries.is_empty() {
            return None;
        }
        let mut section = Vec::new();
        for entry in &self.entries {
            encode_key(ENTRY, WireType::LengthDelimited, &mut section);
            encode_varint(entry.bytes.len() as u64, &mut section);
            section.extend_from_slice(&entry.bytes);
        }
        section.extend_from_slice(&self.others);
        Some(section)
    }

    /// Takes fragments out of the bitmaps of all indexes, or of those on some fields.
    pub(crate) fn remove_fragments(
        &mut self,
        gone: &BTreeSet<u64>,
        on: Option<&BTreeSet<i32>>,
    ) -> Result<(), Problem> {
        for entry in &mut self.entries {
            if on.is_none_or(|on| entry.fields.iter().any(|field| on.contains(field))) {
                entry.remove_fragments(gone)?;
            }
        }
        Ok(())
    }

    /// Removes the indexes on fields that are not among these.
    pub(crate) fn keep_fields(&mut self, fields: &BTreeSet<i32>) {
        self.entries.retain(|entry| entry.fields.iter().all(|field| fields.contains(field)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(fragments: &[u32], extra: &[u8]) -> Vec<u8> {
        let mut bitmap = Vec::new();
        RoaringBitmap::from_iter(fragments).serialize_into(&mut bitmap).unwrap();
        let head = Entry {
            uuid: Some(Uuid { uuid: vec![0xab; 16] }),
            fields: vec![3],
            name: "by_k".into(),
            dataset_version: 7,
            ..Default::default()
        };
        // An unknown field on either side of the bitmap.
        let mut bytes = [extra, &head.encode_to_vec(), extra].concat();
        encode_key(BITMAP, WireType::LengthDelimited, &mut bytes);
        encode_varint(bitmap.len() as u64, &mut bytes);
        [&bytes, &bitmap[..], extra, &[0x38, 2]].concat()
    }

    #[test]
    fn only_the_bitmap_changes() {
        let extra = [0xa2, 0x06, 2, 9, 9];
        let before = IndexEntry::parse(entry(&[1, 2, 5], &extra)).unwrap();
        assert_eq!(before.folder_name(), "abababab-abab-abab-abab-abababababab");
        let mut after = before.clone();
        after.remove_fragments(&[7, 9].into()).unwrap();
        assert_eq!(after, before);
        after.remove_fragments(&[2, 9].into()).unwrap();
        assert_eq!(after.bytes(), entry(&[1, 5], &extra));
        assert_eq!(after, IndexEntry::parse(entry(&[1, 5], &extra)).unwrap());
    }

    #[test]
    fn a_base_is_added_once() {
        let mut entry = IndexEntry::parse(entry(&[1], &[])).unwrap();
        entry.set_base(0).unwrap();
        entry.set_base(3).unwrap();
        let again = IndexEntry::parse(entry.bytes().to_vec()).unwrap();
        assert_eq!((again.base, &again), (Some(3), &entry));
    }

    #[test]
    fn sections_come_out_as_they_came() {
        let mut section = Vec::new();
        for fragments in [&[1, 2][..], &[4]] {
            let entry = entry(fragments, &[]);
            encode_key(1, WireType::LengthDelimited, &mut section);
            encode_varint(entry.len() as u64, &mut section);
            section.extend_from_slice(&entry);
        }
        section.extend_from_slice(&[0xa0, 0x06, 1]);
        let mut indexes = Indexes::parse(&section).unwrap();
        assert_eq!(indexes.encode().unwrap(), section);
        indexes.keep_fields(&[3].into());
        assert_eq!(indexes.entries.len(), 2);
        indexes.keep_fields(&[4].into());
        assert_eq!(indexes.encode(), None);
        assert!(Indexes::parse(&[0x0a, 3, 0x0a, 9, 9]).is_err());
        assert!(Indexes::parse(&[0x0a, 2, 0x18, 1]).is_err());
    }
}
