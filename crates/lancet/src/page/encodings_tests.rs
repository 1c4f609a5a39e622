use super::*;
use crate::codec::PackedWidth::{Length, Value};
use crate::page::test_pages::{hex, rule_of};
use prost::Message;

/// The encoding of a message in hexadecimal digits.
fn parsed(message: &str) -> Result<Encoding> {
    let message = pb::CompressiveEncoding::decode(hex(message).as_slice()).unwrap();
    parse(Some(&message), "values")
}

fn flat(bits: u64) -> Box<Encoding> {
    Box::new(Encoding::Flat { bits })
}

fn encoded(encoding: &Encoding) -> Vec<u8> {
    to_message(encoding).encode_to_vec()
}

#[test]
fn messages_byte_for_byte() {
    let field = |encoding, width| PackedField { encoding, width };
    let cases = [
        ("0a020820", Encoding::Flat { bits: 32 }),
        ("12060a040a020820", Encoding::Variable { offset_bits: 32 }),
        ("1a00", Encoding::Constant),
        ("220808101a040a020803", Encoding::OutOfLineBitpacking { bits: 16, packed_bits: 3 }),
        // A packed width of no bits is legal, where a flat one is not.
        ("220608101a020a00", Encoding::OutOfLineBitpacking { bits: 16, packed_bits: 0 }),
        ("2a020840", Encoding::InlineBitpacking { bits: 64 }),
        ("420c0a040a02081012040a020808", Encoding::Rle { bits: 16 }),
        ("4a060a040a020820", Encoding::ByteStreamSplit { bits: 32 }),
        (
            "520a0a0208011a040a020820",
            Encoding::General { scheme: Scheme::Lz4, level: None, values: flat(32) },
        ),
        (
            "520c0a04080210031a040a020820",
            Encoding::General { scheme: Scheme::Zstd, level: Some(3), values: flat(32) },
        ),
        (
            "5a0a080312040a0208101801",
            Encoding::FixedSizeList { items_per_value: 3, has_validity: true, values: flat(16) },
        ),
        ("620b0a02404012050a03088001", Encoding::PackedStruct { field_bits: vec![64, 64] }),
        (
            "6a180a080a040a02082010200a0c0a0812060a040a0208201820",
            Encoding::VariablePackedStruct {
                fields: vec![
                    field(Encoding::Flat { bits: 32 }, Value { bits: 32 }),
                    field(Encoding::Variable { offset_bits: 32 }, Length { bits: 32 }),
                ],
            },
        ),
    ];
    for (message, encoding) in cases {
        assert_eq!(parsed(message).unwrap(), encoding);
        assert_eq!(encoded(&encoding), hex(message), "{encoding}");
    }
}

#[test]
fn strings_coded_with_a_table() {
    let table = Arc::new(SymbolTable::verbatim());
    let values = Box::new(Encoding::Variable { offset_bits: 32 });
    let fsst = Encoding::Fsst { table, values };
    assert_eq!(parse(Some(&to_message(&fsst)), "values").unwrap(), fsst);
}

