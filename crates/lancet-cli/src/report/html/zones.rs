//! Zone maps as bands, of files and of tables.

use super::markup::Markup;
use super::{more_columns, section};
use crate::report::facts::ColumnFacts;
use crate::units;

/// Columns whose zones are drawn.
const MOST_ZONES: usize = 60;

/// The section. `left_out` columns have too many zones for a picture.
pub fn write(page: &mut Markup, columns: &[ColumnFacts], left_out: usize) {
    let with_zones = columns.iter().enumerate().filter(|(_, c)| c.zones.is_some());
    let count = with_zones.clone().count();
    if count == 0 && left_out == 0 {
        return;
    }
    section(page, "zones", "Zones");
    page.raw("<p>Each column of a picture is a zone: the band goes from its least to its greatest value, ");
    page.raw("red from below is the share of nulls. Narrow bands that do not overlap let filters skip most of the rows.");
    if with_zones.clone().any(|(_, c)| c.zones.as_ref().is_some_and(|zones| zones.unknown > 0)) {
        page.raw(" Grey are fragments without a zone map: they are always read.");
    }
    page.raw("</p>");
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\">picture</th>");
    page.raw("<th scope=\"col\">order</th><th scope=\"col\" class=\"num\">zones</th><th scope=\"col\" class=\"num\">a filter for one value reads</th>");
    page.raw("<th scope=\"col\">least</th><th scope=\"col\">greatest</th></tr></thead><tbody>");
    for (place, column) in with_zones.take(MOST_ZONES) {
        let Some(zones) = &column.zones else { continue };
        page.raw("<tr>").element("th", &[("scope", "row")], &column.name);
        let label = format!("zones of {}: {}", column.name, zones.order.name());
        let number = place.to_string();
        page.open("td", &[("class", "zones"), ("data-c", &number), ("data-label", &label)]);
        page.raw("</td><td>").text(zones.order.name());
        if zones.unknown > 0 {
            let text =
                format!("{} without a zone map", units::counted(zones.unknown as u64, "fragment"));
            page.element("small", &[("class", "soft block")], text);
        }
        page.raw("</td>");
        page.element("td", &[("class", "num")], units::count(zones.num_zones as u64));
        page.element("td", &[("class", "num")], format!("{:.0} %", 100.0 * zones.read_share));
        let (least, greatest) = column.range.clone().unwrap_or_else(|| ("–".into(), "–".into()));
        page.element("td", &[("class", "cell")], least);
        page.element("td", &[("class", "cell")], greatest).raw("</tr>");
    }
    page.raw("</tbody></table></div>");
    more_columns(page, count.saturating_add(left_out), count.min(MOST_ZONES));
    page.raw("</section>\n");
}
