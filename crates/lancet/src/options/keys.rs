//! The options as text, as they stand in field metadata.
//!
//! | key (after `lance-encoding:`) | values |
//! |---|---|
//! | `compression` | `none`, `lz4`, `zstd`, `fsst` |
//! | `compression-level` | -7 to 22 |
//! | `rle-threshold` | 0 to 1 |
//! | `bss` | `off`, `on`, `auto` |
//! | `dict-divisor` | a whole number from 1 on |
//! | `dict-size-ratio` | above 0, up to 1 |
//! | `dict-max-size` | bytes |
//! | `dict-values-compression` | `none`, `lz4`, `zstd` |
//! | `dict-values-compression-level` | -7 to 22 |
//! | `minichunk-size` | bytes |
//! | `general` | `off`, `on` |
//! | `packed` | yes: `1`, `true`, `on`, `yes`, `y`; everything else is no |
//! | `structural-encoding` | `miniblock`, `fullzip`; of top-level fields only |
//!
//! The reference does not know `general`, although its documentation lists it. Here `off` means
//! neither LZ4 nor Zstandard, `on` the smaller of the two wherever it shrinks.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::{ByteStreamSplit, ColumnOptions, Compression, StructuralEncoding};
use crate::error::{Error, Result};
use crate::schema::columns::is_truthy;

const PREFIX: &str = "lance-encoding:";
const LEVELS: RangeInclusive<i32> = -7..=22;

const KEYS: [&str; 13] = [
    "compression",
    "compression-level",
    "rle-threshold",
    "bss",
    "dict-divisor",
    "dict-size-ratio",
    "dict-max-size",
    "dict-values-compression",
    "dict-values-compression-level",
    "minichunk-size",
    "general",
    "packed",
    "structural-encoding",
];

/// The options in the metadata of a field. Keys that are no options mean nothing here.
pub(crate) fn from_metadata(
    metadata: &HashMap<String, String>,
    field: &str,
) -> Result<ColumnOptions> {
    let mut options = ColumnOptions::default();
    for key in KEYS {
        if let Some(value) = metadata.get(&format!("{PREFIX}{key}")) {
            set(&mut options, key, value).map_err(|error| match error {
                Error::Invalid(message) => Error::invalid(format!("field `{field}`: {message}")),
                other => other,
            })?;
        }
    }
    Ok(options)
}

/// Sets one option.
pub(super) fn set(options: &mut ColumnOptions, key: &str, value: &str) -> Result<()> {
    let text = Text { key: key.strip_prefix(PREFIX).unwrap_or(key), value };
    match text.key {
        "compression" => options.compression = Some(text.one_of(&COMPRESSIONS)?.require()?),
        "compression-level" => options.level = Some(text.level()?),
        "rle-threshold" => {
            options.rle_threshold = Some(text.number("0 to 1", |v| (0.0..=1.0).contains(v))?);
        }
        "bss" => options.bss = Some(text.one_of(&MODES)?),
        "dict-divisor" => {
            options.dict_divisor = Some(text.number("whole numbers from 1 on", |v| *v >= 1)?);
        }
        "dict-size-ratio" => {
            let ratio = text.number("numbers above 0, up to 1", |v| *v > 0.0 && *v <= 1.0)?;
            options.dict_size_ratio = Some(ratio);
        }
        "dict-max-size" => options.dict_max_size = Some(text.number("bytes, from 0 on", |_| true)?),
        "dict-values-compression" => {
            let known = &COMPRESSIONS[..COMPRESSIONS.len() - 1];
            options.dict_values_compression = Some(text.one_of(known)?.require()?);
        }
        "dict-values-compression-level" => options.dict_values_level = Some(text.level()?),
        "minichunk-size" => {
            let bytes = text.number("bytes, 1 to 1048576", |v| (1..=1 << 20).contains(v))?;
            options.minichunk_size = Some(bytes);
        }
        "general" => options.general = Some(text.one_of(&[("off", false), ("on", true)])?),
        "packed" => options.packed = Some(is_truthy(value)),
        "structural-encoding" => options.structural_encoding = Some(text.one_of(&LAYOUTS)?),
        other => {
            let known = KEYS.join(", ");
            return Err(Error::invalid(format!("there is no option `{other}`; there are {known}")));
        }
    }
    Ok(())
}

