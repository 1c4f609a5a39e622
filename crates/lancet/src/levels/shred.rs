//! Arrow to levels: the pieces of one leaf become the repetition and definition levels of one page.
//!
//! Layers are walked from the outside in. All entries start as one per row; a list layer replaces the entry of a list
//! with one entry per item, a null or empty list keeps its single entry, which then owns no slot further in. Items of
//! such lists are left out, so the slots that are left at the leaf are a list of ranges.
//!
//! Which levels a page needs is known only at the end, so entries are first numbered as if every layer had all of its
//! levels; levels that no entry uses are then closed up.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts of arrays in memory, not numbers from a file"
)]

use std::ops::Range;

use arrow_array::{Array, OffsetSizeTrait};
use arrow_buffer::NullBuffer;

use crate::error::{Error, Result};
use crate::levels::{Layer, LeafPiece, ListOffsets, NestingLayer, Numbering};

/// What a page stores about nesting and nulls, and which leaf slots it stores as values.
#[derive(Debug)]
pub(crate) struct Shredded {
    pub(crate) layers: Vec<Layer>,
    /// Absent without list layers.
    pub(crate) rep: Option<Vec<u16>>,
    /// Absent if the layers have no definition levels.
    pub(crate) def: Option<Vec<u16>>,
    /// Rows; where fixed-size lists of structs multiply entries, `page.length` is `num_entries` instead.
    pub(crate) num_rows: u64,
    pub(crate) num_entries: usize,
    /// Entries that own a slot.
    pub(crate) num_values: usize,
    /// The slots in order: the piece, and slots of its `values`.
    pub(crate) slots: Vec<(usize, Range<usize>)>,
}

impl Shredded {
    /// Makes item layers nullable, leaf outwards, though the page has no null there.
    pub(crate) fn make_nullable(&mut self, layers: &[bool]) {
        let mut renumbered = vec![0u16];
        let mut next = 0;
        let mut changed = false;
        for (layer, nullable) in self.layers.iter_mut().zip(layers) {
            let levels = layer.num_def_levels();
            if *nullable && *layer == Layer::AllValidItem {
                *layer = Layer::NullableItem;
                next += 1;
                changed = true;
            }
            renumbered.extend((0..levels).map(|level| next + level + 1));
            next += levels;
        }
        if !changed {
            return;
        }
        let def = self.def.get_or_insert_with(|| vec![0; self.num_entries]);
        if renumbered.len() > 1 {
            def.iter_mut().for_each(|def| *def = renumbered[usize::from(*def)]);
        }
    }
}

/// An upper bound of the entries of a piece, at a cost that does not depend on its length.
/// Above the truth by at most one entry per list and by the items of null lists: any list may be without items, which
/// takes an entry.
pub(crate) fn max_entries(piece: &LeafPiece) -> usize {
    let lists = |layer: &NestingLayer| match layer {
        NestingLayer::List { offsets: ListOffsets::Bits32(offsets), .. } => offsets.len() - 1,
        NestingLayer::List { offsets: ListOffsets::Bits64(offsets), .. } => offsets.len() - 1,
        NestingLayer::Item { .. } | NestingLayer::FixedSizeList { .. } => 0,
    };
    piece.values.len() + piece.nesting.iter().map(lists).sum::<usize>()
}

/// Makes one page out of consecutive pieces of a leaf.
pub(crate) fn shred(pieces: &[LeafPiece]) -> Result<Shredded> {
    let Some(first) = pieces.first() else {
        return Err(Error::invalid("a page needs rows"));
    };
    if pieces.iter().any(|piece| !same_kinds(&first.nesting, &piece.nesting)) {
        return Err(Error::invalid("pieces of one page differ in their nesting"));
    }
    let has_lists = first.nesting.iter().any(|layer| matches!(layer, NestingLayer::List { .. }));
    let has_nulls = pieces.iter().any(|piece| piece.nesting.iter().any(|l| validity(l).is_some()));
    let num_rows = pieces.iter().map(|piece| piece.num_rows as u64).sum();
    if !has_lists && !has_nulls {
        return Ok(all_valid(pieces, num_rows));
    }

    let mut all = Walk::new(&first.nesting)?;
    for (number, piece) in pieces.iter().enumerate() {
        all.piece(number, piece);
    }
    let layers = all.layers();
    let numbering = Numbering::new(&layers)?;
    all.close_up(&layers);
    Ok(Shredded {
        layers,
        num_rows,
        num_entries: all.def.len(),
        num_values: all.slots.iter().map(|(_, range)| range.len()).sum(),
        slots: all.slots,
        rep: has_lists.then_some(all.rep),
        def: (numbering.max_def > 0).then_some(all.def),
    })
}

