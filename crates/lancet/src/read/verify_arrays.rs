//! Checks a whole file of version 2.0; the steps are those of [`super::verify`].

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::Schema;

use super::FileReader;
use super::arrays::{load_column, with_shared};
use super::file::OpenFile;
use super::projected::ProjectedColumns;
use super::verify::{PlacedPage, Progress, SOME_ROWS, STRETCH_BYTES, Verification, size};
use crate::budget::Budget;
use crate::error::{Corrupt, Locate, Result};
use crate::page_v2_0::check::ColumnRead;
use crate::page_v2_0::column::ArrayPage;
use crate::page_v2_0::{ArrayColumn, Columns};
use crate::schema::columns::Node;
use crate::schema::projection::Projection;

/// Checks everything.
pub(super) fn verify(
    reader: &FileReader,
    columns: &Columns,
    found: &mut Verification,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let file = reader.file.as_ref();
    let loaded = load_columns(file, columns, found)?;
    let pages = loaded.iter().flat_map(|column| {
        column.pages.iter().map(|page| PlacedPage {
            column: column.number,
            number: page.number,
            buffers: &page.buffers,
        })
    });
    found.compare_checksums(file, &pages.collect::<Vec<_>>(), progress)?;
    if loaded.len() == columns.len() {
        check_rows(file, columns, found)?;
    }
    for node in &file.nodes {
        check_pages(file, columns, (node, 0), found, progress)?;
    }
    progress.finish_steps(2);
    if found.is_clean() {
        read_fields(reader, columns, found, progress)?;
    }
    Ok(())
}

fn load_columns(
    file: &OpenFile,
    columns: &Columns,
    found: &mut Verification,
) -> Result<Vec<Arc<ArrayColumn>>> {
    let mut loaded = Vec::new();
    for column in columns.of_nodes(&file.nodes)? {
        let load = || match columns.get(column) {
            Some(known) => Ok(known),
            None => {
                let metadata = file.column_metadata(column)?;
                let bytes = metadata.or_else(|span| file.read_buffer(span))?;
                load_column(file, columns, column, &bytes)
            }
        };
        loaded.extend(found.note(load().in_column(column))?);
    }
    Ok(loaded)
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

/// Reads every page of the columns of a field by itself.
fn check_pages(
    file: &OpenFile,
    columns: &Columns,
    (node, depth): (&Node, usize),
    found: &mut Verification,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for child in node.children() {
        check_pages(file, columns, (child, depth.saturating_add(1)), found, progress)?;
    }
    for number in columns.own(node, depth)? {
        let Some(column) = columns.get(number) else { continue };
        for page in &column.pages {
            found.num_pages = found.num_pages.saturating_add(1);
            let checked = check_page(file, columns, node, &column, page);
            found.note(checked.in_page(page.number).in_column(number))?;
            progress.add(size(&page.buffers));
        }
    }
    Ok(())
}

fn check_page(
    file: &OpenFile,
    columns: &Columns,
    node: &Node,
    column: &Arc<ArrayColumn>,
    page: &ArrayPage,
) -> Result<()> {
    let alike = if page.has_no_bytes() { SOME_ROWS } else { u64::MAX };
    let rows = page.first_row..page.first_row.saturating_add(page.num_rows.min(alike));
    let budget = Budget::new(file.options.memory_limit);
    with_shared(file, columns, &budget, |shared| {
        let Some(mut read) = ColumnRead::new(column, &rows, shared)? else { return Ok(()) };
        while !read.is_done() {
            let mut spans = Vec::new();
            read.wants(&mut spans)?;
            let sizes = spans.iter().map(|span| span.end.saturating_sub(span.start));
            budget.claim(sizes.fold(0, u64::saturating_add), "a page")?;
            let bytes = if spans.is_empty() { Vec::new() } else { file.source.read(&spans)? };
            read.supply(&mut bytes.into_iter(), shared)?;
        }
        read.finish(node)
    })
}

/// Reads the columns of each top-level field together.
fn read_fields(
    reader: &FileReader,
    columns: &Columns,
    found: &mut Verification,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let fields = reader.everything.schema.fields().iter();
    for (field, node) in fields.zip(&reader.everything.nodes) {
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let projection = Projection { schema, nodes: vec![node.clone()] };
        let projection = ProjectedColumns::new(projection)?;
        let numbers = columns.of_nodes(std::slice::from_ref(node))?;
        let of_field: Vec<_> = numbers.iter().filter_map(|n| columns.get(*n)).collect();
        let num_rows = columns.check_rows(node, 0)?;
        let bytes = of_field.iter().map(|column| column.stored_bytes());
        let bytes = bytes.fold(0, u64::saturating_add);
        let stretches = stretches(reader, node, columns, &of_field, num_rows);
        let share = bytes.checked_div(stretches.len() as u64).unwrap_or(0);
        for rows in stretches {
            found.note(reader.read(&projection, rows))?;
            progress.add(share);
        }
    }
    Ok(())
}

/// Ranges of rows that cover all pages of the field's own column; of rows without bytes only some.
fn stretches(
    reader: &FileReader,
    node: &Node,
    columns: &Columns,
    of_field: &[Arc<ArrayColumn>],
    num_rows: u64,
) -> Vec<Range<u64>> {
    if of_field.iter().all(|column| column.stored_bytes() == 0) {
        return (num_rows > 0).then(|| 0..num_rows.min(SOME_ROWS)).into_iter().collect();
    }
    let mut edges = BTreeSet::from([num_rows]);
    let own = columns.own(node, 0).into_iter().flatten().next();
    if let Some(column) = own.and_then(|own| columns.get(own)) {
        edges.extend(column.pages.iter().map(|page| page.first_row));
    }
    let most = (reader.file.index.file_bytes / STRETCH_BYTES).saturating_add(16);
    let at_least = num_rows.checked_div(most).unwrap_or(0).max(SOME_ROWS);
    let mut stretches = Vec::new();
    let mut start = 0;
    for edge in edges.into_iter().filter(|edge| (1..=num_rows).contains(edge)) {
        if edge.saturating_sub(start) >= at_least || edge == num_rows {
            stretches.push(start..edge);
            start = edge;
        }
    }
    stretches
}
