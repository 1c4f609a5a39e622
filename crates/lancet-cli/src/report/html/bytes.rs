//! Where the bytes are: by what they are for, and in their order.

use super::markup::Markup;
use super::section;
use crate::report::byte_map::Kind;
use crate::units;

/// The section. `all` is how many bytes there are and what the table of them is called, `order` what the map shows.
pub fn write(
    page: &mut Markup,
    kinds: &[(Kind, u64)],
    (all, caption): (u64, &'static str),
    order: &'static str,
) {
    section(page, "bytes", "Where the bytes are");
    stack(page, kinds, all);
    page.raw("<div class=\"scroll\"><table><caption>").text(caption).raw("</caption>");
    page.raw("<thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"num\">bytes</th>");
    page.raw(
        "<th scope=\"col\" class=\"num\">share</th><th scope=\"col\" class=\"wide\">for</th></tr></thead><tbody>",
    );
    for (kind, bytes) in kinds {
        page.raw("<tr><th scope=\"row\">");
        key(page, *kind);
        page.text(kind.name()).raw("</th>");
        page.element("td", &[("class", "num")], units::count(*bytes));
        page.element("td", &[("class", "num")], units::share(*bytes, all));
        page.element("td", &[("class", "soft wide")], kind.about()).raw("</tr>");
    }
    let sum: u64 = kinds.iter().map(|(_, bytes)| bytes).sum();
    page.raw("</tbody><tfoot><tr><th scope=\"row\">all</th>");
    page.element("td", &[("class", "num")], units::count(sum));
    page.element("td", &[("class", "num")], units::share(sum, all));
    page.raw("<td class=\"wide\"></td></tr></tfoot></table></div>");
    page.element("h3", &[], order).raw("<div id=\"map\"><div class=\"crumbs\"></div>");
    page.raw("<div class=\"strip\" data-names=\"\" data-label=\"all bytes, in order\"></div>");
    page.raw("<p class=\"about\" aria-live=\"polite\"></p></div></section>\n");
}

/// The colour of a kind.
fn key(page: &mut Markup, kind: Kind) {
    page.raw("<svg class=\"key\" viewBox=\"0 0 8 8\" aria-hidden=\"true\">");
    let class = format!("k{}", kind as u8);
    page.open("rect", &[("width", "8"), ("height", "8"), ("rx", "2"), ("class", &class)]);
    page.raw("</rect></svg>");
}

/// One bar of all kinds.
fn stack(page: &mut Markup, kinds: &[(Kind, u64)], all: u64) {
    page.raw("<svg class=\"stack\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"shares of the bytes; the table below has the numbers\">");
    let mut at = 0.0;
    for (kind, bytes) in kinds {
        let width = 1000.0 * *bytes as f64 / all.max(1) as f64;
        let (x, width_text, class) =
            (format!("{at:.2}"), format!("{width:.2}"), format!("k{}", *kind as u8));
        page.open(
            "rect",
            &[("x", &x), ("width", &width_text), ("height", "10"), ("class", &class)],
        );
        let title = format!("{}: {}", kind.name(), units::bytes(*bytes));
        page.element("title", &[], title).close("rect");
        at += width;
    }
    page.raw("</svg>");
}
