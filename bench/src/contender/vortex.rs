//! `vortex` with its default writer.
//!
//! Runs on its own current-thread runtime; a scan with several threads adds workers to it. Batches
//! have the sizes that the file suggests, and the Arrow types that cost it least (string views).

use std::fs::File;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::Field;
use vortex::VortexSessionDefault;
use vortex::array::expr::{root, select};
use vortex::array::iter::ArrayIteratorAdapter;
use vortex::array::{ArrayRef, VortexSessionExecute};
use vortex::arrow::ArrowSessionExt;
use vortex::buffer::Buffer;
use vortex::file::{OpenOptionsSessionExt, VortexFile, WriteOptionsSessionExt};
use vortex::io::runtime::BlockingRuntime;
use vortex::io::runtime::current::{CurrentThreadRuntime, CurrentThreadWorkerPool};
use vortex::io::session::RuntimeSessionExt;
use vortex::layout::scan::scan_builder::ScanBuilder;
use vortex::scan::strict_sorted_buffer::StrictSortedBuffer;
use vortex::session::VortexSession;

use super::{Contender, Open, Reader, Visit, Write};
use crate::table::Table;

pub struct Vortex {
    runtime: CurrentThreadRuntime,
    workers: Arc<CurrentThreadWorkerPool>,
    session: VortexSession,
}

impl Vortex {
    pub fn new() -> Self {
        let runtime = CurrentThreadRuntime::new();
        let workers = Arc::new(runtime.new_pool());
        let session = VortexSession::default().with_handle(runtime.handle());
        Self { runtime, workers, session }
    }
}

impl Contender for Vortex {
    fn name(&self) -> &'static str {
        "vortex"
    }

    fn prepare(&self, table: &Table) -> Result<Write<'_>> {
        let (schema, batches) = (table.batch.schema(), table.write_batches());
        let dtype = self.session.arrow().from_arrow_schema(&schema)?;
        Ok(Box::new(move |path| {
            let (session, schema) = (self.session.clone(), schema.clone());
            let convert = move |batch| session.arrow().from_arrow_record_batch(batch, &schema);
            let arrays = batches.clone().into_iter().map(convert);
            let arrays = ArrayIteratorAdapter::new(dtype.clone(), arrays);
            let options = self.session.write_options().blocking(&self.runtime);
            options.write(File::create(path)?, arrays)?;
            Ok(())
        }))
    }

    fn open(&self, open: Open<'_>) -> Result<Box<dyn Reader>> {
        self.workers.set_workers(open.threads - 1);
        let options = self.session.open_options().with_layout_reader_cache();
        let file = self.runtime.block_on(options.open_path(open.path))?;
        let (runtime, session) = (self.runtime.clone(), self.session.clone());
        Ok(Box::new(Opened { runtime, session, file }))
    }
}

struct Opened {
    runtime: CurrentThreadRuntime,
    session: VortexSession,
    file: VortexFile,
}

impl Opened {
    fn columns(&self, column: Option<&str>) -> Result<ScanBuilder<ArrayRef>> {
        let scan = self.file.scan()?;
        Ok(match column {
            None => scan,
            Some(column) => scan.with_projection(select([column], root()).bind(self.file.dtype())?),
        })
    }

    fn drain(&self, scan: ScanBuilder<ArrayRef>, mut visit: Visit<'_>) -> Result<usize> {
        let schema = self.session.arrow().to_arrow_schema(&scan.dtype()?)?;
        let target = Field::new_struct("", schema.fields().clone(), false);
        let session = self.session.clone();
        let to_batch = move |chunk| {
            let mut context = session.create_execution_ctx();
            let array = session.arrow().execute_arrow(chunk, Some(&target), &mut context)?;
            Ok(RecordBatch::from(array.as_struct()))
        };
        let mut rows = 0;
        for batch in scan.map(to_batch).into_iter(&self.runtime)? {
            let batch = batch?;
            rows += batch.num_rows();
            if let Some(visit) = &mut visit {
                visit(batch)?;
            }
        }
        Ok(rows)
    }
}

impl Reader for Opened {
    fn scan(&self, column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        self.drain(self.columns(column)?, visit)
    }

    fn take(&self, rows: &[u64], column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        let rows = StrictSortedBuffer::try_new(Buffer::copy_from(rows))?;
        self.drain(self.columns(column)?.with_row_indices(rows), visit)
    }
}
