//! Blobs of a table: whole ones for batches, and ranges of bytes of single ones.
//!
//! Blobs of the second kind say where they lie:
//!
//! | kind | where |
//! |---|---|
//! | 0 | in the data file |
//! | 1, 2 | in the file `data/<stem of the data file>/<name>.blob`; the name has a character for each bit of the blob's id, the lowest first |
//! | 3 | at an address, which is not followed |
//! | 4, 5 | in objects that the table manages, which lancet does not know |

use std::collections::BTreeMap;
use std::ops::{Bound, Range, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use bytes::Bytes;
use lancet::{BlobDescription, Rows, Span};

use crate::columns::TableProjection;
use crate::error::{Error, Problem, Result};
use crate::files::OpenData;
use crate::plan::column_of;
use crate::read::Reads;
use crate::schema::{Kind, Node};
use crate::snapshot::find_row;
use crate::storage::{Disk, Storage, ready, shown, stem};
use crate::table::Table;
use crate::together;

/// The kinds that lancet reads.
pub(crate) const INLINE: u8 = 0;
pub(crate) const PACKED: u8 = 1;
pub(crate) const DEDICATED: u8 = 2;

/// Where one blob lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) kind: u8,
    pub(crate) position: u64,
    pub(crate) size: u64,
    pub(crate) id: u32,
}

/// The places in an array of descriptions; none for nulls.
fn places<S: Storage>(file: &OpenData<S>, descriptions: &ArrayRef) -> Result<Vec<Option<Place>>> {
    let parse = |array: &StructArray| {
        let kinds = array.column_by_name("kind")?.as_primitive_opt::<UInt8Type>()?;
        let positions = array.column_by_name("position")?.as_primitive_opt::<UInt64Type>()?;
        let sizes = array.column_by_name("size")?.as_primitive_opt::<UInt64Type>()?;
        let ids = array.column_by_name("blob_id")?.as_primitive_opt::<UInt32Type>()?;
        let rows = kinds.values().iter().zip(positions.values()).zip(sizes.values());
        let rows = rows.zip(ids.values()).enumerate();
        let place = rows.map(|(row, (((kind, position), size), id))| {
            let place = Place { kind: *kind, position: *position, size: *size, id: *id };
            array.is_valid(row).then_some(place)
        });
        Some(place.collect())
    };
    descriptions.as_struct_opt().and_then(parse).ok_or_else(|| {
        let rule = "its blobs are not described by kind, position, size and id";
        Problem::corrupt(rule).in_file(&file.path.display().to_string())
    })
}

/// The file beside a data file that holds the blobs with an id.
pub(crate) fn side_file(data_file: &Path, id: u32) -> PathBuf {
    let bit =
        |at: u32| if id.checked_shr(at).is_some_and(|rest| rest & 1 == 1) { '1' } else { '0' };
    let name: String = (0..32).map(bit).collect();
    stem(data_file).join(format!("{name}.blob"))
}

fn unsupported<S: Storage>(file: &OpenData<S>, kind: u8) -> Error {
    let what = match kind {
        3 => "a blob lies at an address outside of the table, which lancet does not follow".into(),
        4 | 5 => "a blob lies in an object that the table manages".to_owned(),
        _ => format!("a blob is of the unknown kind {kind}"),
    };
    let file = file.path.display().to_string();
    Error::Unsupported { file, what: format!("{what}; read the column as descriptions") }
}

