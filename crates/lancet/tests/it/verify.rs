//! Checksums and `FileReader::verify`.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{
    ArrayRef, FixedSizeListArray, Int64Array, LargeBinaryArray, ListArray, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use lancet::{Error, FileReader, FileWriter, ReadOptions, Span, Version, WriteOptions};

use crate::counted;
use crate::mutate;
use crate::mutate::file::Parts;
use crate::small;

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

#[test]
fn every_changed_byte_is_found() {
    for version in [Version::V2_1, Version::V2_2] {
        let file = small::written(version);
        for at in 0..file.len() {
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

/// A table of many blocks: numbers, vectors, strings that are long and short, lists, blobs.
fn many_blocks() -> RecordBatch {
    let rows = 20_000;
    let text =
        |i: i64, len: i64| "abcdefghij".chars().cycle().skip(i as usize % 7).take(len as usize);
    let longs = (0..rows).map(|i| text(i, if i % 500 == 0 { 30_000 } else { i % 9 }).collect());
    let vectors = (0..rows).map(|i| Some((0..8).map(|k| Some((i * k) as f32)).collect::<Vec<_>>()));
    let blobs = (0..rows).map(|i| (i % 4_000 == 0).then(|| vec![i as u8; 9_000]));
    let blob = Field::new("blob", DataType::LargeBinary, true)
        .with_metadata([("lance-encoding:blob".into(), "true".into())].into());
    let lists = (0..rows).map(|i| Some((0..i % 3).map(|k| Some(i + k)).collect::<Vec<_>>()));
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("id", DataType::Int64, true), Arc::new(Int64Array::from_iter_values(0..rows))),
        (
            Field::new("text", DataType::Utf8, true),
            Arc::new(StringArray::from_iter_values(longs.collect::<Vec<String>>())),
        ),
        (
            Field::new_fixed_size_list(
                "vector",
                Field::new_list_field(DataType::Float32, true),
                8,
                true,
            ),
            Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 8)),
        ),
        (
            Field::new_list("list", Field::new_list_field(DataType::Int64, true), true),
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
        ),
        (blob, Arc::new(LargeBinaryArray::from_iter(blobs))),
    ];
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn write(table: &RecordBatch, version: Version) -> Vec<u8> {
    let options = WriteOptions::default().with_version(version).with_page_bytes(60_000);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    writer.write(table).unwrap();
    writer.finish_into().unwrap().1
}

/// All rows by a scan, and then some by takes; the first error.
fn read_all(file: Vec<u8>, options: ReadOptions) -> lancet::Result<Vec<RecordBatch>> {
    let reader = FileReader::from_bytes(file, options)?;
    let mut found = reader.scan().batch_rows(1_000).build()?.collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<u64> = (0..reader.num_rows()).step_by(777).collect();
    found.push(reader.take(&rows)?);
    found.extend(rows.iter().map(|row| reader.take(&[*row])).collect::<lancet::Result<Vec<_>>>()?);
    Ok(found)
}

#[test]
fn scans_and_takes_notice_every_flipped_bit() {
    let table = many_blocks();
    for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
        let file = write(&table, version);
        let sound = read_all(file.clone(), checked()).unwrap();
        assert_eq!(sound, read_all(file.clone(), ReadOptions::default()).unwrap(), "{version}");
        let mut buffers = Parts::split(&file).unwrap().page_buffers();
        buffers.retain(|(_, size)| *size > 0);
        let mut unnoticed = 0;
        for i in 0..60_usize {
            let (start, size) = buffers[i * 31 % buffers.len()];
            let mut changed = file.clone();
            changed[start + (i * 7919) % size] ^= 1 << (i % 8);
            match read_all(changed.clone(), checked()) {
                Err(Error::Corrupt(c)) if c.rule.contains("checksum") => {}
                other => panic!("{version}: flip {i} gives {:?}", other.map(|found| found.len())),
            }
            unnoticed += usize::from(read_all(changed, ReadOptions::default()).is_ok());
        }
        assert!(unnoticed > 10, "the flips are noticed without checksums too: {unnoticed}");
    }
}

