//! Lines that fit: reports for people stay inside the width of their terminal.

use std::io::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::error::Result;
use crate::table::{Grid, terminal_width};
use crate::terminal::printable;

/// Reports are never narrower than this: figures need some room.
const LEAST_WIDTH: u16 = 20;
/// Further than the line they belong to, broken lines are indented by this.
const HANG: usize = 4;

/// How wide a report may be.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Width {
    /// Longest line of the report [default: the width of the terminal]
    #[arg(long, value_name = "CHARACTERS",
        value_parser = clap::value_parser!(u16).range(i64::from(LEAST_WIDTH)..))]
    width: Option<u16>,
}

impl Width {
    /// The width asked for, or that of the terminal; none where there is neither.
    pub fn get(self) -> Option<usize> {
        let width = self.width.or_else(terminal_width);
        width.map(|width| usize::from(width.max(LEAST_WIDTH)))
    }
}

/// Where a report goes, line by line.
pub struct Report<'a> {
    out: &'a mut dyn Write,
    width: Option<usize>,
}

impl<'a> Report<'a> {
    /// A report whose lines have at most `width` characters, if there is a limit.
    pub fn new(out: &'a mut dyn Write, width: Option<usize>) -> Self {
        Self { out, width }
    }

    /// A line; a long one goes on below, indented.
    pub fn line(&mut self, text: impl AsRef<str>) -> Result<()> {
        let text = &*printable(text.as_ref());
        let Some(width) = self.width else { return Ok(writeln!(self.out, "{text}")?) };
        wrapped(text, width).iter().try_for_each(|line| Ok(writeln!(self.out, "{line}")?))
    }

    /// A table.
    pub fn grid(&mut self, grid: &Grid) -> Result<()> {
        Ok(writeln!(self.out, "{}", grid.plain_within(self.width))?)
    }

    /// A command to be pasted into a shell: a long one goes on below, as shells want it. A word is
    /// never broken, however long it is.
    pub fn command(&mut self, words: &[String]) -> Result<()> {
        let mut line = String::from(" ");
        for word in words {
            let used = line.width() + 1 + word.width() + " \\".len();
            if self.width.is_some_and(|width| used > width) && !line.trim().is_empty() {
                writeln!(self.out, "{line} \\")?;
                line = " ".repeat(1 + HANG);
            }
            line.push(' ');
            line.push_str(&printable(word));
        }
        Ok(writeln!(self.out, "{line}")?)
    }
}

/// A text as lines of at most `width`, which is 20 or more. They break at spaces; a word that is longer than a line is
/// broken too, so nothing is lost.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let indent = text.len().saturating_sub(text.trim_start_matches(' ').len()).min(width / 3);
    let below = " ".repeat((indent + HANG).min(width / 2));
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut rest = word;
        while !rest.is_empty() {
            let gap = usize::from(!is_empty);
            let room = width.saturating_sub(line.width() + gap);
            let is_too_long = rest.width() > room;
            if is_too_long && !is_empty && rest.width() + below.len() <= width || room < 2 {
                lines.push(std::mem::replace(&mut line, below.clone()));
                is_empty = true;
                continue;
            }
            let (part, others) = split_at_width(rest, room);
            line.push_str(&" ".repeat(gap));
            line.push_str(part);
            (rest, is_empty) = (others, false);
        }
    }
    lines.push(line);
    lines
}

/// The text, cut to `width` with a mark where something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (part, _) = split_at_width(text, width.saturating_sub(1));
    format!("{part}…")
}

/// The characters that have room in `width`, and the others.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let is_beyond = |c: char| {
        used += c.width().unwrap_or(0);
        used > width
    };
    text.split_at(text.find(is_beyond).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(width: usize, write: impl Fn(&mut Report<'_>)) -> String {
        let mut out = Vec::new();
        write(&mut Report::new(&mut out, Some(width)));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_lines_go_on_below() {
        assert_eq!(wrapped("  a line that fits", 18), ["  a line that fits"]);
        let lines = wrapped("  one two three four five six seven", 20);
        assert_eq!(lines, ["  one two three four", "      five six seven"]);
    }

    #[test]
    fn long_words_are_broken_and_nothing_is_lost() {
        let word = "漢字".repeat(30);
        let text = format!("  type Struct({word}) and more");
        for width in 20..60 {
            let lines = wrapped(&text, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
            let joined: String = lines.concat().split(' ').collect();
            assert_eq!(joined, text.split(' ').collect::<String>(), "{width}");
        }
    }

    #[test]
    fn cuts_are_marked() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn commands_go_on_as_shells_want_it() {
        let words: Vec<String> =
            ["lancet", "take", "orders.lance", "--rows", "7"].map(Into::into).into();
        assert_eq!(
            report(80, |r| r.command(&words).unwrap()),
            "  lancet take orders.lance --rows 7\n"
        );
        let broken = "  lancet take \\\n      orders.lance \\\n      --rows 7\n";
        assert_eq!(report(20, |r| r.command(&words).unwrap()), broken);
    }
}