#[test]
fn each_rule_of_the_messages_is_checked() {
    let cases = [
        ("", "the encoding of the values is missing or unknown"),
        // A field that no release has.
        ("fa0700", "the encoding of the values is missing or unknown"),
        ("0a0408201200", "a flat encoding names a compression of its own"),
        ("12080a040a0208201200", "a variable encoding names a compression of its own"),
        ("1200", "the encoding of the offsets is missing or unknown"),
        ("12060a042a020820", "offsets that are not flat"),
        ("12060a040a020810", "offsets of 16 bits"),
        ("1a030a0107", "a constant encoding with a value"),
        ("2208080c1a040a020803", "values of 12 bits cannot be packed or run-length coded"),
        ("2202 0810", "packed values that are not flat"),
        ("220808101a042a020803", "packed values that are not flat"),
        ("220808101a040a020811", "16-bit values packed to 17 bits"),
        ("2a0408201200", "a bit-packed encoding names a compression of its own"),
        ("2a020818", "values of 24 bits cannot be packed or run-length coded"),
        ("3a00", "a dictionary stands as an encoding of values"),
        ("4200", "the encoding of the run values is missing or unknown"),
        ("42060a040a020810", "the encoding of the run lengths is missing or unknown"),
        ("420c0a042a02081012040a020808", "run values that are not flat"),
        ("420c0a040a02080c12040a020808", "values of 12 bits cannot be packed or run-length coded"),
        ("420c0a040a02081012040a020810", "run lengths that are not flat bytes"),
        ("4a00", "the encoding of the split values is missing or unknown"),
        ("4a060a042a020820", "split values that are not flat"),
        ("4a060a040a020810", "a byte stream split of 16-bit values"),
        ("52061a040a020820", "compression scheme 0"),
        ("520a0a0208031a040a020820", "compression scheme 3"),
        ("52040a020801", "the encoding of the compressed values is missing or unknown"),
        ("5a0612040a020810", "a fixed-size list of 0 items"),
        ("5a020803", "the encoding of the list items is missing or unknown"),
        ("62040a024040", "the encoding of the packed rows is missing or unknown"),
        ("620712050a03088001", "a packed struct without fields"),
        (
            "620b0a02400012050a03088001",
            "a packed struct with a field that is not a whole number of bytes",
        ),
        (
            "620b0a02400c12050a03088001",
            "a packed struct with a field that is not a whole number of bytes",
        ),
        ("620b0a02402012050a03088001", "packed fields do not add up to 128 bits"),
        ("620a0a02404012042a020840", "packed rows that are not flat"),
        ("6a020a00", "the encoding of the packed field is missing or unknown"),
        ("6a080a060a040a020820", "a packed field has no width"),
        ("6a0a0a080a040a0208201000", "a packed field of 0 bits"),
        ("6a0a0a080a040a020820100c", "a packed field of 12 bits"),
        ("6a0a0a080a040a0208201810", "packed field lengths of 16 bits"),
    ];
    for (message, rule) in cases {
        assert_eq!(rule_of(parsed(message)), rule, "{message}");
    }
    assert_eq!(rule_of(parse(None, "levels")), "the encoding of the levels is missing or unknown");
}

#[test]
fn packed_fields_do_not_overflow_their_sum() {
    let field_bits = vec![u64::MAX - 7, 16];
    let message = pb::PackedStruct { bits_per_value: field_bits, values: None };
    let sum = packed_struct(&message, &Encoding::Flat { bits: 8 });
    assert_eq!(rule_of(sum), "packed fields do not add up to 8 bits");
}

#[test]
fn coded_strings_need_a_table_and_strings() {
    let values = Box::new(Encoding::Variable { offset_bits: 32 });
    let table = Arc::new(SymbolTable::verbatim());
    let mut message = to_message(&Encoding::Fsst { table, values });
    let Some(Compression::Fsst(fsst)) = &mut message.compression else { panic!() };
    fsst.values = None;
    let missing = "the encoding of the coded strings is missing or unknown";
    assert_eq!(rule_of(parse(Some(&message), "values")), missing);
    let Some(Compression::Fsst(fsst)) = &mut message.compression else { panic!() };
    fsst.symbol_table.clear();
    assert!(rule_of(parse(Some(&message), "values")).contains("symbol table"));
}

#[test]
fn values_of_no_bits_are_not_supported() {
    let Error::Unsupported(what) = parsed("0a00").unwrap_err() else { panic!() };
    assert!(what.contains("values of 0 bytes"), "{what}");
    assert!(what.contains("read the other columns"), "{what}");
}

#[test]
fn encodings_nest_16_deep() {
    let nested = |depth: usize| {
        let list = |values| Encoding::FixedSizeList {
            items_per_value: 1,
            has_validity: false,
            values: Box::new(values),
        };
        let encoding = (1..depth).fold(Encoding::Flat { bits: 8 }, |values, _| list(values));
        parse(Some(&to_message(&encoding)), "values")
    };
    assert!(nested(16).is_ok());
    assert_eq!(rule_of(nested(17)), "encodings nest more than 16 deep");
    // Fields of a packed struct count as well.
    let lists = (0..15).fold(Encoding::Flat { bits: 8 }, |values, _| Encoding::FixedSizeList {
        items_per_value: 1,
        has_validity: false,
        values: Box::new(values),
    });
    let fields = vec![PackedField { encoding: lists, width: Value { bits: 8 } }];
    let row = to_message(&Encoding::VariablePackedStruct { fields });
    assert_eq!(rule_of(parse(Some(&row), "values")), "encodings nest more than 16 deep");
}
