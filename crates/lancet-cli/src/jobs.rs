//! Which files become which, as `cp` has it: the last argument is a file, or a folder for all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::format::{Format, is_table};
use crate::places::{self, Access, FormatName, Place, Target};

/// Endings of compressed files, behind the ending of the format.
const PACKED: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// One file to convert.
pub struct Job {
    /// File to read.
    pub input: PathBuf,
    /// What it becomes.
    pub target: Target,
    /// The folder that takes the file, which may have to be made.
    pub folder: Option<PathBuf>,
}

/// The files to convert, each with the file it becomes.
pub fn plan(
    inputs: &[PathBuf],
    output: &Path,
    to: Option<&FormatName>,
    access: &Access,
) -> Result<Vec<Job>> {
    let files = places::expand(inputs)?;
    if !is_folder(output)? {
        let [input] = files.paths.as_slice() else {
            return Err(Error::Usage(format!(
                "{} files need a folder to go to; end its name with a slash: {}/",
                files.paths.len(),
                output.display()
            )));
        };
        let target = Target::new(output, to, access)?;
        return Ok(vec![Job { input: input.clone(), target, folder: None }]);
    }
    let folder = match Place::of(output)? {
        Place::Disk(folder) => Some(folder),
        _ => None,
    };
    if folder.as_deref().is_some_and(is_table) {
        let message = "is a Lance table; a file put into its folder would not belong to it";
        return Err(Error::new(message).about(output));
    }
    let ending = to.map_or("lance", |to| to.ending.as_str());
    let mut taken = BTreeMap::new();
    let job = |input: PathBuf| {
        let name = name_in_folder(&input, ending)?;
        if let Some(other) = taken.insert(name.clone(), input.clone()) {
            return Err(Error::new(format!(
                "{} and {} would both become {name}; convert them into different folders",
                other.display(),
                input.display()
            )));
        }
        let target = Target::new(&output.join(name), to, access)?;
        Ok(Job { input, target, folder: folder.clone() })
    };
    files.paths.into_iter().map(job).collect()
}

/// Whether an output takes several files.
fn is_folder(output: &Path) -> Result<bool> {
    let ends_with_slash = output.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]);
    Ok(match Place::of(output)? {
        Place::Disk(path) => ends_with_slash || path.is_dir(),
        Place::Url(_) => ends_with_slash,
        Place::Standard => false,
    })
}

/// What a file is called in a folder: its name with another ending.
fn name_in_folder(input: &Path, ending: &str) -> Result<String> {
    let name = input.file_name().filter(|_| input != Path::new("-"));
    let Some(mut name) = name.map(PathBuf::from) else {
        return Err(Error::Usage("standard input has no name; name the file to write".into()));
    };
    if name.extension().is_some_and(|ending| PACKED.iter().any(|packed| ending == *packed)) {
        name.set_extension("");
    }
    // An ending that means nothing here is a part of the name.
    if Format::from_path(&name).is_ok() {
        name.set_extension("");
    }
    Ok(format!("{}.{ending}", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_another_ending() {
        let name = |input: &str| name_in_folder(Path::new(input), "lance").unwrap();
        assert_eq!(name("a.csv"), "a.lance");
        assert_eq!(name("folder/part.1.PARQUET"), "part.1.lance");
        assert_eq!(name("s3://bucket/a.csv"), "a.lance");
        assert_eq!(name("a.csv.gz"), "a.lance");
        assert_eq!(name("readings.2024"), "readings.2024.lance");
        assert!(name_in_folder(Path::new("-"), "lance").is_err());
    }
}
