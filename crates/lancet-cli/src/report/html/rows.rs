//! Rows as a table: values cut, vectors as lines, images as such.

use super::markup::Markup;
use super::section;
use crate::report::rows::{Cell, ShownRows};
use crate::units;

/// The section of the rows.
pub fn write(page: &mut Markup, shown: &ShownRows) {
    section(page, "rows", "Rows");
    if let Some(failure) = &shown.failure {
        page.raw("<p class=\"bad\">The rows cannot be shown: ")
            .text(failure)
            .raw("</p></section>\n");
        return;
    }
    if shown.rows.is_empty() {
        page.raw("<p>There are none.</p></section>\n");
        return;
    }
    page.raw("<p>The first rows, and some from further on.");
    if shown.more_columns > 0 {
        let text =
            format!(" {} more columns are not shown.", units::count(shown.more_columns as u64));
        page.text(text);
    }
    page.raw(
        "</p><div class=\"scroll\"><table><thead><tr><th scope=\"col\" class=\"num\">row</th>",
    );
    for (name, data_type) in &shown.columns {
        page.element("th", &[("scope", "col"), ("title", data_type)], name);
    }
    page.raw("</tr></thead><tbody>");
    let mut last = None;
    for (number, cells) in &shown.rows {
        let is_apart = last.is_some_and(|last: u64| last.saturating_add(1) != *number);
        page.open("tr", if is_apart { &[("class", "apart")] } else { &[] });
        page.element("th", &[("scope", "row"), ("class", "num")], units::count(*number));
        cells.iter().for_each(|value| cell(page, value));
        page.raw("</tr>");
        last = Some(*number);
    }
    page.raw("</tbody></table></div></section>\n");
}

fn cell(page: &mut Markup, cell: &Cell) {
    match cell {
        Cell::Null => {
            page.raw("<td class=\"null\">null</td>");
        }
        Cell::Unread(why) => {
            page.element("td", &[("class", "null")], why);
        }
        Cell::Text(text) => {
            // Long ones would be columns of single words where there is little room.
            let is_long = text.chars().nth(24).is_some();
            page.element("td", &[("class", if is_long { "cell long" } else { "cell" })], text);
        }
        Cell::Vector(values, len) => {
            page.raw("<td>");
            line(page, values);
            let text = format!("{} numbers", units::count(*len as u64));
            page.element("small", &[("class", "soft")], text).raw("</td>");
        }
        Cell::Image(image) => {
            page.raw("<td>");
            if let Some(data) = &image.data {
                page.open("img", &[("src", data), ("alt", &image.about), ("loading", "lazy")]);
            }
            let not_shown = if image.data.is_none() { ", too large to show" } else { "" };
            let about = format!("{}{not_shown}", image.about);
            page.element("small", &[("class", "soft")], about).raw("</td>");
        }
    }
}

/// A vector as a line.
fn line(page: &mut Markup, values: &[f32]) {
    let finite = || values.iter().filter(|value| value.is_finite());
    let low = finite().copied().fold(f32::INFINITY, f32::min);
    let high = finite().copied().fold(f32::NEG_INFINITY, f32::max);
    let height = |value: f32| match high > low {
        true => 22.0 - 20.0 * (value - low) / (high - low),
        false => 12.0,
    };
    let step = 100.0 / values.len().saturating_sub(1).max(1) as f32;
    let point = |(at, value): (usize, &f32)| {
        value.is_finite().then(|| format!("{:.1},{:.1}", at as f32 * step, height(*value)))
    };
    let points: Vec<String> = values.iter().enumerate().filter_map(point).collect();
    let label = format!("from {low} to {high}");
    page.open(
        "svg",
        &[
            ("class", "line"),
            ("viewBox", "0 0 100 24"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", &label),
        ],
    );
    page.open("polyline", &[("points", &points.join(" "))]).raw("</polyline></svg>");
}
