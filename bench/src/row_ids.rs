//! Row id sequences: lancet beside `lance-table`, on the same bytes.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lance_core::utils::deletion::DeletionVector;
use lance_table::rowids as lance;
use lancet_row_ids::{FragmentRowIds, RowIdIndex, RowIdSequence};

const IDS: u64 = 1_000_000;
const FRAGMENTS: u32 = 50;
const LOOKUPS: usize = 1_000;
const ROUNDS: usize = 15;

/// The ids of one fragment of each kind, the first of which is at least `start`.
fn kinds(start: u64) -> [(&'static str, Vec<u64>); 5] {
    let mix = |i: u64| (i ^ start).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let all = start..start + IDS;
    let mut shuffled: Vec<u64> = all.clone().collect();
    shuffled.sort_by_key(|id| mix(*id));
    [
        ("range", all.clone().collect()),
        ("range with holes", all.clone().filter(|id| mix(*id) % 1000 != 0).collect()),
        ("range with bitmap", all.clone().filter(|id| mix(*id) % 10 < 7).collect()),
        ("sorted array", all.map(|id| start + (id - start) * 100 + mix(id) % 100).collect()),
        ("array", shuffled),
    ]
}

/// Median times of both, taken in turns.
fn compare(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        ours();
        times[0].push(start.elapsed());
        let start = Instant::now();
        theirs();
        times[1].push(start.elapsed());
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2]
    })
}

fn print(kind: &str, what: &str, [ours, theirs]: [Duration; 2]) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "{kind:<18} {what:<22} lancet {ours:>12.3?}  lance-table {theirs:>12.3?}  ratio {ratio:.3}"
    );
}

pub fn run() -> Result<()> {
    for (kind, ids) in kinds(7) {
        let bytes = RowIdSequence::from_ids(&ids)?.encode();
        let ours = RowIdSequence::decode(&bytes)?;
        let theirs = lance::read_row_ids(&bytes)?;
        ensure!(theirs.iter().eq(ids.iter().copied()), "{kind}: other ids");
        let picks: Vec<u64> =
            (0..LOOKUPS).map(|i| ids[i.wrapping_mul(7_919_993) % ids.len()]).collect();
        let decode = compare(
            || drop(black_box(RowIdSequence::decode(&bytes))),
            || drop(black_box(lance::read_row_ids(&bytes))),
        );
        print(kind, "decode", decode);
        let contains = compare(
            || assert!(picks.iter().all(|id| ours.contains(*id))),
            || assert!(picks.iter().all(|id| theirs.segments().iter().any(|s| s.contains(*id)))),
        );
        print(kind, "contains, 1,000", contains);
        let position = |id: u64| {
            let mut before = 0;
            theirs.segments().iter().find_map(|segment| {
                let found = segment.position(id).map(|at| before + at);
                before += segment.len();
                found
            })
        };
        ensure!(
            picks.iter().all(|id| ours.position(*id) == position(*id).map(|at| at as u64)),
            "{kind}: other positions"
        );
        // Lookups in an array without order read all of it.
        let some = if kind == "array" { &picks[..20] } else { &picks[..] };
        let positions = compare(
            || {
                some.iter().for_each(|id| {
                    black_box(ours.position(*id));
                })
            },
            || {
                some.iter().for_each(|id| {
                    black_box(position(*id));
                })
            },
        );
        print(kind, &format!("position, {}", some.len()), positions);
        index(kind)?;
    }
    Ok(())
}

fn index(kind: &str) -> Result<()> {
    let mut sequences = Vec::new();
    for fragment in 0..FRAGMENTS {
        let ids = kinds(u64::from(fragment) * 200 * IDS);
        let (_, ids) = ids.into_iter().find(|(name, _)| *name == kind).unwrap_or_default();
        let few = &ids[..ids.len() / 20];
        let bytes = RowIdSequence::from_ids(few)?.encode();
        let ours = Arc::new(RowIdSequence::decode(&bytes)?);
        sequences.push((ours, Arc::new(lance::read_row_ids(&bytes)?)));
    }
    let ours =
        || {
            RowIdIndex::new(sequences.iter().zip(0..).map(|((row_ids, _), fragment)| {
                FragmentRowIds { fragment, row_ids: row_ids.clone(), deleted: [].into() }
            }))
        };
    let theirs = || {
        let fragments = sequences.iter().zip(0..).map(|((_, row_ids), fragment_id)| {
            let (row_id_sequence, deletion_vector) =
                (row_ids.clone(), Arc::new(DeletionVector::NoDeletions));
            lance::FragmentRowIdIndex { fragment_id, row_id_sequence, deletion_vector }
        });
        lance::RowIdIndex::new(&fragments.collect::<Vec<_>>())
    };
    let picks: Vec<u64> = sequences.iter().flat_map(|(ids, _)| ids.iter().step_by(997)).collect();
    let (our_index, their_index) = (ours()?, theirs()?);
    for id in &picks {
        let theirs = their_index.get(*id)?.map(u64::from);
        ensure!(our_index.get(*id) == theirs, "{kind}: id {id} is at other addresses");
    }
    print(
        kind,
        "index, 50 fragments",
        compare(|| drop(black_box(ours())), || drop(black_box(theirs()))),
    );
    let lookups = compare(
        || drop(black_box(our_index.get_many(picks.iter().copied()))),
        || drop(black_box(their_index.get_many(&picks))),
    );
    print(kind, "index and lookups", {
        let build = compare(|| drop(black_box(ours())), || drop(black_box(theirs())));
        [build[0] + lookups[0], build[1] + lookups[1]]
    });
    Ok(())
}
