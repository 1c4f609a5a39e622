//! The columns of a file while it is written: pages with layouts, or the arrays of 2.0.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bytes::Bytes;

use super::arrays::ArrayColumns;
use super::column::{ColumnPlan, ColumnWriter};
use super::options::WriteOptions;
use super::sink::Sink;
use super::summary::{ExplainedPage, PageSummary};
use crate::error::Result;
use crate::page_v2_0::encode::EncodedArray;
use crate::parallel::in_parallel_mut;
use crate::proto::any;
use crate::schema::columns::{LeafKind, columns_of};
use crate::version::Version;
use crate::zones::gather::Gatherer;

/// Batches of more columns are taken in on several threads.
const MANY_COLUMNS: usize = 64;
/// Fewer bytes are encoded on one thread: they take some 600 us, at the 100 MB/s of numbers and strings
/// that hardly compress.
const PARALLEL_BYTES: u64 = 64 << 10;

/// Columns that collect rows. This is where the two kinds of files part.
#[derive(Debug)]
pub(super) enum WaitingColumns {
    /// 2.1 and 2.2.
    Layouts(Vec<ColumnWriter>),
    /// 2.0.
    Arrays(ArrayColumns),
}

/// A page that is encoded, with what to say about it.
pub(super) struct ReadyPage {
    pub(super) buffers: Vec<Bytes>,
    pub(super) num_rows: u64,
    /// Whether the file tells at which row it starts.
    pub(super) is_placed: bool,
    pub(super) encoding: Vec<u8>,
    pub(super) summary: PageSummary,
}

/// Pages by column.
pub(super) type ReadyPages = Vec<Vec<ReadyPage>>;

impl WaitingColumns {
    /// `plans` are those of the leaves of the schema, in order.
    pub(super) fn new(
        schema: &Schema,
        plans: Vec<ColumnPlan>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let zone_maps = options.zone_maps;
        if options.version == Version::V2_0 {
            let arrays = ArrayColumns::new(&columns_of(schema)?, plans, zone_maps)?;
            return Ok(Self::Arrays(arrays));
        }
        let columns = plans.into_iter().map(|plan| ColumnWriter::new(plan, zone_maps));
        Ok(Self::Layouts(columns.collect()))
    }

    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Layouts(columns) => columns.iter().map(|c| c.plan.name.clone()).collect(),
            Self::Arrays(columns) => columns.names().map(str::to_owned).collect(),
        }
    }

    /// Whether the values of a column lie outside its pages, and the file says so.
    pub(super) fn is_blob(&self, column: usize) -> bool {
        match self {
            Self::Layouts(_) => false,
            Self::Arrays(columns) => columns.is_blob(column),
        }
    }

    /// What was gathered for the zone maps, by column.
    pub(super) fn take_zones(&mut self) -> Vec<Option<Gatherer>> {
        match self {
            Self::Layouts(columns) => columns.iter_mut().map(|c| c.zones.take()).collect(),
            Self::Arrays(columns) => columns.take_zones(),
        }
    }

    /// Takes the rows of a batch, after `given` bytes of others; how many bytes they are, and pages that
    /// became full. Payloads of blobs are written at once.
    pub(super) fn push<W: Write>(
        &mut self,
        batch: &RecordBatch,
        given: u64,
        options: &WriteOptions,
        sink: &mut Sink<W>,
    ) -> Result<(u64, ReadyPages)> {
        match self {
            Self::Layouts(columns) => push(columns, batch, given, options, sink),
            Self::Arrays(columns) => Ok((columns.push(batch, given, sink)?, Vec::new())),
        }
    }

    /// Pages that have to be written now that `given` bytes were given in all: columns that keep batches
    /// alive for too long give up their rows.
    pub(super) fn due_pages(&mut self, given: u64, options: &WriteOptions) -> Result<ReadyPages> {
        let (limit, threads) = (options.memory_limit, options.threads());
        let is_old = move |oldest: u64| given - oldest > limit;
        match self {
            Self::Layouts(columns) => {
                let is_due = move |c: &ColumnWriter| !c.is_empty() && is_old(c.oldest);
                if !columns.iter().any(is_due) {
                    return Ok(Vec::new());
                }
                let flush =
                    move |c: &mut ColumnWriter| if is_due(c) { c.flush() } else { Ok(Vec::new()) };
                Ok(ready(in_parallel_mut(threads, columns, flush)?))
            }
            Self::Arrays(columns) => {
                Ok(ready(columns.due_pages(options.page_bytes, threads, is_old)?))
            }
        }
    }

    /// All that is left.
    pub(super) fn last_pages(&mut self, options: &WriteOptions) -> Result<ReadyPages> {
        match self {
            Self::Layouts(columns) => {
                let waiting = columns.iter().map(ColumnWriter::waiting_bytes).sum();
                let threads = options.threads_for(waiting, PARALLEL_BYTES);
                Ok(ready(in_parallel_mut(threads, columns, ColumnWriter::flush)?))
            }
            Self::Arrays(columns) => {
                let threads = options.threads_for(columns.waiting_bytes(), PARALLEL_BYTES);
                Ok(ready(columns.last_pages(options.page_bytes, threads)?))
            }
        }
    }
}

