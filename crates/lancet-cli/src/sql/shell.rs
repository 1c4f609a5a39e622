//! The shell: statements from a terminal, one after the other.

use std::io::Write;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use super::{Answers, statement, told};
use crate::error::{Error, Result};
use crate::format::Format;

const HELP: &str = "\
Statements end with a semicolon and may have several lines:
  FROM 'orders.lance' LIMIT 5;         tables are files, folders and patterns in quotes
  SUMMARIZE 'orders.lance';            least, greatest and distinct values of each column
  DESCRIBE 'orders.lance';             names and types of the columns
  CREATE TABLE t AS SELECT …;          a table in memory, as long as the shell runs
  COPY (SELECT …) TO 'out.lance';      a new file
  INSERT INTO, UPDATE, DELETE FROM and MERGE INTO change Lance tables: DELETE FROM 'cities.lance' WHERE …;

.tables          tables of this session, and files here that can be queried
.help            this text
.quit, .exit     leave; so does Ctrl-D
Ctrl-C drops what is typed, or stops the query that runs. Tab completes names of files.";

/// Asks for statements until there are no more.
pub(super) fn run(answers: &Answers<'_>, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let mut editor = Editor::<Names, DefaultHistory>::new().map_err(terminal)?;
    editor.set_helper(Some(Names(FilenameCompleter::new())));
    if !quiet {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(out, "lancet {version}: SQL over files. Statements end with ;  .help tells more")?;
    }
    let mut text = String::new();
    loop {
        out.flush()?;
        match editor.readline(if text.is_empty() { "lancet> " } else { "   ...> " }) {
            Ok(line) if text.is_empty() && line.trim_start().starts_with('.') => {
                if !command(line.trim(), answers, out)? {
                    return Ok(());
                }
                let _ = editor.add_history_entry(line); // a history is not worth an error
            }
            Ok(line) => {
                text.push_str(&line);
                text.push('\n');
                if statement::is_complete(&text) {
                    let _ = editor.add_history_entry(text.trim_end());
                    complain(answer(&text, answers, out), out)?;
                    text.clear();
                } else if statement::is_empty(&text) {
                    text.clear();
                }
            }
            Err(ReadlineError::Interrupted) => text.clear(),
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(terminal(error)),
        }
    }
}

fn answer(text: &str, answers: &Answers<'_>, out: &mut dyn Write) -> Result<()> {
    answers.give(statement::parse(text).map_err(told)?, out)
}

/// An error is told and does not end the shell; a closed pipe does.
fn complain(result: Result<()>, out: &mut dyn Write) -> Result<()> {
    match result {
        Err(Error::Message(message) | Error::Usage(message)) => {
            out.flush()?;
            crate::terminal::tell(&format!("error: {message}"));
            Ok(())
        }
        other => other,
    }
}

/// Runs a command with a dot. Returns whether the shell goes on.
fn command(line: &str, answers: &Answers<'_>, out: &mut dyn Write) -> Result<bool> {
    match line {
        ".quit" | ".exit" => return Ok(false),
        ".help" => writeln!(out, "{HELP}")?,
        ".tables" => tables(answers, out)?,
        _ => complain(Err(Error::new(format!("there is no {line}; see .help"))), out)?,
    }
    Ok(true)
}

fn tables(answers: &Answers<'_>, out: &mut dyn Write) -> Result<()> {
    for name in answers
        .ctx
        .catalog("datafusion")
        .iter()
        .flat_map(|c| c.schema("public"))
        .flat_map(|s| s.table_names())
    {
        writeln!(out, "{name}")?;
    }
    let entries = std::fs::read_dir(".").map_err(|error| Error::new(format!(".: {error}")))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| Format::from_path(path).is_ok())
        .filter_map(|path| Some(format!("'{}'", path.file_name()?.to_string_lossy())))
        .collect();
    names.sort_unstable();
    for name in names {
        writeln!(out, "{name}")?;
    }
    Ok(())
}

fn terminal(error: ReadlineError) -> Error {
    Error::new(format!("cannot read from the terminal: {error}"))
}

/// Completes names of files.
struct Names(FilenameCompleter);

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        self.0.complete(line, at, context)
    }
}

impl Helper for Names {}
impl Highlighter for Names {}
impl Hinter for Names {
    type Hint = String;
}
impl Validator for Names {}
