//! Damaged files: a result or an error, never a panic, and always an end. `LANCET_MUTANTS` says how many,
//! `LANCET_SEED` from which on.

use super::*;
use crate::small;

const LIMIT: u64 = 16 << 20;

#[tokio::test]
async fn damaged_files_end_in_results_or_errors() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (count, start) = (number("LANCET_MUTANTS", 2_000), number("LANCET_SEED", 0));
    let files = small::files();
    let mut results = 0;
    for seed in start..start + count {
        let (name, mutant) = small::mutant(&files, seed);
        let size = mutant.len() as u64;
        let (path, store) = (Path::from("t.lance"), Faulty::new(vec![], Fault::None, 0, true));
        store.set(&path, mutant).await;
        let work = tokio::spawn(all_verbs(store.clone(), path));
        let done = tokio::time::timeout(Duration::from_secs(60), work).await;
        let done = done.unwrap_or_else(|_| panic!("seed {seed}, from {name}: does not end"));
        results += done.unwrap_or_else(|error| panic!("seed {seed}, from {name}: {error}"));
        let held = store.held.most.load(Ordering::SeqCst);
        // Batches that are read ahead have the limit each; bytes that are named twice are fetched twice.
        assert!(held <= 8 * LIMIT, "seed {seed}, from {name}: {held} bytes held of {size}");
    }
    assert!(results > 0);
}

/// How many verbs had a result.
async fn all_verbs(store: Arc<Faulty>, path: Path) -> usize {
    let options = ReadOptions::default().with_memory_limit(LIMIT);
    let fetch = FetchOptions::default().with_tail_bytes(100).with_latency(Duration::ZERO);
    let Ok(reader) = Reader::open_with(store, path, options, fetch).await else { return 0 };
    let rows = reader.num_rows();
    let mut results = 0;
    results += usize::from(reader.take(&[0, rows.saturating_sub(1)]).await.is_ok());
    results += usize::from(reader.inspect().await.is_ok());
    results += usize::from(reader.verify().await.is_ok());
    results += usize::from(reader.user_buffers().await.is_ok());
    let names: Vec<String> =
        reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    results += usize::from(reader.zone_maps(&names).await.is_ok());
    if let Some(name) = names.first() {
        let filter = Filter::is_not_null(name.clone());
        results += usize::from(reader.prune(&filter).await.is_ok());
        let rows = 0..rows.min(10_000);
        if let Ok(found) = reader.scan().rows(rows).filter(filter).stream().await {
            results += usize::from(found.try_collect::<Vec<_>>().await.is_ok());
        }
        if let Ok(blobs) = reader.blobs(name).await {
            results += usize::from(blobs.read(0, ..).await.is_ok());
        }
    }
    // A file may claim any number of rows; some of them are enough.
    let scan = reader.scan().rows(0..rows.min(10_000)).batch_rows(100);
    if let Ok(batches) = scan.stream().await {
        results += usize::from(batches.try_collect::<Vec<_>>().await.is_ok());
    }
    results
}
