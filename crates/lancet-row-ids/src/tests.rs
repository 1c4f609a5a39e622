//! Every operation against plain lists, on random sequences of all kinds of segments.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::array::EncodedArray;
use crate::bitmap::RangeWithBitmap;
use crate::choose::{self, Shape, encode_as};
use crate::error::Error;
use crate::holes::RangeWithHoles;
use crate::run::Run;
use crate::*;

/// Increasing offsets: dense, with gaps, or far apart.
fn offsets() -> impl Strategy<Value = Vec<u64>> {
    let steps =
        prop_oneof![Just(1..2_u64), Just(1..3), Just(1..40), Just(1..5_000), Just(1..1 << 34),];
    let mixed = (steps, 0..300_usize)
        .prop_flat_map(|(step, count)| prop::collection::vec(prop_oneof![Just(1), step], count));
    mixed.prop_map(|steps| {
        let sums = steps.iter().scan(0, |sum, step| {
            *sum += step;
            Some(*sum - step)
        });
        sums.collect()
    })
}

/// A segment in any form that can hold the ids, as foreign writers may have chosen.
fn segment() -> impl Strategy<Value = Segment> {
    (offsets(), 0..u64::MAX >> 1, 0..6_u8, 0..100_u64, 0..100_u64).prop_map(
        |(offsets, base, form, before, after)| {
            let ids: Vec<u64> = offsets.iter().map(|offset| base + 100 + offset).collect();
            let runs = || ids.iter().map(|&id| Run::one(id));
            let Some(shape) = Shape::of(runs()) else { return Segment::Range(base..base) };
            let wide = shape.low - before..shape.high + 1 + after;
            let is_small = wide.end - wide.start < 1 << 16;
            match form {
                1 if is_small => {
                    Segment::RangeWithBitmap(Box::new(RangeWithBitmap::collect(wide, runs())))
                }
                2 if is_small => {
                    let set: BTreeSet<u64> = ids.iter().copied().collect();
                    let holes: Vec<u64> = wide.clone().filter(|id| !set.contains(id)).collect();
                    let bounds = holes.first().zip(holes.last()).map(|(low, high)| (*low, *high));
                    let (low, high) = bounds.unwrap_or_default();
                    let holes = EncodedArray::collect(low, high, holes.len(), holes.into_iter());
                    Segment::RangeWithHoles(Box::new(RangeWithHoles::read(wide, holes).unwrap()))
                }
                3 => encode_as(SegmentKind::SortedArray, &shape, runs()),
                4 => encode_as(SegmentKind::Array, &shape, runs()),
                5 => {
                    let turned = ids.iter().rev().step_by(2).chain(ids.iter().skip(1).step_by(2));
                    let mut turned: Vec<u64> = turned.copied().collect();
                    let mut seen = BTreeSet::new();
                    turned.retain(|id| seen.insert(*id));
                    choose::encode(turned.into_iter().map(Run::one))
                }
                _ => choose::encode(runs()),
            }
        },
    )
}

/// Distinct ids: a segment that repeats one is left out.
fn sequence() -> impl Strategy<Value = RowIdSequence> {
    prop::collection::vec(segment(), 0..6).prop_map(|segments| {
        let mut seen = BTreeSet::new();
        let fresh = segments.into_iter().filter(|segment| {
            let fresh = segment.iter().all(|id| !seen.contains(&id));
            seen.extend(segment.iter().filter(|_| fresh));
            fresh
        });
        RowIdSequence::of_segments(fresh)
    })
}

fn ids(sequence: &RowIdSequence) -> Vec<u64> {
    sequence.iter().collect()
}

/// What an edit leaves is as good as what is read.
fn check(sequence: &RowIdSequence, expected: &[u64]) {
    assert_eq!(ids(sequence), expected);
    assert_eq!(sequence.len(), expected.len() as u64);
    assert_eq!(sequence.max(), expected.iter().max().copied());
    assert_eq!(&RowIdSequence::decode(&sequence.encode()).unwrap(), sequence);
    for (position, &id) in expected.iter().enumerate().step_by(7) {
        assert_eq!(sequence.get(position as u64), Some(id));
        assert_eq!(sequence.position(id), Some(position as u64));
    }
}

/// Some of the positions below `len`, increasing.
fn some_positions(picks: &[Index], len: usize) -> Vec<u32> {
    let picked: BTreeSet<u32> =
        picks.iter().filter(|_| len > 0).map(|pick| pick.index(len) as u32).collect();
    picked.into_iter().collect()
}

