//! New files: where links, pipes and devices lead, who may read them, and no way to have another file written.

use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::lancet::{Dir, Ran};

const TABLE: &str = "id,name\n1,ada\n2,bob\n";
const FORMATS: [&str; 8] =
    ["lance", "csv", "csv.gz", "parquet", "arrow", "arrows", "json", "jsonl"];

fn with_table(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("t.csv", TABLE);
    dir
}

#[test]
fn a_secret_file_stays_secret() {
    let dir = with_table("new-modes");
    for format in FORMATS {
        let name = format!("out.{format}");
        dir.write(&name, "old");
        std::fs::set_permissions(dir.path(&name), PermissionsExt::from_mode(0o600)).unwrap();
        dir.lancet(&format!("convert t.csv {name}")).ok();
        let mode = dir.path(&name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_name_that_was_foreseen_leads_nowhere() {
    let dir = with_table("new-planted");
    for format in FORMATS {
        dir.write("precious", "precious");
        // The number of the process stays the same over `exec`.
        let script = format!(
            "for end in part 0.part tmp 0.tmp; do ln -s precious .out.{format}.$$.$end; \
             ln -s precious .out.{format}.$$-$end; done; exec {} convert t.csv out.{format}",
            env!("CARGO_BIN_EXE_lancet")
        );
        let mut shell = Command::new("sh");
        let ran = shell.args(["-c", &script]).current_dir(dir.path("")).output().unwrap();
        Ran::new(&script, ran).ok();
        assert_eq!(dir.read("precious"), "precious", "{format}");
    }
}

#[test]
fn a_link_keeps_leading_where_it_leads() {
    let dir = with_table("new-links");
    std::fs::create_dir(dir.path("real")).unwrap();
    for format in FORMATS {
        let (link, real) = (format!("link.{format}"), format!("real/file.{format}"));
        dir.write(&real, "old");
        symlink(&real, dir.path(&link)).unwrap();
        dir.lancet(&format!("convert t.csv {link}")).ok();
        assert!(dir.path(&link).is_symlink(), "{link}");
        assert!(!dir.path(&real).is_symlink());
        assert_eq!(dir.lancet(&format!("cat {real} --format csv")).ok(), TABLE);
    }
    symlink("nowhere.csv", dir.path("lost.csv")).unwrap();
    let message = dir.lancet("convert t.csv lost.csv").failed();
    assert!(message.contains("a link that leads nowhere"), "{message}");
    assert!(!dir.path("nowhere.csv").exists() && dir.path("lost.csv").is_symlink());
}

#[test]
fn pipes_and_devices_are_written_into() {
    let dir = with_table("new-devices");
    mkfifo(&dir.path("pipe.csv"), Mode::S_IRWXU).unwrap();
    symlink("pipe.csv", dir.path("link.csv")).unwrap();
    for name in ["pipe.csv", "link.csv"] {
        let reader = std::thread::spawn({
            let path = dir.path("pipe.csv");
            move || std::fs::read_to_string(path).unwrap()
        });
        dir.lancet(&format!("convert t.csv {name}")).ok();
        assert_eq!(reader.join().unwrap(), TABLE);
        assert!(dir.path("pipe.csv").metadata().unwrap().file_type().is_fifo());
        assert!(dir.path("link.csv").is_symlink());
    }
    for format in FORMATS {
        dir.lancet(&format!("convert t.csv /dev/null --to {format}")).ok();
        let written = dir.command(&format!("convert t.csv /dev/stdout --to {format}")).output();
        assert!(written.unwrap().stdout.len() >= TABLE.len(), "{format}");
    }
    symlink("/dev/null", dir.path("null.csv")).unwrap();
    dir.lancet("convert t.csv null.csv").ok();
    assert!(dir.path("null.csv").is_symlink());
    let null = std::path::Path::new("/dev/null").metadata().unwrap().file_type();
    assert!(null.is_char_device());
    assert_eq!(dir.files(), ["link.csv", "null.csv", "pipe.csv", "t.csv"]);
}

#[test]
fn standard_output_that_is_a_file_is_appended_to() {
    let dir = with_table("new-stdout");
    let script = format!(
        "{{ echo before; {} -q convert t.csv /dev/stdout --to csv; echo after; }} >> all.csv",
        env!("CARGO_BIN_EXE_lancet")
    );
    let mut shell = Command::new("sh");
    let ran = shell.args(["-c", &script]).current_dir(dir.path("")).output().unwrap();
    Ran::new(&script, ran).ok();
    assert_eq!(dir.read("all.csv"), format!("before\n{TABLE}after\n"));
}
