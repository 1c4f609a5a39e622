//! Bounds of columns that a cast keeps inside.
//!
//! To guess how many rows a filter keeps, DataFusion follows it through casts and back: what
//! `CAST(t AS DATE) < d` leaves of `t` begins at midnight, even where `t` begins at noon. If that is
//! more than there was before, it gives up with an internal error. So bounds that a cast may move
//! outwards are handed over with some room.

use datafusion::common::ScalarValue;

/// A bound of a column.
#[derive(Debug, PartialEq)]
pub(crate) enum Bound {
    /// As it was.
    Kept(ScalarValue),
    /// No value may lie beyond it, but the nearest may be some way off.
    Widened(ScalarValue),
    Unknown,
}

impl Bound {
    pub(crate) fn kept(value: Option<ScalarValue>) -> Self {
        value.map_or(Self::Unknown, Self::Kept)
    }
}

/// Floats beyond are not whole in fewer bits.
const MAX_WHOLE: f64 = 16_777_216.0;

/// The smallest and the largest value, such that casts to coarser types and back stay between them.
pub(crate) fn roomy(min: &ScalarValue, max: &ScalarValue) -> (Bound, Bound) {
    use ScalarValue::*;
    let ticks = |low: i64, high: i64, day: i64, tick: fn(i64, &ScalarValue) -> ScalarValue| {
        times(low, high, day, zone(min), |value| tick(value, min))
            .unwrap_or((Bound::Unknown, Bound::Kept(max.clone())))
    };
    match (min, max) {
        (Float16(_), _) => (Bound::Unknown, Bound::Unknown),
        (Float32(Some(low)), Float32(Some(high))) => {
            let whole = |value: f32| Float32(Some(value));
            floats(f64::from(low.floor()), f64::from(high.ceil()), |value| whole(value as f32))
        }
        (Float64(Some(low)), Float64(Some(high))) => {
            floats(low.floor(), high.ceil(), |value| Float64(Some(value)))
        }
        (Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..), _) => decimals(min, max),
        (TimestampSecond(Some(low), _), TimestampSecond(Some(high), _)) => {
            ticks(*low, *high, DAY, |value, like| TimestampSecond(Some(value), zone_of(like)))
        }
        (TimestampMillisecond(Some(low), _), TimestampMillisecond(Some(high), _)) => {
            let tick = |value, like: &ScalarValue| TimestampMillisecond(Some(value), zone_of(like));
            ticks(*low, *high, DAY * 1_000, tick)
        }
        (TimestampMicrosecond(Some(low), _), TimestampMicrosecond(Some(high), _)) => {
            let tick = |value, like: &ScalarValue| TimestampMicrosecond(Some(value), zone_of(like));
            ticks(*low, *high, DAY * 1_000_000, tick)
        }
        (TimestampNanosecond(Some(low), _), TimestampNanosecond(Some(high), _)) => {
            let tick = |value, like: &ScalarValue| TimestampNanosecond(Some(value), zone_of(like));
            ticks(*low, *high, DAY * 1_000_000_000, tick)
        }
        (Date64(Some(low)), Date64(Some(high))) => {
            ticks(*low, *high, DAY * 1_000, |value, _| Date64(Some(value)))
        }
        _ => (Bound::Kept(min.clone()), Bound::Kept(max.clone())),
    }
}

/// Seconds.
const DAY: i64 = 86_400;

fn floats(low: f64, high: f64, scalar: impl Fn(f64) -> ScalarValue) -> (Bound, Bound) {
    let bound = |value: f64| match value.abs() <= MAX_WHOLE {
        true => Bound::Widened(scalar(value)),
        false => Bound::Unknown,
    };
    // Whether a filter that leaves one zero or the other leaves more: neither is beyond the bounds.
    (bound(if low == 0.0 { -0.0 } else { low }), bound(if high == 0.0 { 0.0 } else { high }))
}

/// Casts round decimals to fewer digits, up or down: with one bound their number is not counted.
fn decimals(min: &ScalarValue, max: &ScalarValue) -> (Bound, Bound) {
    let whole = match min {
        ScalarValue::Decimal32(_, _, scale)
        | ScalarValue::Decimal64(_, _, scale)
        | ScalarValue::Decimal128(_, _, scale)
        | ScalarValue::Decimal256(_, _, scale) => *scale <= 0,
        _ => true,
    };
    let low = if whole { Bound::Kept(min.clone()) } else { Bound::Unknown };
    (low, Bound::Kept(max.clone()))
}

/// Casts take times back to the start of their second or day, and so never beyond the last; the
/// first is kept where the last loses as much by it. Without an answer only the last is safe.
fn times(
    low: i64,
    high: i64,
    day: i64,
    local: bool,
    scalar: impl Fn(i64) -> ScalarValue,
) -> Option<(Bound, Bound)> {
    // Before 1970 they go forward instead.
    if low < 0 {
        return None;
    }
    let units = [1_000, 1_000_000, 1_000_000_000, day / DAY, day];
    let nested = units.into_iter().all(|unit| low % unit <= high % unit);
    if nested && !local {
        return Some((Bound::Kept(scalar(low)), Bound::Kept(scalar(high))));
    }
    // The day may have begun elsewhere before.
    let start = low.checked_sub(low % day)?.checked_sub(if local { day } else { 0 })?;
    Some((Bound::Widened(scalar(start)), Bound::Kept(scalar(high))))
}

/// Whether the days of a time are those of some place.
fn zone(like: &ScalarValue) -> bool {
    zone_of(like).is_some()
}

fn zone_of(like: &ScalarValue) -> Option<std::sync::Arc<str>> {
    match like {
        ScalarValue::TimestampSecond(_, zone)
        | ScalarValue::TimestampMillisecond(_, zone)
        | ScalarValue::TimestampMicrosecond(_, zone)
        | ScalarValue::TimestampNanosecond(_, zone) => zone.clone(),
        _ => None,
    }
}
