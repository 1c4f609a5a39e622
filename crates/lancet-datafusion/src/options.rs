//! The options of `STORED AS LANCE` and `COPY`.
//!
//! | option | value |
//! |---|---|
//! | `format.version` | 2.0, 2.1 or 2.2 |
//! | `format.profile` | fast, balanced or small |
//! | `format.page_bytes` | bytes of values after which a page is cut |
//! | `format.table` | true: `COPY` makes a table, not a file |
//! | `format.<option>::<column>` | an option of one column, as in the field metadata `lance-encoding:<option>` |

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use datafusion::common::config_datafusion_err;
use datafusion::error::Result;
use lancet::WriteOptions;
use lancet_table::TableWriteOptions;

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

/// The same for a table, and whether one is to be made.
pub(crate) fn table_options(given: &HashMap<String, String>) -> Result<(TableWriteOptions, bool)> {
    let mut options = TableWriteOptions::default().with_file_options(write_options(given)?);
    // A table has a version of its own unless another one is asked for.
    if let Some(version) = given.get("format.version") {
        options = options.with_storage_version(parse("format.version", version)?);
    }
    let is_table = given.get("format.table");
    let is_table = is_table.map(|value| parse("format.table", value)).transpose()?;
    Ok((options, is_table.unwrap_or(false)))
}

fn set(options: WriteOptions, key: &str, name: &str, value: &str) -> Result<WriteOptions> {
    Ok(match key {
        "version" => options.with_version(parse(name, value)?),
        "profile" => options.with_profile(parse(name, value)?),
        "table" => options,
        "page_bytes" => options.with_page_bytes(parse(name, value)?),
        _ => {
            return Err(config_datafusion_err!(
                "Lance files have no option '{name}'; there are 'format.version', \
                 'format.profile', 'format.page_bytes', 'format.table' and 'format.<option>::<column>'"
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
        let given = HashMap::from([(name.to_owned(), value.to_owned())]);
        table_options(&given)?;
        write_options(&given)
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
            ("format.table", "perhaps"),
            ("format.speed::a", "1"),
        ] {
            let error = options(name, value).unwrap_err().to_string();
            assert!(error.contains(name) || error.contains("speed"), "{error}");
        }
    }
}
