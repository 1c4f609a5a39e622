//! Rows of columns whose metadata is loaded, to a record batch: rounds of the fields, lists before items,
//! ends before strings.

use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::page_v2_0::field::Shared;
use crate::page_v2_0::{ArrayIndex, Columns, FieldRead};
use crate::read::cache::CachedPage;
use crate::read::columns::FileColumns;
use crate::read::file::OpenFile;
use crate::read::projection::Projection;
use crate::read::steps::check_lengths;
use crate::rows::RowRanges;
use crate::span::Span;

/// A read of some rows in progress.
#[derive(Debug)]
pub(in crate::read) struct ArrayRead {
    file: Arc<OpenFile>,
    projection: Projection,
    num_rows: u64,
    budget: Budget,
    spans: Vec<Span>,
    /// One for each node of the projection.
    fields: Vec<FieldRead>,
}

impl ArrayRead {
    pub(in crate::read) fn new(
        file: Arc<OpenFile>,
        columns: &Columns,
        projection: Projection,
        rows: &RowRanges,
        budget: Budget,
    ) -> Result<Self> {
        let mut fields = Vec::with_capacity(projection.nodes().len());
        with_shared(&file, columns, &budget, |shared| {
            for node in projection.nodes() {
                columns.check_rows(node, 0)?;
                fields.push(FieldRead::new(node, 0, rows.ranges(), shared)?);
            }
            Ok::<(), Error>(())
        })?;
        let num_rows = rows.count();
        let mut read = Self { file, projection, num_rows, budget, spans: Vec::new(), fields };
        read.name_spans()?;
        read.skip_empty_rounds()?;
        Ok(read)
    }

    pub(in crate::read) fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub(in crate::read) fn supply(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        check_lengths(&self.spans, &bytes)?;
        self.advance(bytes)?;
        self.skip_empty_rounds()
    }

    fn skip_empty_rounds(&mut self) -> Result<()> {
        while self.spans.is_empty() && !self.fields.iter().all(FieldRead::is_done) {
            self.advance(Vec::new())?;
        }
        Ok(())
    }

    fn advance(&mut self, bytes: Vec<Bytes>) -> Result<()> {
        let FileColumns::Arrays(columns) = &self.file.columns else {
            return Err(Error::invalid("not a file of version 2.0"));
        };
        let mut bytes = bytes.into_iter();
        let (fields, nodes) = (&mut self.fields, self.projection.nodes());
        with_shared(&self.file, columns, &self.budget, |shared| {
            let mut fields = fields.iter_mut().zip(nodes);
            fields.try_for_each(|(field, node)| field.supply(node, 0, &mut bytes, shared))
        })?;
        self.name_spans()
    }

    /// What the fields need next.
    fn name_spans(&mut self) -> Result<()> {
        self.spans.clear();
        for (field, node) in self.fields.iter().zip(self.projection.nodes()) {
            field.wants(node, &mut self.spans)?;
        }
        // Pages may share their bytes, so the size of the file does not bound what they fetch.
        self.budget.claim(Span::total(&self.spans), "the data of the rows")
    }

    pub(in crate::read) fn finish(self) -> Result<RecordBatch> {
        let fields = self.fields.into_iter().zip(self.projection.nodes());
        let arrays = fields.map(|(field, node)| field.finish(node)).collect::<Result<Vec<_>>>()?;
        self.projection.batch(arrays, self.num_rows)
    }
}

/// Runs `read` with what reads need of the file.
pub(in crate::read) fn with_shared<T>(
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
