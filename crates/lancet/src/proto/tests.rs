//! Holds the hand-written messages against the texts in `tests/proto/`.
//!
//! Every field of every struct is set alone, encoded, and decoded by a reader built from the text:
//! exactly the field of the same name must come out, with a value of the same type, and the text
//! must have no field the struct lacks.

use std::any::type_name;
use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage, Value};

use super::*;

fn texts() -> DescriptorPool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proto");
    let files = ["file.proto", "file_v2.proto", "encodings.proto", "encodings21.proto"];
    let set = protox::compile(files, [folder]).unwrap();
    DescriptorPool::from_file_descriptor_set(set).unwrap()
}

/// `Box<crate::a::Flat>` is `Flat`.
fn short_name<T>() -> &'static str {
    type_name::<T>().rsplit("::").next().unwrap().trim_end_matches('>')
}

/// A value that is not the default, and what it must look like to the reader of the text.
trait Sample: Sized {
    fn sample() -> Self;
    fn is(value: &Value) -> bool;
}

macro_rules! scalar {
    ($($rust:ty: $sample:expr => $seen:pat,)*) => { $(
        impl Sample for $rust {
            fn sample() -> Self {
                $sample
            }
            fn is(value: &Value) -> bool {
                matches!(value, $seen)
            }
        }
    )* };
}

scalar! {
    bool: true => Value::Bool(true),
    u32: 7 => Value::U32(7),
    u64: 7 => Value::U64(7),
    i64: -2 => Value::I64(-2),
    i32: 2 => Value::I32(2) | Value::EnumNumber(2),
    String: "x".into() => Value::String(_),
}

impl Sample for Vec<u8> {
    fn sample() -> Self {
        vec![9]
    }
    fn is(value: &Value) -> bool {
        *value == Value::Bytes(vec![9].into())
    }
}

impl Sample for Vec<u64> {
    fn sample() -> Self {
        vec![7, 300]
    }
    fn is(value: &Value) -> bool {
        *value == Value::List(vec![Value::U64(7), Value::U64(300)])
    }
}

impl Sample for Vec<i32> {
    fn sample() -> Self {
        vec![1, 2]
    }
    fn is(value: &Value) -> bool {
        *value == Value::List(vec![Value::EnumNumber(1), Value::EnumNumber(2)])
    }
}

impl Sample for BTreeMap<String, Vec<u8>> {
    fn sample() -> Self {
        BTreeMap::from([("k".into(), vec![9])])
    }
    fn is(value: &Value) -> bool {
        let entry = |v: &Value| *v == Value::Bytes(vec![9].into());
        value.as_map().is_some_and(|map| map.len() == 1 && map.values().all(entry))
    }
}

impl<M: Message + Default> Sample for Option<M> {
    fn sample() -> Self {
        Some(M::default())
    }
    fn is(value: &Value) -> bool {
        match value {
            Value::Message(message) => message.descriptor().name() == short_name::<M>(),
            Value::Bytes(_) => short_name::<M>() == "Vec<u8",
            Value::I32(_) => short_name::<M>() == "i32",
            _ => false,
        }
    }
}

/// Repeated messages.
macro_rules! repeated {
    ($($message:ty),*) => { $(
        impl Sample for Vec<$message> {
            fn sample() -> Self {
                vec![<$message>::default()]
            }
            fn is(value: &Value) -> bool {
                let one = value.as_list().and_then(|list| list.first());
                one.is_some_and(<Option<$message> as Sample>::is)
            }
        }
    )* };
}

repeated!(
    file::Field,
    file_v2::column_metadata::Page,
    encodings::ArrayEncoding,
    encodings21::variable_packed_struct::FieldEncoding
);

/// Decodes `message` by the text and expects exactly one field, called `name`.
fn expect_only(descriptor: &MessageDescriptor, name: &str, message: &impl Message) -> Value {
    let bytes = message.encode_to_vec();
    let seen = DynamicMessage::decode(descriptor.clone(), bytes.as_slice()).unwrap();
    let place = format!("{}.{name}", descriptor.full_name());
    assert_eq!(seen.unknown_fields().count(), 0, "{place} has another number in the text");
    let fields: Vec<_> = seen.fields().collect();
    assert_eq!(fields.len(), 1, "{place} sets one field");
    assert_eq!(fields[0].0.name(), name, "{place} has the number of another field");
    assert_eq!(seen.encode_to_vec(), bytes, "{place} is encoded differently");
    fields[0].1.clone()
}

