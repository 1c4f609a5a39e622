//! The whole matrix, cell by cell.

use prost::Message;
use roaring::RoaringBitmap;

use super::*;
use crate::transaction as tx;

/// Ours are of fragment 1, theirs of fragment 1 or 2. `b` is "by rows".
const MATRIX: &str = "
                     Append Delete Update Rewrite Merge Project Config Meta Overwrite Restore Index Reserve Bases Replace InPlace
Append               +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
DeleteOther          +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
DeleteSame           +      b      b      r       r     +       +      +    +         +       +     +       +     r       r
RemoveSame           +      r      r      r       r     +       +      +    +         +       +     +       +     r       r
UpdateOther          +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
UpdateSame           +      b      b      r       r     +       +      +    +         +       +     +       +     r       r
InPlaceSame          +      r      r      r       r     +       +      +    +         +       +     +       +     r       r
InPlaceOther         +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
ReplaceSame          +      r      r      r       r     +       +      +    +         +       +     +       +     r       r
ReplaceOther         +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
RewriteOther         +      +      +      +       r     +       +      +    +         +       +     +       +     +       +
RewriteSame          +      r      r      r       r     +       +      +    +         +       r     +       +     r       r
Merge                +      r      r      r       r     r       +      r    +         +       +     +       +     r       r
MergeNoNulls         r      r      r      r       r     r       +      r    +         +       +     +       +     r       r
Project              +      +      +      +       x     r       +      +    +         +       +     +       +     r       r
ProjectNoNulls       r      +      r      +       x     r       +      +    +         +       +     +       +     r       r
ConfigSameKey        +      +      +      +       +     +       x      +    +         +       +     +       +     +       +
ConfigOtherKey       +      +      +      +       +     +       +      +    +         +       +     +       +     +       +
MetaSchema           +      +      +      +       r     r       +      x    +         x       +     +       +     +       +
MetaField            +      +      +      +       r     r       +      x    +         x       +     +       +     +       +
Overwrite            x      x      x      x       x     x       +      x    r         +       x     +       +     x       x
OverwriteSameKey     x      x      x      x       x     x       x      x    r         +       x     +       +     x       x
Restore              x      x      x      x       x     x       +      x    +         +       x     +       +     x       x
IndexOver1           +      +      +      r       +     +       +      +    +         +       +     +       +     +       +
IndexOver2           +      +      +      +       +     +       +      +    +         +       +     +       +     +       +
IndexUnsaid          +      +      +      r       +     +       +      +    +         +       +     +       +     +       +
IndexSameName        +      +      +      +       +     +       +      +    +         +       r     +       +     +       +
Reserve              +      +      +      +       +     +       +      +    +         +       +     +       +     +       +
Clone                +      +      +      +       +     +       +      +    +         +       +     +       +     +       +
Bases                +      +      +      +       +     +       +      +    +         +       +     +       r     +       +
Unknown              x      x      x      x       x     x       x      x    x         x       x     x       x     x       x
";

fn fragment(id: u32) -> Fragment {
    let file = crate::DataFile {
        path: format!("{id}.lance").into(),
        fields: [0].into(),
        columns: [0].into(),
        version: crate::FileVersion::V2_1,
        version_numbers: (2, 1),
        size_bytes: None,
        base: None,
        unknown: Default::default(),
    };
    Fragment { id, ..Fragment::new(file, 10) }
}

