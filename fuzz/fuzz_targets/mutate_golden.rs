//! Small files with a few changes that keep their structure; the input makes the choices.
#![no_main]

#[path = "../../crates/lancet/tests/support/mutate/mod.rs"]
#[allow(dead_code)]
mod mutate;
#[path = "read.rs"]
mod read;

use std::sync::OnceLock;

static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();

fn files() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/lancet/tests/small");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let files = FILES.get_or_init(files);
    let mut rest = bytes;
    // Small choices take a byte, so that the fuzzer can change one without moving the others.
    let mut draw = |end: usize| {
        let width = if end <= 256 { 1 } else { 8 };
        let (taken, later) = rest.split_at(width.min(rest.len()));
        rest = later;
        let number = taken.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number as usize % end.max(1)
    };
    let (file, other) = (&files[draw(files.len())], &files[draw(files.len())]);
    read::everything(&mutate::random(file, other, &mut draw));
});
