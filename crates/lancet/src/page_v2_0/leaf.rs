//! Reads rows of a leaf column.
//!
//! ```text
//! round 1   indexes of pages that are not known yet, values, ends of strings
//! round 2   bytes of strings, where the page is not read as a whole
//! round 3   payloads of blobs
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;

use super::array::{Array, DictionaryParts, Shape, both};
use super::column::{ArrayColumn, Content};
use super::field::Shared;
use super::index::ArrayIndex;
use super::strings::FoundStrings;
use super::validity::{Validity, bitmap};
use super::{Fetched, count, count_in};
use crate::codec::{FixedValues, Scratch, Values, VariableValues};
use crate::error::{Error, Locate, Result, ensure};
use crate::levels::AssembledLayer;
use crate::page::blob::Descriptions;
use crate::page::{LeafSink, SinkValues, dictionary};
use crate::schema::columns::{Leaf, Node};
use crate::schema::descriptions::is_described;
use crate::schema::leaves::LeafType;
use crate::schema::to_arrow::{self, LeafColumn, LeafValues};
use crate::span::Span;

/// A read in progress.
#[derive(Debug)]
pub(crate) struct LeafRead {
    column: Arc<ArrayColumn>,
    pages: Vec<PageRead>,
    values: SinkValues,
    validity: Validity,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Values,
    Strings,
    Blobs,
    Done,
}

/// A page that holds some of the rows.
#[derive(Debug)]
struct PageRead {
    page: usize,
    rows: Vec<Range<u64>>,
    index: Option<Arc<ArrayIndex>>,
    /// What the first round brought, and what strings made of it.
    fetched: Vec<Bytes>,
    strings: Option<(FoundStrings, Option<FixedValues>)>,
}

impl LeafRead {
    pub(super) fn new(
        column: Arc<ArrayColumn>,
        leaf: &LeafType,
        rows: &[Range<u64>],
        shared: &Shared<'_>,
    ) -> Result<Self> {
        let values = if column.is_blob {
            SinkValues::Blob(Descriptions::default())
        } else if leaf.blob {
            SinkValues::Plain(Values::Variable(VariableValues::new(64)))
        } else {
            LeafSink::new(leaf)?.values
        };
        let mut pages = Vec::new();
        for (page, rows) in column.pages_of(rows)? {
            let index = (shared.find)(column.number, column.page(page)?.number);
            pages.push(PageRead { page, rows, index, fetched: Vec::new(), strings: None });
        }
        let validity = Validity::default();
        Ok(Self { column, pages, values, validity, stage: Stage::Values })
    }

    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Adds the spans of the next round.
    pub(super) fn wants(&self, described: bool, out: &mut Vec<Span>) -> Result<()> {
        match self.stage {
            Stage::Values => self.want_values(out),
            Stage::Strings => self.want_strings(out),
            Stage::Blobs => {
                if let SinkValues::Blob(blobs) = &self.values
                    && !described
                {
                    out.extend(blobs.spans.iter().filter(|span| !span.is_empty()));
                }
                Ok(())
            }
            Stage::Done => Ok(()),
        }
        .in_column(self.column.number)
    }

    fn want_values(&self, out: &mut Vec<Span>) -> Result<()> {
        for read in &self.pages {
            let (page, array) = array_of(&self.column, read)?;
            if read.index.is_none() {
                out.extend(array.index_spans().in_page(page)?);
            }
            array.spans(&read.rows, out).in_page(page)?;
        }
        Ok(())
    }

    fn want_strings(&self, out: &mut Vec<Span>) -> Result<()> {
        for read in &self.pages {
            let (page, array) = array_of(&self.column, read)?;
            if let (Shape::Strings(strings), Some((found, _))) = (&array.shape, &read.strings) {
                strings.late_spans(found, out).in_page(page)?;
            }
        }
        Ok(())
    }

    /// Takes the bytes of [`LeafRead::wants`] out of `bytes`.
    pub(super) fn supply(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        described: bool,
        shared: &Shared<'_>,
    ) -> Result<()> {
        let number = self.column.number;
        self.advance(bytes, described, shared).in_column(number)
    }

    fn advance(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        described: bool,
        shared: &Shared<'_>,
    ) -> Result<()> {
        let mut scratch = Scratch::sharing(shared.budget);
        match self.stage {
            Stage::Values => {
                self.take_values(bytes, shared, &mut scratch)?;
                self.stage = Stage::Strings;
                let mut late = Vec::new();
                self.want_strings(&mut late)?;
                if late.is_empty() {
                    self.append(&mut std::iter::empty(), shared, &mut scratch)?;
                    self.stage = Stage::Blobs;
                }
            }
            Stage::Strings => {
                self.append(bytes, shared, &mut scratch)?;
                self.stage = Stage::Blobs;
            }
            Stage::Blobs => {
                self.fill_blobs(bytes, described, &mut scratch)?;
                self.stage = Stage::Done;
            }
            Stage::Done => {}
        }
        if self.stage == Stage::Blobs && !matches!(self.values, SinkValues::Blob(_)) {
            self.stage = Stage::Done;
        }
        Ok(())
    }

