//! Plain tables of a given width: what finds no room beside the others goes below its row.

use unicode_width::UnicodeWidthStr;

use super::Grid;
use crate::lines::{cut, wrapped};

/// A column of text that has at least this width stays in its place, on several lines.
const LEAST_TEXT: usize = 24;
/// A narrower text is cut.
const LEAST_WRAPPED: usize = 20;
/// Between columns.
const GAP: usize = 3;

impl Grid {
    /// As [`Grid::plain`], with no line wider than `width`, and nothing lost.
    pub fn plain_within(&self, width: Option<usize>) -> String {
        match width {
            Some(width) if self.all_widths().iter().map(|w| w + GAP).sum::<usize>() > width + 1 => {
                Fitted::new(self, width).lines().join("\n")
            }
            _ => self.plain(),
        }
    }

    fn all_widths(&self) -> Vec<usize> {
        (0..self.header.len()).map(|column| self.content_width(column)).collect()
    }

    fn content_width(&self, column: usize) -> usize {
        let cells =
            self.rows.iter().filter_map(|row| row.get(column)).chain(self.header.get(column));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    }
}

/// Which column goes where.
struct Fitted<'a> {
    grid: &'a Grid,
    width: usize,
    /// The columns that stay, with their widths.
    beside: Vec<(usize, usize)>,
    /// The columns that go below their row.
    below: Vec<usize>,
}

impl<'a> Fitted<'a> {
    fn new(grid: &'a Grid, width: usize) -> Self {
        let beside = grid.all_widths().into_iter().enumerate().collect();
        let mut fitted = Self { grid, width, beside, below: Vec::new() };
        while fitted.used() > width && fitted.give_way() {}
        fitted.below.sort_unstable();
        fitted
    }

    /// The width of a line: a space on both sides of a column and one between two.
    fn used(&self) -> usize {
        let all: usize = self.beside.iter().map(|(_, width)| width + GAP).sum();
        all.saturating_sub(1)
    }

    /// Makes a column narrower, or puts it below: texts first, the widest of them, then numbers from
    /// the right. The first column names the row; it stays, and gets narrower before numbers go.
    fn give_way(&mut self) -> bool {
        let too_much = self.used().saturating_sub(self.width);
        let is_text = |column: usize| self.grid.right_aligned.get(column) == Some(&false);
        let places = self.beside.iter().enumerate().skip(1);
        let texts = places.filter(|(_, (column, _))| is_text(*column));
        let widest = texts.max_by_key(|(_, (_, width))| *width).map(|(place, _)| place);
        let first = self.beside.first().map_or(0, |(_, width)| *width);
        let place = match widest {
            Some(place) => place,
            None if first > LEAST_TEXT || self.beside.len() < 2 => 0,
            None => self.beside.len() - 1,
        };
        let Some((column, width)) = self.beside.get_mut(place) else { return false };
        let narrower = width.saturating_sub(too_much);
        match (place, widest) {
            (0, _) if self.below.len() + 1 == self.grid.header.len() => *width = narrower,
            (0, _) => *width = narrower.max(LEAST_TEXT),
            (_, Some(_)) if narrower >= LEAST_TEXT => *width = narrower,
            _ => {
                self.below.push(*column);
                self.beside.remove(place);
            }
        }
        true
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = self.row(&self.grid.header);
        lines.push("═".repeat(self.used().min(self.width)));
        for row in &self.grid.rows {
            lines.extend(self.row(row));
            lines.extend(self.note(row));
        }
        lines
    }

    /// The lines of a row: as many as its longest cell needs.
    fn row(&self, row: &[String]) -> Vec<String> {
        let cell = |(column, width): &(usize, usize)| {
            let text = row.get(*column).map_or("", String::as_str);
            if *width < LEAST_WRAPPED { vec![cut(text, *width)] } else { wrapped(text, *width) }
        };
        let cells: Vec<Vec<String>> = self.beside.iter().map(cell).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height).map(|line| self.line(&cells, line)).collect()
    }

    fn line(&self, cells: &[Vec<String>], line: usize) -> String {
        let mut text = String::new();
        for (cell, (column, width)) in cells.iter().zip(&self.beside) {
            let part = cell.get(line).map_or("", String::as_str);
            let space = " ".repeat(width.saturating_sub(part.width()));
            let is_right = self.grid.right_aligned.get(*column) == Some(&true);
            let (before, after) =
                if is_right { (space.as_str(), "") } else { ("", space.as_str()) };
            text.push_str(&format!(" {before}{part}{after}  "));
        }
        text.trim_end().to_owned()
    }

    /// What goes below a row, with the names of the columns.
    fn note(&self, row: &[String]) -> Vec<String> {
        let named = |column: &usize| {
            let text = row.get(*column).map(|text| text.trim()).filter(|text| !text.is_empty())?;
            Some(format!("{} {text}", self.grid.header.get(*column)?))
        };
        let notes: Vec<String> = self.below.iter().filter_map(named).collect();
        if notes.is_empty() {
            return Vec::new();
        }
        wrapped(&format!("    {}", notes.join("; ")), self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(&["column", "type", ">rows", ">bytes", "encodings"]);
        grid.push(
            ["id", "Int64", "300,000", "36.3 kB", "lz4 over byte stream split 64-bit"]
                .map(Into::into),
        );
        grid.push(["a name", "Utf8", "300,000", "1.1 MB", ""].map(Into::into));
        grid
    }

    fn lines_of(grid: &Grid, width: usize) -> Vec<String> {
        grid.plain_within(Some(width)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_fits_is_as_before() {
        assert_eq!(grid().plain_within(None), grid().plain());
        assert_eq!(grid().plain_within(Some(72)), grid().plain());
        assert_ne!(grid().plain_within(Some(71)), grid().plain());
    }

    #[test]
    fn long_texts_take_several_lines() {
        let expected = [
            " column   type       rows     bytes   encodings",
            "════════════════════════════════════════════════════════════════════",
            " id       Int64   300,000   36.3 kB   lz4 over byte stream split",
            "                                          64-bit",
            " a name   Utf8    300,000    1.1 MB",
        ];
        assert_eq!(lines_of(&grid(), 68), expected);
    }

    #[test]
    fn what_finds_no_room_goes_below() {
        let expected = [
            " column   type       rows     bytes",
            "════════════════════════════════════",
            " id       Int64   300,000   36.3 kB",
            "    encodings lz4 over byte stream",
            "        split 64-bit",
            " a name   Utf8    300,000    1.1 MB",
        ];
        assert_eq!(lines_of(&grid(), 38), expected);
    }

    #[test]
    fn long_names_take_several_lines() {
        let mut grid = Grid::new(&["column", ">rows"]);
        grid.push(["a_name_that_goes_on_and_on_and_on", "7"].map(Into::into));
        let expected = [
            " column                     rows",
            "═════════════════════════════════",
            " a_name_that_goes_on_and_      7",
            "     on_and_on",
        ];
        assert_eq!(lines_of(&grid, 33), expected);
    }

    #[test]
    fn every_width_is_kept_and_nothing_is_lost() {
        for width in 20..80 {
            let text = grid().plain_within(Some(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            for word in ["Int64", "300,000", "36.3", "stream", "64-bit", "Utf8", "name"] {
                assert!(
                    words.iter().any(|found| found.trim_end_matches(';') == word),
                    "{width}: {word}\n{text}"
                );
            }
        }
    }
}
