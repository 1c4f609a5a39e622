//! What lancet has to say about a text besides its rows, on standard error.

use std::path::Path;

pub use crate::terminal::tell;

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
