//! What lancet has to say about a text besides its rows, on standard error.

use std::io::{Write, stderr};
use std::path::Path;

/// One line. A closed standard error is no reason to fail.
pub fn tell(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Says of columns of numbers that no type holds exactly that they are text now.
pub fn tell_unholdable(path: &Path, names: &[String]) {
    if !names.is_empty() {
        tell(&format!(
            "{}: read as text, since no 64-bit type holds these numbers exactly: `{}`; --types chooses another type",
            path.display(),
            names.join("`, `")
        ));
    }
}
