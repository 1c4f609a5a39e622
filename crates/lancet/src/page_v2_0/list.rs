//! Reads the ends of lists, which tell which items are wanted.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use bytes::Bytes;

use super::Fetched;
use super::column::{ArrayColumn, Content};
use super::ends::Ends;
use super::index::ArrayIndex;
use super::validity::Validity;
use crate::budget::Budget;
use crate::codec::Scratch;
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::ListOffsets;
use crate::span::Span;

/// A read in progress.
#[derive(Debug)]
pub(crate) struct ListRead {
    column: Arc<ArrayColumn>,
    /// Pages by position, and their rows.
    pages: Vec<(usize, Vec<Range<u64>>)>,
    lists: Option<Lists>,
}

/// Lists whose items are known by number.
#[derive(Debug)]
pub(super) struct Lists {
    /// The items, sorted and disjoint.
    pub(super) items: Vec<Range<u64>>,
    /// Where each list ends among them.
    ends: Vec<u64>,
    validity: Validity,
}

impl ListRead {
    pub(super) fn new(column: Arc<ArrayColumn>, rows: &[Range<u64>]) -> Result<Self> {
        let pages = column.pages_of(rows)?;
        Ok(Self { column, pages, lists: None })
    }

    pub(super) fn wants(&self, out: &mut Vec<Span>) -> Result<()> {
        if self.lists.is_some() {
            return Ok(());
        }
        for (page, rows) in &self.pages {
            let (number, ends, ..) = self.ends(*page)?;
            ends.spans(rows, out).in_page(number).in_column(self.column.number)?;
            if let super::stream::Form::Compressed { buffer, .. } = &ends.words.form {
                out.push(buffer.span);
            }
        }
        Ok(())
    }

    fn ends(&self, page: usize) -> Result<(u32, &Ends, u64, u64)> {
        let page = self.column.page(page)?;
        match &page.content {
            Content::List { ends, first_item, num_items } => {
                Ok((page.number, ends, *first_item, *num_items))
            }
            _ => Err(Error::corrupt("a page of another kind than its column")),
        }
    }

    /// Takes the bytes of [`ListRead::wants`] out of `bytes`; returns the items.
    pub(super) fn supply(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        budget: &Budget,
    ) -> Result<&Lists> {
        let scratch = &mut Scratch::sharing(budget);
        let mut lists =
            Lists { items: Vec::new(), ends: Vec::new(), validity: Validity::default() };
        for (page, rows) in &self.pages {
            let (number, ends, first_item, num_items) = self.ends(*page)?;
            let mut spans = Vec::new();
            ends.spans(rows, &mut spans)?;
            let fetched: Vec<Bytes> = bytes.take(spans.len()).collect();
            let page = PageRows { ends, rows, first_item, num_items };
            let added = page.append(&fetched, bytes, &mut lists, scratch);
            added.in_page(number).in_column(self.column.number)?;
        }
        Ok(self.lists.insert(lists))
    }

    pub(super) fn into_lists(self) -> Result<Lists> {
        self.lists.ok_or_else(|| Error::corrupt("lists whose ends were not read"))
    }
}

/// Rows of a page.
struct PageRows<'a> {
    ends: &'a Ends,
    rows: &'a [Range<u64>],
    first_item: u64,
    num_items: u64,
}

impl PageRows<'_> {
    fn append(
        &self,
        fetched: &[Bytes],
        more: &mut dyn Iterator<Item = Bytes>,
        lists: &mut Lists,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let index = self.index(more, scratch)?;
        let fetched = &mut Fetched::new(fetched);
        let located = self.ends.locate(self.rows, self.num_items, fetched, &index, scratch)?;
        for (rows, located) in self.rows.iter().zip(located) {
            ensure!(
                rows.end < self.ends.len || located.span.end == self.num_items,
                "the lists end at item {} of {}",
                located.span.end,
                self.num_items
            );
            let before = lists.ends.last().copied().unwrap_or(0);
            let ends = located.ends.iter().map(|end| before.saturating_add(*end));
            lists.ends.extend(ends);
            lists.validity.push(located.ends.len(), located.valid)?;
            let item = |item: u64| self.first_item.saturating_add(item);
            lists.push_items(item(located.span.start)..item(located.span.end));
        }
        Ok(())
    }

    fn index(
        &self,
        more: &mut dyn Iterator<Item = Bytes>,
        scratch: &mut Scratch,
    ) -> Result<ArrayIndex> {
        let mut index = ArrayIndex::default();
        let words = &self.ends.words;
        if let super::stream::Form::Compressed { scheme, buffer } = &words.form {
            let unit = more.next().ok_or_else(|| Error::corrupt("too few buffers were read"))?;
            let bound = self.ends.len.saturating_mul(words.bits) / 8;
            let bytes = scratch.decompress(*scheme, &unit, Some(bound))?;
            index.expanded.push((buffer.span, bytes.into()));
        }
        Ok(index)
    }
}

impl Lists {
    fn push_items(&mut self, items: Range<u64>) {
        if items.is_empty() {
            return;
        }
        match self.items.last_mut() {
            Some(last) if last.end == items.start => last.end = items.end,
            _ => self.items.push(items),
        }
    }

    /// Offsets and nulls as Arrow has them.
    pub(super) fn finish(self, large: bool) -> Result<(ListOffsets, Option<NullBuffer>)> {
        let validity = self.validity.finish();
        let offsets = if large {
            ListOffsets::Bits64(offsets(&self.ends)?)
        } else {
            ListOffsets::Bits32(offsets(&self.ends)?)
        };
        Ok((offsets, validity))
    }
}

fn offsets<T: arrow_buffer::ArrowNativeType + TryFrom<u64>>(
    ends: &[u64],
) -> Result<OffsetBuffer<T>> {
    let number = |end: u64| {
        T::try_from(end).map_err(|_| {
            Error::invalid(
                "one batch of this column holds more items than its offsets can count; ask for \
                 fewer rows at a time",
            )
        })
    };
    let ends = ends.iter().map(|end| number(*end));
    let offsets = std::iter::once(number(0)).chain(ends).collect::<Result<Vec<T>>>()?;
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}