    fn take_values(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        for read in &mut self.pages {
            let (page, array) = array_of(&self.column, read)?;
            let index = match read.index.take() {
                Some(index) => index,
                None => {
                    let spans = array.index_spans().in_page(page)?;
                    let fetched: Vec<Bytes> = bytes.take(spans.len()).collect();
                    let parsed = array.parse_index(&mut Fetched::new(&fetched), scratch);
                    let index = Arc::new(parsed.in_page(page)?);
                    if !spans.is_empty() {
                        (shared.keep)(self.column.number, page, index.clone());
                    }
                    index
                }
            };
            let mut spans = Vec::new();
            array.spans(&read.rows, &mut spans).in_page(page)?;
            let fetched: Vec<Bytes> = bytes.take(spans.len()).collect();
            if let Shape::Strings(strings) = &array.shape {
                let fetched = &mut Fetched::new(&fetched);
                let valid = array.decode_nulls(&read.rows, fetched, &index, scratch);
                let valid = valid.in_page(page)?;
                let found = strings.find(&read.rows, fetched, &index, scratch).in_page(page)?;
                read.strings = Some((found, valid));
            } else {
                read.fetched = fetched;
            }
            read.index = Some(index);
        }
        Ok(())
    }

    /// Appends the rows of all pages, whose bytes are complete.
    fn append(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let column = self.column.clone();
        for mut read in std::mem::take(&mut self.pages) {
            let (page, array) = array_of(&column, &read)?;
            let num_rows = count_in(&read.rows)?;
            let valid = match (&array.shape, read.strings.take()) {
                (Shape::Strings(strings), Some((found, valid))) => {
                    let mut late = Vec::new();
                    strings.late_spans(&found, &mut late)?;
                    let fetched: Vec<Bytes> = bytes.take(late.len()).collect();
                    let fetched = &mut Fetched::new(&fetched);
                    let SinkValues::Plain(Values::Variable(out)) = &mut self.values else {
                        return Err(mismatch());
                    };
                    strings.append(found, fetched, out, scratch).map(|found| both(valid, found))
                }
                _ => self.append_page(array, &read, shared, scratch),
            };
            self.validity.push(num_rows, valid.in_page(page)?)?;
        }
        Ok(())
    }

    fn append_page(
        &mut self,
        array: &Array,
        read: &PageRead,
        shared: &Shared<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<FixedValues>> {
        let index = read.index.as_ref().ok_or_else(mismatch)?;
        let fetched = &mut Fetched::new(&read.fetched);
        match (&array.shape, &mut self.values) {
            (Shape::Dictionary(dictionary), values) => {
                let valid = array.decode_nulls(&read.rows, fetched, index, scratch)?;
                append_dictionary(dictionary, &read.rows, fetched, index, valid, values, scratch)
            }
            (Shape::Blob(stream), SinkValues::Blob(blobs)) => {
                let valid = array.decode_nulls(&read.rows, fetched, index, scratch)?;
                let mut pairs = FixedValues::new(128);
                stream.decode(&read.rows, fetched, index, &mut pairs, scratch)?;
                Ok(both(valid, describe_blobs(&pairs, shared.data_end, blobs)?))
            }
            (Shape::Nothing, values) => {
                let num_rows = count_in(&read.rows)?;
                let valid = array.decode_nulls(&read.rows, fetched, index, scratch)?;
                values.push_default(num_rows, scratch)?;
                Ok(valid)
            }
            (_, SinkValues::Plain(values)) => {
                array.append(&read.rows, fetched, index, values, scratch)
            }
            _ => Err(mismatch()),
        }
    }

    fn fill_blobs(
        &mut self,
        bytes: &mut dyn Iterator<Item = Bytes>,
        described: bool,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let SinkValues::Blob(blobs) = &self.values else { return Ok(()) };
        if described {
            self.values = SinkValues::Plain(blobs.as_values());
            return Ok(());
        }
        scratch.claim(Span::total(&blobs.spans), "the blobs of the rows")?;
        self.values = SinkValues::Plain(blobs.filled(bytes)?);
        Ok(())
    }

    /// The rows as an array.
    pub(super) fn finish(self, leaf: &Leaf) -> Result<ArrayRef> {
        ensure!(
            !is_described(leaf) || matches!(&self.values, SinkValues::Plain(Values::Struct { .. })),
            "a column marked as blobs holds plain bytes"
        );
        let values = match self.values {
            SinkValues::Plain(values) => LeafValues::Plain(values),
            SinkValues::Dictionary(values) => {
                LeafValues::Dictionary { keys: values.keys, dictionary: values.dictionary }
            }
            SinkValues::Blob(_) => return Err(Error::corrupt("blobs without their payloads")),
        };
        let layer =
            AssembledLayer::Item { len: self.validity.len, validity: self.validity.finish() };
        let column = LeafColumn { values, layers: vec![layer], pool: None };
        let node = Node::Leaf(leaf.clone());
        to_arrow::build(&node, &mut std::iter::once(column)).in_column(self.column.number)
    }

    /// The values of a column of single bytes.
    pub(super) fn into_bytes(self) -> Result<FixedValues> {
        match self.values {
            SinkValues::Plain(Values::Fixed(bytes)) if bytes.bits() == 8 => Ok(bytes),
            _ => Err(mismatch()),
        }
    }
}

fn array_of<'a>(column: &'a ArrayColumn, read: &PageRead) -> Result<(u32, &'a Array)> {
    let page = column.page(read.page)?;
    match &page.content {
        Content::Array(array) => Ok((page.number, array)),
        _ => Err(mismatch()),
    }
}

