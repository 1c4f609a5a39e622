//! The figures as a text and as a chart.

mod aims;
mod chart;
mod device;
mod marks;

use std::fmt::Write;

use crate::results::{Kind, Metric, Results};
use aims::{AIMS, Aim, MEMORY, Share, VECTORS_OF_MEMCPY};
pub use chart::chart;

/// The whole report, in Markdown.
pub fn text(results: &Results) -> String {
    match results.kind {
        Kind::Warm => warm(results),
        Kind::Cold => cold(results),
        Kind::Growth => growth(results),
    }
}

fn warm(results: &Results) -> String {
    let mut text = String::from("# lancet beside its peers\n\n");
    head(&mut text, results);
    limits(&mut text, results);
    tables(&mut text, results);
    aims(&mut text, results);
    for metric in Metric::ALL {
        figures(&mut text, results, metric);
    }
    for metric in [Metric::Scan, Metric::Open, Metric::Take1, Metric::Take100, Metric::Take10k] {
        reads(&mut text, results, metric);
    }
    text
}

/// Writing to a string cannot fail.
macro_rules! put {
    ($text:expr, $($rest:tt)*) => {{
        let _ = writeln!($text, $($rest)*);
    }};
}

/// The report of files that are not in memory, which is a part of the whole one.
fn cold(results: &Results) -> String {
    let mut text = String::from("# Cold: files that are not in memory\n\n");
    let Results { seconds, load, .. } = results;
    put!(
        text,
        "Made by `run --cold`: the file is taken out of the page cache before every call. The open reader has seen \
         the file before, and may have kept what it likes. {seconds:.0} s; load {:.2} before, {:.2} after.\n",
        load[0],
        load[1]
    );
    put!(text, "| the device | | |\n|---|---:|---|");
    for limit in &results.limits {
        put!(text, "| {} | {} | {} |", limit.name, digits(limit.value), limit.unit);
    }
    put!(text, "");
    device::beside(&mut text, results);
    for metric in Metric::COLD {
        figures(&mut text, results, metric);
    }
    for metric in [Metric::Open, Metric::Take1, Metric::Take100, Metric::Take10k] {
        reads(&mut text, results, metric);
    }
    text.replace("\n## ", "\n## Cold: ")
}

/// The report of files that grow, which is a part of the whole one.
fn growth(results: &Results) -> String {
    let mut text = String::from("# Growth: more rows, more columns\n\n");
    let Results { seconds, load, .. } = results;
    put!(
        text,
        "Made by `run --growth`: all columns of files with ever more rows, and one column of files with ever more \
         columns. {seconds:.0} s; load {:.2} before, {:.2} after.\n",
        load[0],
        load[1]
    );
    for metric in Metric::GROWTH {
        figures(&mut text, results, metric);
    }
    text.replace("\n## ", "\n## Growth: ")
}

fn head(text: &mut String, results: &Results) {
    let Results { processor, cores, load, seconds, quick, .. } = results;
    let rows = if *quick { "a tenth of the rows" } else { "all rows" };
    put!(
        text,
        "Made by `cargo run --release --manifest-path bench/Cargo.toml -- run` and `report`; see \
         [README.md](README.md) for what is measured and how.\n\n\
         {processor}, {cores} cores; {rows}; {seconds:.0} s; load {:.2} before, {:.2} after.\n\n\
         ![Times relative to lancet](results.svg)\n",
        load[0],
        load[1]
    );
}

fn limits(text: &mut String, results: &Results) {
    put!(text, "## Physical limits, one core\n\n| what | | |\n|---|---:|---|");
    for limit in &results.limits {
        put!(text, "| {} | {} | {} |", limit.name, digits(limit.value), limit.unit);
    }
    put!(text, "");
}

fn tables(text: &mut String, results: &Results) {
    put!(text, "## Tables\n\n| table | rows | columns | Arrow MB | one column | largest take |");
    put!(text, "|---|---:|---:|---:|---|---:|");
    for table in &results.tables {
        let megabytes = digits(table.arrow_bytes as f64 / 1e6);
        put!(
            text,
            "| {} | {} | {} | {megabytes} | {} | {} |",
            table.name,
            table.rows,
            table.columns,
            table.column,
            table.take_rows
        );
    }
    put!(text, "");
}

