//! What several tests are made of: reading a file in every way, and comparing.

pub mod compare;
pub mod reading;
pub mod select;

use std::fmt;

/// How a case went wrong.
#[derive(Debug)]
pub enum Failure {
    /// lancet says that it does not handle this. Right for the cases listed as such.
    Unsupported(String),
    /// Anything else is a defect.
    Wrong(String),
}

/// The outcome of a check.
pub type Check<T = ()> = Result<T, Failure>;

impl Failure {
    /// An error of lancet, and what it was doing.
    pub fn from_error(doing: &str, error: &lancet::Error) -> Self {
        match error {
            lancet::Error::Unsupported(_) => Self::Unsupported(format!("{doing}: {error}")),
            _ => Self::Wrong(format!("{doing}: {error}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(what) | Self::Wrong(what) => f.write_str(what),
        }
    }
}

/// Names the operation that a lancet call was part of.
pub trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Check<T>;
}

impl<T> Doing<T> for lancet::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Check<T> {
        self.map_err(|error| Failure::from_error(&what(), &error))
    }
}

/// A small generator of numbers: the same ones on every run (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Starts from a name, so that a case draws the same numbers whatever stands around it.
    pub fn seeded(name: &str) -> Self {
        Self(name.bytes().fold(0x9e37_79b9, |seed, byte| seed * 31 % (1 << 56) + u64::from(byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..end`; 0 when that is empty.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
