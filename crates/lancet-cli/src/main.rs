//! The program `lancet`.
fn main() {}
