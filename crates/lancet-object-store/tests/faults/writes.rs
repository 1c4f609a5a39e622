//! Writes that fail, or are given up.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use lancet_object_store::Writer;

use super::*;

async fn write(store: &Arc<Faulty>, path: &Path, table: &RecordBatch) -> Result<(), Error> {
    let mut writer =
        Writer::new(store.clone(), path, table.schema(), WriteOptions::default()).await?;
    for start in (0..table.num_rows()).step_by(1 << 20) {
        writer.write(&table.slice(start, (1 << 20).min(table.num_rows() - start))).await?;
    }
    writer.finish().await?;
    Ok(())
}

/// Some parts long.
fn long_table(rows: i64) -> RecordBatch {
    let ids = numbers(rows, 1);
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap()
}

/// Waits until nothing is left of uploads.
async fn cleaned(store: &Faulty, what: &str) {
    for _ in 0..10_000 {
        if store.uploads.open.load(Ordering::SeqCst) == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{what}: an upload is left");
}

#[tokio::test]
async fn a_failed_write_leaves_what_was_there() {
    let (path, table) = (Path::from("t.lance"), long_table(1_500_000));
    let sound = Faulty::new(vec![], Fault::None, 0, true);
    write(&sound, &path, &table).await.unwrap();
    let whole = sound.bytes(&path).await.unwrap();
    // The start, three parts, and the end.
    for (fault, at) in
        [Fault::Fail, Fault::Late].into_iter().flat_map(|f| (0..5).map(move |at| (f, at)))
    {
        let store = Faulty::new(vec![], fault, at, true);
        store.set(&path, &b"old"[..]).await;
        let done = write(&store, &path, &table).await;
        assert_eq!(done.is_err(), fault == Fault::Fail, "{fault:?} at {at}");
        cleaned(&store, &format!("{fault:?} at {at}")).await;
        let there = store.bytes(&path).await.unwrap();
        let expected = if done.is_ok() { &whole[..] } else { b"old" };
        assert!(there == expected, "{fault:?} at {at}");
    }
}

/// A part that did not arrive is not forgotten: the file cannot be finished without it.
#[tokio::test]
async fn a_writer_that_failed_stays_failed() {
    let (path, table) = (Path::from("t.lance"), long_table(1_500_000));
    let store = Faulty::new(vec![], Fault::Fail, 1, true);
    let mut writer =
        Writer::new(store.clone(), &path, table.schema(), WriteOptions::default()).await.unwrap();
    let mut failed = 0;
    for _ in 0..5 {
        failed += usize::from(writer.write(&table).await.is_err());
    }
    assert!(failed > 0);
    assert!(writer.finish().await.is_err());
    assert!(store.bytes(&path).await.is_none());
    cleaned(&store, "failed").await;
}

#[tokio::test]
async fn a_write_that_is_given_up_is_taken_back() {
    let (path, table) = (Path::from("t.lance"), long_table(1_500_000));
    let mut polls = 0;
    loop {
        let store = Faulty::new(vec![], Fault::None, 0, true);
        store.set(&path, &b"old"[..]).await;
        let done = {
            let mut write = pin!(write(&store, &path, &table));
            let mut left = polls;
            std::future::poll_fn(|context: &mut Context<'_>| match write.as_mut().poll(context) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending if left == 0 => Poll::Ready(None),
                Poll::Pending => {
                    left -= 1;
                    Poll::Pending
                }
            })
            .await
        };
        cleaned(&store, &format!("{polls} polls")).await;
        if done.is_some() {
            break;
        }
        // Given up while it is completed, it may be there.
        assert_ne!(store.bytes(&path).await.unwrap().len(), 0);
        polls += 1;
    }
    assert!(polls > 3, "{polls}");
}

#[tokio::test]
async fn at_most_eight_parts_are_under_way() {
    let (path, table) = (Path::from("t.lance"), long_table(8_000_000));
    let store = Faulty::new(vec![], Fault::None, 0, true);
    let mut writer =
        Writer::new(store.clone(), &path, table.schema(), WriteOptions::default()).await.unwrap();
    writer.write(&table).await.unwrap();
    writer.finish().await.unwrap();
    let most = store.uploads.most.load(Ordering::SeqCst);
    assert!((2..=8).contains(&most), "{most}");
    let reader = Reader::open(store, path).await.unwrap();
    assert_eq!(reader.take(&[7_999_999]).await.unwrap(), table.slice(7_999_999, 1));
}
