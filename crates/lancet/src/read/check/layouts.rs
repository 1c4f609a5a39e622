//! Checks the columns of a file of 2.1 or 2.2; the steps are those of [`super::verify`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::verify::{PlacedPage, SOME_ROWS, STRETCH_BYTES, StepCount, Verification, read_fields};
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::error::{Corrupt, Locate, Result, ensure};
use crate::page::{LeafSink, Page, SinkValues};
use crate::read::file::OpenFile;
use crate::read::layouts::{FileColumn, LayoutColumns, leaf_column};
use crate::read::steps::Io;
use crate::schema::columns::{Leaf, Node, leaves};
use crate::schema::leaves::LeafColumnType;
use crate::schema::to_arrow;
use crate::span::Span;

/// Checks everything.
pub(super) async fn verify(
    file: &Arc<OpenFile>,
    known: &LayoutColumns,
    io: &Io,
    found: &mut Verification,
    steps: &mut StepCount,
) -> Result<()> {
    let columns = load_columns(file, known, io, found).await?;
    let pages = columns.iter().flat_map(|column| {
        column.column.pages.iter().map(|page| PlacedPage {
            column: column.leaf.column,
            number: page.number,
            buffers: &page.buffers,
        })
    });
    found.compare_checksums(file, io, &pages.collect::<Vec<_>>(), steps).await?;
    for column in &columns {
        for page in &column.column.pages {
            found.num_pages = found.num_pages.saturating_add(1);
            let checked = check_page(file, io, column, page).await;
            found.note(checked.in_page(page.number).in_column(column.leaf.column))?;
            steps.add(Span::total(&page.buffers));
        }
    }
    steps.finish_steps(2);
    if found.is_clean() {
        let by_number: BTreeMap<u32, &LoadedColumn<'_>> =
            columns.iter().map(|column| (column.leaf.column, column)).collect();
        read_fields(file, io, found, steps, |projection| {
            let of_field = projection.leaves().iter().map(|leaf| by_number.get(&leaf.column));
            let columns: Vec<&LoadedColumn<'_>> = of_field.flatten().copied().collect();
            Ok((stretches(file, &columns), known.stored_bytes(projection.leaves())))
        })
        .await?;
    }
    Ok(())
}

/// A column whose metadata is sound.
struct LoadedColumn<'a> {
    leaf: &'a LeafColumnType,
    node: Node,
    column: Arc<FileColumn>,
}

async fn load_columns<'a>(
    file: &'a OpenFile,
    known: &LayoutColumns,
    io: &Io,
    found: &mut Verification,
) -> Result<Vec<LoadedColumn<'a>>> {
    let mut columns = Vec::new();
    let (all, nodes): (_, Vec<&Leaf>) = (file.everything().leaves(), leaves(&file.nodes));
    for (leaf, node) in all.iter().zip(nodes) {
        let loaded = load_column(file, known, io, leaf).await;
        if let Some(column) = found.note(loaded.in_column(leaf.column))? {
            columns.push(LoadedColumn { leaf, node: Node::Leaf(node.clone()), column });
        }
    }
    let num_rows = file.index.num_rows;
    let longest = columns.iter().map(|column| column.column.num_rows).max().unwrap_or(num_rows);
    if columns.len() == all.len() && longest != num_rows {
        let rule = format!("the columns have {longest} rows in a file of {num_rows}");
        found.problems.push(Corrupt { rule, ..Corrupt::default() });
    }
    Ok(columns)
}

async fn load_column(
    file: &OpenFile,
    known: &LayoutColumns,
    io: &Io,
    leaf: &LeafColumnType,
) -> Result<Arc<FileColumn>> {
    if let Some(column) = known.get(leaf.column) {
        return Ok(column);
    }
    let bytes = match file.index.column_bytes(leaf.column) {
        Some(bytes) => bytes,
        None => file.read_buffer(io, file.metadata_span(leaf.column)?).await?,
    };
    known.load(file, leaf, &bytes)
}

/// Decodes all rows of a page.
async fn check_page(
    file: &OpenFile,
    io: &Io,
    column: &LoadedColumn<'_>,
    page: &Page,
) -> Result<()> {
    let leaf = &column.leaf.leaf;
    let budget = Budget::new(file.options.memory_limit);
    let spans = page.index_spans();
    budget.claim(Span::total(&spans), "a page")?;
    let bytes = io.read(spans).await?;
    let index = page.parse_index(leaf, &bytes, &mut Scratch::sharing(&budget))?;
    let alike = column.leaf.first_entry(SOME_ROWS);
    let num_rows = if page.rows_are_alike() { page.num_rows.min(alike) } else { page.num_rows };
    let task = page.plan(&index, vec![0..num_rows])?;
    budget.claim(Span::total(&task.spans), "a page")?;
    let fetched = io.read(task.spans.clone()).await?;
    let mut sink = LeafSink::new(leaf)?;
    page.decode(&index, &task, &fetched, &mut sink, &mut Scratch::sharing(&budget))?;
    if let SinkValues::Blob(blobs) = &sink.values {
        let outside = blobs.spans.iter().find(|span| span.end() > file.index.data_end);
        ensure!(outside.is_none(), "a blob at {outside:?} lies outside the data");
    } else {
        to_arrow::build(&column.node, &mut std::iter::once(leaf_column(sink)?))?;
    }
    Ok(())
}

/// Ranges of rows that cover all pages of the columns and begin and end with some of them; of
/// rows that are alike in all columns only some.
fn stretches(file: &OpenFile, columns: &[&LoadedColumn<'_>]) -> Vec<Range<u64>> {
    let num_rows = columns.iter().map(|column| column.column.num_rows).min().unwrap_or(0);
    let mut edges = BTreeSet::from([num_rows]);
    for column in columns {
        for page in &column.column.pages {
            edges.extend(column.leaf.rows_of_entries(page.first_row).ok());
        }
    }
    let most = (file.index.file_bytes / STRETCH_BYTES).saturating_add(16);
    let at_least = num_rows.checked_div(most).unwrap_or(0).max(SOME_ROWS);
    let mut stretches = Vec::new();
    let mut start = 0;
    for edge in edges.iter().filter(|edge| (1..=num_rows).contains(*edge)) {
        let alike = columns.iter().all(|column| alike_at(column, start));
        if edge.saturating_sub(start) >= at_least || *edge == num_rows || alike {
            let end = if alike { (*edge).min(start.saturating_add(SOME_ROWS)) } else { *edge };
            stretches.push(start..end);
            start = *edge;
        }
    }
    stretches
}

/// Whether the rows of the page that holds a row are alike.
fn alike_at(column: &LoadedColumn<'_>, row: u64) -> bool {
    let entry = column.leaf.first_entry(row);
    let after = column.column.pages.partition_point(|page| page.first_row <= entry);
    let page = after.checked_sub(1).and_then(|page| column.column.pages.get(page));
    page.is_some_and(Page::rows_are_alike)
}
