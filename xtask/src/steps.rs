//! Runs programs one after the other: a heading that tells how far it is before each, its time after it.

use std::ffi::OsStr;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a command comes to; the error is for people.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// What is to be done, in order. All of it is named before the first step runs, so that every
/// heading can tell how many are left.
#[derive(Default)]
pub(crate) struct Steps {
    planned: Vec<(String, Work)>,
}

type Work = Box<dyn FnOnce() -> Result<()>>;

impl Steps {
    /// Adds a piece of work.
    pub(crate) fn add(&mut self, name: &str, work: impl FnOnce() -> Result<()> + 'static) {
        self.planned.push((name.into(), Box::new(work)));
    }

    /// Adds a program that is run to its end.
    pub(crate) fn add_command(&mut self, name: &str, command: Command) {
        self.add(name, || run(command));
    }

    /// Runs every step; the first that fails ends it.
    pub(crate) fn run(self) -> Result<()> {
        let (all, begin) = (self.planned.len(), Instant::now());
        let mut done: Vec<(String, Duration)> = Vec::new();
        for (at, (name, work)) in self.planned.into_iter().enumerate() {
            let since = begin.elapsed().as_secs();
            println!("\n==== {} of {all}, {}:{:02}: {name}", at + 1, since / 60, since % 60);
            let start = Instant::now();
            work().map_err(|error| format!("{name}: {error}"))?;
            done.push((name, start.elapsed()));
        }
        println!("\n==== all passed");
        for (name, time) in &done {
            println!("{:7.1} s  {name}", time.as_secs_f64());
        }
        println!("{:7.1} s  together", begin.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Runs a program to its end; anything but success is an error that shows the command.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let line = shown(&command);
    println!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}")),
        Err(error) => Err(format!("`{line}` did not start: {error}")),
    }
}

/// What a program prints to its standard output.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let line = shown(&command);
    let done = command.output().map_err(|error| format!("`{line}` did not start: {error}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(format!("`{line}` ended with {}\n{said}", done.status));
    }
    String::from_utf8(done.stdout).map_err(|_| format!("`{line}` printed no text"))
}

/// Cargo, in the root of the workspace.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments);
    cargo
}

/// A program, in the root of the workspace.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(crate::root());
    // What cargo says of this program. Build scripts (ring's) look at it, and would have DataFusion
    // built again whenever cargo is called in another way.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