#[test]
fn a_damaged_read_names_its_column() {
    let file = write(&many_blocks(), Version::V2_2);
    let (start, size) =
        *Parts::split(&file).unwrap().page_buffers().iter().max_by_key(|(_, s)| *s).unwrap();
    let mut changed = file;
    changed[start + size / 2] ^= 1;
    let error = read_all(changed, checked()).unwrap_err();
    assert!(
        matches!(&error, Error::Corrupt(c) if c.column_name.as_deref() == Some("blob")),
        "{error}"
    );
    assert!(error.to_string().contains("not what was written"), "{error}");
}

#[test]
fn takes_of_one_row_read_and_check_little() {
    let file = write(&many_blocks(), Version::V2_2);
    let source = counted::Counted::new(file);
    let reader = FileReader::from_source(Arc::new(source.clone()), checked()).unwrap();
    let ids = reader.file().project(["id"]).unwrap();
    reader.take_columns(&[5_000], ids.clone()).unwrap();
    source.rounds();
    reader.take_columns(&[5_001], ids).unwrap();
    let rounds = source.rounds();
    assert_eq!(rounds.len(), 1, "the checksums are known, or come along: {rounds:?}");
    let read: u64 = rounds.iter().flatten().map(Span::len).sum();
    assert!(read > 0 && read <= 16 << 10, "{read} bytes for one number");
    assert_eq!(rounds[0].len(), 1, "checksums are kept: {rounds:?}");
}

#[test]
fn blobs_metadata_and_buffers_are_checked() {
    let file = write(&many_blocks(), Version::V2_2);
    let reader = FileReader::from_bytes(file.clone(), checked()).unwrap();
    let blobs = reader.blobs("blob").unwrap();
    let at = blobs.descriptions(&[8_000]).unwrap()[0].unwrap().position as usize;
    let mut changed = file.clone();
    changed[at + 8_999] ^= 1;
    let reader = FileReader::from_bytes(changed, checked()).unwrap();
    let blobs = reader.blobs("blob").unwrap();
    assert!(matches!(blobs.read(8_000, 8_990..9_000), Err(Error::Corrupt(_))));
    assert_eq!(blobs.read(0, ..).unwrap(), vec![0; 9_000]);

    let mut writer =
        FileWriter::new(Vec::new(), Arc::new(Schema::empty()), WriteOptions::default()).unwrap();
    let number = writer.add_global_buffer(&[9; 5_000]).unwrap();
    let file = writer.finish_into().unwrap().1;
    let mut changed = file.clone();
    changed[4_990] ^= 1;
    let reader = |file, options| FileReader::from_bytes(file, options).unwrap();
    assert_eq!(reader(file, checked()).global_buffer(number).unwrap(), vec![9; 5_000]);
    assert!(reader(changed.clone(), ReadOptions::default()).global_buffer(number).is_ok());
    assert!(reader(changed.clone(), checked()).global_buffer(number).is_err());
    assert!(reader(changed, checked()).user_buffers().is_err());
}

#[test]
fn the_blocks_around_a_read_count_as_memory() {
    let table = many_blocks();
    let file = write(&table, Version::V2_2);
    let read = |limit: u64, options: ReadOptions| {
        let reader =
            FileReader::from_bytes(file.clone(), options.with_memory_limit(limit)).unwrap();
        reader.take_columns(&[0, 5_000, 10_000, 15_000], ["text"])
    };
    let fits = |options: ReadOptions| {
        (1..).map(|i| i * 1024).find(|limit| read(*limit, options.clone()).is_ok()).unwrap()
    };
    let (plain, with_blocks) = (fits(ReadOptions::default()), fits(checked()));
    assert!(with_blocks > plain, "{with_blocks} {plain}");
    assert!(with_blocks < plain + (64 << 10), "{with_blocks} {plain}");
    let error = read(plain, checked()).unwrap_err();
    assert!(matches!(&error, Error::Limit { option: "memory_limit", .. }), "{error}");
}

