//! One list layer of a page: takes in the items of its lists, leaves the entries that begin one.
//!
//! ```text
//! list 1, floor 1, null 2, empty 3
//! rep         1 0 1 1 1 0 0 1
//! def         0 0 2 3 0 1 0 0
//! begins      x   x x x     x      rep >= number of the list
//! has items   x x     x x x x      def <= floor: these entries are the items, first ones included
//! here        x   x x x     x      begins, and def <= slot limit: further out is not this layer's business
//! starts      0   2 2 2     5      items before
//! valid       1   0 1 1     1      has items, or def = empty
//! ```

use arrow_array::OffsetSizeTrait;
use arrow_buffer::OffsetBuffer;

use crate::error::{Error, Result, ensure};
use crate::levels::bits::{BLOCK, Validity, at_most, blocks, compress, count, ones, positions};
use crate::levels::entries::{Entries, Kept};
use crate::levels::{Layer, Numbering};

/// The lists of a layer: where each starts, and how many items all of them have.
#[derive(Debug, Default)]
pub(crate) struct Lists<O> {
    starts: Vec<O>,
    pub(crate) num_items: usize,
}

/// How a list layer of a page reads its entries.
pub(crate) struct ListRule {
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

impl ListRule {
    pub(crate) fn new(
        layer: &Layer,
        number: u16,
        floor: u16,
        slot_limit: u16,
        all: &Numbering,
    ) -> Self {
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
    fn valid(&self, def: &[u16; BLOCK], has_items: u64) -> u64 {
        let is_empty = match self.empty {
            Some(level) => at_most(def, level) & !at_most(def, level.saturating_sub(1)),
            None => 0,
        };
        has_items | is_empty
    }
}

/// The masks of the drawing above.
#[derive(Clone, Copy)]
struct Block {
    begins: u64,
    here: u64,
    has_items: u64,
    valid: u64,
}

impl<O: OffsetSizeTrait> Lists<O> {
    /// Appends the lists of `entries`, which together have `num_items` items, and leaves the entries that begin a
    /// list. Returns the number of lists.
    pub(crate) fn push(
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
        let num_begins = count(&rep, |level| level >= rule.number);
        self.starts.reserve(num_begins.saturating_add(1));
        let mut kept = Kept::new(rule.keeps_rep, rule.keeps_def && def.is_some(), num_begins);
        let mut def_blocks = def.as_deref().map(blocks);
        for (rep, count) in blocks(&rep) {
            let live = ones(count);
            let begins = !at_most(&rep, rule.number.saturating_sub(1)) & live;
            let def =
                def_blocks.as_mut().and_then(Iterator::next).map_or([0; BLOCK], |(def, _)| def);
            let has_items =
                if def_blocks.is_some() { at_most(&def, rule.floor) & live } else { live };
            if has_items == live {
                let num_lists = self.push_starts(begins, live, next_item);
                validity.push_valid(num_lists);
            } else {
                let here = begins & at_most(&def, rule.slot_limit);
                let valid = rule.valid(&def, has_items);
                self.push_block(validity, Block { begins, here, has_items, valid }, next_item);
            }
            next_item = next_item.wrapping_add(has_items.count_ones() as usize);
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

    /// Appends the lists of a block where some entries have no items.
    #[inline]
    fn push_block(&mut self, validity: &mut Validity, block: Block, next_item: usize) {
        let Block { begins, here, has_items, valid } = block;
        if here == begins {
            let num_lists = self.push_starts(begins, has_items, next_item);
            if valid & begins == begins {
                validity.push_valid(num_lists);
            } else {
                validity.push(compress(valid, begins), num_lists);
            }
            return;
        }
        let (mut bits, mut num_lists, mut without_items) = (0u64, 0usize, 0usize);
        let is_set = |mask: u64, at: usize| (mask >> at) & 1;
        for at in positions(begins) {
            if is_set(here, at) != 0 {
                let start = next_item.wrapping_add(at).wrapping_sub(without_items);
                self.starts.push(O::usize_as(start));
                bits |= is_set(valid, at) << num_lists;
                num_lists = num_lists.wrapping_add(1);
            }
            without_items = without_items.wrapping_add(usize::from(is_set(has_items, at) == 0));
        }
        validity.push(bits, num_lists);
    }

    /// Appends where the lists of a block start, each at the items before it; returns their number.
    #[inline]
    fn push_starts(&mut self, begins: u64, has_items: u64, next_item: usize) -> usize {
        let mut starts = [O::default(); BLOCK];
        let (mut rest, mut num_lists, mut without_items) = (begins, 0_usize, 0_usize);
        while let Some(start) = starts.get_mut(num_lists).filter(|_| rest != 0) {
            let at = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let before = next_item.wrapping_add(at as usize);
            *start = O::usize_as(before.wrapping_sub(without_items));
            // An entry without items always begins a list.
            without_items = without_items.wrapping_add(usize::from((has_items >> at) & 1 == 0));
            num_lists = num_lists.wrapping_add(1);
        }
        self.starts.extend_from_slice(starts.get(..num_lists).unwrap_or_default());
        num_lists
    }

    pub(crate) fn finish(mut self) -> OffsetBuffer<O> {
        self.starts.push(O::usize_as(self.num_items));
        OffsetBuffer::new(self.starts.into())
    }
}
