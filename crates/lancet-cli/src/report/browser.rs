//! Shows a page in the browser of the user.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, InFile, Result};

/// Opens a file as the system does it.
pub fn open(path: &Path) -> Result<()> {
    let path = path.canonicalize().in_file(path)?;
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    let name = command.get_program().to_string_lossy().into_owned();
    let command =
        command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Browsers may stay for as long as the page does: nobody waits for them.
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(format!(
            "cannot start `{name}` to show the page ({error}); open it yourself: {}",
            path.display()
        ))),
    }
}
