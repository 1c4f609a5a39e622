//! Layouts in words.

use super::layout::{ConstantValue, Layout};
use super::mini_block::MiniBlockLayout;

impl Layout {
    /// The layout's name and its encoding tree.
    pub(crate) fn describe(&self) -> (&'static str, String) {
        match self {
            Self::MiniBlock(layout) => ("mini-block", layout.describe()),
            Self::FullZip(layout) => ("full-zip", layout.values.describe()),
            Self::Constant(layout) => {
                let value = match layout.value {
                    ConstantValue::Null => "all null",
                    ConstantValue::Inline(_) | ConstantValue::Buffer => "one value",
                };
                ("constant", value.into())
            }
            Self::Blob(layout) => ("blob", format!("descriptions {}", layout.inner.describe())),
        }
    }

    /// What each buffer holds.
    pub(crate) fn buffer_names(&self) -> Vec<&'static str> {
        match self {
            Self::MiniBlock(layout) => layout.buffer_names(),
            Self::Blob(layout) => layout.inner.buffer_names(),
            Self::FullZip(layout) if layout.has_index() => vec!["rows", "repetition index"],
            Self::FullZip(_) => vec!["rows"],
            Self::Constant(layout) => {
                let mut names = Vec::new();
                if layout.value == ConstantValue::Buffer {
                    names.push("value");
                }
                if layout.has_levels {
                    names.extend(["repetition levels", "definition levels"]);
                }
                names
            }
        }
    }
}

impl MiniBlockLayout {
    fn describe(&self) -> String {
        match &self.dictionary {
            None => self.values.describe(),
            Some(dictionary) => format!(
                "dictionary of {} ({}), indices {}",
                dictionary.num_items,
                dictionary.encoding.describe(),
                self.values.describe()
            ),
        }
    }

    fn buffer_names(&self) -> Vec<&'static str> {
        let mut names = vec!["chunk words", "chunks"];
        if self.dictionary.is_some() {
            names.push("dictionary");
        }
        if self.rep.is_some() {
            names.push("repetition index");
        }
        names
    }
}
