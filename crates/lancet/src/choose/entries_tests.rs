use super::*;
use crate::choose::dictionary::tests::{numbers, strings};

fn indices(built: &Built) -> Vec<u64> {
    let Values::Fixed(indices) = &built.indices else { panic!() };
    (0..indices.len()).map(|i| indices.unsigned(i).unwrap()).collect()
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
        assert_eq!(narrow.bits(), bits);
    }
}

#[test]
fn chosen_collisions_end_the_search() {
    let mut table = Table::new(1 << 20);
    let found = (0..5000_u32).map_while(|i| table.find(7 << 32, |entry| entry == i)).count();
    assert!(found < 1000, "{found}");
}

#[test]
fn a_clock_is_given_up_early_and_what_comes_again_is_not() {
    let after_parts = |value: &dyn Fn(u64) -> u64| {
        let values: Vec<u64> = (0..32_000).map(value).collect();
        let mut seen = std::collections::HashSet::<u64>::new();
        [&values[..16_000], &values[16_000..]].map(|part| {
            seen.extend(part);
            seen.len()
        })
    };
    let clock = after_parts(&|i| i * 10 / 16);
    assert!(outgrows(&clock, 130_000) && !outgrows(&clock, 150_000));
    assert!(!outgrows(&clock[..1], 10), "one part tells nothing");
    // Of 60,000 values a quarter of a million finds nearly all.
    let drawn = after_parts(&|i| hash_bytes(&i.to_le_bytes()) % 60_000);
    assert!(outgrows(&drawn, 45_000) && !outgrows(&drawn, 60_000));
    assert!(!outgrows(&after_parts(&|_| 1), 1));

    let rest: Vec<u64> = (0..100_000).collect();
    assert!(comes_again(&rest, |value| value % 25 == 0));
    assert!(!comes_again(&rest, |value| value % 100 == 7));
    assert!(build(&numbers((0..80_000).map(|i| i * 10 / 16)), None, 40_000).is_none());
    let repeated = build(&numbers((0..80_000).map(|i| i % 30_000)), None, 30_000);
    assert_eq!(repeated.unwrap().items.len(), 30_000);
}
