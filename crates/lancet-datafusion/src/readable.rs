//! What a scan reads: a file, or a fragment of a table. Both are rows by number, in columns by name.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::error::Result;
use lancet::{Projection, RowRanges, Rows, ZoneMap};
use lancet_object_store::{FetchCounter, FetchStats, Reader};
use lancet_table::{FieldZones, StoreFragment, StoreTable, TableProjection};

use crate::external;
use crate::table::of_table;

/// With a limit of more rows than this, deleted rows are looked for as the scan goes on, not before.
const FEW_ROWS: u64 = 1 << 16;

/// What a scan reads.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each scan, and none is kept in a list"
)]
pub(crate) enum Readable {
    File(File),
    Fragment(Fragment),
}

/// A file.
#[derive(Debug)]
pub(crate) struct File {
    reader: Reader,
    /// What the reader had fetched when it was last asked.
    counted: Mutex<FetchStats>,
}

/// A fragment of a table: its rows are offsets, those of deleted rows included.
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) table: StoreTable,
    pub(crate) fragment: StoreFragment,
    /// With the columns that rows have of themselves, where they are asked for.
    pub(crate) schema: SchemaRef,
    pub(crate) physical_rows: u64,
    /// Counts for all who read the table.
    pub(crate) counter: Arc<FetchCounter>,
}

/// Columns, looked up.
#[derive(Debug, Clone)]
pub(crate) enum Columns {
    File(Projection),
    Fragment(TableProjection),
}

impl Columns {
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Self::File(columns) => columns.schema(),
            Self::Fragment(columns) => columns.schema(),
        }
    }
}

impl Readable {
    pub(crate) fn file(reader: Reader) -> Self {
        Self::File(File { reader, counted: Mutex::default() })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Self::File(file) => file.reader.schema(),
            Self::Fragment(fragment) => fragment.schema.clone(),
        }
    }

    /// Rows, deleted ones included.
    pub(crate) fn num_rows(&self) -> u64 {
        match self {
            Self::File(file) => file.reader.num_rows(),
            Self::Fragment(fragment) => fragment.physical_rows,
        }
    }

    /// Looks up columns; nested fields are named with dots.
    pub(crate) fn project(&self, names: &[String]) -> Result<Columns> {
        match self {
            Self::File(file) => file
                .reader
                .file()
                .project(names)
                .map(Columns::File)
                .map_err(|error| external(error.into())),
            Self::Fragment(fragment) => {
                fragment.table.project(names).map(Columns::Fragment).map_err(of_table)
            }
        }
    }

    /// Reads what is needed to know where columns lie. About how many bytes a row of them takes.
    pub(crate) async fn prepare(&self, columns: &Columns) -> Result<u64> {
        match (self, columns) {
            (Self::File(file), Columns::File(columns)) => {
                let open = file.reader.file();
                file.reader.run(open.prepare(columns)).await.map_err(external)?;
                Ok(open.row_bytes(columns))
            }
            (Self::Fragment(fragment), Columns::Fragment(columns)) => {
                fragment.fragment.prepare(columns).await.map_err(of_table)
            }
            _ => mixed(),
        }
    }

    /// The zone maps of some columns, in the same order.
    pub(crate) async fn zone_maps(&self, names: &[String]) -> Result<Vec<Option<Arc<ZoneMap>>>> {
        match self {
            Self::File(file) => file.reader.zone_maps(names).await.map_err(external),
            Self::Fragment(fragment) => {
                let zones = fragment.fragment.zones(names).await.map_err(of_table)?;
                Ok(zones.into_iter().map(FieldZones::map).collect())
            }
        }
    }

    /// Those of some rows that are not deleted.
    pub(crate) async fn live(&self, rows: RowRanges) -> Result<RowRanges> {
        match self {
            Self::File(_) => Ok(rows),
            Self::Fragment(fragment) => {
                fragment.fragment.live(&rows, u64::MAX).await.map_err(of_table)
            }
        }
    }

    /// Rows of which the first `limit` that are not deleted are among some rows.
    pub(crate) async fn first(&self, rows: RowRanges, limit: u64) -> Result<RowRanges> {
        match self {
            Self::File(_) => Ok(rows.split_at(limit).0),
            Self::Fragment(fragment) if limit <= FEW_ROWS => {
                fragment.fragment.live(&rows, limit).await.map_err(of_table)
            }
            Self::Fragment(_) => Ok(rows),
        }
    }

    /// Columns of some rows.
    pub(crate) async fn read(&self, columns: &Columns, rows: RowRanges) -> Result<RecordBatch> {
        match (self, columns) {
            (Self::File(file), Columns::File(columns)) => {
                file.reader.read(columns, Rows::from(rows)).await.map_err(external)
            }
            (Self::Fragment(fragment), Columns::Fragment(columns)) => {
                fragment.fragment.read(columns, rows).await.map_err(of_table)
            }
            _ => mixed(),
        }
    }

    /// What was fetched since the last call. Of a table that several scans read at a time, each request is told to one
    /// of them.
    pub(crate) fn fetched(&self) -> FetchStats {
        match self {
            Self::File(file) => {
                let mut counted = file.counted.lock().unwrap_or_else(PoisonError::into_inner);
                let now = file.reader.stats();
                let before = std::mem::replace(&mut *counted, now);
                let mut since = now;
                since.bytes = now.bytes.saturating_sub(before.bytes);
                since.requests = now.requests.saturating_sub(before.requests);
                since
            }
            Self::Fragment(fragment) => fragment.counter.take(),
        }
    }
}

fn mixed<T>() -> Result<T> {
    datafusion::common::internal_err!(
        "columns of a file are asked of a table, or the other way round"
    )
}
