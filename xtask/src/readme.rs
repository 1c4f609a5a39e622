//! The examples of the README at the root, compiled with the others. They stand here because a package
//! that is published cannot reach out of its folder.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
