//! How the pages of a new file are encoded, and why.

use lancet::{PageSummary, WriteSummary};

use crate::error::Result;
use crate::lines::Report;
use crate::units;

/// Prints each column. Pages that follow one another with the same form share a line; the forms
/// that were considered are those of the first of them.
pub fn write(summary: &WriteSummary, out: &mut Report<'_>) -> Result<()> {
    for column in &summary.columns {
        let bytes = column.pages.iter().map(|page| page.bytes).sum();
        out.line(format!("{}: {}", column.name.escape_debug(), units::bytes(bytes)))?;
        for alike in column.pages.chunk_by(is_alike) {
            write_pages(alike, out)?;
        }
    }
    Ok(())
}

fn is_alike(a: &PageSummary, b: &PageSummary) -> bool {
    (a.layout, shape(&a.encoding), &a.reason) == (b.layout, shape(&b.encoding), &b.reason)
}

/// An encoding without its numbers, which differ from page to page.
fn shape(encoding: &str) -> String {
    encoding.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn write_pages(pages: &[PageSummary], out: &mut Report<'_>) -> Result<()> {
    let Some(first) = pages.first() else { return Ok(()) };
    let (rows, bytes) = pages.iter().fold((0, 0), |(r, b), p| (r + p.rows, b + p.bytes));
    out.line(format!(
        "  {}, {}, {}: {}, {}",
        units::counted(pages.len() as u64, "page"),
        units::rows(rows),
        units::bytes(bytes),
        first.layout,
        first.encoding
    ))?;
    out.line(format!("    why: {}", first.reason))?;
    let mut candidates: Vec<_> = first.candidates.iter().collect();
    candidates.sort_by_key(|candidate| candidate.bytes);
    for candidate in candidates {
        out.line(format!("    {:>9}  {}", units::bytes(candidate.bytes), candidate.encoding))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_tell_pages_apart() {
        assert_eq!(shape("dictionary of 12 (flat 8-bit)"), shape("dictionary of 7 (flat 64-bit)"));
        assert_ne!(shape("flat 8-bit"), shape("run-length 8-bit"));
    }
}