fn is_sample<S: Sample>(_: &S, value: &Value) -> bool {
    S::is(value)
}

/// Checks one message: its plain fields, then its oneof, if any, with all variants.
macro_rules! check {
    ($pool:ident, $package:expr, $message:path { $($field:ident),* }
        $(, $oneof:ident: $choice:path { $($variant:ident = $name:literal),* })?) => {{
        let path = stringify!($message).replace(' ', "");
        // Modules of nested messages are written in lower case: `column_metadata::Page`.
        let nested: Vec<_> = path.split("::").skip(1).map(upper_camel).collect();
        let full_name = format!("{}.{}", $package, nested.join("."));
        let descriptor = $pool.get_message_by_name(&full_name).unwrap();
        let mut known: Vec<String> = Vec::new();
        // No `..`: a new field must be listed here.
        let $message { $($field: _,)* $($oneof: _)? } = <$message>::default();
        $({
            let mut message = <$message>::default();
            message.$field = Sample::sample();
            let name = stringify!($field).trim_start_matches("r#");
            let value = expect_only(&descriptor, name, &message);
            assert!(is_sample(&message.$field, &value), "{full_name}.{name} is a {value:?}");
            known.push(name.into());
        })*
        $({
            use $choice as Choice;
            // No `_`: a new variant must be listed here.
            let _ = |choice: Choice| match choice { $(Choice::$variant(..) => ()),* };
            $({
                let message = <$message>::from_choice(Choice::$variant(Default::default()));
                let value = expect_only(&descriptor, $name, &message);
                let name = value.as_message().map(|m| m.descriptor().name().to_string());
                let Choice::$variant(inner) = Choice::$variant(Default::default()) else {
                    unreachable!()
                };
                assert!(
                    match name {
                        Some(name) => name == short_name_of(&inner),
                        None => ["u32", "u64"].contains(&short_name_of(&inner)),
                    },
                    "{full_name}.{} is a {value:?}",
                    $name
                );
                known.push($name.into());
            })*
        })?
        known.sort();
        let mut expected: Vec<_> = descriptor.fields().map(|f| f.name().to_string()).collect();
        expected.sort();
        assert_eq!(known, expected, "fields of {full_name}");
        full_name
    }};
}

fn short_name_of<T>(_: &T) -> &'static str {
    short_name::<T>()
}

fn upper_camel(snake: &str) -> String {
    let word = |w: &str| w[..1].to_uppercase() + &w[1..];
    if snake.starts_with(char::is_uppercase) {
        return snake.into();
    }
    snake.split('_').map(word).collect()
}

/// Builds the message that holds only the chosen variant.
trait FromChoice<C> {
    fn from_choice(choice: C) -> Self;
}

macro_rules! from_choice {
    ($($message:path, $field:ident: $choice:path;)*) => { $(
        impl FromChoice<$choice> for $message {
            fn from_choice(choice: $choice) -> Self {
                let mut message = Self::default();
                message.$field = Some(choice);
                message
            }
        }
    )* };
}

from_choice! {
    file_v2::Encoding, location: file_v2::encoding::Location;
    encodings::ColumnEncoding, encoding: encodings::column_encoding::Encoding;
    encodings::ArrayEncoding, array_encoding: encodings::array_encoding::ArrayEncoding;
    encodings::Nullable, nullability: encodings::nullable::Nullability;
    encodings::PageLayout, layout: encodings::page_layout::Layout;
    encodings::FullZipLayout, details: encodings::full_zip_layout::Details;
    encodings21::PageLayout, layout: encodings21::page_layout::Layout;
    encodings21::FullZipLayout, details: encodings21::full_zip_layout::Details;
    encodings21::CompressiveEncoding, compression: encodings21::compressive_encoding::Compression;
    encodings21::variable_packed_struct::FieldEncoding,
        layout: encodings21::variable_packed_struct::field_encoding::Layout;
}

