//! Tables for people: aligned columns, long values cut, control characters made visible.

mod fit;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use comfy_table::{CellAlignment, ColumnConstraint, LineStyle, Row, Table, Width, presets};

use crate::show::Show;
use crate::terminal::is_command;
use crate::time_zones;

/// Longest text of a cell, in characters.
const MAX_CHARS: usize = 40;

/// A grid of text under a header.
#[derive(Debug)]
pub struct Grid {
    header: Vec<String>,
    right_aligned: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid without rows. Names that start with `>` head right-aligned columns.
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|name| name.trim_start_matches('>').to_owned()).collect(),
            right_aligned: header.iter().map(|name| name.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// The rows of a batch.
    pub fn of_batch(batch: &RecordBatch) -> Result<Self, String> {
        let schema = batch.schema();
        let mut grid = Self {
            header: schema.fields().iter().map(|f| shortened(f.name())).collect(),
            right_aligned: schema.fields().iter().map(|f| is_number(f.data_type())).collect(),
            rows: Vec::new(),
        };
        grid.append(batch)?;
        Ok(grid)
    }

    /// Adds the rows of a batch of the same columns.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let batch = &time_zones::readable(batch).map_err(|e| e.to_string())?;
        let columns = batch.columns().iter().map(|column| Show::new(column.as_ref(), "null"));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        for row in 0..batch.num_rows() {
            self.rows.push(columns.iter().map(|column| shortened(&column.told(row))).collect());
        }
        Ok(())
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Drops columns from the right until the table fits. Returns how many went.
    pub fn fit(&mut self, width: u16) -> usize {
        let widths = self.widths();
        let mut used = 1_usize; // every column has two spaces and a line
        let kept = widths
            .iter()
            .take_while(|w| {
                used = used.saturating_add(usize::from(**w)).saturating_add(3);
                used <= usize::from(width)
            })
            .count()
            .max(1);
        let dropped = self.header.len().saturating_sub(kept);
        self.keep(kept);
        dropped
    }

    /// Drops all columns behind the first ones.
    fn keep(&mut self, columns: usize) {
        self.header.truncate(columns);
        self.rows.iter_mut().for_each(|row| row.truncate(columns));
    }

    /// The longest text of each column.
    pub fn widths(&self) -> Vec<u16> {
        self.table(presets::UTF8_FULL_CONDENSED).column_max_content_widths()
    }

    /// As a box, for rows of data.
    pub fn boxed(&self) -> String {
        self.table(presets::UTF8_FULL_CONDENSED.with_rounded_corners()).to_string()
    }

    /// Only the rows, as lines of a box that was begun with columns of these widths. Cells that are
    /// wider are cut.
    pub fn more_rows(mut self, widths: &[u16]) -> String {
        self.keep(widths.len());
        let mut style = presets::UTF8_FULL_CONDENSED;
        (style.top_border, style.bottom_border) = (LineStyle::none(), LineStyle::none());
        let mut table = Table::new();
        table.load_style(style).force_no_tty().set_truncation_indicator("…");
        for row in &self.rows {
            let mut row = Row::from(row);
            row.max_height(1);
            table.add_row(row);
        }
        // The two spaces around a cell count as width.
        let fixed = |width: &u16| ColumnConstraint::Absolute(Width::Fixed(width.saturating_add(2)));
        table.set_constraints(widths.iter().map(fixed));
        align(&mut table, &self.right_aligned);
        table.to_string()
    }

    /// With a line under the header only, for reports.
    pub fn plain(&self) -> String {
        let mut table = self.table(presets::UTF8_HORIZONTAL_ONLY);
        table.style_mut().top_border = LineStyle::none();
        table.style_mut().bottom_border = LineStyle::none();
        table.style_mut().row_separator = LineStyle::none();
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    fn table(&self, style: comfy_table::TableStyle) -> Table {
        let mut table = Table::new();
        table.load_style(style).force_no_tty().set_header(&self.header).add_rows(&self.rows);
        align(&mut table, &self.right_aligned);
        table
    }
}

fn align(table: &mut Table, right_aligned: &[bool]) {
    for (column, right) in table.column_iter_mut().zip(right_aligned) {
        if *right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Width of the terminal that standard output is, if it is one.
pub fn terminal_width() -> Option<u16> {
    Table::new().width()
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Null)
}

/// The text without control characters, cut to [`MAX_CHARS`].
fn shortened(text: &str) -> String {
    let mut short = String::new();
    for (at, c) in text.chars().enumerate() {
        if at + 1 == MAX_CHARS && text.chars().nth(MAX_CHARS).is_some() {
            short.push('…');
            break;
        }
        if is_command(c) {
            short.extend(c.escape_default());
        } else {
            short.push(c);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, StringArray};

    use super::*;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["short", "a\nb\u{1b}[31m"]));
        RecordBatch::try_from_iter([("n", numbers), ("word", words)]).unwrap()
    }

    #[test]
    fn batches_become_boxes() {
        let expected = "\
╭──────┬────────────────╮
│    n ┆ word           │
╞══════╪════════════════╡
│    7 ┆ short          │
│ null ┆ a\\nb\\u{1b}[31m │
╰──────┴────────────────╯";
        assert_eq!(Grid::of_batch(&batch()).unwrap().boxed(), expected);
    }

    #[test]
    fn boxes_go_on_with_the_widths_they_have() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![12_345, 6]));
        let words: ArrayRef = Arc::new(StringArray::from(vec!["as long as it can be", "漢字"]));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("word", words)]).unwrap();
        let more = Grid::of_batch(&batch).unwrap().more_rows(&[4, 6]);
        assert_eq!(more, "│ 123… ┆ as…    │\n│    6 ┆ 漢字   │");
        let grid = Grid::of_batch(&batch).unwrap();
        assert_eq!(grid.more_rows(&[5]), "│ 12345 │\n│     6 │");
    }

    #[test]
    fn reports_have_one_line() {
        let mut grid = Grid::new(&["column", ">bytes"]);
        grid.push(["id".into(), "12".into()]);
        assert_eq!(grid.plain(), " column   bytes\n════════════════\n id          12");
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(41);
        assert_eq!(shortened(&long).chars().count(), 40);
        assert!(shortened(&long).ends_with("é…"));
        let fits = "é".repeat(40);
        assert_eq!(shortened(&fits), fits);
    }

    #[test]
    fn columns_that_do_not_fit_are_dropped() {
        let mut grid = Grid::of_batch(&batch()).unwrap();
        assert_eq!(grid.fit(200), 0);
        assert_eq!(grid.fit(20), 1);
        assert!(!grid.boxed().contains("word"));
        assert_eq!(grid.fit(1), 0); // the first column always stays
    }
}
