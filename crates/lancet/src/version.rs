//! Format versions and the numbers that stand for them in the footer.
//!
//! | version | written as | read from |
//! |---|---|---|
//! | 2.0 | (0, 3) | (0, 3), (2, 0) |
//! | 2.1 | (2, 1) | (2, 1) |
//! | 2.2 | (2, 2) | (2, 2) |

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

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

impl Version {
    /// The version of a footer.
    pub(crate) fn from_footer(major: u16, minor: u16) -> Result<Self> {
        match (major, minor) {
            (0, 3) | (2, 0) => Ok(Self::V2_0),
            (2, 1) => Ok(Self::V2_1),
            (2, 2) => Ok(Self::V2_2),
            (0, 0..=2) => Err(Error::unsupported(format!(
                "the file has the legacy format 1 (footer version {major}.{minor}); \
                 rewrite it with the reference implementation as 2.1 or 2.2"
            ))),
            (2, 3) => Err(Error::unsupported(
                "the file has format 2.3, which is not stable yet; rewrite it as 2.2",
            )),
            _ => Err(Error::unsupported(format!(
                "the file has the unknown format version {major}.{minor}; \
                 lancet reads 2.0, 2.1 and 2.2, so rewrite it as one of these"
            ))),
        }
    }

    /// The numbers written in the footer.
    pub(crate) fn to_footer(self) -> (u16, u16) {
        match self {
            Self::V2_0 => (0, 3),
            Self::V2_1 => (2, 1),
            Self::V2_2 => (2, 2),
        }
    }
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
                "format version `{text}` does not exist; choose 2.0, 2.1 or 2.2"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footer_numbers() {
        for version in [Version::V2_0, Version::V2_1, Version::V2_2] {
            let (major, minor) = version.to_footer();
            assert_eq!(Version::from_footer(major, minor).unwrap(), version);
            assert_eq!(version.to_string().parse::<Version>().unwrap(), version);
        }
        assert_eq!(Version::V2_0.to_footer(), (0, 3));
        assert_eq!(Version::from_footer(2, 0).unwrap(), Version::V2_0);
    }

    #[test]
    fn refused_versions_say_what_to_do() {
        for (major, minor, advice) in [
            (0, 0, "legacy format 1"),
            (0, 2, "rewrite it with the reference"),
            (2, 3, "rewrite it as 2.2"),
            (0, 4, "unknown format version 0.4"),
            (3, 0, "unknown format version 3.0"),
        ] {
            let error = Version::from_footer(major, minor).unwrap_err();
            assert!(matches!(error, Error::Unsupported(_)));
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
