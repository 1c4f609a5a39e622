//! What the library promises, tried from outside. One program, since linking many takes longer than the tests; those
//! that count allocations, threads or processes are programs of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::field_reassign_with_default)]

#[path = "../support/counted.rs"]
mod counted;
#[path = "../support/mutate/mod.rs"]
#[expect(dead_code, reason = "each test uses a part of the engine")]
mod mutate;
#[path = "../support/small.rs"]
#[expect(dead_code, reason = "each test uses a part of the files")]
mod small;
#[path = "../support/mod.rs"]
mod support;

mod blobs;
mod cases;
mod crash;
mod depth;
mod dictionaries;
mod examples;
mod files;
mod golden;
mod io;
mod limits;
mod many;
mod no_width;
mod old;
mod options;
mod scans;
mod v2_0;
mod verify;
mod windows;
mod zone_maps;
