//! One sound manifest, and a broken one for each rule.

use std::collections::BTreeMap;

use lancet_row_ids::RowIdSequence;
use prost::Message;

use crate::unknown::Kept;
use crate::{Error, Limits, Manifest, RowIds, proto};

/// Two fields, the second a struct with a child; two fragments, the second with deletions.
fn sound() -> proto::Manifest {
    let field = |id, parent_id, name: &str, logical_type: &str| {
        proto::Field {
            name: name.into(),
            id,
            parent_id,
            logical_type: logical_type.into(),
            nullable: true,
            extension_name: String::new(),
            metadata: BTreeMap::new(),
        }
        .into()
    };
    let file = |path: &str| proto::DataFile {
        path: path.into(),
        fields: vec![0, 1, 2],
        column_indices: vec![0, -1, 1], // the struct has no column
        file_major_version: 2,
        file_minor_version: 1,
        file_size_bytes: 342,
        base_id: None,
    };
    let fragment = |id, path: &str| {
        Kept::from(proto::DataFragment {
            id,
            files: vec![file(path).into()],
            physical_rows: 10,
            row_ids: Some(proto::RowIds::Inline(
                RowIdSequence::from(id * 10..id * 10 + 10).encode(),
            )),
            ..Default::default()
        })
    };
    let mut fragments = vec![fragment(0, "a.lance"), fragment(1, "b.lance")];
    fragments[1].deletion_file = Some(
        proto::DeletionFile {
            file_type: 1,
            read_version: 1,
            id: 77,
            num_deleted_rows: 3,
            base_id: None,
        }
        .into(),
    );
    proto::Manifest {
        fields: vec![
            field(0, -1, "a", "int64"),
            field(1, -1, "s", "struct"),
            field(2, 1, "x", "string"),
        ],
        fragments,
        version: 2,
        reader_feature_flags: 3,
        writer_feature_flags: 3,
        next_row_id: 20,
        data_format: Some(
            proto::DataFormat { file_format: "lance".into(), version: "2.1".into() }.into(),
        ),
        ..Default::default()
    }
}

fn file(message: &proto::Manifest) -> Vec<u8> {
    let message = message.encode_to_vec();
    let len = u32::try_from(message.len()).unwrap().to_le_bytes();
    [&len, message.as_slice(), &[0; 8], &[0, 0, 2, 0], b"LANC"].concat()
}

const NAME: &str = "table/_versions/18446744073709551613.manifest";

fn parse(message: &proto::Manifest) -> crate::Result<Manifest> {
    Manifest::parse(NAME, &file(message), &Limits::default())
}

/// Breaks the sound manifest; its error must name the file and hold `expected`.
#[track_caller]
fn broken(change: impl FnOnce(&mut proto::Manifest), expected: &str) {
    let mut message = sound();
    change(&mut message);
    let error = parse(&message).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{NAME}: ")), "{error}");
    assert!(error.contains(expected), "`{error}` does not say `{expected}`");
}

#[test]
fn a_sound_one() {
    let manifest = parse(&sound()).unwrap();
    assert_eq!((manifest.version, manifest.next_row_id), (2, 20));
    assert_eq!((manifest.num_rows(), manifest.num_deleted_rows()), (Some(17), Some(3)));
    let [first, second] = manifest.fragments.as_slice() else { panic!("two fragments") };
    let file = &first.files[0];
    assert_eq!((file.column_of(2), file.column_of(1), file.column_of(9)), (Some(1), None, None));
    let ids = manifest.row_ids(first).unwrap();
    assert_eq!(ids, RowIds::Sequence(RowIdSequence::from(0..10)));
    assert_eq!(second.deletion_file.as_ref().unwrap().file_name(second.id), "1-1-77.bin");
    assert_eq!(manifest.fields[2].parent, Some(1));
}

