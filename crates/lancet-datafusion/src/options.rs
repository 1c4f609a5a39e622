//! The options of `STORED AS LANCE` and `COPY`.
//!
//! | option | value |
//! |---|---|
//! | `format.version` | 2.0, 2.1 or 2.2 |
//! | `format.profile` | fast, balanced or small |
//! | `format.page_bytes` | bytes of values after which a page is cut |
//! | `format.<option>::<column>` | an option of one column, as in the field metadata `lance-encoding:<option>` |

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use datafusion::common::config_datafusion_err;
use datafusion::error::Result;
use lancet::WriteOptions;

/// Reads the options that are for the format; the others belong to DataFusion.
pub(crate) fn write_options(given: &HashMap<String, String>) -> Result<WriteOptions> {
    let mut options = WriteOptions::default();
    for (name, value) in given {
        let Some(key) = name.strip_prefix("format.") else { continue };
        match key.split_once("::") {
            Some((key, column)) => {
                options.column(column).set(key, value).map_err(|e| invalid(name, value, e))?;
            }
            None => options = set(options, key, name, value)?,
        }
    }
    Ok(options)
}

fn set(options: WriteOptions, key: &str, name: &str, value: &str) -> Result<WriteOptions> {
    Ok(match key {
        "version" => options.with_version(parse(name, value)?),
        "profile" => options.with_profile(parse(name, value)?),
        "page_bytes" => options.with_page_bytes(parse(name, value)?),
        _ => {
            return Err(config_datafusion_err!(
                "Lance files have no option '{name}'; there are 'format.version', \
                 'format.profile', 'format.page_bytes' and 'format.<option>::<column>'"
            ));
        }
    })
}

fn parse<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|error| invalid(name, value, error))
}

fn invalid(name: &str, value: &str, error: impl Display) -> datafusion::error::DataFusionError {
    config_datafusion_err!("option '{name}' cannot be '{value}': {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str, value: &str) -> Result<WriteOptions> {
        write_options(&HashMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn options_are_read_or_refused() {
        assert_eq!(options("format.version", "2.0").unwrap().version().to_string(), "2.0");
        assert_eq!(options("format.page_bytes", "4096").unwrap().page_bytes(), 4096);
        assert!(options("format.compression::a.b", "zstd").is_ok());
        assert!(options("execution.keep_partition_by_columns", "true").is_ok());
        for (name, value) in [
            ("format.version", "9.9"),
            ("format.page_bytes", "many"),
            ("format.speed", "1"),
            ("format.speed::a", "1"),
        ] {
            let error = options(name, value).unwrap_err().to_string();
            assert!(error.contains(name) || error.contains("speed"), "{error}");
        }
    }
}