fn span(a: Index, b: Index, len: usize) -> Range<u64> {
    let (a, b) = (a.index(len + 1) as u64, b.index(len + 1) as u64);
    a.min(b)..a.max(b)
}

/// Ranges of ids around those of the sequence.
fn some_ranges(picks: &[(Index, u64, u64)], ids: &[u64]) -> Vec<Range<u64>> {
    let range = |(pick, before, after): &(Index, u64, u64)| {
        let id = if ids.is_empty() { 1_000 } else { ids[pick.index(ids.len())] };
        id.saturating_sub(*before)..id + after
    };
    picks.iter().map(range).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lookups(sequence in sequence(), others: Vec<u64>) {
        let expected = ids(&sequence);
        check(&sequence, &expected);
        let places: HashMap<u64, u64> = expected.iter().copied().zip(0..).collect();
        let near = expected.iter().flat_map(|id| [id.wrapping_sub(1), *id, id.wrapping_add(1)]);
        for id in near.chain(others) {
            prop_assert_eq!(sequence.position(id), places.get(&id).copied());
            prop_assert_eq!(sequence.contains(id), places.contains_key(&id));
        }
        prop_assert_eq!(sequence.get(sequence.len()), None);
        prop_assert_eq!(sequence.get(u64::MAX), None);
        sequence.check_unique().unwrap();
    }

    #[test]
    fn iterators(sequence in sequence(), steps in prop::collection::vec((0..4_u8, 0..90_usize), 0..80)) {
        let expected = ids(&sequence);
        let (mut iter, mut model) = (sequence.iter(), expected.iter().copied());
        for (step, n) in steps {
            match step {
                0 => prop_assert_eq!(iter.next(), model.next()),
                1 => prop_assert_eq!(iter.next_back(), model.next_back()),
                2 => prop_assert_eq!(iter.nth(n), model.nth(n)),
                _ => prop_assert_eq!(iter.nth_back(n), model.nth_back(n)),
            }
            prop_assert_eq!(iter.len(), model.len());
            prop_assert!(iter.clone().eq(model.clone()));
            let mut folded = Vec::new();
            iter.clone().for_each(|id| folded.push(id));
            prop_assert!(folded.into_iter().eq(model.clone()));
        }
        prop_assert!(iter.rev().eq(model.rev()));
    }

    #[test]
    fn slices(sequence in sequence(), a: Index, b: Index) {
        let expected = ids(&sequence);
        let span = span(a, b, expected.len());
        let inside = &expected[span.start as usize..span.end as usize];
        check(&sequence.slice(span), inside);
        check(&sequence.slice(0..u64::MAX), &expected);
    }

    #[test]
    fn extends(left in sequence(), right in sequence()) {
        let mut both = left.clone();
        both.extend(&right).unwrap();
        prop_assert!(both.iter().eq(left.iter().chain(&right)));
        prop_assert_eq!(both.len(), left.len() + right.len());
    }

    #[test]
    fn deletes(mut sequence in sequence(), picks: Vec<Index>, others: Vec<u64>) {
        let mut expected = ids(&sequence);
        let mut gone: Vec<u64> = picks.iter().filter(|_| !expected.is_empty()).map(|p| *p.get(&expected)).collect();
        gone.extend(others);
        gone.extend(expected.iter().take(3).map(|id| id.wrapping_add(1)));
        sequence.delete(&gone);
        expected.retain(|id| !gone.contains(id));
        check(&sequence, &expected);
    }

    #[test]
    fn masks(mut sequence in sequence(), picks: Vec<Index>) {
        let expected = ids(&sequence);
        let positions = some_positions(&picks, expected.len());
        sequence.mask(&positions).unwrap();
        let kept = (0..).zip(&expected).filter(|(at, _)| !positions.contains(at)).map(|(_, id)| *id);
        check(&sequence, &kept.collect::<Vec<_>>());
        prop_assert!(sequence.segments().iter().all(|segment| !segment.is_empty()));
    }

    #[test]
    fn selects(sequence in sequence(), picks: Vec<Index>, sort: bool) {
        let expected = ids(&sequence);
        let mut positions: Vec<u64> = picks.iter().filter(|_| !expected.is_empty()).map(|p| p.index(expected.len()) as u64).collect();
        if sort {
            positions.sort_unstable();
        }
        let found = sequence.select(positions.iter().copied()).unwrap();
        prop_assert!(found.iter().eq(positions.iter().map(|at| &expected[*at as usize])));
        positions.push(sequence.len());
        prop_assert!(matches!(sequence.select(positions), Err(Error::Invalid(_))));
    }

    #[test]
    fn rechunks(parts in prop::collection::vec(sequence(), 0..4), sizes in prop::collection::vec(0..400_u64, 0..12)) {
        let all: Vec<u64> = parts.iter().flatten().collect();
        let total: u64 = sizes.iter().sum();
        let chunks = RowIdSequence::rechunk(&parts, sizes.clone(), true);
        prop_assert_eq!(chunks.is_ok(), total >= all.len() as u64);
        let exact = RowIdSequence::rechunk(&parts, sizes.clone(), false);
        prop_assert_eq!(exact.is_ok(), total == all.len() as u64);
        if let Ok(chunks) = chunks {
            let mut rest = all.as_slice();
            prop_assert_eq!(chunks.len(), sizes.len());
            for (chunk, size) in chunks.iter().zip(sizes) {
                let (here, behind) = rest.split_at(rest.len().min(size as usize));
                prop_assert!(chunk.iter().eq(here.iter().copied()));
                rest = behind;
            }
        }
    }

    #[test]
    fn sets(sequence in sequence(), picks: Vec<(Index, u64, u64)>) {
        let picks: Vec<_> = picks.iter().map(|(i, a, b)| (*i, a % 900, b % 900)).collect();
        let expected = ids(&sequence);
        let ranges = some_ranges(&picks, &expected);
        let set: IdRanges = ranges.iter().cloned().collect();
        let wanted = |id: &u64| ranges.iter().any(|range| range.contains(id));
        prop_assert!(set.ranges().zip(set.ranges().skip(1)).all(|(a, b)| a.end() + 1 < *b.start()));
        for id in &expected {
            prop_assert_eq!(set.contains(*id), wanted(id));
        }

        let positions = sequence.positions_in(&set);
        let flat = positions.iter().cloned().flatten();
        let places = (0..).zip(&expected).filter(|(_, id)| wanted(id)).map(|(at, _)| at);
        prop_assert!(flat.eq(places));
        prop_assert!(positions.windows(2).all(|pair| pair[0].end < pair[1].start));

        let kept: Vec<u64> = expected.iter().copied().filter(wanted).collect();
        check(&sequence.intersection(&set), &kept);

        let here = IdRanges::from(&sequence);
        let as_set = |ranges: &IdRanges| ranges.ranges().flatten().collect::<BTreeSet<u64>>();
        let (a, b) = (as_set(&here), as_set(&set));
        prop_assert_eq!(as_set(&here.union(&set)), a.union(&b).copied().collect());
        prop_assert_eq!(as_set(&here.intersection(&set)), a.intersection(&b).copied().collect());
        prop_assert_eq!(as_set(&here.difference(&set)), a.difference(&b).copied().collect());
        prop_assert_eq!(IdRanges::from_ids(&expected), here);
    }

    #[test]
    fn pushes(mut sequence in sequence(), steps in offsets()) {
        let mut expected = ids(&sequence);
        let first = sequence.max().map_or(0, |max| max + 1);
        for step in steps {
            sequence.push(first + step).unwrap();
            expected.push(first + step);
            prop_assert!(sequence.push(first + step).is_err());
        }
        check(&sequence, &expected);
    }

    #[test]
    fn range_segments(sequence in sequence()) {
        check(&sequence.with_range_segments(), &ids(&sequence));
    }

    #[test]
    fn addresses(sequences in prop::collection::vec(sequence(), 0..5), picks: Vec<Index>, ids in prop::collection::vec(any::<Index>(), 0..50)) {
        let mut live: HashMap<u64, u64> = HashMap::new();
        let mut deleted = Vec::new();
        for (fragment, sequence) in (3_u64..).zip(&sequences) {
            // An id that is alive already must be dead here.
            let dead = some_positions(&picks, sequence.len() as usize);
            let dead = (0..).zip(sequence).filter(|(at, id)| dead.contains(at) || live.contains_key(id));
            let dead: Vec<u32> = dead.map(|(at, _)| at).collect();
            for (at, id) in (0..).zip(sequence).filter(|(at, _)| !dead.contains(at)) {
                live.insert(id, fragment << 32 | u64::from(at));
            }
            deleted.push(dead);
        }
        let fragments = (3..).zip(sequences.iter().zip(&deleted)).map(|(fragment, (row_ids, deleted))| {
            FragmentRowIds {
                fragment,
                row_ids: Arc::new(row_ids.clone()),
                deleted: deleted.as_slice().into(),
            }
        });
        let index = RowIdIndex::new(fragments).unwrap();
        let all: Vec<u64> = sequences.iter().flatten().collect();
        let asked = ids.iter().filter(|_| !all.is_empty()).map(|pick| *pick.get(&all));
        let asked: Vec<u64> = asked.flat_map(|id| [id, id.wrapping_add(1)]).collect();
        let expected: Vec<_> = asked.iter().map(|id| live.get(id).copied()).collect();
        prop_assert_eq!(index.get_many(asked.iter().copied()), &expected[..]);
        for id in all {
            prop_assert_eq!(index.get(id), live.get(&id).copied());
        }
    }

    #[test]
    fn versions(parts in prop::collection::vec((0..40_u64, 0..4_u64), 0..12), picks: Vec<Index>, a: Index, b: Index, skips in prop::collection::vec(0..50_usize, 0..9)) {
        let mut sequence = RowVersionSequence::new();
        let mut expected = Vec::new();
        for (rows, version) in parts {
            sequence.extend(&RowVersionSequence::uniform(rows, version)).unwrap();
            expected.extend((0..rows).map(|_| version));
        }
        check_versions(&sequence, &expected);
        let (mut iter, mut model) = (sequence.iter(), expected.iter().copied());
        for skip in skips {
            prop_assert_eq!(iter.nth(skip), model.nth(skip));
            prop_assert_eq!(iter.next_back(), model.next_back());
            prop_assert_eq!(iter.len(), model.len());
        }
        let span = span(a, b, expected.len());
        let inside = &expected[span.start as usize..span.end as usize];
        check_versions(&sequence.slice(span.clone()), inside);
        let cut = [span.start, sequence.len() - span.start];
        let halves = RowVersionSequence::rechunk([&sequence], cut, false).unwrap();
        check_versions(&halves[1], &expected[span.start as usize..]);

        let positions = some_positions(&picks, expected.len());
        let kept = (0..).zip(&expected).filter(|(at, _)| !positions.contains(at)).map(|(_, v)| *v);
        sequence.mask(&positions).unwrap();
        check_versions(&sequence, &kept.collect::<Vec<_>>());
    }
}

