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

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use bytes::Bytes;
use lancet::{BlobDescription, Rows, Span};

use crate::error::{Error, Problem, Result};
use crate::files::OpenData;
use crate::local;
use crate::plan::column_of;
use crate::read::Reads;
use crate::schema::{Kind, Node};
use crate::snapshot::find_row;
use crate::table::Table;

/// The kinds that lancet reads.
const INLINE: u8 = 0;
const PACKED: u8 = 1;
const DEDICATED: u8 = 2;

/// Where one blob lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    kind: u8,
    position: u64,
    size: u64,
    id: u32,
}

/// The places in an array of descriptions; none for nulls.
fn places(file: &OpenData, descriptions: &ArrayRef) -> Result<Vec<Option<Place>>> {
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
fn side_file(file: &OpenData, id: u32) -> PathBuf {
    let bit =
        |at: u32| if id.checked_shr(at).is_some_and(|rest| rest & 1 == 1) { '1' } else { '0' };
    let name: String = (0..32).map(bit).collect();
    file.path.with_extension("").join(format!("{name}.blob"))
}

fn unsupported(file: &OpenData, kind: u8) -> Error {
    let what = match kind {
        3 => "a blob lies at an address outside of the table, which lancet does not follow".into(),
        4 | 5 => "a blob lies in an object that the table manages".to_owned(),
        _ => format!("a blob is of the unknown kind {kind}"),
    };
    let file = file.path.display().to_string();
    Error::Unsupported { file, what: format!("{what}; read the column as descriptions") }
}

/// The bytes of the blobs in an array of descriptions. They must fit into the memory limit together.
pub(crate) fn read_all(
    file: &OpenData,
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
    let request = file.reader.file().blob_bytes(spans);
    let mut inline = file.reader.run(request).map_err(|error| file.error(error))?.into_iter();
    let mut side = SideFiles { file, open: None };
    let mut builder = LargeBinaryBuilder::with_capacity(places.len(), 0);
    for place in &places {
        match place {
            None => builder.append_null(),
            Some(place) if place.size == 0 && place.kind <= DEDICATED => builder.append_value([]),
            Some(place) if place.kind == INLINE => {
                builder.append_value(inline.next().unwrap_or_default());
            }
            Some(place) => builder.append_value(side.read(place, 0..place.size)?),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// The bytes of a part of a blob in the data file.
fn span(file: &OpenData, place: &Place, range: std::ops::Range<u64>) -> Result<Span> {
    let whole = Span::at(place.position, place.size);
    let start = place.position.saturating_add(range.start);
    let part = Span::new(start, place.position.saturating_add(range.end));
    whole.zip(part).map(|(_, part)| part).ok_or_else(|| {
        let rule = format!("a blob of {} bytes cannot lie at {}", place.size, place.position);
        Problem::Corrupt(rule).in_file(&file.path.display().to_string())
    })
}

/// The files beside a data file, the last one open: neighbours mostly lie in the same.
struct SideFiles<'a> {
    file: &'a OpenData,
    open: Option<(u32, PathBuf, File, u64)>,
}

impl SideFiles<'_> {
    fn read(&mut self, place: &Place, range: std::ops::Range<u64>) -> Result<Vec<u8>> {
        if !matches!(place.kind, PACKED | DEDICATED) {
            return Err(unsupported(self.file, place.kind));
        }
        if self.open.as_ref().is_none_or(|(id, ..)| *id != place.id) {
            let path = side_file(self.file, place.id);
            let (file, size) = local::open(&path)?;
            self.open = Some((place.id, path, file, size));
        }
        let Some((_, path, file, size)) = &mut self.open else { return Ok(Vec::new()) };
        let failed = |source| Error::Io { context: format!("read {}", path.display()), source };
        let end = place.position.checked_add(place.size).filter(|end| end <= size);
        if end.is_none() {
            let Place { position, size: blob, .. } = place;
            let rule =
                format!("it has {size} bytes, but a blob of {blob} bytes should be at {position}");
            return Err(Problem::Corrupt(rule).in_file(&path.display().to_string()));
        }
        let start = place.position.saturating_add(range.start);
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// The blobs of one column of a table: found by the number of their row, read by ranges of bytes.
///
/// [`Table::blobs`] makes one.
#[derive(Clone)]
pub struct TableBlobs {
    reads: Reads,
    name: String,
    /// The blob and the structs around it, the outermost first.
    id: i32,
    kind: Kind,
}

impl Table {
    /// The blobs of a column (a nested field is named with dots), to be read by ranges of bytes.
    pub fn blobs(&self, column: &str) -> Result<TableBlobs> {
        let projection = self.project([column])?;
        let mut nodes: &[Node] = projection.nodes();
        while let [node] = nodes {
            match node.kind {
                Kind::Struct => nodes = &node.children,
                Kind::Blob | Kind::BlobV2 => {
                    let (reads, name) = (self.reads.clone(), column.to_owned());
                    return Ok(TableBlobs { reads, name, id: node.id, kind: node.kind });
                }
                _ => break,
            }
        }
        Err(Error::invalid(format!("`{column}` is not a blob column")))
    }
}

/// A blob, found.
enum FoundBlob {
    Old(lancet::BlobColumn, u64, BlobDescription),
    New(Place),
}

impl TableBlobs {
    /// The size of a blob in bytes; `None` if it is null.
    pub fn len(&self, row: u64) -> Result<Option<u64>> {
        Ok(self.find(row)?.map(|(_, blob)| match blob {
            FoundBlob::Old(_, _, description) => description.size,
            FoundBlob::New(place) => place.size,
        }))
    }

    /// Bytes of a blob; `..` for all of them. A null has none to read.
    pub fn read(&self, row: u64, range: impl RangeBounds<u64>) -> Result<Bytes> {
        let Some((file, blob)) = self.find(row)? else {
            return Err(Error::invalid(format!("the blob `{}` of row {row} is null", self.name)));
        };
        let place = match blob {
            FoundBlob::Old(column, offset, _) => {
                let request = column.read(offset, range);
                return file.reader.run(request).map_err(|error| file.error(error));
            }
            FoundBlob::New(place) => place,
        };
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => place.size,
        };
        if start > end || end > place.size {
            let size = place.size;
            let what = format!("the range lies outside the blob of row {row}: {size} bytes");
            return Err(Error::Invalid(what));
        }
        let needed = end.saturating_sub(start);
        if needed > self.reads.memory_limit {
            let (file, limit) = (file.path.display().to_string(), self.reads.memory_limit);
            return Err(Error::Limit { file, needed, limit, option: "memory_limit" });
        }
        if place.kind != INLINE {
            let bytes = SideFiles { file: &file, open: None }.read(&place, start..end)?;
            return Ok(bytes.into());
        }
        let request = file.reader.file().blob_bytes(vec![span(&file, &place, start..end)?]);
        let bytes = file.reader.run(request).map_err(|error| file.error(error))?;
        Ok(bytes.into_iter().next().unwrap_or_default())
    }

    /// Where the blob of a row lies, and the data file that says so; `None` for a null.
    fn find(&self, row: u64) -> Result<Option<(Arc<OpenData>, FoundBlob)>> {
        let starts = self.reads.starts()?;
        let Some((place, number)) = find_row(starts, row) else {
            let num_rows = starts.last().copied().unwrap_or(0);
            let what =
                format!("row {row} is out of range: there are {num_rows} rows, counted from 0");
            return Err(Error::Invalid(what));
        };
        let offset = self.reads.deletions(place)?.nth_live(number);
        let Some((file, column)) = column_of(self.reads.snapshot.fragment(place)?, self.id) else {
            return Ok(None);
        };
        let file = self.reads.open(place, file)?;
        if self.kind == Kind::Blob {
            let request = file.reader.file().blobs_of_column(column);
            let found = request.and_then(|request| {
                let column = file.reader.run(request)?;
                let mut found = file.reader.run(column.descriptions(&[offset]))?;
                Ok((column, found.pop().flatten()))
            });
            let (column, found) = found.map_err(|error| file.error(error))?;
            let found = found.map(|found| FoundBlob::Old(column, offset, found));
            return Ok(found.map(|found| (file, found)));
        }
        let projection = file.project(&[column], true)?;
        let batch = file.reader.read(&projection, Rows::List(vec![offset]));
        let batch = batch.map_err(|error| file.error(error))?;
        let Some(mut array) = batch.columns().first().cloned() else { return Ok(None) };
        // Structs around it.
        while let Some(inner) = array.as_struct_opt().filter(|array| array.num_columns() == 1) {
            if inner.is_null(0) {
                return Ok(None);
            }
            let inner = inner.column(0).clone();
            array = inner;
        }
        let found = places(&file, &array)?.pop().flatten();
        Ok(found.map(|found| (file, FoundBlob::New(found))))
    }
}

impl std::fmt::Debug for TableBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableBlobs").field("column", &self.name).finish_non_exhaustive()
    }
}
