//! Row id and row version sequences that the reference wrote, or judged.
//!
//! The short ones are kept here (`vectors.json`) and always run. All of them run where the corpus
//! lies beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../lancet/tests/support/allocations.rs"]
mod allocations;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use allocations::allocated;
use lancet_row_ids::{
    Error, FragmentRowIds, RowIdIndex, RowIdSequence, RowVersionSequence, Segment,
};
use serde_json::Value;

struct Vector {
    name: String,
    expected: Value,
    bytes: Vec<u8>,
}

impl Vector {
    fn is(&self, kind: &str, expect: &str) -> bool {
        self.expected["type"] == kind && self.expected["expect"] == expect
    }

    /// Valid, but not as any writer writes it.
    fn is_lenient(&self) -> bool {
        self.name.starts_with("lenient_")
    }

    /// Runs of ids; `None` where there are too many to list.
    fn ids(&self) -> Option<Vec<u64>> {
        if let Some(ids) = self.expected["ids"].as_array() {
            return Some(ids.iter().map(|id| id.as_u64().unwrap()).collect());
        }
        let short = self.expected["len"].as_u64().unwrap() < 1 << 20;
        short.then(|| pairs(&self.expected["id_runs"]).flat_map(|(a, b)| a..b).collect())
    }
}

fn pairs(list: &Value) -> impl Iterator<Item = (u64, u64)> {
    list.as_array().unwrap().iter().map(|p| (p[0].as_u64().unwrap(), p[1].as_u64().unwrap()))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors.json")
}

fn vectors_of(index: &Path) -> Vec<Vector> {
    let parsed: Value = serde_json::from_slice(&fs::read(index).unwrap()).unwrap();
    let vector = |expected: &Value| {
        let name = expected["file"].as_str().unwrap().trim_end_matches(".bin").to_string();
        let bytes = match expected["hex"].as_str() {
            Some(hex) => bytes(hex),
            None => fs::read(index.with_file_name(format!("{name}.bin"))).unwrap(),
        };
        Vector { name, expected: expected.clone(), bytes }
    };
    let sequences = |v: &&Value| v["type"].as_str().unwrap().ends_with("Sequence");
    parsed["vectors"].as_array().unwrap().iter().filter(sequences).map(vector).collect()
}

/// The kept vectors, and where it is there the whole corpus.
fn vectors() -> Vec<Vector> {
    let mut vectors = vectors_of(&kept());
    assert!(vectors.len() > 120);
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/row_ids");
    let shared = shared.join("index.json");
    match shared.exists() {
        true => vectors.extend(vectors_of(&shared)),
        false => println!("the whole corpus is not here; only the kept vectors run"),
    }
    vectors
}

fn described(segment: &Segment) -> Value {
    let kind = segment.kind().name();
    let mut described = serde_json::json!({ "kind": kind });
    if let Some(range) = segment.range() {
        described["start"] = range.start.into();
        described["end"] = range.end.into();
    }
    if let Some(array) = segment.array() {
        let counted = if segment.range().is_some() { "holes" } else { "count" };
        described["array"] = array.width().name().into();
        described[counted] = array.len().into();
    }
    described
}

#[test]
fn good_sequences_are_read_and_written_again() {
    for vector in vectors().iter().filter(|v| v.is("RowIdSequence", "ok")) {
        println!("{}", vector.name);
        let sequence = RowIdSequence::decode(&vector.bytes).unwrap();
        if let Some(len) = vector.expected["len"].as_u64() {
            assert_eq!(sequence.len(), len);
        }
        if let Some(segments) = vector.expected["segments"].as_array() {
            let found: Vec<_> = sequence.segments().iter().map(described).collect();
            assert_eq!(&found, segments);
        }
        match vector.is_lenient() {
            true => assert!(RowIdSequence::decode(&sequence.encode()).unwrap() == sequence),
            false => assert_eq!(sequence.encode(), vector.bytes),
        }
        if let Some(ids) = vector.ids() {
            check_ids(&sequence, &ids);
        }
    }
}

