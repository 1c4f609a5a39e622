//! Reads of 2.0 files: the same rounds as those of [`super::request`], over array encodings.
//!
//! ```text
//! column metadata ► rounds of the fields (lists before items, ends before strings) ► record batch
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use bytes::Bytes;

use super::ReadOptions;
use super::cache::CachedPage;
use super::file::{OpenFile, read_one, within};
use super::inspect::{ColumnReport, FileReport, PageReport, zone_map};
use super::projected::ProjectedColumns;
use super::source::Source;
use crate::budget::Budget;
use crate::container::column::Column;
use crate::container::{FileIndex, cost};
use crate::error::{Error, Locate, Result, ensure};
use crate::page::count_rows;
use crate::page_v2_0::column::ArrayPage;
use crate::page_v2_0::columns::Peek;
use crate::page_v2_0::field::Shared;
use crate::page_v2_0::{ArrayColumn, ArrayIndex, Columns, FieldRead, Numbered, number_columns};
use crate::schema::columns::Node;

/// The fields of a file with their columns. Some columns may have to be looked at for that.
pub(super) fn columns_of(
    index: &FileIndex,
    source: &dyn Source,
    options: &ReadOptions,
) -> Result<(Vec<Node>, Columns)> {
    let mut peeks = BTreeMap::new();
    loop {
        let found = number_columns(&index.schema, index.columns.len(), &peeks)?;
        let column = match found {
            Numbered::Columns { nodes, columns } => return Ok((nodes, columns)),
            Numbered::Missing(column) => column,
        };
        let span = index.columns.get(column as usize).cloned().ok_or_else(|| {
            let found = index.columns.len();
            Error::corrupt(format!("the schema needs column {column}, but the file has {found}"))
        })?;
        let what = format!("the metadata of column {column}");
        let limit = options.max_metadata_bytes;
        within(span.end.saturating_sub(span.start), limit, &what)?;
        let bytes = match index.column_bytes(column) {
            Some(bytes) => bytes,
            None => read_one(source, span)?,
        };
        let needed = cost::column_bytes(&bytes);
        within(needed.kept.saturating_add(needed.passing), limit, &what)?;
        let metadata = Column::parse(&bytes, index, column)?;
        peeks.insert(column, Peek::new(&metadata).in_column(column)?);
    }
}

/// Parses and checks the metadata of a column, and keeps it.
pub(super) fn load_column(
    file: &OpenFile,
    columns: &Columns,
    column: u32,
    bytes: &[u8],
) -> Result<Arc<ArrayColumn>> {
    file.claim_metadata(column, bytes)?;
    let parsed = Column::parse(bytes, &file.index, column)?;
    let role = columns.role(column)?;
    let global_buffers = &file.index.global_buffers;
    let checked = ArrayColumn::new(parsed, column, role, global_buffers).in_column(column)?;
    Ok(columns.keep(checked))
}

/// The number of rows that the fields have in common.
pub(super) fn common_rows(
    file: &OpenFile,
    columns: &Columns,
    projection: &ProjectedColumns,
) -> Result<u64> {
    let num_rows = file.index.num_rows;
    let mut common = None;
    for node in &projection.nodes {
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
        common == num_rows || projection.nodes.len() < file.nodes.len(),
        "the columns have {common} rows in a file of {num_rows}"
    );
    Ok(common)
}

/// About how many bytes a row of the fields has in memory.
pub(super) fn row_bytes(columns: &Columns, projection: &ProjectedColumns, num_rows: u64) -> u64 {
    let loaded = columns.of_nodes(&projection.nodes).unwrap_or_default();
    let stored = loaded.iter().filter_map(|column| columns.get(*column));
    let stored = stored.map(|column| column.stored_bytes()).fold(0, u64::saturating_add);
    let fixed = projection.leaves.iter().map(|leaf| leaf.leaf.values.fixed_bytes());
    stored.checked_div(num_rows).unwrap_or(stored).max(fixed.fold(0, u64::saturating_add))
}