#[test]
fn versions_and_flags() {
    broken(|m| m.version = 9, "it holds version 9, but its name is that of 2");
    broken(|m| m.reader_feature_flags |= 64, "not supported: the table uses overlay files");
    broken(|m| m.reader_feature_flags |= 1 << 40, "needs a newer reader");
    broken(|m| m.reader_feature_flags |= 256, "the flags 256 must be set for readers and writers");
    broken(|m| m.max_allocated_field_id = Some(2), "`max_allocated_field_id` go together");
    broken(|m| m.fragment_tree = Some(vec![]), "the table uses a fragment tree");
    // Under a name that is not that of a version there is nothing to compare with.
    assert!(Manifest::parse("copy.bin", &file(&sound()), &Limits::default()).is_ok());
}

#[test]
fn data_formats() {
    let format = |m: &mut proto::Manifest, name: &str, version: &str| {
        m.data_format =
            Some(proto::DataFormat { file_format: name.into(), version: version.into() }.into());
    };
    broken(|m| format(m, "parquet", "2.1"), "the data files are `parquet` files");
    for unknown in ["9.9", "stable", "legacy", "0.3", ""] {
        broken(|m| format(m, "lance", unknown), &format!("the data format is `{unknown}`"));
    }
    broken(|m| format(m, "lance", "2.2"), "its version is 2.1, but the table says 2.2");
    broken(|m| m.fragments[1].files[0].file_minor_version = 7, "its version is 2.7");
    let mut mixed = sound();
    mixed.fragments[1].files[0].file_minor_version = 2;
    mixed.reader_feature_flags |= 256;
    mixed.writer_feature_flags |= 256;
    assert!(parse(&mixed).is_ok());
    mixed.data_format = None;
    assert!(parse(&mixed).is_ok());
}

#[test]
fn fields() {
    broken(|m| m.fields[2].parent_id = 77, "field `x`: its parent is field 77, which does not");
    broken(|m| m.fields[1].parent_id = 1, "field `s`: its parent is field 1, which does not stand");
    broken(|m| m.fields.swap(1, 2), "field `x`: its parent is field 1, which does not stand");
    broken(|m| m.fields[2].id = 0, "field `x`: its id 0 is that of another field");
    broken(|m| m.fields[2].id = -3, "field `x`: its id is -3, and negative ids are reserved");
    broken(|m| m.fields[0].logical_type = "int65".into(), "field `a`: the logical type `int65`");
    broken(|m| m.fields[0].logical_type = "decimal:128".into(), "malformed");
    let deep = |m: &mut proto::Manifest| {
        for id in 3..80 {
            let mut below = m.fields[1].clone();
            (below.id, below.parent_id) = (id, id - 1);
            m.fields[2].logical_type = "struct".into();
            m.fields.push(below);
        }
    };
    broken(deep, "it nests deeper than 64 levels");
}

#[test]
fn fragments() {
    broken(|m| m.fragments[1].id = 0, "fragment 0 is listed twice");
    broken(|m| m.fragments[1].id = 1 << 32, "fragment 4294967296: fragment ids must be below");
    broken(|m| m.fragments[1].id = (1 << 32) - 1, "fragment ids must be below 2^32-1");
    broken(|m| m.fragments[1].physical_rows = 1 << 32, "it has 4294967296 rows");
    broken(|m| m.fragments[1].files.clear(), "fragment 1: it has no data files");
    broken(|m| m.fragments[1].overlays.push(vec![]), "fragment 1: it has overlay files");
    let twice = |m: &mut proto::Manifest| {
        let second = m.fragments[0].files[0].clone();
        let mut second = second;
        second.fields = vec![7, 9, 2];
        m.fragments[0].files.push(second);
    };
    broken(twice, "fragment 0: field 2 is listed twice in its data files");
}

#[test]
fn data_files() {
    for path in ["", "..", ".", "../a.lance", "/etc/passwd", "a\\b", "a/b.lance", "c:x", "a\0"] {
        broken(|m| m.fragments[0].files[0].path = path.into(), "must be the plain name of a file");
    }
    broken(|m| m.fragments[0].files[0].base_id = Some(0), "its base 0 is not among");
    broken(|m| m.fragments[0].files[0].column_indices.clear(), "it has 3 fields, but 0 column");
    broken(|m| m.fragments[0].files[0].column_indices[2] = -1, "field 2 holds values, but its");
    broken(|m| m.fragments[0].files[0].column_indices[1] = -2, "column index of field 1 is -2");
    broken(
        |m| m.base_paths = vec![Kept::<proto::BasePath>::default(); 2],
        "base path 0 is listed twice",
    );
    let mut based = sound();
    based.base_paths = vec![Kept::<proto::BasePath>::default()];
    based.fragments[0].files[0].base_id = Some(0);
    assert_eq!(parse(&based).unwrap().fragments[0].files[0].base, Some(0));
}