fn all_valid(pieces: &[LeafPiece], num_rows: u64) -> Shredded {
    let slots: Vec<_> = (pieces.iter().enumerate())
        .map(|(number, piece)| (number, 0..piece.values.len()))
        .filter(|(_, range)| !range.is_empty())
        .collect();
    let num_values = slots.iter().map(|(_, range)| range.len()).sum();
    let layers = pieces.first().map_or(0, |piece| piece.nesting.len());
    let layers = vec![Layer::AllValidItem; layers];
    Shredded { layers, rep: None, def: None, num_rows, num_entries: num_values, num_values, slots }
}

fn validity(layer: &NestingLayer) -> Option<&NullBuffer> {
    match layer {
        NestingLayer::Item { validity }
        | NestingLayer::List { validity, .. }
        | NestingLayer::FixedSizeList { validity, .. } => validity.as_ref(),
    }
}

fn same_kinds(a: &[NestingLayer], b: &[NestingLayer]) -> bool {
    use NestingLayer::{FixedSizeList, Item, List};
    let same = |pair: (&NestingLayer, &NestingLayer)| match pair {
        (Item { .. }, Item { .. }) | (List { .. }, List { .. }) => true,
        (FixedSizeList { dimension: a, .. }, FixedSizeList { dimension: b, .. }) => a == b,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// What the slots of a layer were seen to be.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    is_list: bool,
    null: bool,
    empty: bool,
}

/// The levels of the pieces so far, in the full numbering.
struct Walk {
    full: Numbering,
    seen: Vec<Seen>,
    rep: Vec<u16>,
    def: Vec<u16>,
    slots: Vec<(usize, Range<usize>)>,
}

/// One layer in the full numbering, and the slots that entries still own there.
struct Place<'a> {
    /// Number of the list, for list layers.
    list: u16,
    /// Definition level of a null; an empty list has the next one.
    null: u16,
    /// Entries up to this definition level own a slot here.
    slot_limit: u16,
    ranges: &'a [Range<usize>],
}

impl Walk {
    fn new(nesting: &[NestingLayer]) -> Result<Self> {
        let is_list = |layer: &NestingLayer| matches!(layer, NestingLayer::List { .. });
        let seen = |layer| Seen { is_list: is_list(layer), ..Seen::default() };
        let full: Vec<Layer> = (nesting.iter())
            .map(|l| if is_list(l) { Layer::NullAndEmptyList } else { Layer::NullableItem })
            .collect();
        Ok(Self {
            full: Numbering::new(&full)?,
            seen: nesting.iter().map(seen).collect(),
            rep: Vec::new(),
            def: Vec::new(),
            slots: Vec::new(),
        })
    }

    fn piece(&mut self, number: usize, piece: &LeafPiece) {
        let mut entries = PieceEntries {
            rep: vec![self.full.max_rep; if self.full.max_rep > 0 { piece.num_rows } else { 0 }],
            def: vec![0; piece.num_rows],
        };
        let mut ranges = Vec::new();
        push_range(&mut ranges, 0..piece.num_rows);
        let (mut list, mut above) = (self.full.max_rep, self.full.max_def);
        let layers = piece.nesting.iter().zip(&mut self.seen).enumerate();
        for (i, (layer, seen)) in layers.rev() {
            above -= if seen.is_list { 2 } else { 1 };
            let slot_limit = self.full.slot_limit(i);
            let place = Place { list, null: above + 1, slot_limit, ranges: &ranges };
            if let (false, Some(validity)) = (seen.is_list, validity(layer)) {
                seen.null |= entries.mark_nulls(validity, &place);
            }
            match layer {
                NestingLayer::Item { .. } => {}
                NestingLayer::FixedSizeList { dimension, .. } => {
                    entries.def = entries
                        .def
                        .iter()
                        .flat_map(|d| std::iter::repeat_n(*d, *dimension))
                        .collect();
                    for range in &mut ranges {
                        *range = range.start * dimension..range.end * dimension;
                    }
                }
                NestingLayer::List { validity, offsets } => {
                    let validity = validity.as_ref();
                    ranges = match offsets {
                        ListOffsets::Bits32(offsets) => {
                            entries.open(offsets, validity, &place, seen)
                        }
                        ListOffsets::Bits64(offsets) => {
                            entries.open(offsets, validity, &place, seen)
                        }
                    };
                    list -= 1;
                }
            }
        }
        append(&mut self.rep, entries.rep);
        append(&mut self.def, entries.def);
        self.slots.extend(ranges.into_iter().map(|range| (number, range)));
    }

    /// The variants that hold what was seen. A null struct makes its child null, down to the next list or the leaf.
    fn layers(&mut self) -> Vec<Layer> {
        let mut outer_is_null = false;
        for seen in self.seen.iter_mut().rev() {
            seen.null |= outer_is_null;
            outer_is_null = seen.null && !seen.is_list;
        }
        let layer = |seen: &Seen| match (seen.is_list, seen.null, seen.empty) {
            (false, false, _) => Layer::AllValidItem,
            (false, true, _) => Layer::NullableItem,
            (true, false, false) => Layer::AllValidList,
            (true, true, false) => Layer::NullableList,
            (true, false, true) => Layer::EmptyableList,
            (true, true, true) => Layer::NullAndEmptyList,
        };
        self.seen.iter().map(layer).collect()
    }

