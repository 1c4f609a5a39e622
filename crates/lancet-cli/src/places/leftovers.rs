//! What runs that were killed have left in a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lancet::NewFile;

use crate::terminal;

/// Names in one line.
const NAMED: usize = 3;

/// Tells, once for each folder, what is left beside a file that will be written.
pub fn tell(beside: &Path) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = match beside.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    // A folder that cannot be read keeps nobody from writing to it.
    let leftovers = NewFile::leftovers(folder).unwrap_or_default();
    if let Some(line) = line(&leftovers) {
        terminal::tell(&line);
    }
}

/// What to say about leftovers, and how to be rid of them.
fn line(leftovers: &[PathBuf]) -> Option<String> {
    let named = leftovers.get(..NAMED.min(leftovers.len())).filter(|named| !named.is_empty())?;
    let names: Vec<String> = named.iter().map(|path| quoted(path)).collect();
    let more = match leftovers.len() - named.len() {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    let remove = if cfg!(windows) { "del" } else { "rm" };
    Some(format!(
        "note: a run that was killed has left unfinished files{more}; to remove them: {remove} {}",
        names.join(" ")
    ))
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let path = path.strip_prefix("./").unwrap_or(path).to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "./_-".contains(c);
    match path.chars().all(plain) && !path.starts_with('-') {
        true => path.into_owned(),
        false => format!("'{}'", terminal::printable(&path).replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_and_how_to_remove_them() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(line(&[]), None);
        let told = line(&paths(&["./.a.1.lancet-part", "x/it's \u{1b}[31m"])).unwrap();
        assert!(told.ends_with(r": rm .a.1.lancet-part 'x/it'\''s \u{1b}[31m'"), "{told}");
        let told = line(&paths(&["a", "b", "c", "d", "e"])).unwrap();
        assert!(told.contains(" (2 more); ") && told.ends_with(" a b c"), "{told}");
    }
}