fn check_versions(sequence: &RowVersionSequence, expected: &[u64]) {
    assert!(sequence.iter().eq(expected.iter().copied()));
    assert!(sequence.iter().rev().eq(expected.iter().rev().copied()));
    let again = RowVersionSequence::from_versions(expected);
    assert!(again.iter().eq(expected.iter().copied()));
    assert!(again.counts().eq(sequence.counts()));
    assert_eq!(&RowVersionSequence::decode(&sequence.encode()).unwrap(), sequence);
    for (row, version) in expected.iter().enumerate() {
        assert_eq!(sequence.version_at(row as u64), Some(*version));
    }
    let places = (0..).zip(expected).filter(|(_, v)| (1..=2).contains(*v)).map(|(at, _)| at);
    assert!(sequence.positions_in(1..=2).into_iter().flatten().eq(places));
}

#[test]
fn two_live_rows_with_one_id_are_refused() {
    let a = Arc::new(RowIdSequence::from(0..10));
    let b = Arc::new(RowIdSequence::from_ids(&[20, 4]).unwrap());
    let index = |deleted: &[u32]| {
        RowIdIndex::new([
            FragmentRowIds { fragment: 0, row_ids: a.clone(), deleted: deleted.into() },
            FragmentRowIds { fragment: 7, row_ids: b.clone(), deleted: [].into() },
        ])
    };
    assert_eq!(index(&[4]).unwrap().get(4), Some(7 << 32 | 1));
    let error = index(&[5]).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)));
    assert!(error.to_string().contains("row id 4 has two live rows, in fragments 0 and 7"));
    assert!(matches!(index(&[10]), Err(Error::Invalid(_))));
    assert!(matches!(index(&[5, 4]), Err(Error::Invalid(_))));
    let endless = Arc::new(RowIdSequence::from(0..1 << 33));
    let endless = FragmentRowIds { fragment: 0, row_ids: endless, deleted: [].into() };
    assert!(matches!(RowIdIndex::new([endless]), Err(Error::Corrupt(_))));
}

