//! Tags and branches: names for versions, one JSON file each.
//!
//! ```text
//! _refs/tags/<name>.json                     a version of the table, or of a branch
//! _refs/branches/<name, percent-encoded>.json
//! tree/<branch>/                             the branch: a table of its own, whose files may lie in others
//! ```

use serde_json::Value;

use crate::error::{Problem, Result, ensure};

/// The folder of tags and branches, below that of the table.
pub(crate) const REFS_DIR: &str = "_refs";
/// The folder of the tags, below that of the table.
pub const TAGS_DIR: &str = "_refs/tags";
/// The folder of the branches, below that of the table.
pub const BRANCHES_DIR: &str = "_refs/branches";
/// The folder that branches lie in.
pub const TREE_DIR: &str = "tree";

pub(crate) const ENDING: &str = ".json";
/// Names are not longer than a file system allows.
const MAX_NAME: usize = 255;

/// A name for a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// The branch it is on; `None` for the main one.
    pub branch: Option<String>,
    /// The version.
    pub version: u64,
}

/// A branch of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// The branch it was made from; `None` for the main one.
    pub parent: Option<String>,
    /// The version it was made from.
    pub parent_version: u64,
}

impl Tag {
    /// The name of the tag that a file is for.
    pub(crate) fn name_of_file(file: &str) -> Option<String> {
        file.strip_suffix(ENDING).filter(|name| is_name(name)).map(str::to_owned)
    }

    /// Its file in [`TAGS_DIR`]; an error for a name that no tag can have.
    pub(crate) fn file_name(name: &str) -> Result<String> {
        if is_name(name) {
            return Ok(format!("{name}{ENDING}"));
        }
        Err(crate::Error::invalid(format!("`{}` cannot be the name of a tag", name.escape_debug())))
    }

    pub(crate) fn parse(file: &str, name: String, bytes: &[u8]) -> Result<Self> {
        let parsed = Json::parse(bytes).and_then(|json| {
            let (branch, version) = (json.branch("branch")?, json.version("version")?);
            Ok(Self { name, branch, version })
        });
        parsed.map_err(|problem| problem.in_file(file))
    }
}

impl Branch {
    /// The name of the branch that a file is for.
    pub(crate) fn name_of_file(file: &str) -> Option<String> {
        let name = decode_percent(file.strip_suffix(ENDING)?)?;
        is_branch(&name).then_some(name)
    }

    pub(crate) fn parse(file: &str, name: String, bytes: &[u8]) -> Result<Self> {
        let parsed = Json::parse(bytes).and_then(|json| {
            let parent_version = json.version("parentVersion")?;
            Ok(Self { name, parent: json.branch("parentBranch")?, parent_version })
        });
        parsed.map_err(|problem| problem.in_file(file))
    }
}

/// An error for a name that no branch can have: it would lead out of the folder of the branches.
pub(crate) fn check_branch(name: &str) -> Result<()> {
    if is_branch(name) {
        return Ok(());
    }
    Err(crate::Error::invalid(format!("`{}` cannot be the name of a branch", name.escape_debug())))
}

/// Names with slashes between.
pub(crate) fn is_branch(name: &str) -> bool {
    name != "main" && name.len() <= MAX_NAME && name.split('/').all(is_name)
}

/// Letters, digits, dots, hyphens and underscores, as writers have it; never a step up.
pub(crate) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let dots = name.starts_with('.') || name.ends_with('.') || name.contains("..");
    !name.is_empty() && name.len() <= MAX_NAME && !dots && name.chars().all(allowed)
}

/// `%2F` and the like, decoded.
fn decode_percent(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
        out.push(u8::try_from(high.checked_mul(16)?.checked_add(low)?).ok()?);
    }
    String::from_utf8(out).ok()
}

/// An object.
struct Json(Value);

impl Json {
    fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let json = serde_json::from_slice(bytes)
            .map_err(|error| Problem::corrupt(format!("it is not JSON: {error}")))?;
        Ok(Self(json))
    }

    fn version(&self, key: &str) -> Result<u64, Problem> {
        let version = self.0.get(key).and_then(Value::as_u64);
        version.ok_or_else(|| Problem::corrupt(format!("`{key}` is not a version")))
    }

    fn branch(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) if name == "main" => Ok(None),
            Some(Value::String(name)) => {
                ensure!(is_branch(name), "`{key}` is not the name of a branch");
                Ok(Some(name.clone()))
            }
            Some(_) => Err(Problem::corrupt(format!("`{key}` is not the name of a branch"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_lead_elsewhere() {
        for good in ["a", "v1.2_rc-3", "dev", "A-9"] {
            assert_eq!(Tag::file_name(good).unwrap(), format!("{good}.json"));
            assert_eq!(Tag::name_of_file(&format!("{good}.json")).as_deref(), Some(good));
        }
        let long = "a".repeat(256);
        for bad in ["", ".", "..", "a..b", ".a", "a.", "a/b", "a\\b", "ä", "a\0", &long] {
            assert!(Tag::file_name(bad).is_err(), "{bad}");
            assert_eq!(Tag::name_of_file(&format!("{bad}.json")), None, "{bad}");
        }
        assert!(check_branch("dev/one").is_ok());
        assert_eq!(Branch::name_of_file("dev%2fone.json").as_deref(), Some("dev/one"));
        for bad in ["main", "/a", "a/", "a//b", "a/../b", "../b", ""] {
            assert!(check_branch(bad).is_err(), "{bad}");
        }
        for bad in ["a%2", "a%zz", "%2e%2e%2Fb", "%ff", "a"] {
            assert_eq!(Branch::name_of_file(&format!("{bad}.json")).filter(|n| n != "a"), None);
        }
    }

    #[test]
    fn contents_are_checked() {
        let tag = |json: &str| Tag::parse("t.json", "t".into(), json.as_bytes());
        let sound = tag(r#"{"branch": "dev/one", "version": 4, "manifestSize": 9}"#).unwrap();
        assert_eq!((sound.branch.as_deref(), sound.version), (Some("dev/one"), 4));
        assert_eq!(tag(r#"{"version": 1}"#).unwrap().branch, None);
        assert_eq!(tag(r#"{"branch": "main", "version": 1}"#).unwrap().branch, None);
        for broken in ["", "[", "[]", "{}", r#"{"version": -1}"#, r#"{"version": "1"}"#] {
            let error = tag(broken).unwrap_err().to_string();
            assert!(error.starts_with("t.json: corrupt file: "), "{error}");
        }
        assert!(tag(r#"{"branch": "../..", "version": 1}"#).is_err());
        assert!(tag(r#"{"branch": 7, "version": 1}"#).is_err());
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(tag(&deep).is_err());
        let branch = |json: &str| Branch::parse("b.json", "b".into(), json.as_bytes());
        let sound = branch(r#"{"parentBranch": null, "parentVersion": 3}"#).unwrap();
        assert_eq!((sound.parent, sound.parent_version), (None, 3));
        assert!(branch(r#"{"parentBranch": null}"#).is_err());
    }
}
