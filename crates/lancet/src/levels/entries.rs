//! The entries of a page on their way through its layers, leaf outwards: each list layer leaves fewer of them.

use std::borrow::Cow;

use crate::error::{Result, ensure};
use crate::levels::Numbering;
use crate::levels::bits::{BLOCK, positions};

/// The entries that are left for the layers outside. Without definition levels all of them are valid.
pub(crate) struct Entries<'a> {
    pub(crate) len: usize,
    pub(crate) rep: Option<Cow<'a, [u16]>>,
    pub(crate) def: Option<Cow<'a, [u16]>>,
}

impl<'a> Entries<'a> {
    /// The entries of a page, once their levels are known to describe a nesting.
    pub(crate) fn checked(
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
    pub(crate) fn thin(&mut self, dimension: usize, consumed: u16) -> Result<()> {
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

/// The entries that begin a list, for the layers outside.
pub(crate) struct Kept {
    len: usize,
    rep: Option<Vec<u16>>,
    def: Option<Vec<u16>>,
}

impl Kept {
    pub(crate) fn new(keeps_rep: bool, keeps_def: bool, capacity: usize) -> Self {
        let levels = || Vec::with_capacity(capacity);
        Self { len: 0, rep: keeps_rep.then(levels), def: keeps_def.then(levels) }
    }

    #[inline]
    pub(crate) fn push(&mut self, begins: u64, rep: &[u16; BLOCK], def: &[u16; BLOCK]) {
        self.len = self.len.saturating_add(begins.count_ones() as usize);
        for (kept, levels) in [(&mut self.rep, rep), (&mut self.def, def)] {
            if let Some(kept) = kept {
                let level_at = |at: usize| levels.get(at % BLOCK).copied().unwrap_or(0);
                kept.extend(positions(begins).map(level_at));
            }
        }
    }

    pub(crate) fn into_entries<'a>(self) -> Entries<'a> {
        Entries { len: self.len, rep: self.rep.map(Cow::Owned), def: self.def.map(Cow::Owned) }
    }
}
