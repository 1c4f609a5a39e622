//! A chart: one panel a metric, one line a table, one dot a contender, at its time relative to
//! lancet's on a logarithmic scale.

use std::fmt::Write;

use crate::results::{Metric, Results};

const METRICS: [Metric; 10] = [
    Metric::Scan,
    Metric::ScanAll,
    Metric::Column,
    Metric::Open,
    Metric::Take1,
    Metric::Take100,
    Metric::Take10k,
    Metric::Write,
    Metric::Size,
    Metric::Memory,
];

/// Sizes in pixels.
const PANEL_WIDTH: f64 = 300.0;
const LABEL_WIDTH: f64 = 70.0;
const LINE: f64 = 16.0;
const HEAD: f64 = 34.0;
const ACROSS: usize = 3;

/// The scale ends where others take this part, or this many times, of lancet's time.
const LEAST: f64 = 0.1;
const MOST: f64 = 100.0;

const COLOURS: [(&str, &str); 7] = [
    ("lancet", "#111111"),
    ("lance-2.1", "#e5735c"),
    ("lance-2.2", "#b3261e"),
    ("pq-snappy", "#7fb3e6"),
    ("pq-zstd", "#2f6fb5"),
    ("pq-pages", "#123f73"),
    ("vortex", "#3a9a4e"),
];

pub fn chart(results: &Results) -> String {
    let panel_height = HEAD + LINE * (results.tables.len() as f64 + 1.5);
    let down = METRICS.len().div_ceil(ACROSS);
    let width = ACROSS as f64 * (PANEL_WIDTH + LABEL_WIDTH) + 20.0;
    let height = down as f64 * panel_height + 60.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    text(
        &mut svg,
        10.0,
        20.0,
        "Time, bytes or memory relative to lancet; right of 1 lancet is ahead",
    );
    legend(&mut svg, 38.0);
    for (i, metric) in METRICS.into_iter().enumerate() {
        let x = (i % ACROSS) as f64 * (PANEL_WIDTH + LABEL_WIDTH) + 10.0;
        let y = (i / ACROSS) as f64 * panel_height + 52.0;
        panel(&mut svg, results, metric, x, y);
    }
    svg.push_str("</svg>\n");
    svg
}

fn legend(svg: &mut String, y: f64) {
    for (i, (name, colour)) in COLOURS.iter().enumerate() {
        let x = 16.0 + i as f64 * 90.0;
        dot(svg, x, y - 4.0, colour);
        text(svg, x + 8.0, y, name);
    }
}

fn panel(svg: &mut String, results: &Results, metric: Metric, x: f64, y: f64) {
    let left = x + LABEL_WIDTH;
    let bottom = y + HEAD + LINE * results.tables.len() as f64;
    text(svg, left, y + 16.0, metric.title());
    for mark in [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0] {
        let at = left + place(mark);
        let colour = if mark == 1.0 { "#555555" } else { "#dddddd" };
        let top = y + HEAD - LINE / 2.0;
        put(
            svg,
            &format!(
                "<line x1=\"{at:.1}\" y1=\"{top:.1}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\"/>"
            ),
        );
        text(svg, at - 6.0, bottom + 10.0, &mark.to_string());
    }
    for (i, table) in results.tables.iter().enumerate() {
        let y = y + HEAD + LINE * (i as f64 + 0.25);
        text(svg, x, y + 4.0, &table.name);
        let Some(ours) = results.value(&table.name, "lancet", metric) else { continue };
        for (name, colour) in COLOURS.iter().rev() {
            if let Some(theirs) = results.value(&table.name, name, metric) {
                dot(svg, left + place(theirs / ours), y, colour);
            }
        }
    }
}

/// Where a ratio stands on the scale.
fn place(ratio: f64) -> f64 {
    let span = (MOST / LEAST).log10();
    (ratio.clamp(LEAST, MOST) / LEAST).log10() / span * (PANEL_WIDTH - 30.0)
}

fn dot(svg: &mut String, x: f64, y: f64, colour: &str) {
    put(
        svg,
        &format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\" fill-opacity=\"0.85\"/>"
        ),
    );
}

fn text(svg: &mut String, x: f64, y: f64, text: &str) {
    put(svg, &format!("<text x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"));
}

fn put(svg: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{line}");
}