/// Few bytes may claim nearly all ids there are; nothing may then cost more than the bytes.
#[test]
fn nearly_all_ids() {
    let mut all = RowIdSequence::from(0..u64::MAX);
    assert_eq!(all.iter().len(), usize::MAX);
    assert_eq!(all.iter().next_back(), Some(u64::MAX - 1));
    assert_eq!(all.iter().nth(1 << 50), Some(1 << 50));
    assert_eq!(all.position(u64::MAX), None);
    assert_eq!(all.slice(1 << 40..1 << 63).len(), (1 << 63) - (1 << 40));
    assert!(all.extend(&RowIdSequence::from(0..1)).is_err());
    assert!(all.extend(&RowIdSequence::of_segments([Segment::Range(u64::MAX..u64::MAX)])).is_ok());
    assert!(all.push(u64::MAX).is_err());
    all.delete(&[0, 1 << 40, u64::MAX - 1]);
    assert_eq!(all.encode(), RowIdSequence::decode(&all.encode()).unwrap().encode());
    all.mask(&[7, 1 << 31]).unwrap();
    assert_eq!(all.len(), u64::MAX - 5);
    assert_eq!(all.iter().nth_back(1 << 62), Some(u64::MAX - 2 - (1 << 62)));
    // The middle half of all ids is neither a few holes nor a bitmap that fits in memory.
    let ends: IdRanges = [5..1 << 62, 3 << 62..u64::MAX].into_iter().collect();
    assert_eq!(all.intersection(&ends).segments().len(), 5);
    assert_eq!(all.positions_in(&ends).len(), 2);
    let chunks = RowIdSequence::rechunk([&all], [10, u64::MAX], true).unwrap();
    assert_eq!(chunks[1].len(), u64::MAX - 15);
}

