//! Row selections as the user writes them.
//!
//! | text | rows |
//! |---|---|
//! | `10..20` | 10 to 19 |
//! | `10..` | 10 to the end |
//! | `..20` | 0 to 19 |
//! | `5,9,100..110` | a list: 5, 9, 100 to 109, in this order |

use std::ops::Range;

use crate::error::{Error, Result};

/// Ids need not exist, so no table bounds how many are given.
const MOST_IDS: usize = 10_000_000;

/// Consecutive rows, perhaps up to the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowRange {
    /// First row.
    pub start: u64,
    /// Row after the last; none: the end of the file.
    pub end: Option<u64>,
}

impl RowRange {
    /// Reads `10..20`, `10..`, `..20` or `..`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no range of rows; write it as 10..20, 10.. or ..20");
        let (start, end) = text.split_once("..").ok_or_else(bad)?;
        let number = |part: &str| part.trim().parse::<u64>().map_err(|_| bad());
        let start = if start.trim().is_empty() { 0 } else { number(start)? };
        let end = if end.trim().is_empty() { None } else { Some(number(end)?) };
        match end {
            Some(end) if end < start => Err(format!("`{text}` ends before it starts")),
            _ => Ok(Self { start, end }),
        }
    }

    /// The same range, cut after `limit` rows.
    pub fn limited(self, limit: Option<u64>) -> Self {
        let cut = limit.map(|limit| self.start.saturating_add(limit));
        let end = match (self.end, cut) {
            (Some(end), Some(cut)) => Some(end.min(cut)),
            (end, cut) => end.or(cut),
        };
        Self { start: self.start, end }
    }

    /// The rows in a file of `num_rows`. A range may end behind the file, but not start there.
    pub fn within(self, num_rows: u64) -> Result<Range<u64>> {
        if self.start > num_rows {
            return Err(Error::new(format!(
                "the rows start at {}, but the file has {num_rows} rows",
                self.start
            )));
        }
        Ok(self.start..self.end.map_or(num_rows, |end| end.min(num_rows)))
    }
}

/// Single rows and ranges of rows, in the order asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowList(Vec<Range<u64>>);

impl RowList {
    /// Reads `5,9,100..110`. Each range must have both ends.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(Self::part).collect::<Result<_, _>>().map(Self)
    }

    fn part(text: &str) -> Result<Range<u64>, String> {
        let text = text.trim();
        let bad = || format!("`{text}` is no row; write rows as 5,9,2 or 5,9,100..110");
        if !text.contains("..") {
            let row = text.parse::<u64>().map_err(|_| bad())?;
            return Ok(row..row.checked_add(1).ok_or_else(bad)?);
        }
        let range = RowRange::parse(text)?;
        let end = range.end.ok_or_else(|| format!("`{text}` needs an end, as in 100..110"))?;
        Ok(range.start..end)
    }

    /// The row numbers, after checking that a file of `num_rows` has them all.
    pub fn within(&self, num_rows: u64) -> Result<impl Iterator<Item = u64> + '_> {
        Ok(self.ranges(num_rows)?.iter().cloned().flatten())
    }

    /// The same as ranges.
    pub fn ranges(&self, num_rows: u64) -> Result<&[Range<u64>]> {
        for part in &self.0 {
            if part.end > num_rows && !part.is_empty() {
                return Err(Error::new(format!(
                    "row {} does not exist; the file has {num_rows} rows",
                    part.start.max(num_rows)
                )));
            }
        }
        Ok(&self.0)
    }

    /// The ids of rows that a list for `--row-ids` names.
    pub fn ids(&self) -> Result<Vec<u64>> {
        let ids: Vec<u64> = self.0.iter().cloned().flatten().take(MOST_IDS + 1).collect();
        match ids.len() > MOST_IDS {
            true => Err(Error::Usage(format!("--row-ids takes at most {MOST_IDS} ids"))),
            false => Ok(ids),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: Option<u64>) -> RowRange {
        RowRange { start, end }
    }

    #[test]
    fn ranges_are_read() {
        assert_eq!(RowRange::parse("10..20").unwrap(), range(10, Some(20)));
        assert_eq!(RowRange::parse("10..").unwrap(), range(10, None));
        assert_eq!(RowRange::parse("..20").unwrap(), range(0, Some(20)));
        assert_eq!(RowRange::parse("..").unwrap(), range(0, None));
        assert_eq!(RowRange::parse("7..7").unwrap(), range(7, Some(7)));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in ["", "5", "a..b", "1...3", "-1..3", "1..99999999999999999999"] {
            let message = RowRange::parse(text).unwrap_err();
            assert!(message.contains("is no range of rows"), "{text}: {message}");
        }
        assert_eq!(RowRange::parse("9..3").unwrap_err(), "`9..3` ends before it starts");
    }

    #[test]
    fn a_limit_cuts_a_range() {
        assert_eq!(range(5, None).limited(Some(3)), range(5, Some(8)));
        assert_eq!(range(5, Some(6)).limited(Some(3)), range(5, Some(6)));
        assert_eq!(range(5, Some(60)).limited(None), range(5, Some(60)));
        assert_eq!(range(5, None).limited(Some(u64::MAX)), range(5, Some(u64::MAX)));
    }

    #[test]
    fn a_range_ends_with_the_file() {
        assert_eq!(range(2, None).within(10).unwrap(), 2..10);
        assert_eq!(range(2, Some(99)).within(10).unwrap(), 2..10);
        assert_eq!(range(10, None).within(10).unwrap(), 10..10);
        assert!(range(11, None).within(10).is_err());
    }

    #[test]
    fn lists_keep_their_order() {
        let list = RowList::parse("5, 9,2..4,5").unwrap();
        assert_eq!(list.within(10).unwrap().collect::<Vec<_>>(), [5, 9, 2, 3, 5]);
    }

    #[test]
    fn rows_beyond_the_file_are_refused_before_they_are_listed() {
        let message = |text: &str, num_rows| match RowList::parse(text).unwrap().within(num_rows) {
            Err(Error::Message(message)) => message,
            _ => panic!("{text} was accepted"),
        };
        assert_eq!(message("3,10", 10), "row 10 does not exist; the file has 10 rows");
        assert_eq!(message("8..12", 10), "row 10 does not exist; the file has 10 rows");
        assert_eq!(
            message("0..18446744073709551615", 4),
            "row 4 does not exist; the file has 4 rows"
        );
    }

    #[test]
    fn long_ranges_are_not_listed() {
        let list = RowList::parse("7,0..1000000000000000").unwrap();
        assert_eq!(list.ranges(u64::MAX).unwrap(), [7..8, 0..1_000_000_000_000_000]);
        assert!(matches!(list.ids(), Err(Error::Usage(message)) if message.contains("at most")));
        assert_eq!(RowList::parse("3,1..3,3").unwrap().ids().unwrap(), [3, 1, 2, 3]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "1,", "x", "1,2..", "18446744073709551615"] {
            assert!(RowList::parse(text).is_err(), "{text} was accepted");
        }
    }
}