    /// Renumbers the definition levels for the layers that the page has.
    fn close_up(&mut self, layers: &[Layer]) {
        let mut renumbered = vec![0u16];
        let mut next = 0;
        for (seen, layer) in self.seen.iter().zip(layers) {
            let used = [seen.null, seen.empty];
            for used in &used[..if layer.is_list() { 2 } else { 1 }] {
                next += u16::from(*used);
                renumbered.push(if *used { next } else { 0 });
            }
        }
        let same = (0u16..).zip(&renumbered).all(|(from, to)| *to == from || *to == 0);
        if !same {
            self.def.iter_mut().for_each(|def| *def = renumbered[usize::from(*def)]);
        }
    }
}

/// The entries of one piece; `rep` is empty without lists.
struct PieceEntries {
    rep: Vec<u16>,
    def: Vec<u16>,
}

impl PieceEntries {
    /// Marks entries whose slot is null, unless something further out was null already.
    fn mark_nulls(&mut self, validity: &NullBuffer, place: &Place<'_>) -> bool {
        let owned: usize = place.ranges.iter().map(Range::len).sum();
        if owned == self.def.len() {
            return self.mark_all(validity, place);
        }
        let mut any = false;
        let mut slots = place.ranges.iter().cloned().flatten();
        for def in self.def.iter_mut().filter(|def| **def <= place.slot_limit) {
            if slots.next().is_some_and(|slot| validity.is_null(slot)) {
                *def = (*def).max(place.null);
                any = true;
            }
        }
        any
    }

    /// The same where every entry owns a slot: 64 at a time.
    fn mark_all(&mut self, validity: &NullBuffer, place: &Place<'_>) -> bool {
        let mut any = false;
        let mut rest = &mut self.def[..];
        for range in place.ranges {
            let part = validity.inner().slice(range.start, range.len());
            let (levels, after) = rest.split_at_mut(range.len());
            rest = after;
            for (word, levels) in part.bit_chunks().iter_padded().zip(levels.chunks_mut(64)) {
                let nulls = !word & (u64::MAX >> (64 - levels.len()));
                if nulls == 0 {
                    continue;
                }
                any = true;
                for (byte, eight) in nulls.to_le_bytes().into_iter().zip(levels.chunks_mut(8)) {
                    for (bit, def) in [1, 2, 4, 8, 16, 32, 64, 128u8].iter().zip(eight) {
                        let level = if byte & bit != 0 { place.null } else { 0 };
                        *def = (*def).max(level);
                    }
                }
            }
        }
        any
    }

    /// Replaces each list with its items; returns the slots of the items.
    fn open<O: OffsetSizeTrait>(
        &mut self,
        offsets: &[O],
        validity: Option<&NullBuffer>,
        place: &Place<'_>,
        seen: &mut Seen,
    ) -> Vec<Range<usize>> {
        let first = offsets[0].as_usize();
        let items = offsets[offsets.len() - 1].as_usize() - first;
        let mut rep = Vec::with_capacity(self.rep.len() + items);
        let mut def = Vec::with_capacity(self.rep.len() + items);
        let mut ranges = Vec::new();
        let mut slots = place.ranges.iter().cloned().flatten();
        for (r, d) in self.rep.iter().zip(&self.def) {
            let slot = if *d <= place.slot_limit { slots.next() } else { None };
            let mut level = *d;
            // A level that is set already hides the list: something further out is null.
            if let (0, Some(slot)) = (*d, slot) {
                let range = offsets[slot].as_usize() - first..offsets[slot + 1].as_usize() - first;
                if validity.is_some_and(|validity| validity.is_null(slot)) {
                    level = place.null;
                    seen.null = true;
                } else if range.is_empty() {
                    level = place.null + 1;
                    seen.empty = true;
                } else {
                    rep.push(*r);
                    rep.resize(rep.len() + range.len() - 1, place.list - 1);
                    def.resize(rep.len(), 0);
                    push_range(&mut ranges, range);
                    continue;
                }
            }
            rep.push(*r);
            def.push(level);
        }
        (self.rep, self.def) = (rep, def);
        ranges
    }
}

/// Appends a range, merged with the one before if they touch.
fn push_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ if !range.is_empty() => ranges.push(range),
        _ => {}
    }
}

/// Appends levels, without a copy if there were none.
fn append(all: &mut Vec<u16>, levels: Vec<u16>) {
    if all.is_empty() {
        *all = levels;
    } else {
        all.extend(levels);
    }
}
