//! Why columns are encoded as they are: what other ways would cost.

use super::markup::Markup;
use super::section;
use crate::report::facts::ColumnFacts;
use crate::report::why::{Candidates, Form, Profiles};
use crate::units;

/// Columns whose candidates are listed.
const MOST_COLUMNS: usize = 60;

/// The section, if columns were tried.
pub fn write(page: &mut Markup, columns: &[ColumnFacts], found: Option<&Profiles>) {
    let tried: Vec<(&ColumnFacts, &Candidates)> =
        columns.iter().filter_map(|c| Some((c, c.candidates.as_ref()?))).collect();
    if tried.is_empty() {
        return;
    }
    section(page, "why", "Why");
    page.raw("<p>Some rows of each column were written in every form, read back and timed on this machine. ");
    page.raw("● is what the columns have, ★ what <code>lancet analyze</code> recommends.</p>");
    if let Some(found) = found {
        profiles(page, found);
    }
    for (column, candidates) in tried.iter().take(MOST_COLUMNS) {
        candidates_of(page, column, candidates);
    }
    if tried.len() > MOST_COLUMNS {
        let more = units::count((tried.len() - MOST_COLUMNS) as u64);
        page.element(
            "p",
            &[("class", "soft")],
            format!("{more} more columns are not listed here."),
        );
    }
    page.raw("</section>\n");
}

/// What the profiles of the writer would bring.
fn profiles(page: &mut Markup, found: &Profiles) {
    let largest = found.predicted.iter().map(|(_, bytes)| *bytes).chain([found.current]).max();
    let largest = largest.unwrap_or(0).max(1) as f64;
    page.raw("<div class=\"scroll\"><table><caption>");
    page.text(format!(
        "What {} would take with each profile, estimated from some of the rows",
        units::counted(found.columns as u64, "column")
    ));
    page.raw("</caption><thead><tr><th scope=\"col\">profile</th><th scope=\"col\" class=\"num\">bytes</th>");
    page.raw(
        "<th scope=\"col\" class=\"num\">change</th><th scope=\"col\"></th></tr></thead><tbody>",
    );
    let all = [("as it is", found.current)].into_iter().chain(found.predicted.iter().copied());
    for (name, bytes) in all {
        page.raw("<tr>").element("th", &[("scope", "row")], name);
        page.element("td", &[("class", "num")], units::bytes(bytes));
        page.element("td", &[("class", "num")], units::change(found.current, bytes));
        page.raw("<td>").bar(bytes as f64 / largest).raw("</td></tr>");
    }
    page.raw("</tbody></table></div>");
}

fn candidates_of(page: &mut Markup, column: &ColumnFacts, candidates: &Candidates) {
    let best = candidates.forms.get(candidates.best);
    page.raw("<details><summary><strong>").text(&column.name).raw("</strong> ");
    let chosen = candidates.chosen.and_then(|chosen| candidates.forms.get(chosen));
    let verdict = match (chosen, best) {
        (Some(chosen), Some(best)) if chosen.name == best.name => {
            "has the form that is recommended".into()
        }
        (_, Some(best)) => format!("could be {}", best.name),
        _ => String::new(),
    };
    page.element("span", &[("class", "soft")], verdict).raw("</summary>");
    page.raw("<div class=\"scroll\"><table><caption>");
    page.text(format!(
        "{} of {}, {} in memory",
        units::rows(candidates.rows),
        column.name,
        units::bytes(candidates.arrow_bytes)
    ));
    page.raw("</caption><thead><tr><th scope=\"col\">form</th><th scope=\"col\" class=\"num\">bytes</th><th scope=\"col\"></th>");
    page.raw("<th scope=\"col\" class=\"num\">of Arrow</th><th scope=\"col\" class=\"num\">scan</th><th scope=\"col\" class=\"num\">one row</th></tr></thead><tbody>");
    let largest = candidates.forms.iter().map(|form| form.bytes).max().unwrap_or(0).max(1) as f64;
    for (place, form) in candidates.forms.iter().enumerate() {
        form_row(page, candidates, place, form, largest);
    }
    page.raw("</tbody></table></div></details>");
}

fn form_row(page: &mut Markup, candidates: &Candidates, place: usize, form: &Form, largest: f64) {
    let chosen = if candidates.chosen == Some(place) { "● " } else { "" };
    let best = if candidates.best == place { "★ " } else { "" };
    page.raw("<tr><th scope=\"row\">").text(format!("{chosen}{best}{}", form.name)).raw("</th>");
    page.element("td", &[("class", "num")], units::bytes(form.bytes));
    page.raw("<td>").bar(form.bytes as f64 / largest).raw("</td>");
    page.element("td", &[("class", "num")], units::share(form.bytes, candidates.arrow_bytes));
    page.element("td", &[("class", "num")], format!("{}/s", units::bytes(form.scan_speed)));
    let take = std::time::Duration::from_nanos(form.take);
    page.element("td", &[("class", "num")], units::time(take)).raw("</tr>");
}
