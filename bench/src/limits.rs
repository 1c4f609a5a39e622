//! What the machine itself can do, on one core: the floors that no reader gets below.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use fastlanes::BitPacking;

use crate::results::Limit;
use crate::table::random::Random;
use crate::table::text::Words;

/// Bytes copied and read.
const BYTES: usize = 256 << 20;
/// Bytes of the text that is compressed, and of the blocks it is cut into.
const TEXT_BYTES: usize = 8 << 20;
const BLOCK: usize = 64 << 10;
/// Every measurement is the best of this many.
const ROUNDS: usize = 5;

/// Measures all limits; `folder` holds the file that is read.
pub fn measure(folder: &Path) -> Result<Vec<Limit>> {
    let mut limits = memory();
    limits.extend(reads(folder)?);
    limits.extend(unpacking());
    limits.extend(decompression()?);
    Ok(limits)
}

fn memory() -> Vec<Limit> {
    let source = vec![1_u8; BYTES];
    let mut target = vec![2_u8; BYTES];
    let warm = seconds(|| {
        target.copy_from_slice(black_box(&source));
        // Otherwise nobody needs the copy, and none is made.
        black_box(&mut target);
    });
    let fresh = seconds(|| drop(black_box(source.clone())));
    vec![
        rate("memcpy, 256 MiB into warm memory", BYTES, warm),
        rate("memcpy, 256 MiB into fresh memory", BYTES, fresh),
    ]
}

fn reads(folder: &Path) -> Result<Vec<Limit>> {
    let path = folder.join("limits");
    std::fs::write(&path, vec![3_u8; BYTES])?;
    let file = File::open(&path)?;
    let mut piece = vec![0_u8; 1 << 20];
    let mut failed = Ok(());
    let mut keep = |result: std::io::Result<()>| {
        if result.is_err() {
            failed = result;
        }
    };
    let whole = seconds(|| {
        for at in (0..BYTES).step_by(piece.len()) {
            keep(file.read_exact_at(&mut piece, at as u64));
        }
    });
    const PREADS: usize = 20_000;
    let mut random = Random::new(1);
    let mut page = [0_u8; 4096];
    let single = seconds(|| {
        for _ in 0..PREADS {
            let at = random.below((BYTES / page.len()) as u64) * page.len() as u64;
            keep(file.read_exact_at(&mut page, at));
        }
    });
    failed?;
    std::fs::remove_file(&path)?;
    let single = Limit {
        name: "pread of 4 KiB at random, page cache".into(),
        value: single / PREADS as f64 * 1e9,
        unit: "ns".into(),
    };
    Ok(vec![rate("pread of 1 MiB pieces, page cache", BYTES, whole), single])
}

/// FastLanes: 13 bits to 32, over blocks that stay in the cache.
fn unpacking() -> Vec<Limit> {
    const WIDTH: usize = 13;
    const BLOCKS: usize = 64;
    const TIMES: usize = 200;
    let mut random = Random::new(2);
    let packed: Vec<u32> = (0..BLOCKS * 32 * WIDTH).map(|_| random.next() as u32).collect();
    let mut output = vec![0_u32; BLOCKS * 1024];
    let time = seconds(|| {
        for _ in 0..TIMES {
            let blocks = packed.chunks_exact(32 * WIDTH).zip(output.chunks_exact_mut(1024));
            for (packed, output) in blocks {
                // SAFETY: a block is 1,024 values of 13 bits, and the output has room for them.
                unsafe { u32::unchecked_unpack(WIDTH, packed, output) };
            }
            black_box(&mut output);
        }
    });
    vec![rate("FastLanes unpack, 13 to 32 bits, output", TIMES * output.len() * 4, time)]
}

fn decompression() -> Result<Vec<Limit>> {
    let mut random = Random::new(3);
    let words = Words::new(&mut random, 4_000);
    let mut text = String::new();
    words.fill(&mut random, &mut text, TEXT_BYTES);
    let blocks: Vec<&[u8]> = text.as_bytes().chunks(BLOCK).collect();
    let lz4: Vec<Vec<u8>> = blocks.iter().map(|block| lz4_flex::compress(block)).collect();
    let zstd = blocks.iter().map(|block| zstd::bulk::compress(block, 3));
    let zstd = zstd.collect::<std::io::Result<Vec<_>>>()?;
    let mut output = vec![0_u8; BLOCK];
    let lz4_time = seconds(|| {
        for block in &lz4 {
            let _ = black_box(lz4_flex::block::decompress_into(block, &mut output));
        }
    });
    let mut decoder = zstd::bulk::Decompressor::new()?;
    let zstd_time = seconds(|| {
        for block in &zstd {
            let _ = black_box(decoder.decompress_to_buffer(block, &mut output));
        }
    });
    Ok(vec![
        rate("LZ4 decode, 64 KiB blocks of text", text.len(), lz4_time),
        rate("zstd decode, 64 KiB blocks of text", text.len(), zstd_time),
    ])
}

/// The shortest of several calls.
fn seconds(mut call: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min)
}

fn rate(name: &str, bytes: usize, seconds: f64) -> Limit {
    Limit { name: name.into(), value: bytes as f64 / seconds / 1e9, unit: "GB/s".into() }
}
