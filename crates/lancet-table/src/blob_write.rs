//! Blobs of the second kind on their way into files: the bytes go to files beside the data file, and its column gets where
//! they lie. Pure: what has to be written is handed out.
//!
//! Blobs up to a size (4 MiB, unless the field says otherwise) lie back to back in packed files, larger ones each in a
//! file of its own. An empty blob lies nowhere. None goes into the data file itself.

use std::sync::Arc;

use arrow_array::builder::{NullBufferBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, StructArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields};
use bytes::Bytes;

use crate::blobs::{DEDICATED, INLINE, PACKED, Place};
use crate::error::{Error, Result};
use crate::proto;
use crate::schema::{BLOB_KEY, BLOB_V2, EXTENSION_NAME, Kind, Node, blob_v2_fields};
use crate::unknown::{Kept, UnknownFields};

/// Blobs from this size on get a file of their own.
const DEDICATED_FROM: u64 = 4 << 20;
const DEDICATED_KEY: &str = "lance-encoding:blob-dedicated-size-threshold";
const PACKED_KEY: &str = "lance-encoding:packed";
const LARGE_BINARY: &str = "large_binary";
const STRUCT: &str = "struct";
/// A packed file is complete with this many bytes: as much waits in memory.
const PACKED_BYTES: usize = 64 << 20;

/// A file that has to be written beside a data file, under the name of its id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SideFile {
    pub(crate) id: u32,
    pub(crate) bytes: Bytes,
}

/// Gives blobs of one data file their places.
#[derive(Debug, Default)]
pub(crate) struct BlobPacker {
    last_id: u32,
    /// The packed file that is being filled, and its id.
    packed: Option<(u32, Vec<u8>)>,
    ready: Vec<SideFile>,
}

/// The field of a column as the data file has it: blobs of the second kind are packed structs that say where they lie.
pub(crate) fn stored_field(node: &Node) -> FieldRef {
    match node.kind {
        Kind::BlobV2 => {
            let field = ArrowField::new(
                node.field.name(),
                DataType::Struct(blob_v2_fields()),
                node.field.is_nullable(),
            );
            Arc::new(field.with_metadata([(PACKED_KEY.into(), "true".into())].into()))
        }
        Kind::Struct => {
            let children: Fields = node.children.iter().map(stored_field).collect();
            Arc::new(node.field.as_ref().clone().with_data_type(DataType::Struct(children)))
        }
        _ => node.field.clone(),
    }
}

/// The fields of a new table of format 2.2: blobs become those of the second kind, with their two children. Ids of the new
/// children are such that none of the others has them.
pub(crate) fn as_second_kind(fields: Vec<Kept<proto::Field>>) -> Vec<Kept<proto::Field>> {
    let mut next = fields.iter().map(|field| field.id).max().unwrap_or(-1);
    let mut out = Vec::with_capacity(fields.len());
    for mut field in fields {
        let is_blob =
            field.logical_type == LARGE_BINARY && field.metadata.remove(BLOB_KEY).is_some();
        if !is_blob {
            out.push(field);
            continue;
        }
        let parent_id = field.id;
        STRUCT.clone_into(&mut field.logical_type);
        BLOB_V2.clone_into(&mut field.extension_name);
        field.metadata.insert(EXTENSION_NAME.into(), BLOB_V2.into());
        // How bytes are encoded is said of the first field of the struct, not of a struct.
        field.unknown = UnknownFields::default();
        out.push(field);
        for (name, logical_type) in [("data", LARGE_BINARY), ("uri", "string")] {
            next = next.saturating_add(1);
            out.push(Kept::from(proto::Field {
                name: name.into(),
                id: next,
                parent_id,
                logical_type: logical_type.into(),
                nullable: true,
                ..proto::Field::default()
            }));
        }
    }
    out
}

