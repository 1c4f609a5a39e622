use arrow_schema::{Fields, IntervalUnit, UnionFields, UnionMode};

use super::*;

fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", data_type, true))
}

fn fsl(data_type: DataType, dimension: i32) -> DataType {
    DataType::FixedSizeList(item(data_type), dimension)
}

fn dictionary(keys: DataType, values: DataType) -> DataType {
    DataType::Dictionary(keys.into(), values.into())
}

fn structure() -> DataType {
    DataType::Struct(Fields::from(vec![Field::new("x", DataType::Int32, true)]))
}

fn map(sorted: bool) -> DataType {
    let key = Field::new("key", DataType::Utf8, false);
    let entries = DataType::Struct(vec![key, Field::new("value", DataType::Int32, true)].into());
    DataType::Map(Arc::new(Field::new("entries", entries, false)), sorted)
}

/// One row of the table: a type, and its name or a part of the refusal.
fn table() -> Vec<(DataType, Result<&'static str, &'static str>)> {
    use DataType::*;
    let zone = |zone: &str| Some(Arc::from(zone));
    use TimeUnit::*;
    let mut table = vec![
        (Null, Ok("null")),
        (Boolean, Ok("bool")),
        (Int8, Ok("int8")),
        (Int16, Ok("int16")),
        (Int32, Ok("int32")),
        (Int64, Ok("int64")),
        (UInt8, Ok("uint8")),
        (UInt16, Ok("uint16")),
        (UInt32, Ok("uint32")),
        (UInt64, Ok("uint64")),
        (Float16, Ok("halffloat")),
        (Float32, Ok("float")),
        (Float64, Ok("double")),
        (Utf8, Ok("string")),
        (LargeUtf8, Ok("large_string")),
        (Binary, Ok("binary")),
        (LargeBinary, Ok("large_binary")),
        (Date32, Ok("date32:day")),
        (Date64, Ok("date64:ms")),
        (Time32(Second), Ok("time32:s")),
        (Time32(Millisecond), Ok("time32:ms")),
        (Time64(Microsecond), Ok("time64:us")),
        (Time64(Nanosecond), Ok("time64:ns")),
        (Duration(Second), Ok("duration:s")),
        (Duration(Millisecond), Ok("duration:ms")),
        (Duration(Microsecond), Ok("duration:us")),
        (Duration(Nanosecond), Ok("duration:ns")),
    ];
    assert_eq!(table.len(), SIMPLE.len());
    table.extend([
        (Utf8View, Ok("string")),
        (BinaryView, Ok("binary")),
        (FixedSizeBinary(0), Ok("fixed_size_binary:0")),
        (FixedSizeBinary(16), Ok("fixed_size_binary:16")),
        (FixedSizeBinary(-1), Err("of -1 bytes")),
        (Timestamp(TimeUnit::Microsecond, None), Ok("timestamp:us:-")),
        (Timestamp(TimeUnit::Second, zone("+08:00")), Ok("timestamp:s:+08:00")),
        (Timestamp(TimeUnit::Nanosecond, zone("-")), Err("rename the zone")),
        (Time32(TimeUnit::Nanosecond), Err("unit does not fit")),
        (Time64(TimeUnit::Second), Err("unit does not fit")),
        (Decimal128(38, -2), Ok("decimal:128:38:-2")),
        (Decimal256(76, 10), Ok("decimal:256:76:10")),
        (Decimal32(9, 2), Err("cast it to Decimal128")),
        (Decimal64(18, 2), Err("cast it to Decimal128")),
        (List(item(Int32)), Ok("list")),
        (LargeList(item(Int32)), Ok("large_list")),
        (List(item(structure())), Ok("list.struct")),
        (LargeList(item(structure())), Ok("large_list.struct")),
        (ListView(item(Int32)), Err("cast it to List")),
        (LargeListView(item(Int32)), Err("cast it to LargeList")),
        (fsl(fsl(Int32, 2), 3), Ok("fixed_size_list:fixed_size_list:int32:2:3")),
        (fsl(Decimal128(20, 2), 2), Ok("fixed_size_list:decimal:128:20:2:2")),
        (
            fsl(Timestamp(TimeUnit::Second, zone("+08:00")), 2),
            Ok("fixed_size_list:timestamp:s:+08:00:2"),
        ),
        (fsl(Null, 2), Ok("fixed_size_list:null:2")),
        (fsl(structure(), 3), Ok("fixed_size_list:struct:3")),
        (fsl(fsl(structure(), 3), 2), Err("a fixed-size list of FixedSizeList")),
        (fsl(Utf8, 2), Err("cast it to a List")),
        (fsl(List(item(Int32)), 2), Err("cast it to a List")),
        (fsl(map(false), 2), Err("cast it to a List")),
        (fsl(dictionary(Int8, Utf8), 2), Err("cast it to a List")),
        (fsl(Int32, 0), Err("of 0 items")),
        (structure(), Ok("struct")),
        (map(false), Ok("map")),
        (map(true), Err("sorted by key")),
        (dictionary(Int8, Utf8), Ok("dict:string:int8:false")),
        (dictionary(UInt64, Boolean), Ok("dict:bool:uint64:false")),
        (dictionary(Int32, Utf8View), Ok("dict:string:int32:false")),
        (dictionary(Int32, Null), Err("cast it to its values")),
        (dictionary(Int32, Date32), Err("cast it to its values")),
        (dictionary(Utf8, Utf8), Err("use integers")),
        (Interval(IntervalUnit::MonthDayNano), Err("cast it to a Duration")),
        (Union(UnionFields::empty(), UnionMode::Sparse), Err("use a struct")),
        (
            RunEndEncoded(item(Int32), item(Int64)),
            Err("a run-end encoded array; cast it to its values, Int64"),
        ),
    ]);
    table
}

