//! Reads a file in all the ways there are.

use lancet::{FileReader, ReadOptions};

pub fn everything(bytes: &[u8]) {
    let options =
        ReadOptions::default().with_memory_limit(32 << 20).with_max_metadata_bytes(32 << 20);
    let checked = options.clone().with_verify_checksums(true);
    let Ok(reader) = FileReader::from_bytes(bytes.to_vec(), options) else { return };
    let last = reader.num_rows().saturating_sub(1);
    if let Ok(batches) = reader.scan().batch_rows(3000).threads(1).build() {
        batches.take(3).for_each(drop);
    }
    drop(reader.take(&[last, 0, last / 2]));
    drop(reader.inspect());
    drop(reader.verify());
    if let Ok(reader) = FileReader::from_bytes(bytes.to_vec(), checked) {
        drop(reader.take(&[last, 0, last / 2]));
    }
}