fn check_all(pool: &DescriptorPool) -> Vec<String> {
    let mut checked = check_files(pool);
    checked.extend(check_arrays(pool));
    checked.extend(check_layouts(pool));
    checked.extend(check_compression(pool));
    checked
}

fn check_files(pool: &DescriptorPool) -> Vec<String> {
    vec![
        check!(pool, "lance.file", file::FileDescriptor { schema, length }),
        check!(pool, "lance.file", file::Schema { fields, metadata }),
        check!(
            pool,
            "lance.file",
            file::Field {
                r#type,
                name,
                id,
                parent_id,
                logical_type,
                nullable,
                encoding,
                dictionary,
                extension_name,
                metadata,
                unenforced_primary_key,
                unenforced_primary_key_position,
                unenforced_clustering_key,
                unenforced_clustering_key_position
            }
        ),
        check!(pool, "lance.file", file::Dictionary { offset, length }),
        check!(
            pool,
            "lance.file.v2",
            file_v2::ColumnMetadata { encoding, pages, buffer_offsets, buffer_sizes }
        ),
        check!(
            pool,
            "lance.file.v2",
            file_v2::column_metadata::Page {
                buffer_offsets,
                buffer_sizes,
                length,
                encoding,
                priority
            }
        ),
        check!(pool, "lance.file.v2", file_v2::Encoding {},
            location: file_v2::encoding::Location {
                Indirect = "indirect", Direct = "direct", None = "none" }),
        check!(pool, "lance.file.v2", file_v2::DirectEncoding { encoding }),
        check!(pool, "lance.file.v2", file_v2::DeferredEncoding { buffer_location, buffer_length }),
        check!(pool, "lance.encodings", encodings::ColumnEncoding {},
            encoding: encodings::column_encoding::Encoding {
                Values = "values", ZoneIndex = "zone_index", Blob = "blob" }),
        check!(
            pool,
            "lance.encodings",
            encodings::ZoneIndex { rows_per_zone, zone_map_buffer, inner }
        ),
        check!(pool, "lance.encodings", encodings::Blob { inner }),
        check!(pool, "lance.encodings", encodings::Buffer { buffer_index, buffer_type }),
    ]
}

fn check_arrays(pool: &DescriptorPool) -> Vec<String> {
    const P: &str = "lance.encodings";
    let mut checked = vec![
        check!(pool, P, encodings::ArrayEncoding {},
            array_encoding: encodings::array_encoding::ArrayEncoding {
                Flat = "flat",
                Nullable = "nullable",
                FixedSizeList = "fixed_size_list",
                List = "list",
                Struct = "struct",
                Binary = "binary",
                Dictionary = "dictionary",
                Fsst = "fsst",
                PackedStruct = "packed_struct",
                Bitpacked = "bitpacked",
                FixedSizeBinary = "fixed_size_binary",
                BitpackedForNonNeg = "bitpacked_for_non_neg",
                Constant = "constant",
                InlineBitpacking = "inline_bitpacking",
                OutOfLineBitpacking = "out_of_line_bitpacking",
                Variable = "variable",
                PackedStructFixedWidthMiniBlock = "packed_struct_fixed_width_mini_block" }),
        check!(pool, P, encodings::Nullable {}, nullability: encodings::nullable::Nullability {
            NoNulls = "no_nulls", SomeNulls = "some_nulls", AllNulls = "all_nulls" }),
    ];
    checked.extend([
        check!(pool, P, encodings::Compression { scheme, level }),
        check!(pool, P, encodings::Flat { bits_per_value, buffer, compression }),
        check!(pool, P, encodings::nullable::NoNull { values }),
        check!(pool, P, encodings::nullable::SomeNull { validity, values }),
        check!(pool, P, encodings::nullable::AllNull {}),
        check!(pool, P, encodings::FixedSizeList { dimension, items, has_validity }),
        check!(pool, P, encodings::List { offsets, null_offset_adjustment, num_items }),
        check!(pool, P, encodings::SimpleStruct {}),
        check!(pool, P, encodings::Binary { indices, bytes, null_adjustment }),
        check!(pool, P, encodings::Fsst { binary, symbol_table }),
        check!(pool, P, encodings::Dictionary { indices, items, num_dictionary_items }),
        check!(pool, P, encodings::PackedStruct { inner, buffer }),
        check!(
            pool,
            P,
            encodings::Bitpacked {
                compressed_bits_per_value,
                uncompressed_bits_per_value,
                buffer,
                signed
            }
        ),
        check!(
            pool,
            P,
            encodings::BitpackedForNonNeg {
                compressed_bits_per_value,
                uncompressed_bits_per_value,
                buffer
            }
        ),
        check!(pool, P, encodings::FixedSizeBinary { bytes, byte_width }),
        check!(pool, P, encodings::Constant { value }),
    ]);
    checked.extend(check_early(pool));
    checked
}

