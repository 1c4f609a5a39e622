//! The table of types: every Arrow type and its logical type name, or why it has none.
//!
//! | name | Arrow type |
//! |---|---|
//! | see [`SIMPLE`] | types without parameters |
//! | `fixed_size_binary:{width}` | `FixedSizeBinary` |
//! | `timestamp:{unit}:{zone}` | `Timestamp`; the zone `-` is none, others may hold colons |
//! | `decimal:{128,256}:{precision}:{scale}` | `Decimal128`, `Decimal256` |
//! | `dict:{values}:{keys}:false` | `Dictionary` |
//! | `fixed_size_list:{item}:{dimension}` | `FixedSizeList`; the dimension follows the last colon |
//! | `list`, `large_list`, with `.struct` when the item is one | `List`, `LargeList` |
//! | `struct`, `map` | `Struct`, `Map` |
//! | `json` | `LargeBinary` with the extension `lance.json` |
//! | `blob` | `LargeBinary` marked as blob; only read |
//!
//! View types have no name of their own: they are stored as their plain twins.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};

use super::{EXTENSION_METADATA, EXTENSION_NAME, MAX_DEPTH};
use crate::error::{Error, Result, ensure};
use crate::proto::file::Encoding;

/// Types without parameters.
const SIMPLE: [(&str, DataType); 27] = [
    ("null", DataType::Null),
    ("bool", DataType::Boolean),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("halffloat", DataType::Float16),
    ("float", DataType::Float32),
    ("double", DataType::Float64),
    ("string", DataType::Utf8),
    ("large_string", DataType::LargeUtf8),
    ("binary", DataType::Binary),
    ("large_binary", DataType::LargeBinary),
    ("date32:day", DataType::Date32),
    ("date64:ms", DataType::Date64),
    ("time32:s", DataType::Time32(TimeUnit::Second)),
    ("time32:ms", DataType::Time32(TimeUnit::Millisecond)),
    ("time64:us", DataType::Time64(TimeUnit::Microsecond)),
    ("time64:ns", DataType::Time64(TimeUnit::Nanosecond)),
    ("duration:s", DataType::Duration(TimeUnit::Second)),
    ("duration:ms", DataType::Duration(TimeUnit::Millisecond)),
    ("duration:us", DataType::Duration(TimeUnit::Microsecond)),
    ("duration:ns", DataType::Duration(TimeUnit::Nanosecond)),
];

const UNITS: [(&str, TimeUnit); 4] = [
    ("s", TimeUnit::Second),
    ("ms", TimeUnit::Millisecond),
    ("us", TimeUnit::Microsecond),
    ("ns", TimeUnit::Nanosecond),
];

/// The item of a fixed-size list that stands for this extension.
const BFLOAT16: &str = "lance.bfloat16";
/// The extension of binary JSON.
pub(crate) const JSON: &str = "lance.json";

/// What a logical type name says; types with child fields are completed from those.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Logical {
    /// A type without child fields.
    Leaf(DataType),
    Json,
    Blob,
    Struct,
    List {
        large: bool,
    },
    Map,
    FixedSizeListOfStruct {
        dimension: i32,
    },
}

/// The logical type name of a field's type.
pub(crate) fn to_name(field: &Field) -> Result<String> {
    if *field.data_type() == DataType::LargeBinary && extension(field) == Some(JSON) {
        return Ok("json".into());
    }
    type_name(field.data_type())
}

fn type_name(data_type: &DataType) -> Result<String> {
    use DataType::*;
    Ok(match data_type {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64
        | Float16 | Float32 | Float64 | Utf8 | LargeUtf8 | Binary | LargeBinary | Date32
        | Date64 | Time32(_) | Time64(_) | Duration(_) => simple_name(data_type)?.into(),
        Utf8View => "string".into(),
        BinaryView => "binary".into(),
        FixedSizeBinary(width) if *width >= 0 => format!("fixed_size_binary:{width}"),
        FixedSizeBinary(width) => return refuse(format!("a fixed-size binary of {width} bytes")),
        Timestamp(unit, zone) => timestamp_name(*unit, zone.as_deref())?,
        Decimal128(precision, scale) => format!("decimal:128:{precision}:{scale}"),
        Decimal256(precision, scale) => format!("decimal:256:{precision}:{scale}"),
        Decimal32(..) | Decimal64(..) => {
            return refuse(format!("the type {data_type}; cast it to Decimal128"));
        }
        List(item) => list_name("list", item),
        LargeList(item) => list_name("large_list", item),
        ListView(_) => return refuse("a list view; cast it to List"),
        LargeListView(_) => return refuse("a list view; cast it to LargeList"),
        FixedSizeList(item, dimension) => fixed_size_list_name(item, *dimension)?,
        Struct(_) => "struct".into(),
        Map(_, false) => "map".into(),
        Map(_, true) => {
            return refuse("a map marked as sorted by key; cast it to one without the mark");
        }
        Dictionary(keys, values) => dictionary_name(keys, values)?,
        Interval(_) => return refuse("an interval; cast it to a Duration or to integers"),
        Union(..) => return refuse("a union; use a struct with one nullable field a variant"),
        RunEndEncoded(_, values) => {
            return refuse(format!(
                "a run-end encoded array; cast it to its values, {}",
                values.data_type()
            ));
        }
    })
}

