//! Two files side by side.

use std::cmp::Ordering;

use super::markup::Markup;
use super::{header, section};
use crate::report::facts::{ComparedColumn, Comparison, Side};
use crate::units;

/// Writes the report.
pub fn write(page: &mut Markup, both: &Comparison) {
    let title = format!("{} and {}", both.names[0], both.names[1]);
    header(page, &title, None, &[("sizes", "Sizes"), ("compared", "Columns")]);
    sizes(page, both);
    columns(page, both);
    page.raw("</main>\n");
}

fn sizes(page: &mut Markup, both: &Comparison) {
    section(page, "sizes", "Sizes");
    let [first, second] = both.sides.each_ref().map(|side| side.bytes);
    page.element("p", &[], format!("The second file {}.", verdict(first, second)));
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\"></th><th scope=\"col\" class=\"num\">first</th>");
    page.raw("<th scope=\"col\" class=\"num\">second</th><th scope=\"col\" class=\"num\">change</th></tr></thead><tbody>");
    let text = |page: &mut Markup, what: &'static str, of: &dyn Fn(&Side) -> String| {
        page.raw("<tr>").element("th", &[("scope", "row")], what);
        for side in &both.sides {
            page.element("td", &[("class", "num")], of(side));
        }
        page.raw("<td></td></tr>");
    };
    page.raw("<tr><th scope=\"row\">file</th>");
    for name in &both.names {
        page.element("td", &[("class", "num cell")], name);
    }
    page.raw("<td></td></tr>");
    text(page, "Lance format", &|side| side.version.clone());
    text(page, "written by", &|side| side.writer.into());
    text(page, "rows", &|side| units::count(side.rows));
    let of = |number: fn(&Side) -> u64| [number(&both.sides[0]), number(&both.sides[1])];
    let numbers = [
        ("bytes of the file", of(|side| side.bytes)),
        ("bytes of pages", of(|side| side.data_bytes)),
        ("bytes of metadata", of(|side| side.metadata_bytes)),
    ];
    for (what, [a, b]) in numbers {
        page.raw("<tr>").element("th", &[("scope", "row")], what);
        page.element("td", &[("class", "num")], units::count(a));
        page.element("td", &[("class", "num")], units::count(b));
        page.element("td", &[("class", "num")], units::change(a, b)).raw("</tr>");
    }
    page.raw("</tbody></table></div></section>\n");
}

/// How the second file compares, in words.
fn verdict(first: u64, second: u64) -> String {
    let sizes = format!("{} instead of {}", units::bytes(second), units::bytes(first));
    let share = |part: u64| units::share(part, first);
    match second.cmp(&first) {
        Ordering::Less => format!("is {} smaller: {sizes}", share(first - second)),
        Ordering::Equal => format!("is as large: {}", units::bytes(second)),
        Ordering::Greater => format!("is {} larger: {sizes}", share(second - first)),
    }
}

fn columns(page: &mut Markup, both: &Comparison) {
    section(page, "compared", "Columns");
    let bytes = |column: &ComparedColumn, side: usize| {
        column.sides.get(side).and_then(|side| side.as_ref()).map_or(0, |side| side.bytes)
    };
    let all = both.columns.iter().flat_map(|column| [bytes(column, 0), bytes(column, 1)]);
    let largest = all.max().unwrap_or(0).max(1) as f64;
    page.raw("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">column</th><th scope=\"col\">type</th><th scope=\"col\" class=\"num\">first</th>");
    page.raw("<th scope=\"col\" class=\"num\">second</th><th scope=\"col\" class=\"num\">change</th><th scope=\"col\">encoding of the first</th>");
    page.raw("<th scope=\"col\">encoding of the second</th></tr></thead><tbody>");
    for column in &both.columns {
        let sides = [&column.sides[0], &column.sides[1]];
        let types: Vec<&str> =
            sides.iter().filter_map(|s| Some(s.as_ref()?.data_type.as_str())).collect();
        let types = match types.as_slice() {
            [a, b] if a != b => format!("{a} / {b}"),
            types => types.first().copied().unwrap_or("–").to_owned(),
        };
        page.raw("<tr>").element("th", &[("scope", "row")], &column.name);
        page.element("td", &[("class", "type")], types);
        for side in sides {
            page.raw("<td class=\"num\">");
            match side {
                Some(side) => {
                    page.text(units::bytes(side.bytes)).bar(side.bytes as f64 / largest);
                }
                None => {
                    page.raw("–");
                }
            }
            page.raw("</td>");
        }
        let told = match sides {
            [Some(a), Some(b)] => units::change(a.bytes, b.bytes),
            [None, _] => "only in the second".into(),
            _ => "only in the first".into(),
        };
        page.element("td", &[("class", "num")], told);
        for side in sides {
            let forms = side.as_ref().map_or("–", |side| side.forms.as_str());
            page.element("td", &[("class", "form")], forms);
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>");
    if let (count @ 1.., [first, second]) = both.left_out {
        let columns = units::counted(count as u64, "smaller column");
        let [first, second] = [first, second].map(units::bytes);
        let text =
            format!("{columns} not listed: {first} in the first file, {second} in the second.");
        page.element("p", &[("class", "soft")], text);
    }
    page.raw("</section>\n");
}