/// The messages of early 2.1.
fn check_early(pool: &DescriptorPool) -> Vec<String> {
    const P: &str = "lance.encodings";
    vec![
        check!(pool, P, encodings::InlineBitpacking { uncompressed_bits_per_value }),
        check!(
            pool,
            P,
            encodings::OutOfLineBitpacking {
                uncompressed_bits_per_value,
                compressed_bits_per_value
            }
        ),
        check!(pool, P, encodings::Variable { bits_per_offset }),
        check!(pool, P, encodings::PackedStructFixedWidthMiniBlock { flat, bits_per_values }),
        check!(pool, P, encodings::PageLayout {}, layout: encodings::page_layout::Layout {
            MiniBlockLayout = "mini_block_layout",
            AllNullLayout = "all_null_layout",
            FullZipLayout = "full_zip_layout" }),
        check!(
            pool,
            P,
            encodings::MiniBlockLayout {
                rep_compression,
                def_compression,
                value_compression,
                dictionary,
                num_dictionary_items,
                layers,
                num_buffers,
                repetition_index_depth,
                num_items
            }
        ),
        check!(pool, P, encodings::AllNullLayout { layers }),
        check!(pool, P, encodings::FullZipLayout {
                bits_rep, bits_def, num_items, num_visible_items, value_compression, layers },
            details: encodings::full_zip_layout::Details {
                BitsPerValue = "bits_per_value", BitsPerOffset = "bits_per_offset" }),
    ]
}

fn check_layouts(pool: &DescriptorPool) -> Vec<String> {
    vec![
        check!(pool, "lance.encodings21", encodings21::PageLayout {},
            layout: encodings21::page_layout::Layout {
                MiniBlockLayout = "mini_block_layout",
                ConstantLayout = "constant_layout",
                FullZipLayout = "full_zip_layout",
                BlobLayout = "blob_layout" }),
        check!(
            pool,
            "lance.encodings21",
            encodings21::MiniBlockLayout {
                rep_compression,
                def_compression,
                value_compression,
                dictionary,
                num_dictionary_items,
                layers,
                num_buffers,
                repetition_index_depth,
                num_items,
                has_large_chunk
            }
        ),
        check!(pool, "lance.encodings21", encodings21::FullZipLayout {
                bits_rep, bits_def, num_items, num_visible_items, value_compression, layers },
            details: encodings21::full_zip_layout::Details {
                BitsPerValue = "bits_per_value", BitsPerOffset = "bits_per_offset" }),
        check!(
            pool,
            "lance.encodings21",
            encodings21::ConstantLayout {
                layers,
                inline_value,
                rep_compression,
                def_compression,
                num_rep_values,
                num_def_values
            }
        ),
        check!(pool, "lance.encodings21", encodings21::BlobLayout { inner_layout, layers }),
    ]
}

