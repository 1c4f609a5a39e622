//! Columns that are others by now than those that new rows were written for. Pure.
//!
//! A column is its id. New rows carry the ids of the schema that they were written for; where one of these was dropped
//! meanwhile, its values go with it, and where it was renamed they go along. But if there is another column of its name by
//! now (it was retyped, or dropped and made anew), or another column with its id, which may be given again, the values
//! would be lost or be those of a column that they were not meant for.

use std::collections::{BTreeMap, BTreeSet};

use crate::fields::Field;
use crate::transaction::{Append, Operation};

/// The ids that a change takes out of the schema `before` it, whatever comes later.
pub(crate) fn dropped<'a>(
    before: &'a [Field],
    change: &'a Operation,
) -> impl Iterator<Item = i32> + 'a {
    let after = match change {
        Operation::Merge(merge) => Some(&merge.fields),
        Operation::Project(project) => Some(&project.fields),
        _ => None,
    };
    let is_gone = move |id: &i32| {
        after.is_some_and(|after: &Vec<Field>| after.iter().all(|field| field.id != *id))
    };
    before.iter().map(|field| field.id).filter(is_gone)
}

/// A column that rows were written for in the schema `before`, and that is another one in the schema `now`. `dropped` are
/// the fields that were not there in between.
pub(crate) fn replaced(
    rows: &Append,
    before: &[Field],
    dropped: &BTreeSet<i32>,
    now: &[Field],
) -> Option<String> {
    let (before, now) = (Paths::of(before), Paths::of(now));
    let files = rows.fragments.iter().flat_map(|fragment| &fragment.files);
    let stored: BTreeSet<i32> = files.flat_map(|file| file.fields.iter().copied()).collect();
    // Files need not list the structs that their columns lie in.
    let carried: BTreeSet<i32> = stored.iter().flat_map(|id| before.up_from(*id)).collect();
    let is_replaced = |id: &i32| {
        let path = before.paths.get(id)?;
        let is_another = match now.paths.get(id) {
            Some(_) => dropped.contains(id),
            None => now.ids.get(path).is_some_and(|other| !carried.contains(other)),
        };
        is_another.then(|| path.join("."))
    };
    carried.iter().find_map(is_replaced)
}

/// The names of fields, each with those of what it lies in.
struct Paths<'a> {
    paths: BTreeMap<i32, Vec<&'a str>>,
    ids: BTreeMap<Vec<&'a str>, i32>,
    parents: BTreeMap<i32, i32>,
}

impl<'a> Paths<'a> {
    /// Parents stand before children.
    fn of(fields: &'a [Field]) -> Self {
        let (mut paths, mut ids) = (BTreeMap::<i32, Vec<&str>>::new(), BTreeMap::new());
        let mut parents = BTreeMap::new();
        for field in fields {
            let above = field.parent.and_then(|parent| paths.get(&parent).cloned());
            let mut path = above.unwrap_or_default();
            path.push(&field.name);
            ids.insert(path.clone(), field.id);
            paths.insert(field.id, path);
            parents.extend(field.parent.map(|parent| (field.id, parent)));
        }
        Self { paths, ids, parents }
    }

    /// A field, and those that it lies in.
    fn up_from(&self, id: i32) -> Vec<i32> {
        // Parents come first in a schema, so that there are no circles.
        std::iter::successors(Some(id), |id| self.parents.get(id).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_file::{DataFile, FileVersion};
    use crate::fragment::Fragment;
    use crate::transaction::{Merge, Project};

    /// `id name` or `id name parent`, with commas between.
    fn schema(text: &str) -> Vec<Field> {
        let field = |words: Vec<&str>| Field {
            id: words[0].parse().unwrap(),
            parent: words.get(2).map(|parent| parent.parse().unwrap()),
            name: words[1].into(),
            logical_type: "int64".into(),
            nullable: true,
            extension_name: String::new(),
            metadata: BTreeMap::new(),
            unknown: Default::default(),
        };
        text.split(", ").map(|words| field(words.split(' ').collect())).collect()
    }

    fn rows(ids: &[i32]) -> Append {
        let file = DataFile {
            path: "f".into(),
            fields: ids.into(),
            columns: vec![0; ids.len()].into(),
            version: FileVersion::V2_1,
            version_numbers: (2, 1),
            size_bytes: None,
            base: None,
            unknown: Default::default(),
        };
        Append { fragments: vec![Fragment::new(file, 1)], ..Append::default() }
    }

    /// What is found behind some changes of the schema.
    fn found(ids: &[i32], before: &str, steps: &[&str]) -> Option<String> {
        let before = schema(before);
        let mut gone = BTreeSet::new();
        for (place, step) in steps.iter().enumerate() {
            let fields = schema(step);
            let change = match place % 2 {
                0 => Operation::Merge(Merge { fields, ..Merge::default() }),
                _ => Operation::Project(Project { fields, ..Project::default() }),
            };
            gone.extend(dropped(&before, &change));
        }
        let now = steps.last().map_or(before.clone(), |now| schema(now));
        replaced(&rows(ids), &before, &gone, &now)
    }

    #[test]
    fn columns_at_the_top() {
        let before = "0 a, 1 b";
        let is = |steps: &[&str]| found(&[0, 1], before, steps);
        assert_eq!(is(&[]), None);
        assert_eq!(is(&["0 a, 1 b, 2 c"]), None);
        assert_eq!(is(&["0 a"]), None, "dropped");
        assert_eq!(is(&["0 a, 1 c"]), None, "renamed");
        assert_eq!(is(&["0 b, 1 a"]), None, "exchanged");
        assert_eq!(is(&["0 b"]), None, "dropped, and the other one renamed");
        assert_eq!(is(&["0 a, 2 b"]).as_deref(), Some("b"), "retyped");
        assert_eq!(is(&["0 a", "0 a, 2 b"]).as_deref(), Some("b"), "dropped and made anew");
        assert_eq!(is(&["0 a", "0 a, 1 b"]).as_deref(), Some("b"), "with the same id");
        assert_eq!(is(&["0 a", "0 a, 1 other"]).as_deref(), Some("b"), "its id for another");
        // Rows that have no values of the column.
        assert_eq!(found(&[0], before, &["0 a, 2 b"]), None);
        assert_eq!(found(&[0, -2], before, &["0 a", "0 a, 1 b"]), None);
    }

    #[test]
    fn fields_of_structs() {
        let before = "0 a, 1 s, 2 x 1, 3 y 1";
        let is = |steps: &[&str]| found(&[0, 2, 3], before, steps);
        assert_eq!(is(&["0 a, 1 s, 2 x 1"]), None);
        assert_eq!(is(&["0 a"]), None);
        assert_eq!(is(&["0 a, 1 s, 2 x 1, 4 y 1"]).as_deref(), Some("s.y"));
        assert_eq!(is(&["0 a, 4 s, 5 z 4"]).as_deref(), Some("s"));
        // A column of the name of a field is another one.
        assert_eq!(is(&["0 a, 1 s, 2 x 1, 4 y"]), None);
    }
}
