//! Which zones may hold rows for which a filter is true.
//!
//! Every node of the filter becomes a list of [`Outcomes`], one a zone; a zone is left out if true
//! is not among those of the root. For a zone of `n` rows, `k` of them null, with values in
//! `[lo, hi]`, either perhaps unknown:
//!
//! | node | true is possible if | false is possible if |
//! |---|---|---|
//! | `x = v` | `lo <= v <= hi` | not `lo = v = hi`, exact, without NaN |
//! | `x < v`, `x <= v` | `lo < v`, `lo <= v` | `hi >= v`, `hi > v` |
//! | `x > v`, `x >= v` | `hi > v`, `hi >= v` | `lo <= v`, `lo < v` |
//! | `x` starts with `p` | `lo < ` what follows all such `x`, `hi >= p` | not both bounds start with `p` |
//!
//! All of them only if `k < n`; null is possible if `k > 0`. `hi` is unknown where there is NaN,
//! and false always possible: NaN may be above all numbers, or compare with none.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeFrom;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;

use super::filter::{Comparison, Filter, MAX_DEPTH};
use super::keys::{Key, Keys, decoded, keys, literal_keys};
use super::map::ZoneMap;
use super::outcomes::Outcomes;
use super::strings::after_prefix;
use crate::rows::RowRanges;

/// The rows of a file of `num_rows` rows outside of which no row makes the filter true. `map` finds the zone
/// map of a column, if it has one.
///
/// This is [`FileReader::prune`](crate::FileReader::prune) for engines that have read the maps
/// themselves. It takes any filter: a column without a map, a value that does not compare with its
/// column exactly, and conditions that nest too deep leave out nothing.
pub fn prune(
    filter: &Filter,
    num_rows: u64,
    map: impl Fn(&str) -> Option<Arc<ZoneMap>>,
) -> RowRanges {
    let mut maps = BTreeMap::new();
    let mut zones = None;
    for column in filter.columns() {
        let Some(map) = map(column).filter(|map| map.num_rows() == num_rows) else { continue };
        // Files have one size of zones; a column that differs is left out.
        let (rows_per_zone, _) = *zones.get_or_insert((map.rows_per_zone(), map.num_zones()));
        if rows_per_zone == map.rows_per_zone() {
            maps.insert(column, map);
        }
    }
    let (rows_per_zone, num_zones) = zones.unwrap_or((num_rows, 1));
    let outcomes = Zones { maps, num_zones }.evaluate(filter, MAX_DEPTH);
    let mut rows = RowRanges::new();
    let mut start = 0_u64;
    for outcome in outcomes {
        let end = start.saturating_add(rows_per_zone).min(num_rows);
        if outcome.has(Outcomes::TRUE) && start < end {
            rows.push(start..end);
        }
        start = end;
    }
    rows
}

/// The zones of a file.
struct Zones<'a> {
    maps: BTreeMap<&'a str, Arc<ZoneMap>>,
    num_zones: usize,
}

