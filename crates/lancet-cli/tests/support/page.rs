//! Looks at a page as strictly as no browser does: every element closed, every attribute quoted, nothing from elsewhere.

use serde_json::Value;

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "img", "input"];

/// A page, taken apart.
#[derive(Debug, Default)]
pub struct Page {
    /// Names of elements, with their attributes.
    pub elements: Vec<(String, Vec<(String, String)>)>,
    /// All text outside of scripts and styles, with its escapes.
    pub text: String,
    /// The data for the script.
    pub data: Value,
}

impl Page {
    /// Takes a page apart; panics where it is not well-formed.
    pub fn parse(page: &str) -> Self {
        let mut rest = page.strip_prefix("<!doctype html>").expect("a doctype");
        let (mut found, mut open) = (Self::default(), Vec::new());
        while let Some(at) = rest.find('<') {
            let (text, tag) = rest.split_at(at);
            check_text(text);
            found.text.push_str(text);
            let (tag, after) = tag[1..].split_once('>').expect("the end of a tag");
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name), "an end without a beginning");
                found.text.push(' ');
                continue;
            }
            let (name, attributes) = parse_tag(tag.strip_suffix('/').unwrap_or(tag));
            check_attributes(&name, &attributes);
            let is_data = attributes.iter().any(|(_, value)| value == "application/json");
            if name == "script" || name == "style" {
                let end = format!("</{name}>");
                let (inside, after) = rest.split_once(&end).expect("the end of a script");
                rest = after;
                if is_data {
                    found.data = serde_json::from_str(inside).expect("data");
                } else {
                    let elsewhere = ["http:", "https:", "url(", "@import", "innerHTML", "eval("];
                    let inside = inside.replace("http://www.w3.org/2000/svg", "");
                    elsewhere.iter().for_each(|word| assert!(!inside.contains(word), "{word}"));
                }
            } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
                open.push(name.clone());
            }
            found.elements.push((name, attributes));
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
        found
    }

    /// The text of an element that stands once in the page, such as a title.
    pub fn has_text(&self, text: &str) -> bool {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(text)
    }
}

/// Only the escapes that are meant.
fn check_text(text: &str) {
    assert!(!text.contains('>'), "{text}");
    for part in text.split('&').skip(1) {
        let escape = part.split(';').next().unwrap();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&escape), "&{escape}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}

fn parse_tag(tag: &str) -> (String, Vec<(String, String)>) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim_start().split_once("=\"").expect(tag);
        let (value, after) = after.split_once('"').expect(tag);
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "<{tag}>");
        assert!(!attributes.iter().any(|(known, _)| known == key), "<{tag}>");
        check_text(value);
        attributes.push((key.to_owned(), value.to_owned()));
        rest = after;
        assert!(rest.is_empty() || rest.starts_with(' '), "<{tag}>");
    }
    (name.to_owned(), attributes)
}

fn check_attributes(name: &str, attributes: &[(String, String)]) {
    for (key, value) in attributes {
        assert!(!key.starts_with("on") && key != "style", "{name} {key}");
        match key.as_str() {
            "href" => assert!(value.starts_with('#'), "{value}"),
            "src" => assert!(value.starts_with("data:image/"), "{value}"),
            _ => {}
        }
    }
    assert!(!["link", "iframe", "object", "embed", "base", "form"].contains(&name), "{name}");
}
