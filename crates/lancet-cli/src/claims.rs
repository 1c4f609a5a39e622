//! Files that claim more rows than anybody can wait for.

use crate::error::{Error, Result};
use crate::units;

/// Rows that any file may have: nulls and constants take no bytes, and this many are done in minutes.
const MOST_ROWS: u64 = 10_000_000_000;
/// More rows than these for each byte are not likely to be meant.
const ROWS_PER_BYTE: u64 = 1_000_000;

/// Fails if `rows` in a file of so many bytes can hardly be true; `advice` says what to do then.
pub fn check(rows: Option<u64>, bytes: u64, advice: &str) -> Result<()> {
    let Some(rows) = rows.filter(|rows| *rows > MOST_ROWS) else { return Ok(()) };
    if rows / ROWS_PER_BYTE <= bytes {
        return Ok(());
    }
    Err(Error::new(format!(
        "claims {} in {}, which would take for ever to write; {advice}",
        units::rows(rows),
        units::bytes(bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_hardly_be_true_is_refused() {
        let check = |rows, bytes| check(Some(rows), bytes, "").is_ok();
        assert!(
            check(MOST_ROWS, 0) && check(1 << 40, 1 << 30) && super::check(None, 0, "").is_ok()
        );
        assert!(!check(MOST_ROWS + 1, 222) && !check(u64::MAX, 1 << 40));
    }
}