/// Looks the indices up. A null row is a null index, or the index of a null item; without a
/// dictionary in the schema it is index 0, and all others are one too large.
fn append_dictionary(
    dictionary: &DictionaryParts,
    rows: &[Range<u64>],
    fetched: &mut Fetched<'_>,
    index: &ArrayIndex,
    valid: Option<FixedValues>,
    out: &mut SinkValues,
    scratch: &mut Scratch,
) -> Result<Option<FixedValues>> {
    let items = index.items.as_ref().ok_or_else(mismatch)?;
    let mut stored = Values::Fixed(FixedValues::new(match &dictionary.indices.shape {
        Shape::Fixed(stream) => stream.bits,
        _ => 8,
    }));
    let found = dictionary.indices.append(rows, fetched, index, &mut stored, scratch)?;
    let valid = both(valid, found);
    let Values::Fixed(stored) = stored else { return Err(mismatch()) };
    // The numbers, and which rows are not null.
    scratch.claim(count(stored.len()).saturating_mul(8), "the indices of a dictionary")?;
    let mut indices = FixedValues::new(64);
    let mut present = FixedValues::new(1);
    present.push_ones(stored.len())?;
    let mut has_nulls = false;
    for i in 0..stored.len() {
        let number = stored.unsigned(i).unwrap_or(u64::MAX);
        let number = if dictionary.automatic { number.checked_sub(1) } else { Some(number) };
        let is_item = |number: u64| {
            let item = usize::try_from(number).unwrap_or(usize::MAX);
            items.valid.as_ref().is_none_or(|v| item >= v.len() || v.bit(item))
        };
        let valid = valid.as_ref().is_none_or(|valid| valid.bit(i));
        let number = number.filter(|number| valid && is_item(*number));
        indices.push_word(number.unwrap_or(0));
        if number.is_none() {
            has_nulls = true;
            arrow_buffer::bit_util::unset_bit(present.data_mut(), i);
        }
    }
    dictionary::open_page(&items.values.items, out, scratch)?;
    let validity = has_nulls.then_some(present.data());
    dictionary::append(&items.values, &indices, validity, out, scratch)?;
    Ok(has_nulls.then_some(present))
}

/// | position, size | value |
/// |---|---|
/// | 1, 0 | null |
/// | any, 0 | empty |
/// | p, s | bytes `p .. p + s` of the file |
fn describe_blobs(
    pairs: &FixedValues,
    data_end: u64,
    out: &mut Descriptions,
) -> Result<Option<FixedValues>> {
    let (pairs, _) = pairs.words::<u64>().as_chunks::<2>();
    for &[position, size] in pairs {
        let span = Span::at(position, size).filter(|span| size == 0 || span.end() <= data_end);
        let Some(span) = span else {
            let rule = format!("a blob of {size} bytes at {position} lies outside the data");
            return Err(Error::corrupt(rule));
        };
        out.spans.push(if size == 0 { Span::default() } else { span });
    }
    if !pairs.contains(&[1, 0]) {
        return Ok(None);
    }
    let mut rows = pairs.iter();
    let valid = |_| rows.next().is_some_and(|pair| *pair != [1, 0]);
    bitmap(pairs.len(), valid).map(Some)
}

fn mismatch() -> Error {
    Error::corrupt("a page of another kind than its column")
}
