//! Which slots of a layer are valid.

use arrow_buffer::NullBuffer;

use crate::bits::{Bits, Planes};

/// Validity of the slots of a layer. Holds no bitmap until the first null.
#[derive(Debug, Default)]
pub(crate) struct Validity {
    len: usize,
    bits: Option<Bits>,
}

impl Validity {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends `count` valid slots.
    pub(crate) fn push_valid(&mut self, count: usize) {
        if let Some(bits) = &mut self.bits {
            bits.push_run(true, count);
        }
        self.len = self.len.saturating_add(count);
    }

    /// Appends `count` null slots.
    pub(crate) fn push_null(&mut self, count: usize) {
        if count > 0 {
            self.bits.get_or_insert_with(|| Bits::ones(self.len)).push_run(false, count);
        }
        self.len = self.len.saturating_add(count);
    }

    /// Appends slots, one bit each.
    pub(crate) fn push(&mut self, slots: &Bits) {
        if self.bits.is_none() && slots.is_all_set() {
            return self.push_valid(slots.len());
        }
        let bits = self.bits.get_or_insert_with(|| Bits::ones(self.len));
        bits.extend(slots, 0..slots.len());
        self.len = self.len.saturating_add(slots.len());
    }

    pub(crate) fn finish(self) -> Option<NullBuffer> {
        self.bits.and_then(Bits::into_validity)
    }
}

/// Which of the entries that own a slot of the leaf are valid; `None` if all are.
pub(crate) fn leaf_validity(def: &Planes, max_visible: u16) -> Option<NullBuffer> {
    def.at_most(0).select(&def.at_most(max_visible)).into_validity()
}