fn aims(text: &mut String, results: &Results) {
    put!(
        text,
        "## Aims\n\nlancet's share of the time of the best peer, and of the better of the two \
         formats of `lance-file`. Below 1 lancet is faster. Bold: the aim is missed.\n"
    );
    for aim in AIMS.iter().chain([&MEMORY]) {
        one_aim(text, results, aim);
    }
    vectors(text, results);
}

fn one_aim(text: &mut String, results: &Results, aim: &Aim) {
    let mut lines = String::new();
    let mut heads = [String::from(aim.peers_title), String::from("lance-file")];
    for table in results.tables.iter().filter(|table| aim.is_about(&table.name)) {
        let shares = aim.shares(results, &table.name);
        for (head, share) in heads.iter_mut().zip(&shares) {
            if let Some(Share { aim: Some(aim), .. }) = share
                && !head.contains('≤')
            {
                let _ = write!(head, " (aim ≤ {aim})");
            }
        }
        let [peer, lance] = shares.map(|share| share.map_or_else(|| "–".into(), |s| shown(&s)));
        put!(lines, "| {} | {peer} | {lance} |", table.name);
    }
    if results.cells.iter().any(|cell| cell.metric == aim.metric) && !lines.is_empty() {
        let [peer, lance] = heads;
        put!(text, "### {}\n\n| table | {peer} | {lance} |\n|---|---:|---:|\n{lines}", aim.title);
    }
}

fn shown(share: &Share) -> String {
    let figure = digits(share.share);
    let figure = if share.missed() { format!("**{figure}**") } else { figure };
    format!("{figure} {}", share.of)
}

fn vectors(text: &mut String, results: &Results) {
    let copy = results.limits.iter().find(|limit| limit.name.starts_with("memcpy"));
    let time = results.value("vectors", "lancet", Metric::Scan);
    let table = results.tables.iter().find(|table| table.name == "vectors");
    if let (Some(copy), Some(time), Some(table)) = (copy, time, table) {
        let speed = table.arrow_bytes as f64 / time / 1e9;
        put!(
            text,
            "The scan of vectors runs at {} GB/s, {} of the speed of memcpy into warm memory \
             (aim ≥ {VECTORS_OF_MEMCPY}).\n",
            digits(speed),
            digits(speed / copy.value)
        );
    }
}

/// The figures of a metric: tables down, contenders across.
fn figures(text: &mut String, results: &Results, metric: Metric) {
    let unit = if metric.is_bytes() { "MB" } else { "ms" };
    let scale = if metric.is_bytes() { 1e-6 } else { 1e3 };
    grid(text, results, metric, &format!("{}, {unit}", metric.title()), |results, table, name| {
        results.value(table, name, metric).map(|value| digits(value * scale))
    });
}

fn reads(text: &mut String, results: &Results, metric: Metric) {
    let title = format!("{}: read calls and MB read", metric.title());
    grid(text, results, metric, &title, |results, table, name| {
        let cell = results.cell(table, name, metric)?;
        Some(format!("{} / {}", cell.reads, digits(cell.read_bytes as f64 / 1e6)))
    });
}

fn grid(
    text: &mut String,
    results: &Results,
    metric: Metric,
    title: &str,
    figure: impl Fn(&Results, &str, &str) -> Option<String>,
) {
    if !results.cells.iter().any(|cell| cell.metric == metric) {
        return;
    }
    let contenders = results.contenders();
    put!(text, "## {title}\n\n| table | {} |", contenders.join(" | "));
    put!(text, "|---|{}", "---:|".repeat(contenders.len()));
    for table in &results.tables {
        let figures = contenders.iter().map(|name| figure(results, &table.name, name));
        let figures: Vec<String> = figures.map(|figure| figure.unwrap_or("–".into())).collect();
        put!(text, "| {} | {} |", table.name, figures.join(" | "));
    }
    put!(text, "");
}

/// Three digits that matter.
fn digits(value: f64) -> String {
    let places = 2 - value.abs().max(1e-9).log10().floor() as i32;
    format!("{value:.*}", places.clamp(0, 5) as usize)
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn three_digits_matter() {
        assert_eq!(digits(1234.0), "1234");
        assert_eq!(digits(123.4), "123");
        assert_eq!(digits(1.234), "1.23");
        assert_eq!(digits(0.01234), "0.0123");
        assert_eq!(digits(0.0), "0.00000");
    }
}
