//! What it costs to compare all reads with the checksums: scans and takes with and without it, in turn.
//!
//! The file lies on disk, in the system's cache. A time is the best of several, so that a busy machine shifts
//! little.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, FixedSizeListArray, Int64Array, RecordBatch, StringArray};
use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};

const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<10}{:>10}{:>14}{:>14}{:>8}", "column", "", "without", "with", "ratio");
    let path = std::env::temp_dir().join(format!("lancet-checksums-{}.lance", std::process::id()));
    for (name, column) in [("numbers", numbers()), ("text", texts()), ("vectors", vectors())] {
        measure(name, column, &path)?;
    }
    std::fs::remove_file(path)?;
    Ok(())
}

fn measure(name: &str, column: ArrayRef, path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let batch = RecordBatch::try_from_iter([("c", column)])?;
    let mut writer = FileWriter::create(path, batch.schema(), WriteOptions::default())?;
    writer.write(&batch)?;
    writer.finish()?;
    let checked = ReadOptions::default().with_verify_checksums(true);
    let readers = [FileReader::open(path)?, FileReader::open_with(path, checked)?];
    let rows = readers[0].num_rows();
    let some = |count: u64| (0..count).map(|i| i * 48_271 % rows).collect::<Vec<u64>>();
    let (one, hundred, many) = (some(1_000), some(100), some(10_000));
    type Work<'a> = Box<dyn Fn(&FileReader) -> lancet::Result<()> + 'a>;
    let work: [(&str, u32, Work<'_>); 4] = [
        (
            "scan",
            1,
            Box::new(|r| r.scan().build()?.try_for_each(|b| b.map(drop)).map_err(Into::into)),
        ),
        ("take 1", 1_000, Box::new(|r| one.iter().try_for_each(|row| r.take(&[*row]).map(drop)))),
        ("take 100", 1, Box::new(|r| r.take(&hundred).map(drop))),
        ("take 10k", 1, Box::new(|r| r.take(&many).map(drop))),
    ];
    for (what, times, work) in work {
        let mut best = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (reader, best) in readers.iter().zip(&mut best) {
                let start = Instant::now();
                work(reader)?;
                *best = start.elapsed().min(*best);
            }
        }
        let [without, with] = best.map(|time| time / times);
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        println!("{name:<10}{what:>10}{without:>14.1?}{with:>14.1?}{ratio:>8.2}");
    }
    Ok(())
}

fn numbers() -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((0..4_000_000).map(|i| i * 48_271 % 2_147_483_647)))
}

fn texts() -> ArrayRef {
    let word =
        |i: u64| ["a lancet is", "a small", "sharp knife", "for fine cuts"][(i % 4) as usize];
    let text =
        |i: u64| format!("{} {} {} {}", word(i / 7), i * 48_271 % 65_537, word(i), word(i / 3));
    Arc::new(StringArray::from_iter_values((0..500_000).map(text)))
}

fn vectors() -> ArrayRef {
    let vector =
        |i: u32| Some((0..256).map(|k| Some((i.wrapping_mul(k * 31)) as f32)).collect::<Vec<_>>());
    let vectors = (0..50_000).map(vector);
    Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 256))
}
