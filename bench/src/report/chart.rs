//! A chart that is understood in seconds: one line a metric, one mark a table, at how many times of what lancet takes the
//! best of the others takes there, on a logarithmic scale. Right of 1 lancet is better.
//!
//! It is read on white and on black, so it brings its own paper and changes it with the reader's.

use std::fmt::Write;

use super::marks::Outcome;
use crate::results::{Metric, Results};

/// The metrics, by what they are about, in words for those who do not know the benchmark.
const GROUPS: [(&str, &[(Metric, &str)]); 3] = [
    (
        "Rows at random",
        &[
            (Metric::Take1, "1 row"),
            (Metric::Take100, "100 rows"),
            (Metric::Take10k, "10,000 rows"),
            (Metric::Open, "open, first row"),
        ],
    ),
    (
        "Scans",
        &[
            (Metric::Column, "one column, 1 core"),
            (Metric::Scan, "everything, 1 core"),
            (Metric::ScanAll, "everything, all cores"),
        ],
    ),
    (
        "Cost",
        &[
            (Metric::Memory, "memory of a scan"),
            (Metric::Write, "writing, CPU time"),
            (Metric::Size, "size of the file"),
        ],
    ),
];

/// Sizes in pixels.
const WIDTH: f64 = 800.0;
const LEFT: f64 = 200.0;
const PLOT: f64 = 380.0;
const TOP: f64 = 118.0;
const LINE: f64 = 27.0;
/// Above the lines of a group.
const HEAD: f64 = 24.0;
const FOOT: f64 = 74.0;
/// The ends of the columns of figures.
const COLUMNS: [f64; 3] = [648.0, 716.0, 788.0];

/// The ends of the scale.
const LEAST: f64 = 0.25;
const MOST: f64 = 20.0;
const TICKS: [(f64, &str); 7] =
    [(0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (4.0, "4"), (8.0, "8"), (16.0, "16×")];

const STYLE: &str = "\
<style>\
text{fill:#1f2328}\
.paper{fill:#ffffff}\
.mark{stroke:#ffffff;stroke-width:1}\
.faint{fill:#59636e}\
.grid{stroke:#d8dee4}\
.even{stroke:#1f2328;stroke-width:1.6}\
.better{fill:#0068b5}.worse{fill:#c04a00}.same{fill:#59636e}\
.ring{fill:#ffffff;stroke:#59636e;stroke-width:2}\
.bar{opacity:.28}.side{opacity:.06}\
@media (prefers-color-scheme:dark){\
text{fill:#e6edf3}\
.paper{fill:#0d1117}\
.mark{stroke:#0d1117}\
.faint{fill:#9198a1}\
.grid{stroke:#2f363d}\
.even{stroke:#e6edf3}\
.better{fill:#56b4e9}.worse{fill:#f0a030}.same{fill:#9198a1}\
.ring{fill:#0d1117;stroke:#9198a1}\
.bar{opacity:.4}.side{opacity:.09}\
}\
</style>";

/// What a table has: its name, and what the best of the others takes in multiples of what lancet takes.
type Point<'a> = (&'a str, f64);

/// One metric.
struct Row<'a> {
    title: &'static str,
    /// The worst for lancet first.
    points: Vec<Point<'a>>,
    median: f64,
    /// The median beside the better of the two formats of `lance-file`.
    lance: Option<f64>,
}

