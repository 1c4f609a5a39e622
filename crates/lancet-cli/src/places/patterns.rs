//! Several files in one argument: `'part-*.csv'`, `'data/**/*.lance'`.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError};

use super::Place;
use crate::error::{Error, InFile, Result};

/// The files of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Files {
    /// In the order of the arguments; those of a pattern by name.
    pub paths: Vec<PathBuf>,
    /// Whether the arguments may name more than one, however many there are today.
    pub several: bool,
}

/// Replaces patterns by the files they match.
pub fn expand(arguments: &[PathBuf]) -> Result<Files> {
    let mut paths = Vec::new();
    let mut several = arguments.len() > 1;
    if arguments.iter().filter(|argument| *argument == Path::new("-")).count() > 1 {
        return Err(Error::Usage("standard input can be read only once".into()));
    }
    for argument in arguments {
        if is_pattern(argument) {
            several = true;
            paths.extend(matches(argument)?);
        } else {
            paths.push(argument.clone());
        }
    }
    Ok(Files { paths, several })
}

/// A file may have a name that looks like a pattern.
fn is_pattern(argument: &Path) -> bool {
    let on_disk = matches!(Place::of(argument), Ok(Place::Disk(_)));
    on_disk && argument.to_string_lossy().contains(['*', '?', '[']) && !argument.exists()
}

/// The files that match; hidden ones have to be asked for, as in a shell.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let refused = |what: String| Error::new(what).about(pattern);
    let parts: Vec<Part> = pattern
        .components()
        .map(Part::of)
        .collect::<Result<_, _>>()
        .map_err(|error| refused(format!("is no pattern: {}", error.msg)))?;
    let files = walk(&parts)?;
    match files.is_empty() {
        true => Err(refused("no file matches".into())),
        false => Ok(files.into_iter().collect()),
    }
}

/// A step of a pattern.
enum Part {
    /// A name without wildcards, the root, or a step up.
    Plain(OsString),
    /// A name with wildcards.
    Names(Pattern),
    /// `**`: any number of folders.
    Folders,
}

impl Part {
    fn of(component: Component<'_>) -> Result<Self, PatternError> {
        let name = component.as_os_str();
        let text = name.to_string_lossy();
        Ok(match text.as_ref() {
            "**" => Self::Folders,
            text if text.contains(['*', '?', '[']) => Self::Names(Pattern::new(text)?),
            _ => Self::Plain(name.to_owned()),
        })
    }
}

/// Goes down from folder to folder. `**` does not go through links, which may lead in circles, and nowhere is a folder
/// looked at twice for the same step.
fn walk(parts: &[Part]) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut left = vec![(PathBuf::new(), 0_usize)];
    while let Some((path, at)) = left.pop() {
        if !seen.insert((path.clone(), at)) {
            continue;
        }
        let next = at.saturating_add(1);
        match parts.get(at) {
            None if path.metadata().is_ok_and(|found| !found.is_dir()) => {
                files.insert(path);
            }
            None => {}
            Some(Part::Plain(name)) => left.push((path.join(name), next)),
            Some(Part::Names(pattern)) => {
                let found = entries(&path)?.into_iter().filter(|(name, _)| is_match(pattern, name));
                left.extend(found.map(|(name, _)| (path.join(name), next)));
            }
            Some(Part::Folders) => {
                let is_hidden = |name: &OsString| name.to_string_lossy().starts_with('.');
                let below = entries(&path)?.into_iter();
                let below = below.filter(|(name, is_folder)| *is_folder && !is_hidden(name));
                left.extend(below.map(|(name, _)| (path.join(name), at)));
                left.push((path, next));
            }
        }
    }
    Ok(files)
}

/// The names in a folder, and which of them are folders and no links; none where there is no folder.
fn entries(folder: &Path) -> Result<Vec<(OsString, bool)>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entry = |entry: std::io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.is_dir()))
    };
    let listed = fs::read_dir(folder).in_file(folder)?;
    listed.map(entry).collect::<std::io::Result<_>>().in_file(folder)
}

/// Names need not be Unicode: what is not stands for one character.
fn is_match(pattern: &Pattern, name: &OsStr) -> bool {
    const OPTIONS: MatchOptions = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    pattern.matches_with(&name.to_string_lossy(), OPTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &[&str]) -> Result<Files> {
        expand(&arguments.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn patterns_become_files() {
        let files = expanded(&["src/places/[mp]*.rs"]).unwrap();
        let names = ["src/places/mod.rs", "src/places/patterns.rs"].map(PathBuf::from);
        assert_eq!(files, Files { paths: names.into(), several: true });
        assert!(expanded(&["src/**/patterns.rs"]).unwrap().paths.len() == 1);
        assert!(!expanded(&["no such file"]).unwrap().several);
        assert!(!expanded(&["s3://bucket/a.lance"]).unwrap().several);
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_an_error() {
        for pattern in ["src/*.nothing", "***", "src/[z"] {
            assert!(expanded(&[pattern]).is_err(), "{pattern}");
        }
    }

    /// A folder for one test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lancet-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn folders_of_any_depth_are_walked() {
        let folder = folder("patterns");
        for name in ["a.csv", "x/b.csv", "x/y/c.csv", ".hidden/d.csv", "x/.e.csv", "x/f.txt"] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let Ok(files) = expand(&[folder.join(pattern)]) else { return Vec::new() };
            let name =
                |path: &PathBuf| path.strip_prefix(&folder).unwrap().to_str().unwrap().into();
            files.paths.iter().map(name).collect()
        };
        assert_eq!(found("**/*.csv"), ["a.csv", "x/b.csv", "x/y/c.csv"]);
        assert_eq!(found("**/**/*.csv"), ["a.csv", "x/b.csv", "x/y/c.csv"]);
        assert_eq!(found("*/b.csv"), ["x/b.csv"]);
        assert_eq!(found("x/**/c.*"), ["x/y/c.csv"]);
        assert_eq!(found("x/y/../?.csv"), ["x/y/../b.csv"]);
        assert_eq!(found("x/*/../?.csv"), ["x/y/../b.csv"]);
        assert_eq!(found(".h*/*"), [".hidden/d.csv"]);
        assert_eq!(found("a.csv/*"), [""; 0]);
        assert_eq!(found("**"), [""; 0]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn odd_names_and_links_in_circles_are_walked() {
        use std::os::unix::ffi::OsStringExt;
        use std::os::unix::fs::symlink;
        let folder = folder("circles");
        let odd = OsString::from_vec(b"odd-\xff.csv".to_vec());
        fs::create_dir_all(folder.join("one/two")).unwrap();
        fs::write(folder.join("one").join(&odd), "").unwrap();
        fs::write(folder.join("one/two/b.csv"), "").unwrap();
        // With two links in each folder, a walk through them has more paths than it can ever end.
        for name in ["back", "again"] {
            symlink(&folder, folder.join("one").join(name)).unwrap();
            symlink("..", folder.join("one/two").join(name)).unwrap();
        }
        let expected = [folder.join("one").join(odd), folder.join("one/two/b.csv")];
        let mut found = expand(&[folder.join("**/*.csv")]).unwrap().paths;
        found.sort_by_key(|path| path.ends_with("b.csv"));
        assert_eq!(found, expected);
        // A link that is named is followed.
        assert_eq!(expand(&[folder.join("one/ba*/one/odd-?.csv")]).unwrap().paths.len(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