impl Zones<'_> {
    /// What lies below so many levels may be anything.
    fn evaluate(&self, filter: &Filter, levels: usize) -> Vec<Outcomes> {
        let below = levels.saturating_sub(1);
        let found = match filter {
            _ if levels == 0 => None,
            Filter::Compare { column, op, value } => self.compare(column, *op, value),
            Filter::InList { column, values } => self.in_list(column, values),
            Filter::StartsWith { column, prefix } => self.starts_with(column, prefix),
            Filter::IsNull { column } => self.map(column).map(is_null),
            Filter::IsTrue { column } => {
                let yes: ArrayRef = Arc::new(arrow_array::BooleanArray::from(vec![true]));
                self.compare(column, Comparison::Eq, &yes)
            }
            Filter::And(parts) => {
                let all = vec![Outcomes::TRUE; self.num_zones];
                Some(parts.iter().fold(all, |all, part| {
                    all.into_iter().zip(self.evaluate(part, below)).map(|(a, b)| a.and(b)).collect()
                }))
            }
            Filter::Or(parts) => {
                let none = vec![Outcomes::FALSE; self.num_zones];
                Some(parts.iter().fold(none, |any, part| {
                    any.into_iter().zip(self.evaluate(part, below)).map(|(a, b)| a.or(b)).collect()
                }))
            }
            Filter::Not(part) => {
                Some(self.evaluate(part, below).into_iter().map(Outcomes::not).collect())
            }
            Filter::Constant(true) => Some(vec![Outcomes::TRUE; self.num_zones]),
            Filter::Constant(false) => Some(vec![Outcomes::FALSE; self.num_zones]),
            Filter::Unknown => None,
        };
        found.unwrap_or_else(|| vec![Outcomes::ANY; self.num_zones])
    }

    fn map(&self, column: &str) -> Option<&ZoneMap> {
        self.maps.get(column).map(Arc::as_ref)
    }

    fn compare(&self, column: &str, op: Comparison, value: &ArrayRef) -> Option<Vec<Outcomes>> {
        if value.len() != 1 {
            return None;
        }
        let literal = decoded(value)?;
        compare_one(self.map(column)?, op, &literal)
    }

    /// The union of equalities. Null for rows that are null, or where the list holds null.
    fn in_list(&self, column: &str, values: &ArrayRef) -> Option<Vec<Outcomes>> {
        let map = self.map(column)?;
        let literals = decoded(values)?;
        let zones = (0..map.num_zones()).map(|zone| map.facts(zone));
        let nothing = zones.map(|zone| Outcomes::of(false, true, zone.nulls > 0)).collect();
        if literals.is_empty() {
            return Some(nothing);
        }
        let equal = equal_to_one(map, &literals)?;
        let both = |(a, b): (Outcomes, Outcomes)| a.or(b);
        Some(Vec::<Outcomes>::into_iter(nothing).zip(equal).map(both).collect())
    }

    fn starts_with(&self, column: &str, prefix: &[u8]) -> Option<Vec<Outcomes>> {
        let map = self.map(column)?;
        let after = after_prefix(prefix);
        let mut outcomes = Vec::with_capacity(map.num_zones());
        for (first, min, max) in map.parts() {
            let (Keys::Bytes(lows), Keys::Bytes(highs)) = (keys(&min)?, keys(&max)?) else {
                return None;
            };
            let bounds = (first..).zip(lows.into_iter().zip(highs));
            outcomes.extend(bounds.map(|(zone, (low, high))| {
                let not_above = low.zip(after.as_deref()).is_none_or(|(low, after)| low < after);
                let not_below = high.is_none_or(|high| high >= prefix);
                let all = low
                    .zip(high)
                    .is_some_and(|(low, high)| low.starts_with(prefix) && high.starts_with(prefix));
                map.facts(zone).outcomes(not_above && not_below, !all)
            }));
        }
        Some(outcomes)
    }
}

fn is_null(map: &ZoneMap) -> Vec<Outcomes> {
    let zones = (0..map.num_zones()).map(|zone| map.facts(zone));
    zones.map(|zone| Outcomes::of(zone.nulls > 0, zone.nulls < zone.rows, false)).collect()
}

/// What is known of a zone beside its bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) rows: u64,
    pub(super) nulls: u64,
    /// Whether there may be NaN.
    pub(super) nan: bool,
    /// Whether the bounds are values of the zone.
    pub(super) exact: bool,
}

impl Facts {
    /// The outcomes of a comparison that may be true or false of values.
    fn outcomes(self, is_true: bool, is_false: bool) -> Outcomes {
        let values = self.nulls < self.rows;
        Outcomes::of(values && is_true, values && is_false, self.nulls > 0)
    }
}

