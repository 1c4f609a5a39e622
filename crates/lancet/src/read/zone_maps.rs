//! The zone maps of columns, in two rounds: column metadata ► the buffers of the maps.
//!
//! A map that breaks a rule is remembered as one that is not there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType;
use bytes::Bytes;

use super::FileReader;
use super::cache::{CachedMap, CachedPage, SearchCache, ZONE_MAP};
use super::file::OpenFile;
use super::projected::ProjectedColumns;
use super::read_request::Request;
use super::rounds::Rounds;
use crate::budget::Budget;
use crate::container::FileIndex;
use crate::container::zone_place::ZonePlace;
use crate::error::{Corrupt, Error, Result, ensure};
use crate::schema::columns::{LeafKind, Node};
use crate::schema::projection::{locate, project_paths, type_of};
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
    fn at(nodes: &[Node], path: Vec<usize>) -> Option<Self> {
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
    pub(super) fn projection(&self, file: &OpenFile) -> Result<Arc<ProjectedColumns>> {
        ProjectedColumns::new(project_paths(&file.index.schema, &file.nodes, [self.path.clone()]))
    }
}

/// A [`Request`] for zone maps.
#[derive(Debug)]
pub struct ZoneMapRequest {
    file: Arc<OpenFile>,
    /// One for each column asked for.
    leaves: Vec<Option<MappedLeaf>>,
    /// Reads the metadata of the columns.
    rounds: Option<Rounds>,
    /// Where the maps are that are being read, and of which leaf each is.
    spans: Vec<Range<u64>>,
    pending: Vec<(MappedLeaf, ZonePlace, u64)>,
    found: BTreeMap<u32, CachedMap>,
}

impl ZoneMapRequest {
    pub(super) fn named<S: AsRef<str>>(
        reader: &FileReader,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let nodes = &reader.file.nodes;
        let leaf = |name: S| Ok(MappedLeaf::at(nodes, locate(nodes, name.as_ref())?));
        let leaves = columns.into_iter().map(leaf).collect::<Result<Vec<_>>>()?;
        Self::new(reader, leaves)
    }

    fn new(reader: &FileReader, leaves: Vec<Option<MappedLeaf>>) -> Result<Self> {
        let file = reader.file.clone();
        let leaves = if file.options.zone_maps { leaves } else { vec![None; leaves.len()] };
        let paths: Vec<_> = leaves.iter().flatten().map(|leaf| leaf.path.clone()).collect();
        let rounds = if paths.is_empty() {
            None
        } else {
            let projection = project_paths(&file.index.schema, &file.nodes, paths);
            {
                let (projection, budget) = (ProjectedColumns::new(projection)?, file.budget());
                Some(Rounds::new(file.clone(), projection, None, budget, reader.threads)?)
            }
        };
        let (spans, pending, found) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut request = Self { file, leaves, rounds, spans, pending, found };
        request.want_maps();
        Ok(request)
    }

    /// Once the columns are known: where their maps are. Those that do not fit into the memory
    /// limit together are left out.
    fn want_maps(&mut self) {
        if self.rounds.as_ref().is_some_and(|rounds| !rounds.spans().is_empty()) {
            return;
        }
        self.rounds = None;
        let budget = Budget::new(self.file.options.memory_limit);
        for leaf in self.leaves.iter().flatten() {
            let known = self.found.contains_key(&leaf.column)
                || self.pending.iter().any(|(pending, ..)| pending.column == leaf.column);
            let Some((Ok(place), num_rows)) = self.file.zone_place(leaf.column) else { continue };
            if known {
                continue;
            }
            let key = self.file.page_key(leaf.column, ZONE_MAP);
            if let Some(map) = self.file.cache.get(key).and_then(CachedPage::into_zone_map) {
                self.found.insert(leaf.column, map);
            } else if budget.claim(place.size_bytes(), "a zone map").is_ok() {
                self.spans.push(place.span.clone());
                self.pending.push((leaf.clone(), place, num_rows));
            }
        }
    }
}

impl Request for ZoneMapRequest {
    /// In the order in which they were asked for.
    type Output = Vec<Option<Arc<ZoneMap>>>;

    fn spans(&self) -> &[Range<u64>] {
        self.rounds.as_ref().map_or(&self.spans, Rounds::spans)
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        if let Some(rounds) = &mut self.rounds {
            rounds.supply(bytes)?;
            self.want_maps();
            return Ok(());
        }
        self.file.check_fetched(&self.spans, &bytes)?;
        self.spans.clear();
        for ((leaf, place, num_rows), bytes) in self.pending.drain(..).zip(bytes) {
            let map = cached(decode(&self.file, &leaf.data_type, &place, num_rows, bytes));
            let key = self.file.page_key(leaf.column, ZONE_MAP);
            self.file.cache.insert(key, CachedPage::ZoneMap(map.clone()));
            self.found.insert(leaf.column, map);
        }
        Ok(())
    }

    fn finish(self) -> Result<Self::Output> {
        if !self.spans().is_empty() {
            return Err(Error::invalid("a read was finished before it had all its bytes"));
        }
        let find = |leaf: &Option<MappedLeaf>| {
            let map = self.found.get(&leaf.as_ref()?.column)?;
            map.clone().ok()
        };
        Ok(self.leaves.iter().map(find).collect())
    }
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
        zones > 0 && zones <= place.size_bytes(),
        "{} bytes of zone map for {zones} zones",
        place.size_bytes()
    );
    let index = FileIndex::of_inner(bytes.clone(), ZoneMap::fields(data_type), zones)?;
    let mut options = file.options.clone();
    options.verify_checksums = false;
    options.search_cache = SearchCache::new(0);
    let reader = FileReader::of_file(OpenFile::of_index(Arc::new(bytes), index, options, 0)?)?;
    reader.load_columns(&reader.everything)?;
    let arrays = reader.file.arrays.as_ref();
    let is_plain = |column: u32| {
        arrays.and_then(|arrays| arrays.get(column)).is_some_and(|column| column.is_plain)
    };
    ensure!(
        reader.everything.leaves.iter().all(|leaf| is_plain(leaf.column)),
        "a zone map has columns with more than pages"
    );
    let batch = reader.read(&reader.everything, 0..zones)?;
    ZoneMap::new(rows_per_zone, num_rows, batch.columns())
}

/// A [`Request`] for what [`FileReader::prune`] finds.
#[derive(Debug)]
pub struct PruneRequest {
    filter: Filter,
    num_rows: u64,
    columns: Vec<String>,
    maps: ZoneMapRequest,
}

impl PruneRequest {
    pub(super) fn new(reader: &FileReader, filter: &Filter) -> Result<Self> {
        let nodes = &reader.file.nodes;
        check(filter, &|name| type_of(nodes, name))?;
        let columns: Vec<String> = filter.columns().into_iter().map(str::to_owned).collect();
        let maps = ZoneMapRequest::named(reader, &columns)?;
        Ok(Self { filter: filter.clone(), num_rows: reader.num_rows(), columns, maps })
    }
}

impl Request for PruneRequest {
    /// The ranges of rows.
    type Output = Vec<Range<u64>>;

    fn spans(&self) -> &[Range<u64>] {
        self.maps.spans()
    }

    fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.maps.supply(bytes)
    }

    fn finish(self) -> Result<Self::Output> {
        let maps = self.columns.iter().map(String::as_str).zip(self.maps.finish()?);
        let maps: BTreeMap<&str, Option<Arc<ZoneMap>>> = maps.collect();
        Ok(prune(&self.filter, self.num_rows, |column| maps.get(column).cloned().flatten()))
    }
}
