//! What a conversion came to, for people and for programs.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::units;

/// What became of one file.
pub enum Converted {
    /// It was written; `replaced` says whether there was a file before.
    Written { rows: u64, bytes_in: u64, bytes_out: u64, replaced: bool },
    /// It was there already.
    Skipped,
}

/// What became of all files.
#[derive(Debug, Default)]
pub struct Summary {
    files: u64,
    rows: u64,
    bytes_in: u64,
    bytes_out: u64,
    replaced: Vec<String>,
    skipped: Vec<String>,
    /// Names of inputs, and what went wrong.
    failed: Vec<(String, String)>,
}

impl Summary {
    /// Counts a file that was converted or skipped.
    pub fn add(&mut self, output: &Path, converted: Converted) {
        let output = output.display().to_string();
        match converted {
            Converted::Skipped => self.skipped.push(output),
            Converted::Written { rows, bytes_in, bytes_out, replaced } => {
                self.files += 1;
                self.rows += rows;
                self.bytes_in += bytes_in;
                self.bytes_out += bytes_out;
                if replaced {
                    self.replaced.push(output);
                }
            }
        }
    }

    /// Counts a file that could not be converted.
    pub fn add_failed(&mut self, input: &Path, message: &str) {
        self.failed.push((input.display().to_string(), message.to_owned()));
    }

    /// How many files could not be converted.
    pub fn num_failed(&self) -> usize {
        self.failed.len()
    }

    /// One line for people.
    pub fn line(&self, elapsed: Duration) -> String {
        let num_files = self.files as usize + self.skipped.len() + self.failed.len();
        let mut parts = Vec::new();
        if self.files > 0 {
            let files = match num_files {
                1 => String::new(),
                _ => format!("{}, ", units::counted(self.files, "file")),
            };
            parts.push(format!(
                "{files}{}: {} in, {} out, {}",
                units::rows(self.rows),
                units::bytes(self.bytes_in),
                units::bytes(self.bytes_out),
                units::time(elapsed)
            ));
        }
        let mut tell = |what: &str, names: &[String]| match names {
            [] => {}
            [name] => parts.push(format!("{what} {name}")),
            _ => parts.push(format!("{what} {}", units::counted(names.len() as u64, "file"))),
        };
        tell("replaced", &self.replaced);
        tell("skipped", &self.skipped);
        tell("failed on", &self.failed.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        parts.join("; ")
    }

    /// One object for programs.
    pub fn to_json(&self, elapsed: Duration) -> Value {
        let failed = |(file, error): &(String, String)| json!({ "file": file, "error": error });
        json!({
            "files": self.files,
            "rows": self.rows,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "seconds": elapsed.as_secs_f64(),
            "replaced": self.replaced,
            "skipped": self.skipped,
            "failed": self.failed.iter().map(failed).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_tells_everything() {
        let written =
            |replaced| Converted::Written { rows: 3, bytes_in: 10, bytes_out: 1_500, replaced };
        let second = Duration::from_secs(1);
        let mut summary = Summary::default();
        summary.add(Path::new("a.lance"), written(true));
        assert_eq!(summary.line(second), "3 rows: 10 B in, 1.5 kB out, 1.00 s; replaced a.lance");
        summary.add(Path::new("b.lance"), written(true));
        summary.add(Path::new("c.lance"), Converted::Skipped);
        summary.add_failed(Path::new("d.csv"), "d.csv: no such file");
        assert_eq!(
            summary.line(second),
            "2 files, 6 rows: 20 B in, 3.0 kB out, 1.00 s; replaced 2 files; skipped c.lance; \
             failed on d.csv"
        );
        let json = summary.to_json(second);
        assert_eq!((&json["files"], &json["rows"]), (&2.into(), &6.into()));
        assert_eq!(json["failed"][0]["error"], "d.csv: no such file");
    }
}
