use super::*;

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn with(field: Field, metadata: &[(&str, &str)]) -> Field {
    let owned = metadata.iter().map(|(k, v)| (k.to_string(), v.to_string()));
    field.with_metadata(owned.collect())
}

fn list(item: Field) -> DataType {
    DataType::List(item.into())
}

fn structure(fields: Vec<Field>) -> DataType {
    DataType::Struct(fields.into())
}

fn messages(fields: Vec<Field>) -> Vec<file::Field> {
    from_arrow(&Schema::new(fields), Version::V2_2).unwrap().0.fields
}

fn message_of(name: &str, id: i32, parent_id: i32, logical_type: &str) -> file::Field {
    file::Field {
        name: name.into(),
        id,
        parent_id,
        logical_type: logical_type.into(),
        ..Default::default()
    }
}

fn read(fields: Vec<file::Field>) -> Result<StoredSchema> {
    to_arrow(&file::Schema { fields, metadata: BTreeMap::new() })
}

fn read_error(fields: Vec<file::Field>) -> String {
    let error = read(fields).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
    error.to_string()
}

#[test]
fn fields_stand_parents_first_and_come_back() {
    use DataType::*;
    let key = Field::new("k", Utf8, false);
    let entries = Field::new("entries", structure(vec![key, field("v", Int8)]), false);
    let schema = Schema::new_with_metadata(
        vec![
            field("a", list(field("item", structure(vec![field("x", Utf8)])))),
            Field::new("b", Map(entries.into(), false), false),
            field("c", FixedSizeList(field("item", Float32).into(), 3)),
            field("d", FixedSizeList(field("it", structure(vec![field("x", Int8)])).into(), 1)),
            field("n", Null),
        ],
        [("owner".to_string(), "me".to_string())].into(),
    );
    let (message, written) = from_arrow(&schema, Version::V2_2).unwrap();
    let seen: Vec<_> = message
        .fields
        .iter()
        .map(|f| (f.name.as_str(), f.id, f.parent_id, f.logical_type.as_str(), f.encoding))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", 0, -1, "list.struct", 1),
            ("item", 1, 0, "struct", 0),
            ("x", 2, 1, "string", 2),
            ("b", 3, -1, "map", 1),
            ("entries", 4, 3, "struct", 0),
            ("k", 5, 4, "string", 2),
            ("v", 6, 4, "int8", 1),
            ("c", 7, -1, "fixed_size_list:float:3", 1),
            ("d", 8, -1, "fixed_size_list:struct:1", 1),
            ("it", 9, 8, "struct", 0),
            ("x", 10, 9, "int8", 1),
            ("n", 11, -1, "null", 0),
        ]
    );
    let back = to_arrow(&message).unwrap();
    assert_eq!(*back.schema, schema);
    assert_eq!(back.ids, (0..12).collect::<Vec<_>>());
    assert_eq!(written.ids, back.ids);
    assert_eq!(*written.schema, schema);
}

#[test]
fn views_are_stored_as_plain_twins() {
    let views = vec![
        field("a", list(field("item", DataType::Utf8View))),
        field("d", DataType::Dictionary(DataType::Int8.into(), DataType::BinaryView.into())),
    ];
    let plain = Schema::new(vec![
        field("a", list(field("item", DataType::Utf8))),
        field("d", DataType::Dictionary(DataType::Int8.into(), DataType::Binary.into())),
    ]);
    let (message, stored) = from_arrow(&Schema::new(views), Version::V2_1).unwrap();
    assert_eq!(*stored.schema, plain);
    assert_eq!(*to_arrow(&message).unwrap().schema, plain);
}

#[test]
fn ids_may_be_brought() {
    let id = |f: Field, id: &str| with(f, &[(ID_KEY, id)]);
    let s = structure(vec![id(field("x", DataType::Int8), "3"), field("y", DataType::Int8)]);
    let fields = vec![
        field("a", DataType::Int8),
        id(field("s", s), "7"),
        id(field("_rowid", DataType::UInt64), "-3"),
    ];
    let (message, stored) = from_arrow(&Schema::new(fields), Version::V2_2).unwrap();
    assert_eq!(stored.ids, [8, 7, 3, 9, -3]);
    assert_eq!(message.fields[3].parent_id, 7);
    assert!(message.fields.iter().all(|f| f.metadata.is_empty()));
    assert!(stored.schema.field(1).metadata().is_empty());
    assert_eq!(to_arrow(&message).unwrap().schema, stored.schema);

    let refused = |fields: Vec<Field>| {
        let error = from_arrow(&Schema::new(fields), Version::V2_2).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    };
    let int = |name: &str, text: &str| id(field(name, DataType::Int8), text);
    refused(vec![int("a", "1"), int("b", "1")]);
    refused(vec![int("a", "-3")]);
    refused(vec![int("a", "one")]);
    refused(vec![int("a", "2147483647"), field("b", DataType::Int8)]);
}

