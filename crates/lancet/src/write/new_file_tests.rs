use std::cell::Cell;

use super::*;

thread_local! {
    /// Steps until one fails.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// The one that failed.
    static FAILED: Cell<Option<Step>> = const { Cell::new(None) };
}

/// Does a step, or has it fail.
pub(super) fn attempt<T>(step: Step, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let left = LEFT.take();
    LEFT.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) {
        FAILED.set(Some(step));
        return Err(ErrorKind::StorageFull.into());
    }
    act()
}

/// Writes a file in pieces of many sizes.
fn write_pieces(path: &Path, pieces: &[usize]) -> Result<u64> {
    let mut file = NewFile::create(path)?;
    for (number, size) in pieces.iter().enumerate() {
        let piece = vec![number as u8; *size];
        file.write_all(&piece).map_err(|e| Error::io("cannot write", e))?;
    }
    file.publish()
}

#[test]
fn every_step_may_fail() {
    let folder = folder("faults");
    let path = folder.join("a");
    let pieces = [10, 1 << 20, 3, 5 << 20, 700_000, 700_000, 0, 1];
    write_pieces(&path, &pieces).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut hit = Vec::new();
    for step in 0.. {
        fs::write(&path, "old").unwrap();
        LEFT.set(Some(step));
        let done = write_pieces(&path, &pieces);
        LEFT.set(None);
        assert_eq!(names(&folder), ["a"], "step {step}");
        let Some(failed) = FAILED.take() else {
            done.unwrap();
            break;
        };
        assert!(done.is_err(), "{failed:?} failed, and nobody knows");
        // The name is there, but perhaps not after a crash of the system.
        let expected = if failed == Step::SyncFolder { &whole[..] } else { b"old" };
        assert!(fs::read(&path).unwrap() == expected, "{failed:?}");
        hit.push(failed);
    }
    assert!(fs::read(&path).unwrap() == whole);
    for step in
        [Step::Create, Step::Write, Step::Sync, Step::OpenFolder, Step::Rename, Step::SyncFolder]
    {
        assert!(hit.contains(&step), "{step:?} was not tried");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_may_appear_before_it_is_synced() {
    let folder = folder("unsynced");
    let path = folder.join("a");
    let publish = || {
        let mut file = NewFile::create(&path)?;
        file.write_all(b"all of it").map_err(|e| Error::io("cannot write", e))?;
        file.publish_unsynced()
    };
    let mut hit = Vec::new();
    for step in 0.. {
        fs::write(&path, "old").unwrap();
        LEFT.set(Some(step));
        let done = publish();
        LEFT.set(None);
        assert_eq!(names(&folder), ["a"], "step {step}");
        let Some(failed) = FAILED.take() else {
            done.unwrap().sync_all().unwrap();
            break;
        };
        assert!(done.is_err(), "{failed:?} failed, and nobody knows");
        assert!(fs::read(&path).unwrap() == b"old", "{failed:?}");
        hit.push(failed);
    }
    // To sync it is for the caller.
    assert_eq!(hit, [Step::Create, Step::Write, Step::Rename]);
    assert_eq!(fs::read(&path).unwrap(), b"all of it");
    fs::remove_dir_all(folder).unwrap();
}

/// An empty folder of its own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lancet-new-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str) -> Result<u64> {
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes()).unwrap();
    file.publish()
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = folder("whole");
    let path = folder.join("a.lance");
    let mut dropped = NewFile::create(&path).unwrap();
    dropped.write_all(b"half").unwrap();
    // A second writer of the same name has a file of its own.
    let mut kept = NewFile::create(&path).unwrap();
    assert_eq!(names(&folder).len(), 2);
    assert!(names(&folder).iter().all(|name| is_hidden_name(OsStr::new(name))));
    kept.write_all(b"whole").unwrap();
    drop(dropped);
    assert_eq!(kept.publish().unwrap(), 5);
    assert_eq!(names(&folder), ["a.lance"]);
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    fs::remove_dir_all(&folder).unwrap();

    let Err(Error::Io { context, .. }) = NewFile::create(&path) else { panic!() };
    assert!(context.starts_with("cannot create ") && context.ends_with("a.lance"), "{context}");
    let Err(Error::Invalid(what)) = NewFile::create(Path::new("/")) else { panic!() };
    assert_eq!(what, "/ is not a file name");
}

