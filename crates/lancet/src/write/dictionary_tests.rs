use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{DictionaryArray, Int8Array, Int32Array, StringArray};

use super::*;
use crate::codec::VariableValues;
use crate::levels::NestingLayer;
use crate::write::test_plans::{ints, refused};

const INT8: KeyType = KeyType { bits: 8, signed: true };

fn array(keys: &[Option<i8>], entries: &Arc<StringArray>) -> ArrayRef {
    let keys = Int8Array::from(keys.to_vec());
    Arc::new(DictionaryArray::<Int8Type>::new(keys, entries.clone()))
}

fn texts(texts: &[&str]) -> Arc<StringArray> {
    Arc::new(StringArray::from(texts.to_vec()))
}

fn numbered(count: usize) -> Arc<StringArray> {
    Arc::new(StringArray::from_iter_values((0..count).map(|i| i.to_string())))
}

fn piece(values: ArrayRef) -> LeafPiece {
    let num_rows = values.len();
    LeafPiece { nesting: vec![NestingLayer::Item { validity: None }], values, num_rows }
}

fn built(
    pieces: &[LeafPiece],
    slots: &[(usize, Range<usize>)],
    valid: Option<&[bool]>,
) -> (Vec<i8>, Values) {
    let strings = ValueType::Variable { offset_bits: 32 };
    let page = PageDictionary::build(pieces, slots, valid, &strings, INT8).unwrap();
    let Values::Fixed(keys) = page.keys else { panic!() };
    (keys.words().to_vec(), page.items)
}

fn strings(texts: &[&str]) -> Values {
    let mut values = VariableValues::new(32);
    texts.iter().for_each(|text| values.push(text.as_bytes()).unwrap());
    Values::Variable(values)
}

#[test]
fn dictionaries_of_batches_become_one_in_the_order_of_use() {
    let first = piece(array(&[Some(2), Some(0), Some(2)], &texts(&["a", "unused", "c"])));
    let second = piece(array(&[Some(0), Some(1)], &texts(&["c", "d"])));
    let slots = [(0, 0..3), (1, 0..2)];
    let (keys, items) = built(&[first, second], &slots, None);
    assert_eq!(keys, [0, 1, 0, 0, 2]);
    assert_eq!(items, strings(&["c", "a", "d"]));
}

#[test]
fn only_the_slots_of_the_page_are_looked_at() {
    let only = piece(array(&[Some(0), Some(1), Some(2)], &texts(&["a", "b", "c"])));
    let (keys, items) = built(&[only], &[(0, 0..1), (0, 2..3)], None);
    assert_eq!((keys, items), (vec![0, 1], strings(&["a", "c"])));
}

#[test]
fn null_slots_have_key_zero() {
    let some = piece(array(&[None, Some(1), Some(0)], &texts(&["a", "b"])));
    let (keys, items) = built(&[some], &[(0, 0..3)], Some(&[false, true, false]));
    assert_eq!((keys, items), (vec![0, 0, 0], strings(&["b"])));
    let none = piece(array(&[None, None], &texts(&[])));
    let (keys, items) = built(&[none], &[(0, 0..2)], Some(&[false, false]));
    assert_eq!((keys, items), (vec![0, 0], strings(&[])));
}

#[test]
fn pieces_are_grouped_so_that_keys_number_their_entries() {
    let pieces = |entries: &[&Arc<StringArray>]| {
        entries.iter().map(|entries| piece(array(&[Some(0)], entries))).collect::<Vec<_>>()
    };
    let (sixty, seventy) = (numbered(60), numbered(70));
    assert!(ends_of_groups(&[]).unwrap().is_empty());
    assert_eq!(ends_of_groups(&pieces(&[&sixty, &numbered(68)])).unwrap(), [2]);
    assert_eq!(ends_of_groups(&pieces(&[&sixty, &seventy])).unwrap(), [1, 2]);
    // Batches that share their dictionary bring no new entries.
    assert_eq!(ends_of_groups(&pieces(&[&seventy, &seventy, &seventy])).unwrap(), [3]);
    let mixed = pieces(&[&sixty, &seventy, &seventy, &sixty]);
    assert_eq!(ends_of_groups(&mixed).unwrap(), [1, 3, 4]);
}

#[test]
fn entries_count_once_for_each_row_at_most() {
    let entries = numbered(100);
    let all = slice_bytes(&*entries);
    assert_eq!(page_bytes(&array(&[Some(0); 2], &entries)), 2 + all * 2 / 100);
    assert_eq!(page_bytes(&array(&[Some(0); 120], &entries)), 120 + all);
    assert_eq!(
        page_bytes(&array(&[None; 3], &texts(&[]))),
        slice_bytes(&Int8Array::from(vec![None; 3]))
    );
    assert_eq!(page_bytes(&ints(5)), 20);
}

#[test]
fn a_dictionary_is_held_once() {
    let entries = numbered(100);
    let (one, same, other) =
        (array(&[Some(0)], &entries), array(&[Some(1)], &entries), array(&[Some(0)], &numbered(3)));
    let mut last = LastDictionary::default();
    assert_eq!(last.replace(&one), Some((slice_bytes(&*entries), 0)));
    assert_eq!(last.replace(&same), None);
    let (new, before) = last.replace(&other).unwrap();
    assert!(0 < new && new < before, "{new} {before}");
    assert_eq!((before, last.bytes()), (slice_bytes(&*entries), new));
    assert_eq!(last.replace(&ints(5)), None);
}

#[test]
fn other_arrays_are_refused() {
    let plain = piece(Arc::new(Int32Array::from(vec![1])));
    assert_eq!(refused(ends_of_groups(&[plain])), "Int32 is not a dictionary");
}
