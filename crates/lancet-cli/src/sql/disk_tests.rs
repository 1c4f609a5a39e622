//! Files that change while a statement reads them.

use datafusion::object_store::{GetRange, ObjectStoreExt};
use futures::TryStreamExt;

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lancet-disk-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, path).unwrap();
}

fn location(path: &Path) -> Location {
    Location::from_absolute_path(path).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work)
}

#[track_caller]
fn has_changed<T>(result: Result<T>) {
    let error = result.map(drop).unwrap_err();
    let told = format!("{:?}", super::super::told(error.into()));
    assert!(told.contains("a.csv: has changed while it was read; run the statement"), "{told}");
}

#[test]
fn a_statement_reads_what_it_saw_first() {
    let folder = folder("first");
    let path = folder.join("a.csv");
    let at = location(&path);
    std::fs::write(&path, "old").unwrap();
    run(async {
        for way in 0..3 {
            let disk = Disk::default();
            match way {
                0 => drop(disk.head(&at).await.unwrap()),
                1 => drop(disk.get_range(&at, 0..1).await.unwrap()),
                _ => {
                    let place = location(&folder);
                    let found: Vec<_> = disk.list(Some(&place)).try_collect().await.unwrap();
                    assert_eq!(found.len(), 1);
                }
            }
            assert_eq!(disk.get_ranges(&at, &[0..1, 2..3]).await.unwrap().concat(), b"od");
            replace(&path, "new");
            has_changed(disk.get_range(&at, 0..1).await);
            has_changed(disk.get_ranges(&at, &[0..1]).await);
            has_changed(disk.head(&at).await);
            disk.begin();
            let found = disk.get(&at).await.unwrap().bytes().await.unwrap();
            assert_eq!(found, "new");
            replace(&path, "old");
        }
        // What was listed is what is read, if at all: plans are made of the sizes of files.
        let place = location(&folder);
        for with_folders in [false, true] {
            let disk = Disk::default();
            let listed = match with_folders {
                true => disk.list_with_delimiter(Some(&place)).await.unwrap().objects.len(),
                false => disk.list(Some(&place)).try_collect::<Vec<_>>().await.unwrap().len(),
            };
            assert_eq!(listed, 1);
            replace(&path, "newer");
            has_changed(disk.get_range(&at, 0..1).await);
        }
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranges_lie_in_the_file() {
    let folder = folder("ranges");
    let path = folder.join("a.csv");
    std::fs::write(&path, "some").unwrap();
    run(async {
        let (disk, at) = (Disk::default(), location(&path));
        let last = GetOptions { range: Some(GetRange::Suffix(2)), ..GetOptions::default() };
        assert_eq!(disk.get_opts(&at, last).await.unwrap().bytes().await.unwrap(), "me");
        assert!(disk.get_ranges(&at, &[0..5]).await.is_err());
        assert!(disk.get_ranges(&at, &[0..1 << 60]).await.is_err());
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn parts_are_written_in_their_order() {
    let folder = folder("parts");
    let path = folder.join("deep/er/a.csv");
    run(async {
        let (disk, at) = (Disk::default(), location(&path));
        for publish in [false, true] {
            let mut upload = disk.put_multipart(&at).await.unwrap();
            let parts: Vec<_> =
                ["one ", "two ", "three"].map(|part| upload.put_part(part.into())).into();
            for part in parts.into_iter().rev() {
                part.await.unwrap();
            }
            upload.complete().await.unwrap();
            drop(upload);
            disk.put(&location(&folder.join("b.csv")), "b".into()).await.unwrap();
            assert!(!path.exists());
            if publish {
                disk.publish().unwrap();
            }
            // A late one of the statement before does not get into the next.
            let mut late = disk.put_multipart(&location(&folder.join("c.csv"))).await.unwrap();
            disk.begin();
            late.put_part("late".into()).await.unwrap();
            late.complete().await.unwrap();
            disk.publish().unwrap();
            drop(late);
            let left = std::fs::read_dir(&folder).unwrap().count();
            assert_eq!(left, if publish { 2 } else { 0 });
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one two three");
    });
    std::fs::remove_dir_all(folder).unwrap();
}
