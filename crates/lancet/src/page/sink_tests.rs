use super::*;
use crate::codec::ValueType;
use crate::error::Error;
use crate::page::test_pages::{blob, in_list, int32, keyed, leaf, rule_of, shown, string};

#[test]
fn placeholders_are_claimed() {
    // (column, bytes of a placeholder and its validity for eight of them)
    let pairs = {
        let item = Box::new(ValueType::Fixed { bits: 16 });
        leaf(ValueType::FixedSizeList { dimension: 2, item })
    };
    let cases = [(int32(), 32), (string(), 32), (keyed(16, true), 16), (blob(), 128), (pairs, 34)];
    for (leaf, bytes) in cases {
        let mut sink = LeafSink::new(&leaf).unwrap();
        sink.values.push_default(8, &mut Scratch::new(bytes + 1)).unwrap();
        let more = sink.values.push_default(8, &mut Scratch::new(bytes));
        let Err(Error::Limit { what, needed, .. }) = more else { panic!() };
        assert_eq!((what.as_str(), needed), ("a column of nulls", bytes + 1), "{leaf:?}");
    }
}

#[test]
fn a_page_is_closed_with_as_many_levels_as_entries() {
    let layers = [Layer::NullableItem, Layer::EmptyableList];
    let close = |rep: &[u16], def: &[u16], num_entries| {
        let mut sink = LeafSink::new(&in_list(int32())).unwrap();
        let SinkValues::Plain(values) = &mut sink.values else { panic!() };
        values.push_default(2).unwrap();
        rep.iter().for_each(|level| sink.rep.push(*level));
        def.iter().for_each(|level| sink.def.push(*level));
        sink.close_page(&layers, num_entries, &mut Scratch::new(1 << 10))?;
        assert!(sink.rep.is_empty() && sink.def.is_empty());
        Ok(shown(sink))
    };
    assert_eq!(close(&[1, 0, 1], &[0, 1, 2], 3).unwrap(), "[0 null] []");
    assert_eq!(rule_of(close(&[1, 0, 1], &[0, 1, 2], 4)), "4 entries have 3 levels");
    assert!(rule_of(close(&[0, 0, 1], &[0, 1, 2], 3)).contains("row"));
}

#[test]
fn lists_are_claimed() {
    let mut sink = LeafSink::new(&in_list(int32())).unwrap();
    let layers = [Layer::AllValidItem, Layer::AllValidList];
    let SinkValues::Plain(values) = &mut sink.values else { panic!() };
    values.push_default(2).unwrap();
    sink.rep.push_run(1, 2);
    let closed = sink.close_page(&layers, 2, &mut Scratch::new(17));
    let Err(Error::Limit { what, needed: 18, .. }) = closed else { panic!() };
    assert_eq!(what, "the lists of a page");
    sink.close_page(&layers, 2, &mut Scratch::new(18)).unwrap();
}

#[test]
fn room_is_bounded_by_what_is_stored_and_by_the_limit() {
    let pool = Arc::<Pool>::default();
    let reserve = |leaf: &LeafType, num_values, stored, most| {
        LeafSink::new(leaf).unwrap().reserve(num_values, stored, most, &pool)
    };
    assert_eq!(reserve(&int32(), 100, 50, usize::MAX), 400);
    assert_eq!(reserve(&int32(), 100, 50, 40), 40);
    // A count that nothing stored stands for.
    assert_eq!(reserve(&int32(), u64::MAX, 10_000, usize::MAX), 640_000);
    assert_eq!(reserve(&blob(), 100, 50, usize::MAX), 0);
    assert!(reserve(&string(), 10, 1000, 500) <= 500);
}
