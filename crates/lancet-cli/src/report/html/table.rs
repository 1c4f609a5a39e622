//! The report of a table.

use super::markup::Markup;
use super::{cards, columns, header, health, rows, section};
use crate::report::facts::{FragmentFacts, TableFacts, VersionFacts};
use crate::units;

/// Versions that are listed; all that are known are drawn.
const MOST_LISTED: usize = 60;

/// Writes the report.
pub fn write(page: &mut Markup, table: &TableFacts) {
    let sections = [
        ("versions", "Versions"),
        ("fragments", "Fragments"),
        ("columns", "Columns"),
        ("health", "Health"),
        ("rows", "Rows"),
    ];
    header(page, &table.name, Some(table.health.state), &sections);
    glance(page, table);
    versions(page, table);
    fragments(page, table);
    columns::write(page, &table.columns, table.rows, table.file_bytes);
    health(page, &table.health);
    rows::write(page, &table.shown);
    columns::glossary(page, &table.columns);
    page.raw("</main>\n");
}

fn glance(page: &mut Markup, table: &TableFacts) {
    let branch = table.branch.as_ref().map(|name| format!("branch {name}"));
    let per_row = match table.rows {
        0 => String::new(),
        rows => format!("{} each", units::per_row(table.file_bytes, rows)),
    };
    let mut facts = vec![
        ("Version", table.version.to_string(), branch.unwrap_or_default()),
        ("Rows", units::count(table.rows), per_row),
        (
            "Data files",
            units::bytes(table.file_bytes),
            format!("{} bytes", units::count(table.file_bytes)),
        ),
        ("Columns", units::count(table.columns.len() as u64), String::new()),
        ("Lance format", table.format.clone(), String::new()),
    ];
    if table.deleted > 0 {
        let physical = table.rows.saturating_add(table.deleted);
        let share = format!("{} of the rows in the files", units::share(table.deleted, physical));
        facts.push(("Deleted rows", units::count(table.deleted), share));
        facts.push(("Deletion files", units::bytes(table.deletion_bytes), String::new()));
    }
    if table.side_bytes > 0 {
        facts.push(("Blobs", units::bytes(table.side_bytes), "beside the data files".into()));
    }
    let other =
        table.file_bytes.saturating_sub(table.page_bytes).saturating_sub(table.zone_map_bytes);
    facts.push((
        "Pages",
        units::share(table.page_bytes, table.file_bytes),
        "of the data files".into(),
    ));
    facts.push(("Metadata", units::bytes(other), "footers, schemas, checksums".into()));
    if table.zone_map_bytes > 0 {
        facts.push(("Zone maps", units::bytes(table.zone_map_bytes), String::new()));
    }
    if let Some(written) = &table.written {
        let (day, time) = written.split_once(' ').unwrap_or((written, ""));
        let writer = table.writer.as_ref().map(|writer| format!(" by {writer}"));
        facts.push(("Written", day.into(), format!("{time}{}", writer.unwrap_or_default())));
    }
    cards(page, &facts);
    if !table.advice.is_empty() {
        page.raw("<h3>Advice</h3><ul>");
        for line in &table.advice {
            page.element("li", &[], line);
        }
        page.raw("</ul>");
    }
}

