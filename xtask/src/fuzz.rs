//! Fuzz targets: seeds their corpora and runs them with `cargo fuzz`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{Result, Steps, cargo};

const TARGETS: [&str; 7] =
    ["open_and_read", "mutate_golden", "codecs", "row_ids", "table", "parquet", "write_read"];

/// Larger files only slow a fuzzer down.
const SEED_BYTES: u64 = 8 << 10;

/// `[target] [seconds]`; by default all targets, five minutes each.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (names, rest): (Vec<_>, Vec<_>) =
        arguments.iter().map(String::as_str).partition(|word| TARGETS.contains(word));
    let seconds = match rest.as_slice() {
        [] => "300",
        [seconds] if seconds.parse::<u32>().is_ok() => seconds,
        _ => return Err(format!("cargo xtask fuzz [{}] [seconds]", TARGETS.join("|"))),
    };
    let mut steps = Steps::default();
    let wanted = |target: &&str| names.is_empty() || names.contains(target);
    for target in TARGETS.into_iter().filter(wanted) {
        let corpus = root.to_path_buf();
        steps.add(&format!("corpus of {target}"), move || seed(&corpus, target));
        let mut fuzz = cargo(["fuzz", "run", target, "--"]);
        // The stable compiler takes the flags of the sanitizers when it is told to.
        fuzz.env("RUSTC_BOOTSTRAP", "1");
        fuzz.args(["-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1"]);
        fuzz.arg(format!("-max_total_time={seconds}"));
        steps.add_command(target, fuzz);
    }
    steps.run()
}

/// Copies small files that are what a target reads into its corpus.
fn seed(root: &Path, target: &str) -> Result<()> {
    let golden = root.join("../shared/golden");
    let folders: &[PathBuf] = match target {
        "open_and_read" => &[root.join("crates/lancet/tests/small"), golden.join("lance")],
        // Manifests and deletion files lie beside the sequences.
        "row_ids" | "table" => &[golden.join("row_ids")],
        "parquet" => &[golden.join("parquet_encodings")],
        _ => &[],
    };
    let corpus = root.join("fuzz/corpus").join(target);
    let failed = |error: std::io::Error| format!("{}: {error}", corpus.display());
    fs::create_dir_all(&corpus).map_err(failed)?;
    let mut count = 0;
    for file in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
        if file.metadata().is_ok_and(|found| found.is_file() && found.len() <= SEED_BYTES) {
            fs::copy(file.path(), corpus.join(file.file_name())).map_err(failed)?;
            count += 1;
        }
    }
    println!("{count} files");
    Ok(())
}
