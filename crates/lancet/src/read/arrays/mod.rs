//! Reads of 2.0: columns of arrays, structs and lists among them.

mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

pub(super) use read::{ArrayRead, with_shared};

use super::columns::Place;
use super::file::{OpenFile, within};
use super::options::ReadOptions;
use super::projection::Projection;
use super::steps::Io;
use crate::container::column::Column;
use crate::container::{FileIndex, cost};
use crate::error::{Error, Locate, Result, ensure};
use crate::page_v2_0::columns::Peek;
use crate::page_v2_0::{ArrayColumn, Columns, Numbered, number_columns};
use crate::schema::columns::Node;

/// The fields of a file with their columns. Some columns may have to be looked at for that.
pub(super) async fn columns_of(
    io: &Io,
    index: &FileIndex,
    options: &ReadOptions,
) -> Result<(Vec<Node>, Columns)> {
    let mut peeks = BTreeMap::new();
    // The fields are gone through again whenever something is missing, so more and more columns are
    // looked at each time.
    let mut num_columns = 1_usize;
    loop {
        let found = number_columns(&index.schema, index.columns.len(), &peeks)?;
        let first = match found {
            Numbered::Columns { nodes, columns } => return Ok((nodes, columns)),
            Numbered::Missing(column) => column,
        };
        let wanted =
            (first..).take(num_columns).take_while(|c| (*c as usize) < index.columns.len());
        let mut found = peek_columns(io, index, options, first, wanted.collect()).await?;
        peeks.append(&mut found);
        num_columns = num_columns.saturating_mul(2);
    }
}

/// What columns say of themselves. Of those after the first only what can be known: nobody may ask.
async fn peek_columns(
    io: &Io,
    index: &FileIndex,
    options: &ReadOptions,
    first: u32,
    columns: Vec<u32>,
) -> Result<BTreeMap<u32, Peek>> {
    let limit = options.max_metadata_bytes;
    let (mut at_hand, mut missing, mut spans) = (BTreeMap::new(), Vec::new(), Vec::new());
    if columns.is_empty() {
        let found = index.columns.len();
        return Err(Error::corrupt(format!(
            "the schema needs column {first}, but the file has {found}"
        )));
    }
    let mut left = limit;
    for column in columns {
        let Some(span) = index.columns.get(column as usize).copied() else { break };
        if column == first {
            within(span.len(), limit, &format!("the metadata of column {column}"))?;
        }
        let Some(less) = left.checked_sub(span.len()) else { break };
        left = less;
        match index.column_bytes(column) {
            Some(bytes) => {
                at_hand.insert(column, bytes);
            }
            None => {
                missing.push(column);
                spans.push(span);
            }
        }
    }
    if !spans.is_empty() {
        at_hand.extend(missing.into_iter().zip(io.read(spans).await?));
    }
    let mut peeks = BTreeMap::new();
    for (column, bytes) in at_hand {
        match peek_column(index, limit, column, &bytes) {
            Ok(peek) => {
                peeks.insert(column, peek);
            }
            Err(error) if column == first => return Err(error),
            Err(_) => {}
        }
    }
    Ok(peeks)
}

fn peek_column(index: &FileIndex, limit: u64, column: u32, bytes: &Bytes) -> Result<Peek> {
    let needed = cost::column_bytes(bytes);
    let what = format!("the metadata of column {column}");
    within(needed.kept.saturating_add(needed.passing), limit, &what)?;
    let metadata = Column::parse(bytes, index, column)?;
    Peek::new(&metadata).in_column(column)
}

/// The columns of some fields that are not loaded.
pub(super) fn missing(columns: &Columns, nodes: &[Node]) -> Result<Vec<(Place, u32)>> {
    let numbers = columns.of_nodes(nodes)?.into_iter();
    let missing = numbers.filter(|number| columns.get(*number).is_none());
    Ok(missing.map(|number| (number as Place, number)).collect())
}

/// Parses and checks the metadata of a column, and keeps it.
pub(super) fn load(
    file: &OpenFile,
    columns: &Columns,
    column: u32,
    bytes: &Bytes,
) -> Result<Arc<ArrayColumn>> {
    file.claim_metadata(column, bytes, || {
        let parsed = Column::parse(bytes, &file.index, column)?;
        let role = columns.role(column)?;
        let global_buffers = &file.index.global_buffers;
        let checked = ArrayColumn::new(parsed, column, role, global_buffers).in_column(column)?;
        Ok(columns.keep(checked))
    })
}

/// The number of rows that the fields have in common.
pub(super) fn common_rows(file: &OpenFile, columns: &Columns, nodes: &[Node]) -> Result<u64> {
    let num_rows = file.index.num_rows;
    let mut common = None;
    for node in nodes {
        let rows = columns.check_rows(node, 0)?;
        let name = node.field().name();
        ensure!(rows <= num_rows, "field `{name}` has {rows} rows in a file of {num_rows}");
        if *common.get_or_insert(rows) != rows {
            return Err(Error::invalid(
                "the columns asked for have different numbers of rows; read them one by one",
            ));
        }
    }
    // Fields may differ, but one of them has the rows that the descriptor counts.
    let common = common.unwrap_or(num_rows);
    ensure!(
        common == num_rows || nodes.len() < file.nodes.len(),
        "the columns have {common} rows in a file of {num_rows}"
    );
    Ok(common)
}

/// About how many bytes a row of the fields has in memory.
pub(super) fn row_bytes(columns: &Columns, projection: &Projection, num_rows: u64) -> u64 {
    let loaded = columns.of_nodes(projection.nodes()).unwrap_or_default();
    let stored = loaded.iter().filter_map(|column| columns.get(*column));
    let stored = stored.map(|column| column.stored_bytes()).fold(0, u64::saturating_add);
    let fixed = projection.leaves().iter().map(|leaf| leaf.leaf.values.fixed_bytes());
    stored.checked_div(num_rows).unwrap_or(stored).max(fixed.fold(0, u64::saturating_add))
}