/// The outcomes of comparing with a literal.
fn compare_one(map: &ZoneMap, op: Comparison, literal: &ArrayRef) -> Option<Vec<Outcomes>> {
    if literal.logical_null_count() > 0 {
        // Whatever the type: null compares as null.
        return Some(vec![Outcomes::NULL; map.num_zones()]);
    }
    let (literal, convertible) = literal_keys(literal, map.data_type())?;
    if convertible.first() != Some(&true) {
        return Some(vec![Outcomes::ANY; map.num_zones()]);
    }
    let mut outcomes = Vec::with_capacity(map.num_zones());
    for (first, min, max) in map.parts() {
        let zones = first..;
        match (keys(&min)?, keys(&max)?, &literal) {
            (Keys::Whole(low), Keys::Whole(high), Keys::Whole(literal)) => {
                outcomes.extend(compare_key(map, op, zones, &low, &high, (*literal.first()?)?));
            }
            (Keys::Bytes(low), Keys::Bytes(high), Keys::Bytes(literal)) => {
                outcomes.extend(compare_key(map, op, zones, &low, &high, (*literal.first()?)?));
            }
            (Keys::Float(low), Keys::Float(high), Keys::Float(literal)) => {
                let literal = (*literal.first()?)?;
                if literal.is_nan() {
                    return Some(compare_nan(map, op, literal));
                }
                let (low, high) = (without_nan(low), without_nan(high));
                outcomes.extend(compare_key(map, op, zones, &low, &high, literal));
            }
            _ => return None,
        }
    }
    Some(outcomes)
}

/// The outcomes of being equal to one of some literals.
fn equal_to_one(map: &ZoneMap, literals: &ArrayRef) -> Option<Vec<Outcomes>> {
    let has_null = literals.logical_null_count() > 0;
    if literals.logical_null_count() == literals.len() {
        return Some(vec![Outcomes::NULL; map.num_zones()]);
    }
    let (literals, convertible) = literal_keys(literals, map.data_type())?;
    let (literals, nan) = Literals::new(literals);
    let mut outcomes = Vec::with_capacity(map.num_zones());
    for (first, min, max) in map.parts() {
        let zones = first..;
        match (keys(&min)?, keys(&max)?, &literals) {
            (Keys::Whole(low), Keys::Whole(high), Literals::Whole(literals)) => {
                outcomes.extend(one_of(map, zones, &low, &high, literals));
            }
            (Keys::Bytes(low), Keys::Bytes(high), Literals::Bytes(literals)) => {
                outcomes.extend(one_of(map, zones, &low, &high, literals));
            }
            (Keys::Float(low), Keys::Float(high), Literals::Float(literals)) => {
                let (low, high) = (without_nan(low), without_nan(high));
                outcomes.extend(one_of(map, zones, &low, &high, literals));
            }
            _ => return None,
        }
    }
    if let Some(nan) = nan {
        let equal = compare_nan(map, Comparison::Eq, nan);
        outcomes.iter_mut().zip(equal).for_each(|(any, one)| *any = any.or(one));
    }
    // Literals that are null, or of which nothing is known.
    let others = [(has_null, Outcomes::NULL), (convertible.contains(&false), Outcomes::ANY)];
    for (_, other) in others.into_iter().filter(|(is_there, _)| *is_there) {
        outcomes.iter_mut().for_each(|any| *any = any.or(other));
    }
    Some(outcomes)
}

/// The literals of a list in order, each once.
enum Literals<'a> {
    Whole(Vec<i256>),
    Bytes(Vec<&'a [u8]>),
    Float(Vec<f64>),
}

impl<'a> Literals<'a> {
    /// Those that have a key; NaN by itself.
    fn new(keys: Keys<'a>) -> (Self, Option<f64>) {
        match keys {
            Keys::Whole(keys) => (Self::Whole(sorted(keys.into_iter().flatten(), i256::cmp)), None),
            Keys::Bytes(keys) => (Self::Bytes(sorted(keys.into_iter().flatten(), Ord::cmp)), None),
            Keys::Float(keys) => {
                let (nans, numbers): (Vec<_>, Vec<_>) =
                    keys.into_iter().flatten().partition(|key: &f64| key.is_nan());
                (Self::Float(sorted(numbers, f64::total_cmp)), nans.first().copied())
            }
        }
    }
}

