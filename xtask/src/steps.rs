//! Runs programs one after the other: a heading before each, its time after it.

use std::ffi::OsStr;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a command comes to; the error is for people.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// The steps run so far, with their times.
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { done: Vec::new() }
    }

    /// Runs one program to its end.
    pub(crate) fn run(&mut self, name: &str, command: Command) -> Result<()> {
        self.time(name, || run(command))
    }

    /// Does one piece of work under a heading.
    pub(crate) fn time<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n==== {name}");
        let start = Instant::now();
        let outcome = work().map_err(|error| format!("{name}: {error}"));
        let time = start.elapsed();
        println!("---- {name}: {:.1} s", time.as_secs_f64());
        self.done.push((name.into(), time));
        outcome
    }

    /// Prints the times of all steps. Called when none has failed.
    pub(crate) fn finish(&self) {
        println!("\n==== all passed");
        for (name, time) in &self.done {
            println!("{:7.1} s  {name}", time.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        println!("{:7.1} s  together", total.as_secs_f64());
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
    command
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
