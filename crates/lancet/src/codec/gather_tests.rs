use super::super::ValueType;
use super::*;

fn indices(bits: u64, numbers: &[u64]) -> FixedValues {
    let mut out = FixedValues::new(bits);
    for number in numbers {
        out.append_flat(&number.to_le_bytes()[..bits as usize / 8], 0..1).unwrap();
    }
    out
}

#[test]
fn strings_by_indices_of_any_width() {
    for offset_bits in [32, 64] {
        let mut dictionary = VariableValues::new(offset_bits);
        for value in ["red", "green", "", "blue"] {
            dictionary.push(value.as_bytes()).unwrap();
        }
        let dictionary = Dictionary::new(Values::Variable(dictionary));
        for bits in [8, 16, 32, 64] {
            let indices = indices(bits, &[3, 0, 200, 1, 1, 2, 0, 99, 3]);
            let mut out = Values::new(&ValueType::Variable { offset_bits });
            let validity = [0b0111_1011, 1];
            let mut scratch = Scratch::new(100);
            out.gather(&dictionary, &indices, Some(&validity), &mut scratch).unwrap();
            let Values::Variable(out) = &out else { panic!() };
            let values: Vec<_> = (0..9).map(|i| out.value(i).unwrap()).collect();
            let expected = ["blue", "red", "", "green", "green", "", "red", "", "blue"];
            assert_eq!(values, expected.map(str::as_bytes));
        }
    }
}

#[test]
fn short_and_long_strings_many_times() {
    for longest in [3, 8, 9, 16, 17, 32, 33, 80] {
        let items: Vec<String> = (0..5).map(|i| "x".repeat(longest * i / 4)).collect();
        let mut dictionary = VariableValues::new(32);
        items.iter().for_each(|item| dictionary.push(item.as_bytes()).unwrap());
        let dictionary = Dictionary::new(Values::Variable(dictionary));
        let mut out = Values::new(&ValueType::Variable { offset_bits: 32 });
        let picks: Vec<u64> = (0..64).map(|i| i * i % 5).collect();
        let mut scratch = Scratch::new(10_000);
        for _ in 0..2 {
            out.gather(&dictionary, &indices(8, &picks), None, &mut scratch).unwrap();
        }
        let Values::Variable(out) = &out else { panic!() };
        assert_eq!(out.len(), 128);
        for (i, pick) in picks.iter().chain(&picks).enumerate() {
            assert_eq!(out.value(i).unwrap(), items[*pick as usize].as_bytes());
        }
    }
}

#[test]
fn letters_with_and_without_nulls() {
    let mut letters = VariableValues::new(64);
    [b"A", b"N", b"R"].iter().for_each(|letter| letters.push(letter.as_slice()).unwrap());
    let dictionary = Dictionary::new(Values::Variable(letters));
    let mut out = Values::new(&ValueType::Variable { offset_bits: 64 });
    let picks = indices(8, &[2, 0, 1, 1, 2, 0, 0, 1]);
    let mut scratch = Scratch::new(10_000);
    for validity in [None, Some([0b1011_0111].as_slice()), None] {
        out.gather(&dictionary, &picks, validity, &mut scratch).unwrap();
    }
    let Values::Variable(out) = &out else { panic!() };
    let found: Vec<&[u8]> = (0..out.len()).map(|i| out.value(i).unwrap()).collect();
    assert_eq!(found[..8].concat(), b"RANNRAAN");
    assert_eq!(found[8..16], [b"R".as_slice(), b"A", b"N", b"", b"R", b"A", b"", b"N"]);
    assert_eq!(found[16..].concat(), b"RANNRAAN");
}

#[test]
fn fixed_values_of_any_width() {
    for width in [1_usize, 2, 3, 4, 8, 16, 20, 32] {
        let items: Vec<u8> = (1..=u8::try_from(5 * width).unwrap()).collect();
        let mut dictionary = FixedValues::new(8 * width as u64);
        dictionary.append_flat(&items, 0..5).unwrap();
        let mut out = Values::new(&ValueType::Fixed { bits: 8 * width as u64 });
        let indices = indices(32, &[4, 77, 0, 2]);
        let dictionary = Dictionary::new(Values::Fixed(dictionary));
        out.gather(&dictionary, &indices, Some(&[0b1101]), &mut Scratch::new(200)).unwrap();
        let item = |i: usize| &items[i * width..(i + 1) * width];
        let expected = [item(4), &vec![0; width], item(0), item(2)].concat();
        let Values::Fixed(out) = &out else { panic!() };
        assert_eq!((out.len(), out.data()), (4, expected.as_slice()));
    }
    let mut bits = FixedValues::new(1);
    bits.append_bits(&[0b10], 0..2).unwrap();
    let mut out = Values::new(&ValueType::Fixed { bits: 1 });
    let indices = indices(8, &[1, 0, 1]);
    out.gather(&Dictionary::new(Values::Fixed(bits)), &indices, None, &mut Scratch::new(200))
        .unwrap();
    let Values::Fixed(out) = &out else { panic!() };
    assert_eq!((out.len(), out.data()), (3, &[0b101_u8][..]));
}

