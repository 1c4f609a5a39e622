//! Transactions out of their messages and back: what was read comes out again, what is not known included.

use std::sync::Arc;

use prost::Message;

use super::{
    Append, CloneTable, CreateIndex, DataReplacement, Delete, Merge, Operation, Overwrite, Project,
    ReserveFragments, Restore, Rewrite, RewriteGroup, Transaction, Update, UpdateBases,
    UpdateConfig, UpdateMap, proto,
};
use crate::data_file::{DataFile, LastColumns, Rules};
use crate::error::{Error, Problem, Result};
use crate::fields::{self, Field};
use crate::fragment::Fragment;
use crate::indexes::IndexEntry;
use crate::manifest::{BasePath, Limits, base_paths};
use crate::unknown::{Kept, UnknownFields};
use crate::{cost, proto as table};

/// The numbers that operations have.
const OPERATIONS: std::ops::RangeInclusive<u32> = 100..=199;

impl Transaction {
    /// The transaction in the bytes of a section or a file. `file` is the name of the file: errors begin with it.
    pub fn parse(file: &str, bytes: &[u8], limits: &Limits) -> Result<Self> {
        let broken = |problem: Problem| problem.within("transaction").in_file(file);
        let limit = limits.max_metadata_bytes;
        if !cost::is_short(bytes, limit) {
            let needed = cost::transaction_bytes(bytes).map_err(broken)?;
            if needed > limit {
                let (file, option) = (file.to_owned(), "max_metadata_bytes");
                return Err(Error::Limit { file, needed, limit, option });
            }
        }
        let message = Kept::<proto::Transaction>::decode(bytes)
            .map_err(|error| broken(Problem::corrupt(format!("it does not decode: {error}"))))?;
        Self::of_message(message).map_err(broken)
    }

    /// The bytes of its section, or of its file.
    pub fn encode(&self) -> Vec<u8> {
        let mut message = proto::Transaction {
            read_version: self.read_version,
            uuid: self.uuid.clone(),
            tag: self.tag.clone(),
            properties: self.properties.clone(),
            ..Default::default()
        };
        self.operation.write_to(&mut message);
        Kept { message, unknown: self.unknown.clone() }.encode_to_vec()
    }

    fn of_message(message: Kept<proto::Transaction>) -> Result<Self, Problem> {
        let Kept { mut message, unknown } = message;
        let is_unknown = unknown.tags().any(|tag| OPERATIONS.contains(&tag));
        let operation =
            if is_unknown { Operation::Unknown } else { Operation::take_from(&mut message)? };
        let proto::Transaction { read_version, uuid, tag, properties, .. } = message;
        Ok(Self { read_version, uuid, tag, properties, operation, unknown })
    }
}

impl Operation {
    /// The last of several, as alternatives of a message have it; writers write one.
    fn take_from(message: &mut proto::Transaction) -> Result<Self, Problem> {
        macro_rules! first {
            ($($field:ident => $variant:ident),+ $(,)?) => {
                $(if let Some(found) = message.$field.take() {
                    return parse::$field(found).map(Self::$variant);
                })+
            };
        }
        first! {
            append => Append,
            delete => Delete,
            overwrite => Overwrite,
            create_index => CreateIndex,
            rewrite => Rewrite,
            merge => Merge,
            restore => Restore,
            reserve_fragments => ReserveFragments,
            update => Update,
            project => Project,
            update_config => UpdateConfig,
            data_replacement => DataReplacement,
            clone => Clone,
            update_bases => UpdateBases,
        }
        Ok(Self::Unknown)
    }

