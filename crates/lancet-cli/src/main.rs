//! The program `lancet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lancet_cli::run(std::env::args_os())
}