#[test]
fn metadata_is_checked_within_its_limit() {
    // In 2.0 opening needs the metadata of all columns: here 30 with many pages.
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2_000));
    let table =
        RecordBatch::try_from_iter((0..30).map(|i| (format!("c{i}"), numbers.clone()))).unwrap();
    let options = WriteOptions::default().with_version(Version::V2_0).with_page_bytes(200);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    let file = writer.finish_into().unwrap().1;
    let tail = (file.len() - Parts::split(&file).unwrap().data.len()) as u64;
    let open = |options: ReadOptions, limit| {
        FileReader::from_bytes(file.clone(), options.with_max_metadata_bytes(limit))
    };
    assert!(open(ReadOptions::default(), tail - 1).is_ok(), "one column at a time");
    let error = open(checked(), tail - 1).unwrap_err();
    assert!(matches!(&error, Error::Limit { option: "max_metadata_bytes", .. }), "{error}");
    assert!(open(checked(), 4 * tail).is_ok());
}

#[test]
fn what_has_no_checksum_is_told() {
    let file = write(&many_blocks(), Version::V2_2);
    let mut magics = file.windows(8).enumerate().filter(|(_, window)| *window == b"LANCETX4");
    let (start, end) = (magics.next().unwrap().0, magics.next_back().unwrap().0 + 8);
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let mut rules = std::collections::BTreeSet::new();
    for entry in 0..number(end - 24) as usize {
        // The checksum of all but the last byte of a buffer.
        let (mut forged, size) = (file.clone(), start + 8 + 24 * entry + 8);
        forged[size..size + 8].copy_from_slice(&(number(size) - 1).to_le_bytes());
        let own = xxhash_rust::xxh3::xxh3_64(&forged[start..end - 16]);
        forged[end - 16..end - 8].copy_from_slice(&own.to_le_bytes());
        let found = FileReader::from_bytes(forged, ReadOptions::default()).unwrap().verify();
        rules.extend(found.unwrap().problems.into_iter().map(|problem| problem.rule));
    }
    let expected = ["the buffer has no checksum", "the zone map has no checksum"];
    assert_eq!(rules.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn checksums_can_be_required() {
    let required = || ReadOptions::default().with_require_checksums(true);
    let table = many_blocks();
    let with = write(&table, Version::V2_2);
    assert!(read_all(with, required()).is_ok());
    let options = WriteOptions::default().with_checksums(false);
    let mut writer = FileWriter::new(Vec::new(), table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    let without = writer.finish_into().unwrap().1;
    assert!(FileReader::from_bytes(without.clone(), checked()).is_ok());
    let error = FileReader::from_bytes(without, required()).unwrap_err().to_string();
    assert!(error.contains("no checksums"), "{error}");
}

#[test]
fn checksums_of_older_releases_are_still_compared() {
    let file = include_bytes!("../data/checksums/whole_buffers.lance").to_vec();
    assert!(file.windows(8).any(|window| window == b"LANCETX3"));
    let required = || ReadOptions::default().with_require_checksums(true);
    let rows = read_all(file.clone(), required()).unwrap();
    assert_eq!(rows, read_all(file.clone(), ReadOptions::default()).unwrap());
    let reader = FileReader::from_bytes(file.clone(), required()).unwrap();
    let found = reader.verify().unwrap();
    assert!(found.problems.is_empty() && found.num_checksums > 0, "{found:?}");
    assert_eq!(reader.user_buffers().unwrap().len(), 0);
    let has_checksum = |rule: &str| rule.contains("checksum");
    let problems = |file| {
        let reader = FileReader::from_bytes(file, ReadOptions::default()).unwrap();
        reader.verify().unwrap().problems
    };
    let mut noticed = 0;
    for (start, size) in Parts::split(&file).unwrap().page_buffers() {
        let mut changed = file.clone();
        changed[start + size / 2] ^= 1;
        let found = problems(changed.clone());
        assert!(found.iter().any(|problem| has_checksum(&problem.rule)), "{found:?}");
        let read = read_all(changed, required());
        noticed += u32::from(matches!(read, Err(Error::Corrupt(c)) if has_checksum(&c.rule)));
    }
    assert!(noticed > 0, "reads of whole buffers");
    let mut changed = file.clone();
    let name = file.windows(2).rposition(|window| window == b"id").unwrap();
    changed[name] = b'I';
    let found = problems(changed.clone());
    assert!(found.iter().any(|problem| problem.rule.contains("metadata of the file")), "{found:?}");
    assert!(matches!(FileReader::from_bytes(changed, required()), Err(Error::Corrupt(_))));
}
