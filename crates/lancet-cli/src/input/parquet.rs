//! Parquet files.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::row_groups::RowGroups;
use super::{Batches, Input, footer, named, open_file, stream};
use crate::error::{Error, InFile, Result};

/// What a page may always claim to be …
const PLAUSIBLE_BYTES: u64 = 256 << 20;
/// … and how many times its size beyond that.
const PLAUSIBLE_RATIO: u64 = 1_000;

/// Opens a Parquet file.
pub fn open(path: &Path) -> Result<Input> {
    let file = Bounded::new(open_file(path)?).in_file(path)?;
    file.check_footer().in_file(path)?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).in_file(path)?;
    let schema = metadata.schema().clone();
    let rows = rows(metadata.metadata()).in_file(path)?;
    let batches = named(RowGroups::new(file, metadata), path);
    Ok(stream(schema, Some(rows), counted(batches, rows, path)))
}

/// Fails if a file would be too much for a reader of Parquet; any other file passes.
#[cfg(feature = "sql")]
pub fn check(file: File) -> Result<(), String> {
    Bounded::new(file).map_err(|error| error.to_string())?.check_footer()
}

/// Rows of the file. The footer says how many there are and each row group how many it has; a reader that believes
/// one of them loses rows where they disagree.
fn rows(metadata: &ParquetMetaData) -> Result<u64, String> {
    let groups = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()));
    let groups = groups.map(|rows| rows.map_err(|_| "a row group has a negative number of rows"));
    let groups = groups.collect::<Result<Vec<u64>, _>>()?;
    let sum = groups.iter().fold(0, |sum: u64, rows| sum.saturating_add(*rows));
    let said = metadata.file_metadata().num_rows();
    if u64::try_from(said) != Ok(sum) {
        return Err(format!(
            "the footer says {said} rows, but the row groups have {sum}; the file is damaged"
        ));
    }
    Ok(sum)
}

/// The same batches; fails at the end if they were not as many rows as the footer says.
fn counted(batches: Batches, rows: u64, path: &Path) -> Batches {
    let path = path.to_owned();
    let (mut batches, mut came, mut ended) = (batches, 0_u64, false);
    Box::new(std::iter::from_fn(move || match batches.next() {
        Some(Ok(batch)) => {
            came = came.saturating_add(batch.num_rows() as u64);
            Some(Ok(batch))
        }
        None if came != rows && !std::mem::replace(&mut ended, true) => {
            let message =
                format!("the footer says {rows} rows, but {came} came; the file is damaged");
            Some(Err(Error::new(message).about(&path)))
        }
        other => other,
    }))
}

/// Bytes of a page decompressed and compressed. A header begins with its type and these two, each as the byte 0x15 and
/// a zigzag number of 7 bits a byte.
fn page_sizes(header: &[u8]) -> Option<(u64, u64)> {
    let mut bytes = header.iter();
    let mut field = || {
        bytes.next().filter(|byte| **byte == 0x15)?;
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = *bytes.next()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value >> 1);
            }
            shift += 7;
        }
    };
    field()?; // the type
    Some((field()?, field()?))
}

/// A file that is asked for no more bytes than it has: the reader allocates whatever a footer claims.
#[derive(Clone)]
pub struct Bounded {
    file: Arc<File>,
    len: u64,
}

impl Bounded {
    pub fn new(file: File) -> std::io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), len })
    }

    /// Fails if the schema would be too much for its reader. What else is wrong the reader tells.
    fn check_footer(&self) -> Result<(), String> {
        let Some(tail) = self.len.checked_sub(8) else { return Ok(()) };
        let read = |start, len| self.get_bytes(start, len).map_err(|error| error.to_string());
        let [a, b, c, d, magic @ ..] = <[u8; 8]>::try_from(&*read(tail, 8)?).unwrap_or_default();
        let len = u32::from_le_bytes([a, b, c, d]);
        match tail.checked_sub(len.into()) {
            Some(start) if &magic == b"PAR1" => footer::check(&read(start, len as usize)?),
            _ => Ok(()),
        }
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    /// The reader asks for this where it expects a page header.
    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::new(file);
        let (decompressed, compressed) = page_sizes(reader.fill_buf()?).unwrap_or_default();
        if decompressed > PLAUSIBLE_BYTES.max(compressed.saturating_mul(PLAUSIBLE_RATIO)) {
            return Err(ParquetError::General(format!(
                "the page at byte {start} has {compressed} bytes and claims to be {decompressed} decompressed"
            )));
        }
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        let end = u64::try_from(length).ok().and_then(|length| start.checked_add(length));
        if end.is_none_or(|end| end > self.len) {
            return Err(ParquetError::General(format!(
                "{length} bytes from byte {start} on were to be read, but the file has {}",
                self.len
            )));
        }
        let mut buffer = vec![0; length];
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(name: &str, bytes: &[u8]) -> Bounded {
        let path = std::env::temp_dir().join(format!("lancet-{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let file = Bounded::new(File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn a_file_is_not_read_beyond_its_end() {
        let file = bounded("bounded", b"0123456789");
        assert_eq!(file.get_bytes(2, 3).unwrap().as_ref(), b"234");
        assert!(file.get_bytes(8, 3).is_err());
        assert!(file.get_bytes(0, 1 << 50).is_err());
        assert!(file.get_bytes(u64::MAX, 2).is_err());
    }

    #[test]
    fn pages_claim_no_more_than_they_can_hold() {
        // Type, 2^31 - 1 bytes decompressed, 5 compressed.
        let header = [0x15, 0, 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0x15, 10];
        assert_eq!(page_sizes(&header), Some((i32::MAX as u64, 5)));
        assert!(bounded("claim", &header).get_read(0).is_err());
        assert!(bounded("sound", &[0x15, 0, 0x15, 20, 0x15, 10]).get_read(0).is_ok());
        for odd in [&[][..], &[0x15], &[0x15, 0xFF], &[0xFF; 40], &[0x15; 40]] {
            let _ = page_sizes(odd); // whatever it is, no overflow
        }
    }
}