impl BlobPacker {
    /// The column of a data file for an array of a field. Files that are complete wait in
    /// [`take_ready`](Self::take_ready).
    pub(crate) fn stored(&mut self, node: &Node, array: &ArrayRef) -> Result<ArrayRef> {
        let other = || {
            let (name, found) = (node.field.name(), array.data_type());
            Error::invalid(format!("field `{name}` is {}, not {found}", node.field.data_type()))
        };
        match node.kind {
            Kind::BlobV2 => {
                let blobs = array.as_binary_opt::<i64>().ok_or_else(other)?;
                let from = node.field.metadata().get(DEDICATED_KEY);
                let from = from.and_then(|text| text.parse().ok()).unwrap_or(DEDICATED_FROM);
                self.describe(blobs, from)
            }
            Kind::Struct if crate::assemble::has_blob_v2(node) => {
                let structs = array.as_struct_opt().ok_or_else(other)?;
                let children = node.children.iter().zip(structs.columns());
                let children = children.map(|(child, array)| self.stored(child, array));
                let children = children.collect::<Result<Vec<_>>>()?;
                let DataType::Struct(fields) = stored_field(node).data_type().clone() else {
                    return Err(other());
                };
                Ok(Arc::new(StructArray::try_new(fields, children, structs.nulls().cloned())?))
            }
            _ => Ok(array.clone()),
        }
    }

