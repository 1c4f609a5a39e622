//! A table that is worth several threads.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{FileWriter, WriteOptions};

/// Rows of the table.
pub const NUM_ROWS: u64 = 40_000;

/// Numbers and strings that hardly compress.
pub fn table() -> RecordBatch {
    let mixed = |row: u64, column: u64| {
        let seed = (row * 8 + column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (seed ^ (seed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let column = |column: u64| {
        let numbers = (0..NUM_ROWS).map(|row| mixed(row, column) as i64);
        let texts = (0..NUM_ROWS).map(|row| format!("text {:x}", mixed(row, column + 4)));
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        [(format!("n{column}"), numbers), (format!("t{column}"), texts)]
    };
    RecordBatch::try_from_iter((0..4).flat_map(column)).unwrap()
}

/// The table as a file.
pub fn written(table: &RecordBatch, options: WriteOptions) -> Vec<u8> {
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    for start in (0..table.num_rows()).step_by(10_000) {
        writer.write(&table.slice(start, 10_000.min(table.num_rows() - start))).unwrap();
    }
    writer.finish_into().unwrap().1
}

/// Rows from all over the table.
pub fn some_rows(count: u64) -> Vec<u64> {
    (0..count).map(|i| (i * 7_919) % NUM_ROWS).collect()
}
