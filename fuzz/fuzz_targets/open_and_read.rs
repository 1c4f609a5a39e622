//! Any bytes as a file.
#![no_main]

#[path = "read.rs"]
mod read;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read::everything(bytes));
