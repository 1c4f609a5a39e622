//! The zone maps of columns: their metadata, then the buffers of the maps.
//!
//! A map that breaks a rule is remembered as one that is not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::DataType;
use bytes::Bytes;

use super::cache::{CachedMap, CachedPage, SearchCache, ZONE_MAP};
use super::columns::FileColumns;
use super::file::OpenFile;
use super::projection::Projection;
use super::request::Machine;
use super::steps::{Io, Steps};
use crate::container::FileIndex;
use crate::container::zone_place::ZonePlace;
use crate::error::{Corrupt, Error, Result, ensure};
use crate::rows::{RowRanges, Rows};
use crate::schema::columns::{LeafKind, Node};
use crate::schema::projection::{locate, project_paths, type_of};
use crate::span::Span;
use crate::zones::check::check;
use crate::zones::filter::Filter;
use crate::zones::gather::has_bounds;
use crate::zones::map::ZoneMap;
use crate::zones::prune::prune;

/// A column that may have a zone map.
#[derive(Debug, Clone)]
pub(super) struct MappedLeaf {
    /// Indexes of its field, from the top down.
    pub(super) path: Vec<usize>,
    pub(super) column: u32,
    pub(super) data_type: DataType,
}

impl MappedLeaf {
    /// The leaf at the end of a path, if only structs are around it.
    pub(super) fn at(nodes: &[Node], path: Vec<usize>) -> Option<Self> {
        let (first, rest) = path.split_first()?;
        let mut node = nodes.get(*first)?;
        for index in rest {
            let Node::Struct { children, .. } = node else { return None };
            node = children.get(*index)?;
        }
        let Node::Leaf(leaf) = node else { return None };
        let data_type = leaf.field.data_type().clone();
        let mapped = leaf.kind == LeafKind::Values && has_bounds(&data_type);
        mapped.then_some(Self { column: leaf.column, path, data_type })
    }

    /// All such columns of a file.
    pub(super) fn all(nodes: &[Node]) -> Vec<Self> {
        fn walk(all: &[Node], nodes: &[Node], path: &mut Vec<usize>, out: &mut Vec<MappedLeaf>) {
            for (index, node) in nodes.iter().enumerate() {
                path.push(index);
                match node {
                    Node::Struct { children, .. } => walk(all, children, path, out),
                    _ => out.extend(MappedLeaf::at(all, path.clone())),
                }
                path.pop();
            }
        }
        let mut out = Vec::new();
        walk(nodes, nodes, &mut Vec::new(), &mut out);
        out
    }

    /// The column alone, with the structs around it.
    pub(super) fn projection(&self, file: &OpenFile) -> Result<Projection> {
        projection_of(file, [self.path.clone()])
    }
}

fn projection_of(
    file: &OpenFile,
    paths: impl IntoIterator<Item = Vec<usize>>,
) -> Result<Projection> {
    let schema = &file.index.schema;
    Projection::new(schema, project_paths(schema, &file.nodes, paths))
}

/// The columns with these names; none for one that can have no map.
pub(super) fn named<S: AsRef<str>>(
    file: &OpenFile,
    columns: impl IntoIterator<Item = S>,
) -> Result<Vec<Option<MappedLeaf>>> {
    let leaf = |name: S| Ok(MappedLeaf::at(&file.nodes, locate(&file.nodes, name.as_ref())?));
    columns.into_iter().map(leaf).collect()
}

/// The columns of a filter, which is checked against the schema.
pub(super) fn of_filter(file: &OpenFile, filter: &Filter) -> Result<Vec<Option<MappedLeaf>>> {
    check(filter, &|name| type_of(&file.nodes, name))?;
    named(file, filter.columns())
}

/// The rows outside of which none makes the filter true; `leaves` are its columns.
pub(super) async fn prune_rows(
    file: &OpenFile,
    io: &Io,
    filter: &Filter,
    leaves: Vec<Option<MappedLeaf>>,
) -> Result<RowRanges> {
    let maps = filter.columns().into_iter().zip(load(file, io, &leaves).await?);
    let maps: BTreeMap<&str, Option<Arc<ZoneMap>>> = maps.collect();
    Ok(prune(filter, file.index.num_rows, |column| maps.get(column).cloned().flatten()))
}

