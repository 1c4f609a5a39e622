//! A chart: one panel a metric, one line a table, one mark a contender, at how many times of what
//! lancet takes it takes, on a logarithmic scale.
//!
//! It is read on white and on black, so it brings its own paper and changes it with the reader's.

use std::fmt::Write;

use super::marks::{LOOKS, Look};
use crate::results::{Metric, Results};

/// Three to a line: takes; other reads; what is not a read.
const METRICS: [Metric; 9] = [
    Metric::Take1,
    Metric::Take100,
    Metric::Take10k,
    Metric::Open,
    Metric::Scan,
    Metric::Column,
    Metric::Write,
    Metric::Size,
    Metric::Memory,
];

/// Sizes in pixels.
const ACROSS: usize = 3;
const LABELS: f64 = 72.0;
const PANEL: f64 = 246.0;
/// Between panels, for the figures of what lies beyond the edge.
const GAP: f64 = 42.0;
const LINE: f64 = 16.0;
/// Above the lines of a panel.
const HEAD: f64 = 30.0;
/// Below them.
const FOOT: f64 = 26.0;
/// Above all panels.
const TOP: f64 = 74.0;

/// The scale ends where others take this part, or this many times, of what lancet takes.
const LEAST: f64 = 0.2;
const MOST: f64 = 500.0;
const TICKS: [f64; 7] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

const STYLE: &str = "\
<style>\
text{fill:#1f2328}\
.paper{fill:#ffffff}\
.mark{stroke:#ffffff;stroke-width:.8}\
.faint{fill:#59636e}\
.grid{stroke:#d8dee4}\
.even{stroke:#1f2328;stroke-width:1.6}\
.ours{fill:#1f2328;fill-opacity:.05}\
@media (prefers-color-scheme:dark){\
text{fill:#e6edf3}\
.paper{fill:#0d1117}\
.mark{stroke:#0d1117}\
.faint{fill:#9198a1}\
.grid{stroke:#2f363d}\
.even{stroke:#e6edf3}\
.ours{fill:#e6edf3;fill-opacity:.07}\
}\
</style>";

pub fn chart(results: &Results) -> String {
    let panel_height = HEAD + LINE * results.tables.len() as f64 + FOOT;
    let width = LABELS + ACROSS as f64 * (PANEL + GAP) + 8.0;
    let height = TOP + METRICS.len().div_ceil(ACROSS) as f64 * panel_height + 18.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\">\n\
         <title>What others take, in multiples of what lancet takes</title>\n{STYLE}\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    title(&mut svg);
    legend(&mut svg, 54.0);
    for (i, metric) in METRICS.into_iter().enumerate() {
        let left = LABELS + (i % ACROSS) as f64 * (PANEL + GAP);
        let top = TOP + (i / ACROSS) as f64 * panel_height;
        panel(&mut svg, results, metric, left, top);
        if i % ACROSS == 0 {
            table_names(&mut svg, results, top);
        }
    }
    let Results { processor, cores, .. } = results;
    let source =
        format!("One run on {processor}, {cores} cores; medians; all figures: bench/RESULTS.md");
    text(&mut svg, "faint", 8.0, height - 8.0, &source);
    svg.push_str("</svg>\n");
    svg
}

fn title(svg: &mut String) {
    put(
        svg,
        "<text x=\"8\" y=\"20\" font-size=\"15\" font-weight=\"600\">What others take, in multiples \
         of what lancet takes</text>",
    );
    let how = "Right of 1 lancet is better: faster, smaller, less memory. Left of 1 the other one is. \
               One line a table, logarithmic scale.";
    text(svg, "faint", 8.0, 36.0, how);
}

