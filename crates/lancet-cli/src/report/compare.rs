//! Two files side by side, column by column.

use std::collections::HashMap;

use lancet::{ColumnReport, FileReport};

use super::MOST_COLUMNS;
use super::facts::{ComparedColumn, ComparedSide, Comparison, LeftOut, Side, cut, largest};
use super::file::{MOST_FORM, MOST_NAME, MOST_TYPE, forms, writer};
use crate::error::{InFile, Result};
use crate::places::InputFile;

/// Compares two files.
pub fn gather(files: [&InputFile; 2]) -> Result<Comparison> {
    let inspect = |file: &InputFile| {
        let reader = file.reader_with(super::read_options())?;
        reader.inspect().in_file(file.name())
    };
    let reports = [inspect(files[0])?, inspect(files[1])?];
    let [a, b] = &reports;
    let (columns, left_out) = listed(columns(a, b));
    Ok(Comparison {
        names: files.map(|file| file.name().display().to_string()),
        sides: [side(a), side(b)],
        columns,
        left_out,
    })
}

/// The largest columns; how many others there are, with their bytes in both files.
fn listed(columns: Vec<ComparedColumn>) -> (Vec<ComparedColumn>, (usize, [u64; 2])) {
    let bytes = |column: &ComparedColumn| {
        column.sides.each_ref().map(|side| side.as_ref().map_or(0, |side| side.bytes))
    };
    let sizes: Vec<[u64; 2]> = columns.iter().map(bytes).collect();
    let most: Vec<u64> = sizes.iter().map(|[a, b]| *a.max(b)).collect();
    let places = largest(&most, MOST_COLUMNS);
    let of = |number: usize| {
        let side: Vec<u64> = sizes.iter().filter_map(|both| both.get(number).copied()).collect();
        LeftOut::beside(&places, &side)
    };
    let [a, b] = [of(0), of(1)];
    let columns = columns.into_iter().enumerate();
    let columns = columns.filter(|(place, _)| places.binary_search(place).is_ok());
    (columns.map(|(_, column)| column).collect(), (a.columns, [a.bytes, b.bytes]))
}

fn side(report: &FileReport) -> Side {
    Side {
        version: report.version.to_string(),
        writer: writer(report.parts.iter().any(|part| part.holds == "checksums")),
        rows: report.num_rows,
        bytes: report.file_bytes,
        data_bytes: report.data_bytes,
        metadata_bytes: report.metadata_bytes,
    }
}

/// The columns of the first file, then those that only the second has. In format 2.0 structs and lists have columns of their
/// own, so that some names come twice: those are summed.
fn columns(a: &FileReport, b: &FileReport) -> Vec<ComparedColumn> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut columns: Vec<ComparedColumn> = Vec::new();
    for (number, report) in [a, b].into_iter().enumerate() {
        for column in &report.columns {
            let place = *places.entry(column.name.as_str()).or_insert_with(|| {
                let name = cut(&column.name, MOST_NAME);
                columns.push(ComparedColumn { name, sides: [None, None] });
                columns.len() - 1
            });
            let side = columns.get_mut(place).and_then(|column| column.sides.get_mut(number));
            if let Some(side) = side {
                *side = Some(joined(side.take(), column));
            }
        }
    }
    columns
}

fn joined(known: Option<ComparedSide>, column: &ColumnReport) -> ComparedSide {
    let words: Vec<String> = forms(&column.pages).into_iter().map(|(form, _)| form).collect();
    let words = cut(&words.join("; "), MOST_FORM);
    match known {
        None => ComparedSide {
            data_type: cut(&column.data_type.to_string(), MOST_TYPE),
            bytes: column.bytes,
            pages: column.pages.len() as u64,
            forms: words,
        },
        Some(known) => ComparedSide {
            bytes: known.bytes.saturating_add(column.bytes),
            pages: known.pages.saturating_add(column.pages.len() as u64),
            forms: cut(&format!("{}; {words}", known.forms), MOST_FORM),
            ..known
        },
    }
}
