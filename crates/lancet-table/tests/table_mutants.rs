//! Any folder is safe: tables with damaged manifests, deletion files, tags and data files give an error or rows, never a
//! panic, an endless read or a wild allocation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../lancet/tests/support/allocations.rs"]
mod allocations;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use allocations::allocated;
use lancet::{Filter, ReadOptions};
use lancet_row_ids::RowVersionSequence;
use lancet_table::{At, DeletionKind, Limits, Manifest, Result, Stored, Table, TableOptions};

/// One read may hold this much; what all reads of a mutant allocate together may be several times that.
const LIMIT: u64 = 4 << 20;
const MOST_BYTES: usize = 64 << 20;
/// A forged table may have as many rows as it likes; nobody has to read them all.
const MAX_BATCHES: usize = 50;

fn options() -> TableOptions {
    let mut limits = Limits::default();
    limits.max_metadata_bytes = LIMIT;
    let read = ReadOptions::default();
    let read = read.with_memory_limit(LIMIT).with_max_metadata_bytes(LIMIT).with_threads(1);
    TableOptions::default().with_limits(limits).with_read_options(read)
}

/// All that can be asked of a table.
fn read_all(root: &Path) -> Result<u64> {
    let table = Table::open_with(root, options())?;
    let mut rows = 0;
    for columns in [vec![], vec!["_rowid", "_rowaddr", "_row_created_at_version"]] {
        let scan = table.scan().threads(1);
        let scan = if columns.is_empty() { scan } else { scan.columns(columns) };
        let mut batches = scan.build()?;
        for _ in 0..MAX_BATCHES {
            let Some(batch) = batches.next_batch() else { break };
            rows += batch?.num_rows() as u64;
        }
    }
    if let Some(field) = table.schema().fields().first() {
        let filter = Filter::is_not_null(field.name());
        let mut batches = table.scan().filter(filter).threads(1).build()?;
        for _ in 0..MAX_BATCHES {
            let Some(batch) = batches.next_batch() else { break };
            batch?;
        }
    }
    let num_rows = table.num_rows()?;
    table.take(&[0, num_rows / 2, num_rows.saturating_sub(1)], ..)?;
    table.take_row_ids(&[0, 5, 1 << 32], ..)?;
    table.verify(|_| {})?;
    for tag in table.tags()? {
        table.checkout(At::Tag(tag.name))?;
    }
    for branch in table.branches()? {
        table.checkout(At::Branch(branch.name))?;
    }
    Ok(rows)
}

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn mutant(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return bytes;
        }
        let (at, len) = (random.below(bytes.len()), bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => bytes = bytes[at..].to_vec(),
            2 => {
                let end = (at + random.below(40)).min(len);
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let end = (at + random.below(20)).min(len);
                bytes.drain(at..end);
            }
            4 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            5 => bytes[at] ^= 1 << random.below(8),
            6 => bytes[at] = bytes[at].wrapping_add(1),
            _ => bytes[at] = random.below(256) as u8,
        }
    }
    bytes
}

fn damage(name: &str, is_wanted: fn(&str) -> bool, count: usize) {
    let tar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(name);
    let files: BTreeMap<String, Vec<u8>> = support::archive::unpack(&tar);
    let place = tempfile::tempdir().unwrap();
    support::archive::write_into(&files, place.path());
    let root = place.path().join("table");
    read_all(&root).unwrap();
    let wanted: Vec<&String> =
        files.keys().filter(|name| name.starts_with("table/") && is_wanted(name)).collect();
    // Of the versions the newest sorts first, and is the one that is opened.
    let is_version = |file: &&String| file.contains("/_versions/");
    let latest = wanted.iter().copied().find(is_version);
    let wanted = latest.map_or(wanted, |latest| vec![latest]);
    assert!(!wanted.is_empty());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut fine, mut refused, mut most) = (0, 0, 0);
    for number in 0..count {
        let file = wanted[random.below(wanted.len())];
        let path = place.path().join(file);
        let bytes = mutant(&files[file], &mut random);
        fs::write(&path, &bytes).unwrap();
        let (result, spent) = allocated(|| read_all(&root));
        most = most.max(spent);
        assert!(spent < MOST_BYTES, "mutant {number} of {file}: {spent} bytes");
        match result {
            Ok(_) => fine += 1,
            Err(error) => {
                assert!(error.to_string().len() < 4_000, "{error}");
                refused += 1;
            }
        }
        fs::write(&path, &files[file]).unwrap();
    }
    println!("{name}: {fine} fine, {refused} refused, at most {most} bytes");
    assert!(refused > count / 10 && fine > 0, "{fine} fine, {refused} refused");
}

