//! The rows that are ours of a file, and how they are cut.

use std::collections::VecDeque;
use std::ops::Range;

use datafusion::datasource::listing::FileRange;
use lancet::RowRanges;

/// The rows that belong to a range of a file's bytes.
///
/// DataFusion shares a file out by its bytes. Rows are shared out in proportion, so that ranges that
/// cover the file cover its rows, each once.
pub(crate) fn of_bytes(range: Option<&FileRange>, size: u64, num_rows: u64) -> Range<u64> {
    let Some(range) = range else { return 0..num_rows };
    let row = |byte: i64| {
        let byte = u64::try_from(byte).unwrap_or(0).min(size);
        let row = u128::from(byte) * u128::from(num_rows) / u128::from(size.max(1));
        u64::try_from(row).unwrap_or(num_rows)
    };
    row(range.start)..row(range.end)
}

/// Cuts rows into windows that are read one after the other: the first is short, so that a query
/// with a limit need not wait for more than it wants, and the others grow.
pub(crate) fn windows(
    rows: &RowRanges,
    first: u64,
    most: u64,
) -> impl Iterator<Item = RowRanges> + use<> {
    let mut rows: VecDeque<Range<u64>> = rows.iter().cloned().collect();
    let (mut size, most) = (first.max(1), most.max(1));
    std::iter::from_fn(move || {
        let mut room = size;
        let mut window = Vec::new();
        while let Some(range) = rows.front_mut().filter(|_| room > 0) {
            let taken = room.min(range.end - range.start);
            window.push(range.start..range.start + taken);
            range.start += taken;
            room -= taken;
            if range.is_empty() {
                rows.pop_front();
            }
        }
        size = size.saturating_mul(2).min(most);
        (!window.is_empty()).then(|| window.into_iter().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_bytes_cover_each_row_once() {
        for (size, num_rows) in [(1000, 7), (7, 1000), (1000, 0), (12_345, 6_789)] {
            for parts in 1..9_i64 {
                let mut next = 0;
                for part in 0..parts {
                    let cut = |part| part * size as i64 / parts;
                    let range = FileRange { start: cut(part), end: cut(part + 1) };
                    let rows = of_bytes(Some(&range), size, num_rows);
                    assert_eq!(rows.start, next);
                    next = rows.end;
                }
                assert_eq!(next, num_rows);
            }
        }
        assert_eq!(of_bytes(None, 10, 5), 0..5);
    }

    #[test]
    fn windows_grow() {
        let rows = RowRanges::from_iter([2..5, 7..8, 10..20]);
        let windows: Vec<_> = windows(&rows, 2, 8).collect();
        let ranges: Vec<_> = windows.iter().map(RowRanges::ranges).collect();
        assert_eq!(ranges, [&[2..4][..], &[4..5, 7..8, 10..12], &[12..20]]);
    }
}