fn check_ids(sequence: &RowIdSequence, ids: &[u64]) {
    assert!(sequence.iter().eq(ids.iter().copied()));
    assert!(sequence.iter().rev().eq(ids.iter().rev().copied()));
    assert_eq!(sequence.iter().len(), ids.len());
    for (position, &id) in ids.iter().enumerate() {
        assert_eq!(sequence.get(position as u64), Some(id));
        let first = if sequence.check_unique().is_ok() {
            position
        } else {
            ids.iter().position(|other| *other == id).unwrap()
        };
        assert_eq!(sequence.position(id), Some(first as u64));
    }
    assert_eq!(sequence.get(ids.len() as u64), None);
    let neighbours = ids.iter().flat_map(|id| [id.wrapping_sub(1), id.wrapping_add(1)]).take(200);
    for id in neighbours {
        assert_eq!(sequence.contains(id), ids.contains(&id), "{id}");
        assert_eq!(sequence.position(id).is_some(), ids.contains(&id), "{id}");
    }
}

#[test]
fn ids_get_the_segments_that_the_reference_gives_them() {
    let mut checked = 0;
    for vector in vectors().iter().filter(|v| v.name.starts_with("enc_")) {
        let sequence = RowIdSequence::from_ids(&vector.ids().unwrap()).unwrap();
        assert_eq!(sequence.encode(), vector.bytes, "{}", vector.name);
        checked += 1;
    }
    assert!(checked > 25);
}

#[test]
fn bad_sequences_are_refused() {
    let vectors = vectors();
    let bad = vectors.iter().filter(|v| v.expected["expect"] == "error");
    let mut checked = 0;
    for vector in bad {
        let refused = match vector.is("RowIdSequence", "error") {
            true => RowIdSequence::decode(&vector.bytes).map(|_| ()),
            false => RowVersionSequence::decode(&vector.bytes).map(|_| ()),
        };
        assert!(matches!(refused, Err(Error::Corrupt(_))), "{}: {refused:?}", vector.name);
        checked += 1;
    }
    assert!(checked >= 45);
}

#[test]
fn version_sequences_are_read_and_written_again() {
    let mut checked = 0;
    for vector in vectors().iter().filter(|v| v.is("RowDatasetVersionSequence", "ok")) {
        println!("{}", vector.name);
        let sequence = RowVersionSequence::decode(&vector.bytes).unwrap();
        assert_eq!(sequence.encode(), vector.bytes);
        assert_eq!(sequence.len(), vector.expected["rows"]);
        assert_eq!(sequence.runs().len(), vector.expected["num_runs"].as_u64().unwrap() as usize);
        let runs: Vec<_> = pairs(&vector.expected["version_runs"]).collect();
        assert_eq!(sequence.counts().collect::<Vec<_>>(), runs);
        let flat: Vec<u64> = runs.iter().flat_map(|&(n, v)| (0..n).map(move |_| v)).collect();
        assert!(sequence.iter().eq(flat.iter().copied()));
        assert!(sequence.iter().rev().eq(flat.iter().rev().copied()));
        for (row, version) in flat.iter().enumerate() {
            assert_eq!(sequence.version_at(row as u64), Some(*version));
        }
        assert_eq!(sequence.version_at(sequence.len()), None);
        checked += 1;
    }
    assert!(checked >= 14);
}

