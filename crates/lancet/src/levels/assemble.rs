//! Levels to Arrow: validity and offsets of every layer above the values of a leaf.
//!
//! Layers are processed from the leaf outwards. Each list layer takes in the items of its lists, so that only the
//! entries which begin a list are left for the layers outside:
//!
//! ```text
//! layers [nullable item, null and empty list]     1 = null item, 2 = null list, 3 = empty list
//! rep      1 0 1 1 1 0 0 1
//! def      0 0 2 3 0 1 0 0
//! leaf     v v     v n v v         entries up to level 1 are slots of the leaf
//! list     [-- n e [---- [-        entries with rep >= 1 begin lists: offsets 0 2 2 2 5 (6)
//! ```
//!
//! Pages number their levels differently, so each page is unravelled on its own and its slots are appended.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::borrow::Cow;

use arrow_array::OffsetSizeTrait;
use arrow_buffer::{NullBuffer, OffsetBuffer};

use crate::error::{Error, Result, ensure};
use crate::levels::bits::{Validity, at_most, blocks, compress, ones, positions};
use crate::levels::numbering::check_kinds;
use crate::levels::{Layer, LayerKind, ListOffsets, Numbering, count_visible};

/// One finished layer. A slot under a null slot of the next layer outside is null too, if its page lets it be null.
#[derive(Debug)]
pub(crate) enum AssembledLayer {
    Item { len: usize, validity: Option<NullBuffer> },
    List { len: usize, validity: Option<NullBuffer>, offsets: ListOffsets },
    FixedSizeList { len: usize, dimension: usize, validity: Option<NullBuffer> },
}

/// Builds the layers of one leaf column, page by page. After an error it must not be used any more.
#[derive(Debug)]
pub(crate) struct Assembler {
    kinds: Vec<LayerKind>,
    layers: Vec<LayerBuilder>,
}

#[derive(Debug)]
struct LayerBuilder {
    validity: Validity,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Item,
    List32(Lists<i32>),
    List64(Lists<i64>),
    FixedSizeList { dimension: usize },
}

/// The lists of a layer: where each starts, and how many items all of them have.
#[derive(Debug, Default)]
struct Lists<O> {
    starts: Vec<O>,
    num_items: usize,
}

/// The entries that are left for the layers outside. Without definition levels all of them are valid.
struct Entries<'a> {
    len: usize,
    rep: Option<Cow<'a, [u16]>>,
    def: Option<Cow<'a, [u16]>>,
}

/// How a list layer of a page reads its entries.
struct ListRule {
    /// Entries with at least this repetition level begin a list.
    number: u16,
    /// Entries up to this definition level have a list with items.
    floor: u16,
    /// The definition level of an empty list.
    empty: Option<u16>,
    /// Entries above this definition level belong to lists further out.
    slot_limit: u16,
    /// Whether the layers outside need the repetition levels, and the definition levels.
    keeps_rep: bool,
    keeps_def: bool,
}

impl Assembler {
    pub(crate) fn new(kinds: &[LayerKind]) -> Result<Self> {
        ensure!(kinds.first() == Some(&LayerKind::Item), "the innermost layer must be the leaf");
        let is_list = |kind: &LayerKind| matches!(kind, LayerKind::List { .. });
        let is_fixed = |kind: &LayerKind| matches!(kind, LayerKind::FixedSizeList { .. });
        if kinds.iter().any(is_list) && kinds.iter().any(is_fixed) {
            return Err(Error::unsupported("fixed-size lists of structs together with lists"));
        }
        let builder = |kind: &LayerKind| {
            let shape = match kind {
                LayerKind::Item => Shape::Item,
                LayerKind::List { large: false } => Shape::List32(Lists::default()),
                LayerKind::List { large: true } => Shape::List64(Lists::default()),
                LayerKind::FixedSizeList { dimension } => {
                    let dimension = usize::try_from(*dimension).unwrap_or(0);
                    ensure!(dimension > 0, "fixed-size lists have no dimension");
                    Shape::FixedSizeList { dimension }
                }
            };
            Ok(LayerBuilder { validity: Validity::default(), shape })
        };
        let layers = kinds.iter().map(builder).collect::<Result<_>>()?;
        Ok(Self { kinds: kinds.to_vec(), layers })
    }

