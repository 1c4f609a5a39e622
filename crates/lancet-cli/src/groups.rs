//! The help text of the program: its commands in groups, by what one wants to do.

use std::fmt::Write;

use clap::Command;
use clap::builder::Styles;

/// Commands that are in no group come last.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Read and write", &["convert", "cat", "take", "table", "sql"]),
    (
        "Look inside",
        &["schema", "inspect", "stats", "analyze", "verify", "report", "versions", "row-ids"],
    ),
    ("Try and set up", &["demo", "completions", "man", "help"]),
];

/// The program, with a help text that shows its commands in groups.
pub fn in_groups(program: Command) -> Command {
    let header = Styles::styled().get_header().to_owned();
    let mut commands = String::new();
    for (group, names) in groups(&program) {
        let _ = writeln!(commands, "{header}{group}:{header:#}");
        for name in names {
            let about = about(&program, &name);
            let literal = Styles::styled().get_literal().to_owned();
            let _ = writeln!(commands, "  {literal}{name:<11}{literal:#}  {about}");
        }
        commands.push('\n');
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{commands}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    program.help_template(template)
}

/// The groups, without commands that this build lacks, and with those that no group names.
fn groups(program: &Command) -> Vec<(&'static str, Vec<String>)> {
    let mut left: Vec<String> =
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    left.push("help".into());
    let mut groups = Vec::new();
    for (group, names) in GROUPS {
        let there = names.iter().filter(|name| left.iter().any(|l| l == *name));
        let there: Vec<String> = there.map(|name| (*name).to_owned()).collect();
        left.retain(|name| !there.contains(name));
        groups.push((group, there));
    }
    groups.push(("Others", left));
    groups.retain(|(_, names)| !names.is_empty());
    groups
}

fn about(program: &Command, name: &str) -> String {
    let command = program.find_subcommand(name).and_then(Command::get_about);
    command.map_or_else(|| "Print this text, or the help of a command".into(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_left_out() {
        let program = Command::new("lancet")
            .subcommand(Command::new("cat").about("Print rows"))
            .subcommand(Command::new("new").about("Do something new"));
        let help = in_groups(program).render_help().to_string();
        let [read, others] = ["Read and write:\n  cat          Print rows\n", "Others:\n  new   "];
        assert!(help.contains(read) && help.contains(others), "{help}");
        assert!(help.contains("Try and set up:\n  help "), "{help}");
        assert!(!help.contains("sql") && !help.contains("Look inside"), "{help}");
    }
}