    fn write_to(&self, message: &mut proto::Transaction) {
        match self {
            Self::Append(op) => message.append = Some(op.message()),
            Self::Delete(op) => message.delete = Some(op.message()),
            Self::Overwrite(op) => message.overwrite = Some(op.message()),
            Self::CreateIndex(op) => message.create_index = Some(op.message()),
            Self::Rewrite(op) => message.rewrite = Some(op.message()),
            Self::Merge(op) => message.merge = Some(op.message()),
            Self::Restore(op) => {
                message.restore = Some(kept(proto::Restore { version: op.version }, &op.unknown));
            }
            Self::ReserveFragments(op) => {
                let reserved = proto::ReserveFragments { num_fragments: op.count };
                message.reserve_fragments = Some(kept(reserved, &op.unknown));
            }
            Self::Update(op) => message.update = Some(op.message()),
            Self::Project(op) => message.project = Some(op.message()),
            Self::UpdateConfig(op) => message.update_config = Some(op.message()),
            Self::DataReplacement(op) => message.data_replacement = Some(op.message()),
            Self::Clone(op) => message.clone = Some(op.message()),
            Self::UpdateBases(op) => {
                let new_bases = op.bases.iter().map(BasePath::message).collect();
                message.update_bases = Some(kept(proto::UpdateBases { new_bases }, &op.unknown));
            }
            Self::Unknown => {}
        }
    }
}

/// Operations out of their messages.
mod parse {
    use super::*;

    pub(super) fn append(op: Kept<proto::Append>) -> Result<Append, Problem> {
        Ok(Append { fragments: fragments(op.message.fragments)?, unknown: op.unknown })
    }

    pub(super) fn delete(op: Kept<proto::Delete>) -> Result<Delete, Problem> {
        let Kept { message, unknown } = op;
        Ok(Delete {
            updated: fragments(message.updated_fragments)?,
            deleted: message.deleted_fragment_ids,
            predicate: message.predicate,
            unknown,
        })
    }

    pub(super) fn overwrite(op: Kept<proto::Overwrite>) -> Result<Overwrite, Problem> {
        let Kept { message, unknown } = op;
        Ok(Overwrite {
            fragments: fragments(message.fragments)?,
            fields: fields::check(message.schema)?,
            schema_metadata: message.schema_metadata,
            config: message.config,
            bases: base_paths(message.bases)?,
            unknown,
        })
    }

    pub(super) fn create_index(op: Kept<proto::CreateIndex>) -> Result<CreateIndex, Problem> {
        let Kept { message, unknown } = op;
        let entries = |entries: Vec<Vec<u8>>| -> Result<Vec<IndexEntry>, Problem> {
            entries.into_iter().map(IndexEntry::parse).collect()
        };
        let (new, removed) = (entries(message.new_indices)?, entries(message.removed_indices)?);
        Ok(CreateIndex { new, removed, unknown })
    }

    pub(super) fn rewrite(op: Kept<proto::Rewrite>) -> Result<Rewrite, Problem> {
        let Kept { message, unknown } = op;
        let groups = message.groups.into_iter().map(|group| {
            let Kept { message, unknown } = group;
            let (old, new) = (fragments(message.old_fragments)?, fragments(message.new_fragments)?);
            Ok(RewriteGroup { old, new, unknown })
        });
        let groups = groups.collect::<Result<_, Problem>>()?;
        Ok(Rewrite { groups, rewritten_indexes: message.rewritten_indices, unknown })
    }

    pub(super) fn merge(op: Kept<proto::Merge>) -> Result<Merge, Problem> {
        let Kept { message, unknown } = op;
        Ok(Merge {
            fragments: fragments(message.fragments)?,
            fields: fields::check(message.schema)?,
            schema_metadata: message.schema_metadata,
            preserves_nullability: message.preserves_nullability,
            unknown,
        })
    }

    pub(super) fn restore(op: Kept<proto::Restore>) -> Result<Restore, Problem> {
        Ok(Restore { version: op.version, unknown: op.unknown })
    }

    pub(super) fn reserve_fragments(
        op: Kept<proto::ReserveFragments>,
    ) -> Result<ReserveFragments, Problem> {
        Ok(ReserveFragments { count: op.num_fragments, unknown: op.unknown })
    }

