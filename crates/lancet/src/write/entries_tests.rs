use super::*;
use crate::codec::VariableValues;
use crate::write::test_plans::refused;

fn texts(range: std::ops::Range<usize>, keys: KeyType) -> PageEntries {
    let mut values = VariableValues::new(32);
    range.for_each(|i| values.push(i.to_string().as_bytes()).unwrap());
    let mut page = PageEntries::default();
    page.add(&Values::Variable(values), keys).unwrap();
    page
}

const INT8: KeyType = KeyType { bits: 8, signed: true };
const UINT8: KeyType = KeyType { bits: 8, signed: false };

#[test]
fn values_of_all_pages_together_fit_the_keys() {
    for (keys, most) in [(INT8, 128), (UINT8, 256)] {
        let mut entries = ColumnEntries::default();
        entries.add(texts(0..100, keys), keys, "n").unwrap();
        // Values that were there before are no new ones.
        entries.add(texts(0..most, keys), keys, "n").unwrap();
        entries.add(texts(0..0, keys), keys, "n").unwrap();
        assert!(entries.add(texts(most..most + 1, keys), keys, "n").is_err());
    }
}

#[test]
fn what_is_refused_names_the_column_and_the_way_out() {
    let refuse = |keys| refused(ColumnEntries::default().add(texts(0..70_000, keys), keys, "a.b"));
    assert_eq!(
        refuse(INT8),
        "column `a.b` has more than 128 different values, which is all that the Int8 keys of its \
         dictionaries can number: cast it to a dictionary with wider keys (Int16), or to the type \
         of its values"
    );
    let wide = refuse(KeyType { bits: 16, signed: false });
    assert!(wide.contains("more than 65536 different values"), "{wide}");
    assert!(wide.contains("the UInt16 keys") && wide.contains("(Int32)"), "{wide}");
}

#[test]
fn wide_keys_are_not_watched() {
    let mut entries = ColumnEntries::default();
    let keys = KeyType { bits: 32, signed: true };
    entries.add(texts(0..70_000, keys), keys, "n").unwrap();
    assert!(entries.seen.is_empty());
}
