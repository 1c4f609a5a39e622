//! The report of a file.

use super::markup::Markup;
use super::{cards, columns, header, health, rows, section, why};
use crate::report::byte_map::ByteMap;
use crate::report::facts::{FileFacts, Opened};
use crate::units;

/// Columns whose pages are drawn side by side.
const MOST_PAGES: usize = 30;
/// Columns whose zones are drawn.
const MOST_ZONES: usize = 60;

/// Writes the report.
pub fn write(page: &mut Markup, file: &FileFacts) {
    let mut sections = vec![("bytes", "Bytes")];
    if let Some(opened) = &file.opened {
        sections.push(("columns", "Columns"));
        if opened.columns.iter().any(|column| column.candidates.is_some()) {
            sections.push(("why", "Why"));
        }
        if opened.columns.iter().any(|column| column.zones.is_some()) {
            sections.push(("zones", "Zones"));
        }
        sections.push(("pages", "Pages"));
    }
    sections.push(("health", "Health"));
    if file.opened.is_some() {
        sections.push(("rows", "Rows"));
    }
    header(page, &file.name, Some(file.health.state), &sections);
    glance(page, file);
    bytes(page, file);
    if let Some(opened) = &file.opened {
        columns::write(page, &opened.columns, opened.rows, file.bytes);
        why::write(page, opened);
        zones(page, opened);
        pages(page, opened);
    }
    health(page, &file.health);
    if let Some(opened) = &file.opened {
        rows::write(page, &opened.shown);
        columns::glossary(page, &opened.columns);
    }
    page.raw("</main>\n");
}

fn glance(page: &mut Markup, file: &FileFacts) {
    let none = String::new;
    let mut facts =
        vec![("Size", units::bytes(file.bytes), format!("{} bytes", units::count(file.bytes)))];
    if let Some(opened) = &file.opened {
        let per_row = format!("{} each", units::per_row(file.bytes, opened.rows));
        facts.push((
            "Rows",
            units::count(opened.rows),
            if opened.rows > 0 { per_row } else { none() },
        ));
        facts.push(("Columns", units::count(opened.columns.len() as u64), none()));
        facts.push(("Lance format", opened.version.clone(), none()));
        facts.push((
            "Written by",
            opened.writer.into(),
            match opened.writer {
                "lancet" => "it has lancet's checksums".into(),
                _ => "it has no checksums".into(),
            },
        ));
        if let Some(sampled) = opened.sampled.as_ref().filter(|sampled| sampled.arrow_bytes > 0) {
            let ratio = file.bytes as f64 / sampled.arrow_bytes as f64;
            let about = if sampled.rows >= opened.rows { "" } else { "about " };
            facts.push((
                "Beside Arrow",
                format!("{:.0} %", 100.0 * ratio),
                format!("of {about}{} in memory", units::bytes(sampled.arrow_bytes)),
            ));
        }
        let zone_maps: u64 = opened.columns.iter().map(|column| column.zone_map_bytes).sum();
        if zone_maps > 0 {
            facts.push(("Zone maps", units::bytes(zone_maps), none()));
        }
    }
    cards(page, &facts);
}

/// Where the bytes are: by kind, and in the order of the file.
fn bytes(page: &mut Markup, file: &FileFacts) {
    section(page, "bytes", "Where the bytes are");
    let kinds = file.map.by_kind();
    stack(page, &file.map, file.bytes);
    page.raw("<div class=\"scroll\"><table><caption>All bytes of the file, by what they are for</caption>");
    page.raw("<thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"num\">bytes</th>");
    page.raw(
        "<th scope=\"col\" class=\"num\">share</th><th scope=\"col\" class=\"wide\">for</th></tr></thead><tbody>",
    );
    for (kind, bytes) in &kinds {
        let class = format!("k{}", *kind as u8);
        page.raw(
            "<tr><th scope=\"row\"><svg class=\"key\" viewBox=\"0 0 8 8\" aria-hidden=\"true\">",
        );
        page.open("rect", &[("width", "8"), ("height", "8"), ("rx", "2"), ("class", &class)]);
        page.raw("</rect></svg>").text(kind.name()).raw("</th>");
        page.element("td", &[("class", "num")], units::count(*bytes));
        page.element("td", &[("class", "num")], units::share(*bytes, file.bytes));
        page.element("td", &[("class", "soft wide")], kind.about()).raw("</tr>");
    }
    let all: u64 = kinds.iter().map(|(_, bytes)| bytes).sum();
    page.raw("</tbody><tfoot><tr><th scope=\"row\">all</th>");
    page.element("td", &[("class", "num")], units::count(all));
    page.element("td", &[("class", "num")], units::share(all, file.bytes));
    page.raw("<td class=\"wide\"></td></tr></tfoot></table></div>");
    page.raw("<h3>In the order of the file</h3><div id=\"map\"><div class=\"crumbs\"></div>");
    page.raw("<div class=\"strip\" data-label=\"all bytes of the file, in order\"></div>");
    page.raw("<p class=\"about\" aria-live=\"polite\"></p></div></section>\n");
}