    pub(super) fn update(op: Kept<proto::Update>) -> Result<Update, Problem> {
        let Kept { message, unknown } = op;
        Ok(Update {
            removed: message.removed_fragment_ids,
            updated: fragments(message.updated_fragments)?,
            new: fragments(message.new_fragments)?,
            fields_modified: message.fields_modified,
            fields_moved: message.fields_moved,
            in_place: message.mode != 0,
            inserted_keys: message.inserted_keys,
            updated_offsets: message.updated_offsets,
            unknown,
        })
    }

    pub(super) fn project(op: Kept<proto::Project>) -> Result<Project, Problem> {
        let Kept { message, unknown } = op;
        let fields = fields::check(message.schema)?;
        Ok(Project { fields, preserves_nullability: message.preserves_nullability, unknown })
    }

    pub(super) fn update_config(op: Kept<proto::UpdateConfig>) -> Result<UpdateConfig, Problem> {
        let Kept { message, unknown } = op;
        let fields = message.field_metadata.into_iter();
        Ok(UpdateConfig {
            config: message.config.map(update_map),
            table_metadata: message.table_metadata.map(update_map),
            schema_metadata: message.schema_metadata.map(update_map),
            field_metadata: fields.map(|(id, map)| (id, update_map(map))).collect(),
            unknown,
        })
    }

    pub(super) fn data_replacement(
        op: Kept<proto::DataReplacement>,
    ) -> Result<DataReplacement, Problem> {
        let Kept { message, unknown } = op;
        let files = message.replacements.into_iter().map(|replaced| {
            let fragment = replaced.fragment_id;
            let file = replaced.message.new_file;
            let file = file.ok_or_else(|| Problem::corrupt("a replaced data file is missing"))?;
            Ok((fragment, DataFile::decode(&file, &lenient(), &mut LastColumns::default())?))
        });
        Ok(DataReplacement { files: files.collect::<Result<_, Problem>>()?, unknown })
    }

    pub(super) fn clone(op: Kept<proto::CloneTable>) -> Result<CloneTable, Problem> {
        let Kept { message, unknown } = op;
        let proto::CloneTable { is_shallow, ref_name, ref_version, ref_path, branch_name } =
            message;
        Ok(CloneTable { is_shallow, ref_name, ref_version, ref_path, branch_name, unknown })
    }

    pub(super) fn update_bases(op: Kept<proto::UpdateBases>) -> Result<UpdateBases, Problem> {
        Ok(UpdateBases { bases: base_paths(op.message.new_bases)?, unknown: op.unknown })
    }

    fn update_map(map: proto::UpdateMap) -> UpdateMap {
        let entries = map.entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
        UpdateMap { entries, replace: map.replace }
    }

    fn fragments(messages: Vec<Vec<u8>>) -> Result<Vec<Fragment>, Problem> {
        let (rules, mut last) = (lenient(), LastColumns::default());
        let fragments = messages
            .iter()
            .map(|message| Fragment::decode(message, &rules, &mut last).map(Arc::unwrap_or_clone));
        fragments.collect()
    }

    /// What files of a transaction have in common is told by the manifest.
    fn lenient() -> Rules<'static> {
        Rules { leaves: None, bases: None, version: None }
    }
}

fn kept<M>(message: M, unknown: &UnknownFields) -> Kept<M> {
    Kept { message, unknown: unknown.clone() }
}

fn fragments(fragments: &[Fragment]) -> Vec<Vec<u8>> {
    fragments.iter().map(|fragment| fragment.message().encode_to_vec()).collect()
}

fn schema(fields: &[Field]) -> Vec<Kept<table::Field>> {
    fields.iter().map(Field::message).collect()
}

impl Append {
    fn message(&self) -> Kept<proto::Append> {
        kept(proto::Append { fragments: fragments(&self.fragments) }, &self.unknown)
    }
}

impl Delete {
    fn message(&self) -> Kept<proto::Delete> {
        let message = proto::Delete {
            updated_fragments: fragments(&self.updated),
            deleted_fragment_ids: self.deleted.clone(),
            predicate: self.predicate.clone(),
        };
        kept(message, &self.unknown)
    }
}