/// The maps of some columns. Those that do not fit into the memory limit together are left out.
pub(super) async fn load(
    file: &OpenFile,
    io: &Io,
    leaves: &[Option<MappedLeaf>],
) -> Result<Vec<Option<Arc<ZoneMap>>>> {
    let wanted: Vec<&MappedLeaf> = leaves.iter().flatten().collect();
    if !file.options.zone_maps || wanted.is_empty() {
        return Ok(vec![None; leaves.len()]);
    }
    load_metadata(file, io, &wanted).await?;
    let mut found: BTreeMap<u32, CachedMap> = BTreeMap::new();
    let mut missing: BTreeMap<u32, (&MappedLeaf, ZonePlace, u64)> = BTreeMap::new();
    let budget = file.budget();
    for leaf in wanted {
        if found.contains_key(&leaf.column) || missing.contains_key(&leaf.column) {
            continue;
        }
        let Some((Ok(place), num_rows)) = file.zone_place(leaf.column) else { continue };
        let key = file.page_key(leaf.column, ZONE_MAP);
        if let Some(map) = file.cache.get(key).and_then(CachedPage::into_zone_map) {
            found.insert(leaf.column, map);
        } else if budget.claim(place.span.len(), "a zone map").is_ok() {
            missing.insert(leaf.column, (leaf, place, num_rows));
        }
    }
    let spans: Vec<_> = missing.values().map(|(_, place, _)| place.span).collect();
    let bytes = io.read(spans).await?;
    for ((column, (leaf, place, num_rows)), bytes) in missing.into_iter().zip(bytes) {
        let map = cached(decode(file, &leaf.data_type, &place, num_rows, bytes));
        file.cache.insert(file.page_key(column, ZONE_MAP), CachedPage::ZoneMap(map.clone()));
        found.insert(column, map);
    }
    let find = |leaf: &Option<MappedLeaf>| found.get(&leaf.as_ref()?.column)?.clone().ok();
    Ok(leaves.iter().map(find).collect())
}

/// Makes sure that the metadata of the columns is there. Their numbers of rows need not agree.
async fn load_metadata(file: &OpenFile, io: &Io, leaves: &[&MappedLeaf]) -> Result<()> {
    if leaves.iter().all(|leaf| file.zone_place(leaf.column).is_some()) {
        return Ok(());
    }
    let columns = projection_of(file, leaves.iter().map(|leaf| leaf.path.clone()))?;
    file.load_metadata(io, &columns).await
}

fn cached(map: Result<ZoneMap>) -> CachedMap {
    map.map(Arc::new).map_err(|error| {
        Arc::new(match error {
            Error::Corrupt(corrupt) => *corrupt,
            other => Corrupt::of(other.to_string()),
        })
    })
}

/// Reads a zone map out of its buffer and checks it.
pub(super) fn decode(
    file: &OpenFile,
    data_type: &DataType,
    place: &ZonePlace,
    num_rows: u64,
    bytes: Bytes,
) -> Result<ZoneMap> {
    let rows_per_zone = u64::from(place.rows_per_zone);
    let zones = num_rows.div_ceil(rows_per_zone);
    // A zone has a count of 4 bytes, so this bounds what is allocated.
    ensure!(
        zones > 0 && zones <= place.span.len(),
        "{} bytes of zone map for {zones} zones",
        place.span.len()
    );
    let index = FileIndex::of_inner(bytes.clone(), ZoneMap::fields(data_type), zones)?;
    let mut options = file.options.clone();
    options.verify_checksums = false;
    options.require_checksums = false;
    options.search_cache = SearchCache::new(0);
    let batch = run_on(
        &bytes,
        Steps::start(|io| async move {
            let map = OpenFile::of_index(&io, index, options, 0).await?;
            map.load_columns(&io, map.everything()).await?;
            check_plain(&map)?;
            io.run(map.read_rows(map.everything(), Rows::from(0..zones))?).await
        }),
    )?;
    ZoneMap::new(rows_per_zone, num_rows, batch.columns())
}

fn check_plain(map: &OpenFile) -> Result<()> {
    let FileColumns::Arrays(arrays) = &map.columns else {
        return Err(Error::corrupt("a zone map of another version"));
    };
    let is_plain = |column: u32| arrays.get(column).is_some_and(|column| column.is_plain);
    ensure!(
        map.everything().leaves().iter().all(|leaf| is_plain(leaf.column)),
        "a zone map has columns with more than pages"
    );
    Ok(())
}

/// Drives a read of bytes that are at hand.
fn run_on<M: Machine>(bytes: &Bytes, machine: M) -> Result<M::Output> {
    let mut machine = Box::new(machine);
    while !machine.spans().is_empty() {
        let cut = |span: &Span| {
            let beyond = || Error::corrupt(format!("bytes {span} lie outside the zone map"));
            span.cut(0, bytes).ok_or_else(beyond)
        };
        let read = machine.spans().iter().map(cut).collect::<Result<Vec<_>>>()?;
        machine.supply(read)?;
    }
    machine.finish()
}
