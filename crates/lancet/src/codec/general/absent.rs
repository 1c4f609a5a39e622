//! Stands in for a compressor that was left out. [`Scheme::require`](super::Scheme::require) has
//! refused before any of this is called.

#![allow(dead_code, reason = "each compressor has some of these functions")]

use super::Unit;
use crate::error::{Error, Result};

fn absent() -> Error {
    Error::unsupported("a compressor that this build of lancet leaves out")
}

pub(super) fn parse(_unit: &[u8]) -> Result<Unit<'_>> {
    Err(absent())
}

pub(super) fn decompress(_payload: &[u8], _out: &mut [u8]) -> Result<usize> {
    Err(absent())
}

pub(super) fn decompress_unsized(
    _unit: &Unit<'_>,
    _max_bytes: u64,
    _out: &mut Vec<u8>,
) -> Result<()> {
    Err(absent())
}

pub(super) fn compress(_bytes: &[u8], _out: &mut Vec<u8>) -> Result<()> {
    Err(absent())
}

pub(super) fn compress_parts(
    _level: Option<i32>,
    _bytes: &[u8],
    _first: usize,
    _next: usize,
    _out: &mut Vec<u8>,
) -> Result<()> {
    Err(absent())
}
