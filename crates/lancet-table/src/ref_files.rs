//! Tags and branches as the text of their files.
//!
//! ```text
//! _refs/tags/v1.json            {"branch": null, "version": 2, "createdAt": "2026-11-16T03:12:00.5Z", "updatedAt": …,
//!                                "manifestSize": 759, "metadata": {}}
//! _refs/branches/dev%2Fa.json   {"parentBranch": null, "identifier": {"version_mapping": [[3, "2942b7…"]]},
//!                                "parentVersion": 3, "createAt": 1794798720, "manifestSize": 802, "metadata": {}}
//! ```
//!
//! The identifier of a branch is the list of its parent and one more pair: the version it starts from, and a number that
//! no other branch has.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::error::{Error, Problem, Result};
use crate::refs::{ENDING, is_branch, is_name};

/// Writers lock names by this ending, so that no tag may have it.
const LOCK: &str = ".lock";

/// The version that a tag or a branch begins at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The branch; `None` for the main one.
    pub(crate) branch: Option<&'a str>,
    pub(crate) version: u64,
    /// The size of its manifest.
    pub(crate) manifest_bytes: u64,
}

/// Refuses a name that a new tag may not have.
pub(crate) fn check_new_tag(name: &str) -> Result<()> {
    if is_name(name) && !name.ends_with(LOCK) {
        return Ok(());
    }
    Err(Error::invalid(format!("`{}` cannot be the name of a tag; {RULE}", name.escape_debug())))
}

/// Refuses a name that a new branch may not have.
pub(crate) fn check_new_branch(name: &str) -> Result<()> {
    if is_branch(name) && !name.split('/').any(|part| part.ends_with(LOCK)) {
        return Ok(());
    }
    let name = name.escape_debug();
    let parts = "its parts, with `/` between, are like names of tags, and `main` is taken";
    Err(Error::invalid(format!("`{name}` cannot be the name of a branch; {parts}: {RULE}")))
}

const RULE: &str = "names are made of letters, digits, `.`, `-` and `_`, without a dot at either end, two dots in a row or \
                    the ending `.lock`";

/// The file of a branch in [`BRANCHES_DIR`](crate::refs::BRANCHES_DIR). Of what names are made of, only the slash must
/// be written in another way.
pub(crate) fn branch_file_name(name: &str) -> String {
    format!("{}{ENDING}", name.replace('/', "%2F"))
}

/// The file of a new tag.
pub(crate) fn new_tag(at: Origin<'_>, now: SystemTime) -> Vec<u8> {
    let now = rfc3339(now);
    text(&json!({
        "branch": at.branch,
        "version": at.version,
        "createdAt": now,
        "updatedAt": now,
        "manifestSize": at.manifest_bytes,
        "metadata": {},
    }))
}

/// The file of a tag that is moved to another version. What else it says stays.
pub(crate) fn moved_tag(
    file: &str,
    old: &[u8],
    at: Origin<'_>,
    now: SystemTime,
) -> Result<Vec<u8>> {
    let mut tag = object(file, old)?;
    tag.insert("branch".into(), json!(at.branch));
    tag.insert("version".into(), json!(at.version));
    tag.insert("updatedAt".into(), json!(rfc3339(now)));
    tag.insert("manifestSize".into(), json!(at.manifest_bytes));
    Ok(text(&Value::Object(tag)))
}

/// The file of a new branch. `parent` is the name and the text of the file of the branch it is made from, if that is not
/// the main one; `unique` is a number that no other branch has.
pub(crate) fn new_branch(
    at: Origin<'_>,
    parent: Option<(&str, &[u8])>,
    unique: u128,
    now: SystemTime,
) -> Result<Vec<u8>> {
    let mut mapping = match parent {
        None => Vec::new(),
        Some((file, bytes)) => {
            let parent = object(file, bytes)?;
            let mapping = parent.get("identifier").and_then(|list| list.get("version_mapping"));
            // Branches of old writers have none.
            mapping.and_then(Value::as_array).cloned().unwrap_or_default()
        }
    };
    mapping.push(json!([at.version, format!("{unique:032x}")]));
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(text(&json!({
        "parentBranch": at.branch,
        "identifier": { "version_mapping": mapping },
        "parentVersion": at.version,
        "createAt": seconds,
        "manifestSize": at.manifest_bytes,
        "metadata": {},
    })))
}

fn object(file: &str, bytes: &[u8]) -> Result<Map<String, Value>> {
    let parsed = serde_json::from_slice(bytes);
    parsed.map_err(|error| {
        Problem::corrupt(format!("it is not a JSON object: {error}")).in_file(file)
    })
}

fn text(json: &Value) -> Vec<u8> {
    format!("{json:#}").into_bytes()
}

