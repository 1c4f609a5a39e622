//! Checks the columns of a file of 2.0; the steps are those of [`super::verify`].

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::verify::{PlacedPage, SOME_ROWS, STRETCH_BYTES, StepCount, Verification, read_fields};
use crate::error::{Corrupt, Error, Locate, Result};
use crate::page_v2_0::check::ColumnRead;
use crate::page_v2_0::column::ArrayPage;
use crate::page_v2_0::{ArrayColumn, Columns};
use crate::read::arrays::{load, with_shared};
use crate::read::file::OpenFile;
use crate::read::steps::Io;
use crate::schema::columns::Node;
use crate::span::Span;

/// Checks everything.
pub(super) async fn verify(
    file: &Arc<OpenFile>,
    columns: &Columns,
    io: &Io,
    found: &mut Verification,
    steps: &mut StepCount,
) -> Result<()> {
    let loaded = load_columns(file, columns, io, found).await?;
    let pages = loaded.iter().flat_map(|column| {
        column.pages.iter().map(|page| PlacedPage {
            column: column.number,
            number: page.number,
            buffers: &page.buffers,
        })
    });
    found.compare_checksums(file, io, &pages.collect::<Vec<_>>(), steps).await?;
    if loaded.len() == columns.len() {
        check_rows(file, columns, found)?;
    }
    let mut nodes = Vec::new();
    file.nodes.iter().for_each(|node| with_children(node, 0, &mut nodes));
    for (node, depth) in nodes {
        check_pages(file, columns, io, (node, depth), found, steps).await?;
    }
    steps.finish_steps(2);
    if found.is_clean() {
        read_fields(file, io, found, steps, |projection| match projection.nodes() {
            [node] => stretches(file, node, columns),
            _ => Err(Error::invalid("one field is read at a time")),
        })
        .await?;
    }
    Ok(())
}

async fn load_columns(
    file: &OpenFile,
    columns: &Columns,
    io: &Io,
    found: &mut Verification,
) -> Result<Vec<Arc<ArrayColumn>>> {
    let mut loaded = Vec::new();
    for column in columns.of_nodes(&file.nodes)? {
        let result = load_column(file, columns, io, column).await;
        loaded.extend(found.note(result.in_column(column))?);
    }
    Ok(loaded)
}

async fn load_column(
    file: &OpenFile,
    columns: &Columns,
    io: &Io,
    column: u32,
) -> Result<Arc<ArrayColumn>> {
    if let Some(known) = columns.get(column) {
        return Ok(known);
    }
    let bytes = match file.index.column_bytes(column) {
        Some(bytes) => bytes,
        None => file.read_buffer(io, file.metadata_span(column)?).await?,
    };
    load(file, columns, column, &bytes)
}

/// The columns of a field must fit together, and the longest field has all rows.
fn check_rows(file: &OpenFile, columns: &Columns, found: &mut Verification) -> Result<()> {
    let mut longest = None;
    for node in &file.nodes {
        longest = longest.max(found.note(columns.check_rows(node, 0))?);
    }
    let num_rows = file.index.num_rows;
    if let Some(longest) = longest.filter(|longest| *longest != num_rows) {
        let rule = format!("the columns have {longest} rows in a file of {num_rows}");
        found.problems.push(Corrupt { rule, ..Corrupt::default() });
    }
    Ok(())
}

/// A field and all below it, children first, with how deep each lies.
fn with_children<'a>(node: &'a Node, depth: usize, out: &mut Vec<(&'a Node, usize)>) {
    for child in node.children() {
        with_children(child, depth.saturating_add(1), out);
    }
    out.push((node, depth));
}

/// Reads every page of a field's own columns by itself.
async fn check_pages(
    file: &OpenFile,
    columns: &Columns,
    io: &Io,
    (node, depth): (&Node, usize),
    found: &mut Verification,
    steps: &mut StepCount,
) -> Result<()> {
    for number in columns.own(node, depth)? {
        let Some(column) = columns.get(number) else { continue };
        for page in &column.pages {
            found.num_pages = found.num_pages.saturating_add(1);
            let checked = check_page(file, columns, io, node, &column, page).await;
            found.note(checked.in_page(page.number).in_column(number))?;
            steps.add(Span::total(&page.buffers));
        }
    }
    Ok(())
}

async fn check_page(
    file: &OpenFile,
    columns: &Columns,
    io: &Io,
    node: &Node,
    column: &Arc<ArrayColumn>,
    page: &ArrayPage,
) -> Result<()> {
    let alike = if page.has_no_bytes() { SOME_ROWS } else { u64::MAX };
    let rows = page.first_row..page.first_row.saturating_add(page.num_rows.min(alike));
    let budget = file.budget();
    let read = with_shared(file, columns, &budget, |shared| ColumnRead::new(column, &rows, shared));
    let Some(mut read) = read? else { return Ok(()) };
    while !read.is_done() {
        let mut spans = Vec::new();
        read.wants(&mut spans)?;
        budget.claim(Span::total(&spans), "a page")?;
        let mut bytes = io.read(spans).await?.into_iter();
        with_shared(file, columns, &budget, |shared| read.supply(&mut bytes, shared))?;
    }
    read.finish(node)
}

/// Ranges of rows that cover all pages of the field's own column, of rows without bytes only some; and how
/// many bytes the field has.
fn stretches(file: &OpenFile, node: &Node, columns: &Columns) -> Result<(Vec<Range<u64>>, u64)> {
    let num_rows = columns.check_rows(node, 0)?;
    let numbers = columns.of_nodes(std::slice::from_ref(node))?;
    let of_field = numbers.iter().filter_map(|number| columns.get(*number));
    let bytes = of_field.map(|column| column.stored_bytes()).fold(0, u64::saturating_add);
    if bytes == 0 {
        let some = (num_rows > 0).then(|| 0..num_rows.min(SOME_ROWS));
        return Ok((some.into_iter().collect(), bytes));
    }
    let mut edges = BTreeSet::from([num_rows]);
    let own = columns.own(node, 0).into_iter().flatten().next();
    if let Some(column) = own.and_then(|own| columns.get(own)) {
        edges.extend(column.pages.iter().map(|page| page.first_row));
    }
    let most = (file.index.file_bytes / STRETCH_BYTES).saturating_add(16);
    let at_least = num_rows.checked_div(most).unwrap_or(0).max(SOME_ROWS);
    let mut stretches = Vec::new();
    let mut start = 0;
    for edge in edges.into_iter().filter(|edge| (1..=num_rows).contains(edge)) {
        if edge.saturating_sub(start) >= at_least || edge == num_rows {
            stretches.push(start..edge);
            start = edge;
        }
    }
    Ok((stretches, bytes))
}