/// The last one is for values only.
const COMPRESSIONS: [(&str, Compression); 4] = [
    ("none", Compression::None),
    ("lz4", Compression::Lz4),
    ("zstd", Compression::Zstd),
    ("fsst", Compression::Fsst),
];
const MODES: [(&str, ByteStreamSplit); 3] =
    [("off", ByteStreamSplit::Off), ("on", ByteStreamSplit::On), ("auto", ByteStreamSplit::Auto)];
const LAYOUTS: [(&str, StructuralEncoding); 2] =
    [("miniblock", StructuralEncoding::MiniBlock), ("fullzip", StructuralEncoding::FullZip)];

struct Text<'a> {
    key: &'a str,
    value: &'a str,
}

impl Text<'_> {
    fn one_of<T: Copy>(&self, known: &[(&str, T)]) -> Result<T> {
        let found = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(self.value));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            self.wrong(&names.join(", "))
        })
    }

    fn level(&self) -> Result<i32> {
        self.number("whole numbers from -7 to 22", |level| LEVELS.contains(level))
    }

    fn number<T: std::str::FromStr>(&self, allowed: &str, fits: impl Fn(&T) -> bool) -> Result<T> {
        self.value.trim().parse().ok().filter(fits).ok_or_else(|| self.wrong(allowed))
    }

    fn wrong(&self, allowed: &str) -> Error {
        let Self { key, value } = self;
        Error::invalid(format!("`{PREFIX}{key}` cannot be `{value}`; allowed are {allowed}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(key: &str, value: &str) -> String {
        set(&mut ColumnOptions::default(), key, value).unwrap_err().to_string()
    }

    #[test]
    fn every_key_takes_its_values() {
        let mut options = ColumnOptions::default();
        for (key, value) in [
            ("compression", "fsst"),
            ("lance-encoding:compression-level", "-3"),
            ("rle-threshold", "0.25"),
            ("bss", "ON"),
            ("dict-divisor", "7"),
            ("dict-size-ratio", "1"),
            ("dict-max-size", "0"),
            ("dict-values-compression", "none"),
            ("dict-values-compression-level", "19"),
            ("minichunk-size", "8192"),
            ("general", "off"),
            ("packed", "yes"),
            ("structural-encoding", "FullZip"),
        ] {
            options.set(key, value).unwrap();
        }
        let expected = ColumnOptions::default()
            .with_compression(Compression::Fsst)
            .with_level(-3)
            .with_rle_threshold(0.25)
            .with_bss(ByteStreamSplit::On)
            .with_dict_divisor(7)
            .with_dict_size_ratio(1.0)
            .with_dict_max_size(0)
            .with_dict_values_compression(Compression::None)
            .with_dict_values_level(19)
            .with_minichunk_size(8192)
            .with_general(false)
            .with_packed(true)
            .with_structural_encoding(StructuralEncoding::FullZip);
        assert_eq!(options, expected);
        expected.check().unwrap();
    }

    #[test]
    fn wrong_values_are_named_with_what_is_allowed() {
        assert_eq!(
            message("bss", "maybe"),
            "`lance-encoding:bss` cannot be `maybe`; allowed are off, on, auto"
        );
        assert!(message("compression", "gzip").ends_with("none, lz4, zstd, fsst"));
        assert!(message("dict-values-compression", "fsst").ends_with("none, lz4, zstd"));
        for (key, value) in [
            ("compression-level", "23"),
            ("compression-level", "high"),
            ("rle-threshold", "1.5"),
            ("rle-threshold", "nan"),
            ("dict-divisor", "0"),
            ("dict-size-ratio", "0"),
            ("dict-max-size", "-1"),
            ("minichunk-size", "0"),
            ("general", "yes"),
            ("structural-encoding", "zip"),
        ] {
            assert!(message(key, value).contains("allowed are"), "{key} {value}");
        }
        assert!(message("speed", "1").contains("dict-divisor"));
        let by_number = ColumnOptions::default().with_rle_threshold(f64::NAN);
        assert!(by_number.check().is_err());
    }

    #[test]
    fn metadata_of_other_programs_is_left_alone() {
        let metadata = |key: &str, value: &str| [(key.into(), value.into())].into();
        let options = from_metadata(&metadata("lance-encoding:other", "x"), "a").unwrap();
        assert_eq!(options, ColumnOptions::default());
        let error = from_metadata(&metadata("lance-encoding:bss", "x"), "a").unwrap_err();
        assert!(error.to_string().starts_with("field `a`: `lance-encoding:bss`"));
    }
}
