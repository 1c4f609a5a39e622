//! Text out of files on its way to people: what would command a terminal is spelled out.

use std::borrow::Cow;
use std::io::{Write, stderr};

use crate::error::Result;

/// One line on standard error. If that is closed, there is nowhere else to complain.
pub fn tell(line: &str) {
    let _ = writeln!(stderr(), "{}", printable(line));
}

/// One line of a report.
pub fn line(out: &mut dyn Write, line: &str) -> Result<()> {
    Ok(writeln!(out, "{}", printable(line))?)
}

/// The text on one line, with nothing in it that a terminal obeys.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_command) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_command(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and those that turn the direction of what follows.
pub fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelled_out() {
        assert_eq!(printable("Zürich, 京都"), "Zürich, 京都");
        assert_eq!(printable("\u{1b}[31mred\nline"), "\\u{1b}[31mred\\nline");
        assert_eq!(printable("a\u{9b}b\u{202e}c\u{7f}"), "a\\u{9b}b\\u{202e}c\\u{7f}");
    }
}
