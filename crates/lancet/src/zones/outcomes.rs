//! What a condition may come to in the rows of a zone: a set of true, false and null.
//!
//! A set may be too large, never too small: a row whose outcome is missing would be lost.

/// A set of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcomes(u8);

impl Outcomes {
    pub(super) const TRUE: Self = Self(1);
    pub(super) const FALSE: Self = Self(2);
    pub(super) const NULL: Self = Self(4);
    pub(super) const ANY: Self = Self(7);

    /// The set of the outcomes that are possible.
    pub(super) fn of(is_true: bool, is_false: bool, null: bool) -> Self {
        Self(u8::from(is_true) | u8::from(is_false) << 1 | u8::from(null) << 2)
    }

    /// Whether both sets have an outcome in common.
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        let null = self.has(Self::NULL) && other.has(Self(5))
            || other.has(Self::NULL) && self.has(Self::TRUE);
        Self::of(
            self.has(Self::TRUE) && other.has(Self::TRUE),
            self.has(Self::FALSE) || other.has(Self::FALSE),
            null,
        )
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    pub(super) fn not(self) -> Self {
        Self::of(self.has(Self::FALSE), self.has(Self::TRUE), self.has(Self::NULL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets as the outcomes they hold.
    fn members(set: Outcomes) -> impl Iterator<Item = Option<bool>> {
        [(Outcomes::TRUE, Some(true)), (Outcomes::FALSE, Some(false)), (Outcomes::NULL, None)]
            .into_iter()
            .filter_map(move |(one, value)| set.has(one).then_some(value))
    }

    fn set(values: impl Iterator<Item = Option<bool>>) -> Outcomes {
        values.fold(Outcomes(0), |set, value| {
            let one = match value {
                Some(true) => Outcomes::TRUE,
                Some(false) => Outcomes::FALSE,
                None => Outcomes::NULL,
            };
            Outcomes(set.0 | one.0)
        })
    }

    #[test]
    fn logic_of_sets_is_that_of_their_members() {
        let and = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        let not = |a: Option<bool>| a.map(|a| !a);
        for a in (1..8).map(Outcomes) {
            assert_eq!(a.not(), set(members(a).map(not)));
            for b in (1..8).map(Outcomes) {
                let pairs = || members(a).flat_map(move |a| members(b).map(move |b| (a, b)));
                assert_eq!(a.and(b), set(pairs().map(|(a, b)| and(a, b))));
                assert_eq!(a.or(b), set(pairs().map(|(a, b)| not(and(not(a), not(b))))));
            }
        }
    }
}
