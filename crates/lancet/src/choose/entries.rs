//! The different values of a page, found by a table.

use crate::codec::{FixedValues, Values, VariableValues};
use crate::error::Result;
use crate::measure::hash_bytes;

/// Sorted entries, and for each value its index among them.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) items: Values,
    pub(super) indices: Values,
}

impl Built {
    /// `None` if there are more than `cap` different values, or seem to be. Null slots repeat the index before.
    pub(super) fn new(values: &Values, valid: Option<&[bool]>, cap: usize) -> Result<Option<Self>> {
        match values {
            Values::Fixed(fixed) => match fixed.bits() {
                16 => Self::of_words(fixed.words::<u16>(), cap),
                32 => Self::of_words(fixed.words::<u32>(), cap),
                64 => Self::of_words(fixed.words::<u64>(), cap),
                _ => {
                    let words = fixed.data().as_chunks::<16>().0;
                    let words: Vec<u128> = words.iter().map(|w| u128::from_le_bytes(*w)).collect();
                    Self::of_words(&words, cap)
                }
            },
            Values::Variable(variable) => Self::of_strings(variable, valid, cap),
            _ => Ok(None),
        }
    }

    fn of_words<T: HashedWord>(values: &[T], cap: usize) -> Result<Option<Self>> {
        let mut table = Table::new(cap);
        let mut entries: Vec<T> = Vec::new();
        let mut indices = Vec::with_capacity(values.len());
        let mut last: Option<(T, u32)> = None;
        let part_len = values.len().div_ceil(NUM_PARTS).max(1);
        let mut after_parts = Vec::with_capacity(NUM_PARTS);
        for part in values.chunks(part_len) {
            for value in part {
                let index = match last {
                    Some((before, index)) if before == *value => index,
                    _ => {
                        let is_entry = |i: u32| entries.get(i as usize) == Some(value);
                        let Some(index) = table.find(value.hash(), is_entry) else {
                            return Ok(None);
                        };
                        if index as usize == entries.len() {
                            entries.push(*value);
                        }
                        index
                    }
                };
                last = Some((*value, index));
                indices.push(index);
            }
            after_parts.push(entries.len());
            let rest = values.get(part_len * after_parts.len()..).unwrap_or_default();
            let is_known = |value: &T| {
                table.contains(value.hash(), |i| entries.get(i as usize) == Some(value))
            };
            let is_long = values.len() >= MIN_VALUES;
            if is_long && outgrows(&after_parts, cap) && !comes_again(rest, is_known) {
                return Ok(None);
            }
        }
        let mut entries: Vec<(T, u32)> = entries.into_iter().zip(0..).collect();
        entries.sort_unstable();
        let mut items = FixedValues::new(size_of::<T>() as u64 * 8);
        entries.iter().for_each(|(value, _)| value.append(&mut items));
        let order: Vec<u32> = entries.into_iter().map(|(_, number)| number).collect();
        Ok(Some(Self::numbered(Values::Fixed(items), &indices, &order)))
    }

    fn of_strings(
        values: &VariableValues,
        valid: Option<&[bool]>,
        cap: usize,
    ) -> Result<Option<Self>> {
        let mut table = Table::new(cap);
        let mut entries: Vec<&[u8]> = Vec::new();
        let mut indices = Vec::with_capacity(values.len());
        let mut last = 0;
        for i in 0..values.len() {
            if valid.is_none_or(|valid| valid.get(i).copied().unwrap_or(false)) {
                let value = values.value(i)?;
                let is_entry = |i: u32| entries.get(i as usize) == Some(&value);
                let Some(index) = table.find(hash_bytes(value), is_entry) else { return Ok(None) };
                if index as usize == entries.len() {
                    entries.push(value);
                }
                last = index;
            }
            indices.push(last);
        }
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        order.sort_unstable_by_key(|number| entries.get(*number as usize));
        let mut items = VariableValues::new(values.offsets.bits());
        for entry in order.iter().filter_map(|i| entries.get(*i as usize)) {
            items.push(entry)?;
        }
        Ok(Some(Self::numbered(Values::Variable(items), &indices, &order)))
    }

    /// Indices by the order of the entries, in the narrowest width.
    fn numbered(items: Values, indices: &[u32], order: &[u32]) -> Self {
        let mut rank = vec![0_u32; order.len()];
        for (position, entry) in order.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*entry as usize) {
                *rank = position as u32;
            }
        }
        let ranks = indices.iter().map(|i| rank.get(*i as usize).copied().unwrap_or(0));
        let indices = match order.len() {
            0..=0x100 => FixedValues::from_words(ranks.map(|rank| rank as u8)),
            0x101..=0x1_0000 => FixedValues::from_words(ranks.map(|rank| rank as u16)),
            _ => FixedValues::from_words(ranks),
        };
        Self { items, indices: Values::Fixed(indices) }
    }
}