#[test]
fn hidden_names_cannot_be_foreseen_and_are_never_too_long() {
    let folder = folder("names");
    let long = "é".repeat(127);
    let files: Vec<_> = (0..100).map(|_| NewFile::create(&folder.join(&long)).unwrap()).collect();
    assert_eq!(names(&folder).len(), 100);
    // What differs is the random part, and no two of them follow each other.
    let random = |name: &String| u64::from_str_radix(&name[name.len() - 28..][..16], 16).unwrap();
    let mut numbers: Vec<u64> = names(&folder).iter().map(random).collect();
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] > 1000));
    drop(files);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_already_has_a_hidden_name_is_not_touched() {
    let folder = folder("planted");
    let there = folder.join("there");
    fs::write(&there, "precious").unwrap();
    assert_eq!(create_new(&there, None).unwrap_err().kind(), ErrorKind::AlreadyExists);
    #[cfg(unix)]
    {
        let link = folder.join("link");
        std::os::unix::fs::symlink(&there, &link).unwrap();
        assert_eq!(create_new(&link, None).unwrap_err().kind(), ErrorKind::AlreadyExists);
        let dangling = folder.join("dangling");
        std::os::unix::fs::symlink(folder.join("nowhere"), &dangling).unwrap();
        assert_eq!(create_new(&dangling, None).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(!folder.join("nowhere").exists());
    }
    assert_eq!(fs::read(&there).unwrap(), b"precious");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_left_of_killed_writers_is_told_from_work_under_way() {
    let folder = folder("leftovers");
    let running = NewFile::create(&folder.join("a.csv")).unwrap();
    assert!(NewFile::leftovers(&folder).unwrap().is_empty());
    let dead = folder.join(".b.csv.0123456789abcdef.lancet-part");
    fs::write(&dead, "half").unwrap();
    for other in ["c.lance", ".c.lancet-part", ".c.0123.lancet-part", ".d.0123456789abcdef.part"] {
        fs::write(folder.join(other), "of somebody else").unwrap();
    }
    assert_eq!(NewFile::leftovers(&folder).unwrap(), [dead]);
    drop(running);
    fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_permissions_of_a_replaced_file_stay() {
        let folder = folder("modes");
        let path = folder.join("a");
        for old in [0o600, 0o640, 0o666, 0o444, 0o755] {
            let _ = fs::remove_file(&path);
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(old)).unwrap();
            let file = NewFile::create(&path).unwrap();
            // From the start: what is written may be secret.
            assert_eq!(mode(file.temporary.as_ref().unwrap()), old);
            file.publish().unwrap();
            assert_eq!(mode(&path), old);
        }
        // New ones are as those of other programs.
        write(&folder.join("b"), "new").unwrap();
        File::create(folder.join("c")).unwrap();
        assert_eq!(mode(&folder.join("b")), mode(&folder.join("c")));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn links_stay_and_the_files_they_lead_to_are_replaced() {
        let folder = folder("links");
        let (real, link) = (folder.join("real"), folder.join("link"));
        fs::create_dir_all(&real).unwrap();
        fs::write(real.join("a"), "old").unwrap();
        symlink("real/a", folder.join("first")).unwrap();
        symlink("first", &link).unwrap();
        let mut file = NewFile::create(&link).unwrap();
        assert_eq!(names(&real).len(), 2, "the hidden file is where it can be renamed");
        file.write_all(b"new").unwrap();
        file.publish().unwrap();
        assert_eq!(fs::read(real.join("a")).unwrap(), b"new");
        assert!(link.is_symlink() && names(&folder) == ["first", "link", "real"]);

        symlink("nowhere", folder.join("dangling")).unwrap();
        let error = write(&folder.join("dangling"), "new").unwrap_err().to_string();
        assert!(error.contains("leads nowhere"), "{error}");
        symlink("loop", folder.join("loop")).unwrap();
        assert!(write(&folder.join("loop"), "new").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_not_a_file_is_not_replaced() {
        let error = write(Path::new("/dev/null"), "new").unwrap_err().to_string();
        assert!(error.starts_with("cannot create /dev/null: it is not a file"), "{error}");
        let error = write(&std::env::temp_dir(), "new").unwrap_err().to_string();
        assert!(error.contains("it is a folder"), "{error}");
    }

    #[test]
    fn after_a_failed_write_nothing_appears() {
        let folder = folder("failed");
        let mut file = NewFile::create(&folder.join("a")).unwrap();
        // A descriptor that takes no bytes.
        file.file = BufWriter::with_capacity(0, Disk::new(File::open(&folder).unwrap()));
        assert!(file.write_all(b"lost").is_err());
        file.file = BufWriter::new(Disk::new(File::create(folder.join("other")).unwrap()));
        file.write_all(b"not lost").unwrap();
        assert!(file.publish().unwrap_err().to_string().contains("a write failed before"));
        assert_eq!(names(&folder), ["other"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
