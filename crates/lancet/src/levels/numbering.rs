//! What the numbers in a page's level streams mean.
//!
//! ```text
//! layers (leaf → outwards)   levels taken                 list number
//!   leaf     nullable item   1 = null                     –
//!   struct   nullable item   2 = null                     –            max_visible = 2
//!   list     null and empty  3 = null, 4 = empty          1
//!   list     emptyable       5 = empty                    2            max_rep = 2, max_def = 5
//! ```
//!
//! Definition level 0 is a valid value. An entry is visible (owns a slot of the leaf) iff its definition level is at
//! most `max_visible`. A level that list `k`, or a struct right around it, owns says that list `k` has no items here:
//! the entry begins a list `k`, and so does the next entry. Both must therefore have a repetition level of at least
//! `k`; streams that keep this rule and begin with `max_rep` always describe exactly one nesting.

use crate::bits::{Planes, WORD, ones};
use crate::error::{Error, Result, ensure};
use crate::levels::{Layer, LayerKind};

/// The numbering of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// Number of list layers.
    pub(crate) max_rep: u16,
    /// Number of definition levels of all layers.
    pub(crate) max_def: u16,
    /// Entries up to this definition level own a slot of the leaf.
    pub(crate) max_visible: u16,
    /// For list 1, 2, …: the definition levels of the layers inside it.
    floors: Vec<u16>,
    /// For each layer: the definition levels up to it and on to the next list outside.
    slot_limits: Vec<u16>,
}

impl Numbering {
    pub(crate) fn new(layers: &[Layer]) -> Result<Self> {
        ensure!(!layers.is_empty(), "a page has no layers");
        let too_many =
            || Error::corrupt(format!("{} layers need more than 65535 levels", layers.len()));
        let mut floors = Vec::new();
        let mut max_def = 0u16;
        for layer in layers {
            if layer.is_list() {
                floors.push(max_def);
            }
            max_def = max_def.checked_add(layer.num_def_levels()).ok_or_else(too_many)?;
        }
        let max_rep = u16::try_from(floors.len()).map_err(|_| too_many())?;

        let mut limit = max_def;
        let mut inner_floors = floors.iter().rev();
        let mut slot_limits: Vec<u16> = (layers.iter().rev())
            .map(|layer| {
                let own = limit;
                if layer.is_list() {
                    limit = inner_floors.next().copied().unwrap_or(0);
                }
                own
            })
            .collect();
        slot_limits.reverse();
        Ok(Self { max_rep, max_def, max_visible: limit, floors, slot_limits })
    }

    /// Whether an entry owns a slot of the leaf.
    pub(crate) fn is_visible(&self, def: u16) -> bool {
        def <= self.max_visible
    }

    /// Entries up to this definition level own a slot of the layer (if they are not items of a list inside it).
    pub(crate) fn slot_limit(&self, layer: usize) -> u16 {
        self.slot_limits.get(layer).copied().unwrap_or(self.max_def)
    }

    /// Checks the levels of consecutive entries of a page; they need not begin with a row.
    pub(crate) fn check(&self, rep: Option<&Planes>, def: Option<&Planes>) -> Result<()> {
        if let Some(level) = rep.and_then(|rep| rep.first_above(self.max_rep)) {
            let rule =
                format!("repetition level {level} in a page with {} list layers", self.max_rep);
            return Err(Error::corrupt(rule));
        }
        if let Some(level) = def.and_then(|def| def.first_above(self.max_def)) {
            let rule = format!(
                "definition level {level} in a page with {} definition levels",
                self.max_def
            );
            return Err(Error::corrupt(rule));
        }
        let (Some(rep), Some(def)) = (rep, def) else { return Ok(()) };
        ensure!(
            rep.len() == def.len(),
            "{} repetition levels stand beside {} definition levels",
            rep.len(),
            def.len()
        );
        for (list, floor) in (1u16..).zip(&self.floors) {
            if *floor < self.max_def {
                check_childless(rep, def, list, *floor)?;
            }
        }
        Ok(())
    }
}

