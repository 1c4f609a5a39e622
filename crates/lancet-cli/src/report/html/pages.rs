//! The pages of columns side by side, of files and of tables.

use super::markup::Markup;
use super::{more_columns, section};
use crate::report::facts::{ColumnFacts, LeftOut};
use crate::units;

/// Columns whose pages are drawn.
const MOST_PAGES: usize = 30;

/// Whether there is anything to draw.
pub fn has_pages(columns: &[ColumnFacts]) -> bool {
    columns.iter().any(|column| column.pages.count > 0)
}

/// The section.
pub fn write(page: &mut Markup, columns: &[ColumnFacts], left_out: LeftOut) {
    if !has_pages(columns) {
        return;
    }
    section(page, "pages", "Pages");
    page.raw("<p>A line has all pages of a column, each as wide as its share of the bytes of the column; colours tell encodings apart. ");
    page.raw("The largest columns come first.</p>");
    page.raw("<p id=\"page-about\" class=\"about soft\" aria-live=\"polite\">Choose a page to see what it holds.</p>");
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\" class=\"num\">pages</th>");
    page.raw("<th scope=\"col\" class=\"num\">rows a page</th><th scope=\"col\" class=\"num\">bytes</th><th scope=\"col\">pages in the order of the rows</th></tr></thead><tbody>");
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(columns.get(*place).map_or(0, |c| c.bytes)));
    for place in order.into_iter().take(MOST_PAGES) {
        let Some(column) = columns.get(place) else { continue };
        page.raw("<tr>").element("th", &[("scope", "row")], &column.name);
        page.element("td", &[("class", "num")], units::count(column.pages.count));
        let rows = column.rows.checked_div(column.pages.count).unwrap_or(0);
        page.element("td", &[("class", "num")], units::count(rows));
        page.element("td", &[("class", "num")], units::bytes(column.bytes));
        page.open("td", &[("class", "pages"), ("data-c", &place.to_string())]);
        page.raw("</td></tr>");
    }
    page.raw("</tbody></table></div>");
    more_columns(page, columns.len() + left_out.columns, MOST_PAGES.min(columns.len()));
    page.raw("</section>\n");
}
