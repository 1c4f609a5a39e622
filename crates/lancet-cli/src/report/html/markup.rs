//! Markup, written so that nothing out of a file can become some: only text of the program is written as it is.

use std::fmt::{Display, Write};

use serde_json::Value;

use crate::terminal::printable;

/// A part of a page.
#[derive(Default)]
pub struct Markup(String);

/// The attributes of an element; their names are the program's, their values may be anybody's.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    /// Markup of the program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of anybody.
    pub fn text(&mut self, text: impl Display) -> &mut Self {
        escape(&text.to_string(), &mut self.0);
        self
    }

    /// The beginning of an element.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            escape(value, &mut self.0);
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    /// The end of an element.
    pub fn close(&mut self, name: &'static str) -> &mut Self {
        let _ = write!(self.0, "</{name}>");
        self
    }

    /// An element with text.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        text: impl Display,
    ) -> &mut Self {
        self.open(name, attributes).text(text).close(name)
    }

    /// Data for the script. It is no script: browsers do not run it.
    pub fn data(&mut self, id: &'static str, value: &Value) -> &mut Self {
        self.open("script", &[("type", "application/json"), ("id", id)]);
        for c in shown(value).to_string().chars() {
            match c {
                // Strings are the only place where these can stand.
                '<' | '>' | '&' => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self.close("script")
    }

    /// A bar as long as a share, between 0 and 1. It only repeats a number, so that nobody has to hear of it.
    pub fn bar(&mut self, share: f64) -> &mut Self {
        let width = format!("{:.0}", (share * 100.0).clamp(0.0, 100.0));
        self.raw("<svg class=\"bar\" viewBox=\"0 0 100 8\"><rect height=\"8\" width=\"");
        self.text(width).raw("\"/></svg>")
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.0
    }
}

/// The same data, with texts as pages hold them: the script writes them beside those of the page.
fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(text).into_owned()),
        Value::Array(all) => all.iter().map(shown).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), shown(value))).collect(),
        other => other.clone(),
    }
}

/// Text as a page holds it, on one line, without what would turn its direction.
fn escape(text: &str, out: &mut String) {
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_stays_text() {
        let mut page = Markup::default();
        page.element("p", &[("title", "\"onload='x'<")], "</p><script>alert(1)</script>\u{202e}\0");
        assert_eq!(
            page.finish(),
            "<p title=\"&quot;onload=&#39;x&#39;&lt;\">&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}\\u{0}</p>"
        );
    }

    #[test]
    fn data_does_not_end_early() {
        let mut page = Markup::default();
        page.data("d", &json!(["</script><!--", "\u{2028}&"]));
        let text = page.finish();
        assert_eq!(text.matches("</script>").count(), 1, "{text}");
        assert!(
            !text.contains("<!--") && !text.contains('&') && !text.contains('\u{2028}'),
            "{text}"
        );
        let inner = text.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
        let back: Value = serde_json::from_str(inner).unwrap();
        assert_eq!(back, json!(["</script><!--", "\\u{2028}&"]));
    }
}