    /// Appends whole rows of one page; returns how many values they have. Without levels this costs nothing per entry.
    pub(crate) fn push(
        &mut self,
        layers: &[Layer],
        rep: Option<&[u16]>,
        def: Option<&[u16]>,
        num_entries: usize,
    ) -> Result<usize> {
        check_kinds(layers, &self.kinds)?;
        let numbering = Numbering::new(layers)?;
        let mut entries = Entries::checked(&numbering, rep, def, num_entries)?;

        let num_values = match &entries.def {
            Some(def) if numbering.max_visible < numbering.max_def => {
                count_visible(def, numbering.max_visible)
            }
            _ => num_entries,
        };
        let mut slots = num_values;
        let (mut consumed, mut list) = (0u16, 0u16);
        for (i, (layer, builder)) in layers.iter().zip(&mut self.layers).enumerate() {
            let own = consumed.saturating_add(layer.num_def_levels());
            let slot_limit = numbering.slot_limit(i);
            match &mut builder.shape {
                Shape::List32(lists) => {
                    list = list.saturating_add(1);
                    let rule = ListRule::new(layer, list, consumed, slot_limit, &numbering);
                    slots = lists.push(&mut builder.validity, &mut entries, slots, &rule)?;
                }
                Shape::List64(lists) => {
                    list = list.saturating_add(1);
                    let rule = ListRule::new(layer, list, consumed, slot_limit, &numbering);
                    slots = lists.push(&mut builder.validity, &mut entries, slots, &rule)?;
                }
                Shape::FixedSizeList { dimension } => {
                    entries.thin(*dimension, consumed)?;
                    slots = entries.len;
                    push_items(
                        &mut builder.validity,
                        *layer,
                        &entries,
                        slots,
                        consumed,
                        slot_limit,
                    );
                }
                Shape::Item => {
                    push_items(
                        &mut builder.validity,
                        *layer,
                        &entries,
                        slots,
                        consumed,
                        slot_limit,
                    );
                }
            }
            consumed = own;
        }
        Ok(num_values)
    }

    /// Appends rows that are null at the leaf, for pages that store nothing else.
    pub(crate) fn push_null_items(&mut self, num_rows: usize) -> Result<()> {
        let [leaf] = self.layers.as_mut_slice() else {
            return Err(Error::corrupt("a page without levels has more layers than the leaf"));
        };
        leaf.validity.push_null(num_rows);
        Ok(())
    }

    /// The layers, leaf first.
    pub(crate) fn finish(self) -> Result<Vec<AssembledLayer>> {
        self.layers.into_iter().map(LayerBuilder::finish).collect()
    }
}

impl LayerBuilder {
    fn finish(self) -> Result<AssembledLayer> {
        let len = self.validity.len();
        let validity = self.validity.finish();
        Ok(match self.shape {
            Shape::Item => AssembledLayer::Item { len, validity },
            Shape::FixedSizeList { dimension } => {
                AssembledLayer::FixedSizeList { len, dimension, validity }
            }
            Shape::List32(lists) => {
                let offsets = ListOffsets::Bits32(lists.finish());
                AssembledLayer::List { len, validity, offsets }
            }
            Shape::List64(lists) => {
                let offsets = ListOffsets::Bits64(lists.finish());
                AssembledLayer::List { len, validity, offsets }
            }
        })
    }
}

impl<'a> Entries<'a> {
    /// The entries of a page, once their levels are known to describe a nesting.
    fn checked(
        numbering: &Numbering,
        rep: Option<&'a [u16]>,
        def: Option<&'a [u16]>,
        len: usize,
    ) -> Result<Self> {
        for levels in [rep, def].into_iter().flatten() {
            ensure!(levels.len() == len, "{len} entries have {} levels", levels.len());
        }
        numbering.check(rep, def)?;
        let rep = rep.filter(|_| numbering.max_rep > 0);
        if numbering.max_rep > 0 && len > 0 {
            let first = rep.and_then(|rep| rep.first().copied());
            ensure!(
                first == Some(numbering.max_rep),
                "the first repetition level of a row is {first:?} instead of {}",
                numbering.max_rep
            );
        }
        let def = def.filter(|_| numbering.max_def > 0);
        Ok(Self { len, rep: rep.map(Cow::Borrowed), def: def.map(Cow::Borrowed) })
    }

    /// Leaves one entry for each fixed-size list. Levels above `consumed` are about the whole list, so all of its
    /// entries must repeat them.
    fn thin(&mut self, dimension: usize, consumed: u16) -> Result<()> {
        ensure!(
            self.len.is_multiple_of(dimension),
            "{} entries do not fill fixed-size lists of {dimension}",
            self.len
        );
        self.len = self.len.checked_div(dimension).unwrap_or(0);
        let Some(def) = &self.def else { return Ok(()) };
        let mut thinned = Vec::with_capacity(self.len);
        for group in def.chunks_exact(dimension) {
            let first = group.first().copied().unwrap_or(0);
            let agrees = |d: &u16| if first > consumed { *d == first } else { *d <= consumed };
            ensure!(group.iter().all(agrees), "the entries of a fixed-size list disagree about it");
            thinned.push(first);
        }
        self.def = Some(Cow::Owned(thinned));
        Ok(())
    }
}

/// Appends the `slots` slots of an item layer; those above the `consumed` definition levels are null.
fn push_items(
    validity: &mut Validity,
    layer: Layer,
    entries: &Entries<'_>,
    slots: usize,
    consumed: u16,
    slot_limit: u16,
) {
    let Some(def) = entries.def.as_deref().filter(|_| layer == Layer::NullableItem) else {
        return validity.push_valid(slots);
    };
    let all_are_slots = slots == entries.len;
    for (block, count) in blocks(def) {
        let live = ones(count);
        let valid = at_most(&block, consumed) & live;
        if all_are_slots {
            validity.push(valid, count);
            continue;
        }
        let is_slot = at_most(&block, slot_limit) & live;
        validity.push(compress(valid, is_slot), is_slot.count_ones() as usize);
    }
}