#[test]
fn damaged_manifests() {
    for name in ["rebased_v20.tar", "nested_changes_v22.tar", "spilled_lineage_v21.tar"] {
        damage(name, |file| file.contains("/_versions/"), 600);
    }
}

#[test]
fn damaged_deletion_files() {
    damage("rebased_v20.tar", |file| file.contains("/_deletions/"), 1500);
}

#[test]
fn damaged_tags_and_branches() {
    damage("branches_v22.tar", |file| file.contains("/_refs/"), 600);
}

#[test]
fn damaged_data_files() {
    damage("foreign_writer.tar", |file| file.contains("/data/"), 400);
}

#[test]
fn version_folders_of_all_kinds() {
    let tar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/foreign_writer.tar");
    let files = support::archive::unpack(&tar);
    let with = |change: &dyn Fn(&Path)| {
        let place = tempfile::tempdir().unwrap();
        support::archive::write_into(&files, place.path());
        change(&place.path().join("table"));
        read_all(&place.path().join("table")).map_err(|error| error.to_string())
    };
    assert!(with(&|_| {}).is_ok());
    let versions = |root: &Path| root.join("_versions");
    // A folder where a version should be, an empty folder, a file instead of a folder.
    let folder = |root: &Path| {
        fs::create_dir(versions(root).join("18446744073709551000.manifest")).unwrap();
    };
    assert!(with(&folder).unwrap_err().contains("it is not a regular file"));
    let empty = |root: &Path| {
        fs::remove_dir_all(versions(root)).unwrap();
        fs::create_dir(versions(root)).unwrap();
    };
    assert!(with(&empty).unwrap_err().contains("the table has no versions"));
    let file = |root: &Path| {
        fs::remove_dir_all(versions(root)).unwrap();
        fs::write(versions(root), b"").unwrap();
    };
    assert!(with(&file).unwrap_err().contains("list "));
    let long = |root: &Path| {
        let file = fs::File::create(versions(root).join("18446744073709551000.manifest")).unwrap();
        file.set_len(1 << 40).unwrap();
    };
    let error = with(&long).unwrap_err();
    assert!(error.contains("raise `max_metadata_bytes` to go on"), "{error}");
    assert!(Table::open("/nowhere/at/all").is_err());
    assert!(Table::open(tar).is_err());
}

/// A table whose latest manifest was changed.
fn write_forged(name: &str, change: impl FnOnce(&mut Manifest, &Path)) -> tempfile::TempDir {
    let tar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(name);
    let place = tempfile::tempdir().unwrap();
    support::archive::write_into(&support::archive::unpack(&tar), place.path());
    let root = place.path().join("table");
    let mut manifest = Table::open(&root).unwrap().manifest().clone();
    change(&mut manifest, &root);
    let message = manifest.encode();
    let len = u32::try_from(message.len()).unwrap().to_le_bytes();
    let file = [&len, message.as_slice(), &[0; 8], &[0, 0, 2, 0], b"LANC"].concat();
    fs::write(&manifest.file, file).unwrap();
    place
}

/// Reads a table whose latest manifest was changed.
fn forged(
    name: &str,
    change: impl FnOnce(&mut Manifest, &Path),
) -> std::result::Result<u64, String> {
    let place = write_forged(name, change);
    let root = place.path().join("table");
    let (result, spent) = allocated(|| read_all(&root).map_err(|error| error.to_string()));
    assert!(spent < MOST_BYTES, "{spent} bytes");
    result
}

