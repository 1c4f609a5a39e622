//! What a version can hold: refuses schemas that the reference would refuse, or write so that it
//! cannot read them back.
//!
//! | what | 2.0 | 2.1 | 2.2 |
//! |---|---|---|---|
//! | maps, fixed-size lists of structs | no | no | yes |
//! | strings and binaries in packed structs | no | no | yes |
//! | fixed-size lists in packed structs | yes | no | yes |
//! | fixed-size binaries of no bytes | no | no | yes |
//! | structs without fields below or before other fields, blobs in lists | yes | no | no |
//!
//! Null structs, which 2.0 cannot hold, are not a matter of the schema: the writer refuses them.
//! Types that no version can hold are refused by [`logical`](super::logical).

use std::collections::HashSet;

use arrow_schema::{DataType, Field, Schema};

use super::columns::{self, BLOB_KEY, LeafKind, Node, PACKED_KEYS};
use super::{MAX_DEPTH, in_field, logical};
use crate::error::{Error, Result};
use crate::version::Version;

/// What differs between versions.
#[derive(Debug, Clone, Copy)]
struct VersionRules {
    version: Version,
    maps: bool,
    fixed_size_lists_of_structs: bool,
    variable_packed_structs: bool,
    packed_vectors: bool,
    zero_width_binaries: bool,
    /// Structs and lists have columns of their own, so nothing of them is lost.
    header_columns: bool,
    /// Most bits of a value of which a chunk must hold two.
    max_chunked_bits: u64,
}

impl VersionRules {
    fn of(version: Version) -> Self {
        let later = version >= Version::V2_2;
        Self {
            version,
            maps: later,
            fixed_size_lists_of_structs: later,
            variable_packed_structs: later,
            packed_vectors: version != Version::V2_1,
            zero_width_binaries: later,
            header_columns: version == Version::V2_0,
            // A chunk of 32 KiB also holds levels and sizes: leave a quarter to them.
            max_chunked_bits: match version {
                Version::V2_0 => u64::MAX,
                Version::V2_1 => (12 << 10) * 8,
                Version::V2_2 => 1 << 32,
            },
        }
    }

    /// Refuses values of which two do not fit a chunk.
    fn fit_a_chunk(&self, bits: u64, what: &str) -> Result<()> {
        if bits <= self.max_chunked_bits {
            return Ok(());
        }
        let bytes = bits.div_ceil(8);
        refuse(format!(
            "{what} of {bytes} bytes in format {}, which stores at most {} bytes in this way",
            self.version,
            self.max_chunked_bits / 8
        ))
    }

    /// Refuses unless the version has it.
    fn need(&self, has: bool, what: &str) -> Result<()> {
        if has {
            return Ok(());
        }
        refuse(format!("{what} in format {}; write 2.2", self.version))
    }
}

/// What lies above a field.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    depth: usize,
    list: bool,
    fixed_size_list: bool,
}

fn refuse<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::unsupported(what))
}

/// Checks that `version` can hold the schema.
pub(crate) fn check(schema: &Schema, version: Version) -> Result<()> {
    check_names(schema)?;
    let rules = VersionRules::of(version);
    for field in schema.fields() {
        check_field(field, &rules, Above::default())?;
    }
    if !rules.header_columns {
        check_empty_structs(schema)?;
    }
    check_lengths(schema)
}

fn check_names(schema: &Schema) -> Result<()> {
    let mut seen = HashSet::new();
    for field in schema.fields() {
        let name = field.name();
        if name.contains('.') {
            return Err(Error::invalid(format!(
                "the top-level field `{name}` has a dot in its name; rename it or use a struct"
            )));
        }
        if !seen.insert(name) {
            return Err(Error::invalid(format!("two top-level fields are called `{name}`")));
        }
    }
    Ok(())
}

/// The reference forgets the column of a struct without fields and then reads every later column
/// from its neighbour.
fn check_empty_structs(schema: &Schema) -> Result<()> {
    let nodes = columns::columns_of(schema)?;
    let leaves = columns::leaves(&nodes);
    let others = leaves.split_last().map_or(&[][..], |(_, others)| others);
    match others.iter().find(|leaf| leaf.kind == LeafKind::EmptyStruct) {
        Some(leaf) => in_field(
            refuse("a struct without fields must be the last column; move or drop it"),
            leaf.field.name(),
        ),
        None => Ok(()),
    }
}

