use std::sync::Arc;

use super::*;

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn marked(data_type: DataType, key: &str, value: &str) -> Field {
    field("c", data_type).with_metadata([(key.into(), value.into())].into())
}

fn list(item: Field) -> DataType {
    DataType::List(Arc::new(item))
}

fn fsl(item: DataType, dimension: i32) -> DataType {
    DataType::FixedSizeList(Arc::new(field("item", item)), dimension)
}

fn structure(fields: Vec<Field>) -> DataType {
    DataType::Struct(fields.into())
}

fn map(key_nullable: bool) -> DataType {
    let entries = structure(vec![
        Field::new("key", DataType::Utf8, key_nullable),
        field("value", DataType::Int32),
    ]);
    DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
}

fn packed(child: DataType) -> Field {
    marked(structure(vec![field("x", DataType::Int32), field("y", child)]), PACKED_KEYS[0], "true")
}

/// Whether 2.1 and 2.2 can hold a field, and what the last refusal says.
fn outcome(field: Field) -> (bool, bool, String) {
    let schema = Schema::new(vec![field]);
    let mut message = String::new();
    let mut holds = |version| match check(&schema, version) {
        Ok(()) => true,
        Err(Error::Unsupported(what)) => {
            message = what;
            false
        }
        Err(other) => panic!("{other}"),
    };
    (holds(Version::V2_1), holds(Version::V2_2), message)
}

#[test]
fn versions_differ_as_the_table_says() {
    use DataType::*;
    let inner = || structure(vec![field("x", Int32)]);
    for later in [
        field("c", map(false)),
        field("c", list(field("item", map(false)))),
        field("c", fsl(inner(), 3)),
        field("c", FixedSizeBinary(0)),
        packed(Utf8),
        packed(LargeBinary),
        packed(fsl(Float32, 4)),
    ] {
        let name = later.data_type().clone();
        let (v21, v22, message) = outcome(later);
        assert_eq!((v21, v22), (false, true), "{name}: {message}");
        assert!(message.contains("write 2.2"), "{message}");
    }
}

#[test]
fn both_versions_hold() {
    use DataType::*;
    for both in [
        field("c", Utf8View),
        field("c", list(field("item", Dictionary(Int8.into(), Utf8.into())))),
        field("c", list(field("item", fsl(Int32, 2)))),
        field("c", fsl(fsl(Boolean, 2), 3)),
        field("c", structure(vec![])),
        field("c", structure(vec![marked(LargeBinary, BLOB_KEY, "")])),
        packed(FixedSizeBinary(3)),
        field("c", list(packed(Int64))),
        marked(structure(vec![field("x", Utf8)]), "packed", "false"),
    ] {
        let name = both.data_type().clone();
        assert_eq!(outcome(both), (true, true, String::new()), "{name}");
    }
}

#[test]
fn neither_version_holds() {
    use DataType::*;
    let inner = || structure(vec![field("x", Int32)]);
    let with_list = structure(vec![field("l", list(field("item", Int32)))]);
    let with_map = structure(vec![field("m", map(false))]);
    for (neither, reason) in [
        (field("c", map(true)), "keys may be null"),
        (field("c", fsl(with_list, 2)), "a list below a fixed-size list"),
        (field("c", fsl(with_map, 2)), "a map below a fixed-size list"),
        (field("c", list(field("item", fsl(inner(), 2)))), "below a list"),
        (field("c", list(field("item", structure(vec![])))), "a struct without fields below"),
        (field("c", structure(vec![field("e", structure(vec![]))])), "a struct without fields"),
        (field("c", fsl(fsl(Null, 2), 2)), "a fixed-size list of nulls"),
        (field("c", list(field("item", ListView(field("item", Int8).into())))), "list view"),
        (marked(Binary, BLOB_KEY, "true"), "cast it to LargeBinary"),
        (field("c", list(marked(LargeBinary, BLOB_KEY, "true"))), "a blob below a list"),
        (marked(LargeBinary, super::super::EXTENSION_NAME, columns::BLOB_V2), "second kind"),
        (marked(inner(), PACKED_KEYS[0], "1"), "must be `true`, not `1`"),
        (marked(list(field("item", Int32)), "packed", "true"), "only structs are packed"),
        (packed(Boolean), "remove the packed mark"),
        (packed(fsl(Boolean, 8)), "remove the packed mark"),
        (packed(inner()), "remove the packed mark"),
        (packed(list(field("item", Int32))), "remove the packed mark"),
        (packed(Dictionary(Int8.into(), Utf8.into())), "remove the packed mark"),
    ] {
        let (v21, v22, message) = outcome(neither);
        assert_eq!((v21, v22), (false, false), "{reason}");
        assert!(message.contains(reason), "{reason}: {message}");
        assert!(message.starts_with("field `"), "{message}");
    }
}

#[test]
fn empty_structs_come_last() {
    let empty = || field("e", structure(vec![]));
    let number = || field("i", DataType::Int64);
    assert!(check(&Schema::new(vec![number(), empty()]), Version::V2_1).is_ok());
    let error = check(&Schema::new(vec![empty(), number()]), Version::V2_2).unwrap_err();
    assert!(error.to_string().contains("must be the last column"), "{error}");
}

#[test]
fn columns_have_one_length() {
    let pair = || structure(vec![field("x", DataType::Int32), field("y", DataType::Utf8)]);
    let number = || field("i", DataType::Int64);
    let vector = |name, n| field(name, fsl(pair(), n));
    let check = |fields| check(&Schema::new(fields), Version::V2_2);
    assert!(check(vec![vector("v", 2)]).is_ok());
    assert!(check(vec![vector("v", 2), vector("w", 2)]).is_ok());
    assert!(check(vec![vector("v", 1), number()]).is_ok());
    for fields in [
        vec![vector("v", 2), number()],
        vec![number(), vector("v", 2)],
        vec![vector("v", 2), vector("w", 3)],
        vec![field("s", structure(vec![vector("v", 2), number()]))],
    ] {
        let error = check(fields).unwrap_err().to_string();
        assert!(error.contains("field `v`: a fixed-size list of structs beside"), "{error}");
    }
}

#[test]
fn values_of_which_two_must_share_a_chunk_have_a_limit() {
    use DataType::*;
    for (wide, narrow) in [
        (packed(FixedSizeBinary(12_285)), packed(FixedSizeBinary(12_284))),
        (field("c", fsl(Boolean, 49_153)), field("c", fsl(Boolean, 49_152))),
    ] {
        let (v21, v22, message) = outcome(wide);
        assert_eq!((v21, v22), (false, true), "{message}");
        assert!(message.contains("which stores at most 12288 bytes in this way"), "{message}");
        assert!(outcome(narrow).0);
    }
}

#[test]
fn names() {
    let check = |names: [&str; 2]| {
        let fields = names.map(|name| field(name, DataType::Int32)).to_vec();
        check(&Schema::new(fields), Version::V2_2)
    };
    assert!(check(["", "A"]).is_ok());
    assert!(matches!(check(["a", "a"]), Err(Error::Invalid(_))));
    assert!(matches!(check(["a.b", "a"]), Err(Error::Invalid(_))));
    let dotted = structure(vec![field("a.b", DataType::Int8), field("a.b", DataType::Int8)]);
    let nested = Schema::new(vec![field("s", dotted)]);
    assert!(super::check(&nested, Version::V2_1).is_ok());
}
