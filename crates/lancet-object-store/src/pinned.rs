//! One version of an object for all reads of a reader.

use std::sync::OnceLock;

use object_store::{GetOptions, GetRange, ObjectMeta};

/// The version that is read. A listing may have told it, and the first answer does.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    /// What a listing said. Its tag may be written in another way than those of answers.
    listed: Option<ObjectMeta>,
    /// What the first answer said.
    answered: OnceLock<ObjectMeta>,
}

impl Pinned {
    /// The version that a listing told of.
    pub(crate) fn listed(object: ObjectMeta) -> Self {
        Self { listed: Some(object), answered: OnceLock::new() }
    }

    /// Asks for bytes of this version.
    pub(crate) fn request(&self, range: GetRange) -> GetOptions {
        let known = self.answered.get();
        let tag = known.and_then(|object| object.e_tag.clone());
        // A weak tag matches nothing here, by the rules of HTTP; the answer is compared all the same. To ask for a
        // version by its name may need another permission, so it is the second choice.
        let if_match = tag.filter(|tag| !tag.starts_with("W/"));
        let version = known.filter(|_| if_match.is_none()).and_then(|o| o.version.clone());
        GetOptions { range: Some(range), if_match, version, ..GetOptions::default() }
    }

    /// The size of this version; 0 if nothing is known of it.
    pub(crate) fn size(&self) -> u64 {
        self.answered.get().or(self.listed.as_ref()).map_or(0, |object| object.size)
    }

    /// Whether an answer is of this version.
    pub(crate) fn is(&self, object: &ObjectMeta) -> bool {
        self.listed.as_ref().is_none_or(|listed| same(listed, object))
            && same(self.answered.get_or_init(|| object.clone()), object)
    }
}

/// Whether two answers are of the same version, as far as the store tells.
fn same(a: &ObjectMeta, b: &ObjectMeta) -> bool {
    let plain = |tag: &str| tag.trim_start_matches("W/").trim_matches('"').to_owned();
    a.size == b.size
        && match (&a.e_tag, &b.e_tag, &a.version, &b.version) {
            (Some(a), Some(b), _, _) => plain(a) == plain(b),
            (_, _, Some(a), Some(b)) => a == b,
            _ => same_time(a, b),
        }
}

/// Some listings tell parts of a second, where answers do not.
fn same_time(a: &ObjectMeta, b: &ObjectMeta) -> bool {
    let (a, b) = (a.last_modified, b.last_modified);
    let whole = a.timestamp_subsec_nanos() == 0 || b.timestamp_subsec_nanos() == 0;
    a == b || whole && a.timestamp() == b.timestamp()
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;

    fn object(size: u64, nanos: i64, e_tag: &str, version: &str) -> ObjectMeta {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanos.unsigned_abs());
        ObjectMeta {
            location: Path::from("a"),
            last_modified: time.into(),
            size,
            e_tag: text(e_tag),
            version: text(version),
        }
    }

    #[test]
    fn what_a_store_tells_decides() {
        let is = |a: ObjectMeta, b: ObjectMeta| {
            assert_eq!(same(&a, &b), same(&b, &a));
            same(&a, &b)
        };
        // Tags first, however they are written; then versions; then times.
        assert!(is(object(1, 0, "\"x\"", "1"), object(1, 9_000_000_000, "x", "2")));
        assert!(is(object(1, 0, "W/\"x\"", ""), object(1, 0, "\"x\"", "")));
        assert!(!is(object(1, 0, "x", ""), object(1, 0, "y", "")));
        assert!(!is(object(1, 0, "x", ""), object(2, 0, "x", "")));
        assert!(!is(object(1, 0, "", "1"), object(1, 0, "x", "2")));
        assert!(is(object(1, 7, "", "1"), object(1, 8, "", "1")));
        assert!(!is(object(1, 7, "", ""), object(1, 8, "", "1")));
        // 1.5 s is 1 s where only seconds are told.
        assert!(is(object(1, 1_500_000_000, "", ""), object(1, 1_000_000_000, "", "")));
        assert!(!is(object(1, 1_500_000_000, "", ""), object(1, 1_600_000_000, "", "")));
        assert!(!is(object(1, 1_500_000_000, "", ""), object(1, 2_000_000_000, "", "")));
    }

    #[test]
    fn the_first_answer_is_what_the_next_are_asked_for() {
        let range = || GetRange::Bounded(0..1);
        let pinned = Pinned::default();
        assert_eq!(pinned.request(range()).if_match, None);
        assert!(pinned.is(&object(1, 0, "x", "1")));
        let asked = pinned.request(range());
        assert_eq!((asked.if_match.as_deref(), asked.version), (Some("x"), None));
        assert!(!pinned.is(&object(1, 0, "y", "1")));
        for (tag, version) in [("W/\"x\"", Some("1".to_owned())), ("", Some("1".to_owned()))] {
            let pinned = Pinned::default();
            assert!(pinned.is(&object(1, 0, tag, "1")));
            let asked = pinned.request(range());
            assert_eq!((asked.if_match, asked.version), (None, version));
        }
        // What a listing calls a version is compared, and not asked for.
        let pinned = Pinned::listed(object(1, 0, "x", ""));
        assert_eq!(pinned.request(range()).if_match, None);
        assert!(!pinned.is(&object(1, 0, "y", "")));
    }
}