/// Draws the results.
pub fn chart(results: &Results) -> String {
    let groups: Vec<(&str, Vec<Row<'_>>)> = GROUPS
        .iter()
        .map(|(title, metrics)| (*title, rows(results, metrics)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let lines: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
    let bottom = TOP + groups.len() as f64 * HEAD + lines as f64 * LINE;
    let height = bottom + FOOT;
    let headline = headline(results);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\" font-size=\"12.5\">\n\
         <title>{headline}</title>\n{STYLE}\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    title(&mut svg, &headline);
    scale(&mut svg, bottom);
    let mut y = TOP;
    for (title, rows) in &groups {
        text(&mut svg, "b", (8.0, y + 17.0), title);
        y += HEAD;
        for row in rows {
            line(&mut svg, row, y + LINE / 2.0);
            y += LINE;
        }
    }
    foot(&mut svg, results, bottom);
    svg.push_str("</svg>\n");
    svg
}

/// The metrics that were measured, lancet's best first.
fn rows<'a>(results: &'a Results, metrics: &[(Metric, &'static str)]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> =
        metrics.iter().filter_map(|(metric, title)| row(results, *metric, title)).collect();
    rows.sort_by(|a, b| b.median.total_cmp(&a.median));
    rows
}

fn row<'a>(results: &'a Results, metric: Metric, title: &'static str) -> Option<Row<'a>> {
    let mut points = ratios(results, metric, |name| name != "lancet");
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    let lance = ratios(results, metric, |name| name.starts_with("lance-"));
    Some(Row { title, median: median(&points)?, points, lance: median(&lance) })
}

/// What the best of some takes on each table, in multiples of what lancet takes.
fn ratios<'a>(results: &'a Results, metric: Metric, among: fn(&str) -> bool) -> Vec<Point<'a>> {
    let ratio = |table: &'a str| {
        let ours = results.value(table, "lancet", metric)?;
        let (_, theirs) = results.best(table, metric, among)?;
        Some((table, theirs / ours))
    };
    results.tables.iter().filter_map(|table| ratio(&table.name)).collect()
}

fn median(points: &[Point<'_>]) -> Option<f64> {
    let mut ratios: Vec<f64> = points.iter().map(|(_, ratio)| *ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let upper = *ratios.get(ratios.len() / 2)?;
    let lower = *ratios.get(ratios.len().saturating_sub(1) / 2)?;
    // Of ratios the middle of two is where both are as far away.
    Some((lower * upper).sqrt())
}

/// The one figure to take home.
fn headline(results: &Results) -> String {
    let others = results.contenders().iter().filter(|name| **name != "lancet").count();
    match median(&ratios(results, Metric::Take1, |name| name != "lancet")) {
        Some(ratio) if ratio > 1.0 => {
            format!("One random row: {} as fast as the best of {others} others", times(ratio))
        }
        _ => format!("lancet beside the best of {others} others"),
    }
}

fn title(svg: &mut String, headline: &str) {
    put(svg, &format!(r#"<text x="8" y="27" font-size="20" font-weight="650">{headline}</text>"#));
    let how = "Each mark is a table: what the best of the others takes there, divided by what lancet takes. \
               A bar ends at the median.";
    text(svg, "faint", (8.0, 49.0), how);
}

/// Both sides of the divide, the ticks, and what stands above.
fn scale(svg: &mut String, bottom: f64) {
    let (first, even) = (TOP - 4.0, LEFT + place(1.0));
    for (class, from, to) in [("worse", LEFT - 14.0, even), ("better", even, LEFT + PLOT + 14.0)] {
        put(
            svg,
            &format!(
                r#"<rect class="{class} side" x="{from:.1}" y="{first:.1}" width="{:.1}" height="{:.1}"/>"#,
                to - from,
                bottom - first
            ),
        );
    }
    for (tick, name) in TICKS {
        let (at, class) = (LEFT + place(tick), if tick == 1.0 { "even" } else { "grid" });
        put(svg, &format!(r#"<path class="{class}" d="M{at:.1} {first:.1}V{bottom:.1}"/>"#));
        middle(svg, "faint", (at, bottom + 16.0), name);
    }
    let y = TOP - 14.0;
    end(svg, "worse b", (even - 10.0, y), "◀ another is better");
    text(svg, "better b", (even + 10.0, y), "lancet is better ▶");
    let heads = [["beside the", "best other"], ["tables", "ahead"], ["beside", "lance-file"]];
    for (x, [above, below]) in COLUMNS.into_iter().zip(heads) {
        end(svg, "faint", (x, y - 15.0), above);
        end(svg, "faint", (x, y), below);
    }
}

fn line(svg: &mut String, row: &Row<'_>, y: f64) {
    text(svg, "", (20.0, y + 4.5), row.title);
    let class = Outcome::of(row.median).class();
    let (even, at) = (LEFT + place(1.0), LEFT + place(row.median.clamp(LEAST, MOST)));
    put(
        svg,
        &format!(
            r#"<rect class="{class} bar" x="{:.1}" y="{:.1}" width="{:.1}" height="14"/>"#,
            even.min(at),
            y - 7.0,
            (at - even).abs()
        ),
    );
    for (_, ratio) in &row.points {
        mark(svg, *ratio, y);
    }
    // Where another is clearly ahead, one wants to know on what.
    if let Some((table, ratio)) = row.points.first().filter(|(_, ratio)| *ratio < 0.8) {
        if *ratio < LEAST {
            // Left of the arrow stands the name of the metric.
            text(svg, "faint small", (LEFT + 5.0, y + 4.0), &format!("{table} {ratio:.2}"));
        } else {
            end(svg, "faint small", (LEFT + place(*ratio) - 9.0, y + 4.0), table);
        }
    }
    let ahead = row.points.iter().filter(|(_, r)| Outcome::of(*r) == Outcome::Better).count();
    end(svg, &format!("{class} b"), (COLUMNS[0], y + 4.5), &times(row.median));
    end(svg, "", (COLUMNS[1], y + 4.5), &format!("{ahead} of {}", row.points.len()));
    end(svg, "faint", (COLUMNS[2], y + 4.5), &row.lance.map_or("–".into(), times));
}

/// The mark of a table; an arrow, and on the right its figure, stand for what lies beyond the edge.
fn mark(svg: &mut String, ratio: f64, y: f64) {
    let outcome = Outcome::of(ratio);
    if ratio > MOST {
        put(svg, &outcome.arrow(LEFT + PLOT + 10.0, y));
        end(svg, "small", (LEFT + PLOT - 2.0, y + 4.0), &times(ratio));
    } else if ratio < LEAST {
        put(svg, &outcome.arrow(LEFT - 10.0, y));
    } else {
        put(svg, &outcome.mark(LEFT + place(ratio), y));
    }
}

fn foot(svg: &mut String, results: &Results, bottom: f64) {
    let mut x = 12.0;
    for (outcome, words) in [
        (Outcome::Better, "lancet is better on this table"),
        (Outcome::Even, "within 5 %"),
        (Outcome::Worse, "another is better"),
    ] {
        put(svg, &outcome.mark(x, bottom + 38.0));
        text(svg, "", (x + 10.0, bottom + 42.5), words);
        x += 34.0 + 6.3 * words.len() as f64;
    }
    let Results { processor, cores, .. } = results;
    let source = format!(
        "The others: lance-file 2.1 and 2.2, Parquet (snappy, zstd, small pages), Vortex. One run, {processor}, \
         {cores} cores. Figures: bench/RESULTS.md"
    );
    text(svg, "faint small", (8.0, bottom + 63.0), &source);
}

/// A multiple, with the digits that matter.
fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.995 => format!("{ratio:.2}×"),
        ratio if ratio < 20.0 => format!("{ratio:.1}×"),
        ratio => format!("{ratio:.0}×"),
    }
}

/// Where a ratio stands on the scale.
fn place(ratio: f64) -> f64 {
    (ratio / LEAST).log10() / (MOST / LEAST).log10() * PLOT
}

fn text(svg: &mut String, class: &str, at: (f64, f64), text: &str) {
    put_text(svg, class, at, "", text);
}

fn middle(svg: &mut String, class: &str, at: (f64, f64), text: &str) {
    put_text(svg, class, at, " text-anchor=\"middle\"", text);
}

fn end(svg: &mut String, class: &str, at: (f64, f64), text: &str) {
    put_text(svg, class, at, " text-anchor=\"end\"", text);
}

/// Classes: those of the style, `b` for bold and `small`.
fn put_text(svg: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    let bold = if class.split(' ').any(|word| word == "b") { " font-weight=\"650\"" } else { "" };
    let small = if class.split(' ').any(|word| word == "small") { " font-size=\"11\"" } else { "" };
    let class: Vec<&str> =
        class.split(' ').filter(|word| !["", "b", "small"].contains(word)).collect();
    let class = match class.as_slice() {
        [] => String::new(),
        words => format!(" class=\"{}\"", words.join(" ")),
    };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(svg, &format!(r#"<text x="{x:.1}" y="{y:.1}"{class}{anchor}{bold}{small}>{text}</text>"#));
}

fn put(svg: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Cell, Kind, TableNote};

    /// Results in which lancet takes 1 s, and one other takes these seconds on tables a, b, ….
    fn results(others: &[(&str, &[f64])]) -> Results {
        let names: Vec<String> = ('a'..='z').map(String::from).collect();
        let cell = |table: &str, contender: &str, value: f64| Cell {
            table: table.into(),
            contender: contender.into(),
            metric: Metric::Take1,
            value,
            cpu: 0.0,
            quartiles: [0.0; 2],
            samples: 1,
            reads: 0,
            read_bytes: 0,
            again: 0.0,
        };
        let count = others.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let mut cells: Vec<Cell> = names[..count].iter().map(|t| cell(t, "lancet", 1.0)).collect();
        for (contender, values) in others {
            cells.extend(names.iter().zip(*values).map(|(t, value)| cell(t, contender, *value)));
        }
        let table = |name: &String| TableNote {
            name: name.clone(),
            rows: 1,
            columns: 1,
            arrow_bytes: 1,
            column: "c".into(),
            take_rows: 1,
        };
        Results {
            processor: "A & B".into(),
            cores: 2,
            quick: false,
            kind: Kind::Warm,
            load: [0.0; 2],
            seconds: 0.0,
            limits: Vec::new(),
            tables: names[..count].iter().map(table).collect(),
            cells,
        }
    }

    #[test]
    fn the_best_of_the_others_counts() {
        let svg =
            chart(&results(&[("vortex", &[9.0, 4.0, 0.5]), ("lance-2.1", &[4.0, 8.0, 16.0])]));
        // The best are 4, 4 and 0.5; of lance-file alone 4, 8 and 16.
        assert!(svg.contains("One random row: 4.0× as fast as the best of 2 others"), "{svg}");
        assert!(svg.contains(">2 of 3</text>") && svg.contains(">8.0×</text>"), "{svg}");
        assert_eq!(svg.matches("<circle class=\"better").count(), 3, "two, and the legend's");
        assert!(svg.contains(">c</text>"), "the table on which another is ahead is named: {svg}");
        assert!(svg.contains("A &amp; B") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn what_lies_beyond_the_edge_is_told() {
        let svg = chart(&results(&[("vortex", &[3_059.9, 2.0, 0.051])]));
        assert!(svg.contains(">3060×</text>") && svg.contains(">c 0.05</text>"), "{svg}");
        let tip = format!("points=\"{:.1},", LEFT + PLOT + 10.0);
        assert!(svg.contains(&tip), "{svg}");
        assert!(svg.contains(&format!("points=\"{:.1},", LEFT - 10.0)), "{svg}");
        let name = svg.lines().find(|line| line.contains(">c 0.05<")).unwrap();
        assert!(name.contains(&format!("x=\"{:.1}\"", LEFT + 5.0)), "beside the metric: {name}");
    }

    #[test]
    fn ticks_stay_inside() {
        assert_eq!(place(LEAST), 0.0);
        assert!((place(MOST) - PLOT).abs() < 1e-9);
        assert!(TICKS.iter().all(|(tick, _)| (0.0..=PLOT).contains(&place(*tick))));
    }

    #[test]
    fn nothing_measured_is_an_empty_chart() {
        let svg = chart(&results(&[]));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn figures_have_digits_that_matter() {
        assert_eq!([0.294, 0.999, 7.63, 240.4].map(times), ["0.29×", "1.0×", "7.6×", "240×"]);
    }
}
