//! What of a version goes on to the next.

use crate::flags::Flags;
use crate::manifest::Manifest;
use crate::unknown::UnknownFields;

impl Manifest {
    /// A table without anything.
    pub(crate) fn empty() -> Self {
        Self {
            file: String::new(),
            version: 0,
            timestamp_nanos: None,
            writer: None,
            tag: String::new(),
            branch: None,
            reader_flags: Flags::default(),
            writer_flags: Flags::default(),
            fields: Vec::new(),
            schema_metadata: Default::default(),
            fragments: Vec::new(),
            data_format: None,
            max_fragment_id: None,
            max_field_id: None,
            next_row_id: 0,
            config: Default::default(),
            table_metadata: Default::default(),
            base_paths: Vec::new(),
            transaction_file: String::new(),
            index_section: None,
            transaction_section: None,
            old_transaction_section: None,
            unknown: UnknownFields::default(),
        }
    }

    /// The same without its rows, which may be many.
    pub(super) fn without_fragments(&self) -> Self {
        Self {
            file: self.file.clone(),
            version: self.version,
            timestamp_nanos: self.timestamp_nanos,
            writer: self.writer.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            reader_flags: self.reader_flags,
            writer_flags: self.writer_flags,
            fields: self.fields.clone(),
            schema_metadata: self.schema_metadata.clone(),
            fragments: Vec::new(),
            data_format: self.data_format,
            max_fragment_id: highest_fragment_id(self),
            max_field_id: self.max_field_id,
            next_row_id: self.next_row_id,
            config: self.config.clone(),
            table_metadata: self.table_metadata.clone(),
            base_paths: self.base_paths.clone(),
            transaction_file: String::new(),
            index_section: None,
            transaction_section: None,
            old_transaction_section: None,
            unknown: self.unknown.clone(),
        }
    }
}

/// The highest id of a fragment so far. Old writers do not note it.
pub(super) fn highest_fragment_id(manifest: &Manifest) -> Option<u32> {
    let listed = manifest.fragments.iter().map(|fragment| fragment.id).max();
    manifest.max_fragment_id.max(listed)
}
