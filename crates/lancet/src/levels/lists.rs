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

use std::borrow::Cow;

use arrow_array::OffsetSizeTrait;
use arrow_buffer::OffsetBuffer;

use crate::bits::{Bits, Planes, is_set, positions};
use crate::error::{Error, Result, ensure};
use crate::levels::entries::Entries;
use crate::levels::validity::Validity;
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

    /// Which entries have a valid list.
    fn valid(&self, def: &Planes, has_items: &Bits) -> Bits {
        let Some(empty) = self.empty else { return has_items.clone() };
        let is_empty = def.at_least(empty).join(&def.at_most(empty), |a, b| a & b);
        has_items.join(&is_empty, |a, b| a | b)
    }
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
        let first_item = self.num_items;
        self.num_items = first_item.saturating_add(num_items);
        if self.num_items > O::MAX_OFFSET {
            let items = self.num_items;
            return Err(Error::invalid(format!(
                "{items} list items do not fit 32-bit offsets; ask for fewer rows at a time"
            )));
        }
        let none = Planes::default();
        let begins = entries.rep.as_deref().unwrap_or(&none).at_least(rule.number);
        let (here, has_items) = match &entries.def {
            None => {
                validity.push_valid(begins.count());
                (Cow::Borrowed(&*begins), Bits::ones(begins.len()))
            }
            Some(def) => {
                let has_items = def.at_most(rule.floor);
                let here = begins.join(&def.at_most(rule.slot_limit), |a, b| a & b);
                validity.push(&rule.valid(def, &has_items).select(&here));
                (Cow::Owned(here), has_items)
            }
        };
        let (before, num_lists) = (self.starts.len(), here.count());
        // With room for the end, which comes last.
        self.starts.reserve(num_lists.saturating_add(1));
        self.starts.resize(before.saturating_add(num_lists), O::default());
        let starts = self.starts.get_mut(before..).unwrap_or_default();
        let end = place(starts, &begins, &here, &has_items, first_item);
        ensure!(end == self.num_items, "{end} list items lie over {} slots", self.num_items);
        *entries = entries.select(&begins, rule.keeps_rep, rule.keeps_def);
        Ok(num_lists)
    }

    pub(crate) fn finish(mut self) -> OffsetBuffer<O> {
        self.starts.push(O::usize_as(self.num_items));
        OffsetBuffer::new(self.starts.into())
    }
}

/// Fills in where the lists that are `here` start, each at the items before it. Returns the items before the next list.
fn place<O: OffsetSizeTrait>(
    mut starts: &mut [O],
    begins: &Bits,
    here: &Bits,
    has_items: &Bits,
    first_item: usize,
) -> usize {
    let mut next_item = first_item;
    let words = begins.words().iter().zip(here.words()).zip(has_items.words());
    for ((&begins, &here), &has_items) in words {
        let num_lists = here.count_ones() as usize;
        let (of_word, later) = starts.split_at_mut_checked(num_lists).unwrap_or_default();
        starts = later;
        // An entry without items always begins a list, and one that is not here has none.
        if begins & !has_items == 0 {
            for (at, start) in positions(begins).zip(of_word) {
                *start = O::usize_as(next_item.wrapping_add(at));
            }
        } else if begins == here {
            // The outermost lists: one start after the other, and no branch on what is in them.
            let mut before = next_item;
            for (at, start) in positions(begins).zip(of_word) {
                *start = O::usize_as(before.wrapping_add(at));
                before = before.wrapping_sub(usize::from(!is_set(has_items, at)));
            }
        } else {
            let mut of_word = of_word.iter_mut();
            let mut before = next_item;
            for at in positions(begins) {
                if is_set(here, at)
                    && let Some(start) = of_word.next()
                {
                    *start = O::usize_as(before.wrapping_add(at));
                }
                before = before.wrapping_sub(usize::from(!is_set(has_items, at)));
            }
        }
        next_item = next_item.wrapping_add(has_items.count_ones() as usize);
    }
    next_item
}