    fn describe(&mut self, blobs: &LargeBinaryArray, dedicated_from: u64) -> Result<ArrayRef> {
        let (mut kinds, mut positions, mut sizes, mut ids) = (vec![], vec![], vec![], vec![]);
        let (mut nulls, mut uris) = (NullBufferBuilder::new(blobs.len()), StringBuilder::new());
        for blob in blobs {
            let place = self.place(blob.unwrap_or_default(), dedicated_from)?;
            kinds.push(place.kind);
            positions.push(place.position);
            sizes.push(place.size);
            ids.push(place.id);
            uris.append_value("");
            nulls.append(blob.is_some());
        }
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(UInt8Array::from(kinds)),
            Arc::new(UInt64Array::from(positions)),
            Arc::new(UInt64Array::from(sizes)),
            Arc::new(UInt32Array::from(ids)),
            Arc::new(uris.finish()),
        ];
        Ok(Arc::new(StructArray::try_new(blob_v2_fields(), arrays, nulls.finish())?))
    }

    fn place(&mut self, blob: &[u8], dedicated_from: u64) -> Result<Place> {
        let size = blob.len() as u64;
        if blob.is_empty() {
            return Ok(Place { kind: INLINE, position: 0, size: 0, id: 0 });
        }
        if size >= dedicated_from {
            let id = self.next_id()?;
            self.ready.push(SideFile { id, bytes: Bytes::copy_from_slice(blob) });
            return Ok(Place { kind: DEDICATED, position: 0, size, id });
        }
        let is_full =
            |(_, bytes): &(u32, Vec<u8>)| bytes.len().saturating_add(blob.len()) > PACKED_BYTES;
        if self.packed.as_ref().is_some_and(is_full) {
            self.complete();
        }
        let (id, mut bytes) = match self.packed.take() {
            Some(packed) => packed,
            None => (self.next_id()?, Vec::new()),
        };
        let position = bytes.len() as u64;
        bytes.extend_from_slice(blob);
        self.packed = Some((id, bytes));
        Ok(Place { kind: PACKED, position, size, id })
    }

    /// Ids count from 1.
    fn next_id(&mut self) -> Result<u32> {
        self.last_id = self.last_id.checked_add(1).ok_or_else(|| {
            Error::invalid("a data file has more blobs than there are ids; write smaller fragments")
        })?;
        Ok(self.last_id)
    }

    fn complete(&mut self) {
        let packed = self.packed.take();
        self.ready.extend(packed.map(|(id, bytes)| SideFile { id, bytes: bytes.into() }));
    }

    /// Files that are complete.
    pub(crate) fn take_ready(&mut self) -> Vec<SideFile> {
        std::mem::take(&mut self.ready)
    }

    /// All files that are left.
    pub(crate) fn finish(mut self) -> Vec<SideFile> {
        self.complete();
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{UInt8Type, UInt32Type, UInt64Type};

    use super::*;

    fn node(threshold: Option<&str>) -> Node {
        let field = ArrowField::new("b", DataType::LargeBinary, true);
        let metadata = threshold.map(|text| (DEDICATED_KEY.to_owned(), text.to_owned()));
        let field = Arc::new(field.with_metadata(metadata.into_iter().collect()));
        Node { id: 1, field, kind: Kind::BlobV2, children: Vec::new() }
    }

    fn places(array: &ArrayRef) -> Vec<Option<(u8, u64, u64, u32)>> {
        let array = array.as_struct();
        let (kind, position) = (array.column(0).as_primitive::<UInt8Type>(), array.column(1));
        let (size, id) = (array.column(2).as_primitive::<UInt64Type>(), array.column(3));
        let (position, id) =
            (position.as_primitive::<UInt64Type>(), id.as_primitive::<UInt32Type>());
        let at = |row| (kind.value(row), position.value(row), size.value(row), id.value(row));
        (0..array.len()).map(|row| array.is_valid(row).then(|| at(row))).collect()
    }

    #[test]
    fn blobs_are_packed_or_lie_alone() {
        let blobs: Vec<Option<&[u8]>> =
            vec![Some(b"abc"), None, Some(b""), Some(b"a long one"), Some(b"de")];
        let array: ArrayRef = Arc::new(LargeBinaryArray::from(blobs));
        let mut packer = BlobPacker::default();
        let stored = packer.stored(&node(Some("10")), &array).unwrap();
        assert_eq!(
            places(&stored),
            [Some((1, 0, 3, 1)), None, Some((0, 0, 0, 0)), Some((2, 0, 10, 2)), Some((1, 3, 2, 1))]
        );
        assert_eq!(stored.data_type(), stored_field(&node(None)).data_type());
        let ready = packer.take_ready();
        assert_eq!(ready, [SideFile { id: 2, bytes: Bytes::from_static(b"a long one") }]);
        let more: ArrayRef = Arc::new(LargeBinaryArray::from(vec![Some(&b"f"[..])]));
        let stored = packer.stored(&node(None), &more).unwrap();
        assert_eq!(places(&stored), [Some((1, 5, 1, 1))]);
        assert_eq!(packer.finish(), [SideFile { id: 1, bytes: Bytes::from_static(b"abcdef") }]);
    }

    #[test]
    fn packed_files_end_somewhere() {
        let blob = vec![7_u8; PACKED_BYTES / 2 + 1];
        let array: ArrayRef = Arc::new(LargeBinaryArray::from(vec![Some(&blob[..]); 3]));
        let mut packer = BlobPacker::default();
        let from = (PACKED_BYTES * 2).to_string();
        let stored = packer.stored(&node(Some(&from)), &array).unwrap();
        let ids: Vec<u32> = places(&stored).into_iter().flatten().map(|place| place.3).collect();
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(packer.take_ready().len(), 2);
        assert_eq!(packer.finish().len(), 1);
    }

    #[test]
    fn other_columns_stay_as_they_are() {
        let array: ArrayRef = Arc::new(UInt8Array::from(vec![1]));
        let field = Arc::new(ArrowField::new("n", DataType::UInt8, true));
        let plain = Node { id: 0, field, kind: Kind::Leaf, children: Vec::new() };
        let mut packer = BlobPacker::default();
        assert_eq!(&packer.stored(&plain, &array).unwrap(), &array);
        let error = packer.stored(&node(None), &array).unwrap_err().to_string();
        assert_eq!(error, "field `b` is LargeBinary, not UInt8");
        assert!(packer.finish().is_empty());
    }
}
