//! Progress bars: rows done of rows to do, or the share of a file, on standard error, on a terminal only.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const BAR: &str = "{bar:32} {human_pos}/{human_len} rows, {elapsed} ({eta} left)";
const SHARE: &str = "{bar:32} {percent} %, {elapsed} ({eta} left)";
const COUNTER: &str = "{spinner} {human_pos} rows, {elapsed}";

/// A bar over `rows`, or a counter where their number is not known.
pub fn bar(rows: Option<u64>, quiet: bool) -> ProgressBar {
    styled(rows, if rows.is_some() { BAR } else { COUNTER }, quiet)
}

/// A bar over the share of something that is done.
pub fn share(quiet: bool) -> ProgressBar {
    styled(Some(0), SHARE, quiet)
}

fn styled(length: Option<u64>, template: &str, quiet: bool) -> ProgressBar {
    let target = if quiet || !stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(length, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar, // a plain bar still shows progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
        assert!(ProgressStyle::with_template(COUNTER).is_ok());
        assert!(ProgressStyle::with_template(SHARE).is_ok());
    }
}