fn check_compression(pool: &DescriptorPool) -> Vec<String> {
    vec![
        check!(pool, "lance.encodings21", encodings21::CompressiveEncoding {},
            compression: encodings21::compressive_encoding::Compression {
                Flat = "flat",
                Variable = "variable",
                Constant = "constant",
                OutOfLineBitpacking = "out_of_line_bitpacking",
                InlineBitpacking = "inline_bitpacking",
                Fsst = "fsst",
                Dictionary = "dictionary",
                Rle = "rle",
                ByteStreamSplit = "byte_stream_split",
                General = "general",
                FixedSizeList = "fixed_size_list",
                PackedStruct = "packed_struct",
                VariablePackedStruct = "variable_packed_struct" }),
        check!(pool, "lance.encodings21", encodings21::BufferCompression { scheme, level }),
        check!(pool, "lance.encodings21", encodings21::Flat { bits_per_value, data }),
        check!(pool, "lance.encodings21", encodings21::Variable { offsets, values }),
        check!(pool, "lance.encodings21", encodings21::Constant { value }),
        check!(
            pool,
            "lance.encodings21",
            encodings21::OutOfLineBitpacking { uncompressed_bits_per_value, values }
        ),
        check!(
            pool,
            "lance.encodings21",
            encodings21::InlineBitpacking { uncompressed_bits_per_value, values }
        ),
        check!(pool, "lance.encodings21", encodings21::Fsst { symbol_table, values }),
        check!(
            pool,
            "lance.encodings21",
            encodings21::Dictionary { indices, items, num_dictionary_items }
        ),
        check!(pool, "lance.encodings21", encodings21::Rle { values, run_lengths }),
        check!(pool, "lance.encodings21", encodings21::ByteStreamSplit { values }),
        check!(pool, "lance.encodings21", encodings21::General { compression, values }),
        check!(
            pool,
            "lance.encodings21",
            encodings21::FixedSizeList { items_per_value, values, has_validity }
        ),
        check!(pool, "lance.encodings21", encodings21::PackedStruct { bits_per_value, values }),
        check!(pool, "lance.encodings21", encodings21::VariablePackedStruct { fields }),
        check!(pool, "lance.encodings21",
            encodings21::variable_packed_struct::FieldEncoding { value },
            layout: encodings21::variable_packed_struct::field_encoding::Layout {
                BitsPerValue = "bits_per_value", BitsPerLength = "bits_per_length" }),
    ]
}

#[test]
fn structs_and_texts_agree() {
    let pool = texts();
    let mut checked = check_all(&pool);
    checked.sort();
    let mut expected: Vec<_> = pool
        .all_messages()
        .filter(|m| m.package_name().starts_with("lance.") && !m.is_map_entry())
        .map(|m| m.full_name().to_string())
        .collect();
    expected.sort();
    assert_eq!(checked, expected);
}

#[test]
fn enums_and_texts_agree() {
    let pool = texts();
    let check = |name: &str, called: &dyn Fn(i32) -> String| {
        for value in pool.get_enum_by_name(name).unwrap().values() {
            let expected = upper_camel(&value.name().to_lowercase());
            assert_eq!(called(value.number()), expected, "{name} {}", value.number());
        }
    };
    macro_rules! check {
        ($name:literal, $rust:ty) => {
            check($name, &|number| format!("{:?}", <$rust>::try_from(number).unwrap()));
        };
    }
    check!("lance.file.Field.Type", file::field::Type);
    check!("lance.file.Encoding", file::Encoding);
    check!("lance.encodings.Buffer.BufferType", encodings::buffer::BufferType);
    check!("lance.encodings21.RepDefLayer", encodings21::RepDefLayer);
    check!("lance.encodings21.CompressionScheme", encodings21::CompressionScheme);
}

#[test]
fn encodes_the_examples_of_the_format() {
    use encodings21::compressive_encoding::Compression;
    use encodings21::{BufferCompression, CompressiveEncoding, Flat, General, Variable};
    let encoding = |compression| CompressiveEncoding { compression: Some(compression) };
    let flat = |bits_per_value| encoding(Compression::Flat(Flat { bits_per_value, data: None }));
    assert_eq!(flat(32).encode_to_vec(), [0x0a, 2, 8, 0x20]);
    let variable = Variable { offsets: Some(flat(32).into()), values: None };
    let general = General {
        compression: Some(BufferCompression { scheme: 2, level: None }),
        values: Some(encoding(Compression::Variable(variable.into())).into()),
    };
    assert_eq!(
        encoding(Compression::General(general.into())).encode_to_vec(),
        [0x52, 0xe, 0xa, 2, 8, 2, 0x1a, 8, 0x12, 6, 0xa, 4, 0xa, 2, 8, 0x20]
    );
}
