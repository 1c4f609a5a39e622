use proptest::prelude::*;

use super::decode::MAX_RUN;
use super::*;

/// The table of a page of 1,100 strings, as the reference wrote it.
const REFERENCE: &[u8] = include_bytes!("../../tests/data/fsst_table.bin");

const CODED: [&[u8]; 4] = [
    &[0x7c, 0xae, 0x81, 0xa5, 0xad, 0x22, 0x71, 0xe6, 0xd5],
    &[0xa5, 0xab, 0xa8, 0xa9, 0x77, 0xa3, 0xb7, 0x82, 0x76, 0x15, 0x8b, 0xe5],
    &[0xa2, 0x7d, 0x90, 0xfb, 0x05, 0x6d, 0xdb],
    &[0x86, 0x85, 0x93, 0xa3, 0x51],
];
const PLAIN: [&str; 4] = [
    "east user-agent category temperature=0",
    "category https://example.org/path/ 2024-01-0 temperature= epsilon1",
    "temperature= delta item2",
    "item north item 2024-01-03",
];

fn table_of(symbols: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![symbols.len() as u8, 7, 7, 1];
    bytes.extend(MAGIC);
    for symbol in symbols {
        bytes.extend_from_slice(symbol);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes.extend(symbols.iter().map(|symbol| symbol.len() as u8));
    bytes.resize(TABLE_BYTES, 0);
    bytes
}

/// Decodes the values one by one and in one run; both must agree.
fn decode(table: &SymbolTable, values: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
    let mut run = b"before".to_vec();
    let mut run_ends = vec![run.len()];
    let ends = values.iter().scan(0, |end, value| {
        *end += value.len();
        Some(*end)
    });
    let whole = table.decode_run(&values.concat(), ends, &mut vec![7; 3], &mut run, |end| {
        run_ends.push(end);
        Ok(())
    });
    let one_by_one: Result<Vec<_>> = values
        .iter()
        .map(|value| {
            let mut out = Vec::new();
            table.decode_value(value, &mut out).map(|()| out)
        })
        .collect();
    match &one_by_one {
        Ok(one_by_one) => {
            whole.unwrap();
            assert_eq!(run.len(), *run_ends.last().unwrap());
            let in_run: Vec<_> = run_ends.windows(2).map(|w| run[w[0]..w[1]].to_vec()).collect();
            assert_eq!(&in_run, one_by_one);
        }
        Err(_) => {
            whole.unwrap_err();
            assert_eq!(run, b"before");
        }
    }
    one_by_one
}

fn rule(result: Result<impl fmt::Debug>) -> String {
    match result.unwrap_err() {
        Error::Corrupt(corrupt) => corrupt.rule,
        other => panic!("{other}"),
    }
}

#[test]
fn reads_the_table_and_the_values_of_the_reference() {
    let table = SymbolTable::parse(REFERENCE).unwrap();
    assert_eq!(table.num_symbols, 255);
    assert_eq!(decode(&table, &CODED).unwrap(), PLAIN.map(|plain| plain.as_bytes().to_vec()));
    // The hints of the encoder are all that is lost.
    let mut expected = REFERENCE.to_vec();
    expected[1..3].fill(0);
    assert_eq!(table.to_bytes(), expected);
}

#[test]
fn a_table_that_is_switched_off_stands_for_verbatim_values() {
    let mut stored = vec![0; TABLE_BYTES];
    stored[4..8].copy_from_slice(&[0x54, 0x53, 0x53, 0x46]);
    let table = SymbolTable::parse(&stored).unwrap();
    assert_eq!(table, SymbolTable::verbatim());
    assert_eq!(table.to_bytes(), stored);
    let values: [&[u8]; 3] = [b"\xff\x00", b"", b"plain"];
    assert_eq!(decode(&table, &values).unwrap(), values.map(<[u8]>::to_vec));
}

#[test]
fn symbols_escapes_and_ends_anywhere_in_a_step() {
    let table = SymbolTable::parse(&table_of(&[b"12345678", b"a", b"bc\0"])).unwrap();
    let symbols: [&[u8]; 3] = [b"12345678", b"a", b"bc\0"];
    for escape_at in 0..20 {
        for len in 0..20 {
            let mut coded = Vec::new();
            let mut plain = Vec::new();
            for i in 0..len {
                if i == escape_at {
                    coded.extend([255, 255]);
                    plain.push(255);
                } else {
                    coded.push((i % 3) as u8);
                    plain.extend_from_slice(symbols[i % 3]);
                }
            }
            let decoded = decode(&table, &[&coded, b"", &coded, &[1], &coded]).unwrap();
            assert_eq!(decoded, [&plain[..], b"", &plain, b"a", &plain]);
        }
    }
}

#[test]
fn runs_that_are_too_long_at_once() {
    let table = SymbolTable::parse(&table_of(&[b"12345678", b"a", b"bc\0"])).unwrap();
    // An escape every 97 codes.
    let coded = |len: usize| -> Vec<u8> {
        let codes = (0..len).flat_map(|i| match i % 97 {
            0 => vec![255, 200],
            rest => vec![(rest % 3) as u8],
        });
        codes.collect()
    };
    for lengths in
        [vec![1000; 200], vec![MAX_RUN; 2], vec![5, MAX_RUN + 70, 0, 9], vec![3 * MAX_RUN]]
    {
        let values: Vec<Vec<u8>> = lengths.iter().map(|len| coded(*len)).collect();
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        decode(&table, &values).unwrap();
        let escaped = [values.as_slice(), &[&[255]]].concat();
        assert_eq!(rule(decode(&table, &escaped)), "a coded value ends with an escape");
    }
}

#[test]
fn every_number_of_symbols_has_its_first_unknown_code() {
    for num_symbols in 0..=255_usize {
        let symbols: Vec<[u8; 1]> = (0..num_symbols).map(|code| [code as u8]).collect();
        let symbols: Vec<&[u8]> = symbols.iter().map(|symbol| &symbol[..]).collect();
        let table = SymbolTable::parse(&table_of(&symbols)).unwrap();
        for code in 0..255_u8 {
            for coded in [&[code][..], &[255, 0, 255, 9, 255, 7, 255, 6, code, 255, 3]] {
                let result = decode(&table, &[coded]);
                if usize::from(code) < num_symbols {
                    assert!(result.unwrap()[0].contains(&code));
                } else {
                    let expected =
                        format!("code {code} stands for no symbol; the table has {num_symbols}");
                    assert_eq!(rule(result), expected);
                }
            }
        }
    }
}

#[test]
fn an_escape_needs_its_byte_in_the_same_value() {
    let table = SymbolTable::parse(REFERENCE).unwrap();
    for len in 0..18 {
        let coded = [vec![0; len], vec![255]].concat();
        assert_eq!(
            rule(decode(&table, &[&coded, &[1, 2, 3]])),
            "a coded value ends with an escape"
        );
    }
}

#[test]
fn ends_must_lie_in_order_and_reach_the_end() {
    for table in [SymbolTable::parse(REFERENCE).unwrap(), SymbolTable::verbatim()] {
        for ends in [&[4, 3, 20][..], &[21], &[20, 12, 20], &[19], &[], &[usize::MAX]] {
            let run =
                table.decode_run(&[0; 20], ends.iter().copied(), &mut vec![], &mut vec![], |_| {
                    Ok(())
                });
            rule(run);
        }
    }
}

#[test]
fn an_error_of_the_listener_ends_the_run() {
    for table in [SymbolTable::parse(REFERENCE).unwrap(), SymbolTable::verbatim()] {
        let mut out = vec![1];
        let full = |_| Err(Error::invalid("full"));
        table.decode_run(&[0; 20], [4, 20].into_iter(), &mut vec![], &mut out, full).unwrap_err();
        assert_eq!(out, [1]);
    }
}

#[test]
fn broken_tables() {
    for len in [0, 8, TABLE_BYTES - 1, TABLE_BYTES + 1] {
        let mut table = REFERENCE.to_vec();
        table.resize(len, 0);
        assert!(rule(SymbolTable::parse(&table)).contains("2312 bytes"));
    }
    for (position, byte) in [(4, 0x53), (7, 0)] {
        let mut table = REFERENCE.to_vec();
        table[position] = byte;
        assert!(rule(SymbolTable::parse(&table)).contains("starts with"));
    }
    for length in [0, 9, 255] {
        let mut table = REFERENCE.to_vec();
        table[8 + 9 * 255 - 1] = length;
        assert_eq!(
            rule(SymbolTable::parse(&table)),
            format!("symbol 254 has {length} bytes, not 1 to 8")
        );
    }
}

#[test]
fn training_is_deterministic_and_shrinks_text() {
    let values: Vec<String> =
        (0..20_000).map(|i| format!("https://example.org/path/{}", i * 7919 % 10_007)).collect();
    let bytes = || values.iter().map(String::as_bytes);
    let trained = Trained::train(bytes());
    assert_eq!(trained.table, Trained::train(bytes()).table);
    assert_eq!(SymbolTable::parse(&trained.table.to_bytes()).unwrap(), trained.table);
    let mut coded = Vec::new();
    trained.encode_values(&bytes().collect::<Vec<_>>(), &mut coded, &mut Vec::new());
    assert!(coded.len() * 3 < values.concat().len(), "{} coded bytes", coded.len());
}

#[test]
fn samples_are_spread_evenly() {
    let values: Vec<[u8; 1]> = (0..100).map(|i| [i]).collect();
    let sample = |n: usize| -> Vec<u8> {
        let values = values[..n].iter().flat_map(|value| [&value[..], &[]]);
        spread_sample(values, 8).concat()
    };
    assert_eq!(sample(0), [0_u8; 0]);
    assert_eq!(sample(8), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(sample(9), [0, 2, 4, 6, 8]);
    assert_eq!(sample(17), [0, 4, 8, 12, 16]);
    assert_eq!(sample(100), [0, 16, 32, 48, 64, 80, 96]);
}

fn values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![Just(0), Just(255), b'a'..=b'd', any::<u8>()];
    prop::collection::vec(prop::collection::vec(byte, 0..40), 0..60)
}

proptest! {
    #[test]
    fn values_round_trip(values in values()) {
        let values: Vec<&[u8]> = values.iter().map(|value| &value[..]).collect();
        let trained = Trained::train(values.iter().copied());
        let coded: Vec<Vec<u8>> = values
            .iter()
            .map(|value| {
                let mut coded = Vec::new();
                trained.encode_values(&[*value], &mut coded, &mut Vec::new());
                prop_assert!(coded.len() <= 2 * value.len());
                Ok(coded)
            })
            .collect::<std::result::Result<_, TestCaseError>>()?;
        let coded: Vec<&[u8]> = coded.iter().map(|coded| &coded[..]).collect();
        prop_assert_eq!(decode(&trained.table, &coded).unwrap(), values.as_slice());

        let (mut bulk, mut ends) = (vec![1, 2], Vec::new());
        trained.encode_values(&values, &mut bulk, &mut ends);
        prop_assert_eq!(&bulk[2..], &coded.concat()[..]);
        let starts = [2].into_iter().chain(ends.iter().map(|&end| end as usize));
        let lens: Vec<_> = starts.zip(&ends).map(|(start, &end)| end as usize - start).collect();
        prop_assert_eq!(lens, coded.iter().map(|coded| coded.len()).collect::<Vec<_>>());
    }

    #[test]
    fn forged_codes_decode_or_fail(coded in prop::collection::vec(any::<u8>(), 0..100)) {
        let table = SymbolTable::parse(&table_of(&[&b"abc"[..]; 200])).unwrap();
        let _ = decode(&table, &[&coded, &coded]);
    }
}
