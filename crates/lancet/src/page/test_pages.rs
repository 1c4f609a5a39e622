//! Pages made byte by byte, for the tests of the layouts.

use std::ops::Range;

use bytes::Bytes;
use prost::Message;

use super::rules::Rules;
use super::{Layout, LeafSink, Page, PageIndex, PageTask, SinkValues};
use crate::codec::{FixedValues, KeyType, Scratch, ValueType, Values};
use crate::error::{Error, Result};
use crate::levels::{AssembledLayer, LayerKind, ListOffsets};
use crate::proto::encodings21 as pb;
use crate::schema::leaves::LeafType;
use crate::span::Span;
use crate::version::Version;

/// Where the first buffer of a page lies in its file, and the distance between buffers.
pub(crate) const FIRST_BUFFER: u64 = 64;

/// Bytes out of hexadecimal digits; spaces and bars mean nothing.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !matches!(c, ' ' | '|' | '\n')).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// A leaf of plain values with nothing around it.
pub(crate) fn leaf(values: ValueType) -> LeafType {
    LeafType { values, keys: None, blob: false, kinds: vec![LayerKind::Item] }
}

pub(crate) fn int32() -> LeafType {
    leaf(ValueType::Fixed { bits: 32 })
}

pub(crate) fn string() -> LeafType {
    leaf(ValueType::Variable { offset_bits: 32 })
}

/// Values inside a list.
pub(crate) fn in_list(mut leaf: LeafType) -> LeafType {
    leaf.kinds.push(LayerKind::List { large: false });
    leaf
}

/// Values inside a struct.
pub(crate) fn in_struct(mut leaf: LeafType) -> LeafType {
    leaf.kinds.push(LayerKind::Item);
    leaf
}

/// Strings as a dictionary column.
pub(crate) fn keyed(bits: u64, signed: bool) -> LeafType {
    LeafType { keys: Some(KeyType { bits, signed }), ..string() }
}

/// Payloads outside the pages.
pub(crate) fn blob() -> LeafType {
    LeafType { blob: true, ..leaf(ValueType::Variable { offset_bits: 64 }) }
}

/// A page as a file holds it: the message, the buffers, and what the schema says.
#[derive(Debug, Clone)]
pub(crate) struct TestPage {
    pub(crate) message: pb::PageLayout,
    pub(crate) leaf: LeafType,
    pub(crate) version: Version,
    pub(crate) num_rows: u64,
    pub(crate) buffers: Vec<Vec<u8>>,
}

impl TestPage {
    /// A page of 2.1; the layout and the buffers are hexadecimal digits.
    pub(crate) fn new(layout: &str, leaf: LeafType, num_rows: u64, buffers: &[&str]) -> Self {
        let message = pb::PageLayout::decode(hex(layout).as_slice()).unwrap();
        let buffers = buffers.iter().map(|buffer| hex(buffer)).collect();
        Self { message, leaf, version: Version::V2_1, num_rows, buffers }
    }

    pub(crate) fn of_2_2(self) -> Self {
        Self { version: Version::V2_2, ..self }
    }

    pub(crate) fn layout(&self) -> Result<Layout> {
        let rules = Rules::of(self.version);
        Layout::parse(&self.message, &self.leaf, rules, self.num_rows, self.buffers.len())
    }

    /// The file that holds the page and nothing else.
    fn file(&self) -> (Vec<u8>, Vec<Span>) {
        let (mut file, mut spans) = (vec![0xee; FIRST_BUFFER as usize], Vec::new());
        for buffer in &self.buffers {
            spans.push(Span::at(file.len() as u64, buffer.len() as u64).unwrap());
            file.extend_from_slice(buffer);
            file.resize(file.len().next_multiple_of(FIRST_BUFFER as usize), 0xee);
        }
        (file, spans)
    }

    pub(crate) fn page(&self) -> Result<Page> {
        let (number, first_row, num_rows) = (0, 0, self.num_rows);
        Ok(Page { number, first_row, num_rows, buffers: self.file().1, layout: self.layout()? })
    }

    /// The bytes of spans of the page's file.
    pub(crate) fn fetch(&self, spans: &[Span]) -> Vec<Bytes> {
        let file = Bytes::from(self.file().0);
        spans.iter().map(|span| span.cut(0, &file).unwrap()).collect()
    }

    pub(crate) fn index(&self, page: &Page) -> Result<PageIndex> {
        let buffers = self.fetch(&page.index_spans());
        page.parse_index(&self.leaf, &buffers, &mut Scratch::new(1 << 20))
    }

    pub(crate) fn plan(&self, rows: &[Range<u64>]) -> Result<PageTask> {
        let page = self.page()?;
        page.plan(&self.index(&page)?, rows.to_vec())
    }

    /// Reads rows into a sink.
    pub(crate) fn read_into(&self, rows: &[Range<u64>], sink: &mut LeafSink) -> Result<()> {
        let page = self.page()?;
        let index = self.index(&page)?;
        let task = page.plan(&index, rows.to_vec())?;
        let fetched = self.fetch(&task.spans);
        page.decode(&index, &task, &fetched, sink, &mut Scratch::new(1 << 20))
    }

    /// Some rows in words: see [`shown`].
    pub(crate) fn read(&self, rows: &[Range<u64>]) -> Result<String> {
        let mut sink = LeafSink::new(&self.leaf)?;
        self.read_into(rows, &mut sink)?;
        Ok(shown(sink))
    }

