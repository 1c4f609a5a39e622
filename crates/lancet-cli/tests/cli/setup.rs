//! `completions` and `man`.

use std::process::Command;

use crate::lancet::Dir;

/// The commands, as `lancet help` lists them.
fn commands(dir: &Dir) -> Vec<String> {
    let help = dir.lancet("help").ok();
    let command = |line: &str| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?.to_owned();
        name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(name)
    };
    let listed = help.split_once("\n\nOptions:").unwrap().0;
    listed.lines().filter_map(command).collect()
}

#[test]
fn completions_know_every_command() {
    let dir = Dir::new("completions");
    let commands = commands(&dir);
    for expected in ["convert", "cat", "row-ids", "completions", "man", "help"] {
        assert!(commands.iter().any(|command| command == expected), "{commands:?}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = dir.lancet(&format!("completions {shell}")).ok();
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not know `{command}`");
        }
        assert!(script.contains("format-version"), "{shell} does not know the options of convert");
    }
    assert_eq!(dir.lancet("completions tcsh").code, 2);
}

#[test]
fn the_bash_script_is_sound() {
    let dir = Dir::new("completions-bash");
    dir.write("lancet.bash", dir.lancet("completions bash").ok());
    let checked = Command::new("bash").arg("-n").arg(dir.path("lancet.bash")).output();
    match checked {
        Ok(checked) => assert!(checked.status.success(), "{checked:?}"),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound), // no bash here
    }
}

#[test]
fn manual_pages() {
    let dir = Dir::new("man");
    let main = dir.lancet("man").ok();
    for expected in
        [".TH lancet 1", ".SH NAME", ".SH SYNOPSIS", "lancet\\-convert(1)", "Exit codes"]
    {
        assert!(main.contains(expected), "{expected}: {main}");
    }
    let page = dir.lancet("man convert").ok();
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
        assert!(page.contains(&format!(".SH {section}\n")), "{section}: {page}");
    }
    let help = dir.lancet("convert --help").ok();
    let words = help.split_whitespace().map(|word| word.trim_end_matches(','));
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(options.len() > 5, "{help}");
    for option in options {
        assert!(page.contains(&option.replace('-', "\\-")), "{option}: {page}");
    }
    assert!(page.contains("lancet convert orders.parquet orders.lance\n"), "{page}");
    let message = dir.lancet("man frobnicate").failed();
    assert_eq!(message, "there is no command `frobnicate`; `lancet help` lists them");
}

#[test]
fn a_folder_of_manual_pages() {
    let dir = Dir::new("man-dir");
    assert_eq!(dir.lancet("man --dir pages/man1").ok(), "");
    let mut expected: Vec<String> = commands(&dir);
    expected.retain(|command| command != "help");
    expected.iter_mut().for_each(|command| *command = format!("lancet-{command}.1"));
    expected.push("lancet.1".into());
    expected.sort();
    let pages = std::fs::read_dir(dir.path("pages/man1")).unwrap();
    let mut pages: Vec<String> =
        pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    assert_eq!(pages, expected);
    assert_eq!(dir.read("pages/man1/lancet-cat.1"), dir.lancet("man cat").ok());
    assert_eq!(dir.lancet("man cat --dir pages").code, 2);
}
