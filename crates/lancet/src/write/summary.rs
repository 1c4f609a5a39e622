//! What was written, and why it has the form it has.

use crate::choose::Candidate;
use crate::page::encode::EncodedPage;
use crate::page_v2_0::encode::EncodedArray;

/// What was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteSummary {
    /// Rows of the file.
    pub num_rows: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Pages of all columns.
    pub num_pages: u64,
    /// Each column, in the order of the file.
    pub columns: Vec<ColumnSummary>,
}

/// A column that was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnSummary {
    /// Names from the top down, with dots between; items of lists have none.
    pub name: String,
    /// Its pages.
    pub pages: Vec<PageSummary>,
    /// Bytes of its zone map; 0 if it has none.
    pub zone_map_bytes: u64,
}

/// A page that was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageSummary {
    /// The layout's name.
    pub layout: &'static str,
    /// The encoding in words.
    pub encoding: String,
    /// Bytes of its buffers.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// Why it has this form.
    pub reason: String,
    /// All forms that were considered, the one it has among them; empty if there was no choice.
    pub candidates: Vec<Candidate>,
}

impl PageSummary {
    /// A page of 2.0, which has no choice.
    pub(super) fn of_array(page: &EncodedArray) -> Self {
        Self {
            layout: "array",
            encoding: page.description.clone(),
            bytes: page.buffers.iter().map(|buffer| buffer.len() as u64).sum(),
            rows: page.num_rows,
            reason: "format 2.0 has this form only".into(),
            candidates: Vec::new(),
        }
    }
}

/// The reason of a page's form.
#[derive(Debug)]
pub(super) struct Why {
    pub(super) reason: String,
    pub(super) candidates: Vec<Candidate>,
}

/// A page ready to be written, and what to say about it.
#[derive(Debug)]
pub(super) struct ExplainedPage {
    pub(super) page: EncodedPage,
    pub(super) summary: PageSummary,
}

impl Why {
    pub(super) fn of(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), candidates: Vec::new() }
    }

    pub(super) fn page(self, page: EncodedPage) -> ExplainedPage {
        let (layout, encoding) = page.layout.describe();
        let summary = PageSummary {
            layout,
            encoding,
            bytes: page.buffers.iter().map(|buffer| buffer.len() as u64).sum(),
            rows: page.num_rows,
            reason: self.reason,
            candidates: self.candidates,
        };
        ExplainedPage { page, summary }
    }
}
