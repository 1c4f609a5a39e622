//! The entries of a page on their way through its layers, leaf outwards: each list layer leaves fewer of them.

use std::borrow::Cow;

use crate::bits::{Bits, Planes};
use crate::error::{Result, ensure};
use crate::levels::Numbering;

/// The entries that are left for the layers outside. Without definition levels all of them are valid.
pub(crate) struct Entries<'a> {
    pub(crate) len: usize,
    pub(crate) rep: Option<Cow<'a, Planes>>,
    pub(crate) def: Option<Cow<'a, Planes>>,
}

impl<'a> Entries<'a> {
    /// The entries of a page, once their levels are known to describe a nesting.
    pub(crate) fn checked(
        numbering: &Numbering,
        rep: Option<&'a Planes>,
        def: Option<&'a Planes>,
        len: usize,
    ) -> Result<Self> {
        for levels in [rep, def].into_iter().flatten() {
            ensure!(levels.len() == len, "{len} entries have {} levels", levels.len());
        }
        numbering.check(rep, def)?;
        let rep = rep.filter(|_| numbering.max_rep > 0);
        if numbering.max_rep > 0 && len > 0 {
            let first = rep.map(|rep| rep.get(0));
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
    pub(crate) fn thin(&mut self, dimension: usize, consumed: u16) -> Result<()> {
        ensure!(
            self.len.is_multiple_of(dimension),
            "{} entries do not fill fixed-size lists of {dimension}",
            self.len
        );
        self.len = self.len.checked_div(dimension).unwrap_or(0);
        let Some(def) = &self.def else { return Ok(()) };
        let mut thinned = Planes::default();
        for list in 0..self.len {
            let start = list.saturating_mul(dimension);
            let first = def.get(start);
            let agrees = |d: u16| if first > consumed { d == first } else { d <= consumed };
            ensure!(
                def.iter(start..start.saturating_add(dimension)).all(agrees),
                "the entries of a fixed-size list disagree about it"
            );
            thinned.push(first);
        }
        self.def = Some(Cow::Owned(thinned));
        Ok(())
    }

    /// The entries that `mask` selects, with the levels that the layers outside need.
    pub(crate) fn select(&self, mask: &Bits, needs_rep: bool, needs_def: bool) -> Self {
        let select = |levels: &Option<Cow<'a, Planes>>, needed: bool| {
            let levels = levels.as_ref().filter(|_| needed);
            levels.map(|levels| Cow::Owned(levels.select(mask)))
        };
        let (rep, def) = (select(&self.rep, needs_rep), select(&self.def, needs_def));
        Self { len: mask.count(), rep, def }
    }
}
