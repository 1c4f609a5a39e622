//! `lancet man`: the help texts as manual pages, in the language of `man`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::error::{Error, InFile, Result};

const EXAMPLES: &str = "\
Examples:
  lancet man | man -l -                           the page of lancet
  lancet man convert | man -l -                   the page of one command
  lancet man --dir ~/.local/share/man/man1        all pages; then `man lancet-convert`";

/// Which page to print.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Command whose page to print [default: the page of lancet itself]
    command: Option<String>,
    /// Write the pages of all commands to this folder instead
    #[arg(long, conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, program: Command, out: &mut dyn Write) -> Result<()> {
    let mut program = program.disable_help_subcommand(true);
    program.build(); // gives the commands the options of the program, and their pages a name
    if let Some(dir) = &args.dir {
        return write_all(dir, &program);
    }
    let command = match &args.command {
        None => Some(&program),
        Some(name) => program.find_subcommand(name),
    };
    match command {
        Some(command) => Ok(out.write_all(&page(command)?)?),
        None => {
            let name = args.command.as_deref().unwrap_or_default();
            Err(Error::new(format!("there is no command `{name}`; `lancet help` lists them")))
        }
    }
}

fn write_all(dir: &Path, program: &Command) -> Result<()> {
    std::fs::create_dir_all(dir).in_file(dir)?;
    for command in std::iter::once(program).chain(program.get_subcommands()) {
        let path = dir.join(Man::new(command.clone()).get_filename());
        std::fs::write(&path, page(command)?).in_file(&path)?;
    }
    Ok(())
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(concat!("lancet ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        examples(&text.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

/// The text after the options, line by line: `man` would make paragraphs of the examples.
fn examples(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    let text = text.strip_prefix("Examples:\n").unwrap_or(text);
    text.lines().for_each(|line| {
        roff.text([roman(line)]);
    });
    roff.control("fi", []);
    roff
}
