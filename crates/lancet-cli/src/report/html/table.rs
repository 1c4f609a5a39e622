//! The report of a table.

use super::chart::{Bar, chart};
use super::markup::Markup;
use super::{
    bytes, cards, columns, each, fragments, header, health, pages, rows, section, why, zones,
};
use crate::report::facts::{SchemaChange, TableFacts, VersionFacts};
use crate::units;

/// Versions that are listed; all that are known are drawn.
const MOST_LISTED: usize = 60;

/// Writes the report.
pub fn write(page: &mut Markup, table: &TableFacts) {
    let mut sections = vec![
        ("bytes", "Bytes"),
        ("versions", "Versions"),
        ("fragments", "Fragments"),
        ("columns", "Columns"),
    ];
    if table.columns.iter().any(|column| column.candidates.is_some()) {
        sections.push(("why", "Why"));
    }
    if table.zones_left_out > 0 || table.columns.iter().any(|column| column.zones.is_some()) {
        sections.push(("zones", "Zones"));
    }
    if pages::has_pages(&table.columns) {
        sections.push(("pages", "Pages"));
    }
    sections.extend([("health", "Health"), ("rows", "Rows")]);
    header(page, &table.name, Some(table.health.state), &sections);
    glance(page, table);
    let all = table.map.kinds.iter().map(|(_, bytes)| bytes).sum();
    let caption = "All bytes of the files of this version, by what they are for";
    bytes::write(page, &table.map.kinds, (all, caption), "In the order of the fragments");
    versions(page, table);
    fragments::write(page, table);
    columns::write(page, &table.columns, table.left_out, (table.rows, table.file_bytes));
    why::write(page, &table.columns, table.profiles.as_ref());
    zones::write(page, &table.columns, table.zones_left_out);
    pages::write(page, &table.columns, table.left_out);
    health(page, &table.health);
    rows::write(page, &table.shown);
    columns::glossary(page, &table.columns);
    page.raw("</main>\n");
}

fn glance(page: &mut Markup, table: &TableFacts) {
    let branch = table.branch.as_ref().map(|name| format!("branch {name}"));
    let mut facts = vec![
        ("Version", table.version.to_string(), branch.unwrap_or_default()),
        ("Rows", units::count(table.rows), each(table.file_bytes, table.rows)),
        (
            "Data files",
            units::bytes(table.file_bytes),
            format!("{} bytes", units::count(table.file_bytes)),
        ),
        (
            "Columns",
            units::count((table.columns.len() + table.left_out.columns) as u64),
            String::new(),
        ),
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
    let bars = |of: fn(&VersionFacts) -> u64| -> Vec<Bar> {
        let bar = |version: &VersionFacts| Bar {
            name: format!("version {}", version.version),
            value: of(version),
            deleted: 0,
        };
        all.iter().map(bar).collect()
    };
    if all.len() > 1 {
        page.raw("<div class=\"cols\">");
        chart(page, "Rows", &bars(|version| version.rows.unwrap_or(0)), units::count);
        chart(page, "Bytes of the data files", &bars(|version| version.bytes), units::bytes);
        page.raw("</div>");
    }
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\" class=\"num\">version</th><th scope=\"col\">written</th>");
    page.raw("<th scope=\"col\" class=\"num\">rows</th><th scope=\"col\" class=\"num\">deleted</th><th scope=\"col\" class=\"num\">fragments</th>");
    page.raw("<th scope=\"col\" class=\"num\">bytes</th><th scope=\"col\">what changed</th><th scope=\"col\">tags</th></tr></thead><tbody>");
    let known = |n: Option<u64>| n.map_or_else(|| "?".into(), units::count);
    for version in all.iter().rev().take(MOST_LISTED) {
        page.raw("<tr>").element("th", &[("scope", "row"), ("class", "num")], version.version);
        page.element("td", &[("class", "when")], version.written.as_deref().unwrap_or("–"));
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
    schema_history(page, &table.versions);
    for (name, version) in &table.branches {
        page.element("p", &[], format!("Branch {name} begins at version {version}."));
    }
    page.raw("</section>\n");
}

/// How the columns changed, the latest first.
fn schema_history(page: &mut Markup, versions: &[VersionFacts]) {
    let changed = versions.iter().rev().filter(|version| version.schema.words().is_some());
    let mut changed = changed.take(MOST_LISTED).peekable();
    if changed.peek().is_none() {
        return;
    }
    page.raw("<h3>How the columns changed</h3><div class=\"scroll\"><table><thead><tr><th scope=\"col\" class=\"num\">version</th>");
    page.raw("<th scope=\"col\">added</th><th scope=\"col\">dropped</th><th scope=\"col\">renamed</th><th scope=\"col\">changed</th></tr></thead><tbody>");
    for version in changed {
        page.raw("<tr>").element("th", &[("scope", "row"), ("class", "num")], version.version);
        for (_, all) in version.schema.sorts() {
            page.element("td", &[("class", "cell")], SchemaChange::told(all));
        }
        page.raw("</tr>");
    }
    page.raw("</tbody></table></div>");
}
