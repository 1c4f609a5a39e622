//! lancet, as it comes.

use anyhow::Result;
use lancet::{FileReader, FileWriter, WriteOptions};

use super::{Contender, Open, Reader, Visit, Write};
use crate::table::Table;

pub struct Lancet;

impl Contender for Lancet {
    fn name(&self) -> &'static str {
        "lancet"
    }

    fn prepare(&self, table: &Table) -> Result<Write<'_>> {
        let (schema, batches) = (table.batch.schema(), table.write_batches());
        Ok(Box::new(move |path| {
            let mut writer = FileWriter::create(path, schema.clone(), WriteOptions::default())?;
            for batch in &batches {
                writer.write(batch)?;
            }
            writer.finish()?;
            Ok(())
        }))
    }

    fn open(&self, open: Open<'_>) -> Result<Box<dyn Reader>> {
        let reader = FileReader::open(open.path)?;
        Ok(Box::new(Opened { reader, batch_rows: open.batch_rows, threads: open.threads }))
    }
}

struct Opened {
    reader: FileReader,
    batch_rows: usize,
    threads: usize,
}

impl Reader for Opened {
    fn scan(&self, column: Option<&str>, mut visit: Visit<'_>) -> Result<usize> {
        let mut scan = self.reader.scan().batch_rows(self.batch_rows).threads(self.threads);
        if let Some(column) = column {
            scan = scan.columns([column]);
        }
        let mut rows = 0;
        for batch in scan.build()? {
            let batch = batch?;
            rows += batch.num_rows();
            if let Some(visit) = &mut visit {
                visit(batch)?;
            }
        }
        Ok(rows)
    }

    fn take(&self, rows: &[u64], column: Option<&str>, visit: Visit<'_>) -> Result<usize> {
        let batch = match column {
            None => self.reader.take(rows)?,
            Some(column) => self.reader.take_columns(rows, [column])?,
        };
        let count = batch.num_rows();
        if let Some(visit) = visit {
            visit(batch)?;
        }
        Ok(count)
    }
}
