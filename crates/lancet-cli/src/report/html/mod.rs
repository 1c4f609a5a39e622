//! A report as a page: one file that needs nothing else.

mod bytes;
mod chart;
mod columns;
mod compare;
mod data;
mod file;
mod fragments;
mod hash;
mod markup;
mod pages;
mod rows;
mod table;
mod why;
mod zones;

use super::facts::{Health, Place, State, Subject};
use super::image::base64;
use crate::units;
use markup::Markup;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The whole page.
pub fn page(subject: &Subject) -> String {
    let mut page = Markup::default();
    let title = match subject {
        Subject::File(file) => file.name.clone(),
        Subject::Table(table) => table.name.clone(),
        Subject::Comparison(both) => format!("{} and {}", both.names[0], both.names[1]),
    };
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy())]);
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    page.raw("<meta name=\"referrer\" content=\"no-referrer\">");
    page.element("title", &[], format!("{title} – lancet report"));
    page.raw("<style>");
    for part in lines(STYLE) {
        page.raw(part);
    }
    page.raw("</style></head>\n<body>");
    page.raw("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n");
    match subject {
        Subject::File(file) => file::write(&mut page, file),
        Subject::Table(table) => table::write(&mut page, table),
        Subject::Comparison(both) => compare::write(&mut page, both),
    }
    page.raw("<footer>Made by <code>lancet report</code> ");
    page.text(env!("CARGO_PKG_VERSION"));
    page.raw(". Sizes are in steps of 1,000 bytes.</footer>\n");
    page.data("data", &data::of(subject));
    page.raw("\n<script>");
    for part in lines(SCRIPT) {
        page.raw(part);
    }
    page.raw("</script>\n</body></html>\n");
    page.finish()
}

/// A text with the ends of lines that browsers make of any, before they compare its hash: a checkout may have others.
fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split_inclusive('\n').flat_map(|line| match line.strip_suffix("\r\n") {
        Some(line) => [line, "\n"],
        None => [line, ""],
    })
}

/// What a browser may do: run the script and the style of the program, show images that are in the page, and nothing else.
fn policy() -> String {
    let hash =
        |text: &'static str| base64(&hash::sha256(lines(text).collect::<String>().as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// The beginning of a page: its name, whether all is well, where to go.
fn header(page: &mut Markup, name: &str, state: Option<State>, sections: &[(&'static str, &str)]) {
    page.raw("<header>").open("h1", &[]).text(name);
    if let Some(state) = state {
        let (class, word) = match state {
            State::Sound => ("badge good", "✓ sound"),
            State::Damaged => ("badge bad", "✗ damaged"),
            State::Unknown => ("badge warn", "? not fully checked"),
        };
        page.raw(" ").element("span", &[("class", class)], word);
    }
    page.close("h1").raw("<nav aria-label=\"Sections\">");
    for (id, title) in sections {
        page.element("a", &[("href", &format!("#{id}"))], title);
    }
    page.raw("</nav></header>\n<main id=\"main\">");
}

/// Figures at a glance: what, how much, a remark.
fn cards(page: &mut Markup, cards: &[(&str, String, String)]) {
    page.raw("<dl class=\"cards\">");
    for (what, value, remark) in cards {
        page.raw("<div>").element("dt", &[], what).raw("<dd>").text(value);
        if !remark.is_empty() {
            page.element("small", &[], remark);
        }
        page.raw("</dd></div>");
    }
    page.raw("</dl>\n");
}

/// What a row takes; nothing where there are no rows.
fn each(bytes: u64, rows: u64) -> String {
    if rows > 0 { format!("{} each", per_row(bytes, rows)) } else { String::new() }
}

/// What a row takes, in larger units where it is long.
fn per_row(bytes: u64, rows: u64) -> String {
    match bytes.checked_div(rows) {
        Some(long @ 1_000..) => units::bytes(long),
        _ => units::per_row(bytes, rows),
    }
}

/// The beginning of a section.
fn section(page: &mut Markup, id: &'static str, title: &str) {
    page.open("section", &[("id", id), ("class", "long"), ("aria-labelledby", &format!("h-{id}"))]);
    page.element("h2", &[("id", &format!("h-{id}"))], title);
}

/// What `verify` found.
fn health(page: &mut Markup, health: &Health) {
    section(page, "health", "Health");
    let (class, verdict) = match health.state {
        State::Sound => ("good", "Every rule of the format holds."),
        State::Damaged => ("bad", "There is damage."),
        State::Unknown => ("warn", "Not all of it was checked."),
    };
    page.raw("<p>").element("strong", &[("class", class)], verdict).raw(" ");
    page.text(&health.about).raw("</p>");
    if !health.problems.is_empty() {
        page.raw("<ul class=\"problems\">");
        for problem in &health.problems {
            page.raw("<li>").text(&problem.what);
            if let Some(at) = problem.at {
                let place = match at {
                    Place::Byte(at) => format!(" (byte {} of the file)", units::count(at)),
                    Place::From(at) => format!(" (in what begins at byte {})", units::count(at)),
                };
                page.element("span", &[("class", "soft")], place);
            }
            page.raw("</li>");
        }
        if health.more > 0 {
            page.element("li", &[], format!("and {} more", units::count(health.more)));
        }
        page.raw("</ul>");
    }
    page.raw("</section>\n");
}

/// Says how many columns a section does not show.
fn more_columns(page: &mut Markup, all: usize, shown: usize) {
    if all > shown {
        let more = units::counted((all - shown) as u64, "more column");
        page.element("p", &[("class", "soft")], format!("{more} not drawn here."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_a_browser() {
        let text = |text| lines(text).collect::<String>();
        assert_eq!(text("a {\r\n b\n}\r\n"), "a {\n b\n}\n");
        assert_eq!(text("no end"), "no end");
        assert!(!text(STYLE).contains('\r') && !text(SCRIPT).contains('\r'));
    }
}
