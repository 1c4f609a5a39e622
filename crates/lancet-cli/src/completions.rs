//! `lancet completions`: a script that lets a shell complete the commands and options of `lancet`.

use std::io::Write;

use clap_complete::Shell;

use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  lancet completions bash > ~/.local/share/bash-completion/completions/lancet
  lancet completions zsh > ~/.zfunc/_lancet            with `fpath+=~/.zfunc` in ~/.zshrc, before compinit
  lancet completions fish > ~/.config/fish/completions/lancet.fish
  lancet completions powershell >> $PROFILE

Completions work in the next shell that you open.";

/// Which script to print.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Shell that will read the script
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &Args, mut program: clap::Command, out: &mut dyn Write) -> Result<()> {
    // Into memory first: the generator ends the program when its output is a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "lancet", &mut script);
    Ok(out.write_all(&script)?)
}