#[test]
fn a_lone_id_far_away_does_not_spoil_a_range() {
    let mut sequence = RowIdSequence::from(0..1_000_000_000);
    sequence.push(1_000_000_005).unwrap();
    assert_eq!(sequence.segments()[0].kind(), SegmentKind::RangeWithHoles);
    sequence.push(1 << 50).unwrap();
    sequence.push(u64::MAX).unwrap();
    let kinds: Vec<_> = sequence.segments().iter().map(Segment::kind).collect();
    assert_eq!(kinds, [SegmentKind::RangeWithHoles, SegmentKind::SortedArray]);
    assert!(sequence.encode().len() < 100);
    assert_eq!(
        sequence.iter().rev().take(3).collect::<Vec<_>>(),
        [u64::MAX, 1 << 50, 1_000_000_005]
    );
}

#[test]
fn an_array_stays_one_when_masked_but_not_when_deleted_from() {
    let ids = RowIdSequence::from_ids(&[9, 1, 2, 3]).unwrap();
    let (mut masked, mut deleted) = (ids.clone(), ids);
    masked.mask(&[0]).unwrap();
    deleted.delete(&[9]);
    assert_eq!(masked.segments()[0].kind(), SegmentKind::Array);
    assert_eq!(deleted.segments(), [Segment::Range(1..4)]);
    deleted.delete(&[1, 2, 3]);
    assert_eq!(deleted.segments(), [Segment::Range(0..0)]);
    masked.mask(&[0, 1, 2]).unwrap();
    assert!(masked.segments().is_empty());
}

#[test]
fn masked_positions_are_checked() {
    let mut ids = RowIdSequence::from(0..5);
    for bad in [&[5][..], &[1, 1], &[3, 2]] {
        assert!(matches!(ids.mask(bad), Err(Error::Invalid(_))), "{bad:?}");
    }
    assert_eq!(ids.len(), 5);
}

/// A foreign range may end in holes; the id pushed into the first of them leaves none.
#[test]
fn a_push_may_use_up_all_holes() {
    let holes = EncodedArray::collect(5, 9, 5, 5..10);
    let holes = RangeWithHoles::read(0..10, holes).unwrap();
    let mut sequence = RowIdSequence::of_segments([Segment::RangeWithHoles(Box::new(holes))]);
    sequence.push(5).unwrap();
    check(&sequence, &[0, 1, 2, 3, 4, 5]);
}
