//! What `lancet --version` prints: the version, the formats, and what was built in.

use std::sync::LazyLock;

/// Versions of the Lance file format that are read and written.
const FORMATS: [&str; 3] = ["2.0", "2.1", "2.2"];

/// What can be built in, and whether it is.
const FEATURES: [(&str, bool); 2] =
    [("sql", cfg!(feature = "sql")), ("cloud", cfg!(feature = "cloud"))];

/// `0.1.0 (Lance files 2.0, 2.1, 2.2; features: sql)`
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let built_in: Vec<&str> =
        FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let features = if built_in.is_empty() { "none".into() } else { built_in.join(", ") };
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} (Lance files {}; features: {features})", FORMATS.join(", "))
});

#[cfg(test)]
mod tests {
    use lancet::Version;

    use super::*;

    #[test]
    fn the_library_has_these_formats_and_no_later_one() {
        for format in FORMATS {
            assert_eq!(format.parse::<Version>().unwrap().to_string(), format);
        }
        assert_eq!(FORMATS.last().unwrap().parse::<Version>().unwrap(), Version::default());
        assert!("2.3".parse::<Version>().is_err());
    }
}
