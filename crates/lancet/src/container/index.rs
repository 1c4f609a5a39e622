//! What a file holds and where: everything but the pages.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;
use prost::Message;

use super::footer::Footer;
use super::tail::{Part, column_table};
use crate::cursor::Cursor;
use crate::error::{Error, Locate, Result, ensure};
use crate::proto::file::FileDescriptor;
use crate::schema::fields;
use crate::span::Span;
use crate::version::Version;

/// The index of a file.
#[derive(Debug, Clone)]
pub(crate) struct FileIndex {
    pub(crate) version: Version,
    pub(crate) file_bytes: u64,
    /// As the descriptor says; never size a buffer from it.
    pub(crate) num_rows: u64,
    pub(crate) schema: SchemaRef,
    /// Ids of all stored fields, parents before children.
    pub(crate) field_ids: Vec<i32>,
    /// Where the global buffers are; number 0 is the descriptor.
    pub(crate) global_buffers: Vec<Span>,
    /// Where the metadata of each column is.
    pub(crate) columns: Vec<Span>,
    /// Where the tables of columns and of global buffers are.
    pub(crate) tables: [Span; 2],
    /// Pages and their buffers end here or before.
    pub(crate) data_end: u64,
    /// The end of the file as far as it was read.
    end: Part,
}

impl FileIndex {
    pub(super) fn new(
        file_bytes: u64,
        footer: &Footer,
        global_buffers: Vec<Span>,
        columns: Vec<Span>,
        descriptor: &[u8],
        end: Part,
    ) -> Result<Self> {
        let data_end = global_buffers.first().map_or(0, Span::start);
        let read = || {
            let descriptor = FileDescriptor::decode(descriptor)
                .map_err(|e| Error::corrupt(format!("the file descriptor does not decode: {e}")))?;
            let Some(schema) = &descriptor.schema else {
                return Err(Error::corrupt("the file descriptor has no schema"));
            };
            Ok((descriptor.length, fields::to_arrow(schema)?))
        };
        let (num_rows, stored) = read().at(data_end)?;
        Ok(Self {
            version: footer.version,
            file_bytes,
            num_rows,
            schema: stored.schema,
            field_ids: stored.ids,
            global_buffers,
            columns,
            tables: footer.both_tables(),
            data_end,
            end,
        })
    }

    /// The index of a file of 2.0 inside a buffer: one without a descriptor, so its fields and its
    /// number of rows come from elsewhere. Fields and columns that the other has not are left out.
    pub(crate) fn of_inner(bytes: Bytes, mut fields: Vec<Field>, num_rows: u64) -> Result<Self> {
        let file_bytes = bytes.len() as u64;
        let footer = Footer::parse_inner(file_bytes, &bytes)?;
        ensure!(
            footer.version == Version::V2_0,
            "a file inside a buffer has version {}",
            footer.version
        );
        let table = footer.column_table().cut(0, &bytes).unwrap_or_default();
        let end = Part { start: 0, bytes };
        let mut columns = column_table(&footer, &mut Cursor::new(&table)).at(footer.cmo_start)?;
        columns.truncate(fields.len());
        fields.truncate(columns.len());
        Ok(Self {
            version: footer.version,
            file_bytes,
            num_rows,
            schema: Arc::new(Schema::new(fields)),
            field_ids: Vec::new(),
            global_buffers: Vec::new(),
            columns,
            tables: footer.both_tables(),
            data_end: footer.column_meta_start,
            end,
        })
    }

    /// Everything from the descriptor on.
    pub(crate) fn tail(&self) -> Span {
        Span::between(self.data_end.min(self.file_bytes), self.file_bytes)
    }

    /// What was read of the tail without a gap to the end of the file.
    pub(crate) fn end(&self) -> (Span, Bytes) {
        let span = Span::between(self.end.start.max(self.data_end), self.file_bytes);
        (span, span.cut(self.end.start, &self.end.bytes).unwrap_or_default())
    }

    /// The metadata of column `column`, if it was read together with the end of the file.
    pub(crate) fn column_bytes(&self, column: u32) -> Option<Bytes> {
        let span = self.columns.get(usize::try_from(column).ok()?)?;
        span.cut(self.end.start, &self.end.bytes)
    }
}
