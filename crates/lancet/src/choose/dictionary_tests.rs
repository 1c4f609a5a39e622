use super::*;
use crate::codec::VariableValues;
use crate::measure::estimate_distinct;
use crate::version::Version;

pub(in crate::choose) fn strings(values: &[&str]) -> Values {
    let mut out = VariableValues::new(32);
    values.iter().for_each(|value| out.push(value.as_bytes()).unwrap());
    Values::Variable(out)
}

pub(in crate::choose) fn numbers(values: impl Iterator<Item = u64>) -> Values {
    Values::Fixed(FixedValues::from_words(values))
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
