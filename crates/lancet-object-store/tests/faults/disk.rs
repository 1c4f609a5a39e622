//! Files on disk that change while they are read.

use object_store::local::LocalFileSystem;

use super::*;

async fn opened(folder: &std::path::Path) -> Reader {
    let store = Arc::new(LocalFileSystem::new_with_prefix(folder).unwrap());
    Reader::open(store, Path::from("t.lance")).await.unwrap()
}

#[tokio::test]
async fn a_file_that_is_replaced_stays_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, new) = (folder.path().join("t.lance"), folder.path().join("new.lance"));
    std::fs::write(&path, file(&table(1))).unwrap();
    let reader = opened(folder.path()).await;
    let before = seen(&reader).await.unwrap();
    std::fs::write(&new, file(&table(2))).unwrap();
    std::fs::rename(&new, &path).unwrap();
    assert_eq!(seen(&reader).await.unwrap(), before);
    let reader = opened(folder.path()).await;
    assert_ne!(seen(&reader).await.unwrap(), before);
    std::fs::remove_file(&path).unwrap();
    seen(&reader).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_written_over_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.lance");
    let (one, two) = (file(&table(1)), file(&table(2)));
    for bytes in [two, one[..one.len() / 2].to_vec(), vec![]] {
        std::fs::write(&path, &one).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let past = std::time::SystemTime::now() - Duration::from_secs(10);
        file.set_modified(past).unwrap();
        let reader = opened(folder.path()).await;
        seen(&reader).await.unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let error = reader.take(&[5]).await.unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{error}");
    }
}
