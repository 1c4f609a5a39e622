//! What the tests need, said and looked for before anything is built: a missing tool is no
//! surprise after ten minutes.

use crate::steps::{Result, cargo, command, output};

/// What is asked for, how to see whether it is there, where to get it.
type Need = (&'static str, fn() -> bool, &'static str);

const NEEDS: [Need; 5] = [
    ("rustfmt", || output(cargo(["fmt", "--version"])).is_ok(), "rustup component add rustfmt"),
    ("clippy", || crate::lints::driver().is_ok(), "rustup component add clippy"),
    ("a C compiler", || starts("cc"), "install gcc or clang"),
    ("Python 3", || starts(PYTHON), "install Python 3.10 or later"),
    ("pip", || output(pip()).is_ok(), "install pip for that Python"),
];

/// The interpreter of the system.
pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Says what is needed, and fails if some of it is not there.
pub(crate) fn check() -> Result<()> {
    let names: Vec<&str> = NEEDS.iter().map(|(name, ..)| *name).collect();
    println!("Needs {}, and package indexes in reach for the first run.", names.join(", "));
    println!(
        "The first run takes about 25 minutes on two cores and 8 GB of disk, later ones a third of that."
    );
    println!("Built into {}", crate::target()?.display());
    println!("Environment of the reference: {}", crate::python::folder(&crate::root())?.display());
    let missing: Vec<String> = NEEDS
        .iter()
        .filter(|(_, is_there, _)| !is_there())
        .map(|(name, _, remedy)| format!("{name} is missing: {remedy}"))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n")) }
}

fn starts(program: &str) -> bool {
    let mut version = command(program);
    version.arg("--version");
    output(version).is_ok()
}

fn pip() -> std::process::Command {
    let mut pip = command(PYTHON);
    pip.args(["-m", "pip", "--version"]);
    pip
}
