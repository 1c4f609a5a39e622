//! Pages in words.

use std::fmt;

use super::array::{Array, Shape};
use super::column::{ArrayPage, Content};
use super::stream::{Form, Stream};
use super::strings::Strings;

impl ArrayPage {
    /// What the page holds: the kind, and its encoding outermost first.
    pub(crate) fn describe(&self) -> (&'static str, String) {
        match &self.content {
            Content::Struct => ("struct", "no values".into()),
            Content::List { ends, num_items, .. } => {
                ("list", format!("ends of lists of {num_items} items, {}", ends.words))
            }
            Content::Array(array) => match &array.shape {
                Shape::Blob(_) => ("blob", array.to_string()),
                _ => ("array", array.to_string()),
            },
        }
    }

    /// What each buffer holds.
    pub(crate) fn buffer_names(&self) -> Vec<&'static str> {
        let streams = match &self.content {
            Content::Struct => Vec::new(),
            Content::List { ends, .. } => vec![("ends of lists", &ends.words)],
            Content::Array(array) => array.streams(),
        };
        let name = |number: usize| {
            let of_stream = |stream: &Stream| stream.buffer().and_then(|buffer| buffer.number);
            let found = streams.iter().find(|(_, stream)| of_stream(stream) == Some(number));
            found.map_or("nothing", |(name, _)| name)
        };
        (0..self.buffers.len()).map(name).collect()
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nulls.all {
            return f.write_str("all null");
        }
        if !self.nulls.masks.is_empty() {
            f.write_str("nullable ")?;
        }
        match &self.shape {
            Shape::Nothing => f.write_str("no values"),
            Shape::Fixed(stream) => write!(f, "{stream}"),
            Shape::FixedSizeList { dimension, items } => {
                write!(f, "fixed-size list of {dimension}, {items}")
            }
            Shape::Strings(Strings::Variable { bytes, table, .. }) => {
                f.write_str(if table.is_some() { "fsst over binary" } else { "binary" })?;
                match &bytes.form {
                    Form::Compressed { scheme, .. } => write!(f, ", bytes in {scheme}"),
                    _ => Ok(()),
                }
            }
            Shape::Strings(Strings::Fixed { width, .. }) => {
                write!(f, "fixed-size binary of {width} bytes")
            }
            Shape::Strings(Strings::Constant { .. }) => f.write_str("constant"),
            Shape::Dictionary(dictionary) => {
                let (indices, items) = (&dictionary.indices, &dictionary.items);
                write!(f, "dictionary of {} items ({items}), {indices}", items.len)
            }
            Shape::Packed { widths, .. } => {
                write!(f, "packed struct of {} fields", widths.len())
            }
            Shape::Blob(_) => f.write_str("positions and sizes"),
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits;
        match &self.form {
            Form::Flat(_) => write!(f, "flat {bits}-bit"),
            Form::Compressed { scheme, .. } => write!(f, "{scheme} over flat {bits}-bit"),
            Form::Bitpacked { packed_bits, .. } | Form::Blocks { packed_bits, .. } => {
                write!(f, "bit-packed {bits}-bit to {packed_bits}-bit")
            }
            Form::Constant(_) => write!(f, "constant {bits}-bit"),
        }
    }
}
