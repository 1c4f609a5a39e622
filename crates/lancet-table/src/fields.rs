//! The fields of a table: its schema, flattened depth first.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::{Problem, ensure};
use crate::manifest::Manifest;
use crate::proto;
use crate::unknown::{Kept, UnknownFields};

/// Fields nest at most this deep, as in data files.
const MAX_DEPTH: usize = 64;
/// What stands for the parent of a field at the top.
pub(crate) const NO_PARENT: i32 = -1;

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// What it stays when it is renamed; data files name their columns by it.
    pub id: i32,
    /// The field it is a child of; `None` at the top.
    pub parent: Option<i32>,
    /// Its name, without those of its parents.
    pub name: String,
    /// Its type, as the format names it.
    pub logical_type: String,
    /// Whether it may be null.
    pub nullable: bool,
    /// The name of its Arrow extension type; empty for none.
    pub extension_name: String,
    /// Its Arrow metadata.
    pub metadata: BTreeMap<String, Vec<u8>>,
    /// What else the manifest says of it.
    pub unknown: UnknownFields,
}

/// The fields, checked: ids are used once, parents come first, types are known.
pub(crate) fn check(messages: Vec<Kept<proto::Field>>) -> Result<Vec<Field>, Problem> {
    let mut depths = HashMap::with_capacity(messages.len());
    let mut fields = Vec::with_capacity(messages.len());
    for message in messages {
        let name = message.name.clone();
        let field = check_one(message, &mut depths)
            .map_err(|problem| problem.within(&format!("field `{}`", name.escape_debug())))?;
        fields.push(field);
    }
    Ok(fields)
}

fn check_one(
    message: Kept<proto::Field>,
    depths: &mut HashMap<i32, usize>,
) -> Result<Field, Problem> {
    let Kept { message, unknown } = message;
    let (id, parent) = (message.id, message.parent_id);
    ensure!(id >= 0, "its id is {id}, and negative ids are reserved");
    let depth = match depths.get(&parent) {
        _ if parent == NO_PARENT => 1,
        Some(depth) => depth.saturating_add(1),
        None => {
            let rule = format!("its parent is field {parent}, which does not stand before it");
            return Err(Problem::Corrupt(rule));
        }
    };
    ensure!(depth <= MAX_DEPTH, "it nests deeper than {MAX_DEPTH} levels");
    ensure!(depths.insert(id, depth).is_none(), "its id {id} is that of another field");
    lancet::check_logical_type(&message.logical_type)?;
    Ok(Field {
        id,
        parent: (parent != NO_PARENT).then_some(parent),
        name: message.name,
        logical_type: message.logical_type,
        nullable: message.nullable,
        extension_name: message.extension_name,
        metadata: message.metadata,
        unknown,
    })
}

/// The first id that no field of the table has or had, as far as it tells.
pub(crate) fn next_field_id(manifest: &Manifest) -> Result<i32, Problem> {
    let listed = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
    let listed = listed.flat_map(|file| file.fields.iter().copied());
    let ids = manifest.fields.iter().map(|field| field.id).chain(listed);
    let highest = ids.chain(manifest.max_field_id).max().unwrap_or(NO_PARENT).max(NO_PARENT);
    let next = highest.checked_add(1);
    next.ok_or_else(|| Problem::unsupported("the table has no field ids left"))
}

/// The ids of the fields that must have a column wherever a data file lists them.
pub(crate) fn leaves(fields: &[Field]) -> HashSet<i32> {
    let parents: HashSet<i32> = fields.iter().filter_map(|field| field.parent).collect();
    let is_leaf = |field: &&Field| !parents.contains(&field.id) && field.logical_type != "struct";
    fields.iter().filter(is_leaf).map(|field| field.id).collect()
}
