//! Sets of rows: sorted ranges that neither touch nor overlap.

use std::ops::Range;

use arrow_array::BooleanArray;
use datafusion::datasource::listing::FileRange;

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

/// How many rows there are.
pub(crate) fn count(rows: &[Range<u64>]) -> u64 {
    rows.iter().map(|rows| rows.end - rows.start).sum()
}

/// The rows that are in both sets.
pub(crate) fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let rows = x.start.max(y.start)..x.end.min(y.end);
        if !rows.is_empty() {
            both.push(rows);
        }
        if x.end <= y.end {
            a.next()
        } else {
            b.next()
        };
    }
    both
}

/// The first rows.
pub(crate) fn first(rows: Vec<Range<u64>>, mut limit: u64) -> Vec<Range<u64>> {
    let mut kept = Vec::new();
    for range in rows {
        let taken = (range.end - range.start).min(limit);
        if taken > 0 {
            kept.push(range.start..range.start + taken);
        }
        limit -= taken;
    }
    kept
}

/// The rows for which the mask holds; it has one value for each row, in order.
pub(crate) fn select(rows: &[Range<u64>], mask: &BooleanArray) -> Vec<Range<u64>> {
    let mut selected: Vec<Range<u64>> = Vec::new();
    let mut ranges = rows.iter();
    let mut range = ranges.next().cloned().unwrap_or_default();
    let mut position = 0; // of the first row of `range` in the mask
    for (start, end) in mask.values().set_slices() {
        let (mut start, end) = (start as u64, end as u64);
        while start < end {
            let length = range.end - range.start;
            if start >= position + length {
                position += length;
                let Some(next) = ranges.next() else { return selected };
                range = next.clone();
                continue;
            }
            let stop = end.min(position + length);
            let (first, last) = (range.start + (start - position), range.start + (stop - position));
            match selected.last_mut() {
                Some(before) if before.end == first => before.end = last,
                _ => selected.push(first..last),
            }
            start = stop;
        }
    }
    selected
}

/// Cuts rows into windows that are read one after the other: the first is short, so that a query
/// with a limit need not wait for more than it wants, and the others grow.
pub(crate) fn windows(rows: Vec<Range<u64>>, first: u64, most: u64) -> Vec<Vec<Range<u64>>> {
    let (mut size, most) = (first.max(1), most.max(1));
    let mut windows = Vec::new();
    let mut window: Vec<Range<u64>> = Vec::new();
    let mut room = size;
    for mut range in rows {
        while !range.is_empty() {
            let taken = (range.end - range.start).min(room);
            window.push(range.start..range.start + taken);
            range.start += taken;
            room -= taken;
            if room == 0 {
                windows.push(std::mem::take(&mut window));
                size = size.saturating_mul(2).min(most);
                room = size;
            }
        }
    }
    if !window.is_empty() {
        windows.push(window);
    }
    windows
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
    fn sets_of_rows() {
        let rows = vec![2..5, 7..8, 10..20];
        assert_eq!(count(&rows), 14);
        assert_eq!(common(&rows, &[4..12]), [4..5, 7..8, 10..12]);
        assert_eq!(
            common(&rows, &[0..3, 4..5, 8..10, 12..13, 19..30]),
            [2..3, 4..5, 12..13, 19..20]
        );
        assert_eq!(first(rows.clone(), 4), [2..5, 7..8]);
        assert_eq!(first(rows.clone(), 5), [2..5, 7..8, 10..11]);
        let windows = windows(rows, 2, 8);
        assert_eq!(windows, [vec![2..4], vec![4..5, 7..8, 10..12], vec![12..20]]);
    }

    #[test]
    fn a_mask_selects_rows() {
        let rows = [2..5, 7..8, 10..14];
        let mask: BooleanArray =
            [0, 1, 1, 1, 1, 0, 0, 1].map(|bit| Some(bit == 1)).iter().collect();
        assert_eq!(select(&rows, &mask), [3..5, 7..8, 10..11, 13..14]);
        let all: BooleanArray = [true; 8].map(Some).iter().collect();
        assert_eq!(select(&rows, &all), rows);
    }
}
