//! A run that is stopped leaves nothing behind, and what a killed one leaves is found by the next.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{SigHandler, Signal, kill};
use nix::unistd::Pid;

use crate::endless;
use crate::lancet::Dir;

const TARGETS: [&str; 7] =
    ["out.lance", "out.csv", "out.csv.gz", "out.parquet", "out.arrow", "out.arrows", "out.json"];

/// Converts without end.
fn writing(dir: &Dir, target: &str) -> Child {
    let args = format!("convert endless.lance {target} --any-rows");
    let mut child = dir.command(&args).stderr(Stdio::piped()).spawn().unwrap();
    // The file of before, its source, and what is being written.
    wait_until(&mut child, || dir.files().len() == 3);
    child
}

fn wait_until(child: &mut Child, mut done: impl FnMut() -> bool) {
    while !done() {
        assert!(child.try_wait().unwrap().is_none(), "it ended: {:?}", child.stderr);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn a_signal_leaves_no_half_file() {
    for (number, target) in TARGETS.into_iter().enumerate() {
        let dir = endless::dir(&format!("signals-{target}"));
        dir.write(target, "old");
        let signal = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP][number % 3];
        // Tests that run in the background or under nohup ignore some, and so would the program.
        // SAFETY: no handler is set that could run.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }.unwrap();
        let mut child = writing(&dir, target);
        send(&child, signal);
        // As whoever sent it expects: 130 in a shell after Ctrl-C.
        assert_eq!(child.wait().unwrap().signal(), Some(signal as i32), "{target}");
        assert_eq!(dir.files(), ["endless.lance", target]);
        assert_eq!(dir.read(target), "old");
    }
}

#[test]
fn a_signal_leaves_nothing_of_what_came_through_a_pipe() {
    let dir = Dir::new("signals-spool");
    std::fs::create_dir(dir.path("temp")).unwrap();
    let mut command = dir.command("cat - --from csv");
    command.env("TMPDIR", dir.path("temp")).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _stdin = child.stdin.take(); // which would be closed by waiting
    let spooled = || std::fs::read_dir(dir.path("temp")).unwrap().count();
    wait_until(&mut child, || spooled() == 1);
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
    assert_eq!(spooled(), 0);
}

#[test]
fn a_signal_that_the_caller_ignores_is_ignored() {
    let dir = endless::dir("signals-nohup");
    let program = env!("CARGO_BIN_EXE_lancet");
    let script = format!("trap '' HUP; exec {program} convert endless.lance out.csv --any-rows");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(dir.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(&mut child, || dir.files().len() == 2);
    send(&child, Signal::SIGHUP);
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
    assert_eq!(dir.files(), ["endless.lance"]);
}

#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let dir = Dir::new("signals-size");
    dir.write("t.csv", "a\n".to_owned() + &numbers());
    for target in TARGETS {
        dir.write(target, "old");
        let program = env!("CARGO_BIN_EXE_lancet");
        let script = format!("ulimit -f 64; exec {program} -q convert t.csv {target}");
        let ran = Command::new("sh").args(["-c", &script]).current_dir(dir.path("")).output();
        let ran = ran.unwrap();
        let message = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{target}: {:?} {message}", ran.status);
        assert!(message.contains(target) && message.contains("File too large"), "{message}");
        assert_eq!(dir.files(), [target, "t.csv"]);
        assert_eq!(dir.read(target), "old");
        std::fs::remove_file(dir.path(target)).unwrap();
    }
}

/// Lines that do not compress well.
fn numbers() -> String {
    (1..100_000_u64).map(|i| format!("{}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

#[test]
fn the_next_run_finds_what_a_killed_one_left() {
    let dir = endless::dir("signals-killed");
    dir.write("out.csv", "old");
    let mut child = writing(&dir, "out.csv");
    child.kill().unwrap();
    child.wait().unwrap();
    let left = dir.files().into_iter().find(|name| name.starts_with('.')).unwrap();
    dir.write("t.csv", "a\n1\n");

    let ran = dir.lancet("-q convert t.csv t.lance");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains(&left) && ran.stderr.contains("rm "), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    // What it says to do is enough.
    let rm = &ran.stderr[ran.stderr.find("rm ").unwrap()..];
    let removed = Command::new("sh").args(["-c", rm]).current_dir(dir.path("")).status().unwrap();
    assert!(removed.success() && !dir.files().contains(&left));
    assert_eq!(dir.lancet("-q convert t.csv t.lance").stderr, "");

    // What somebody is writing is not left over.
    let mut child = endless_other(&dir);
    assert_eq!(dir.lancet("-q convert t.csv t.lance").stderr, "");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn endless_other(dir: &Dir) -> Child {
    let mut child = dir.command("convert endless.lance x.csv --any-rows").spawn().unwrap();
    wait_until(&mut child, || dir.files().iter().any(|name| name.starts_with(".x.csv.")));
    child
}
