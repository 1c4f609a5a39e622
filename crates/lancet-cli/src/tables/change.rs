//! What all verbs share: the table they change, how the work is watched and ended, what is told of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use lancet::ReadOptions;
use lancet_table::{Table, TableChange, TableWriteOptions};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::places::{BranchArgs, InTable, Place};
use crate::signals::Cancel;
use crate::{terminal, units};

/// How often a change is worked out again because another writer was faster.
pub const ATTEMPTS: usize = 5;

/// Options of every verb that makes a version.
#[derive(Debug, clap::Args)]
pub struct ChangeArgs {
    /// Message for people, kept with the version
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: BranchArgs,
}

impl ChangeArgs {
    /// Opens the newest version of the table, or of the branch.
    pub fn open(&self, table: &Path) -> Result<Table> {
        self.place.open(&folder(table)?, ReadOptions::default())
    }

    /// How the change is written: `bar` shows the rows, and `cancel` ends it.
    pub fn options(&self, bar: &ProgressBar, cancel: &Cancel) -> TableWriteOptions {
        let bar = bar.clone();
        let options = TableWriteOptions::default()
            .with_cancel(cancel.flag())
            .with_progress(move |progress| bar.set_position(progress.rows));
        match &self.message {
            Some(message) => options.with_message(message),
            None => options,
        }
    }

    /// Works a change out on the newest version, and again where another writer was faster with one that it does not go
    /// together with.
    pub fn on_newest<T>(
        &self,
        table: &Path,
        mut change: impl FnMut(&mut Table) -> lancet_table::Result<T>,
    ) -> Result<T> {
        let mut attempt = 1;
        loop {
            match change(&mut self.open(table)?) {
                Err(lancet_table::Error::Conflict(conflict))
                    if conflict.can_retry && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                done => return done.in_table(table),
            }
        }
    }
}

/// The folder that an argument names.
pub fn folder(table: &Path) -> Result<PathBuf> {
    match Place::of(table)? {
        Place::Disk(folder) => Ok(folder),
        Place::Standard => Err(Error::usage("a table is a folder, and - is standard input")),
        Place::Url(_) => Err(Error::new(
            "tables in stores cannot be changed by this program; the library `lancet-table` can",
        )
        .about(table)),
    }
}

/// What the library advises is a method; here it is an option.
pub fn advise(error: Error, method: &str, option: &str) -> Error {
    match error {
        Error::Message(message) => Error::Message(message.replace(method, option)),
        other => other,
    }
}

/// What is told of a change.
pub struct Done<'a> {
    pub verb: &'static str,
    pub table: &'a Path,
    pub version: Option<u64>,
    /// More of it, for programs.
    pub facts: Vec<(&'static str, Value)>,
    /// The same, for people.
    pub line: String,
}

impl<'a> Done<'a> {
    /// A change of rows.
    pub fn rows(verb: &'static str, table: &'a Path, change: &TableChange) -> Self {
        let counts = [
            ("rows_inserted", "added", change.rows_inserted),
            ("rows_updated", "updated", change.rows_updated),
            ("rows_deleted", "deleted", change.rows_deleted),
        ];
        let told = counts.iter().filter(|(_, _, rows)| *rows > 0);
        let told: Vec<String> =
            told.map(|(_, what, rows)| format!("{} {what}", units::rows(*rows))).collect();
        Self {
            verb,
            table,
            version: Some(change.version),
            facts: counts.map(|(key, _, rows)| (key, Value::from(rows))).into(),
            line: if told.is_empty() { "no rows changed".into() } else { told.join(", ") },
        }
    }

    /// Tells it.
    pub fn tell(self, json: bool, quiet: bool, out: &mut dyn Write) -> Result<()> {
        if json {
            let mut report = Map::new();
            report.insert("table".into(), self.table.display().to_string().into());
            report.insert("verb".into(), self.verb.into());
            report.insert("version".into(), self.version.into());
            report.extend(self.facts.into_iter().map(|(key, value)| (key.to_owned(), value)));
            writeln!(out, "{:#}", Value::Object(report))?;
        } else {
            self.say(quiet);
        }
        Ok(())
    }

    /// Tells it to people.
    pub fn say(&self, quiet: bool) {
        if !quiet {
            let version =
                self.version.map_or_else(String::new, |version| format!(" version {version}:"));
            terminal::tell(&format!("{}:{version} {}", self.table.display(), self.line));
        }
    }
}
