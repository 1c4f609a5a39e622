//! A tiny file that claims more rows than anyone can wait for.

use std::path::Path;

use crate::lancet::Dir;
use crate::mutate::file::Parts;
use crate::mutate::wire::{self, Kind};

/// Writes over the first number that is `from`.
fn renumber(message: &[u8], from: u64, to: u64) -> Vec<u8> {
    let site = wire::sites(message).into_iter().find(|site| site.kind == Kind::Number(from));
    wire::set_number(message, &site.unwrap(), to).unwrap()
}

/// A Lance file with one column of nulls, which need no bytes.
pub fn nulls(rows: u64) -> Vec<u8> {
    let small = "../lancet/tests/small/all_null_v22.lance";
    let file = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(small)).unwrap();
    let mut parts = Parts::split(&file).unwrap();
    parts.descriptor = renumber(&parts.descriptor, 4, rows);
    parts.columns[0] = renumber(&parts.columns[0], 4, rows);
    parts.join()
}

/// A directory with `endless.lance`.
pub fn dir(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("endless.lance", nulls(1 << 62));
    dir
}

#[test]
fn what_would_never_end_is_refused() {
    let dir = dir("endless-refused");
    let claim = "endless.lance: claims 4,611,686,018,427,387,904 rows in 210 B";
    for target in ["out.csv", "out.lance"] {
        let message = dir.lancet(&format!("convert endless.lance {target}")).failed();
        assert!(message.starts_with(claim) && message.contains("--any-rows"), "{message}");
    }
    let message = dir.lancet("cat endless.lance -o out.csv").failed();
    assert!(message.contains("claims") && message.contains("--limit"), "{message}");
    let message = dir.lancet("analyze endless.lance --full").failed();
    assert!(message.starts_with(claim) && message.ends_with("leave out --full"), "{message}");
    assert_eq!(dir.files(), ["endless.lance"]);
}

#[test]
fn what_looks_at_a_part_ends() {
    let dir = dir("endless-parts");
    let report = dir.lancet("analyze endless.lance --sample-rows 1024").ok();
    assert!(report.contains(" 1,024 looked at"), "{report}");
    for command in [
        "verify",
        "stats",
        "inspect",
        "schema",
        "cat",
        "take --rows 4611686018427387903",
        "report --analyze -o -",
    ] {
        dir.lancet(&format!("{command} endless.lance")).ok();
    }
    dir.lancet("cat endless.lance --limit 5 -o few.csv").ok();
    assert_eq!(dir.read("few.csv").lines().count(), 6);
    let all = "endless.lance endless.lance endless.lance endless.lance endless.lance";
    assert!(dir.lancet(&format!("cat {all} --limit 2")).ok().contains("2 of "));
}

/// It would take years; what it holds after some seconds is all that it ever holds.
#[test]
#[cfg(all(feature = "sql", target_os = "linux"))]
fn a_sum_over_all_rows_holds_little() {
    use std::time::{Duration, Instant};

    const MOST_KIB: u64 = 400 << 10;
    let dir = Dir::new("endless-sum");
    dir.write("endless.lance", nulls(1 << 40));
    let mut command = dir.command("sql --threads 2");
    let mut child = command.arg("SELECT sum(x) FROM 'endless.lance'").spawn().unwrap();
    let (end, mut most) = (Instant::now() + Duration::from_secs(6), 0);
    while Instant::now() < end && most < MOST_KIB {
        std::thread::sleep(Duration::from_millis(20));
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        most = peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(most > 10 << 10, "{most} KiB is less than the program");
    assert!(most < MOST_KIB, "{most} KiB");
}

#[test]
fn many_nulls_are_not_too_many() {
    let dir = Dir::new("endless-nulls");
    dir.write("nulls.lance", nulls(3_000_000));
    dir.lancet("convert nulls.lance copy.lance").ok();
    assert!(dir.lancet("schema copy.lance").ok().contains("3,000,000 rows"));
}

#[test]
fn nulls_of_arrow_take_no_bytes_either() {
    use arrow_array::{NullArray, RecordBatch};
    let dir = Dir::new("endless-arrow");
    let nulls = NullArray::new(1_234_567);
    let batch = RecordBatch::try_from_iter([("a", std::sync::Arc::new(nulls) as _)]).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let stream = writer.into_inner().unwrap();
    dir.write("sound.arrows", &stream);
    assert!(dir.lancet("analyze sound.arrows").ok().contains("1,234,567 rows"));
    // The length of the batch and of its column.
    let (from, to) = (1_234_567_i64.to_le_bytes(), (1_i64 << 62).to_le_bytes());
    let mut forged = stream;
    for at in 0..forged.len() - 8 {
        if forged[at..at + 8] == from {
            forged[at..at + 8].copy_from_slice(&to);
        }
    }
    dir.write("forged.arrows", forged);
    for args in
        ["convert forged.arrows out.csv", "analyze forged.arrows", "analyze forged.arrows --full"]
    {
        let message = dir.lancet(args).failed();
        assert!(message.contains("claims 4,611,686,018,427,387,904 rows"), "{args}: {message}");
    }
    dir.lancet("cat forged.arrows --limit 3").ok();
}
