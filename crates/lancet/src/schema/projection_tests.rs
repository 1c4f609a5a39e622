use super::*;
use crate::schema::columns::{columns_of, leaves};

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn structure(fields: Vec<Field>) -> DataType {
    DataType::Struct(fields.into())
}

/// Columns: a 0, s.x 1, s.y 2, l[].x 3, l[].item 4, m.key 5, m.value.u 6, m.value.v 7, d.e 8,
/// f[].p 9, f[].q 10, pk 11.
fn example() -> Schema {
    use DataType::*;
    let item = structure(vec![field("x", Int8), field("item", Int16)]);
    let value = structure(vec![field("u", Int8), field("v", Int8)]);
    let key = Field::new("key", Utf8, false);
    let entries = structure(vec![key, field("value", value)]);
    let pair = structure(vec![field("p", Int8), field("q", Int8)]);
    let packed = field("pk", structure(vec![field("m", Int8), field("n", Int8)]));
    Schema::new(vec![
        field("a", Int32),
        field("s", structure(vec![field("x", Int8), field("y", Utf8)])),
        field("l", List(field("item", item).into())),
        field("m", Map(Field::new("entries", entries, false).into(), false)),
        field("d", structure(vec![field("e", Int8)])),
        field("f", FixedSizeList(field("item", pair).into(), 3)),
        packed.with_metadata([("packed".into(), "true".into())].into()),
    ])
}

fn ask(names: &[&str]) -> Result<FileFields> {
    let schema = example();
    project(&schema, &columns_of(&schema).unwrap(), None, names)
}

fn columns(names: &[&str]) -> Vec<u32> {
    leaves(&ask(names).unwrap().nodes).iter().map(|leaf| leaf.column).collect()
}

#[test]
fn columns_keep_their_numbers_in_the_order_asked_for() {
    for (names, expected) in [
        (&["a"][..], &[0][..]),
        (&["s"], &[1, 2]),
        (&["s.y", "a", "s.x", "s.y"], &[2, 1, 0]),
        (&["s.y", "s"], &[1, 2]),
        (&["s", "s.y"], &[1, 2]),
        (&["l.x"], &[3]),
        (&["l.item.x"], &[3]),
        (&["l.item"], &[3, 4]),
        (&["l.item.item"], &[4]),
        (&["m.key"], &[5]),
        (&["m.entries.key"], &[5]),
        (&["m.value.v"], &[7]),
        (&["m.value", "m.key"], &[5, 6, 7]),
        (&["f.q"], &[10]),
        (&["pk"], &[11]),
        (&[], &[]),
    ] {
        assert_eq!(columns(names), expected, "{names:?}");
    }
}

#[test]
fn the_schema_follows() {
    let schema = ask(&["l.x", "s.y", "f.q", "a"]).unwrap().schema;
    let item = |fields| Arc::new(field("item", structure(fields)));
    use DataType::*;
    assert_eq!(
        *schema,
        Schema::new(vec![
            field("l", List(item(vec![field("x", Int8)]))),
            field("s", structure(vec![field("y", Utf8)])),
            field("f", FixedSizeList(item(vec![field("q", Int8)]), 3)),
            field("a", Int32),
        ])
    );
}

#[test]
fn half_a_map_is_a_list() {
    let map = |names: &[&str]| ask(names).unwrap().schema.field(0).data_type().clone();
    let key = Field::new("key", DataType::Utf8, false);
    let entries = Field::new("entries", structure(vec![key]), false);
    assert_eq!(map(&["m.key"]), DataType::List(entries.into()));
    assert!(matches!(map(&["m.value.u"]), DataType::List(_)));
    let DataType::Map(entries, false) = map(&["m.value.u", "m.key"]) else { panic!() };
    let DataType::Struct(fields) = entries.data_type() else { panic!() };
    assert_eq!(fields[0].name(), "key");
    assert_eq!(fields[1].data_type(), &structure(vec![field("u", DataType::Int8)]));
    let whole = example().field(3).data_type().clone();
    assert_eq!(map(&["m.value", "m.key"]), whole);
    assert_eq!(map(&["m.value.u", "m.value.v", "m.key"]), whole);
}

#[test]
fn a_name_with_dots_wins_over_the_split() {
    let schema = Schema::new(vec![
        field("a", structure(vec![field("b", DataType::Int8), field("c.d", DataType::Int8)])),
        field("a.b", DataType::Int16),
    ]);
    let nodes = columns_of(&schema).unwrap();
    let columns = |name: &str| {
        let projection = project(&schema, &nodes, None, [name]).unwrap();
        leaves(&projection.nodes).iter().map(|leaf| leaf.column).collect::<Vec<_>>()
    };
    assert_eq!(columns("a.b"), [2]);
    assert_eq!(columns("a.c.d"), [1]);
}

#[test]
fn many_fields_are_found_as_few_are() {
    let mut fields: Vec<_> = (0..100).map(|i| field(&format!("c{i}"), DataType::Int8)).collect();
    fields.push(field("c7", DataType::Int16));
    fields.push(field("s", structure(vec![field("x", DataType::Int8)])));
    fields.push(field("s.x", DataType::Int16));
    let schema = Schema::new(fields);
    let nodes = columns_of(&schema).unwrap();
    let known = FieldNames::of(&nodes);
    assert_eq!(known.0.len(), 102, "all names, once each");
    for name in ["c0", "c7", "c99", "s", "s.x", "t", "c100"] {
        let [one, other] =
            [None, Some(&known)].map(|known| project(&schema, &nodes, known, [name]));
        match (one, other) {
            (Ok(one), Ok(other)) => {
                let columns = [one, other].map(|fields| leaves(&fields.nodes)[0].column);
                assert_eq!(columns[0], columns[1], "{name}");
            }
            (one, other) => {
                assert_eq!(one.unwrap_err().to_string(), other.unwrap_err().to_string())
            }
        }
    }
}

#[test]
fn children_of_packed_structs_share_its_column() {
    let projection = ask(&["pk.n"]).unwrap();
    let [Node::Leaf(leaf)] = projection.nodes.as_slice() else { panic!("one column") };
    let names = |field: &FieldRef| match field.data_type() {
        DataType::Struct(fields) => fields.iter().map(|f| f.name().clone()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert_eq!(names(&leaf.field), ["n"]);
    assert_eq!(names(&leaf.stored), ["m", "n"]);
}

#[test]
fn very_many_names_take_no_time() {
    const NAMES: usize = 400_000;
    let start = std::time::Instant::now();
    let mut wanted = Children::default();
    (0..NAMES).rev().for_each(|index| want(&mut wanted, &[3, index]));
    (0..NAMES).for_each(|index| want(&mut wanted, &[3, index]));
    let [(3, Wanted::Some(children))] = wanted.list.as_slice() else { panic!("one field") };
    assert_eq!((children.list.len(), children.list[0].0), (NAMES, NAMES - 1));
    // Each of them compared with all before it would be minutes.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn unknown_names_list_near_ones() {
    for (name, advice) in [
        ("A", "did you mean `a`"),
        ("s.yy", "`s.y`"),
        ("l.y", "`l.x`"),
        ("m.valeu", "`m.value`"),
        ("temperature", "the fields are `a`, `s`, `l`, `m`, `d`, …"),
        ("pk.nn", "there is no field `pk.nn`"),
        ("", "did you mean `a`"),
    ] {
        let error = ask(&[name]).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)));
        assert!(error.to_string().contains(advice), "{name}: {error}");
    }
}

#[test]
fn distances() {
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("abc", "abc"), 0);
}
