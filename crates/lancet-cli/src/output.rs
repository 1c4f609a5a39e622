//! A file of any known format, written batch by batch.
//!
//! | target | how |
//! |---|---|
//! | a file on disk | as a [`lancet::NewFile`], which [`OutputFile::finish`] has appear |
//! | a URL | into a temporary file; [`OutputFile::finish`] sends it |
//! | standard output, a named pipe, a device | as the bytes come |
//!
//! A command that fails leaves neither a half file nor a damaged old one.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, IpcWriteOptions};
use arrow_schema::SchemaRef;
use lancet::{FileReader, FileWriter, WriteOptions, WriteSummary};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as ParquetCompression;
use parquet::file::properties::WriterProperties;

use crate::dictionaries::Dictionaries;
use crate::error::{InFile, Result};
use crate::format::{Compression, Format};
use crate::parquet_types;
use crate::places::{Bytes, Closed, Target};
use crate::text::TextFile;

/// A Parquet row group ends at this size on disk, or when its writers hold as much memory as they
/// may (dictionaries may outweigh what they save).
const ROW_GROUP_BYTES: usize = 128 << 20;

/// A file on its way to its place.
pub struct OutputFile {
    writer: Writer,
    closed: Closed,
    name: PathBuf,
}

enum Writer {
    Lance(Box<FileWriter<Bytes>>),
    ArrowFile(arrow_ipc::writer::FileWriter<Bytes>, Dictionaries),
    ArrowStream(arrow_ipc::writer::StreamWriter<Bytes>),
    /// With the memory it may hold.
    Parquet(Box<ArrowWriter<Bytes>>, usize),
    Text(Box<TextFile<Bytes>>),
}

impl OutputFile {
    /// Starts a file; `options` matter for Lance, and their memory limit for Parquet.
    pub fn create(target: &Target, schema: &SchemaRef, options: &WriteOptions) -> Result<Self> {
        let bytes = target.start()?;
        let closed = bytes.closed();
        let name = target.name().to_owned();
        match Writer::create(bytes, target.format(), target.compression(), schema, options) {
            Ok(writer) => Ok(Self { writer, closed, name }),
            Err(message) => Err(closed.failed(message, &name)),
        }
    }

    /// Copies the global buffers of a Lance file, if this is one too.
    pub fn copy_buffers(&mut self, reader: &FileReader, from: &Path) -> Result<()> {
        if let Writer::Lance(writer) = &mut self.writer {
            for buffer in reader.user_buffers().in_file(from)? {
                writer.add_global_buffer(&buffer).in_file(&self.name)?;
            }
        }
        Ok(())
    }

    /// Appends rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|message| self.closed.failed(message, &self.name))
    }

    /// Completes the file. Returns its size, and of Lance files the summary.
    pub fn finish(self) -> Result<(u64, Option<WriteSummary>)> {
        let Self { writer, closed, name } = self;
        let finished = writer.finish().and_then(|(bytes, summary)| Ok((bytes.finish()?, summary)));
        finished.map_err(|message| closed.failed(message, &name))
    }
}

impl Writer {
    fn create(
        bytes: Bytes,
        format: Format,
        compression: Compression,
        schema: &SchemaRef,
        options: &WriteOptions,
    ) -> Result<Self, String> {
        Ok(match format {
            Format::Lance => {
                let writer = FileWriter::new(bytes, schema.clone(), options.clone());
                Self::Lance(Box::new(writer.map_err(line)?))
            }
            Format::ArrowFile => {
                let options =
                    IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
                let writer =
                    arrow_ipc::writer::FileWriter::try_new_with_options(bytes, schema, options);
                Self::ArrowFile(writer.map_err(line)?, Dictionaries::default())
            }
            Format::ArrowStream => Self::ArrowStream(
                arrow_ipc::writer::StreamWriter::try_new(bytes, schema).map_err(line)?,
            ),
            Format::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(ParquetCompression::SNAPPY).build();
                let writer =
                    ArrowWriter::try_new(bytes, parquet_types::schema(schema), Some(properties));
                let limit = usize::try_from(options.memory_limit()).unwrap_or(usize::MAX);
                Self::Parquet(Box::new(writer.map_err(line)?), limit)
            }
            Format::Csv | Format::Tsv | Format::Json | Format::JsonLines => {
                Self::Text(Box::new(TextFile::new(bytes, format, compression, schema)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        match self {
            Self::Lance(writer) => writer.write(batch).map_err(line),
            Self::ArrowFile(writer, dictionaries) => {
                dictionaries.unify(batch).and_then(|batch| writer.write(&batch)).map_err(line)
            }
            Self::ArrowStream(writer) => writer.write(batch).map_err(line),
            Self::Parquet(writer, memory_limit) => {
                writer.write(&parquet_types::batch(batch)?).map_err(line)?;
                if writer.in_progress_size() >= ROW_GROUP_BYTES
                    || writer.memory_size() >= *memory_limit
                {
                    writer.flush().map_err(line)?;
                }
                Ok(())
            }
            Self::Text(file) => file.write(batch),
        }
    }

    /// Ends the format. The bytes still have to reach their place.
    fn finish(self) -> Result<(Bytes, Option<WriteSummary>), String> {
        let bytes = match self {
            Self::Lance(writer) => {
                let (summary, bytes) = writer.finish_into().map_err(line)?;
                return Ok((bytes, Some(summary)));
            }
            Self::ArrowFile(writer, _) => writer.into_inner().map_err(line),
            Self::ArrowStream(writer) => writer.into_inner().map_err(line),
            Self::Parquet(writer, _) => writer.into_inner().map_err(line),
            Self::Text(file) => file.finish(),
        };
        Ok((bytes?, None))
    }
}

/// An error as one line.
fn line(error: impl std::fmt::Display) -> String {
    error.to_string().split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Access;
    use arrow_schema::{DataType, Field, Schema};

    #[test]
    fn an_unfinished_file_leaves_nothing() {
        let dir = std::env::temp_dir().join(format!("lancet-output-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let schema = SchemaRef::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        let path = dir.join("a.csv");
        std::fs::write(&path, "old").unwrap();

        let target = Target::new(&path, None, &Access::default()).unwrap();
        let output = OutputFile::create(&target, &schema, &WriteOptions::default()).unwrap();
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
        drop(output);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

        let output = OutputFile::create(&target, &schema, &WriteOptions::default()).unwrap();
        assert_eq!(output.finish().unwrap().0, 2);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\n");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
