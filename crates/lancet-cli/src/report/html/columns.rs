//! Columns as a tree of areas and as a table, of files and of tables.

use super::markup::Markup;
use super::{per_row, section};
use crate::report::facts::{ColumnFacts, Count, LeftOut};
use crate::report::words;
use crate::units;

/// What can be sorted by: the title, the key in the data, whether it is a number.
const HEADS: [(&str, &str, bool); 7] = [
    ("column", "name", false),
    ("type", "type", false),
    ("nulls", "nulls", true),
    ("distinct", "distinct", true),
    ("bytes", "bytes", true),
    ("per row", "perRow", true),
    ("of Arrow", "ratio", true),
];

/// The section of the columns.
pub fn write(
    page: &mut Markup,
    columns: &[ColumnFacts],
    left_out: LeftOut,
    (rows, file_bytes): (u64, u64),
) {
    section(page, "columns", "Columns");
    if columns.is_empty() {
        page.raw("<p>There are none.</p></section>\n");
        return;
    }
    let largest = columns.iter().map(|column| column.bytes).max().unwrap_or(0);
    if largest > 0 {
        page.raw("<p class=\"soft\">Areas are as large as the bytes of the columns.");
        let is_blob =
            |column: &ColumnFacts| column.forms.iter().any(|(form, _)| form.starts_with("blob"));
        if columns.iter().any(is_blob) {
            page.raw(" Blobs are not counted: the columns only hold where they are.");
        }
        if columns.iter().any(|column| column.name.starts_with("(unused)")) {
            page.raw(
                " (unused) is what the files hold of columns that this version does not have.",
            );
        }
        page.raw("</p><div id=\"tree\" class=\"tree\"></div>");
    }
    page.raw("<div class=\"tools\"><label>Search <input id=\"find\" type=\"search\" autocomplete=\"off\" placeholder=\"name, type or encoding\"></label>");
    page.raw("<span id=\"found\" role=\"status\" class=\"soft\"></span></div>");
    page.raw("<p class=\"soft\">Choose a name to see pages and zones; ≈ are estimates from some of the rows.</p>");
    page.raw("<div class=\"scroll\"><table id=\"columns-table\"><caption class=\"skip\">Columns</caption><thead><tr>");
    for (title, key, is_number) in HEADS {
        let class = if is_number { "num" } else { "" };
        page.open("th", &[("scope", "col"), ("class", class)]);
        page.element("button", &[("type", "button"), ("data-key", key)], title).close("th");
    }
    page.raw("<th scope=\"col\">encoding</th></tr></thead><tbody>\n");
    for (place, column) in columns.iter().enumerate() {
        row(page, place, column, rows, (file_bytes, largest));
    }
    page.raw("</tbody></table></div>");
    if left_out.columns > 0 {
        let text = format!(
            "{} not listed, with {}: the largest {} are.",
            units::counted(left_out.columns as u64, "smaller column"),
            units::bytes(left_out.bytes),
            units::count(columns.len() as u64)
        );
        page.element("p", &[("class", "soft")], text);
    }
    page.raw("</section>\n");
}

fn row(
    page: &mut Markup,
    place: usize,
    column: &ColumnFacts,
    rows: u64,
    (file_bytes, largest): (u64, u64),
) {
    page.open("tr", &[("id", &format!("c{place}"))]).raw("<th scope=\"row\">");
    page.element("button", &[("class", "name"), ("aria-expanded", "false")], &column.name);
    page.raw("</th>").element("td", &[("class", "type")], &column.data_type);
    page.element("td", &[("class", "num")], nulls(column.nulls, rows));
    let distinct = column.distinct.map_or_else(
        || "–".into(),
        |count| match count {
            Count::Exact(n) => units::count(n),
            Count::AtMost(n) => format!("≤ {}", units::count(n)),
            Count::About(n) => format!("≈ {}", units::count(n)),
        },
    );
    page.element("td", &[("class", "num")], distinct);
    page.raw("<td class=\"num\">").text(units::bytes(column.bytes)).raw(" ");
    page.element("small", &[("class", "soft")], units::share(column.bytes, file_bytes));
    page.bar(column.bytes as f64 / largest.max(1) as f64).raw("</td>");
    page.element("td", &[("class", "num")], per_row(column.bytes, column.rows));
    let ratio = ratio(column).map_or_else(|| "–".into(), |r| format!("{:.0} %", 100.0 * r));
    page.element("td", &[("class", "num")], ratio);
    page.element("td", &[("class", "form")], forms(column)).raw("</tr>\n");
}

fn nulls(count: Option<Count>, rows: u64) -> String {
    match count {
        None => "–".into(),
        Some(Count::Exact(0) | Count::AtMost(0)) => "0".into(),
        Some(Count::About(0)) => "≈ 0".into(),
        Some(Count::Exact(n)) => units::share(n, rows),
        Some(Count::AtMost(n)) => format!("≤ {}", units::share(n, rows)),
        Some(Count::About(n)) => format!("≈ {}", units::share(n, rows)),
    }
}

/// The size of a column beside what it takes in memory.
pub fn ratio(column: &ColumnFacts) -> Option<f64> {
    let arrow = column.arrow_bytes.filter(|bytes| *bytes > 0)?;
    Some(column.bytes as f64 / arrow as f64)
}

/// The encodings in words, with counts where there are several.
fn forms(column: &ColumnFacts) -> String {
    match column.forms.as_slice() {
        [] => "no pages".into(),
        [(one, _)] => one.clone(),
        several => {
            let more = several.len().saturating_sub(3);
            let counted = several.iter().take(3).map(|(form, n)| format!("{n}× {form}"));
            let text = counted.collect::<Vec<_>>().join("; ");
            if more > 0 { format!("{text}; and {more} more") } else { text }
        }
    }
}

/// What the encodings are.
pub fn glossary(page: &mut Markup, columns: &[ColumnFacts]) {
    let forms = columns.iter().flat_map(|column| &column.forms).map(|(form, _)| form.as_str());
    let words = words::explained(forms);
    if words.is_empty() {
        return;
    }
    section(page, "words", "What the encodings are");
    page.raw("<dl class=\"cols\">");
    for (name, about) in words {
        page.raw("<div>").element("dt", &[], name).element("dd", &[], about).raw("</div>");
    }
    page.raw("</dl></section>\n");
}
