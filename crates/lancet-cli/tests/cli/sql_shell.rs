//! The shell of `lancet sql`, on a terminal, and Ctrl-C.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::lancet::Dir;

/// A query that takes far longer than a test.
const LONG: &str = "SELECT count(*) FROM generate_series(1, 100000000000) a WHERE a.value % 7 = 8";

/// A terminal with a shell in it.
struct Shell {
    child: Child,
    keys: File,
    screen: Arc<Mutex<String>>,
    /// What was looked at already.
    seen: usize,
}

impl Shell {
    fn start(dir: &Dir, args: &str) -> Self {
        let size = Winsize { ws_row: 50, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let side = || Stdio::from(terminal.slave.try_clone().unwrap());
        let mut command = dir.command(args);
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap();
        let keys = File::from(terminal.master);
        let (mut output, screen) = (keys.try_clone().unwrap(), Arc::new(Mutex::default()));
        let text: Arc<Mutex<String>> = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody holds any more gives an error.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, keys, screen, seen: 0 }
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the text appears, and returns what came with it.
    #[track_caller]
    fn expect(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap().clone();
            let new = &screen[self.seen..];
            if let Some(at) = new.find(text) {
                self.seen += at + text.len();
                return new[..at + text.len()].to_owned();
            }
            assert!(start.elapsed() < Duration::from_secs(60), "no `{text}` in:\n{new}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    fn ends_well(mut self) {
        assert!(wait(&mut self.child).success());
    }
}

#[track_caller]
fn wait(child: &mut Child) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn interrupt(child: &Child) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
}

fn dir(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("people.csv", "id,name\n1,ada\n2,bob\n");
    dir
}

#[test]
fn a_shell_answers_and_goes_on_after_errors() {
    let dir = dir("shell-answers");
    let mut shell = Shell::start(&dir, "sql");
    shell.expect(".help");
    shell.expect("lancet> ");
    shell.keys("SELECT name\r");
    shell.expect("...> ");
    shell.keys("FROM 'people.csv' WHERE id = 2;\r");
    let answer = shell.expect("1 row");
    assert!(answer.contains("│ bob  │"), "{answer}");
    shell.expect("lancet> ");
    shell.keys("SELECT nam FROM 'people.csv';\r");
    shell.expect("error: there is no column `nam`; did you mean `name`?");
    shell.expect("lancet> ");
    shell.keys("CREATE TABLE kept AS FROM 'people.csv';\r");
    shell.expect("lancet> ");
    shell.keys("SELECT max(id) AS one FROM kept; SELECT 'of two' AS two;\r");
    shell.expect("│ one │");
    shell.expect("of two");
    shell.expect("lancet> ");
    // What is too wide for the terminal is left out.
    shell.keys(
        "SELECT repeat('x', 70) AS a, repeat('y', 70) AS b, repeat('z', 70) AS c FROM kept;\r",
    );
    shell.expect("2 rows; 1 column did not fit");
    shell.expect("lancet> ");
    shell.keys(".tables\r");
    shell.expect("kept");
    shell.expect("'people.csv'");
    shell.expect("lancet> ");
    shell.keys(".nothing\r");
    shell.expect("error: there is no .nothing; see .help");
    shell.expect("lancet> ");
    shell.keys("\u{1b}[A\u{1b}[A\u{1b}[A"); // behind two commands stands the last statement
    shell.expect("AS c FROM kept;");
    shell.keys("\r");
    shell.expect("2 rows");
    shell.expect("lancet> ");
    shell.keys(".quit\r");
    shell.ends_well();
}

#[test]
fn ctrl_c_drops_the_line_or_the_query_and_ctrl_d_leaves() {
    let dir = dir("shell-keys");
    let mut shell = Shell::start(&dir, "-q sql");
    shell.expect("lancet> ");
    shell.keys("SELECT 1\r");
    shell.expect("...> ");
    shell.keys("AS dropped\u{3}");
    shell.expect("lancet> ");
    shell.keys("SELECT 2 AS kept;\r");
    let answer = shell.expect("1 row");
    assert!(answer.contains("kept") && !answer.contains("dropped"), "{answer}");
    shell.expect("lancet> ");
    shell.keys(&format!("{LONG};\r"));
    shell.expect("a.value % 7 = 8;");
    shell.expect("\u{1b}[?2004l"); // the shell gives the terminal back, and the query begins
    std::thread::sleep(Duration::from_millis(1_000));
    interrupt(&shell.child);
    shell.expect("error: interrupted");
    shell.expect("lancet> ");
    shell.keys("SELECT 3 AS still;\r");
    shell.expect("still");
    shell.expect("lancet> ");
    shell.keys("\u{4}");
    shell.ends_well();
}

#[test]
fn a_shell_needs_no_output_file() {
    let dir = dir("shell-output");
    let mut shell = Shell::start(&dir, "sql -o out.lance");
    shell.expect("error: -o needs a query");
    assert_eq!(wait(&mut shell.child).code(), Some(2));
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let dir = dir("sql-interrupted");
    let spill = dir.path("spill");
    let rows = "SELECT value, repeat('x', 100) AS text FROM generate_series(1, 100000000000)";
    for (query, options) in [
        (rows.to_owned(), "-o out.lance"),
        (rows.to_owned(), "-o out.csv"),
        (format!("COPY ({rows}) TO 'out.lance'"), ""),
        (format!("COPY ({rows}) TO 'out.parquet'"), ""),
        (format!("{rows} ORDER BY text, value DESC"), "--memory-limit 50MB"),
        (LONG.to_owned(), ""),
    ] {
        std::fs::create_dir_all(&spill).unwrap();
        let mut child = dir
            .command("sql")
            .arg(&query)
            .args(options.split_whitespace())
            .env("TMPDIR", &spill)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(2_000));
        interrupt(&child);
        let status = wait(&mut child);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(1), "error: interrupted\n"), "{query}");
        assert_eq!(dir.files(), ["people.csv", "spill"], "{query} {options}");
        assert_eq!(std::fs::read_dir(&spill).unwrap().count(), 0, "{query}");
    }
}
