//! Random schemas, data and level streams: the fast code and the oracle must agree.

use arrow_array::{Array, Int32Array};
use proptest::prelude::*;

use super::arrays::{Rng, array, kinds, random_chances, random_nodes, random_value, steps};
use super::{Entry, Levels, Parser, Value, is_null, layers_of, rows_of};
use crate::error::Error;
use crate::levels::{
    AssembledLayer, Assembler, Layer, LayerKind, LeafPiece, Shredded, extract, max_entries, shred,
};

/// The leaf values in the order of the slots.
fn values_of(pieces: &[LeafPiece], shredded: &Shredded) -> Vec<i32> {
    let mut values = Vec::new();
    for (piece, slots) in &shredded.slots {
        let leaf = pieces[*piece].values.as_any().downcast_ref::<Int32Array>().unwrap();
        values.extend_from_slice(&leaf.values()[slots.clone()]);
    }
    values
}

fn check_page(kinds: &[LayerKind], rows: &[Value], pieces: &[LeafPiece], shredded: &Shredded) {
    let layers = layers_of(kinds, rows);
    assert_eq!(shredded.layers, layers);
    let levels = Levels::new(kinds, &layers);
    let mut entries: Vec<Entry> = Vec::new();
    for row in rows {
        levels.walk(row, kinds.len() - 1, levels.numbering.max_rep, &mut entries);
    }
    let rep: Vec<u16> = entries.iter().map(|entry| entry.rep).collect();
    let def: Vec<u16> = entries.iter().map(|entry| entry.def).collect();
    assert_eq!(shredded.rep, (levels.numbering.max_rep > 0).then_some(rep));
    assert_eq!(shredded.def, (levels.numbering.max_def > 0).then_some(def));
    assert_eq!(shredded.num_rows, rows.len() as u64);
    assert_eq!(shredded.num_entries, entries.len());
    assert!(pieces.iter().map(max_entries).sum::<usize>() >= entries.len());

    let values = values_of(pieces, shredded);
    assert_eq!(shredded.num_values, values.len());
    let visible: Vec<Entry> =
        entries.into_iter().filter(|e| levels.numbering.is_visible(e.def)).collect();
    assert_eq!(visible.len(), values.len());
    for (entry, value) in visible.iter().zip(&values) {
        assert!(entry.value.is_none_or(|expected| expected == *value));
    }
    let touch = |a: &(usize, std::ops::Range<usize>), b: &(usize, std::ops::Range<usize>)| {
        a.0 == b.0 && a.1.end == b.1.start
    };
    assert!(shredded.slots.windows(2).all(|pair| !touch(&pair[0], &pair[1])), "slots are merged");
}

/// A null struct hides its child: the child is null in the same slot.
fn check_masks(layers: &[AssembledLayer]) {
    for pair in layers.windows(2) {
        if let AssembledLayer::Item { len, .. } = &pair[1] {
            for slot in (0..*len).filter(|slot| is_null(&pair[1], *slot)) {
                assert!(is_null(&pair[0], slot), "child of a null struct");
            }
        }
    }
}

fn round_trip(seed: u64) {
    let rng = &mut Rng(seed);
    let nodes = random_nodes(rng);
    let (kinds, steps) = (kinds(&nodes), steps(&nodes));
    let mut assembler = Assembler::new(&kinds).unwrap();
    let (mut all_rows, mut all_values) = (Vec::new(), Vec::new());
    for _ in 0..1 + rng.below(3) {
        let chances = random_chances(&nodes, rng);
        let (mut rows, mut pieces) = (Vec::new(), Vec::new());
        for _ in 0..1 + rng.below(3) {
            let most = [3, 10, 90][rng.below(3) as usize];
            let part: Vec<Value> =
                (0..rng.below(most)).map(|_| random_value(&nodes, &chances, rng)).collect();
            let array = array(&nodes, &chances, &part, rng);
            pieces.push(extract(&array, &steps).unwrap());
            rows.extend(part);
        }
        let mut shredded = shred(&pieces).unwrap();
        check_page(&kinds, &rows, &pieces, &shredded);
        // Levels that nothing uses change nothing.
        let nullable: Vec<bool> = kinds.iter().map(|_| rng.hits(30)).collect();
        shredded.make_nullable(&nullable);
        let asked = shredded.layers.iter().zip(nullable).filter(|(_, nullable)| *nullable);
        assert!(asked.clone().all(|(layer, _)| *layer != Layer::AllValidItem));
        let Shredded { layers, rep, def, num_entries, num_values, .. } = &shredded;
        let pushed =
            assembler.push_levels(layers, rep.as_deref(), def.as_deref(), *num_entries).unwrap();
        assert_eq!(pushed, *num_values);
        all_values.extend(values_of(&pieces, &shredded));
        all_rows.extend(rows);
    }
    let layers = assembler.finish().unwrap();
    check_masks(&layers);
    assert_eq!(rows_of(&layers, &all_values), all_rows);
}