#[test]
fn deletion_files() {
    let deletion = |m: &mut proto::Manifest, change: fn(&mut proto::DeletionFile)| {
        change(m.fragments[1].deletion_file.as_mut().unwrap());
    };
    broken(|m| deletion(m, |file| file.file_type = 2), "deletion file: its type is 2");
    broken(|m| deletion(m, |file| file.num_deleted_rows = 11), "it deletes 11 of 10 rows");
    broken(|m| deletion(m, |file| file.base_id = Some(3)), "its base 3 is not among");
    let mut untold = sound();
    deletion(&mut untold, |file| file.num_deleted_rows = 0);
    assert_eq!(parse(&untold).unwrap().num_rows(), None);
}

#[test]
fn row_ids() {
    broken(|m| m.fragments[1].row_ids = None, "fragment 1 has no row ids, but the table says");
    let elsewhere = proto::ExternalFile { path: "ids.bin".into() };
    let external = Some(proto::RowIds::External(elsewhere.clone()));
    broken(|m| m.fragments[1].row_ids = external, "not supported: fragment 1: its row ids are in");
    let external = Some(proto::Created::External(elsewhere.clone()));
    broken(|m| m.fragments[1].created = external, "its versions of creation are in");
    let external = Some(proto::LastUpdated::External(elsewhere));
    broken(|m| m.fragments[1].last_updated = external, "its versions of last change are in");
    let hidden = Some(proto::RowIds::Column(proto::Empty {}));
    broken(|m| m.fragments[1].row_ids = hidden.clone(), "hidden column -3, but 0 data files have");

    let mut message = sound();
    message.fragments[1].row_ids = hidden;
    message.fragments[1].files[0].fields.push(-3);
    message.fragments[1].files[0].column_indices.push(2);
    let manifest = parse(&message).unwrap();
    let ids = manifest.row_ids(&manifest.fragments[1]).unwrap();
    assert_eq!(ids, RowIds::Column { file: 0, column: 2 });

    // Without the flag, ids that are there do not count.
    message.reader_feature_flags = 1;
    let manifest = parse(&message).unwrap();
    assert_eq!(manifest.row_ids(&manifest.fragments[0]).unwrap(), RowIds::Addresses);
}

#[test]
fn sequences_have_an_id_for_every_row() {
    for (wrong, expected) in [(RowIdSequence::from(0..9).encode(), "9"), (vec![0x0a, 0], "")] {
        let mut message = sound();
        message.fragments[1].row_ids = Some(proto::RowIds::Inline(wrong));
        let manifest = parse(&message).unwrap();
        let error = manifest.row_ids(&manifest.fragments[1]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{NAME}: corrupt file: fragment 1: ")), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn limits_hold_before_anything_is_decoded() {
    let mut message = sound();
    message.fragments = vec![Kept::<proto::DataFragment>::default(); 100_000];
    let limits = Limits { max_metadata_bytes: 1 << 20 };
    let error = Manifest::parse("a.manifest", &file(&message), &limits).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 1_048_576, .. }), "{error}");
    assert!(error.to_string().ends_with("raise `max_metadata_bytes` to go on"), "{error}");
}

#[test]
fn numbers_need_not_be_packed() {
    // `fields` of a data file as three numbers, each with its key.
    let file = sound().fragments[0].files[0].message.clone();
    let mut apart = proto::DataFile { fields: vec![], ..file.clone() }.encode_to_vec();
    apart.extend([0x10, 0, 0x10, 1, 0x10, 2]);
    assert_eq!(proto::DataFile::decode(&*apart).unwrap(), file);
}
