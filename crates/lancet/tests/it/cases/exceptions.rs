//! `unsupported_cases.txt`: what lancet does not do yet, by name and with the reason.
//!
//! ```text
//! [read]
//! type_map_v22: maps are not read yet
//! [write]
//! type_map 2.1: maps need format 2.2
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Check, Failure};

/// One section of the file: names and reasons.
pub struct Exceptions {
    section: &'static str,
    reasons: BTreeMap<&'static str, &'static str>,
}

const LIST: &str = include_str!("../../unsupported_cases.txt");

/// The names of one section.
pub fn listed(section: &'static str) -> Exceptions {
    let mut current = "";
    let mut reasons = BTreeMap::new();
    for line in LIST.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            assert!(["read", "write"].contains(&name), "unsupported_cases.txt: section [{name}]?");
            current = name;
            continue;
        }
        let (name, reason) = line.split_once(": ").expect("unsupported_cases.txt: `name: reason`");
        if current == section {
            let twice = reasons.insert(name, reason).is_some();
            assert!(!twice, "unsupported_cases.txt: {name} stands twice in [{section}]");
        }
    }
    Exceptions { section, reasons }
}

impl Exceptions {
    /// One line for each case that did not go as it should: an unlisted one that failed, or a
    /// listed one that did anything but say that it is unsupported.
    pub fn judge(&self, outcomes: &[(String, Check)]) -> Vec<String> {
        let section = self.section;
        let judged = outcomes.iter().filter_map(|(name, outcome)| {
            match (self.reasons.get(name.as_str()), outcome) {
                (None, Ok(())) | (Some(_), Err(Failure::Unsupported(_))) => None,
                (None, Err(Failure::Unsupported(what) | Failure::Wrong(what))) => {
                    Some(format!("{name}: {what}"))
                }
                (Some(_), Ok(())) => Some(format!(
                    "{name}: passes; take it out of [{section}] in unsupported_cases.txt"
                )),
                (Some(reason), Err(Failure::Wrong(what))) => {
                    Some(format!("{name}: is listed ({reason}) and should say so, but: {what}"))
                }
            }
        });
        judged.collect()
    }

    /// One line for each listed name that no case has.
    pub fn unknown(&self, outcomes: &[(String, Check)]) -> Vec<String> {
        let names: BTreeSet<&str> = outcomes.iter().map(|(name, _)| name.as_str()).collect();
        let unknown = self.reasons.keys().filter(|name| !names.contains(**name));
        unknown
            .map(|name| format!("{name}: listed in [{}], but there is no such case", self.section))
            .collect()
    }
}
