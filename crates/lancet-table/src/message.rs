//! Manifests back into messages: what was read comes out again, what is not known included.

use std::borrow::Cow;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};

use crate::data_file::DataFile;
use crate::deletion::{DeletionFile, DeletionKind};
use crate::fields::{Field, NO_PARENT};
use crate::fragment::Fragment;
use crate::manifest::{BasePath, Manifest, Writer};
use crate::proto;
use crate::row_ids::Stored;
use crate::unknown::Kept;

impl Manifest {
    /// The message of the manifest, without the sections and the footer of its file.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_with(self.fragments.iter().map(|fragment| fragment.encoded()))
    }

    /// The same with these fragments, which are encoded already, instead of its own.
    pub(crate) fn encode_with<'a>(
        &self,
        fragments: impl IntoIterator<Item = Cow<'a, [u8]>>,
    ) -> Vec<u8> {
        let data_format = self.data_format.map(|version| {
            let (file_format, version) = ("lance".to_owned(), version.to_string());
            Kept::from(proto::DataFormat { file_format, version })
        });
        let message = proto::Manifest {
            fields: Vec::new(),
            fragments: Vec::new(),
            version: self.version,
            schema_metadata: self.schema_metadata.clone(),
            index_section: self.index_section,
            timestamp: self.timestamp_nanos.map(timestamp),
            tag: self.tag.clone(),
            reader_feature_flags: self.reader_flags.0,
            writer_feature_flags: self.writer_flags.0,
            max_fragment_id: self.max_fragment_id,
            transaction_file: self.transaction_file.clone(),
            writer_version: self.writer.as_ref().map(Writer::message),
            next_row_id: self.next_row_id,
            data_format,
            config: self.config.clone(),
            base_paths: self.base_paths.iter().map(BasePath::message).collect(),
            table_metadata: self.table_metadata.clone(),
            branch: self.branch.clone(),
            old_transaction_section: self.old_transaction_section,
            fragment_tree: None,
            transaction_section: self.transaction_section,
            max_allocated_field_id: self.max_field_id,
        };
        // Parts of a message stand one behind the other: first those with the lowest numbers, fields and fragments.
        let fields = self.fields.iter().map(Field::message).collect();
        let mut bytes = proto::Manifest { fields, ..Default::default() }.encode_to_vec();
        for encoded in fragments {
            encode_key(FRAGMENTS, WireType::LengthDelimited, &mut bytes);
            encode_varint(encoded.len() as u64, &mut bytes);
            bytes.extend_from_slice(&encoded);
        }
        Kept { message, unknown: self.unknown.clone() }.encode_raw(&mut bytes);
        bytes
    }
}

/// The number of the fragments in the message of a manifest.
pub(crate) const FRAGMENTS: u32 = 2;

fn timestamp(nanos: i128) -> proto::Timestamp {
    const SECOND: i128 = 1_000_000_000;
    proto::Timestamp {
        seconds: i64::try_from(nanos.div_euclid(SECOND)).unwrap_or(i64::MAX),
        nanos: i32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0),
    }
}

impl Writer {
    pub(crate) fn message(&self) -> Kept<proto::WriterVersion> {
        let (library, version) = (self.library.clone(), self.version.clone());
        let message = proto::WriterVersion { library, version };
        Kept { message, unknown: self.unknown.clone() }
    }
}

impl BasePath {
    pub(crate) fn message(&self) -> Kept<proto::BasePath> {
        let message = proto::BasePath {
            id: self.id,
            name: self.name.clone(),
            is_dataset_root: self.is_table,
            path: self.path.clone(),
        };
        Kept { message, unknown: self.unknown.clone() }
    }
}

impl Field {
    pub(crate) fn message(&self) -> Kept<proto::Field> {
        let message = proto::Field {
            name: self.name.clone(),
            id: self.id,
            parent_id: self.parent.unwrap_or(NO_PARENT),
            logical_type: self.logical_type.clone(),
            nullable: self.nullable,
            extension_name: self.extension_name.clone(),
            metadata: self.metadata.clone(),
        };
        Kept { message, unknown: self.unknown.clone() }
    }
}

impl Fragment {
    pub(crate) fn encoded(&self) -> Cow<'static, [u8]> {
        self.message().encode_to_vec().into()
    }

    pub(crate) fn message(&self) -> Kept<proto::DataFragment> {
        let mark = proto::Empty {};
        let message = proto::DataFragment {
            id: self.id.into(),
            files: self.files.iter().map(DataFile::message).collect(),
            deletion_file: self.deletion_file.as_deref().map(DeletionFile::message),
            physical_rows: self.physical_rows.unwrap_or(0),
            row_ids: self.row_ids.as_ref().map(|stored| match stored {
                Stored::Inline(bytes) => proto::RowIds::Inline(bytes.clone()),
                Stored::Column { .. } => proto::RowIds::Column(mark),
            }),
            last_updated: self.last_updated.as_ref().map(|stored| match stored {
                Stored::Inline(bytes) => proto::LastUpdated::Inline(bytes.clone()),
                Stored::Column { .. } => proto::LastUpdated::Column(mark),
            }),
            created: self.created.as_ref().map(|stored| match stored {
                Stored::Inline(bytes) => proto::Created::Inline(bytes.clone()),
                Stored::Column { .. } => proto::Created::Column(mark),
            }),
            overlays: Vec::new(),
        };
        Kept { message, unknown: self.unknown.clone() }
    }
}

impl DataFile {
    pub(crate) fn message(&self) -> Kept<proto::DataFile> {
        let (file_major_version, file_minor_version) = self.version_numbers;
        let message = proto::DataFile {
            path: self.path.to_string(),
            fields: self.fields.to_vec(),
            column_indices: self.columns.to_vec(),
            file_major_version,
            file_minor_version,
            file_size_bytes: self.size_bytes.unwrap_or(0),
            base_id: self.base,
        };
        Kept { message, unknown: self.unknown.clone() }
    }
}

impl DeletionFile {
    pub(crate) fn message(&self) -> Kept<proto::DeletionFile> {
        let message = proto::DeletionFile {
            file_type: match self.kind {
                DeletionKind::Arrow => 0,
                DeletionKind::Roaring => 1,
            },
            read_version: self.read_version,
            id: self.id,
            num_deleted_rows: self.num_deleted_rows.unwrap_or(0),
            base_id: self.base,
        };
        Kept { message, unknown: self.unknown.clone() }
    }
}
