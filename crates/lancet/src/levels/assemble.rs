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

use arrow_buffer::NullBuffer;

use crate::bits::Planes;
use crate::error::{Error, Result, ensure};
use crate::levels::entries::Entries;
use crate::levels::lists::{ListRule, Lists};
use crate::levels::validity::Validity;
use crate::levels::{Layer, LayerKind, ListOffsets, Numbering, check_kinds};

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
        rep: Option<&Planes>,
        def: Option<&Planes>,
        num_entries: usize,
    ) -> Result<usize> {
        check_kinds(layers, &self.kinds)?;
        let numbering = Numbering::new(layers)?;
        let mut entries = Entries::checked(&numbering, rep, def, num_entries)?;

        let num_values = match &entries.def {
            Some(def) if numbering.max_visible < numbering.max_def => {
                def.count_at_most(numbering.max_visible)
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
    let valid = def.at_most(consumed);
    if slots == entries.len {
        validity.push(&valid);
    } else {
        validity.push(&valid.select(&def.at_most(slot_limit)));
    }
}

#[cfg(test)]
impl Assembler {
    /// Appends rows whose levels are plain numbers.
    pub(crate) fn push_levels(
        &mut self,
        layers: &[Layer],
        rep: Option<&[u16]>,
        def: Option<&[u16]>,
        num_entries: usize,
    ) -> Result<usize> {
        let (rep, def) = (rep.map(Planes::from), def.map(Planes::from));
        self.push(layers, rep.as_ref(), def.as_ref(), num_entries)
    }

    /// Acts as if the lists held this many items already.
    pub(crate) fn pretend_items(&mut self, num_items: usize) {
        for layer in &mut self.layers {
            if let Shape::List32(lists) = &mut layer.shape {
                lists.num_items = num_items;
            }
        }
    }
}