fn legend(svg: &mut String, y: f64) {
    put(svg, &format!(r#"<path class="even" d="M14 {}v12"/>"#, y - 10.0));
    text(svg, "", 22.0, y, "lancet (= 1)");
    let mut x = 114.0;
    for look in &LOOKS {
        put(svg, &look.mark(x, y - 4.0));
        text(svg, "", x + 10.0, y, look.title);
        x += 46.0 + 6.2 * look.title.len() as f64;
    }
}

fn table_names(svg: &mut String, results: &Results, top: f64) {
    for (i, table) in results.tables.iter().enumerate() {
        text(svg, "", 8.0, line_at(top, i) + 4.0, &table.name);
    }
}

/// The middle of a line.
fn line_at(top: f64, line: usize) -> f64 {
    top + HEAD + LINE * (line as f64 + 0.5)
}

fn panel(svg: &mut String, results: &Results, metric: Metric, left: f64, top: f64) {
    let (first, bottom) = (top + HEAD, top + HEAD + LINE * results.tables.len() as f64);
    put(
        svg,
        &format!(
            r#"<text x="{left:.1}" y="{:.1}" font-weight="600">{}</text>"#,
            top + 22.0,
            escaped(metric.title())
        ),
    );
    let even = left + place(1.0);
    put(
        svg,
        &format!(
            r#"<rect class="ours" x="{even:.1}" y="{first:.1}" width="{:.1}" height="{:.1}"/>"#,
            left + PANEL - even,
            bottom - first
        ),
    );
    for tick in TICKS {
        let (at, class) = (left + place(tick), if tick == 1.0 { "even" } else { "grid" });
        put(svg, &format!(r#"<path class="{class}" d="M{at:.1} {first:.1}V{bottom:.1}"/>"#));
        put(
            svg,
            &format!(
                r#"<text class="faint" x="{at:.1}" y="{:.1}" text-anchor="middle" font-size="10">{tick}</text>"#,
                bottom + 12.0
            ),
        );
    }
    for (i, table) in results.tables.iter().enumerate() {
        let Some(ours) = results.value(&table.name, "lancet", metric) else { continue };
        let ratio = |look: &'static Look| {
            let theirs = results.value(&table.name, look.name, metric)?;
            Some((look, theirs / ours))
        };
        line(svg, left, line_at(top, i), LOOKS.iter().filter_map(ratio).collect());
    }
}

/// The marks of a table; an arrow and the figure stand for what lies beyond the edge.
fn line(svg: &mut String, left: f64, y: f64, mut ratios: Vec<(&Look, f64)>) {
    for (look, ratio) in ratios.iter().rev().filter(|(_, ratio)| (LEAST..=MOST).contains(ratio)) {
        put(svg, &look.mark(left + place(*ratio), y));
    }
    ratios.sort_by(|a, b| a.1.total_cmp(&b.1));
    let above: Vec<_> = ratios.iter().filter(|(_, ratio)| *ratio > MOST).collect();
    for ((look, _), nth) in above.iter().rev().zip(0..) {
        put(svg, &look.arrow(left + PANEL - 8.0 * f64::from(nth), y, true));
    }
    let below: Vec<_> = ratios.iter().filter(|(_, ratio)| *ratio < LEAST).collect();
    for ((look, _), nth) in below.iter().zip(0..) {
        put(svg, &look.arrow(left + 8.0 * f64::from(nth), y, false));
    }
    let figures = |of: &[&(&Look, f64)]| {
        of.iter().map(|(_, ratio)| figure(*ratio)).collect::<Vec<_>>().join(" ")
    };
    if !above.is_empty() {
        small(svg, left + PANEL + 3.0, y, &figures(&above));
    }
    if !below.is_empty() {
        small(svg, left + 8.0 * below.len() as f64 + 3.0, y, &figures(&below));
    }
}

/// A multiple, with the digits that matter.
fn figure(ratio: f64) -> String {
    if ratio < 1.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}

/// Where a ratio stands on the scale.
fn place(ratio: f64) -> f64 {
    (ratio / LEAST).log10() / (MOST / LEAST).log10() * PANEL
}

fn small(svg: &mut String, x: f64, y: f64, text: &str) {
    put(svg, &format!(r#"<text x="{x:.1}" y="{:.1}" font-size="10">{text}</text>"#, y + 3.5));
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    put(svg, &format!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(text)));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn put(svg: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(ratios: &[f64]) -> String {
        let mut svg = String::new();
        line(&mut svg, 0.0, 0.0, LOOKS.iter().zip(ratios.iter().copied()).collect());
        svg
    }

    #[test]
    fn what_lies_beyond_the_edge_is_told() {
        let svg = drawn(&[3059.9, 2.0, 0.051]);
        assert!(svg.contains(">3060</text>") && svg.contains(">0.05</text>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 2, "{svg}");
        let (right, left) = (format!("points=\"{PANEL:.1},0.0"), "points=\"0.0,0.0");
        assert!(svg.contains(&right) && svg.contains(left), "{svg}");
        assert!(!drawn(&[499.0, 1.0, 0.21]).contains("<text"));
        assert!(drawn(&[900.0, 700.0]).contains(">700 900</text>"));
    }

    #[test]
    fn marks_stay_inside_their_panel() {
        assert_eq!(place(LEAST), 0.0);
        assert!((place(MOST) - PANEL).abs() < 1e-9);
        assert!(TICKS.iter().all(|tick| (0.0..=PANEL).contains(&place(*tick))));
    }
}