    /// All rows in words.
    pub(crate) fn read_all(&self) -> Result<String> {
        self.read(&[0..self.num_rows])
    }

    pub(crate) fn mini_block(&mut self) -> &mut pb::MiniBlockLayout {
        match self.message.layout.as_mut() {
            Some(pb::page_layout::Layout::MiniBlockLayout(layout)) => layout,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn full_zip(&mut self) -> &mut pb::FullZipLayout {
        match self.message.layout.as_mut() {
            Some(pb::page_layout::Layout::FullZipLayout(layout)) => layout,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn constant(&mut self) -> &mut pb::ConstantLayout {
        match self.message.layout.as_mut() {
            Some(pb::page_layout::Layout::ConstantLayout(layout)) => layout,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn blob(&mut self) -> &mut pb::BlobLayout {
        match self.message.layout.as_mut() {
            Some(pb::page_layout::Layout::BlobLayout(layout)) => layout,
            other => panic!("{other:?}"),
        }
    }
}

/// How a page is broken, and the rule that says so, with the place where it is known.
pub(crate) type Broken = (fn(&mut TestPage), &'static str);

/// The sound page reads; broken in each of the ways, it breaks exactly the rule given.
pub(crate) fn assert_broken(sound: &TestPage, broken: &[Broken]) {
    sound.read_all().unwrap();
    for (i, (damage, rule)) in broken.iter().enumerate() {
        let mut page = sound.clone();
        damage(&mut page);
        assert_eq!(rule_of(page.read_all()), *rule, "case {i}");
    }
}

/// The rule that an error says is broken, with its place.
pub(crate) fn rule_of<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::Corrupt(corrupt) => {
            let text = corrupt.to_string();
            text.strip_prefix("corrupt file: ").unwrap_or(&text).to_owned()
        }
        other => panic!("{other:?}"),
    }
}

/// The rows of a sink in words: lists in `[]`, structs in `{}`, fixed-size lists in `()`, blobs as
/// spans, numbers without sign.
pub(crate) fn shown(sink: LeafSink) -> String {
    let mut slots = match &sink.values {
        SinkValues::Plain(values) => shown_values(values),
        SinkValues::Blob(blobs) => blobs.spans.iter().map(Span::to_string).collect(),
        SinkValues::Dictionary(dictionary) => {
            let items = shown_values(&dictionary.dictionary);
            let keys = (0..dictionary.keys.len()).map(|i| number(&dictionary.keys, i) as usize);
            keys.map(|key| items.get(key).cloned().unwrap_or("?".into())).collect()
        }
    };
    for (depth, layer) in sink.assembler.finish().unwrap().into_iter().enumerate() {
        let (validity, len, inner) = match layer {
            AssembledLayer::Item { len, validity } => {
                let of_struct = |slot: &String| format!("{{{slot}}}");
                let all = if depth == 0 { slots } else { slots.iter().map(of_struct).collect() };
                (validity, len, all)
            }
            AssembledLayer::List { len, validity, offsets } => {
                let offsets: Vec<usize> = match offsets {
                    ListOffsets::Bits32(o) => o.iter().map(|o| *o as usize).collect(),
                    ListOffsets::Bits64(o) => o.iter().map(|o| *o as usize).collect(),
                };
                let lists =
                    offsets.windows(2).map(|o| format!("[{}]", slots[o[0]..o[1]].join(" ")));
                (validity, len, lists.collect())
            }
            AssembledLayer::FixedSizeList { len, dimension, validity } => {
                let lists = slots.chunks(dimension).map(|items| format!("({})", items.join(" ")));
                (validity, len, lists.collect())
            }
        };
        assert_eq!(inner.len(), len);
        let is_null = |i: usize| validity.as_ref().is_some_and(|validity| validity.is_null(i));
        let slot = |(i, slot): (usize, String)| if is_null(i) { "null".into() } else { slot };
        slots = inner.into_iter().enumerate().map(slot).collect();
    }
    slots.join(" ")
}

fn shown_values(values: &Values) -> Vec<String> {
    match values {
        Values::Nothing { len } => vec!["-".into(); *len],
        Values::Fixed(fixed) => (0..fixed.len()).map(|i| number(fixed, i).to_string()).collect(),
        Values::Variable(strings) => {
            let text = |i: usize| String::from_utf8_lossy(strings.value(i).unwrap()).into_owned();
            (0..strings.len()).map(|i| format!("'{}'", text(i))).collect()
        }
        Values::FixedSizeList(lists) => {
            let mut items = shown_values(&lists.items);
            for (i, item) in items.iter_mut().enumerate() {
                if lists.item_validity.as_ref().is_some_and(|validity| !validity.bit(i)) {
                    *item = "null".into();
                }
            }
            let lists = items.chunks(lists.dimension as usize);
            lists.map(|items| format!("({})", items.join(" "))).collect()
        }
        Values::Struct { len, children } => {
            let children: Vec<_> = children.iter().map(shown_values).collect();
            let row = |i: usize| children.iter().map(|child| child[i].as_str()).collect::<Vec<_>>();
            (0..*len).map(|i| format!("{{{}}}", row(i).join(" "))).collect()
        }
    }
}

fn number(values: &FixedValues, position: usize) -> u64 {
    let Some(width) = values.width_bytes() else { return u64::from(values.bit(position)) };
    let mut word = [0; 8];
    let bytes = &values.data()[position * width..][..width.min(8)];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