fn sorted<K: Key>(
    literals: impl IntoIterator<Item = K>,
    order: impl Fn(&K, &K) -> Ordering,
) -> Vec<K> {
    let mut literals: Vec<K> = literals.into_iter().collect();
    literals.sort_unstable_by(order);
    literals.dedup_by(|a, b| a.is_same(*b));
    literals
}

/// For each zone, the outcomes of being equal to one of some literals, which are sorted: if any of them
/// lies in the zone, so does the first that is not below it.
fn one_of<K: Key>(
    map: &ZoneMap,
    zones: RangeFrom<usize>,
    low: &[Option<K>],
    high: &[Option<K>],
    literals: &[K],
) -> impl Iterator<Item = Outcomes> {
    zones.zip(low.iter().zip(high)).map(|(zone, (low, high))| {
        let facts = map.facts(zone);
        let not_below = |literal: &K| low.is_none_or(|low| low.may_be_at_most(*literal));
        let first = literals.partition_point(|literal| !not_below(literal));
        // There are two zeros, which are equal or not.
        let near = literals.get(first..).unwrap_or_default().iter().take(2);
        let none = Outcomes::of(false, facts.nulls < facts.rows, facts.nulls > 0);
        near.fold(none, |any, literal| {
            any.or(compare_zone(facts, Comparison::Eq, *low, *high, *literal))
        })
    })
}

/// NaN is no bound.
fn without_nan(keys: Vec<Option<f64>>) -> Vec<Option<f64>> {
    keys.into_iter().map(|key| key.filter(|key| !key.is_nan())).collect()
}

fn compare_key<K: Key>(
    map: &ZoneMap,
    op: Comparison,
    zones: RangeFrom<usize>,
    low: &[Option<K>],
    high: &[Option<K>],
    literal: K,
) -> impl Iterator<Item = Outcomes> {
    let zones = zones.zip(low.iter().zip(high));
    zones.map(move |(zone, (low, high))| compare_zone(map.facts(zone), op, *low, *high, literal))
}

fn compare_zone<K: Key>(
    zone: Facts,
    op: Comparison,
    low: Option<K>,
    high: Option<K>,
    value: K,
) -> Outcomes {
    let high = high.filter(|_| !zone.nan);
    let some_less = || low.is_none_or(|low| low.may_be_less(value));
    let some_at_most = || low.is_none_or(|low| low.may_be_at_most(value));
    let some_greater = || high.is_none_or(|high| value.may_be_less(high));
    let some_at_least = || high.is_none_or(|high| value.may_be_at_most(high));
    let (is_true, is_false) = match op {
        Comparison::Eq | Comparison::NotEq => {
            let same = |bound: Option<K>| bound.is_some_and(|bound| bound.is_same(value));
            let all = zone.exact && !zone.nan && same(low) && same(high);
            (some_at_most() && some_at_least(), !all)
        }
        Comparison::Lt => (some_less(), some_at_least()),
        Comparison::LtEq => (some_at_most(), some_greater()),
        Comparison::Gt => (some_greater(), some_at_most()),
        Comparison::GtEq => (some_at_least(), some_less()),
    };
    let outcomes = zone.outcomes(is_true, is_false || zone.nan);
    if op == Comparison::NotEq { outcomes.not() } else { outcomes }
}

/// NaN equals NaN, and NaN that is above all numbers is at most NaN, or nothing is.
fn compare_nan(map: &ZoneMap, op: Comparison, value: f64) -> Vec<Outcomes> {
    let zones = (0..map.num_zones()).map(|zone| map.facts(zone));
    zones
        .map(|zone| {
            let (is_true, is_false) = match op {
                _ if zone.nan => (true, true),
                Comparison::Eq => (false, true),
                Comparison::NotEq => (true, false),
                Comparison::GtEq if value.is_sign_positive() => (false, true),
                _ => (true, true),
            };
            zone.outcomes(is_true, is_false)
        })
        .collect()
}
