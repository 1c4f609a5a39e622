//! The dictionary of a page, ready to look up.
//!
//! Short strings are the most common entries. They are laid out in slots of one width, so that a
//! lookup copies a whole slot, whatever the length of its string; the next string is written over
//! what lies behind its end.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::gather::{claim, position};
use super::variable_values::OffsetWord;
use super::{Offsets, Scratch, Values, VariableValues, size_u64};
use crate::error::Result;
use crate::set_once::SetOnce;

/// The entries of a dictionary, and a table of them where they are short strings.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) items: Values,
    /// Made once that pays; `None` for entries that are no short strings.
    short: SetOnce<Option<ShortStrings>>,
    /// Lookups before that.
    num_lookups: AtomicUsize,
}

impl Dictionary {
    pub(crate) fn new(items: Values) -> Self {
        Self { items, short: SetOnce::new(), num_lookups: AtomicUsize::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Bytes of the entries, and of the table that may be made of them.
    pub(crate) fn size_bytes(&self) -> usize {
        let table = match &self.items {
            Values::Variable(strings) => ShortStrings::size_bytes(strings),
            _ => 0,
        };
        self.items.size_bytes().saturating_add(table)
    }

    /// The table, if there is one, or if one pays now that so many more lookups come.
    pub(super) fn short(
        &self,
        num_lookups: usize,
        scratch: &mut Scratch,
    ) -> Result<Option<&ShortStrings>> {
        let Values::Variable(strings) = &self.items else { return Ok(None) };
        if let Some(short) = self.short.get() {
            return Ok(short.as_ref());
        }
        let before = self.num_lookups.fetch_add(num_lookups, Ordering::Relaxed);
        if before.saturating_add(num_lookups) < strings.len() {
            return Ok(None);
        }
        scratch
            .claim(size_u64(ShortStrings::size_bytes(strings)), "the strings of a dictionary")?;
        // While another thread makes it, the entries are looked up without.
        Ok(self.short.set_with(|| ShortStrings::new(strings)).and_then(Option::as_ref))
    }
}

/// Strings in slots that hold the longest of them.
#[derive(Debug)]
pub(super) enum ShortStrings {
    Bytes8(Vec<Slot<8>>),
    Bytes16(Vec<Slot<16>>),
    Bytes32(Vec<Slot<32>>),
}

/// A string, and what fills its slot.
#[derive(Debug, Clone)]
pub(super) struct Slot<const W: usize> {
    bytes: [u8; W],
    len: u32,
}

impl ShortStrings {
    fn longest(strings: &VariableValues) -> usize {
        fn longest<T: OffsetWord>(offsets: &[T]) -> usize {
            let size = |offset: &T| offset.to_size().unwrap_or(usize::MAX);
            let pairs = offsets.iter().zip(offsets.iter().skip(1));
            pairs.map(|(start, end)| size(end).saturating_sub(size(start))).max().unwrap_or(0)
        }
        match &strings.offsets {
            Offsets::Bits32(offsets) => longest(offsets),
            Offsets::Bits64(offsets) => longest(offsets),
        }
    }

    /// Bytes of the table; none where strings are too long for one.
    fn size_bytes(strings: &VariableValues) -> usize {
        let slot_bytes = match Self::longest(strings) {
            0..=8 => size_of::<Slot<8>>(),
            9..=16 => size_of::<Slot<16>>(),
            17..=32 => size_of::<Slot<32>>(),
            _ => 0,
        };
        strings.len().saturating_mul(slot_bytes)
    }

    fn new(strings: &VariableValues) -> Option<Self> {
        match Self::longest(strings) {
            0..=8 => slots(strings).map(Self::Bytes8),
            9..=16 => slots(strings).map(Self::Bytes16),
            17..=32 => slots(strings).map(Self::Bytes32),
            _ => None,
        }
    }

    /// Appends the strings that `indices` name; too large an index names an empty one.
    pub(super) fn append(
        &self,
        indices: &[u32],
        out: &mut VariableValues,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match self {
            Self::Bytes8(slots) => append(slots, indices, out, scratch),
            Self::Bytes16(slots) => append(slots, indices, out, scratch),
            Self::Bytes32(slots) => append(slots, indices, out, scratch),
        }
    }
}

fn slots<const W: usize>(strings: &VariableValues) -> Option<Vec<Slot<W>>> {
    let slot = |index: usize| {
        let value = strings.value(index).ok()?;
        let mut slot = Slot { bytes: [0; W], len: u32::try_from(value.len()).ok()? };
        slot.bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(slot)
    };
    (0..strings.len()).map(slot).collect()
}

fn append<const W: usize>(
    slots: &[Slot<W>],
    indices: &[u32],
    out: &mut VariableValues,
    scratch: &mut Scratch,
) -> Result<()> {
    match &mut out.offsets {
        Offsets::Bits32(ends) => append_slots(slots, indices, ends, &mut out.bytes, scratch),
        Offsets::Bits64(ends) => append_slots(slots, indices, ends, &mut out.bytes, scratch),
    }
}

fn append_slots<const W: usize, T: OffsetWord>(
    slots: &[Slot<W>],
    indices: &[u32],
    ends: &mut Vec<T>,
    bytes: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> Result<()> {
    // There are no more letters than that, and looking at all entries each time must stay cheap.
    let are_letters = slots.len() <= 256 && slots.iter().all(|slot| slot.len == 1);
    if are_letters && all_found(indices, slots.len()) {
        return append_letters(slots, indices, ends, bytes, scratch);
    }
    let null = Slot { bytes: [0; W], len: 0 };
    let find = |index: u32| position(index).and_then(|at| slots.get(at)).unwrap_or(&null);
    let total: u64 = indices.iter().map(|&index| u64::from(find(index).len)).sum();
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let (first, mut end) = (ends.len(), bytes.len());
    let last = claim(total, bytes, scratch)?;
    let end_word = T::from_size(last)?;
    bytes.resize(last.saturating_add(W), 0);
    ends.resize(first.saturating_add(indices.len()), end_word);
    let to_ends = ends.get_mut(first..).unwrap_or_default();
    let to = bytes.as_mut_slice();
    for (to_end, &index) in to_ends.iter_mut().zip(indices) {
        let slot = find(index);
        if let Some(to) = to.get_mut(end..).and_then(<[u8]>::first_chunk_mut) {
            *to = slot.bytes;
        }
        end = end.wrapping_add(slot.len as usize);
        *to_end = T::from_checked(end);
    }
    bytes.truncate(last);
    Ok(())
}

/// Whether every index names an entry.
fn all_found(indices: &[u32], num_entries: usize) -> bool {
    let num_entries = u32::try_from(num_entries).unwrap_or(u32::MAX);
    // No way out: this becomes vector code.
    indices.iter().fold(true, |all, &index| all & (index < num_entries))
}

/// Appends strings of one letter, as flags have: where each goes needs no sum.
fn append_letters<const W: usize, T: OffsetWord>(
    slots: &[Slot<W>],
    indices: &[u32],
    ends: &mut Vec<T>,
    bytes: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> Result<()> {
    let first = bytes.len();
    T::from_size(claim(indices.len(), bytes, scratch)?)?;
    let letter =
        |index: &u32| position(*index).and_then(|at| slots.get(at)?.bytes.first().copied());
    bytes.extend(indices.iter().map(|index| letter(index).unwrap_or(0)));
    let last = first.saturating_add(indices.len());
    ends.extend((first..last).map(|before| T::from_checked(before.wrapping_add(1))));
    Ok(())
}
