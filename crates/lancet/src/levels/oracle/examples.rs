//! The worked examples of the format, as levels and as values.

use Layer::*;

use super::arrays::{Node, Rng, array, kinds, random_chances, steps};
use super::{Leaf, Levels, List, Null, Parser, Struct, Value, rows_of};
use crate::error::Error;
use crate::levels::{Assembler, Layer, LayerKind, Shredded, extract, shred};

fn record(child: Value) -> Value {
    Struct(Box::new(child))
}

fn list(items: &[i32]) -> Value {
    List(items.iter().map(|n| Leaf(*n)).collect())
}

/// Shreds the rows, compares with the expected page, and assembles them again.
fn page(
    nodes: &[Node],
    rows: &[Value],
    layers: &[Layer],
    rep: &[u16],
    def: &[u16],
    values: &[i32],
) {
    for seed in 0..20 {
        let rng = &mut Rng(seed);
        let chances = random_chances(nodes, rng);
        let piece = extract(&array(nodes, &chances, rows, rng), &steps(nodes)).unwrap();
        let Shredded { layers: got, rep: r, def: d, num_entries, num_values, .. } =
            shred(&[piece]).unwrap();
        assert_eq!(got, layers);
        assert_eq!(r.as_deref().unwrap_or_default(), rep);
        assert_eq!(d.as_deref().unwrap_or_default(), def);
        assert_eq!(num_entries, rep.len().max(def.len()));
        assert_eq!(num_values, values.len());
        let mut assembler = Assembler::new(&kinds(nodes)).unwrap();
        let pushed =
            assembler.push_levels(layers, r.as_deref(), d.as_deref(), num_entries).unwrap();
        assert_eq!(pushed, values.len());
        assert_eq!(rows_of(&assembler.finish().unwrap(), values), rows);
    }
}

#[test]
fn structs() {
    let rows = [record(record(Leaf(1))), Null, record(Null), record(record(Null))];
    page(&[Node::Struct; 2], &rows, &[NullableItem; 3], &[], &[0, 3, 2, 1], &[1, 0, 0, 0]);
}

#[test]
fn three_lists() {
    let rows = [
        List(vec![
            List(vec![list(&[0, 1]), list(&[]), list(&[2])]),
            List(vec![list(&[3])]),
            List(vec![]),
        ]),
        List(vec![]),
        List(vec![List(vec![list(&[4])])]),
    ];
    page(
        &[Node::List; 3],
        &rows,
        &[AllValidItem, EmptyableList, EmptyableList, EmptyableList],
        &[3, 0, 1, 1, 2, 2, 3, 3],
        &[0, 0, 1, 0, 0, 2, 3, 0],
        &[0, 1, 2, 3, 4],
    );
}

#[test]
fn list_of_numbers() {
    let rows = [list(&[1, 2]), Null, list(&[]), List(vec![Leaf(3), Null, Leaf(4)]), list(&[5])];
    for node in [Node::List, Node::LargeList] {
        page(
            &[node],
            &rows,
            &[NullableItem, NullAndEmptyList],
            &[1, 0, 1, 1, 1, 0, 0, 1],
            &[0, 0, 2, 3, 0, 1, 0, 0],
            &[1, 2, 3, 0, 4, 5],
        );
    }
}

#[test]
fn list_in_a_struct() {
    let rows =
        [record(list(&[1, 2])), Null, record(Null), record(list(&[])), record(List(vec![Null]))];
    page(
        &[Node::Struct, Node::List],
        &rows,
        &[NullableItem, NullAndEmptyList, NullableItem],
        &[1, 0, 1, 1, 1, 1],
        &[0, 0, 4, 2, 3, 1],
        &[1, 2, 0],
    );
}

#[test]
fn list_in_a_struct_in_a_list() {
    let rows = [
        List(vec![record(List(vec![Leaf(1), Null])), Null, record(Null), record(list(&[]))]),
        Null,
        List(vec![]),
        List(vec![record(list(&[2]))]),
    ];
    page(
        &[Node::List, Node::Struct, Node::List],
        &rows,
        &[NullableItem, NullAndEmptyList, NullableItem, NullAndEmptyList],
        &[2, 0, 1, 1, 1, 2, 2, 2],
        &[0, 1, 4, 2, 3, 5, 6, 0],
        &[1, 0, 2],
    );
}