fn refuse<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::unsupported(format!("Lance files cannot hold {}", what.into())))
}

fn simple_name(data_type: &DataType) -> Result<&'static str> {
    match SIMPLE.iter().find(|(_, simple)| simple == data_type) {
        Some((name, _)) => Ok(name),
        None => refuse(format!("the type {data_type}, whose unit does not fit its width")),
    }
}

fn unit_name(unit: TimeUnit) -> &'static str {
    UNITS.iter().find(|(_, u)| *u == unit).map_or("", |(name, _)| name)
}

fn timestamp_name(unit: TimeUnit, zone: Option<&str>) -> Result<String> {
    if zone == Some("-") {
        return refuse("a timestamp in the time zone `-`, which stands for none; rename the zone");
    }
    Ok(format!("timestamp:{}:{}", unit_name(unit), zone.unwrap_or("-")))
}

fn list_name(list: &str, item: &Field) -> String {
    match item.data_type() {
        DataType::Struct(_) => format!("{list}.struct"),
        _ => list.into(),
    }
}

fn fixed_size_list_name(item: &Field, dimension: i32) -> Result<String> {
    if dimension <= 0 {
        return refuse(format!("a fixed-size list of {dimension} items"));
    }
    let item_type = item.data_type();
    let name = match item_type {
        DataType::Struct(_) => "struct".into(),
        DataType::FixedSizeBinary(2) if extension(item) == Some(BFLOAT16) => BFLOAT16.into(),
        DataType::FixedSizeList(inner, n) if !matches!(inner.data_type(), DataType::Struct(_)) => {
            fixed_size_list_name(inner, *n)?
        }
        _ if is_fixed_width(item_type) => type_name(item_type)?,
        _ => return refuse(format!("a fixed-size list of {item_type}; cast it to a List")),
    };
    Ok(format!("fixed_size_list:{name}:{dimension}"))
}

fn dictionary_name(keys: &DataType, values: &DataType) -> Result<String> {
    use DataType::*;
    let name = match values {
        Boolean | Utf8 | LargeUtf8 | Binary | LargeBinary => type_name(values)?,
        Utf8View | BinaryView => type_name(values)?,
        _ if values.is_integer() || values.is_floating() => type_name(values)?,
        _ => return refuse(format!("a dictionary of {values}; cast it to its values")),
    };
    if !keys.is_dictionary_key_type() {
        return refuse(format!("a dictionary whose keys are {keys}; use integers"));
    }
    Ok(format!("dict:{name}:{}:false", type_name(keys)?))
}

/// A value has a fixed number of bits: what a fixed-size list may hold.
fn is_fixed_width(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Null | Boolean | FixedSizeBinary(_)) || data_type.is_primitive()
}

fn extension(field: &Field) -> Option<&str> {
    field.metadata().get(EXTENSION_NAME).map(String::as_str)
}

/// The type of a logical type name.
pub(crate) fn parse(name: &str) -> Result<Logical> {
    Ok(match name {
        "struct" => Logical::Struct,
        "list" | "list.struct" => Logical::List { large: false },
        "large_list" | "large_list.struct" => Logical::List { large: true },
        "map" => Logical::Map,
        "json" => Logical::Json,
        "blob" => Logical::Blob,
        _ => match fixed_size_list_parts(name)? {
            Some(("struct", dimension)) => Logical::FixedSizeListOfStruct { dimension },
            _ => Logical::Leaf(parse_leaf(name, 0)?),
        },
    })
}

fn parse_leaf(name: &str, depth: usize) -> Result<DataType> {
    ensure!(depth < MAX_DEPTH, "fixed-size lists nest deeper than {MAX_DEPTH}");
    if let Some((_, data_type)) = SIMPLE.iter().find(|(simple, _)| *simple == name) {
        return Ok(data_type.clone());
    }
    if let Some((item, dimension)) = fixed_size_list_parts(name)? {
        return parse_fixed_size_list(item, dimension, depth);
    }
    let parsed = match name.split_once(':') {
        Some(("fixed_size_binary", width)) => {
            width.parse().ok().filter(|w| *w >= 0).map(DataType::FixedSizeBinary)
        }
        Some(("timestamp", rest)) => parse_timestamp(rest),
        Some(("decimal", rest)) => parse_decimal(rest),
        Some(("dict", rest)) => parse_dictionary(rest),
        _ => {
            return Err(Error::unsupported(format!(
                "the logical type `{}` is unknown to lancet",
                shown(name)
            )));
        }
    };
    parsed.ok_or_else(|| Error::corrupt(format!("the logical type `{}` is malformed", shown(name))))
}

