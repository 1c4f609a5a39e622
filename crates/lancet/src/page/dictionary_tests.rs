use super::*;
use crate::codec::{ValueType, VariableValues};
use crate::page::LeafSink;
use crate::page::sample_pages::{all_null, colours, keyed_colours};
use crate::page::test_pages::{TestPage, blob, hex, keyed, rule_of, shown};

fn strings(texts: &[&str]) -> Dictionary {
    let mut values = VariableValues::new(32);
    texts.iter().for_each(|text| values.push(text.as_bytes()).unwrap());
    Dictionary::new(Values::Variable(values))
}

fn bytes(indices: &[u8]) -> FixedValues {
    FixedValues::from_words(indices.iter().copied())
}

/// The dictionary of a page, its indices, and their validity.
type TestPart<'a> = (&'a [&'a str], &'a [u8], Option<&'a [u8]>);

/// Appends pages to a column with keys.
fn appended(keys: KeyType, pages: &[TestPart<'_>]) -> Result<(Vec<u8>, Values)> {
    let dictionary = Values::new(&ValueType::Variable { offset_bits: 32 });
    let mut sink = SinkValues::Dictionary(DictionaryValues::new(keys, dictionary));
    let mut scratch = Scratch::new(1 << 16);
    for (items, indices, validity) in pages {
        let items = strings(items);
        open_page(&items.items, &mut sink, &mut scratch)?;
        append(&items, &bytes(indices), *validity, &mut sink, &mut scratch)?;
    }
    let SinkValues::Dictionary(values) = sink else { panic!() };
    Ok((values.keys.data().to_vec(), values.dictionary))
}

const UINT8: KeyType = KeyType { bits: 8, signed: false };

#[test]
fn entries_are_numbered_as_they_are_used() {
    let (keys, dictionary) = appended(UINT8, &[(&["a", "b", "c"], &[2, 0, 2], None)]).unwrap();
    assert_eq!(keys, [0, 1, 0]);
    assert_eq!(dictionary, strings(&["c", "a"]).items);
}

#[test]
fn equal_entries_of_pages_become_one() {
    let pages: [TestPart<'_>; 3] =
        [(&["a", "b"], &[1, 0], None), (&["c", "b"], &[0, 1], None), (&["a"], &[0], None)];
    let (keys, dictionary) = appended(UINT8, &pages).unwrap();
    assert_eq!(keys, [0, 1, 2, 0, 1]);
    assert_eq!(dictionary, strings(&["b", "a", "c"]).items);
}

#[test]
fn keys_of_null_slots_mean_nothing() {
    let (keys, dictionary) =
        appended(UINT8, &[(&["a", "b"], &[1, 99, 1], Some(&[0b101]))]).unwrap();
    assert_eq!(keys, [0, 0, 0]);
    assert_eq!(dictionary, strings(&["b"]).items);
}

#[test]
fn keys_have_the_width_of_the_column() {
    let wide = KeyType { bits: 16, signed: true };
    let (keys, _) = appended(wide, &[(&["a", "b"], &[0, 1], None)]).unwrap();
    assert_eq!(keys, [0, 0, 1, 0]);
}

#[test]
fn an_index_names_an_entry() {
    let rule = "index 2 into a dictionary of 2 items";
    assert_eq!(rule_of(appended(UINT8, &[(&["a", "b"], &[2], None)])), rule);
    assert_eq!(
        rule_of(appended(UINT8, &[(&[], &[0], None)])),
        "index 0 into a dictionary of 0 items"
    );

    // The same through a page, as keys and as plain values.
    let mut page = keyed_colours();
    page.buffers[1][16] = 3;
    let rule = "buffer 1, byte 0: index 3 into a dictionary of 3 items";
    assert_eq!(rule_of(page.read_all()), rule);
    let plain = TestPage { leaf: colours().leaf, ..page };
    let rule = "buffer 1, byte 0: slot 0 has index 3, but the dictionary has 3 items";
    assert_eq!(rule_of(plain.read_all()), rule);
}

#[test]
fn a_batch_has_no_more_values_than_keys_can_number() {
    // Keys of 8 bits with a sign number 128 values.
    let texts: Vec<String> = (0..129).map(|i| i.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (all, keys): (Vec<u8>, _) = ((0..129).collect(), KeyType { bits: 8, signed: true });
    let (found, _) = appended(keys, &[(&texts, &all[..128], None)]).unwrap();
    assert_eq!(found, all[..128]);
    let Err(Error::Invalid(what)) = appended(keys, &[(&texts, &all, None)]) else { panic!() };
    assert!(what.contains("more distinct values than 8-bit keys can number"), "{what}");
    assert!(what.contains("ask for fewer rows at a time"), "{what}");
    let (found, _) = appended(UINT8, &[(&texts, &all, None)]).unwrap();
    assert_eq!(found, all);
}

#[test]
fn a_page_with_more_entries_than_keys_may_repeat_them() {
    let texts = vec!["same"; 300];
    let (keys, dictionary) = appended(UINT8, &[(&texts, &[0, 7, 255], None)]).unwrap();
    assert_eq!(keys, [0, 0, 0]);
    assert_eq!(dictionary, strings(&["same"]).items);
}

#[test]
fn entries_are_claimed_before_they_are_kept() {
    let dictionary = Values::new(&ValueType::Variable { offset_bits: 32 });
    let mut sink = SinkValues::Dictionary(DictionaryValues::new(UINT8, dictionary));
    let opened = open_page(&strings(&["a", "b"]).items, &mut sink, &mut Scratch::new(159));
    assert!(matches!(opened, Err(Error::Limit { needed: 160, .. })));
}

#[test]
fn blobs_have_no_dictionary() {
    let mut sink = LeafSink::new(&blob()).unwrap();
    let rule = "buffer 1, byte 0: a dictionary in a blob column";
    assert_eq!(rule_of(colours().read_into(&[0..4], &mut sink)), rule);
}

#[test]
fn null_pages_have_key_zero() {
    let mut sink = LeafSink::new(&keyed(8, false)).unwrap();
    let nulls = TestPage { leaf: keyed(8, false), ..all_null() };
    nulls.read_into(&[0..2], &mut sink).unwrap();
    keyed_colours().read_into(&[3..4], &mut sink).unwrap();
    let SinkValues::Dictionary(values) = &sink.values else { panic!() };
    assert_eq!(values.keys.data(), hex("000000"));
    assert_eq!(shown(sink), "null null 'blue'");
}