/// Every bit flip and truncation is read or refused; what is read can be used and written again.
#[test]
fn broken_bytes_do_no_harm() {
    let use_it = |bytes: &[u8]| {
        if let Ok(sequence) = RowIdSequence::decode(bytes) {
            assert_eq!(RowIdSequence::decode(&sequence.encode()).unwrap(), sequence);
            let ids: Vec<u64> = sequence.iter().take(100).collect();
            ids.iter().for_each(|id| assert!(sequence.contains(*id)));
            let back = sequence.iter().rev().take(100);
            back.for_each(|id| assert!(sequence.position(id).is_some()));
            sequence.slice(0..100);
            let mut edited = sequence.clone();
            edited.delete(&ids);
            let _ = edited.push(u64::MAX);
            let _ = edited.mask(&[0, 1]);
            let _ = sequence.check_unique();
            let row_ids = Arc::new(sequence.clone());
            let whole = FragmentRowIds { fragment: 1, row_ids, deleted: [].into() };
            let _ = RowIdIndex::new([whole]);
        }
        if let Ok(versions) = RowVersionSequence::decode(bytes) {
            assert_eq!(RowVersionSequence::decode(&versions.encode()).unwrap(), versions);
            let _ = (versions.version_at(5), versions.iter().nth(1 << 40), versions.slice(3..9));
        }
    };
    for vector in vectors_of(&kept()) {
        for end in 0..vector.bytes.len() {
            use_it(&vector.bytes[..end]);
        }
        for bit in 0..vector.bytes.len() * 8 {
            let mut broken = vector.bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            use_it(&broken);
        }
    }
}

fn kept_bytes(name: &str) -> Vec<u8> {
    vectors_of(&kept()).into_iter().find(|v| v.name == name).unwrap().bytes
}

