use super::super::Offsets;
use super::*;

fn bitmap(bits: &[bool]) -> FixedValues {
    let mut values = FixedValues::new(1);
    for &bit in bits {
        values.append_bits(&[u8::from(bit)], 0..1).unwrap();
    }
    values
}

#[test]
fn bits_are_copied_from_any_offset_to_any_offset() {
    let source: Vec<bool> = (0..700).map(|i| i * i % 7 < 3).collect();
    let from = bitmap(&source);
    for (before, range) in
        [(0, 0..700), (1, 0..1), (3, 13..17), (7, 64..640), (9, 5..699), (64, 8..8)]
    {
        let mut to = bitmap(&source[..before]);
        to.append_range(&from, range.clone()).unwrap();
        let expected = [&source[..before], &source[range]].concat();
        let seen: Vec<bool> = (0..to.len()).map(|i| to.bit(i)).collect();
        assert_eq!(seen, expected);
        assert_eq!(to.data().len(), to.len().div_ceil(8));
    }
    assert!(!from.bit(700));
}

#[test]
fn ranges_of_every_type_are_appended() {
    let list =
        ValueType::FixedSizeList { dimension: 2, item: Box::new(ValueType::Fixed { bits: 24 }) };
    let variable = |offset_bits| ValueType::Variable { offset_bits };
    let all = ValueType::Struct(vec![
        ValueType::Nothing,
        ValueType::Fixed { bits: 24 },
        variable(32),
        variable(64),
        list,
    ]);
    let mut from = Values::new(&all);
    from.push_default(1).unwrap();
    let Values::Struct { children, .. } = &mut from else { panic!() };
    let [_, Values::Fixed(fixed), Values::Variable(a), Values::Variable(b), _] = &mut children[..]
    else {
        panic!()
    };
    fixed.append_flat(&[0, 0, 0, 1, 2, 3, 4, 5, 6], 1..3).unwrap();
    for variable in [a, b] {
        variable.push(b"ab").unwrap();
        variable.push(b"cde").unwrap();
    }
    let mut to = Values::new(&all);
    to.append_range(&from, 0..1).unwrap();
    let Values::Struct { len, children } = &mut from else { panic!() };
    *len = 3;
    let Values::FixedSizeList(list) = &mut children[4] else { panic!() };
    list.validity_mut().unwrap().append_bits(&[0b1001], 0..4).unwrap();
    list.items.push_default(4).unwrap();
    list.len = 3;
    assert_eq!(list.item_validity, Some(bitmap(&[true, true, true, false, false, true])));
    children[0].push_default(2).unwrap();

    to.append_range(&from, 1..2).unwrap();
    to.append_range(&from, 2..3).unwrap();
    assert_eq!(to, from);
    assert_eq!(to.size_bytes(), 9 + (4 * 4 + 5) + (4 * 8 + 5) + (1 + 18));
    assert!(to.append_range(&from, 2..4).is_err());
}

#[test]
fn placeholders_are_zero_or_empty() {
    let mut strings = VariableValues::new(32);
    strings.push(b"abc").unwrap();
    let mut values = Values::Variable(strings);
    values.push_default(2).unwrap();
    let Values::Variable(strings) = &values else { panic!() };
    assert_eq!(strings.offsets, Offsets::Bits32(vec![0, 3, 3, 3]));
    assert_eq!((strings.value(0).unwrap(), strings.value(2).unwrap()), (&b"abc"[..], &b""[..]));
    assert!(strings.value(3).is_err());
    assert_eq!(values.default_bytes(3), 12);
    let item = Box::new(ValueType::Fixed { bits: 24 });
    let list = Values::new(&ValueType::FixedSizeList { dimension: 5, item });
    assert_eq!(list.default_bytes(2), 30 + 2);
    let item = Box::new(ValueType::Fixed { bits: 24 });
    let wide = Values::new(&ValueType::FixedSizeList { dimension: u64::MAX, item });
    assert!(wide.default_bytes(2) > 1 << 60);
}
