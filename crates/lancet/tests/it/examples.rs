//! The examples that users copy run to their end.

#[path = "../../examples/blobs.rs"]
mod blobs;
#[path = "../../examples/filter.rs"]
mod filter;
#[path = "../../examples/take.rs"]
mod take;
#[path = "../../examples/write_stream.rs"]
mod write_stream;

#[test]
fn a_stream_is_written() {
    write_stream::main().unwrap();
}

#[test]
fn rows_are_taken() {
    take::main().unwrap();
}

#[test]
fn rows_are_filtered() {
    filter::main().unwrap();
}

#[test]
fn parts_of_blobs_are_read() {
    blobs::main().unwrap();
}