/// The compaction of a real table, done again: rows deleted from four fragments, one made by an
/// update, all in one piece afterwards.
#[test]
fn masks_and_rechunks_as_a_compaction_of_the_reference() {
    let expected = kept_bytes("ds_compact_five_bitmaps");
    let live: Vec<u64> = RowIdSequence::decode(&expected).unwrap().iter().collect();
    let updated = RowIdSequence::decode(&kept_bytes("ds_update_bitmap")).unwrap();
    let (mut ids, mut created, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (range, version) in [(0..40, 1), (40..80, 1), (80..100, 1), (100..150, 2)] {
        let gone = |id: &u64| !live.contains(id) || updated.contains(*id);
        let deleted = range.clone().filter(gone).map(|id| (id - range.start) as u32);
        let deleted: Vec<u32> = deleted.collect();
        let mut versions = RowVersionSequence::uniform(range.end - range.start, version);
        let mut sequence = RowIdSequence::from(range);
        sequence.mask(&deleted).unwrap();
        versions.mask(&deleted).unwrap();
        ids.push(sequence);
        created.push(versions.clone());
        changed.push(versions);
    }
    created.push(RowVersionSequence::uniform(updated.len(), 1));
    changed.push(RowVersionSequence::uniform(updated.len(), 4));
    ids.push(updated);

    let size = [live.len() as u64];
    let one = RowIdSequence::rechunk(&ids, size, false).unwrap();
    assert_eq!(one[0].encode(), expected);
    let created = RowVersionSequence::rechunk(&created, size, false).unwrap();
    assert_eq!(created[0].encode(), kept_bytes("ver_compact_five_bitmaps_created"));
    let changed = RowVersionSequence::rechunk(&changed, size, false).unwrap();
    assert_eq!(changed[0].encode(), kept_bytes("ver_compact_five_bitmaps_updated"));
}

#[test]
fn rechunks_touching_ranges_into_one() {
    let ids: Vec<_> = [0..40, 40..80, 80..100, 100..150].map(RowIdSequence::from).into();
    let one = RowIdSequence::rechunk(&ids, [150], false).unwrap();
    assert_eq!(one[0].encode(), kept_bytes("ds_compact_merged_range"));
    let three = RowIdSequence::rechunk(&ids, [60, 60, 60], true).unwrap();
    assert_eq!(three.iter().map(RowIdSequence::len).collect::<Vec<_>>(), [60, 60, 30]);
    assert!(matches!(RowIdSequence::rechunk(&ids, [60, 60, 60], false), Err(Error::Invalid(_))));
    assert!(matches!(RowIdSequence::rechunk(&ids, [149], true), Err(Error::Invalid(_))));
}

#[test]
fn few_runs_in_a_large_bitmap_become_ranges() {
    let expected = kept_bytes("ds_clustered_as_ranges");
    let ids: Vec<u64> = RowIdSequence::decode(&expected).unwrap().iter().collect();
    let bitmap = RowIdSequence::from_ids(&ids).unwrap();
    assert_eq!(bitmap.segments().len(), 1);
    assert_eq!(bitmap.with_range_segments().encode(), expected);
    // One run of holes: 33 bytes are replaced, 32 are not.
    for (slots, segments) in [(256, 1), (257, 2)] {
        let ids: Vec<u64> = (0..100).chain(180..slots).collect();
        let ranges = RowIdSequence::from_ids(&ids).unwrap().with_range_segments();
        assert_eq!(ranges.segments().len(), segments, "{slots}");
        assert!(ranges.iter().eq(ids));
    }
}

#[test]
fn a_sequence_has_to_fit_its_fragment() {
    let ids = RowIdSequence::from(5..11);
    assert!(ids.check_len(6).is_ok());
    for wrong in [5, 7] {
        assert!(matches!(ids.check_len(wrong), Err(Error::Corrupt(_))));
    }
    let versions = RowVersionSequence::decode(&kept_bytes("ver_short_for_6_rows")).unwrap();
    assert!(versions.check_len(2).is_ok());
    assert!(matches!(versions.check_len(6), Err(Error::Corrupt(_))));
}

#[test]
fn repeated_ids_are_found_when_asked_for() {
    for name in ["lenient_array_dup", "lenient_dup_ids_across_segments"] {
        let sequence = RowIdSequence::decode(&kept_bytes(name)).unwrap();
        assert!(matches!(sequence.check_unique(), Err(Error::Corrupt(_))), "{name}");
    }
    let sequence = RowIdSequence::decode(&kept_bytes("hand_all_kinds")).unwrap();
    sequence.check_unique().unwrap();
    for ids in [&[1, 1][..], &[3, 1, 3], &[1 << 60, 0, 7, 0]] {
        assert!(matches!(RowIdSequence::from_ids(ids), Err(Error::Invalid(_))), "{ids:?}");
    }
}

/// A decoded sequence costs a small multiple of its bytes, whatever they claim.
#[test]
fn decoding_allocates_what_the_bytes_justify() {
    for vector in vectors() {
        let limit = 2_000 + 40 * vector.bytes.len();
        let (_, bytes) = allocated(|| RowIdSequence::decode(&vector.bytes).is_ok());
        assert!(bytes < limit, "{}: {bytes} bytes", vector.name);
        let (_, bytes) = allocated(|| RowVersionSequence::decode(&vector.bytes).is_ok());
        assert!(bytes < limit, "{}: {bytes} bytes", vector.name);
    }
    let (ids, bytes) = allocated(|| RowIdSequence::decode(&kept_bytes("hand_range_to_max")));
    assert!(bytes < 1 << 20, "{bytes} bytes, the list of vectors included");
    assert_eq!(ids.unwrap().len(), u64::MAX);
}

#[test]
fn lookups_and_iterators_allocate_nothing() {
    let ids = RowIdSequence::decode(&kept_bytes("hand_all_kinds")).unwrap();
    let versions = RowVersionSequence::decode(&kept_bytes("ver_compact_five_bitmaps_updated"));
    let versions = versions.unwrap();
    let ((), bytes) = allocated(|| {
        let sum = |iter: &mut dyn Iterator<Item = u64>| iter.fold(0, u64::wrapping_add);
        assert_eq!(sum(&mut ids.iter()), sum(&mut ids.iter().rev()));
        assert!(ids.iter().all(|id| ids.position(id).and_then(|at| ids.get(at)) == Some(id)));
        assert_eq!(ids.iter().nth(7), ids.iter().rev().nth(ids.iter().len() - 8));
        assert!(ids.iter().all(|id| ids.contains(id)));
        assert_eq!(sum(&mut versions.iter()), sum(&mut versions.iter().rev()));
        assert_eq!(versions.iter().nth(100), versions.version_at(100));
    });
    assert_eq!(bytes, 0);
}