#[test]
fn forged_numbers_cost_nothing() {
    let sound = forged("foreign_writer.tar", |_, _| {}).unwrap();
    assert!(sound > 0);
    // A field that no file has, as wide as can be.
    let error = forged("foreign_writer.tar", |manifest, _| {
        let mut field = manifest.fields[0].clone();
        field.id = 99;
        field.name = "wide".into();
        field.logical_type = "fixed_size_list:double:2000000000".into();
        manifest.fields.push(field);
    });
    let error = error.unwrap_err();
    assert!(error.ends_with("raise `memory_limit` to go on"), "{error}");
    // Fields that are wide, but not too wide, come in short batches.
    let rows = forged("foreign_writer.tar", |manifest, _| {
        let mut field = manifest.fields[0].clone();
        field.id = 99;
        field.name = "wide".into();
        field.logical_type = "fixed_size_binary:100000".into();
        manifest.fields.push(field);
    });
    assert_eq!(rows, Ok(sound));
    // Rows that no file vouches for, also where no column is read.
    for columns in [vec![0, 1], vec![]] {
        let error = forged("foreign_writer.tar", |manifest, _| {
            let ids: Vec<i32> = manifest.fields.iter().map(|field| field.id).collect();
            manifest.fields.retain(|field| columns.contains(&field.id) || field.id == ids[0]);
            for fragment in manifest.fragments.iter_mut().map(Arc::make_mut) {
                fragment.physical_rows = Some(u64::from(u32::MAX));
            }
        });
        let error = error.unwrap_err();
        assert!(error.contains("rows, but its fragment has 4294967295"), "{error}");
    }
    let error = forged("foreign_writer.tar", |manifest, _| {
        let fragment = Arc::make_mut(&mut manifest.fragments[0]);
        let file = &mut fragment.files[0];
        file.fields = vec![-2; file.fields.len()].into();
        fragment.physical_rows = Some(u64::from(u32::MAX));
    });
    let error = error.unwrap_err();
    assert!(error.contains("rows, but its fragment has 4294967295"), "{error}");
}

#[test]
fn bitmaps_of_runs_are_not_written_out() {
    // 65,536 containers of one run each: 2^32 - 1 deleted rows in a file of half a megabyte.
    let mut runs = Vec::new();
    runs.extend(12347_u32.wrapping_add(65_535 << 16).to_le_bytes());
    runs.extend([0xff; 8192]);
    for key in 0..=u16::MAX {
        runs.extend(key.to_le_bytes());
        runs.extend(u16::MAX.to_le_bytes());
    }
    runs.extend(vec![0; 4 * 65_536]);
    for key in 0..=u16::MAX {
        let last = if key == u16::MAX { u16::MAX - 1 } else { u16::MAX };
        runs.extend(1_u16.to_le_bytes());
        runs.extend(0_u16.to_le_bytes());
        runs.extend(last.to_le_bytes());
    }
    let error = forged("rebased_v20.tar", |manifest, root| {
        let fragment = Arc::make_mut(&mut manifest.fragments[0]);
        fragment.physical_rows = Some(u64::from(u32::MAX));
        let id = fragment.id;
        let deletion = fragment.deletion_file.as_mut().unwrap();
        deletion.kind = DeletionKind::Roaring;
        deletion.num_deleted_rows = None;
        fs::write(root.join("_deletions").join(deletion.file_name(id)), &runs).unwrap();
    });
    // All rows are deleted: nothing is left of the fragment, so that its data file is only looked at by `verify`.
    assert!(error.is_ok(), "{error:?}");
}

#[test]
fn row_versions_are_checked() {
    let place = write_forged("spilled_lineage_v21.tar", |manifest, _| {
        let fragment = Arc::make_mut(&mut manifest.fragments[0]);
        let short = RowVersionSequence::uniform(1, 1);
        fragment.last_updated = Some(Stored::Inline(short.encode()));
    });
    let table = Table::open(place.path().join("table")).unwrap();
    let problems = table.verify(|_| {}).unwrap().problems;
    assert!(problems.iter().any(|problem| problem.what.contains("fragment")), "{problems:?}");
    let scan = table.scan().columns(["_row_last_updated_at_version"]);
    assert!(scan.build().unwrap().next_batch().unwrap().is_err());
}
