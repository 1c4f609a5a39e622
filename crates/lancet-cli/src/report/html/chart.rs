//! Bars side by side, for versions and fragments.

use super::markup::Markup;
use crate::units;

/// Room for a bar, at most: few bars are not as wide as the page.
const MOST_STEP: f64 = 140.0;

/// One bar.
pub struct Bar {
    pub name: String,
    pub value: u64,
    /// What stands upon it, in another colour: rows that are deleted.
    pub deleted: u64,
}

/// A figure of bars. `show` writes a value for people.
pub fn chart(page: &mut Markup, caption: &'static str, bars: &[Bar], show: fn(u64) -> String) {
    let most = bars.iter().map(|bar| bar.value.saturating_add(bar.deleted)).max().unwrap_or(0);
    page.raw("<figure><figcaption>").text(caption).raw(" <span class=\"soft\">up to ");
    page.text(show(most)).raw("</span></figcaption>");
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        page.raw("<p class=\"soft\">none</p></figure>");
        return;
    };
    let label =
        format!("{}: {}; {}: {}", first.name, show(first.value), last.name, show(last.value));
    page.open(
        "svg",
        &[
            ("class", "chart"),
            ("viewBox", "0 0 1000 100"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", &label),
        ],
    );
    let step = (1000.0 / bars.len() as f64).min(MOST_STEP);
    for (place, bar) in bars.iter().enumerate() {
        write_bar(page, bar, (place as f64 * step, step), most.max(1) as f64, show);
    }
    page.raw("</svg><p class=\"ends\">");
    match bars.len() {
        1 => page.element("span", &[], &first.name),
        // Where the bars do not reach the other end, its name would stand beside none.
        _ if step >= MOST_STEP => {
            page.element("span", &[], format!("{} to {}", first.name, last.name))
        }
        _ => page.element("span", &[], &first.name).element("span", &[], &last.name),
    };
    page.raw("</p></figure>");
}

fn write_bar(
    page: &mut Markup,
    bar: &Bar,
    (x, step): (f64, f64),
    most: f64,
    show: fn(u64) -> String,
) {
    let [height, on_top] = [bar.value, bar.deleted].map(|n| 100.0 * n as f64 / most);
    let title = match bar.deleted {
        0 => format!("{}: {}", bar.name, show(bar.value)),
        deleted => format!("{}: {}, {} deleted", bar.name, show(bar.value), units::count(deleted)),
    };
    let (x, width) = (format!("{x:.2}"), format!("{:.2}", step * 0.86));
    for (class, height, bottom) in [("a", height, 0.0), ("b", on_top, height)] {
        if height > 0.0 {
            let (y, height) = (format!("{:.2}", 100.0 - bottom - height), format!("{height:.2}"));
            page.open(
                "rect",
                &[("class", class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)],
            );
            page.element("title", &[], &title).close("rect");
        }
    }
}
