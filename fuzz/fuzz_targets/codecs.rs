//! One decoder at a time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lancet::fuzzing::decode(bytes));