/// The bytes of the blobs in an array of descriptions. They must fit into the memory limit together.
pub(crate) async fn read_all<S: Storage>(
    storage: &S,
    file: &OpenData<S>,
    descriptions: &ArrayRef,
    memory_limit: u64,
) -> Result<ArrayRef> {
    let places = places(file, descriptions)?;
    let sizes = places.iter().flatten().map(|place| place.size);
    let needed = sizes.fold(0, u64::saturating_add);
    if needed > memory_limit {
        let (file, option) = (file.path.display().to_string(), "memory_limit");
        return Err(Error::Limit { file, needed, limit: memory_limit, option });
    }
    // Those in the data file are read together.
    let inline = places.iter().flatten().filter(|place| place.kind == INLINE && place.size > 0);
    let spans = inline.map(|place| span(file, place, 0..place.size));
    let spans = spans.collect::<Result<Vec<_>>>()?;
    let mut inline = file.run(file.file().blob_bytes(spans)).await?.into_iter();
    let mut beside = read_beside(storage, file, &places).await?.into_iter();
    let mut builder = LargeBinaryBuilder::with_capacity(places.len(), 0);
    for place in &places {
        let beside = beside.next().flatten();
        match place {
            None => builder.append_null(),
            Some(place) if place.size == 0 => builder.append_value([]),
            Some(place) if place.kind == INLINE => {
                builder.append_value(inline.next().unwrap_or_default());
            }
            Some(_) => builder.append_value(beside.unwrap_or_default()),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// The bytes of those blobs that lie beside the data file, each at its place. Blobs in one file are read together, and so
/// are files.
async fn read_beside<S: Storage>(
    storage: &S,
    file: &OpenData<S>,
    places: &[Option<Place>],
) -> Result<Vec<Option<Bytes>>> {
    let mut files: BTreeMap<u32, Vec<(usize, Span)>> = BTreeMap::new();
    for (row, place) in places.iter().enumerate() {
        let Some(place) = place else { continue };
        match place.kind {
            INLINE => {}
            PACKED | DEDICATED if place.size == 0 => {}
            PACKED | DEDICATED => {
                let span = span(file, place, 0..place.size)?;
                files.entry(place.id).or_default().push((row, span));
            }
            kind => return Err(unsupported(file, kind)),
        }
    }
    let reads = files.into_iter().map(|(id, blobs)| async move {
        let (rows, spans): (Vec<usize>, Vec<Span>) = blobs.into_iter().unzip();
        let bytes = storage.read_spans(&side_file(&file.path, id), &spans).await?;
        Ok(rows.into_iter().zip(bytes).collect::<Vec<_>>())
    });
    let mut found = vec![None; places.len()];
    for (row, bytes) in together::all(reads).await?.into_iter().flatten() {
        if let Some(found) = found.get_mut(row) {
            *found = Some(bytes);
        }
    }
    Ok(found)
}

/// The bytes of a part of a blob in the data file.
fn span<S: Storage>(file: &OpenData<S>, place: &Place, range: Range<u64>) -> Result<Span> {
    let whole = Span::at(place.position, place.size);
    let start = place.position.saturating_add(range.start);
    let part = Span::new(start, place.position.saturating_add(range.end));
    whole.zip(part).map(|(_, part)| part).ok_or_else(|| {
        let rule = format!("a blob of {} bytes cannot lie at {}", place.size, place.position);
        Problem::Corrupt(rule).in_file(&file.path.display().to_string())
    })
}

/// Bytes of a blob in a file beside the data file.
async fn read_side<S: Storage>(
    storage: &S,
    file: &OpenData<S>,
    place: &Place,
    range: Range<u64>,
) -> Result<Bytes> {
    if !matches!(place.kind, PACKED | DEDICATED) {
        return Err(unsupported(file, place.kind));
    }
    let path = side_file(&file.path, place.id);
    let start = place.position.saturating_add(range.start);
    let len = range.end.saturating_sub(range.start);
    let (bytes, size) = storage.read_range(&path, start, len).await?;
    let end = place.position.checked_add(place.size).filter(|end| *end <= size);
    if end.is_none() || bytes.len() as u64 != len {
        return Err(outside(&path, size, place.position, place.size));
    }
    Ok(bytes)
}

/// A blob that is not in its file.
pub(crate) fn outside(path: &Path, size: u64, position: u64, blob: u64) -> Error {
    let rule = format!("it has {size} bytes, but a blob of {blob} bytes should be at {position}");
    Problem::Corrupt(rule).in_file(&shown(path))
}

fn outside_blob(row: u64, size: u64) -> Error {
    Error::Invalid(format!("the range lies outside the blob of row {row}: {size} bytes"))
}

/// The blobs of one column of a table: found by the number of their row, read by ranges of bytes.
///
/// [`Table::blobs`] makes one.
#[derive(Clone)]
pub struct TableBlobs(BlobReads<Disk>);

/// The blobs of one column, wherever the table is.
#[derive(Clone)]
pub(crate) struct BlobReads<S: Storage> {
    reads: Reads<S>,
    name: String,
    id: i32,
    kind: Kind,
}

impl Table {
    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(&self, column: &str) -> Result<TableBlobs> {
        Ok(TableBlobs(BlobReads::new(self.at.reads.clone(), self.project([column])?, column)?))
    }
}

impl TableBlobs {
    /// The size of a blob in bytes; `None` if it is null.
    pub fn len(&self, row: u64) -> Result<Option<u64>> {
        ready(self.0.len(row))
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        ready(self.0.read(row, range.start_bound().cloned(), range.end_bound().cloned()))
    }

    /// Bytes of blobs of some rows, which are found and read together; they must fit into the memory limit together.
    pub fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Result<Vec<Bytes>> {
        ready(self.0.read_ranges(ranges))
    }
}

/// A blob, and the data file that says where it lies.
type Found<S> = (Arc<OpenData<S>>, FoundBlob);

/// What is wanted of one file: the data file that tells, and each span with its place among all that are wanted.
struct Wanted<S: Storage> {
    file: Arc<OpenData<S>>,
    spans: Vec<(usize, Span)>,
}

/// A blob, found.
enum FoundBlob {
    Old(lancet::BlobColumn, u64, BlobDescription),
    New(Place),
}

impl<S: Storage> BlobReads<S> {
    /// The blobs of the one column of a projection.
    pub(crate) fn new(reads: Reads<S>, columns: TableProjection, name: &str) -> Result<Self> {
        let mut nodes: &[Node] = columns.nodes();
        while let [node] = nodes {
            match node.kind {
                Kind::Struct => nodes = &node.children,
                Kind::Blob | Kind::BlobV2 => {
                    return Ok(Self { reads, name: name.to_owned(), id: node.id, kind: node.kind });
                }
                _ => break,
            }
        }
        Err(Error::invalid(format!("`{name}` is not a blob column")))
    }

    pub(crate) async fn len(&self, row: u64) -> Result<Option<u64>> {
        Ok(self.find(row).await?.map(|(_, blob)| match blob {
            FoundBlob::Old(_, _, description) => description.size,
            FoundBlob::New(place) => place.size,
        }))
    }

    pub(crate) async fn read(&self, row: u64, start: Bound<u64>, end: Bound<u64>) -> Result<Bytes> {
        let Some((file, blob)) = self.find(row).await? else {
            return Err(Error::invalid(format!("the blob `{}` of row {row} is null", self.name)));
        };
        let place = match blob {
            FoundBlob::Old(column, offset, _) => {
                return file.run(column.read(offset, (start, end))).await;
            }
            FoundBlob::New(place) => place,
        };
        let start = match start {
            Bound::Included(start) => start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match end {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => end,
            Bound::Unbounded => place.size,
        };
        if start > end || end > place.size {
            return Err(outside_blob(row, place.size));
        }
        let needed = end.saturating_sub(start);
        if needed > self.reads.memory_limit {
            let (file, limit) = (file.path.display().to_string(), self.reads.memory_limit);
            return Err(Error::Limit { file, needed, limit, option: "memory_limit" });
        }
        if place.kind != INLINE {
            return read_side(&self.reads.files.storage, &file, &place, start..end).await;
        }
        let spans = vec![span(&file, &place, start..end)?];
        let bytes = file.run(file.file().blob_bytes(spans)).await?;
        Ok(bytes.into_iter().next().unwrap_or_default())
    }

    /// Bytes of blobs of some rows, which are found and read together.
    pub(crate) async fn read_ranges(&self, ranges: &[(u64, Range<u64>)]) -> Result<Vec<Bytes>> {
        let lengths = ranges.iter().map(|(_, range)| range.end.saturating_sub(range.start));
        let needed = lengths.fold(0, u64::saturating_add);
        let rows: Vec<u64> = ranges.iter().map(|(row, _)| *row).collect();
        let mut files: BTreeMap<(PathBuf, Option<u32>), Wanted<S>> = BTreeMap::new();
        for (at, (found, (row, range))) in
            self.find_all(&rows).await?.into_iter().zip(ranges).enumerate()
        {
            let Some((file, blob)) = found else {
                return Err(Error::invalid(format!(
                    "the blob `{}` of row {row} is null",
                    self.name
                )));
            };
            let place = match blob {
                FoundBlob::New(place) => place,
                FoundBlob::Old(_, _, BlobDescription { position, size, kind: INLINE, .. }) => {
                    Place { kind: INLINE, position, size, id: 0 }
                }
                FoundBlob::Old(.., other) => return Err(unsupported(&file, other.kind)),
            };
            if range.start > range.end || range.end > place.size {
                return Err(outside_blob(*row, place.size));
            }
            if needed > self.reads.memory_limit {
                let (file, limit) = (file.path.display().to_string(), self.reads.memory_limit);
                return Err(Error::Limit { file, needed, limit, option: "memory_limit" });
            }
            let beside = match place.kind {
                INLINE => None,
                PACKED | DEDICATED => Some(place.id),
                kind => return Err(unsupported(&file, kind)),
            };
            let span = span(&file, &place, range.clone())?;
            if !span.is_empty() {
                let key = (file.path.clone(), beside);
                let wanted = files.entry(key).or_insert_with(|| Wanted { file, spans: Vec::new() });
                wanted.spans.push((at, span));
            }
        }
        let reads = files.into_iter().map(|((_, beside), Wanted { file, spans })| async move {
            let (places, spans): (Vec<usize>, Vec<Span>) = spans.into_iter().unzip();
            let bytes = match beside {
                None => file.run(file.file().blob_bytes(spans)).await?,
                Some(id) => {
                    let path = side_file(&file.path, id);
                    self.reads.files.storage.read_spans(&path, &spans).await?
                }
            };
            Ok(places.into_iter().zip(bytes).collect::<Vec<_>>())
        });
        let mut all = vec![Bytes::new(); ranges.len()];
        for (at, bytes) in together::all(reads).await?.into_iter().flatten() {
            if let Some(place) = all.get_mut(at) {
                *place = bytes;
            }
        }
        Ok(all)
    }

    /// Where the blob of a row lies, and the data file that says so; `None` for a null.
    async fn find(&self, row: u64) -> Result<Option<Found<S>>> {
        Ok(self.find_all(&[row]).await?.pop().flatten())
    }

    /// The same for some rows, in their order: those of one fragment are found together.
    async fn find_all(&self, rows: &[u64]) -> Result<Vec<Option<Found<S>>>> {
        let starts = self.reads.starts().await?;
        let mut fragments: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            let Some((place, number)) = find_row(starts, *row) else {
                let num_rows = starts.last().copied().unwrap_or(0);
                let what =
                    format!("row {row} is out of range: there are {num_rows} rows, counted from 0");
                return Err(Error::Invalid(what));
            };
            fragments.entry(place).or_default().push((at, number));
        }
        let finds = fragments.into_iter().map(|(place, rows)| self.find_in(place, rows));
        let mut all: Vec<_> = rows.iter().map(|_| None).collect();
        for (at, found) in together::all(finds).await?.into_iter().flatten() {
            if let Some(place) = all.get_mut(at) {
                *place = found;
            }
        }
        Ok(all)
    }

    /// The same for rows of one fragment: each with its place among all that are looked for, and its number.
    async fn find_in(
        &self,
        place: usize,
        rows: Vec<(usize, u64)>,
    ) -> Result<Vec<(usize, Option<Found<S>>)>> {
        let deletions = self.reads.deletions(place).await?;
        let offset = |(at, number)| (at, deletions.nth_live(number));
        let (places_of, offsets): (Vec<usize>, Vec<u64>) = rows.into_iter().map(offset).unzip();
        let Some((file, column)) = column_of(self.reads.snapshot.fragment(place)?, self.id) else {
            return Ok(places_of.into_iter().map(|at| (at, None)).collect());
        };
        let file = self.reads.open(place, file).await?;
        let found: Vec<Option<FoundBlob>> = if self.kind == Kind::Blob {
            let request = file.file().blobs_of_column(column);
            let column = file.run(request.map_err(|error| file.error(error))?).await?;
            let found = file.run(column.descriptions(&offsets)).await?.into_iter().zip(offsets);
            found
                .map(|(found, offset)| Some(FoundBlob::Old(column.clone(), offset, found?)))
                .collect()
        } else {
            self.new_blobs(&file, column, offsets).await?
        };
        let found = found.into_iter().map(|found| Some((file.clone(), found?)));
        Ok(places_of.into_iter().zip(found).collect())
    }

    /// The blobs of the second kind at some offsets of a file.
    async fn new_blobs(
        &self,
        file: &OpenData<S>,
        column: u32,
        offsets: Vec<u64>,
    ) -> Result<Vec<Option<FoundBlob>>> {
        let mut valid = vec![true; offsets.len()];
        let projection = file.project(&[column], true)?;
        let batch = file.read(&projection, Rows::List(offsets)).await?;
        let Some(mut array) = batch.columns().first().cloned() else { return Ok(Vec::new()) };
        // Structs around it.
        while let Some(inner) = array.as_struct_opt().filter(|array| array.num_columns() == 1) {
            for (row, valid) in valid.iter_mut().enumerate() {
                *valid &= inner.is_valid(row);
            }
            let inner = inner.column(0).clone();
            array = inner;
        }
        let found = places(file, &array)?.into_iter().zip(valid);
        Ok(found.map(|(found, valid)| found.filter(|_| valid).map(FoundBlob::New)).collect())
    }
}

impl std::fmt::Debug for TableBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableBlobs").field("column", &self.0.name).finish_non_exhaustive()
    }
}