/// Runs `read` with what reads need of the file.
pub(super) fn with_shared<T>(
    file: &OpenFile,
    columns: &Columns,
    budget: &Budget,
    read: impl FnOnce(&Shared<'_>) -> T,
) -> T {
    read(&Shared {
        columns,
        find: &|column, page| {
            file.cache.get(file.page_key(column, page)).and_then(CachedPage::into_array)
        },
        keep: &|column, page, index: Arc<ArrayIndex>| {
            file.cache.insert(file.page_key(column, page), CachedPage::Array(index));
        },
        budget,
        data_end: file.index.data_end,
    })
}

/// A read of some rows in progress.
#[derive(Debug)]
pub(crate) struct ArrayRequest {
    pub(super) file: Arc<OpenFile>,
    projection: Arc<ProjectedColumns>,
    /// Sorted, disjoint, non-empty; `None` asks only for the column metadata.
    rows: Option<Vec<Range<u64>>>,
    budget: Budget,
    spans: Vec<Range<u64>>,
    /// Columns whose metadata is among the spans.
    pending: Vec<u32>,
    /// One for each node of the projection, once the columns are loaded.
    fields: Option<Vec<FieldRead>>,
}

impl ArrayRequest {
    pub(crate) fn new(
        file: Arc<OpenFile>,
        projection: Arc<ProjectedColumns>,
        rows: Option<Vec<Range<u64>>>,
        budget: Budget,
    ) -> Result<Self> {
        let (spans, pending) = (Vec::new(), Vec::new());
        let mut request = Self { file, projection, rows, budget, spans, pending, fields: None };
        request.want_columns()?;
        request.skip_empty_rounds()?;
        Ok(request)
    }

    pub(crate) fn spans(&self) -> &[Range<u64>] {
        &self.spans
    }

    pub(crate) fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.advance(bytes)?;
        self.skip_empty_rounds()
    }

    fn skip_empty_rounds(&mut self) -> Result<()> {
        while self.spans.is_empty() && !self.is_done() {
            self.advance(Vec::new())?;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let fields = self.fields.as_ref();
        fields.is_some_and(|fields| fields.iter().all(FieldRead::is_done))
    }

    fn want_columns(&mut self) -> Result<()> {
        let columns = columns(&self.file)?;
        for column in columns.of_nodes(&self.projection.nodes)? {
            if columns.get(column).is_some() {
                continue;
            }
            match self.file.column_metadata(column)? {
                Ok(bytes) => {
                    load_column(&self.file, columns, column, &bytes)?;
                }
                Err(span) => {
                    self.spans.push(span);
                    self.pending.push(column);
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        self.file.check_fetched(&self.spans, &bytes)?;
        self.spans.clear();
        let file = self.file.clone();
        let columns = columns(&file)?;
        let budget = self.budget.clone();
        with_shared(&file, columns, &budget, |shared| self.take(&mut bytes.into_iter(), shared))?;
        for (field, node) in self.fields.iter().flatten().zip(&self.projection.nodes) {
            field.wants(node, &mut self.spans)?;
        }
        // Pages may share their bytes, so the size of the file does not bound what they fetch.
        let sizes = self.spans.iter().map(|span| span.end.saturating_sub(span.start));
        self.budget.claim(sizes.fold(0, u64::saturating_add), "the data of the rows")
    }

    /// Takes the bytes of a round.
    fn take(&mut self, bytes: &mut dyn Iterator<Item = Bytes>, shared: &Shared<'_>) -> Result<()> {
        let nodes = &self.projection.nodes;
        if let Some(fields) = &mut self.fields {
            let mut fields = fields.iter_mut().zip(nodes);
            return fields.try_for_each(|(field, node)| field.supply(node, 0, bytes, shared));
        }
        for (column, bytes) in self.pending.drain(..).zip(bytes) {
            load_column(&self.file, shared.columns, column, &bytes)?;
        }
        let mut fields = Vec::with_capacity(nodes.len());
        if let Some(rows) = &self.rows {
            for node in nodes {
                shared.columns.check_rows(node, 0)?;
                fields.push(FieldRead::new(node, 0, rows, shared)?);
            }
        }
        self.fields = Some(fields);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<RecordBatch> {
        let num_rows = count_rows(self.rows.as_deref().unwrap_or_default());
        let fields = self.fields.into_iter().flatten().zip(&self.projection.nodes);
        let arrays = fields.map(|(field, node)| field.finish(node)).collect::<Result<Vec<_>>>()?;
        self.projection.batch(arrays, num_rows)
    }
}

fn columns(file: &OpenFile) -> Result<&Columns> {
    file.arrays.as_ref().ok_or_else(|| Error::invalid("not a file of version 2.0"))
}

/// Describes a file whose columns are all loaded.
pub(super) fn report(file: &OpenFile, columns: &Columns) -> Result<FileReport> {
    let mut names = BTreeMap::new();
    for node in &file.nodes {
        name_columns(columns, node, 0, "", &mut names)?;
    }
    let mut reports = Vec::new();
    for (index, (name, data_type)) in names {
        let Some(column) = columns.get(index) else { continue };
        let pages: Vec<PageReport> = column.pages.iter().map(page_report).collect();
        let bytes = pages.iter().map(|page| page.bytes).sum();
        let zone_map = zone_map(file, index);
        reports.push(ColumnReport { index, name, data_type, bytes, pages, zone_map });
    }
    Ok(FileReport::new(file, reports))
}

/// Names of the columns, structs and lists included.
fn name_columns(
    columns: &Columns,
    node: &Node,
    depth: usize,
    prefix: &str,
    names: &mut BTreeMap<u32, (String, DataType)>,
) -> Result<()> {
    let field = node.field();
    let name = match prefix {
        "" => field.name().clone(),
        prefix => format!("{prefix}.{}", field.name()),
    };
    for child in node.children() {
        name_columns(columns, child, depth.saturating_add(1), &name, names)?;
    }
    for column in columns.own(node, depth)? {
        names.insert(column, (name.clone(), field.data_type().clone()));
    }
    Ok(())
}

fn page_report(page: &ArrayPage) -> PageReport {
    PageReport::new(page.num_rows, page.describe(), &page.buffers, page.buffer_names())
}
