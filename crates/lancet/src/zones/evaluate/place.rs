//! Where a literal stands among the values of a column that counts in another unit.

use arrow_buffer::i256;
use arrow_schema::DataType;

use super::super::keys::Kind;

/// A literal beside the values of a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place<T> {
    /// It is this value.
    At(T),
    /// It is above this value and below the next.
    After(T),
    BelowAll,
    AboveAll,
}

/// How many units of a column there are in one of a literal. A number that is missing is greater than
/// all that values are held as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ratio {
    Times(Option<i256>),
    Over(Option<i256>),
}

impl Ratio {
    /// Of types that compare as whole numbers.
    pub(super) fn of(literal: &DataType, column: &DataType) -> Option<Self> {
        if literal == column {
            return Some(Self::Times(Some(i256::ONE)));
        }
        if let Some((from, to)) = scale(literal).zip(scale(column)) {
            let power = i256::from_i128(10).checked_pow(from.abs_diff(to).into());
            return Some(if from <= to { Self::Times(power) } else { Self::Over(power) });
        }
        let (Kind::Whole(_, from), Kind::Whole(_, to)) = (Kind::of(literal)?, Kind::of(column)?)
        else {
            return None;
        };
        // Units are multiples of one another.
        let quotient = |a: i64, b: i64| Some(i256::from_i128(a.checked_div(b)?.into()));
        Some(if from <= to {
            Self::Times(quotient(to, from))
        } else {
            Self::Over(quotient(from, to))
        })
    }
}

/// The digits after the point of integers and decimals.
fn scale(data_type: &DataType) -> Option<i8> {
    use DataType as D;
    match data_type {
        D::Decimal32(_, scale)
        | D::Decimal64(_, scale)
        | D::Decimal128(_, scale)
        | D::Decimal256(_, scale) => Some(*scale),
        whole if whole.is_integer() => Some(0),
        _ => None,
    }
}

impl Place<i256> {
    /// A literal in the unit of a column.
    pub(super) fn of(literal: i256, ratio: Ratio) -> Self {
        let below_zero = literal < i256::ZERO;
        match ratio {
            _ if literal == i256::ZERO => Self::At(literal),
            Ratio::Times(factor) => match factor.and_then(|factor| literal.checked_mul(factor)) {
                Some(product) => Self::At(product),
                None => Self::beyond(below_zero),
            },
            Ratio::Over(divisor) => {
                let parts = divisor.and_then(|divisor| {
                    literal.checked_div(divisor).zip(literal.checked_rem(divisor))
                });
                // Division rounds towards zero.
                match parts.unwrap_or((i256::ZERO, literal)) {
                    (whole, i256::ZERO) => Self::At(whole),
                    (whole, _) if below_zero => match whole.checked_sub(i256::ONE) {
                        Some(lower) => Self::After(lower),
                        None => Self::BelowAll,
                    },
                    (whole, _) => Self::After(whole),
                }
            }
        }
    }

    /// The same among the values of a narrower type.
    pub(super) fn narrow<T: Whole>(self) -> Place<T> {
        let narrowed = |value: i256, place: fn(T) -> Place<T>| match T::of(value) {
            Some(value) => place(value),
            None => Place::beyond(value < i256::ZERO),
        };
        match self {
            Self::At(value) => narrowed(value, Place::At),
            Self::After(value) => narrowed(value, Place::After),
            Self::BelowAll => Place::BelowAll,
            Self::AboveAll => Place::AboveAll,
        }
    }
}

impl<T> Place<T> {
    fn beyond(below: bool) -> Self {
        if below { Self::BelowAll } else { Self::AboveAll }
    }
}

/// A type of whole numbers.
pub(super) trait Whole: Copy + PartialOrd {
    /// A number, if it is one of the type.
    fn of(value: i256) -> Option<Self>;
}

impl Whole for i256 {
    fn of(value: i256) -> Option<Self> {
        Some(value)
    }
}

macro_rules! whole {
    ($($native:ty),*) => {$(
        impl Whole for $native {
            fn of(value: i256) -> Option<Self> {
                Self::try_from(value.to_i128()?).ok()
            }
        }
    )*};
}

whole!(i8, i16, i32, i64, u8, u16, u32, u64, i128);

#[cfg(test)]
mod tests {
    use super::*;

    fn place<T: Whole>(literal: i128, ratio: Ratio) -> Place<T> {
        Place::of(i256::from_i128(literal), ratio).narrow()
    }

    #[test]
    fn literals_stand_at_values_and_between() {
        let ten = Some(i256::from_i128(10));
        assert_eq!(place::<i8>(7, Ratio::Times(ten)), Place::At(70));
        assert_eq!(place::<i8>(13, Ratio::Times(ten)), Place::AboveAll);
        assert_eq!(place::<i8>(-13, Ratio::Times(ten)), Place::BelowAll);
        assert_eq!(place::<i8>(30, Ratio::Over(ten)), Place::At(3));
        assert_eq!(place::<i8>(25, Ratio::Over(ten)), Place::After(2));
        assert_eq!(place::<i8>(-25, Ratio::Over(ten)), Place::After(-3));
        assert_eq!(place::<i8>(-5, Ratio::Over(ten)), Place::After(-1));
        assert_eq!(place::<u8>(-5, Ratio::Over(ten)), Place::BelowAll);
        assert_eq!(place::<i8>(1275, Ratio::Over(ten)), Place::After(127));
        assert_eq!(place::<i8>(-1285, Ratio::Over(ten)), Place::BelowAll);
        for ratio in [Ratio::Times(None), Ratio::Over(None)] {
            assert_eq!(place::<i64>(0, ratio), Place::At(0));
        }
        assert_eq!(place::<i256>(1, Ratio::Times(None)), Place::AboveAll);
        assert_eq!(place::<i256>(-1, Ratio::Times(None)), Place::BelowAll);
        assert_eq!(place::<i256>(1, Ratio::Over(None)), Place::After(i256::ZERO));
        assert_eq!(place::<i256>(-1, Ratio::Over(None)), Place::After(i256::MINUS_ONE));
        assert_eq!(Place::of(i256::MAX, Ratio::Times(ten)), Place::AboveAll);
        assert_eq!(Place::of(i256::MIN, Ratio::Times(ten)), Place::BelowAll);
    }
}
