//! Arrow schemas as the format stores them.
//!
//! | module | what |
//! |---|---|
//! | [`logical`] | the table of types: Arrow type and logical type name |
//! | [`writable`] | what each version can hold |
//! | [`fields`] | the tree of fields, flattened into messages and back |
//! | [`columns`] | which fields own a column |
//! | [`leaves`] | what the pages of these columns hold |
//! | [`projection`] | names into fields and columns |
//! | [`descriptions`] | blob fields as where their bytes are |
//! | [`to_arrow`], [`byte_array`] | decoded leaves to Arrow arrays |
//! | [`value_type`] | what the values of a leaf look like to the codecs |

#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

pub(crate) mod byte_array;
pub(crate) mod columns;
pub(crate) mod descriptions;
pub(crate) mod fields;
pub(crate) mod from_arrow;
pub(crate) mod leaves;
pub(crate) mod logical;
pub(crate) mod projection;
pub(crate) mod to_arrow;
pub(crate) mod value_type;
pub(crate) mod writable;

use crate::error::{Error, Result};

/// Fields nest at most this deep, on read and on write.
pub(crate) const MAX_DEPTH: usize = 64;

/// The key of Arrow's extension name.
pub(crate) const EXTENSION_NAME: &str = "ARROW:extension:name";
/// The key of Arrow's extension parameters.
pub(crate) const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// Names the field in an error on its way up.
fn in_field<T>(result: Result<T>, field: &str) -> Result<T> {
    let name = |text: &str| format!("field `{}`: {text}", field.escape_debug());
    result.map_err(|error| match error {
        Error::Corrupt(mut corrupt) => {
            corrupt.rule = name(&corrupt.rule);
            Error::Corrupt(corrupt)
        }
        Error::Unsupported(what) => Error::Unsupported(name(&what)),
        Error::Invalid(what) => Error::Invalid(name(&what)),
        other => other,
    })
}
