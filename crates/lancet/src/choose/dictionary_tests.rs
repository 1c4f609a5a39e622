use super::*;
use crate::container::Version;
use crate::measure::estimate_distinct;

fn strings(values: &[&str]) -> Values {
    let mut out = VariableValues::new(32);
    values.iter().for_each(|value| out.push(value.as_bytes()).unwrap());
    Values::Variable(out)
}

fn numbers(values: impl Iterator<Item = u64>) -> Values {
    let mut out = FixedValues::new(64);
    out.data.to_mut().extend(values);
    out.len = out.data.len() / 8;
    Values::Fixed(out)
}

fn indices(built: &Built) -> Vec<u64> {
    let Values::Fixed(indices) = &built.indices else { panic!() };
    (0..indices.len).map(|i| indices.unsigned(i).unwrap()).collect()
}

fn build(values: &Values, valid: Option<&[bool]>, cap: usize) -> Option<Built> {
    Built::new(values, valid, cap).unwrap()
}

#[test]
fn entries_are_sorted() {
    let values = strings(&["pear", "apple", "pear", "", "fig"]);
    let built = build(&values, None, 4).unwrap();
    assert_eq!(built.items, strings(&["", "apple", "fig", "pear"]));
    assert_eq!(indices(&built), [3, 1, 3, 0, 2]);
    assert!(build(&values, None, 3).is_none());
}

#[test]
fn nulls_repeat_the_index_before_and_make_no_entry() {
    let values = strings(&["", "b", "", "a", ""]);
    let built = build(&values, Some(&[false, true, false, true, false]), 9).unwrap();
    assert_eq!(built.items, strings(&["a", "b"]));
    assert_eq!(indices(&built), [1, 1, 1, 0, 0]);
}

#[test]
fn many_entries_of_every_width() {
    // Multiples of a power of two: their lower bits are all alike.
    for (count, bits) in [(1, 8), (256, 8), (257, 16), (65_536, 16), (65_537, 32)] {
        let values = numbers((0..2 * count).map(|i| (i * 7 % count) << 40));
        let built = build(&values, None, count as usize).unwrap();
        assert_eq!(built.items, numbers((0..count).map(|i| i << 40)));
        assert!(indices(&built).into_iter().eq((0..2 * count).map(|i| i * 7 % count)));
        let Values::Fixed(narrow) = &built.indices else { panic!() };
        assert_eq!(narrow.bits, bits);
    }
}

#[test]
fn chosen_collisions_end_the_search() {
    let mut table = Table::new(1 << 20);
    let found = (0..5000_u32).map_while(|i| table.find(7 << 32, |entry| entry == i)).count();
    assert!(found < 1000, "{found}");
}

#[test]
fn a_dictionary_must_beat_the_other_forms() {
    let (settings, rules) = (Settings::default(), Rules::of(Version::V2_2));
    let try_to_beat = |values: &Values, bytes: f64| {
        let distinct = || estimate_distinct(values);
        dictionary_form(values, None, &settings, rules, distinct, bytes).unwrap()
    };
    let few = numbers((0..4000).map(|i| (i * i % 97) << 50));
    let (form, cost) = try_to_beat(&few, 32_000.0).unwrap();
    assert!(cost.bytes < 5000.0, "{cost:?}");
    assert!(form.dictionary.is_some_and(|(_, items)| items.len() <= 97));
    assert!(try_to_beat(&few, 8.0).is_none());
    assert!(try_to_beat(&numbers(0..4000), 32_000.0).is_none());
    assert!(try_to_beat(&numbers(0..8), 1e9).is_none());
}

#[test]
fn options_limit_dictionaries() {
    let values = numbers((0..4000).map(|i| (i * i % 97) << 50));
    let with = |key: &str, value: &str| {
        let mut settings = Settings::default();
        settings.options.set(key, value).unwrap();
        let rules = Rules::of(Version::V2_1);
        let distinct = || estimate_distinct(&values);
        dictionary_form(&values, None, &settings, rules, distinct, 32_000.0).unwrap().is_some()
    };
    assert!(with("dict-divisor", "2"));
    assert!(!with("dict-divisor", "4000"));
    assert!(!with("dict-max-size", "100"));
    assert!(!with("dict-size-ratio", "0.01"));
    assert!(with("compression", "none"));
}
