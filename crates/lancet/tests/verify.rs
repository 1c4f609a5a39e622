//! Checksums and `FileReader::verify`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::field_reassign_with_default)]

#[path = "support/mutate/mod.rs"]
#[expect(dead_code, reason = "each test uses a part of the engine")]
mod mutate;
#[path = "support/small.rs"]
#[expect(dead_code, reason = "each test uses a part of the files")]
mod small;

use lancet::{Error, FileReader, ReadOptions, Version};
use mutate::file::Parts;

fn checked() -> ReadOptions {
    ReadOptions::default().with_verify_checksums(true)
}

#[test]
fn sound_files_have_no_problems() {
    for (name, file) in small::files() {
        let reader = FileReader::from_bytes(file, checked()).unwrap();
        let found = reader.verify().unwrap();
        assert!(found.problems.is_empty(), "{name}: {:?}", found.problems);
        assert!(found.num_pages > 0, "{name}");
        assert_eq!(found.num_checksums > 0, name.starts_with("lancet"), "{name}");
        drop(reader.take(&[0]).unwrap());
    }
}

/// Bytes that readers look at: all but padding.
fn used_bytes(file: &[u8]) -> Vec<usize> {
    let parts = Parts::split(file).unwrap();
    let mut used: Vec<usize> = (parts.data.len()..file.len()).collect();
    used.extend(parts.page_buffers().into_iter().flat_map(|(start, size)| start..start + size));
    for (start, size) in &parts.user_buffers {
        used.extend(*start as usize..(start + size) as usize);
    }
    // The two payloads of the blob column.
    for payload in [&b"payload"[..], b"x"] {
        let padded = [payload, &[0x48; 50]].concat();
        let at = file.windows(padded.len()).position(|window| window == padded).unwrap();
        used.extend(at..at + payload.len());
    }
    used
}

#[test]
fn every_changed_byte_is_found() {
    for version in [Version::V2_1, Version::V2_2] {
        let file = small::written(version);
        let parts = Parts::split(&file).unwrap();
        // The checksums are not found without their magic, the last entry of the table or the
        // number of its entries.
        let (magic, footer) = (parts.user_buffers.last().unwrap().0 as usize, file.len() - 40);
        let leads = [magic..magic + 8, footer - 16..footer, footer + 24..footer + 28];
        for at in used_bytes(&file) {
            if leads.iter().any(|range| range.contains(&at)) {
                continue;
            }
            for change in [0x01, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[at] ^= change;
                let Ok(reader) = FileReader::from_bytes(changed, ReadOptions::default()) else {
                    continue;
                };
                let found = reader.verify().unwrap();
                assert!(!found.problems.is_empty(), "byte {at} ^ {change:#x}");
            }
        }
    }
}

#[test]
fn every_problem_is_told_with_its_place() {
    let mut file = small::written(Version::V2_2);
    let buffers = Parts::split(&file).unwrap().page_buffers();
    let (id_chunks, name_chunks) = (buffers[1].0, buffers[3].0);
    file[id_chunks + 20] ^= 0x10;
    file[name_chunks] ^= 0x01;
    let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
    let told: Vec<String> =
        reader.verify().unwrap().problems.iter().map(ToString::to_string).collect();
    let has = |start: &str, rule: &str| told.iter().any(|t| t.contains(start) && t.contains(rule));
    assert!(has("column 0, page 0, buffer 1", "checksum"), "{told:#?}");
    assert!(has("column 1, page 0, buffer 1", "checksum"), "{told:#?}");
    assert!(has("column 1, page 0, buffer 1, byte 0", "levels"), "{told:#?}");
}

#[test]
fn corruptions_name_their_column() {
    for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
        let mut file = small::written(version);
        let (values, _) = Parts::split(&file).unwrap().page_buffers()[1];
        file[values] ^= 0x10;
        let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
        let problems = reader.verify().unwrap().problems;
        let name = problems[0].column_name.as_deref().unwrap();
        let number = problems[0].column.unwrap() as usize;
        let column = &reader.inspect().unwrap().columns[number];
        assert_eq!((name, number), (column.name.as_str(), column.index as usize), "{version}");
        let told = problems[0].to_string();
        assert!(told.contains(&format!("`{name}`, column {number}, page 0")), "{told}");
    }
}

#[test]
fn verification_tells_how_far_it_is() {
    for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
        let file = small::written(version);
        let reader = FileReader::from_bytes(file.clone(), ReadOptions::default()).unwrap();
        let mut told = Vec::new();
        reader.verify_with(|at| told.push((at.done, at.all))).unwrap();
        assert!(told.len() > 4, "{told:?}");
        assert!(told.is_sorted() && told.iter().all(|(_, all)| *all == told[0].1), "{told:?}");
        let (done, all) = *told.last().unwrap();
        assert!(done == all && all > 0, "{told:?}");
    }
}

#[test]
fn reads_are_checked_when_asked() {
    let file = small::written(Version::V2_2);
    let (start, size) = Parts::split(&file).unwrap().page_buffers()[1];
    let mut changed = file.clone();
    changed[start + size - 5] ^= 1;
    let read = |options| FileReader::from_bytes(changed.clone(), options).unwrap().take(&[0, 1, 2]);
    assert!(read(ReadOptions::default()).is_ok());
    let error = read(checked()).unwrap_err();
    assert!(matches!(&error, Error::Corrupt(c) if c.rule.contains("checksum")), "{error}");

    // The metadata is checked when the file is opened.
    let mut changed = file.clone();
    let name = file.windows(4).rposition(|window| window == b"name").unwrap();
    changed[name] = b'N';
    assert!(FileReader::from_bytes(changed.clone(), ReadOptions::default()).is_ok());
    assert!(matches!(FileReader::from_bytes(changed, checked()), Err(Error::Corrupt(_))));
}

#[test]
fn rows_that_no_byte_vouches_for_are_verified_at_once() {
    let (_, file) = small::files().into_iter().find(|(name, _)| name == "all_null_v22").unwrap();
    let mut parts = Parts::split(&file).unwrap();
    let rows = |message: &[u8]| {
        let sites = mutate::wire::sites(message);
        let four = sites.into_iter().find(|s| s.kind == mutate::wire::Kind::Number(4)).unwrap();
        mutate::wire::set_number(message, &four, 1 << 60).unwrap()
    };
    parts.descriptor = rows(&parts.descriptor);
    parts.columns[0] = rows(&parts.columns[0]);
    let reader = FileReader::from_bytes(parts.join(), ReadOptions::default()).unwrap();
    assert_eq!(reader.num_rows(), 1 << 60);
    assert!(reader.verify().unwrap().problems.is_empty());
}