#[test]
fn one_value_many_times() {
    for width in [1_usize, 2, 3, 4, 8, 16, 20] {
        let item: Vec<u8> = (1..=u8::try_from(width).unwrap()).collect();
        let mut one = FixedValues::new(8 * width as u64);
        one.append_flat(&item, 0..1).unwrap();
        let mut out = Values::new(&ValueType::Fixed { bits: 8 * width as u64 });
        let one = Dictionary::new(Values::Fixed(one));
        for n in [3, 0, 2] {
            out.repeat(&one, n, &mut Scratch::new(60)).unwrap();
        }
        assert!(matches!(out.repeat(&one, 100, &mut Scratch::new(60)), Err(Error::Limit { .. })));
        let Values::Fixed(out) = &out else { panic!() };
        assert_eq!((out.len(), out.data()), (5, item.repeat(5).as_slice()));
    }
    let mut one = VariableValues::new(32);
    one.push(b"ab").unwrap();
    let mut out = Values::new(&ValueType::Variable { offset_bits: 32 });
    out.repeat(&Dictionary::new(Values::Variable(one)), 3, &mut Scratch::new(100)).unwrap();
    let Values::Variable(out) = &out else { panic!() };
    assert_eq!((out.len(), out.bytes.as_slice()), (3, &b"ababab"[..]));
}

#[test]
fn lists_one_by_one() {
    let item = Box::new(ValueType::Fixed { bits: 8 });
    let list = ValueType::FixedSizeList { dimension: 2, item };
    let mut dictionary = Values::new(&list);
    dictionary.push_default(2).unwrap();
    let Values::FixedSizeList(lists) = &mut dictionary else { panic!() };
    let Values::Fixed(items) = &mut *lists.items else { panic!() };
    items.data_mut().copy_from_slice(&[1, 2, 3, 4]);
    let dictionary = Dictionary::new(dictionary);
    let mut out = Values::new(&list);
    let indices = indices(8, &[1, 9, 0]);
    out.gather(&dictionary, &indices, Some(&[0b101]), &mut Scratch::new(200)).unwrap();
    let Values::FixedSizeList(lists) = &out else { panic!() };
    let Values::Fixed(items) = &*lists.items else { panic!() };
    assert_eq!((lists.len, items.data()), (3, &[3_u8, 4, 0, 0, 1, 2][..]));
}

#[test]
fn indices_must_exist_and_strings_must_be_affordable() {
    let mut dictionary = VariableValues::new(32);
    dictionary.push(b"0123456789").unwrap();
    let dictionary = Dictionary::new(Values::Variable(dictionary));
    let gather = |bits, numbers: &[u64], validity: Option<&[u8]>| {
        let mut out = Values::new(&ValueType::Variable { offset_bits: 32 });
        let indices = indices(bits, numbers);
        out.gather(&dictionary, &indices, validity, &mut Scratch::new(20))
    };
    let error = gather(16, &[0, 258], None).unwrap_err().to_string();
    assert!(error.contains("slot 1 has index 258, but the dictionary has 1 items"), "{error}");
    assert!(gather(32, &[u64::from(u32::MAX)], None).is_err());
    assert!(gather(64, &[1 << 32], None).is_err(), "no index is cut to its low bits");
    assert!(gather(8, &[1], None).is_err());
    assert!(gather(24, &[0], None).is_err());
    let mut numbers = FixedValues::new(8);
    numbers.push_zeros(2).unwrap();
    let numbers = Dictionary::new(Values::Fixed(numbers));
    let mut out = Values::new(&ValueType::Fixed { bits: 8 });
    let two = indices(8, &[2]);
    assert!(out.gather(&numbers, &two, None, &mut Scratch::new(200)).is_err());
    let mut wide = Values::new(&ValueType::Fixed { bits: 1 << 50 });
    let none = Dictionary::new(Values::new(&ValueType::Fixed { bits: 1 << 50 }));
    let gathered = wide.gather(&none, &two, Some(&[0]), &mut Scratch::new(200));
    assert!(matches!(gathered, Err(Error::Limit { .. })));
    assert!(gather(8, &[0; 9], Some(&[0])).is_err());
    assert!(gather(8, &[7], Some(&[0])).is_ok());
    assert!(gather(8, &[0, 0], None).is_ok());
    assert!(matches!(gather(8, &[0, 0, 0], None), Err(Error::Limit { needed: 30, .. })));
}