impl Overwrite {
    fn message(&self) -> Kept<proto::Overwrite> {
        let message = proto::Overwrite {
            fragments: fragments(&self.fragments),
            schema: schema(&self.fields),
            schema_metadata: self.schema_metadata.clone(),
            config: self.config.clone(),
            bases: self.bases.iter().map(BasePath::message).collect(),
        };
        kept(message, &self.unknown)
    }
}

impl CreateIndex {
    fn message(&self) -> Kept<proto::CreateIndex> {
        let bytes = |entries: &[IndexEntry]| -> Vec<Vec<u8>> {
            entries.iter().map(|entry| entry.bytes().to_vec()).collect()
        };
        let message = proto::CreateIndex {
            new_indices: bytes(&self.new),
            removed_indices: bytes(&self.removed),
        };
        kept(message, &self.unknown)
    }
}

impl Rewrite {
    fn message(&self) -> Kept<proto::Rewrite> {
        let groups = self.groups.iter().map(|group| {
            let message = proto::RewriteGroup {
                old_fragments: fragments(&group.old),
                new_fragments: fragments(&group.new),
            };
            kept(message, &group.unknown)
        });
        let message = proto::Rewrite {
            groups: groups.collect(),
            rewritten_indices: self.rewritten_indexes.clone(),
        };
        kept(message, &self.unknown)
    }
}

impl Merge {
    fn message(&self) -> Kept<proto::Merge> {
        let message = proto::Merge {
            fragments: fragments(&self.fragments),
            schema: schema(&self.fields),
            schema_metadata: self.schema_metadata.clone(),
            preserves_nullability: self.preserves_nullability,
        };
        kept(message, &self.unknown)
    }
}

impl Update {
    fn message(&self) -> Kept<proto::Update> {
        let message = proto::Update {
            removed_fragment_ids: self.removed.clone(),
            updated_fragments: fragments(&self.updated),
            new_fragments: fragments(&self.new),
            fields_modified: self.fields_modified.clone(),
            fields_moved: self.fields_moved.clone(),
            mode: self.in_place.into(),
            inserted_keys: self.inserted_keys.clone(),
            updated_offsets: self.updated_offsets.clone(),
        };
        kept(message, &self.unknown)
    }
}

impl Project {
    fn message(&self) -> Kept<proto::Project> {
        let message = proto::Project {
            schema: schema(&self.fields),
            preserves_nullability: self.preserves_nullability,
        };
        kept(message, &self.unknown)
    }
}

impl UpdateConfig {
    fn message(&self) -> Kept<proto::UpdateConfig> {
        let fields = self.field_metadata.iter();
        let message = proto::UpdateConfig {
            config: self.config.as_ref().map(UpdateMap::message),
            table_metadata: self.table_metadata.as_ref().map(UpdateMap::message),
            schema_metadata: self.schema_metadata.as_ref().map(UpdateMap::message),
            field_metadata: fields.map(|(id, map)| (*id, map.message())).collect(),
        };
        kept(message, &self.unknown)
    }
}

impl UpdateMap {
    fn message(&self) -> proto::UpdateMap {
        let entries = self.entries.iter();
        let entries = entries
            .map(|(key, value)| proto::UpdateMapEntry { key: key.clone(), value: value.clone() });
        proto::UpdateMap { entries: entries.collect(), replace: self.replace }
    }
}

impl DataReplacement {
    fn message(&self) -> Kept<proto::DataReplacement> {
        let replacements = self.files.iter().map(|(fragment_id, file)| {
            let new_file = Some(file.message().encode_to_vec());
            proto::ReplacedFile { fragment_id: *fragment_id, new_file }.into()
        });
        kept(proto::DataReplacement { replacements: replacements.collect() }, &self.unknown)
    }
}

impl CloneTable {
    fn message(&self) -> Kept<proto::CloneTable> {
        let message = proto::CloneTable {
            is_shallow: self.is_shallow,
            ref_name: self.ref_name.clone(),
            ref_version: self.ref_version,
            ref_path: self.ref_path.clone(),
            branch_name: self.branch_name.clone(),
        };
        kept(message, &self.unknown)
    }
}