/// Places that a look at the table visits at most, where chosen values pile up.
const MAX_STEPS: usize = 64;

/// Fewer values are counted to the end.
const MIN_VALUES: usize = 1 << 16;

/// Parts of the values, after two of which it is clear where the entries lead.
const NUM_PARTS: usize = 16;

/// Whether there seem to be more than `cap` entries in the end; told by those after the first two parts.
///
/// Values drawn from a fixed set bring fewer new ones with each part, by the same factor; those of a
/// clock bring as many as before.
fn outgrows(after_parts: &[usize], cap: usize) -> bool {
    let [first, second] = *after_parts else { return false };
    let (first, second) = (first as f64, (second - first) as f64);
    let factor = (second / first.max(1.0)).min(1.0);
    let parts = (0..NUM_PARTS as i32).map(|part| first * factor.powi(part));
    // A guess, so that it must be clearly too many.
    parts.sum::<f64>() > cap as f64 * 1.15
}

/// Whether more than a few of the values left are known already, as those of a table that is repeated.
fn comes_again<T>(rest: &[T], is_known: impl Fn(&T) -> bool) -> bool {
    const NUM_PROBES: usize = 1024;
    let step = (rest.len() / NUM_PROBES).max(1);
    let probes = rest.iter().step_by(step);
    let num_probes = probes.len();
    probes.filter(|value| is_known(value)).count() > num_probes / 50
}

/// A value that fits a register or two.
trait HashedWord: Copy + Ord {
    fn hash(self) -> u64;
    fn append(self, out: &mut FixedValues);
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl HashedWord for $word {
            fn hash(self) -> u64 {
                const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
                let folded = (self as u128 as u64) ^ ((self as u128 >> 64) as u64).rotate_left(29);
                // Once is not enough where only the upper bits of the values differ.
                let mixed = (folded ^ (folded >> 32)).wrapping_mul(ODD);
                (mixed ^ (mixed >> 32)).wrapping_mul(ODD)
            }

            fn append(self, out: &mut FixedValues) {
                out.push(&self.to_le_bytes());
            }
        }
    )*};
}
word!(u16, u32, u64, u128);

/// Entry numbers by hash: open addressing that grows with the entries.
#[derive(Debug)]
struct Table {
    /// Entry number + 1 and the upper half of the hash, which says where to look; 0 is free.
    slots: Vec<(u32, u32)>,
    num_entries: usize,
    cap: usize,
    /// Steps that may still be wasted on collisions, which chosen values could pile up. New entries
    /// earn none, so that a page of different values ends the search early.
    patience: usize,
}

impl Table {
    fn new(cap: usize) -> Self {
        let cap = cap.min(u32::MAX as usize - 1);
        Self { slots: vec![(0, 0); 1024], num_entries: 0, cap, patience: 1 << 16 }
    }

    /// The entry that `is_entry` knows, or the number of a new one. `None` when the table is full.
    fn find(&mut self, hash: u64, is_entry: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = tag as usize & mask;
        loop {
            let (entry, known) = self.slots.get(slot).copied()?;
            if entry == 0 {
                return self.insert(slot, tag);
            }
            if known == tag && is_entry(entry - 1) {
                self.patience = (self.patience + 4).min(1 << 20);
                return Some(entry - 1);
            }
            self.patience = self.patience.checked_sub(1)?;
            slot = (slot + 1) & mask;
        }
    }

    /// Whether `is_entry` knows an entry of this hash.
    fn contains(&self, hash: u64, is_entry: impl Fn(u32) -> bool) -> bool {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let places = (0..MAX_STEPS).map(|step| (tag as usize + step) & mask);
        let mut taken =
            places.map_while(|slot| self.slots.get(slot).filter(|(entry, _)| *entry > 0));
        taken.any(|(entry, known)| *known == tag && is_entry(entry - 1))
    }

    fn insert(&mut self, slot: usize, tag: u32) -> Option<u32> {
        if self.num_entries == self.cap {
            return None;
        }
        self.num_entries += 1;
        let number = u32::try_from(self.num_entries).ok()?;
        *self.slots.get_mut(slot)? = (number, tag);
        if self.num_entries * 2 > self.slots.len() {
            self.grow();
        }
        Some(number - 1)
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); len]);
        for (entry, tag) in old.into_iter().filter(|(entry, _)| *entry != 0) {
            let mut slot = tag as usize & (len - 1);
            while self.slots.get(slot).is_some_and(|(entry, _)| *entry != 0) {
                slot = (slot + 1) & (len - 1);
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = (entry, tag);
            }
        }
    }
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