impl ListRule {
    fn new(layer: &Layer, number: u16, floor: u16, slot_limit: u16, all: &Numbering) -> Self {
        let empty = match layer {
            Layer::EmptyableList => Some(floor.saturating_add(1)),
            Layer::NullAndEmptyList => Some(floor.saturating_add(2)),
            _ => None,
        };
        let own = floor.saturating_add(layer.num_def_levels());
        let (keeps_rep, keeps_def) = (number < all.max_rep, own < all.max_def);
        Self { number, floor, empty, slot_limit, keeps_rep, keeps_def }
    }

    /// Which entries of a block have a valid list.
    #[inline]
    fn valid(&self, def: &[u16; 64], has_items: u64) -> u64 {
        let is_empty = match self.empty {
            Some(level) => at_most(def, level) & !at_most(def, level.saturating_sub(1)),
            None => 0,
        };
        has_items | is_empty
    }
}

impl<O: OffsetSizeTrait> Lists<O> {
    /// Appends the lists of `entries`, which together have `num_items` items, and leaves the entries that begin a
    /// list. Returns the number of lists.
    fn push(
        &mut self,
        validity: &mut Validity,
        entries: &mut Entries<'_>,
        num_items: usize,
        rule: &ListRule,
    ) -> Result<usize> {
        let before = self.starts.len();
        let mut next_item = self.num_items;
        self.num_items = next_item.saturating_add(num_items);
        if self.num_items > O::MAX_OFFSET {
            let items = self.num_items;
            return Err(Error::invalid(format!(
                "{items} list items do not fit 32-bit offsets; ask for fewer rows at a time"
            )));
        }
        let rep = entries.rep.take().unwrap_or_default();
        let def = entries.def.take();
        let mut kept = Kept::new(rule, def.is_some());
        let mut def_blocks = def.as_deref().map(blocks);
        for (rep, count) in blocks(&rep) {
            let live = ones(count);
            let begins = !at_most(&rep, rule.number.saturating_sub(1)) & live;
            let def = def_blocks.as_mut().and_then(Iterator::next).map_or([0; 64], |(def, _)| def);
            let has_items =
                if def_blocks.is_some() { at_most(&def, rule.floor) & live } else { live };
            if has_items == live {
                self.starts
                    .extend(positions(begins).map(|at| O::usize_as(next_item.saturating_add(at))));
                validity.push_valid(begins.count_ones() as usize);
                next_item = next_item.saturating_add(count);
            } else {
                let here = begins & at_most(&def, rule.slot_limit);
                self.starts.extend(positions(here).map(|at| {
                    let items_before = (has_items & ones(at)).count_ones() as usize;
                    O::usize_as(next_item.saturating_add(items_before))
                }));
                let valid = rule.valid(&def, has_items);
                validity.push(compress(valid, here), here.count_ones() as usize);
                next_item = next_item.saturating_add(has_items.count_ones() as usize);
            }
            kept.push(begins, &rep, &def);
        }
        ensure!(
            next_item == self.num_items,
            "{next_item} list items lie over {} slots",
            self.num_items
        );
        *entries = kept.into_entries();
        Ok(self.starts.len().saturating_sub(before))
    }

    fn finish(mut self) -> OffsetBuffer<O> {
        self.starts.push(O::usize_as(self.num_items));
        OffsetBuffer::new(self.starts.into())
    }
}

/// The entries that begin a list, for the layers outside.
struct Kept {
    len: usize,
    rep: Option<Vec<u16>>,
    def: Option<Vec<u16>>,
}

impl Kept {
    fn new(rule: &ListRule, has_def: bool) -> Self {
        let rep = rule.keeps_rep.then(Vec::new);
        let def = (rule.keeps_def && has_def).then(Vec::new);
        Self { len: 0, rep, def }
    }

    #[inline]
    fn push(&mut self, begins: u64, rep: &[u16; 64], def: &[u16; 64]) {
        self.len = self.len.saturating_add(begins.count_ones() as usize);
        for (kept, levels) in [(&mut self.rep, rep), (&mut self.def, def)] {
            if let Some(kept) = kept {
                kept.extend(positions(begins).filter_map(|at| levels.get(at)));
            }
        }
    }

    fn into_entries<'a>(self) -> Entries<'a> {
        Entries { len: self.len, rep: self.rep.map(Cow::Owned), def: self.def.map(Cow::Owned) }
    }
}

#[cfg(test)]
impl Assembler {
    /// Acts as if the lists held this many items already.
    pub(crate) fn pretend_items(&mut self, num_items: usize) {
        for layer in &mut self.layers {
            if let Shape::List32(lists) = &mut layer.shape {
                lists.num_items = num_items;
            }
        }
    }
}
