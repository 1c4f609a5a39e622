//! What decoding costs: `costs` forces forms on columns and times scans and takes of one row.
//!
//! The constants of the writer's cost model come from here. Files lie in memory; a take is the lower
//! quartile of many, so that a busy machine shifts little. The first line of each column is the
//! plain form: what another line has more is the price of its form.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use lancet::{FileReader, FileWriter, ReadOptions, WriteOptions};

const ROWS: u64 = 500_000;
const TAKES: usize = 2_000;
const SCANS: usize = 7;
/// No other form than the one that is asked for.
const PLAIN: &str = "compression=none dict-divisor=1000000";
const ALONE: &str = "dict-divisor=1000000 rle-threshold=0";

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<9}{:<84}{:>9}{:>9}{:>12}", "column", "options", "B/value", "take ns", "scan ns/B");
    let bss = format!("bss=on {ALONE}");
    let packed = format!("general=off bss=off {ALONE}");
    let runs = "general=off bss=off dict-divisor=1000000".to_owned();
    let symbols = "compression=fsst".to_owned();
    let dictionary = "general=off".to_owned();
    let general = |scheme: &str, split: &str, size: u32| {
        format!("compression={scheme} {split} minichunk-size={size} {ALONE}")
    };
    let both = ["lz4", "zstd"];
    let sizes = [4096, 8192, 16_384, 32_768];
    let all = both.iter().flat_map(|scheme| sizes.map(|size| (*scheme, size)));
    let split: Vec<_> = all.clone().map(|(scheme, size)| general(scheme, "bss=on", size)).collect();
    let flat: Vec<_> = all.map(|(scheme, size)| general(scheme, "bss=off", size)).collect();
    for (name, column, forms) in [
        ("id", ids(), [vec![packed.clone(), bss], split.clone()].concat()),
        ("time", times(), [vec![packed], split].concat()),
        ("runs", repeated(), vec![runs]),
        ("city", cities(), vec![dictionary]),
        ("text", texts(), [vec![symbols], flat].concat()),
    ] {
        for options in [vec![PLAIN.to_owned()], forms].concat() {
            measure(name, &column, &options)?;
        }
    }
    Ok(())
}

fn measure(name: &str, column: &ArrayRef, options: &str) -> lancet::Result<()> {
    let batch = RecordBatch::try_from_iter([("c", column.clone())])?;
    let mut write = WriteOptions::default();
    for (key, value) in options.split(' ').filter_map(|option| option.split_once('=')) {
        write.column("c").set(key, value)?;
    }
    let mut writer = FileWriter::new(Vec::new(), batch.schema(), write)?;
    writer.write(&batch)?;
    let (summary, bytes) = writer.finish_into()?;
    let reader = FileReader::from_bytes(bytes, ReadOptions::default())?;
    let scan = (0..SCANS).map(|_| {
        seconds(|| Ok(reader.scan().threads(1).build()?.try_for_each(|batch| batch.map(drop))?))
    });
    let scan = scan.collect::<lancet::Result<Vec<_>>>()?.into_iter().fold(f64::MAX, f64::min);
    let row = |i: usize| i as u64 * 7919 % ROWS;
    let takes = (0..TAKES).map(|i| seconds(|| reader.take(&[row(i)]).map(drop)));
    let mut takes = takes.collect::<lancet::Result<Vec<_>>>()?;
    takes.sort_by(f64::total_cmp);
    let stored = summary.file_bytes as f64 / ROWS as f64;
    let array_bytes = column.to_data().get_slice_memory_size()? as f64;
    println!(
        "{name:<9}{options:<84}{stored:>9.2}{:>9.0}{:>12.2}",
        takes[TAKES / 4] * 1e9,
        scan * 1e9 / array_bytes
    );
    Ok(())
}

fn seconds(work: impl FnOnce() -> lancet::Result<()>) -> lancet::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Numbers that look random and are the same every time.
fn noise(i: u64) -> u64 {
    let mixed = (i ^ (i >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 31
}

fn ids() -> ArrayRef {
    Arc::new((0..ROWS as i64).map(|i| i + 1_000_000).collect::<Int64Array>())
}

fn times() -> ArrayRef {
    let at = |i: u64| 1_700_000_000_000_000 + i * 1_000_000 + noise(i) % 1_000_000;
    Arc::new((0..ROWS).map(|i| at(i) as i64).collect::<Int64Array>())
}

fn repeated() -> ArrayRef {
    Arc::new((0..ROWS).map(|i| noise(i / 20) as i64 % 1_000_000).collect::<Int64Array>())
}

fn cities() -> ArrayRef {
    let city = |i| format!("city number {}", noise(i) % 500);
    Arc::new((0..ROWS).map(|i| Some(city(i))).collect::<StringArray>())
}

fn texts() -> ArrayRef {
    const WORDS: [&str; 12] = [
        "please ",
        "leave ",
        "the ",
        "parcel ",
        "with ",
        "neighbour ",
        "behind ",
        "door ",
        "ring ",
        "twice ",
        "thanks ",
        "fragile ",
    ];
    let text = |i: u64| -> String {
        (0..4 + noise(i) % 5).map(|word| WORDS[(noise(i * 9 + word) % 12) as usize]).collect()
    };
    Arc::new((0..ROWS).map(|i| Some(text(i))).collect::<StringArray>())
}
