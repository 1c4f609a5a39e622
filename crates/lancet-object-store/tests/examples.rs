//! The examples that users copy run to their end.
#![allow(clippy::unwrap_used)]

#[path = "../examples/object_store.rs"]
mod object_store_example;

#[test]
fn a_file_goes_to_a_store_and_comes_back() {
    object_store_example::main().unwrap();
}
