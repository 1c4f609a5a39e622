//! Named pipes where files are expected: nobody may ever write into them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::lancet::{Dir, Ran};
use crate::tables::with_table;

/// Runs `lancet`, which has to end by itself.
#[track_caller]
fn ends(dir: &Dir, args: &str) -> Ran {
    let mut command = dir.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("lancet {args} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ran::new(args, child.wait_with_output().unwrap())
}

#[test]
fn named_pipes_are_no_files() {
    let dir = Dir::new("pipes-files");
    for name in ["pipe.lance", "pipe.csv", "3.manifest"] {
        mkfifo(&dir.path(name), Mode::S_IRWXU).unwrap();
    }
    for args in [
        "cat pipe.lance",
        "cat pipe.csv",
        "take pipe.lance --rows 1",
        "verify pipe.lance",
        "stats pipe.lance",
        "inspect pipe.lance",
        "schema pipe.lance",
        "analyze pipe.lance",
        "report pipe.lance",
        "convert pipe.csv out.lance",
        "table create t pipe.csv",
        "row-ids pipe.lance",
        "row-ids 3.manifest",
    ] {
        let message = ends(&dir, args).failed();
        assert!(message.contains(": is a named pipe, not a file; "), "{args}: {message}");
    }
}

#[test]
fn pipes_of_the_shell_are_read() {
    let dir = Dir::new("pipes-shell");
    dir.write("t.csv", "a\n1\n");
    let script = format!(
        "{0} cat <(cat t.csv) --from csv --format csv && cat t.csv | {0} cat /dev/stdin --from csv --format csv",
        env!("CARGO_BIN_EXE_lancet")
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(dir.path(""));
    assert_eq!(Ran::new(&script, bash.output().unwrap()).ok(), "a\n1\na\n1\n");
}

/// The files of a folder whose names end so.
fn ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

#[test]
fn named_pipes_in_tables_are_damage() {
    let commands =
        ["cat table", "take table --rows 0", "verify table", "stats table", "table compact table"];
    for (folder, files) in [("data", ".lance"), ("_versions", ".manifest"), ("_deletions", "")] {
        let dir = with_table("pipes-tables", "rebased_v20");
        let files = ending(&dir.path("table").join(folder), files);
        assert!(!files.is_empty(), "{folder}");
        for file in files {
            std::fs::remove_file(&file).unwrap();
            mkfifo(&file, Mode::S_IRWXU).unwrap();
        }
        for args in commands {
            let ran = ends(&dir, args);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, 1, "{folder}, {args}: {said}");
            assert!(said.contains("it is not a regular file"), "{folder}, {args}: {said}");
        }
        if folder == "_versions" {
            let message = ends(&dir, "row-ids table").failed();
            assert!(message.contains("is a named pipe"), "{message}");
        }
    }
}
