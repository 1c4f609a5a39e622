//! Runs the program in a directory of its own, and compares what it prints with files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory for one test.
pub struct Dir(PathBuf);

impl Dir {
    /// An empty directory.
    pub fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lancet"));
        command.args(args.split_whitespace()).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// Runs `lancet` with these bytes on standard input.
    pub fn piped(&self, args: &str, stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails may not read everything.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
        child.wait_with_output().unwrap()
    }

    /// Runs `lancet` with words separated by spaces.
    pub fn lancet(&self, args: &str) -> Ran {
        Ran::new(args, self.command(args).output().unwrap())
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    pub args: String,
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn new(args: &str, output: Output) -> Self {
        Self {
            args: args.into(),
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output of a run that must have gone well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "lancet {}\n{}", self.args, self.stderr);
        self.stdout
    }

    /// The one line of a run that must have failed.
    #[track_caller]
    pub fn failed(self) -> String {
        assert_eq!(self.code, 1, "lancet {}\n{}{}", self.args, self.stdout, self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr.trim_end().strip_prefix("error: ").expect(&self.stderr).to_owned()
    }
}

/// Compares with `tests/snapshots/NAME.txt`; `UPDATE_SNAPSHOTS=1` writes that file instead.
#[track_caller]
pub fn assert_snapshot(name: &str, seen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, seen).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(seen, expected, "{name} has changed; UPDATE_SNAPSHOTS=1 accepts it");
}