/// What must come back: views as their twins, types with children from their name alone.
fn expected(data_type: &DataType) -> Logical {
    match plain_twin(data_type) {
        DataType::Struct(_) => Logical::Struct,
        DataType::List(_) => Logical::List { large: false },
        DataType::LargeList(_) => Logical::List { large: true },
        DataType::Map(..) => Logical::Map,
        DataType::FixedSizeList(item, dimension) if item.data_type().is_nested() => {
            match item.data_type() {
                DataType::Struct(_) => Logical::FixedSizeListOfStruct { dimension },
                _ => Logical::Leaf(DataType::FixedSizeList(item, dimension)),
            }
        }
        plain => Logical::Leaf(plain),
    }
}

#[test]
fn every_type_is_stored_and_restored_or_refused_with_advice() {
    for (data_type, outcome) in table() {
        let named = to_name(&Field::new("c", data_type.clone(), true));
        match outcome {
            Ok(name) => {
                assert_eq!(named.unwrap(), name);
                assert_eq!(parse(name).unwrap(), expected(&data_type), "{name}");
            }
            Err(reason) => {
                let error = named.unwrap_err();
                assert!(matches!(error, Error::Unsupported(_)), "{error}");
                assert!(error.to_string().contains(reason), "{data_type}: {error}");
            }
        }
    }
}

#[test]
fn the_table_above_has_every_variant() {
    // No `_`: a new Arrow type must be added here and to the table.
    use DataType::*;
    let number = |t: &DataType| match t {
        Null => 0,
        Boolean => 1,
        Int8 => 2,
        Int16 => 3,
        Int32 => 4,
        Int64 => 5,
        UInt8 => 6,
        UInt16 => 7,
        UInt32 => 8,
        UInt64 => 9,
        Float16 => 10,
        Float32 => 11,
        Float64 => 12,
        Timestamp(..) => 13,
        Date32 => 14,
        Date64 => 15,
        Time32(_) => 16,
        Time64(_) => 17,
        Duration(_) => 18,
        Interval(_) => 19,
        Binary => 20,
        FixedSizeBinary(_) => 21,
        LargeBinary => 22,
        BinaryView => 23,
        Utf8 => 24,
        LargeUtf8 => 25,
        Utf8View => 26,
        List(_) => 27,
        ListView(_) => 28,
        FixedSizeList(..) => 29,
        LargeList(_) => 30,
        LargeListView(_) => 31,
        Struct(_) => 32,
        Union(..) => 33,
        Dictionary(..) => 34,
        Decimal32(..) => 35,
        Decimal64(..) => 36,
        Decimal128(..) => 37,
        Decimal256(..) => 38,
        Map(..) => 39,
        RunEndEncoded(..) => 40,
    };
    let mut seen: Vec<_> = table().iter().map(|(t, _)| number(t)).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen, (0..=40).collect::<Vec<_>>());
}

#[test]
fn extensions_with_a_name_of_their_own() {
    let with = |data_type, extension: &str| {
        let metadata = [(EXTENSION_NAME, extension), (EXTENSION_METADATA, "")];
        Field::new("item", data_type, true)
            .with_metadata(metadata.map(|(k, v)| (k.to_string(), v.to_string())).into())
    };
    let vector = DataType::FixedSizeList(with(DataType::FixedSizeBinary(2), BFLOAT16).into(), 8);
    let name = to_name(&Field::new("v", vector.clone(), true)).unwrap();
    assert_eq!(name, "fixed_size_list:lance.bfloat16:8");
    assert_eq!(parse(&name).unwrap(), Logical::Leaf(vector));
    assert_eq!(to_name(&with(DataType::LargeBinary, JSON)).unwrap(), "json");
    assert_eq!(to_name(&with(DataType::LargeBinary, "other")).unwrap(), "large_binary");
    assert_eq!(parse("json").unwrap(), Logical::Json);
    assert_eq!(parse("blob").unwrap(), Logical::Blob);
}

#[test]
fn malformed_names_are_refused() {
    for name in [
        "fixed_size_binary:-1",
        "fixed_size_binary:x",
        "fixed_size_binary:99999999999",
        "timestamp:us",
        "timestamp:min:-",
        "decimal:128:39:0",
        "decimal:128:0:0",
        "decimal:64:9:0",
        "decimal:128:9:0:0",
        "decimal:256:76:77",
        "dict:string:int8",
        "dict:string:int8:false:x",
        "dict:string:float:false",
        "dict:date32:day:int8:false",
        "fixed_size_list:int32:0",
        "fixed_size_list:int32:-4",
        "fixed_size_list:int32",
        "fixed_size_list:",
    ] {
        let error = parse(name).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{name}: {error}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
    for name in ["", "Int32", "INT32", "int", "list:int32", "fixed_size_list:string:3"] {
        assert!(matches!(parse(name), Err(Error::Unsupported(_))), "{name}");
    }
}

#[test]
fn nesting_and_size_of_fixed_size_lists_are_bounded() {
    let nested_of = |leaf: &str, depth: usize, dimension: &str| {
        let mut name = "fixed_size_list:".repeat(depth) + leaf;
        (0..depth).for_each(|_| name += dimension);
        parse(&name)
    };
    let nested = |depth, dimension| nested_of("int8", depth, dimension);
    assert!(nested_of("null", 4, ":2000000").is_err());
    assert!(nested(2, ":2000000").is_ok());
    let error = nested(4, ":2000000").unwrap_err().to_string();
    assert!(error.contains("more than 2^64 bits"), "{error}");
    assert!(nested(63, ":1").is_ok());
    assert!(nested(64, ":1").unwrap_err().to_string().contains("deeper than 64"));
    assert!(nested(100_000, ":1").is_err());
}