/// A time as people and other programs read it: `2026-11-16T03:12:00.563894307Z`.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    const DAY: u64 = 86_400;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / DAY, since.as_secs() % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let nanos = since.subsec_nanos();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// The date so many days after the first of 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let divides = |n: u64, year: u64| year.is_multiple_of(n);
    let is_leap = |year| divides(4, year) && (!divides(100, year) || divides(400, year));
    // Whole cycles of 400 years all have the same number of days.
    const CYCLE: u64 = 146_097;
    let (mut year, mut left) =
        (1970_u64.saturating_add((days / CYCLE).saturating_mul(400)), days % CYCLE);
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        match left.checked_sub(length) {
            Some(rest) => (year, left) = (year.saturating_add(1), rest),
            None => break,
        }
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1_u64;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        match left.checked_sub(length) {
            Some(rest) => (month, left) = (month.saturating_add(1), rest),
            None => break,
        }
    }
    (year, month, left.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::refs::{Branch, Tag};

    fn at(branch: Option<&str>, version: u64) -> Origin<'_> {
        Origin { branch, version, manifest_bytes: 802 }
    }

    fn after(seconds: u64, nanos: u32) -> SystemTime {
        UNIX_EPOCH + Duration::new(seconds, nanos)
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000005Z"),
            (951_782_399, "2000-02-28T23:59:59.000000005Z"),
            (951_782_400, "2000-02-29T00:00:00.000000005Z"),
            (1_794_798_720, "2026-11-16T03:12:00.000000005Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000005Z"),
            (13_574_563_199, "2400-02-28T23:59:59.000000005Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000000005Z"),
        ] {
            assert_eq!(rfc3339(after(seconds, 5)), text);
        }
    }

    #[test]
    fn tags_come_back() {
        let bytes = new_tag(at(Some("dev/one"), 4), after(0, 0));
        let tag = Tag::parse("t", "t".into(), &bytes).unwrap();
        assert_eq!((tag.branch.as_deref(), tag.version), (Some("dev/one"), 4));
        let mut known: Map<String, Value> = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(known["manifestSize"], 802);
        known.insert("note".into(), json!("kept"));
        let known = serde_json::to_vec(&known).unwrap();
        let moved = moved_tag("t", &known, at(None, 9), after(60, 0)).unwrap();
        let tag = Tag::parse("t", "t".into(), &moved).unwrap();
        assert_eq!((tag.branch, tag.version), (None, 9));
        let moved: Value = serde_json::from_slice(&moved).unwrap();
        assert_eq!(moved["createdAt"], "1970-01-01T00:00:00.000000000Z");
        assert_eq!(moved["updatedAt"], "1970-01-01T00:01:00.000000000Z");
        assert_eq!(moved["note"], "kept");
        let broken = moved_tag("t.json", b"[]", at(None, 9), after(0, 0)).unwrap_err().to_string();
        assert!(broken.starts_with("t.json: corrupt file: it is not a JSON object"), "{broken}");
    }

    #[test]
    fn branches_carry_the_list_of_their_parent() {
        let first = new_branch(at(None, 3), None, 0x29, after(7, 0)).unwrap();
        let second = new_branch(at(Some("a"), 5), Some(("a", &first)), 0xe4, after(8, 9)).unwrap();
        let found = Branch::parse("b", "b".into(), &second).unwrap();
        assert_eq!((found.parent.as_deref(), found.parent_version), (Some("a"), 5));
        let second: Value = serde_json::from_slice(&second).unwrap();
        let (one, two) = (format!("{:032x}", 0x29), format!("{:032x}", 0xe4));
        assert_eq!(second["identifier"]["version_mapping"], json!([[3, one], [5, two]]));
        assert_eq!((&second["createAt"], &second["parentVersion"]), (&json!(8), &json!(5)));
    }

    #[test]
    fn names_are_checked() {
        for good in ["a", "v1.2_rc-3", "LOCK", "a.locked"] {
            assert!(check_new_tag(good).is_ok(), "{good}");
            assert!(check_new_branch(good).is_ok(), "{good}");
        }
        for bad in ["", ".a", "a.", "a..b", "ä", "a.lock", "a b", "a%2Fb"] {
            let error = check_new_tag(bad).unwrap_err().to_string();
            assert!(error.contains("letters, digits"), "{error}");
            assert!(check_new_branch(bad).is_err(), "{bad}");
        }
        assert!(check_new_tag("a/b").is_err());
        assert!(check_new_branch("a/b").is_ok());
        for bad in ["main", "/a", "a/", "a//b", "a.lock/b"] {
            assert!(check_new_branch(bad).is_err(), "{bad}");
        }
        assert_eq!(branch_file_name("dev/one"), "dev%2Fone.json");
        assert_eq!(Branch::name_of_file(&branch_file_name("a/b.c")).as_deref(), Some("a/b.c"));
    }
}
