//! A file of any known format, written batch by batch.
//!
//! The bytes go to a temporary name in the same directory; [`OutputFile::finish`] renames it. A
//! command that fails leaves neither a half file nor a damaged old one.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, IpcWriteOptions};
use arrow_schema::SchemaRef;
use lancet::{FileReader, FileWriter, WriteOptions, WriteSummary};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as ParquetCompression;
use parquet::file::properties::WriterProperties;

use crate::dictionaries::Dictionaries;
use crate::error::{Error, InFile, Result};
use crate::format::{Compression, Format};
use crate::parquet_types;
use crate::text::TextFile;

/// A Parquet row group ends at this size on disk …
const ROW_GROUP_BYTES: usize = 128 << 20;
/// … or when its writers hold this much memory (dictionaries may outweigh what they save).
const ROW_GROUP_MEMORY: usize = 256 << 20;

/// A file on its way to its final name.
pub struct OutputFile {
    writer: Writer, // before `temporary`: it must be closed when the file is removed
    temporary: Temporary,
    path: PathBuf,
}

enum Writer {
    Lance(Box<FileWriter>),
    ArrowFile(arrow_ipc::writer::FileWriter<BufWriter<File>>, Dictionaries),
    ArrowStream(arrow_ipc::writer::StreamWriter<BufWriter<File>>),
    Parquet(Box<ArrowWriter<File>>),
    Text(Box<TextFile<BufWriter<File>>>),
}

impl OutputFile {
    /// Starts a file whose format is chosen by the ending; `options` matter for Lance only.
    pub fn create(path: &Path, schema: &SchemaRef, options: &WriteOptions) -> Result<Self> {
        let format = Format::from_path(path)?;
        if path.is_dir() {
            return Err(Error::new(format!("{}: is a directory", path.display())));
        }
        let temporary = Temporary::beside(path);
        let compression = Compression::from_path(path);
        let writer = Writer::create(&temporary.path, format, compression, schema, options)
            .map_err(|e| Error::new(e).about(path))?;
        Ok(Self { writer, temporary, path: path.into() })
    }

    /// Copies the global buffers of a Lance file, if this is one too.
    pub fn copy_buffers(&mut self, from: &Path) -> Result<()> {
        if let Writer::Lance(writer) = &mut self.writer {
            let reader = FileReader::open(from).in_file(from)?;
            for buffer in reader.user_buffers().in_file(from)? {
                writer.add_global_buffer(&buffer).in_file(&self.path)?;
            }
        }
        Ok(())
    }

    /// Appends rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| Error::new(e).about(&self.path))
    }

    /// Completes the file and gives it its name. Returns its size, and of Lance files the summary.
    pub fn finish(self) -> Result<(u64, Option<WriteSummary>)> {
        let Self { writer, mut temporary, path } = self;
        let summary = writer.finish().map_err(|e| Error::new(e).about(&path))?;
        Ok((temporary.rename(&path).in_file(&path)?, summary))
    }
}

/// Fails if writing `output` would destroy `input`.
pub fn check_not_same(input: &Path, output: &Path) -> Result<()> {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => Err(Error::new(format!(
            "{}: input and output are the same file; choose another output",
            output.display()
        ))),
        _ => Ok(()),
    }
}

impl Writer {
    fn create(
        path: &Path,
        format: Format,
        compression: Compression,
        schema: &SchemaRef,
        options: &WriteOptions,
    ) -> Result<Self, String> {
        let file = || File::create(path).map_err(line);
        Ok(match format {
            Format::Lance => {
                let writer =
                    FileWriter::create(path, schema.clone(), options.clone()).map_err(line)?;
                Self::Lance(Box::new(writer))
            }
            Format::ArrowFile => {
                let options =
                    IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
                let file = BufWriter::new(file()?);
                let writer =
                    arrow_ipc::writer::FileWriter::try_new_with_options(file, schema, options);
                Self::ArrowFile(writer.map_err(line)?, Dictionaries::default())
            }
            Format::ArrowStream => Self::ArrowStream(
                arrow_ipc::writer::StreamWriter::try_new_buffered(file()?, schema).map_err(line)?,
            ),
            Format::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(ParquetCompression::SNAPPY).build();
                let writer =
                    ArrowWriter::try_new(file()?, parquet_types::schema(schema), Some(properties));
                Self::Parquet(Box::new(writer.map_err(line)?))
            }
            Format::Csv | Format::Tsv | Format::Json | Format::JsonLines => Self::Text(Box::new(
                TextFile::new(BufWriter::new(file()?), format, compression, schema)?,
            )),
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        match self {
            Self::Lance(writer) => writer.write(batch).map_err(line),
            Self::ArrowFile(writer, dictionaries) => {
                dictionaries.unify(batch).and_then(|batch| writer.write(&batch)).map_err(line)
            }
            Self::ArrowStream(writer) => writer.write(batch).map_err(line),
            Self::Parquet(writer) => {
                writer.write(&parquet_types::batch(batch)?).map_err(line)?;
                if writer.in_progress_size() >= ROW_GROUP_BYTES
                    || writer.memory_size() >= ROW_GROUP_MEMORY
                {
                    writer.flush().map_err(line)?;
                }
                Ok(())
            }
            Self::Text(file) => file.write(batch),
        }
    }

    fn finish(self) -> Result<Option<WriteSummary>, String> {
        match self {
            Self::Lance(writer) => return writer.finish().map(Some).map_err(line),
            Self::ArrowFile(mut writer, _) => {
                writer.finish().map_err(line)?;
                writer.flush().map_err(line)
            }
            Self::ArrowStream(mut writer) => {
                writer.finish().map_err(line)?;
                writer.flush().map_err(line)
            }
            Self::Parquet(writer) => writer.close().map(drop).map_err(line),
            Self::Text(file) => file.finish(),
        }?;
        Ok(None)
    }
}

/// An error as one line.
fn line(error: impl std::fmt::Display) -> String {
    error.to_string().split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A file that is removed unless it is renamed.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    fn beside(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        Self { path, renamed: false }
    }

    fn rename(&mut self, path: &Path) -> std::io::Result<u64> {
        std::fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(path.metadata()?.len())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = std::fs::remove_file(&self.path); // it may never have been made
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field, Schema};

    #[test]
    fn an_unfinished_file_leaves_nothing() {
        let dir = std::env::temp_dir().join(format!("lancet-output-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let schema = SchemaRef::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        let path = dir.join("a.csv");
        std::fs::write(&path, "old").unwrap();

        let output = OutputFile::create(&path, &schema, &WriteOptions::default()).unwrap();
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
        drop(output);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

        let output = OutputFile::create(&path, &schema, &WriteOptions::default()).unwrap();
        assert_eq!(output.finish().unwrap().0, 2);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\n");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_file_is_not_written_onto_itself() {
        let here = Path::new("Cargo.toml");
        assert!(check_not_same(here, Path::new("./src/../Cargo.toml")).is_err());
        assert!(check_not_same(here, Path::new("nowhere.csv")).is_ok());
    }
}