/// Random layers for the kinds of a random schema.
fn random_layers(kinds: &[LayerKind], rng: &mut Rng) -> Vec<Layer> {
    use Layer::*;
    let layer = |kind: &LayerKind| match kind {
        LayerKind::List { .. } => {
            [AllValidList, NullableList, EmptyableList, NullAndEmptyList][rng.below(4) as usize]
        }
        _ => [AllValidItem, NullableItem][rng.below(2) as usize],
    };
    kinds.iter().map(layer).collect()
}

/// Mostly valid levels: each is raised to what the entries around it ask for, but not always.
fn random_entries(levels: &Levels<'_>, care: u64, rng: &mut Rng) -> Vec<(u16, u16)> {
    let numbering = &levels.numbering;
    let least = |def: u16| {
        let owner = |i: &usize| [levels.null[*i], levels.empty[*i]].contains(&Some(def));
        (0..levels.kinds.len()).find(owner).map_or(0, |owner| levels.list[owner])
    };
    let mut needed = numbering.max_rep;
    let mut entries = Vec::new();
    for _ in 0..rng.below(200) {
        let def = if rng.hits(50) { 0 } else { rng.below(u64::from(numbering.max_def) + 1) as u16 };
        let mut rep = rng.below(u64::from(numbering.max_rep) + 1) as u16;
        if rng.hits(care) {
            rep = rep.max(needed).max(least(def));
        }
        needed = least(def);
        entries.push((rep, def));
    }
    entries
}

fn same_verdict(seed: u64) {
    let rng = &mut Rng(seed);
    let kinds = kinds(&random_nodes(rng));
    let layers = random_layers(&kinds, rng);
    let levels = Levels::new(&kinds, &layers);
    let care = [100, 100, 99, 90][rng.below(4) as usize];
    let mut entries = random_entries(&levels, care, rng);
    if rng.hits(80) {
        entries.truncate(entries.len() - entries.len() % levels.width(kinds.len() - 1));
    }
    let expected = Parser { levels: &levels, entries: &entries, next_slot: 0 }.rows();

    let (rep, def): (Vec<u16>, Vec<u16>) = entries.into_iter().unzip();
    let mut assembler = Assembler::new(&kinds).unwrap();
    match assembler.push_levels(&layers, Some(&rep), Some(&def), rep.len()) {
        Ok(num_values) => {
            let values: Vec<i32> = (0..num_values as i32).collect();
            let rows = rows_of(&assembler.finish().unwrap(), &values);
            assert_eq!(Some(rows), expected, "{layers:?} {rep:?} {def:?}");
        }
        Err(Error::Corrupt(error)) => {
            assert_eq!(expected, None, "{error}: {layers:?} {rep:?} {def:?}");
        }
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn shredded_data_is_what_the_oracle_says_and_comes_back(seed in any::<u64>()) {
        round_trip(seed);
    }

    #[test]
    fn levels_are_accepted_exactly_when_they_describe_a_nesting(seed in any::<u64>()) {
        same_verdict(seed);
    }

    #[test]
    fn any_numbers_are_taken_or_refused(
        seed in any::<u64>(),
        kind_numbers in proptest::collection::vec(1i32..7, 0..6),
        rep in proptest::option::of(proptest::collection::vec(prop_oneof![0u16..4, any::<u16>()], 0..130)),
        def in proptest::option::of(proptest::collection::vec(prop_oneof![0u16..4, any::<u16>()], 0..130)),
        len in 0usize..130,
    ) {
        let kinds = kinds(&random_nodes(&mut Rng(seed)));
        let mut layers: Vec<Layer> =
            kind_numbers.iter().map(|n| Layer::from_number(*n).unwrap()).collect();
        if seed % 2 == 0 {
            layers = random_layers(&kinds, &mut Rng(seed));
        }
        let mut assembler = Assembler::new(&kinds).unwrap();
        let len = rep.as_ref().or(def.as_ref()).map_or(len, |levels| levels.len());
        match assembler.push_levels(&layers, rep.as_deref(), def.as_deref(), len) {
            Ok(num_values) => {
                let values = vec![0; num_values];
                rows_of(&assembler.finish().unwrap(), &values);
            }
            Err(error) => prop_assert!(matches!(error, Error::Corrupt(_)), "{}", error),
        }
    }
}
