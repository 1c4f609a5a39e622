//! The row groups of a Parquet file, each in batches that its values allow.
//!
//! Batches are sized by the bytes that rows take in the file. A value of a dictionary takes its bytes once there, and
//! in memory for every row that has it: some kilobytes can become more than any machine has. So the longest value of
//! each dictionary is looked up first.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::batch_rows;
use super::parquet::Bounded;

/// Bytes of the longest values of a batch, if all its rows had them.
const MOST_BATCH_BYTES: u64 = 64 << 20;

/// The batches of a file.
pub struct RowGroups {
    file: Bounded,
    metadata: ArrowReaderMetadata,
    next: usize,
    current: Option<ParquetRecordBatchReader>,
}

impl RowGroups {
    pub fn new(file: Bounded, metadata: ArrowReaderMetadata) -> Self {
        Self { file, metadata, next: 0, current: None }
    }

    /// Opens the next row group, if there is one.
    fn open(&mut self) -> Result<Option<ParquetRecordBatchReader>> {
        let Some(group) = self.metadata.metadata().row_groups().get(self.next) else {
            return Ok(None);
        };
        let rows = group_batch_rows(&self.file, group, self.metadata.schema())?;
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let groups = vec![self.next];
        self.next += 1;
        builder.with_row_groups(groups).with_batch_size(rows).build().map(Some)
    }
}

impl Iterator for RowGroups {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.current.as_mut().and_then(Iterator::next) {
                return Some(batch.map_err(Into::into));
            }
            match self.open() {
                Ok(reader) => self.current = Some(reader?),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Rows of a batch of a row group.
fn group_batch_rows(file: &Bounded, group: &RowGroupMetaData, schema: &SchemaRef) -> Result<usize> {
    let number = |n: i64| u64::try_from(n).unwrap_or(0);
    let rows = number(group.num_rows()).max(1);
    let mut longest_row = 0_u64;
    for chunk in group.columns().iter().filter(|chunk| chunk.column_type() == Type::BYTE_ARRAY) {
        let values_per_row = number(chunk.num_values()).div_ceil(rows);
        let bytes = longest_value(file, chunk)?.saturating_mul(values_per_row);
        longest_row = longest_row.saturating_add(bytes);
    }
    let most = usize::try_from(MOST_BATCH_BYTES / longest_row.max(1)).unwrap_or(usize::MAX);
    let bytes_per_row = number(group.total_byte_size()) / rows;
    Ok(batch_rows(schema, bytes_per_row).min(most.max(1)))
}

/// Bytes of the longest value that may be there more often than its bytes are.
fn longest_value(file: &Bounded, chunk: &ColumnChunkMetaData) -> Result<u64> {
    // A value goes on from the one before, which may be as long as all of them are in the file.
    if chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY) {
        return Ok(u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
    }
    let mut pages = SerializedPageReader::new(Arc::new(file.clone()), chunk, 0, None)?;
    if !pages.peek_next_page()?.is_some_and(|page| page.is_dict) {
        return Ok(0);
    }
    match pages.get_next_page()? {
        Some(Page::DictionaryPage { buf, .. }) => Ok(longest_of(&buf)),
        _ => Ok(0),
    }
}

/// Of values that each come after their length.
fn longest_of(mut values: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((len, rest)) = values.split_first_chunk() {
        let len = u32::from_le_bytes(*len);
        longest = longest.max(len.into());
        values = rest.get(len as usize..).unwrap_or_default();
    }
    longest
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
    use parquet::file::properties::WriterProperties;

    use super::*;

    /// Rows that are one text, which is in the file once.
    fn rows_of_batches(bytes: usize, rows: usize) -> Vec<usize> {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(bytes)]));
        let texts = DictionaryArray::new(Int32Array::from(vec![0; rows]), text);
        let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
        let properties = WriterProperties::builder().set_dictionary_page_size_limit(64 << 20);
        let options = ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true);
        let mut writer =
            ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let path =
            std::env::temp_dir().join(format!("lancet-groups-{bytes}-{}", std::process::id()));
        std::fs::write(&path, writer.into_inner().unwrap()).unwrap();
        let file = Bounded::new(File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).unwrap();
        assert_eq!(metadata.schema().field(0).data_type(), &arrow_schema::DataType::Utf8);
        RowGroups::new(file, metadata).map(|batch| batch.unwrap().num_rows()).collect()
    }

    #[test]
    fn long_values_of_dictionaries_make_short_batches() {
        assert_eq!(rows_of_batches(4 << 20, 20), [16, 4]);
        assert_eq!(rows_of_batches(100, 10_000), [8_192, 1_808]);
    }

    #[test]
    fn the_longest_of_damaged_values() {
        assert_eq!(longest_of(&[2, 0, 0, 0, b'a', b'b', 1, 0, 0, 0, b'c']), 2);
        assert_eq!(longest_of(&[255; 9]), u64::from(u32::MAX));
        assert_eq!(longest_of(&[]), 0);
    }
}
