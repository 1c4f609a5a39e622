//! The virtual environment that holds the reference.
//!
//! It lives outside the clone, under a name made from the requirements, so that every clone and
//! every run shares it and a change of the requirements makes a new one. A file `complete` is
//! written last: an environment without it was interrupted, and is made again.

use std::path::{Path, PathBuf};

use crate::needs::PYTHON;
use crate::steps::{Result, command, run};

/// The interpreter of the environment; makes the environment when it is not there.
pub(crate) fn interpreter(root: &Path) -> Result<PathBuf> {
    let (requirements, wanted) = requirements(root)?;
    let folder = folder_for(&wanted)?;
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let complete = folder.join("complete");
    let starts = || command(&python).arg("--version").output().is_ok_and(|o| o.status.success());
    if complete.exists() && starts() {
        return Ok(python);
    }
    make(&folder, &python, &requirements)?;
    std::fs::write(&complete, wanted).map_err(|e| format!("{}: {e}", complete.display()))?;
    Ok(python)
}

fn make(folder: &Path, python: &Path, requirements: &Path) -> Result<()> {
    let mut bare = command(PYTHON);
    bare.args(["-m", "venv", "--clear", "--without-pip"]).arg(folder);
    run(bare)?;
    // Some systems ship pip but not the copy of it that `venv` wants to install, so the pip of the
    // base interpreter fills the environment. One too old for that gets a pip inside.
    let mut install = command(PYTHON);
    install.args(["-m", "pip", "--python"]).arg(python).args(["install", "--quiet", "-r"]);
    install.arg(requirements);
    run(install).or_else(|_| {
        let mut full = command(PYTHON);
        full.args(["-m", "venv", "--clear"]).arg(folder);
        run(full)?;
        let mut install = command(python);
        install.args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements);
        run(install)
    })
}

/// Where the environment is, or will be.
pub(crate) fn folder(root: &Path) -> Result<PathBuf> {
    folder_for(&requirements(root)?.1)
}

/// The file of the requirements, and what it says.
fn requirements(root: &Path) -> Result<(PathBuf, String)> {
    let file = root.join("tests/reference/requirements.txt");
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((file, text))
}

fn folder_for(requirements: &str) -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = || {
        variable("XDG_CACHE_HOME")
            .or_else(|| variable("LOCALAPPDATA"))
            .or_else(|| Some(variable("HOME")?.join(".cache")))
    };
    let parent = variable("LANCET_VENV")
        .or_else(|| Some(cache()?.join("lancet")))
        .ok_or("no home folder: set LANCET_VENV to the folder the environment may be made in")?;
    // Never the folder itself: making an environment clears what is there.
    Ok(parent.join(format!("venv-{:016x}", fnv1a(requirements.as_bytes()))))
}

/// FNV-1a: a name that is the same on every machine and with every compiler.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