fn index(name: &str, fragments: Option<&[u32]>) -> Operation {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Uuid {
        #[prost(bytes = "vec", tag = "1")]
        uuid: Vec<u8>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    struct Entry {
        #[prost(message, optional, tag = "1")]
        uuid: Option<Uuid>,
        #[prost(string, tag = "3")]
        name: String,
        #[prost(bytes = "vec", optional, tag = "5")]
        bitmap: Option<Vec<u8>>,
    }
    let bitmap = fragments.map(|ids| {
        let mut bytes = Vec::new();
        RoaringBitmap::from_iter(ids).serialize_into(&mut bytes).unwrap();
        bytes
    });
    let uuid = Some(Uuid { uuid: vec![1; 16] });
    let entry = Entry { uuid, name: name.into(), bitmap }.encode_to_vec();
    let new = vec![IndexEntry::parse(entry).unwrap()];
    Operation::CreateIndex(tx::CreateIndex { new, ..Default::default() })
}

fn map(key: &str) -> Option<UpdateMap> {
    Some(UpdateMap { entries: vec![(key.into(), Some("v".into()))], replace: false })
}

fn delete(updated: &[u32], deleted: &[u64]) -> Operation {
    let updated = updated.iter().map(|id| fragment(*id)).collect();
    Operation::Delete(tx::Delete { updated, deleted: deleted.to_vec(), ..Default::default() })
}

fn update(id: u32, in_place: bool) -> Operation {
    let (updated, new) = (vec![fragment(id)], vec![fragment(0)]);
    Operation::Update(Update { updated, new, in_place, ..Default::default() })
}

fn rewrite(id: u32) -> Operation {
    let group =
        tx::RewriteGroup { old: vec![fragment(id)], new: vec![fragment(0)], ..Default::default() };
    Operation::Rewrite(tx::Rewrite { groups: vec![group], ..Default::default() })
}

fn replace(id: u64) -> Operation {
    let file = fragment(7).files.remove(0);
    Operation::DataReplacement(tx::DataReplacement {
        files: vec![(id, file)],
        ..Default::default()
    })
}

fn merge(preserves_nullability: bool) -> Operation {
    Operation::Merge(Merge { preserves_nullability, ..Default::default() })
}

fn project(preserves_nullability: bool) -> Operation {
    Operation::Project(Project { preserves_nullability, ..Default::default() })
}

fn config(key: &str) -> Operation {
    Operation::UpdateConfig(UpdateConfig { config: map(key), ..Default::default() })
}

fn overwrite(key: Option<&str>) -> Operation {
    let config = key.map(|key| (key.to_owned(), "v".to_owned())).into_iter().collect();
    Operation::Overwrite(Overwrite { config, ..Default::default() })
}

fn ours(name: &str) -> Operation {
    let field_metadata = [(0, map("a").unwrap())].into();
    match name {
        "Append" => Operation::Append(tx::Append::default()),
        "Delete" => delete(&[1], &[]),
        "Update" => update(1, false),
        "InPlace" => update(1, true),
        "Rewrite" => rewrite(1),
        "Replace" => replace(1),
        "Merge" => merge(true),
        "Project" => project(true),
        "Config" => config("key"),
        "Meta" => Operation::UpdateConfig(UpdateConfig {
            schema_metadata: map("a"),
            field_metadata,
            ..Default::default()
        }),
        "Overwrite" => overwrite(None),
        "Restore" => Operation::Restore(tx::Restore::default()),
        "Index" => index("mine", Some(&[1])),
        "Reserve" => Operation::ReserveFragments(tx::ReserveFragments::default()),
        "Bases" => Operation::UpdateBases(tx::UpdateBases::default()),
        _ => panic!("{name}"),
    }
}

fn theirs(name: &str) -> Operation {
    match name {
        "DeleteOther" => delete(&[2], &[]),
        "DeleteSame" => delete(&[1], &[]),
        "RemoveSame" => delete(&[], &[1]),
        "UpdateOther" => update(2, false),
        "UpdateSame" => update(1, false),
        "InPlaceOther" => update(2, true),
        "InPlaceSame" => update(1, true),
        "ReplaceOther" => replace(2),
        "ReplaceSame" => replace(1),
        "RewriteOther" => rewrite(2),
        "RewriteSame" => rewrite(1),
        "MergeNoNulls" => merge(false),
        "ProjectNoNulls" => project(false),
        "ConfigSameKey" => config("key"),
        "ConfigOtherKey" => config("other"),
        "MetaSchema" => Operation::UpdateConfig(UpdateConfig {
            schema_metadata: map("a"),
            ..Default::default()
        }),
        "MetaField" => Operation::UpdateConfig(UpdateConfig {
            field_metadata: [(0, map("a").unwrap())].into(),
            ..Default::default()
        }),
        "OverwriteSameKey" => overwrite(Some("key")),
        "IndexOver1" => index("theirs", Some(&[1])),
        "IndexOver2" => index("theirs", Some(&[2])),
        "IndexUnsaid" => index("theirs", None),
        "IndexSameName" => index("mine", Some(&[2])),
        "Clone" => Operation::Clone(tx::CloneTable::default()),
        "Unknown" => Operation::Unknown,
        same => ours(same),
    }
}

#[test]
fn the_whole_matrix() {
    let mut lines = MATRIX.lines().filter(|line| !line.is_empty());
    let columns: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let mut cells = 0;
    for line in lines {
        let mut words = line.split_whitespace();
        let row = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        assert_eq!(words.len(), columns.len(), "{row}");
        for (column, expected) in columns.iter().zip(words) {
            let got = match verdict(&ours(column), &theirs(row)) {
                Fine => "+",
                ByRows(_) => "b",
                Again(_) => "r",
                Never(_) => "x",
            };
            assert_eq!(got, expected, "{row} was committed, ours is {column}");
            cells += 1;
        }
    }
    assert_eq!(cells, 31 * 15);
}

#[test]
fn conflicts_are_told_in_the_words_of_users() {
    let names =
        ["Append", "Delete", "Update", "Rewrite", "Merge", "Project", "Config", "Overwrite"];
    for name in names {
        let words = ours(name).words();
        assert!(words.chars().all(|c| !c.is_uppercase()), "{words}");
    }
    let conflict = crate::Conflict {
        ours: ours("Merge").words(),
        version: 7,
        theirs: ours("Rewrite").words(),
        can_retry: true,
        why: "it moved rows".into(),
    };
    assert_eq!(
        conflict.to_string(),
        "the change (add or retype columns) was not committed: version 7 (compact) came first, and it moved rows; \
         open the newest version and do it again"
    );
}

#[test]
fn what_the_matrix_does_not_show() {
    // An upsert with a filter of its keys, behind new rows.
    let mut upsert = Update { inserted_keys: Some(vec![1]), ..Default::default() };
    assert!(matches!(verdict(&Operation::Update(upsert.clone()), &ours("Append")), Again(_)));
    upsert.inserted_keys = None;
    assert_eq!(verdict(&Operation::Update(upsert), &ours("Append")), Fine);
    // Columns that are to allow no nulls any more.
    for (theirs, expected) in [("Append", "r"), ("UpdateOther", "r"), ("DeleteOther", "+")] {
        let got = verdict(&project(false), &self::theirs(theirs));
        assert_eq!(if got == Fine { "+" } else { "r" }, expected, "{theirs}");
    }
    // The same fragment with other files by now.
    let mut other = fragment(1);
    other.files[0].path = "other.lance".into();
    let theirs = Operation::Update(Update { updated: vec![other], ..Default::default() });
    assert!(matches!(verdict(&delete(&[1], &[]), &theirs), Again(_)));
    assert_eq!(verdict(&delete(&[1], &[]), &delete(&[1], &[])), ByRows([1].into()));
    // Older writers name the fields that they rewrite in place, but no mode.
    let old = |id| match update(id, false) {
        Operation::Update(update) => {
            Operation::Update(Update { fields_modified: vec![0], ..update })
        }
        other => other,
    };
    for touching in [delete(&[1], &[]), update(1, false), update(1, true), replace(1)] {
        assert!(matches!(verdict(&touching, &old(1)), Again(_)), "{touching:?}");
        assert!(matches!(verdict(&old(1), &touching), Again(_)), "{touching:?}");
        assert_eq!(verdict(&touching, &old(2)), Fine);
    }
    assert!(matches!(verdict(&old(1), &project(true)), Again(_)));
    // A map that is replaced as a whole meets every key.
    let all = UpdateMap { entries: Vec::new(), replace: true };
    let all = Operation::UpdateConfig(UpdateConfig { config: Some(all), ..Default::default() });
    assert!(matches!(verdict(&all, &config("key")), Never(_)));
    assert!(matches!(verdict(&config("key"), &all), Never(_)));
}