#[test]
fn struct_in_a_list() {
    let rows = [
        List(vec![record(Leaf(1)), Null, record(Null)]),
        Null,
        List(vec![]),
        List(vec![record(Leaf(2))]),
    ];
    page(
        &[Node::List, Node::Struct],
        &rows,
        &[NullableItem, NullableItem, NullAndEmptyList],
        &[1, 0, 0, 1, 1, 1],
        &[0, 2, 1, 3, 4, 0],
        &[1, 0, 0, 2],
    );
}

#[test]
fn rows_over_chunks() {
    let mut rows = vec![list(&[0, 1]), list(&[2]), list(&[3, 4, 5, 6, 7, 8, 9, 10, 11])];
    rows.extend([list(&[]), Null, list(&[12]), list(&[13, 14])]);
    page(
        &[Node::List],
        &rows,
        &[AllValidItem, NullAndEmptyList],
        &[1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0],
        &(0..15).collect::<Vec<i32>>(),
    );
}

#[test]
fn nothing_but_nulls() {
    let rows = [Null, record(Null), record(Null), Null];
    page(&[Node::Struct], &rows, &[NullableItem; 2], &[], &[2, 1, 1, 2], &[0; 4]);
    let rows = [list(&[]), Null, list(&[]), list(&[])];
    page(&[Node::List], &rows, &[AllValidItem, NullAndEmptyList], &[1; 4], &[2, 1, 2, 2], &[]);
}

#[test]
fn fixed_size_list_of_structs() {
    let (one, null) = (|n| record(Leaf(n)), record(Null));
    let rows =
        [List(vec![one(1), one(2)]), List(vec![one(3), null]), Null, List(vec![Null, one(4)])];
    page(
        &[Node::Fixed(2), Node::Struct],
        &rows,
        &[NullableItem; 3],
        &[],
        &[0, 0, 0, 1, 3, 3, 2, 0],
        &[1, 2, 3, 0, 0, 0, 0, 4],
    );
}

#[test]
fn map_values() {
    let rows = [
        List(vec![record(Leaf(1)), record(Null)]),
        Null,
        List(vec![]),
        List(vec![record(Leaf(3))]),
    ];
    page(
        &[Node::Map, Node::Entries],
        &rows,
        &[NullableItem, AllValidItem, NullAndEmptyList],
        &[1, 0, 1, 1, 1],
        &[0, 1, 2, 3, 0],
        &[1, 0, 3],
    );
}

#[test]
fn a_null_struct_makes_layers_nullable_down_to_the_list() {
    let rows = [record(record(list(&[1]))), Null];
    page(
        &[Node::Struct, Node::Struct, Node::List],
        &rows,
        &[AllValidItem, NullableList, NullableItem, NullableItem],
        &[1, 1],
        &[0, 3],
        &[1],
    );
}

#[test]
fn no_levels_where_nothing_is_null_or_empty() {
    let rows = [record(Leaf(1)), record(Leaf(2))];
    let nodes = [Node::Struct];
    let chances = random_chances(&nodes, &mut Rng(1));
    let array = array(&nodes, &chances, &rows, &mut Rng(2));
    let piece = extract(&array, &steps(&nodes)).unwrap();
    let page = shred(&[piece.clone(), piece]).unwrap();
    assert_eq!((page.rep, page.def, page.num_entries), (None, None, 4));
    assert_eq!(page.slots, [(0, 0..2), (1, 0..2)]);

    let mut assembler = Assembler::new(&kinds(&nodes)).unwrap();
    assert_eq!(assembler.push_levels(&[AllValidItem; 2], None, None, 1 << 40).unwrap(), 1 << 40);
}

#[test]
fn layers_are_made_nullable_without_nulls() {
    let rows = [record(list(&[1, 2])), record(Null), record(List(vec![]))];
    let nodes = [Node::Struct, Node::List];
    let chances = random_chances(&nodes, &mut Rng(1));
    let array = array(&nodes, &chances, &rows, &mut Rng(2));
    let mut page = shred(&[extract(&array, &steps(&nodes)).unwrap()]).unwrap();
    assert_eq!(page.def.as_deref(), Some(&[0, 0, 1, 2][..]));
    page.make_nullable(&[true, false, true]);
    assert_eq!(page.layers, [NullableItem, NullAndEmptyList, NullableItem]);
    assert_eq!(page.def.as_deref(), Some(&[0, 0, 2, 3][..]));

    let array = self::array(&[Node::Struct], &chances, &[record(Leaf(1))], &mut Rng(2));
    let mut page = shred(&[extract(&array, &steps(&[Node::Struct])).unwrap()]).unwrap();
    page.make_nullable(&[false, true]);
    assert_eq!((page.layers, page.def), (vec![AllValidItem, NullableItem], Some(vec![0])));
}

