//! Row id and row version sequences: any bytes decode to an error, or to ids that agree with
//! themselves however they are asked for.
#![no_main]

use lancet_row_ids::{IdRanges, RowIdSequence, RowVersionSequence};

/// Sequences may claim more ids than there is time for.
const MOST: usize = 500;

fn ids(bytes: &[u8]) {
    let Ok(mut ids) = RowIdSequence::decode(bytes) else { return };
    assert_eq!(RowIdSequence::decode(&ids.encode()).unwrap(), ids);
    let first: Vec<u64> = ids.iter().take(MOST).collect();
    for (position, id) in (0..).zip(&first) {
        assert_eq!(ids.get(position), Some(*id));
        assert!(ids.contains(*id));
        assert!(ids.position(*id).is_some_and(|found| found <= position));
    }
    let last: Vec<u64> = ids.iter().rev().take(MOST).collect();
    for (back, id) in (1..).zip(&last) {
        assert_eq!(ids.get(ids.len() - back), Some(*id));
    }
    let some = IdRanges::from_ids(&first);
    assert!(first.iter().all(|id| some.contains(*id)));
    let half = ids.slice(ids.len() / 3..ids.len() / 2);
    assert_eq!(half.len(), ids.len() / 2 - ids.len() / 3);
    drop(ids.check_unique());
    let before = ids.len();
    ids.delete(&first);
    assert!(ids.len() <= before && first.iter().all(|id| !ids.contains(*id)));
    drop(ids.push(7));
}

fn versions(bytes: &[u8]) {
    let Ok(versions) = RowVersionSequence::decode(bytes) else { return };
    assert_eq!(RowVersionSequence::decode(&versions.encode()).unwrap(), versions);
    for (position, version) in (0..).zip(versions.iter().take(MOST)) {
        assert_eq!(versions.version_at(position), Some(version));
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ids(bytes);
    versions(bytes);
});