/// The reference counts the entries of fixed-size lists of structs, not the rows, and refuses to
/// read columns of different lengths together.
fn check_lengths(schema: &Schema) -> Result<()> {
    let mut lengths = Vec::new();
    let nodes = columns::columns_of(schema)?;
    nodes.iter().for_each(|node| entries_a_row(node, 1, &mut lengths));
    let differs = |other: &&(u64, &str)| lengths.first().is_some_and(|first| first.0 != other.0);
    let odd = lengths.iter().find(|(length, _)| *length > 1);
    match (lengths.iter().find(differs), odd) {
        (Some(_), Some((_, name))) => in_field(
            refuse(
                "a fixed-size list of structs beside columns of another length; use a list of \
                 structs, or write it to a file of its own",
            ),
            name,
        ),
        _ => Ok(()),
    }
}

/// Entries that a row takes in each column, with the name of the list that makes them.
fn entries_a_row<'a>(node: &'a Node, outer: u64, lengths: &mut Vec<(u64, &'a str)>) {
    match node {
        Node::Leaf(leaf) => lengths.push((outer, leaf.field.name())),
        Node::FixedSizeList { field, dimension, child } => {
            let first = lengths.len();
            entries_a_row(child, outer.saturating_mul(*dimension), lengths);
            lengths.iter_mut().skip(first).for_each(|(_, name)| *name = field.name());
        }
        _ => node.children().iter().for_each(|child| entries_a_row(child, outer, lengths)),
    }
}

fn check_field(field: &Field, rules: &VersionRules, above: Above) -> Result<()> {
    let own = check_own(field, rules, above);
    in_field(own, field.name())?;
    if columns::is_packed(field) {
        return Ok(());
    }
    let depth = above.depth.saturating_add(1);
    let below = match field.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) => {
            Above { depth, list: true, ..above }
        }
        DataType::FixedSizeList(..) => Above { depth, fixed_size_list: true, ..above },
        _ => Above { depth, ..above },
    };
    let children: Vec<&Field> = match field.data_type() {
        DataType::Struct(fields) => fields.iter().map(AsRef::as_ref).collect(),
        DataType::List(child) | DataType::LargeList(child) | DataType::Map(child, _) => {
            vec![child]
        }
        DataType::FixedSizeList(item, _) if is_struct(item) => vec![item],
        _ => vec![],
    };
    children.into_iter().try_for_each(|child| check_field(child, rules, below))
}

