//! The fragments of a table, with their files.

use super::chart::{Bar, chart};
use super::markup::Markup;
use super::section;
use crate::report::facts::{FragmentFacts, FragmentFiles, Stored, StoredFile, TableFacts};
use crate::units;

/// Files that are listed; the map of bytes has more.
const MOST_LISTED: usize = 100;

/// The section.
pub fn write(page: &mut Markup, table: &TableFacts) {
    section(page, "fragments", "Fragments");
    let count: u64 = table.fragments.iter().map(|fragment| fragment.fragments).sum();
    let files: u64 = table.fragments.iter().map(|fragment| fragment.files).sum();
    page.raw("<p>").text(format!(
        "{} with {}.",
        units::counted(count, "fragment"),
        units::counted(files, "data file")
    ));
    page.raw(" <code>lancet report FILE</code> looks into one of the files as closely.");
    if let Some(first) = table.fragments.first().filter(|first| first.fragments > 1) {
        page.text(format!(" Each bar stands for {}.", units::counted(first.fragments, "fragment")));
    }
    page.raw("</p>");
    let bars = |of: fn(&FragmentFacts) -> (u64, u64)| -> Vec<Bar> {
        let bar = |fragment: &FragmentFacts| {
            let (value, deleted) = of(fragment);
            Bar { name: name(fragment), value, deleted }
        };
        table.fragments.iter().map(bar).collect()
    };
    let rows = if table.deleted > 0 { "Rows; deleted ones in red" } else { "Rows" };
    if count > 1 {
        page.raw("<div class=\"cols\">");
        chart(page, rows, &bars(|fragment| (fragment.rows, fragment.deleted)), units::count);
        chart(page, "Bytes", &bars(|fragment| (fragment.bytes, 0)), units::bytes);
        page.raw("</div>");
    }
    list(page, table);
    page.raw("</section>\n");
}

fn name(fragment: &FragmentFacts) -> String {
    match fragment.ids {
        (first, last) if first == last => format!("fragment {first}"),
        (first, last) => format!("fragments {first} to {last}"),
    }
}

/// The files, one a line.
fn list(page: &mut Markup, table: &TableFacts) {
    let all: Vec<(&FragmentFiles, usize, &StoredFile)> = table
        .map
        .fragments
        .iter()
        .flat_map(|fragment| fragment.files.iter().enumerate().map(move |(n, f)| (fragment, n, f)))
        .collect();
    if all.is_empty() {
        return;
    }
    let largest = all.iter().map(|(_, _, file)| file.bytes).max().unwrap_or(0).max(1) as f64;
    page.raw("<div class=\"scroll\"><table><caption>Files of the fragments</caption><thead><tr><th scope=\"col\" class=\"num\">fragment</th>");
    page.raw("<th scope=\"col\" class=\"num\">rows</th><th scope=\"col\" class=\"num\">deleted</th><th scope=\"col\" class=\"num\">bytes</th>");
    page.raw("<th scope=\"col\" class=\"num\">columns</th><th scope=\"col\" class=\"num\">unused</th><th scope=\"col\">format</th><th scope=\"col\">file</th></tr></thead><tbody>");
    for (fragment, number, file) in all.iter().take(MOST_LISTED) {
        page.raw("<tr>");
        if *number == 0 {
            let rows = fragment.files.len().to_string();
            let head = [("scope", "rowgroup"), ("class", "num"), ("rowspan", rows.as_str())];
            page.element("th", &head, fragment.id);
            let cell = [("class", "num"), ("rowspan", rows.as_str())];
            page.element("td", &cell, units::count(fragment.rows));
            page.element("td", &cell, units::count(fragment.deleted));
        }
        page.raw("<td class=\"num\">").text(units::bytes(file.bytes));
        page.bar(file.bytes as f64 / largest).raw("</td>");
        let [columns, unused, format] = about(&file.holds);
        page.element("td", &[("class", "num")], columns);
        page.element("td", &[("class", "num")], unused);
        page.element("td", &[], format);
        page.raw("<td class=\"file\"><code>").text(&file.name).raw("</code></td></tr>");
    }
    page.raw("</tbody></table></div>");
    let hidden = all.len().saturating_sub(MOST_LISTED);
    if hidden > 0 || table.map.more > 0 {
        let more = match table.map.more {
            0 => String::new(),
            n => format!(" and those of {}", units::counted(n, "more fragment")),
        };
        let text = format!("{}{more} are not listed; ", units::counted(hidden as u64, "more file"));
        page.raw("<p class=\"soft\">").text(text);
        page.raw("<code>lancet inspect TABLE --fragments</code> has all.</p>");
    }
}

/// Columns, unused bytes and format of a file.
fn about(holds: &Stored) -> [String; 3] {
    match holds {
        Stored::Data { format, columns, unused: 0, .. } => {
            [units::count(*columns), "0".into(), format.clone()]
        }
        Stored::Data { format, columns, unused, .. } => {
            [units::count(*columns), units::bytes(*unused), format.clone()]
        }
        Stored::Blobs => [String::new(), String::new(), "blobs".into()],
        Stored::Deletions => [String::new(), String::new(), "deletions".into()],
    }
}
