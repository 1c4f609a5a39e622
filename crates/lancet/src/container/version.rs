//! Format versions and the numbers that stand for them in the footer.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A version of the Lance file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Version {
    /// 2.0: array encodings.
    V2_0,
    /// 2.1: page layouts, chunks of up to 32 KiB.
    V2_1,
    /// 2.2: also maps, large chunks and constant pages.
    #[default]
    V2_2,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V2_0 => "2.0",
            Self::V2_1 => "2.1",
            Self::V2_2 => "2.2",
        })
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "2.0" => Ok(Self::V2_0),
            "2.1" => Ok(Self::V2_1),
            "2.2" => Ok(Self::V2_2),
            _ => Err(Error::invalid(format!(
                "format version `{text}` does not exist; choose 2.1 or 2.2"
            ))),
        }
    }
}