/// An entry above the floor of a list says that the list has no items: the entry begins such a list, the next one too.
fn check_childless(rep: &Planes, def: &Planes, list: u16, floor: u16) -> Result<()> {
    let (childless, begins) = (def.above(floor), rep.at_least(list));
    // The last bit of the word before.
    let (mut before, mut continued) = (0, 0);
    let mut num_left = rep.len();
    for (childless, begins) in childless.words().iter().zip(begins.words()) {
        ensure!(
            childless & !begins == 0,
            "a definition level above {floor} needs a repetition level of at least {list}"
        );
        let after = childless.wrapping_shl(1) | before;
        continued |= after & !begins & ones(num_left);
        before = childless.wrapping_shr(63);
        num_left = num_left.saturating_sub(WORD);
    }
    ensure!(continued == 0, "a repetition level below {list} continues a list without items");
    Ok(())
}

/// Checks that the layers of a page are of the kinds that the schema tells.
pub(crate) fn check_kinds(layers: &[Layer], kinds: &[LayerKind]) -> Result<()> {
    ensure!(
        layers.len() == kinds.len(),
        "a page has {} layers where the schema has {}",
        layers.len(),
        kinds.len()
    );
    for (i, (layer, kind)) in layers.iter().zip(kinds).enumerate() {
        ensure!(
            layer.is_list() == matches!(kind, LayerKind::List { .. }),
            "layer {i} of a page is {layer:?} where the schema has {kind:?}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Layer::*;

    fn deep() -> Numbering {
        Numbering::new(&[NullableItem, NullAndEmptyList, NullableItem, EmptyableList]).unwrap()
    }

    #[test]
    fn levels_are_numbered_from_the_leaf_outwards() {
        let n = deep();
        assert_eq!((n.max_rep, n.max_def, n.max_visible), (2, 5, 1));
        assert_eq!(n.floors, [1, 4]);
        assert_eq!(n.slot_limits, [1, 4, 4, 5]);
        assert!(n.is_visible(1) && !n.is_visible(2));

        let flat = Numbering::new(&[NullableItem, AllValidItem, NullableItem]).unwrap();
        assert_eq!((flat.max_rep, flat.max_def, flat.max_visible), (0, 2, 2));
        assert_eq!(flat.slot_limits, [2, 2, 2]);
    }

    #[test]
    fn layers_must_exist_and_fit_16_bits() {
        assert!(Numbering::new(&[]).is_err());
        assert!(Numbering::new(&vec![NullableItem; 65535]).is_ok());
        assert!(Numbering::new(&vec![NullableItem; 65536]).is_err());
        assert!(Numbering::new(&vec![AllValidList; 65536]).is_err());
    }

    #[test]
    fn each_rule_of_the_levels_is_checked() {
        let n = deep();
        let check = |rep: &[u16], def: &[u16]| n.check(Some(&rep.into()), Some(&def.into()));
        check(&[2, 0, 1, 1, 1, 2, 2], &[0, 1, 4, 2, 3, 5, 0]).unwrap();
        let rule = |rep: &[u16], def: &[u16]| check(rep, def).unwrap_err().to_string();
        assert!(rule(&[2, 0], &[0]).contains("2 repetition levels stand beside 1 definition"));
        assert!(rule(&[3], &[0]).contains("repetition level 3"));
        assert!(rule(&[2], &[6]).contains("definition level 6"));
        assert!(rule(&[2, 0], &[0, 2]).contains("above 1 needs a repetition level of at least 1"));
        assert!(rule(&[1], &[5]).contains("above 4 needs a repetition level of at least 2"));
        assert!(rule(&[2, 0], &[3, 0]).contains("below 1 continues a list without items"));
        assert!(rule(&[2, 1], &[5, 0]).contains("below 2 continues a list without items"));
    }

    #[test]
    fn kinds_come_from_the_schema() {
        let kinds = [
            LayerKind::Item,
            LayerKind::FixedSizeList { dimension: 2 },
            LayerKind::List { large: true },
        ];
        check_kinds(&[NullableItem, AllValidItem, EmptyableList], &kinds).unwrap();
        assert!(check_kinds(&[NullableItem, AllValidItem], &kinds).is_err());
        assert!(check_kinds(&[NullableItem, AllValidList, EmptyableList], &kinds).is_err());
        assert!(check_kinds(&[NullableItem, AllValidItem, NullableItem], &kinds).is_err());
    }
}
