//! What a page needs whatever its rows: its dictionary and its compressed buffers, as a whole.

use bytes::Bytes;

use crate::codec::{Dictionary, FixedValues};
use crate::error::{Error, Result};
use crate::span::Span;

/// What is kept of a page between reads.
#[derive(Debug, Default)]
pub(crate) struct ArrayIndex {
    /// Decompressed buffers, by where they lie in the file.
    pub(super) expanded: Vec<(Span, Bytes)>,
    pub(super) items: Option<Items>,
}

/// The items of a dictionary, and which of them are not null.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) values: Dictionary,
    pub(super) valid: Option<FixedValues>,
}

impl ArrayIndex {
    /// The bytes that a compressed buffer holds.
    pub(super) fn expanded(&self, span: Span) -> Result<&Bytes> {
        let found = self.expanded.iter().find(|(known, _)| *known == span);
        found
            .map(|(_, bytes)| bytes)
            .ok_or_else(|| Error::corrupt("a compressed buffer was not loaded"))
    }

    /// Bytes the index holds in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        let expanded = self.expanded.iter().map(|(_, bytes)| bytes.len().saturating_add(64));
        let items = self.items.as_ref().map_or(0, |items| {
            let valid = items.valid.as_ref().map_or(0, |valid| valid.data().len());
            items.values.size_bytes().saturating_add(valid)
        });
        expanded.fold(items.saturating_add(size_of::<Self>()), usize::saturating_add)
    }
}
