//! Record batches as text: CSV and JSON lines.
//!
//! Text is made batch by batch in memory and written by the caller, who can then tell a closed
//! pipe from data that text cannot hold.

use arrow_array::RecordBatch;
use arrow_schema::Schema;

/// The header line of a CSV file. Fails on the first column that CSV cannot hold.
pub fn csv_header(schema: &Schema) -> Result<Vec<u8>, String> {
    if let Some(nested) = schema.fields().iter().find(|f| f.data_type().is_nested()) {
        return Err(format!(
            "CSV cannot hold the nested column `{}` ({}); choose other columns, or JSON lines",
            nested.name(),
            nested.data_type()
        ));
    }
    let empty = RecordBatch::new_empty(schema.clone().into());
    write_csv(&empty, true)
}

/// The rows of a batch as CSV, without a header line.
pub fn csv(batch: &RecordBatch) -> Result<Vec<u8>, String> {
    write_csv(batch, false)
}

fn write_csv(batch: &RecordBatch, header: bool) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut writer = arrow_csv::WriterBuilder::new().with_header(header).build(&mut bytes);
    writer.write(batch).map_err(|e| e.to_string())?;
    drop(writer);
    Ok(bytes)
}

/// The rows of a batch as JSON objects, one per line. Nulls are written, so that every line has
/// every column.
pub fn json_lines(batch: &RecordBatch) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut writer = arrow_json::WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, arrow_json::writer::LineDelimited>(&mut bytes);
    writer.write(batch).and_then(|()| writer.finish()).map_err(|e| e.to_string())?;
    drop(writer);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryArray, Int32Array, StringArray, StructArray};

    use super::*;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["a,b", "c\"d"]));
        let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"\x00\xff", b""]));
        RecordBatch::try_from_iter([("n", numbers), ("w", words), ("b", bytes)]).unwrap()
    }

    #[test]
    fn csv_has_one_header() {
        let batch = batch();
        assert_eq!(csv_header(&batch.schema()).unwrap(), b"n,w,b\n");
        let text = String::from_utf8(csv(&batch).unwrap()).unwrap();
        assert_eq!(text, "1,\"a,b\",00ff\n,\"c\"\"d\",\n");
    }

    #[test]
    fn json_lines_name_every_column() {
        let text = String::from_utf8(json_lines(&batch()).unwrap()).unwrap();
        let expected = "{\"n\":1,\"w\":\"a,b\",\"b\":\"00ff\"}\n\
                        {\"n\":null,\"w\":\"c\\\"d\",\"b\":\"\"}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn csv_names_the_nested_column() {
        let batch = batch();
        let nested: ArrayRef = Arc::new(StructArray::from(batch));
        let batch = RecordBatch::try_from_iter([("deep", nested)]).unwrap();
        let message = csv_header(&batch.schema()).unwrap_err();
        assert!(message.starts_with("CSV cannot hold the nested column `deep`"), "{message}");
    }
}