#[test]
fn metadata_fills_dedicated_fields() {
    let int = || field("a", DataType::Int32);
    let seen = |metadata: &[(&str, &str)]| messages(vec![with(int(), metadata)]).remove(0);
    let key = seen(&[(PRIMARY_KEY, "Yes")]);
    assert!(key.unenforced_primary_key && key.metadata.contains_key(PRIMARY_KEY));
    assert!(!seen(&[(PRIMARY_KEY, "no")]).unenforced_primary_key);
    let key = seen(&[(PRIMARY_KEY_POSITION, "2")]);
    assert_eq!((key.unenforced_primary_key, key.unenforced_primary_key_position), (true, 2));
    assert_eq!(seen(&[(CLUSTERING_KEY_POSITION, "1")]).unenforced_clustering_key_position, 1);
    assert_eq!(seen(&[(EXTENSION_NAME, "arrow.uuid")]).extension_name, "arrow.uuid");
}

#[test]
fn reading_fills_metadata() {
    let mut f = message_of("j", 0, -1, "json");
    f.metadata = [("k".to_string(), vec![0x66, 0xff])].into();
    let j = read(vec![f.clone()]).unwrap().schema.field(0).clone();
    assert_eq!(j.data_type(), &DataType::LargeBinary);
    assert_eq!(j.metadata()[EXTENSION_NAME], "lance.json");
    assert_eq!(j.metadata()["k"], "f\u{fffd}");
    f.logical_type = "int8".into();
    f.extension_name = "mine".into();
    f.metadata.insert(EXTENSION_NAME.into(), b"other".to_vec());
    assert_eq!(read(vec![f.clone()]).unwrap().schema.field(0).metadata()[EXTENSION_NAME], "mine");
    f.logical_type = "blob".into();
    assert_eq!(read(vec![f]).unwrap().schema.field(0).metadata()[BLOB_KEY], "true");
}

#[test]
fn ids_need_not_be_dense_nor_siblings_adjacent() {
    let stored = read(vec![
        message_of("s", 40, -1, "struct"),
        message_of("a", 7, -1, "int8"),
        message_of("x", 2, 40, "int8"),
    ])
    .unwrap();
    let expected = Schema::new(vec![
        Field::new("s", structure(vec![Field::new("x", DataType::Int8, false)]), false),
        Field::new("a", DataType::Int8, false),
    ]);
    assert_eq!(*stored.schema, expected);
    assert_eq!(stored.ids, [40, 2, 7]);
}

#[test]
fn broken_trees_are_refused() {
    let top = |id, logical_type: &str| message_of("f", id, -1, logical_type);
    let child = |id, parent, logical_type: &str| message_of("c", id, parent, logical_type);
    for (fields, rule) in [
        (vec![child(1, 0, "int8"), top(0, "struct")], "names the parent 0"),
        (vec![child(0, 0, "struct")], "names the parent 0"),
        (vec![child(0, -2, "int8")], "names the parent -2"),
        (vec![top(0, "int8"), top(0, "int8")], "two fields have the id 0"),
        (vec![top(0, "list")], "field `f`: the type `list` has 0 child fields instead of 1"),
        (vec![top(0, "list"), child(1, 0, "int8"), child(2, 0, "int8")], "has 2 child fields"),
        (vec![top(0, "int8"), child(1, 0, "int8")], "has 1 child fields instead of 0"),
        (vec![top(0, "fixed_size_list:int8:2"), child(1, 0, "int8")], "instead of 0"),
        (vec![top(0, "fixed_size_list:struct:2"), child(1, 0, "int8")], "structs is a Int8"),
        (vec![top(0, "map"), child(1, 0, "int8")], "instead of a struct"),
        (vec![top(0, "map"), child(1, 0, "struct")], "have 0 fields instead of key and value"),
        (vec![top(0, "decimal:128:99:0")], "field `f`: the logical type `decimal:128:99:0`"),
    ] {
        let error = read_error(fields);
        assert!(error.contains(rule), "{rule}: {error}");
    }
    let error = read(vec![top(0, "int31")]).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)));
    assert!(error.to_string().contains("field `f`: the logical type `int31`"), "{error}");
}

#[test]
fn depth_is_limited() {
    let chain = |depth: i32| {
        let leaf = |i| if i + 1 == depth { "int8" } else { "list" };
        (0..depth).map(|i| message_of("f", i, i - 1, leaf(i))).collect::<Vec<_>>()
    };
    assert!(read(chain(64)).is_ok());
    assert!(read_error(chain(65)).contains("deeper than 64"));
    assert!(read_error(chain(100_000)).contains("deeper than 64"));
}

#[test]
fn blobs_of_the_second_kind_get_their_children_back() {
    let mut blob = message_of("b", 0, -1, "struct");
    for key in [BLOB_KEY, PACKED_KEYS[0]] {
        blob.metadata.insert(key.into(), b"true".to_vec());
    }
    let types = ["uint8", "uint64", "uint64", "uint32", "string"];
    let parts = || BLOB_V2_FIELDS.iter().zip(types).map(|(n, t)| message_of(n, -1, -1, t));
    let after = message_of("z", 1, -1, "int8");
    let mut fields = vec![blob];
    fields.extend(parts());
    fields.push(after.clone());
    let schema = read(fields).unwrap().schema;
    assert_eq!(schema.fields().len(), 2);
    assert!(matches!(schema.field(0).data_type(), DataType::Struct(fields) if fields.len() == 5));
    // After any other field they are what they seem.
    let mut fields = vec![after];
    fields.extend(parts());
    assert_eq!(read(fields).unwrap().schema.fields().len(), 6);
}