/// Versions over time.
fn versions(page: &mut Markup, table: &TableFacts) {
    section(page, "versions", "Versions");
    let all = &table.versions;
    page.raw("<div class=\"cols\"><figure><figcaption>Rows</figcaption>");
    chart(page, &all.iter().map(|v| (version_name(v), v.rows.unwrap_or(0), 0)).collect::<Vec<_>>());
    page.raw("</figure><figure><figcaption>Bytes of the data files</figcaption>");
    chart(page, &all.iter().map(|v| (version_name(v), v.bytes, 0)).collect::<Vec<_>>());
    page.raw("</figure></div><div class=\"scroll\"><table><thead><tr><th scope=\"col\" class=\"num\">version</th><th scope=\"col\">written</th>");
    page.raw("<th scope=\"col\" class=\"num\">rows</th><th scope=\"col\" class=\"num\">deleted</th><th scope=\"col\" class=\"num\">fragments</th>");
    page.raw("<th scope=\"col\" class=\"num\">bytes</th><th scope=\"col\">what changed</th><th scope=\"col\">tags</th></tr></thead><tbody>");
    let known = |n: Option<u64>| n.map_or_else(|| "?".into(), units::count);
    for version in all.iter().rev().take(MOST_LISTED) {
        page.raw("<tr>").element("th", &[("scope", "row"), ("class", "num")], version.version);
        page.element("td", &[], version.written.as_deref().unwrap_or("–"));
        page.element("td", &[("class", "num")], known(version.rows));
        page.element("td", &[("class", "num")], known(version.deleted));
        page.element("td", &[("class", "num")], units::count(version.fragments));
        page.element("td", &[("class", "num")], units::bytes(version.bytes));
        page.element("td", &[("class", "form")], version.changes.join("; "));
        let tags = table.tags.iter().filter(|(_, number)| *number == version.version);
        let tags: Vec<&str> = tags.map(|(name, _)| name.as_str()).collect();
        page.element("td", &[], tags.join(", ")).raw("</tr>");
    }
    page.raw("</tbody></table></div>");
    let hidden = table.older_versions + all.len().saturating_sub(MOST_LISTED) as u64;
    if hidden > 0 {
        let text = format!("{} older are not listed.", units::counted(hidden, "version"));
        page.element("p", &[("class", "soft")], text);
    }
    for (name, version) in &table.branches {
        page.element("p", &[], format!("Branch {name} begins at version {version}."));
    }
    page.raw("</section>\n");
}

fn version_name(version: &VersionFacts) -> String {
    format!("version {}", version.version)
}

fn fragments(page: &mut Markup, table: &TableFacts) {
    section(page, "fragments", "Fragments");
    let count: u64 = table.fragments.iter().map(|fragment| fragment.fragments).sum();
    let files: u64 = table.fragments.iter().map(|fragment| fragment.files).sum();
    page.raw("<p>").text(format!(
        "{} with {}.",
        units::counted(count, "fragment"),
        units::counted(files, "data file")
    ));
    page.raw("</p><div class=\"cols\"><figure><figcaption>Rows; deleted ones in red</figcaption>");
    let name = |fragment: &FragmentFacts| match fragment.ids {
        (first, last) if first == last => format!("fragment {first}"),
        (first, last) => format!("fragments {first} to {last}"),
    };
    let bars = |of: fn(&FragmentFacts) -> (u64, u64)| -> Vec<(String, u64, u64)> {
        let bar = |fragment: &FragmentFacts| {
            let (value, above) = of(fragment);
            (name(fragment), value, above)
        };
        table.fragments.iter().map(bar).collect()
    };
    chart(page, &bars(|fragment| (fragment.rows, fragment.deleted)));
    page.raw("</figure><figure><figcaption>Bytes</figcaption>");
    chart(page, &bars(|fragment| (fragment.bytes, 0)));
    page.raw("</figure></div></section>\n");
}

/// Bars side by side: a name, a value, and what stands upon it.
fn chart(page: &mut Markup, bars: &[(String, u64, u64)]) {
    let most = bars.iter().map(|(_, value, above)| value.saturating_add(*above)).max();
    let most = most.unwrap_or(0).max(1) as f64;
    let label = match (bars.first(), bars.last()) {
        (Some((first, a, _)), Some((last, b, _))) => {
            format!("{first}: {}; {last}: {}", units::count(*a), units::count(*b))
        }
        _ => "nothing".into(),
    };
    page.open(
        "svg",
        &[
            ("class", "chart"),
            ("viewBox", "0 0 1000 100"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", &label),
        ],
    );
    let step = (1000.0 / bars.len().max(1) as f64).min(140.0);
    let width = format!("{:.2}", step * 0.86);
    for (place, (name, value, above)) in bars.iter().enumerate() {
        let x = format!("{:.2}", place as f64 * step);
        let [height, on_top] = [*value, *above].map(|n| 100.0 * n as f64 / most);
        let title = match above {
            0 => format!("{name}: {}", units::count(*value)),
            above => format!("{name}: {}, {} deleted", units::count(*value), units::count(*above)),
        };
        for (class, height, bottom) in [("a", height, 0.0), ("b", on_top, height)] {
            if height > 0.0 {
                let (y, height) =
                    (format!("{:.2}", 100.0 - bottom - height), format!("{height:.2}"));
                page.open(
                    "rect",
                    &[
                        ("class", class),
                        ("x", &x),
                        ("y", &y),
                        ("width", &width),
                        ("height", &height),
                    ],
                );
                page.element("title", &[], &title).close("rect");
            }
        }
    }
    page.raw("</svg>");
}