/// One bar of all kinds.
fn stack(page: &mut Markup, map: &ByteMap, all: u64) {
    page.raw("<svg class=\"stack\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"shares of the bytes; the table below has the numbers\">");
    let mut at = 0.0;
    for (kind, bytes) in map.by_kind() {
        let width = 1000.0 * bytes as f64 / all.max(1) as f64;
        let (x, width_text, class) =
            (format!("{at:.2}"), format!("{width:.2}"), format!("k{}", kind as u8));
        page.open(
            "rect",
            &[("x", &x), ("width", &width_text), ("height", "10"), ("class", &class)],
        );
        let title = format!("{}: {}", kind.name(), units::bytes(bytes));
        page.element("title", &[], title).close("rect");
        at += width;
    }
    page.raw("</svg>");
}

/// Zone maps as bands.
fn zones(page: &mut Markup, opened: &Opened) {
    let with_zones = opened.columns.iter().enumerate().filter(|(_, c)| c.zones.is_some());
    let count = with_zones.clone().count();
    if count == 0 {
        return;
    }
    section(page, "zones", "Zones");
    page.raw("<p>Each column of a picture is a zone: the band goes from its least to its greatest value, ");
    page.raw("red from below is the share of nulls. Narrow bands that do not overlap let filters skip most of the file.</p>");
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\">picture</th>");
    page.raw("<th scope=\"col\">order</th><th scope=\"col\" class=\"num\">zones</th><th scope=\"col\" class=\"num\">a filter for one value reads</th>");
    page.raw("<th scope=\"col\">least</th><th scope=\"col\">greatest</th></tr></thead><tbody>");
    for (place, column) in with_zones.take(MOST_ZONES) {
        let Some(zones) = &column.zones else { continue };
        page.raw("<tr>").element("th", &[("scope", "row")], &column.name);
        let label = format!("zones of {}: {}", column.name, zones.order.name());
        let number = place.to_string();
        page.open("td", &[("class", "zones"), ("data-c", &number), ("data-label", &label)]);
        page.raw("</td>").element("td", &[], zones.order.name());
        page.element("td", &[("class", "num")], units::count(zones.num_zones as u64));
        page.element("td", &[("class", "num")], format!("{:.0} %", 100.0 * zones.read_share));
        let (least, greatest) = column.range.clone().unwrap_or_default();
        page.element("td", &[("class", "cell")], least);
        page.element("td", &[("class", "cell")], greatest).raw("</tr>");
    }
    page.raw("</tbody></table></div>");
    more(page, count, MOST_ZONES);
    page.raw("</section>\n");
}

/// Pages, side by side.
fn pages(page: &mut Markup, opened: &Opened) {
    section(page, "pages", "Pages");
    page.raw("<p>The pages of the largest columns, as wide as their bytes; colours tell encodings apart.</p>");
    page.raw("<p id=\"page-about\" class=\"about soft\" aria-live=\"polite\">Choose a page to see what it holds.</p>");
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\" class=\"num\">pages</th>");
    page.raw("<th scope=\"col\" class=\"num\">rows a page</th><th scope=\"col\">pages in the order of the rows</th></tr></thead><tbody>");
    let mut order: Vec<usize> = (0..opened.columns.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(opened.columns.get(*place).map_or(0, |c| c.bytes)));
    for place in order.into_iter().take(MOST_PAGES) {
        let Some(column) = opened.columns.get(place) else { continue };
        page.raw("<tr>").element("th", &[("scope", "row")], &column.name);
        page.element("td", &[("class", "num")], units::count(column.pages.count));
        let rows = column.rows.checked_div(column.pages.count).unwrap_or(0);
        page.element("td", &[("class", "num")], units::count(rows));
        page.open("td", &[("class", "pages"), ("data-c", &place.to_string())]);
        page.raw("</td></tr>");
    }
    page.raw("</tbody></table></div>");
    more(page, opened.columns.len(), MOST_PAGES);
    page.raw("</section>\n");
}

fn more(page: &mut Markup, all: usize, shown: usize) {
    if all > shown {
        let text =
            format!("{} more columns are not drawn here.", units::count((all - shown) as u64));
        page.element("p", &[("class", "soft")], text);
    }
}
