//! Several files in one argument: `'part-*.csv'`, `'data/**/*.lance'`.

use std::path::{Path, PathBuf};

use glob::MatchOptions;

use super::Place;
use crate::error::{Error, Result};

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
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(&pattern.to_string_lossy(), options)
        .map_err(|error| refused(format!("is no pattern: {}", error.msg)))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| Error::new(error.to_string()))?;
        if !path.is_dir() {
            files.push(path);
        }
    }
    match files.is_empty() {
        true => Err(refused("no file matches".into())),
        false => Ok(files),
    }
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
}