fn push<W: Write>(
    columns: &mut Vec<ColumnWriter>,
    batch: &RecordBatch,
    given: u64,
    options: &WriteOptions,
    sink: &mut Sink<W>,
) -> Result<(u64, ReadyPages)> {
    let page_bytes = options.page_bytes;
    // To keep a batch is little work, to encode a page is much.
    let is_much = columns.len() > MANY_COLUMNS
        || columns.iter().any(|column| column.is_nearly_full(page_bytes));
    let threads = if is_much { options.threads() } else { 1 };
    let rows = batch.clone();
    let push = move |column: &mut ColumnWriter| match column.plan.kind {
        LeafKind::Blob => Ok((0, Vec::new())),
        _ => push_column(column, &rows, given, page_bytes),
    };
    let pushed = in_parallel_mut(threads, columns, push)?;
    let (mut sizes, mut pages): (Vec<u64>, Vec<_>) = pushed.into_iter().unzip();
    for ((column, size), pages) in columns.iter_mut().zip(&mut sizes).zip(&mut pages) {
        if column.plan.kind == LeafKind::Blob {
            let root = batch.column(column.plan.root);
            *size = column.push_blobs(root, given, page_bytes, sink, pages)?;
        }
    }
    Ok((sizes.iter().sum(), ready(pages)))
}

/// Hands a column its part of a batch; returns its bytes and the pages that became full.
fn push_column(
    column: &mut ColumnWriter,
    batch: &RecordBatch,
    given: u64,
    page_bytes: u64,
) -> Result<(u64, Vec<ExplainedPage>)> {
    let mut pages = Vec::new();
    let root = batch.column(column.plan.root);
    let bytes = column.push(root, given, page_bytes, &mut pages)?;
    Ok((bytes, pages))
}

fn ready<P: Into<ReadyPage>>(pages: Vec<Vec<P>>) -> ReadyPages {
    pages.into_iter().map(|pages| pages.into_iter().map(Into::into).collect()).collect()
}

impl From<ExplainedPage> for ReadyPage {
    fn from(ExplainedPage { page, summary }: ExplainedPage) -> Self {
        let encoding = any::wrap(&page.layout.to_message());
        let (buffers, num_rows) = (page.buffers, page.num_rows);
        Self { buffers, num_rows, is_placed: true, encoding, summary }
    }
}

impl From<EncodedArray> for ReadyPage {
    fn from(page: EncodedArray) -> Self {
        let (encoding, num_rows) = (any::wrap(&page.message), page.num_rows);
        let summary = PageSummary::of_array(&page);
        let buffers = page.buffers.into_iter().map(Bytes::from).collect();
        Self { buffers, num_rows, is_placed: false, encoding, summary }
    }
}