#[test]
fn pages_of_nulls_without_levels() {
    let mut assembler = Assembler::new(&[LayerKind::Item]).unwrap();
    assembler.push_levels(&[AllValidItem], None, None, 1).unwrap();
    assembler.push_null_items(70).unwrap();
    let rows = rows_of(&assembler.finish().unwrap(), &[5; 71]);
    assert_eq!(rows[0], Leaf(5));
    assert!(rows[1..].iter().all(|row| *row == Null));

    let mut nested = Assembler::new(&[LayerKind::Item; 2]).unwrap();
    assert!(matches!(nested.push_null_items(1), Err(Error::Corrupt(_))));
}

#[test]
fn broken_pages_are_refused() {
    let kinds = [LayerKind::Item, LayerKind::List { large: false }];
    let layers = [NullableItem, NullAndEmptyList];
    let rule = |layers: &[Layer], rep: Option<&[u16]>, def: Option<&[u16]>, len: usize| {
        Assembler::new(&kinds).unwrap().push_levels(layers, rep, def, len).unwrap_err().to_string()
    };
    assert!(rule(&layers[..1], None, None, 0).contains("1 layers where the schema has 2"));
    assert!(rule(&[NullableItem; 2], None, None, 0).contains("layer 1"));
    assert!(rule(&layers, Some(&[1]), Some(&[0]), 2).contains("2 entries have 1 levels"));
    assert!(rule(&layers, None, Some(&[0]), 1).contains("first repetition level"));
    assert!(rule(&layers, Some(&[0, 1]), Some(&[0, 0]), 2).contains("first repetition level"));
    assert!(rule(&layers, Some(&[1, 0]), Some(&[2, 0]), 2).contains("continues a list without"));

    let kinds = [LayerKind::Item, LayerKind::Item, LayerKind::FixedSizeList { dimension: 2 }];
    let rule = |def: &[u16]| {
        let mut assembler = Assembler::new(&kinds).unwrap();
        assembler
            .push_levels(&[NullableItem; 3], None, Some(def), def.len())
            .unwrap_err()
            .to_string()
    };
    assert!(rule(&[0; 3]).contains("3 entries do not fill"));
    assert!(rule(&[3, 0]).contains("disagree"));
    assert!(rule(&[0, 3]).contains("disagree"));
}

#[test]
fn impossible_schemas_are_refused() {
    let fixed = LayerKind::FixedSizeList { dimension: 2 };
    let nested = [LayerKind::Item, fixed, LayerKind::List { large: false }];
    assert!(matches!(Assembler::new(&nested), Err(Error::Unsupported(_))));
    assert!(Assembler::new(&[]).is_err());
    assert!(Assembler::new(&[fixed]).is_err());
    assert!(Assembler::new(&[LayerKind::Item, LayerKind::FixedSizeList { dimension: 0 }]).is_err());
}

#[test]
fn offsets_must_fit_their_width() {
    // The items are those of all pages together, so the limit can be reached without that many levels.
    let kinds = [LayerKind::Item, LayerKind::List { large: false }];
    let mut assembler = Assembler::new(&kinds).unwrap();
    assembler.pretend_items(i32::MAX as usize - 1);
    let layers = [AllValidItem, AllValidList];
    assembler.push_levels(&layers, Some(&[1]), None, 1).unwrap();
    let error = assembler.push_levels(&layers, Some(&[1]), None, 1).unwrap_err();
    assert!(matches!(&error, Error::Invalid(why) if why.contains("fewer rows")), "{error}");
}

#[test]
fn the_oracle_reads_its_own_levels() {
    let kinds = kinds(&[Node::List]);
    let levels = Levels::new(&kinds, &[NullableItem, NullAndEmptyList]);
    let entries = [(1, 0), (0, 1), (1, 2), (1, 3)];
    let rows = Parser { levels: &levels, entries: &entries, next_slot: 0 }.rows();
    assert_eq!(rows, Some(vec![List(vec![Leaf(0), Null]), Null, List(vec![])]));
    let rows = Parser { levels: &levels, entries: &[(1, 2), (0, 0)], next_slot: 0 }.rows();
    assert_eq!(rows, None);
}
