//! The findings as a table and as JSON.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Analysis, Analyzed, Candidate};
use crate::error::Result;
use crate::lines::Report;
use crate::table::Grid;
use crate::units;

/// Prints each column with all its candidates, then the whole.
pub fn write(analysis: &Analysis, file: &Path, out: &mut Report<'_>) -> Result<()> {
    out.line(format!(
        "{}: {}, {} looked at, {}",
        file.display(),
        units::rows(analysis.file_rows),
        units::count(analysis.sample_rows),
        units::bytes(analysis.file_bytes)
    ))?;
    for column in &analysis.columns {
        out.line("")?;
        out.line(heading(column))?;
        out.grid(&candidates(column))?;
        let advice = match column.candidates.get(column.best).and_then(|best| best.options) {
            None | Some([]) => "leave it to the writer".to_owned(),
            Some(options) => {
                let option = |(key, value): &(&str, &str)| format!("lance-encoding:{key}={value}");
                options.iter().map(option).collect::<Vec<_>>().join(", ")
            }
        };
        out.line(format!("  take: {advice}; {} in the file", units::bytes(column.predicted)))?;
    }
    let sets = settings(analysis);
    out.line("")?;
    out.line(format!(
        "As a Lance file: {}, {} of what it is now",
        units::bytes(analysis.predicted()),
        units::share(analysis.predicted(), analysis.file_bytes)
    ))?;
    if sets.is_empty() {
        return Ok(());
    }
    let words = ["lancet", "convert", &file.display().to_string(), "OUT.lance"].map(String::from);
    out.command(&words.into_iter().chain(sets).collect::<Vec<_>>())
}

fn heading(column: &Analyzed) -> String {
    let found = &column.statistics;
    let mut words = vec![
        format!("{}: {}", column.name.escape_debug(), column.data_type),
        format!("{} null", units::share(found.nulls, found.rows)),
    ];
    words.extend(found.distinct.map(|n| format!("about {} distinct", units::count(n))));
    words.extend(found.run_length.map(|n| format!("runs of {n:.1}")));
    words.extend(found.bit_width.map(|n| format!("{n} bits wide")));
    words.join(", ")
}

/// The forms, the smallest first; the one to take has a mark.
fn candidates(column: &Analyzed) -> Grid {
    let header = ["", "form", ">bytes", ">ratio", ">encode", ">decode", ">one row"];
    let mut grid = Grid::new(&header);
    let mut order: Vec<(usize, &Candidate)> = column.candidates.iter().enumerate().collect();
    order.sort_by_key(|(_, candidate)| candidate.bytes);
    let raw = column.statistics.bytes;
    for (index, candidate) in order {
        grid.push([
            if index == column.best { "►" } else { "" }.to_owned(),
            candidate.form.clone(),
            units::bytes(candidate.bytes),
            format!("{:.3}", ratio(candidate.bytes, raw)),
            units::speed(raw, candidate.encode),
            units::speed(raw, candidate.decode),
            units::time(candidate.row),
        ]);
    }
    grid
}

fn ratio(bytes: u64, raw: u64) -> f64 {
    bytes as f64 / raw.max(1) as f64
}

/// The recommendations as options of `convert`.
fn settings(analysis: &Analysis) -> Vec<String> {
    let of_column = |column: &Analyzed| {
        let options = column.candidates.get(column.best).and_then(|best| best.options);
        let set = |(key, value): &(&str, &str)| format!("--set {}.{key}={value}", column.name);
        options.unwrap_or_default().iter().map(set).collect::<Vec<_>>()
    };
    analysis.columns.iter().flat_map(of_column).collect()
}

/// Everything, for programs.
pub fn json(analysis: &Analysis) -> Value {
    json!({
        "file_bytes": analysis.file_bytes,
        "rows": analysis.file_rows,
        "rows_looked_at": analysis.sample_rows,
        "predicted_bytes": analysis.predicted(),
        "convert_options": settings(analysis),
        "columns": analysis.columns.iter().map(column_json).collect::<Vec<_>>(),
    })
}

fn column_json(column: &Analyzed) -> Value {
    let found = &column.statistics;
    let best = column.candidates.get(column.best);
    let metadata: Map<String, Value> = best
        .and_then(|best| best.options)
        .unwrap_or_default()
        .iter()
        .map(|(key, value)| (format!("lance-encoding:{key}"), json!(value)))
        .collect();
    json!({
        "name": column.name,
        "type": column.data_type.to_string(),
        "nulls": found.nulls,
        "null_share": found.nulls as f64 / found.rows.max(1) as f64,
        "distinct": found.distinct,
        "run_length": found.run_length,
        "bit_width": found.bit_width,
        "arrow_bytes": found.bytes,
        "candidates": column.candidates.iter().map(|c| candidate_json(c, found.bytes)).collect::<Vec<_>>(),
        "recommendation": {
            "form": best.map(|best| best.form.as_str()),
            "metadata": metadata,
            "predicted_bytes": column.predicted,
        },
    })
}

fn candidate_json(candidate: &Candidate, raw: u64) -> Value {
    let speed = |time: Duration| (raw as f64 / time.as_secs_f64().max(1e-9)).round();
    json!({
        "form": candidate.form,
        "bytes": candidate.bytes,
        "ratio": ratio(candidate.bytes, raw),
        "encode_bytes_per_second": speed(candidate.encode),
        "decode_bytes_per_second": speed(candidate.decode),
        "row_nanoseconds": candidate.row.as_nanos() as u64,
    })
}