/// Checks the field without its children.
fn check_own(field: &Field, rules: &VersionRules, above: Above) -> Result<()> {
    if above.depth >= MAX_DEPTH {
        return refuse(format!("fields nested deeper than {MAX_DEPTH}"));
    }
    logical::to_name(field)?;
    check_blob(field, rules, above)?;
    check_packed_mark(field)?;
    match field.data_type() {
        DataType::FixedSizeBinary(0) => {
            rules.need(rules.zero_width_binaries, "a fixed-size binary of 0 bytes")
        }
        DataType::List(_) | DataType::LargeList(_) if above.fixed_size_list => {
            refuse("a list below a fixed-size list of structs; use a list of structs")
        }
        DataType::Map(entries, _) => {
            rules.need(rules.maps, "a map")?;
            if above.fixed_size_list {
                return refuse("a map below a fixed-size list of structs; use a list of structs");
            }
            check_entries(entries)
        }
        DataType::FixedSizeList(item, _) if is_struct(item) => {
            rules.need(rules.fixed_size_lists_of_structs, "a fixed-size list of structs")?;
            if above.list {
                return refuse("a fixed-size list of structs below a list; use a list of lists");
            }
            if columns::is_packed(item) {
                return refuse("a fixed-size list of packed structs; remove the packed mark");
            }
            Ok(())
        }
        DataType::FixedSizeList(..) => check_vector(field, rules),
        DataType::Struct(fields)
            if fields.is_empty() && above.depth > 0 && !rules.header_columns =>
        {
            refuse("a struct without fields below another field; drop it")
        }
        DataType::Struct(fields) if columns::is_packed(field) => {
            for child in fields {
                in_field(check_packed_child(child, rules), child.name())?;
            }
            let bits = fields.iter().map(|child| logical::bits(child.data_type()));
            // Strings and lists make the struct variable, and rows of it have no limit.
            let plain = fields.iter().all(|child| !child.data_type().is_nested());
            match bits.collect::<Option<Vec<u64>>>() {
                Some(bits) if plain => rules.fit_a_chunk(bits.into_iter().sum(), "a packed struct"),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Checks a fixed-size list of anything but structs.
fn check_vector(field: &Field, rules: &VersionRules) -> Result<()> {
    let Some(bits) = logical::bits(field.data_type()) else {
        return refuse("a fixed-size list of more than 2^64 bits a value");
    };
    let mut item = field.data_type();
    while let DataType::FixedSizeList(inner, _) = item {
        item = inner.data_type();
    }
    match item {
        DataType::Null => refuse("a fixed-size list of nulls; drop it"),
        DataType::FixedSizeBinary(0) => {
            refuse("a fixed-size list of binaries of 0 bytes; use a list, or drop it")
        }
        // Others are zipped when they are wide. Bits may bring as many bits of validity.
        DataType::Boolean => {
            rules.fit_a_chunk(bits.saturating_mul(2), "a fixed-size list of booleans")
        }
        _ => Ok(()),
    }
}

fn is_struct(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Struct(_))
}

fn check_entries(entries: &Field) -> Result<()> {
    match entries.data_type() {
        DataType::Struct(fields) if fields.len() == 2 => match fields.first() {
            Some(key) if key.is_nullable() => {
                refuse("a map whose keys may be null; make the key field non-nullable")
            }
            _ => Ok(()),
        },
        _ => Err(Error::invalid("the entries of a map must be a struct of key and value")),
    }
}

fn check_blob(field: &Field, rules: &VersionRules, above: Above) -> Result<()> {
    if columns::is_blob_v2(field) {
        return refuse(
            "blobs of the second kind, which files cannot describe; use a LargeBinary field \
             marked with `lance-encoding:blob`",
        );
    }
    if !field.metadata().contains_key(BLOB_KEY) {
        return Ok(());
    }
    if *field.data_type() != DataType::LargeBinary {
        return refuse(format!(
            "a blob of type {}; cast it to LargeBinary or remove `{BLOB_KEY}`",
            field.data_type()
        ));
    }
    if above.fixed_size_list || above.list && !rules.header_columns {
        return refuse(format!("a blob below a list; remove `{BLOB_KEY}`"));
    }
    Ok(())
}

/// The reference understands only `true`, and only on structs.
fn check_packed_mark(field: &Field) -> Result<()> {
    for key in PACKED_KEYS {
        let Some(value) = field.metadata().get(key) else { continue };
        let is_true = value.eq_ignore_ascii_case("true");
        if columns::is_truthy(value) && !is_true {
            return refuse(format!("`{key}` must be `true`, not `{value}`"));
        }
        let nested = field.data_type().is_nested() && !is_struct(field);
        if is_true && nested {
            return refuse(format!("`{key}` on a {}; only structs are packed", field.data_type()));
        }
    }
    Ok(())
}

fn check_packed_child(child: &Field, rules: &VersionRules) -> Result<()> {
    use DataType::*;
    let whole_bytes = |t: &DataType| logical::bits(t).is_some_and(|bits| bits > 0 && bits % 8 == 0);
    match child.data_type() {
        Utf8 | LargeUtf8 | Binary | LargeBinary | Utf8View | BinaryView => {
            rules.need(rules.variable_packed_structs, "a string or binary in a packed struct")?;
        }
        FixedSizeList(item, _) if whole_bytes(item.data_type()) => {
            rules.need(rules.packed_vectors, "a fixed-size list in a packed struct")?;
        }
        flat if !flat.is_nested() && whole_bytes(flat) => {}
        other => {
            return refuse(format!("{other} in a packed struct; remove the packed mark"));
        }
    }
    logical::to_name(child).map(|_| ())
}

#[cfg(test)]
#[path = "writable_tests.rs"]
mod tests;