/// The start of a name from a file, fit for a message.
fn shown(name: &str) -> String {
    name.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Item and dimension of `fixed_size_list:{item}:{dimension}`.
fn fixed_size_list_parts(name: &str) -> Result<Option<(&str, i32)>> {
    let Some(rest) = name.strip_prefix("fixed_size_list:") else { return Ok(None) };
    let parts = rest.rsplit_once(':').and_then(|(item, n)| Some((item, n.parse::<i32>().ok()?)));
    match parts {
        Some((item, dimension)) if dimension > 0 => Ok(Some((item, dimension))),
        _ => Err(Error::corrupt(format!(
            "the logical type `{}` has no positive dimension",
            shown(name)
        ))),
    }
}

fn parse_fixed_size_list(item: &str, dimension: i32, depth: usize) -> Result<DataType> {
    let item = if item == BFLOAT16 {
        let extension = [(EXTENSION_NAME, BFLOAT16), (EXTENSION_METADATA, "")];
        let metadata: HashMap<String, String> =
            extension.map(|(key, value)| (key.to_string(), value.to_string())).into();
        Field::new("item", DataType::FixedSizeBinary(2), true).with_metadata(metadata)
    } else {
        let item = parse_leaf(item, depth.saturating_add(1))?;
        if !is_fixed_width(&item) && !matches!(item, DataType::FixedSizeList(..)) {
            return Err(Error::unsupported(format!("a fixed-size list of {item}")));
        }
        Field::new("item", item, true)
    };
    let list = DataType::FixedSizeList(Arc::new(item), dimension);
    ensure!(
        bits(&list).is_some() && items(&list).is_some(),
        "one value of a fixed-size list has more than 2^64 bits"
    );
    Ok(list)
}

/// Items of one value, over all depths; items may have no bits.
fn items(data_type: &DataType) -> Option<u64> {
    match data_type {
        DataType::FixedSizeList(item, dimension) => {
            items(item.data_type())?.checked_mul(u64::try_from(*dimension).ok()?)
        }
        _ => Some(1),
    }
}

/// Bits of one value of a fixed-width type.
pub(crate) fn bits(data_type: &DataType) -> Option<u64> {
    match data_type {
        DataType::Null => Some(0),
        DataType::Boolean => Some(1),
        DataType::FixedSizeBinary(width) => u64::try_from(*width).ok()?.checked_mul(8),
        DataType::FixedSizeList(item, dimension) => {
            bits(item.data_type())?.checked_mul(u64::try_from(*dimension).ok()?)
        }
        _ => u64::try_from(data_type.primitive_width()?).ok()?.checked_mul(8),
    }
}

fn parse_timestamp(rest: &str) -> Option<DataType> {
    let (unit, zone) = rest.split_once(':')?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(DataType::Timestamp(*unit, (zone != "-").then(|| zone.into())))
}

fn parse_decimal(rest: &str) -> Option<DataType> {
    let mut parts = rest.split(':');
    let (width, precision, scale) = (parts.next()?, parts.next()?, parts.next()?);
    let (precision, scale) = (precision.parse::<u8>().ok()?, scale.parse::<i8>().ok()?);
    let fits = |max: u8| (1..=max).contains(&precision) && scale.unsigned_abs() <= max;
    match (width, parts.next()) {
        ("128", None) if fits(38) => Some(DataType::Decimal128(precision, scale)),
        ("256", None) if fits(76) => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

/// `{values}:{keys}:{ordered}`; whether the dictionary is ordered is ignored.
fn parse_dictionary(rest: &str) -> Option<DataType> {
    let parts: Vec<&str> = rest.splitn(4, ':').collect();
    let [values, keys, _ordered] = parts.as_slice() else { return None };
    let simple = |name: &str| SIMPLE.iter().find(|(n, _)| *n == name).map(|(_, t)| t.clone());
    let (values, keys) = (simple(values)?, simple(keys)?);
    keys.is_dictionary_key_type().then(|| DataType::Dictionary(keys.into(), values.into()))
}

/// The number old readers expect beside the type.
pub(crate) fn legacy_encoding(data_type: &DataType) -> Encoding {
    use DataType::*;
    match data_type {
        Null | Struct(_) => Encoding::None,
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => Encoding::VarBinary,
        Dictionary(..) => Encoding::Dictionary,
        _ => Encoding::Plain,
    }
}

/// The type with every view replaced by its plain twin, at any depth.
pub(crate) fn plain_twin(data_type: &DataType) -> DataType {
    let field = |field: &Arc<Field>| {
        let plain = plain_twin(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(plain))
    };
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, n) => DataType::FixedSizeList(field(item), *n),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), plain_twin(values).into())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
#[path = "logical_tests.rs"]
mod tests;
