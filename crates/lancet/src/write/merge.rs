//! Many small pieces of a column made one: what stands around an array takes more than a few rows.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use arrow_select::concat::concat;

use crate::error::Result;

/// What a piece takes in memory beside its rows, about.
pub(super) const PIECE_BYTES: u64 = 512;
/// Fewer pieces are left as they are.
const MIN_PIECES: usize = 8;

/// Whether pieces that hold so many bytes of rows take more memory than these.
pub(super) fn is_worth(pieces: &[ArrayRef], bytes: u64) -> bool {
    let takes = (pieces.len() as u64).saturating_mul(PIECE_BYTES);
    pieces.len() >= MIN_PIECES
        && takes > bytes
        && pieces.first().is_some_and(|piece| is_plain(piece.data_type()))
}

/// The rows of all pieces in one.
pub(super) fn merged(pieces: &[ArrayRef]) -> Result<ArrayRef> {
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    Ok(concat(&pieces)?)
}

fn is_plain(data_type: &DataType) -> bool {
    use DataType as D;
    data_type.is_primitive()
        || matches!(data_type, D::Boolean | D::Utf8 | D::LargeUtf8 | D::Binary | D::LargeBinary)
}
