//! A zone map in memory, its rules checked.
//!
//! For every zone: `null_count` of at most its rows; bounds that are null where all rows are, and
//! may be null (unknown) elsewhere; `min <= max` where both are known; NaN only as a bound of
//! floats, and exactly where `nan_count` counts some.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow_schema::{DataType, Field};

use super::keys::{Keys, decoded_type, keys};
use super::prune::Facts;
use crate::error::{Error, Result, ensure};

/// Zones whose bounds are compared at a time.
const ZONES_AT_A_TIME: usize = 8192;

/// For each zone of so many rows of a column: the least and the greatest value, nulls, NaNs.
#[derive(Debug, Clone)]
pub struct ZoneMap {
    rows_per_zone: u64,
    num_rows: u64,
    min: ArrayRef,
    max: ArrayRef,
    null_counts: UInt32Array,
    nan_counts: Option<UInt32Array>,
    /// None if the map does not say.
    exact: Option<BooleanArray>,
}

/// What zone maps say about a column as a whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnStatistics {
    /// Rows of the column.
    pub num_rows: u64,
    /// Rows that are null.
    pub null_count: u64,
    /// Rows that are NaN; none if the map does not say. 0 for other types than floats.
    pub nan_count: Option<u64>,
    /// An array of the least value, NaN left out; none if it is unknown or all rows are null.
    pub min: Option<ArrayRef>,
    /// An array of the greatest value; none if it is unknown or all rows are null, and where there
    /// is NaN.
    pub max: Option<ArrayRef>,
    /// Whether both bounds are values of the column. Otherwise they may lie further out.
    pub exact: bool,
}

impl ColumnStatistics {
    /// Those of several columns as one, such as the parts of a column that lie in several files. None if their types
    /// differ.
    pub fn join(parts: &[Self]) -> Option<Self> {
        let bound = |least: bool| -> Option<Option<ArrayRef>> {
            let with_values = parts.iter().filter(|part| part.null_count < part.num_rows);
            let bounds = with_values.map(|part| if least { &part.min } else { &part.max });
            let Some(bounds) = bounds.map(Option::as_ref).collect::<Option<Vec<_>>>() else {
                return Some(None);
            };
            let bounds: Vec<&dyn Array> = bounds.into_iter().map(AsRef::as_ref).collect();
            if bounds.is_empty() {
                return Some(None);
            }
            let bounds = arrow_select::concat::concat(&bounds).ok()?;
            let all: Vec<usize> = (0..bounds.len()).collect();
            let found = extreme_of(&bounds, &all, least);
            Some(found.map(|place| bounds.slice(place, 1)))
        };
        let sum = |count: fn(&Self) -> u64| parts.iter().map(count).fold(0, u64::saturating_add);
        Some(Self {
            num_rows: sum(|part| part.num_rows),
            null_count: sum(|part| part.null_count),
            nan_count: parts
                .iter()
                .try_fold(0_u64, |all, part| Some(all.saturating_add(part.nan_count?))),
            min: bound(true)?,
            max: bound(false)?,
            exact: parts.iter().all(|part| part.exact),
        })
    }
}

impl ZoneMap {
    /// The columns of the map of a column of this type, as they are written. Readers need the first
    /// three of them.
    pub(crate) fn fields(data_type: &DataType) -> Vec<Field> {
        let bound = decoded_type(data_type);
        vec![
            Field::new("min", bound.clone(), true),
            Field::new("max", bound.clone(), true),
            Field::new("null_count", DataType::UInt32, true),
            Field::new("nan_count", DataType::UInt32, true),
            Field::new("exact", DataType::Boolean, true),
        ]
    }

    /// Checks a map that was read: columns `min`, `max`, `null_count`, perhaps `nan_count`, `exact`.
    pub(crate) fn new(rows_per_zone: u64, num_rows: u64, columns: &[ArrayRef]) -> Result<Self> {
        let ([min, max, null_counts], more) = match columns {
            [min, max, null_counts, more @ ..] => ([min, max, null_counts], more),
            _ => return Err(Error::corrupt("a zone map has fewer than 3 columns")),
        };
        let counts = |array: &ArrayRef| match array.as_primitive_opt::<UInt32Type>() {
            Some(counts) if counts.null_count() == 0 => Ok(counts.clone()),
            _ => Err(Error::corrupt("counts of a zone map are null, or not of 32 bits")),
        };
        let exact = match more.get(1).map(|array| array.as_boolean_opt()) {
            Some(Some(exact)) if exact.null_count() == 0 => Some(exact.clone()),
            Some(_) => return Err(Error::corrupt("`exact` of a zone map is null")),
            None => None,
        };
        let map = Self {
            rows_per_zone,
            num_rows,
            min: min.clone(),
            max: max.clone(),
            null_counts: counts(null_counts)?,
            nan_counts: more.first().map(counts).transpose()?,
            exact,
        };
        map.check(columns)?;
        Ok(map)
    }

    fn check(&self, columns: &[ArrayRef]) -> Result<()> {
        ensure!(self.rows_per_zone > 0, "a zone map has zones of 0 rows");
        let zones = self.num_rows.div_ceil(self.rows_per_zone);
        for column in columns {
            ensure!(
                u64::try_from(column.len()).is_ok_and(|len| len == zones),
                "a zone map has {} zones of {} rows for {} rows",
                column.len(),
                self.rows_per_zone,
                self.num_rows
            );
        }
        for zone in 0..self.num_zones() {
            self.check_counts(zone)?;
        }
        for (first, min, max) in self.parts() {
            let unordered = match (keys(&min), keys(&max)) {
                (Some(Keys::Whole(min)), Some(Keys::Whole(max))) => first_above(&min, &max),
                (Some(Keys::Bytes(min)), Some(Keys::Bytes(max))) => first_above(&min, &max),
                (Some(Keys::Float(min)), Some(Keys::Float(max))) => {
                    self.check_nan(first, &min, &max)?;
                    first_above(&min, &max)
                }
                _ => {
                    return Err(Error::corrupt(format!("a zone map of type {}", self.data_type())));
                }
            };
            if let Some(zone) = unordered {
                let zone = first.saturating_add(zone);
                return Err(Error::corrupt(format!("in zone {zone} `min` is above `max`")));
            }
        }
        Ok(())
    }

    /// The bounds of some zones at a time, and the number of the first: in the form in which they compare
    /// they take many times the memory.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, ArrayRef, ArrayRef)> {
        // There is a part even without zones: it has a type.
        (0..self.num_zones().max(1)).step_by(ZONES_AT_A_TIME).map(|first| {
            let len = ZONES_AT_A_TIME.min(self.num_zones().saturating_sub(first));
            (first, self.min.slice(first, len), self.max.slice(first, len))
        })
    }

    fn check_counts(&self, zone: usize) -> Result<()> {
        let Facts { rows, nulls, .. } = self.facts(zone);
        ensure!(nulls <= rows, "zone {zone} counts {nulls} nulls in {rows} rows");
        ensure!(
            nulls < rows || self.min.is_null(zone) && self.max.is_null(zone),
            "zone {zone} has bounds, but all of its {rows} rows are null"
        );
        let nans = self.nans(zone).unwrap_or(0);
        ensure!(
            nans <= rows.saturating_sub(nulls),
            "zone {zone} counts {nans} NaNs and {nulls} nulls in {rows} rows"
        );
        ensure!(
            nans == 0 || self.data_type().is_floating(),
            "zone {zone} counts NaNs of type {}",
            self.data_type()
        );
        Ok(())
    }

    /// Where NaNs are counted they are the maximum, and elsewhere no bound is one.
    fn check_nan(&self, first: usize, min: &[Option<f64>], max: &[Option<f64>]) -> Result<()> {
        let is_nan = |bound: &Option<f64>| bound.is_some_and(f64::is_nan);
        for (zone, (min, max)) in (first..).zip(min.iter().zip(max)) {
            ensure!(
                match self.nans(zone) {
                    None => true,
                    Some(0) => !is_nan(min) && !is_nan(max),
                    Some(_) => max.is_none_or(f64::is_nan),
                },
                "the bounds of zone {zone} do not fit its NaNs"
            );
        }
        Ok(())
    }

    /// Checks that the map holds for values whose own bounds, from zone `first` on, are the columns
    /// of `truth`.
    pub(crate) fn check_values(&self, first: usize, truth: &[ArrayRef; 5]) -> Result<()> {
        let [min, max, null_counts, nan_counts, _] = truth;
        let len = min.len().min(self.num_zones().saturating_sub(first));
        let counts = |what: &str, claimed: &UInt32Array, found: &ArrayRef| {
            let found = found.as_primitive::<UInt32Type>().values();
            let claimed = claimed.slice(first, len);
            let differs = claimed.values().iter().zip(found).position(|(a, b)| a != b);
            let Some(at) = differs else { return Ok(()) };
            let (zone, claimed) = (first.saturating_add(at), claimed.value(at));
            let found = found.get(at).copied().unwrap_or(0);
            Err(Error::corrupt(format!("zone {zone} counts {claimed} {what} instead of {found}")))
        };
        counts("nulls", &self.null_counts, null_counts)?;
        if let Some(claimed) = &self.nan_counts {
            counts("NaNs", claimed, nan_counts)?;
        }
        let exact = |zone: usize| self.is_exact(first.saturating_add(zone));
        // NaN compares with nothing, and is counted.
        let outside = |bounds: &ArrayRef, truth: &ArrayRef, lower| {
            let bounds = bounds.slice(first, len);
            match (keys(&bounds)?, keys(truth)?) {
                (Keys::Whole(a), Keys::Whole(b)) => first_outside(&a, &b, exact, lower),
                (Keys::Bytes(a), Keys::Bytes(b)) => first_outside(&a, &b, exact, lower),
                (Keys::Float(a), Keys::Float(b)) => first_outside(&a, &b, exact, lower),
                _ => None,
            }
        };
        let broken = outside(&self.min, min, true).or_else(|| outside(&self.max, max, false));
        match broken {
            Some(zone) => {
                let zone = first.saturating_add(zone);
                Err(Error::corrupt(format!("zone {zone} has values outside its bounds")))
            }
            None => Ok(()),
        }
    }

    /// Rows of every zone but the last.
    pub fn rows_per_zone(&self) -> u64 {
        self.rows_per_zone
    }

    /// Rows of the column.
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Number of zones.
    pub fn num_zones(&self) -> usize {
        self.null_counts.len()
    }

    /// The rows of a zone.
    pub fn rows(&self, zone: usize) -> Range<u64> {
        let zone = u64::try_from(zone).unwrap_or(u64::MAX);
        let start = zone.saturating_mul(self.rows_per_zone).min(self.num_rows);
        start..start.saturating_add(self.rows_per_zone).min(self.num_rows)
    }

    /// The type of the bounds: that of the column, or of the values of its dictionary.
    pub fn data_type(&self) -> &DataType {
        self.min.data_type()
    }

    /// A lower bound of each zone; null if all its rows are null, or if it is unknown. Of zones of
    /// floats the least number; NaN if there is none, or a NaN whose sign is set.
    pub fn min(&self) -> &ArrayRef {
        &self.min
    }

    /// An upper bound of each zone; null if all its rows are null, or if it is unknown. NaN where
    /// there is one.
    pub fn max(&self) -> &ArrayRef {
        &self.max
    }

    /// Rows of each zone that are null, or whose struct is.
    pub fn null_counts(&self) -> &UInt32Array {
        &self.null_counts
    }

    /// Rows of each zone that are NaN, if the map says.
    pub fn nan_counts(&self) -> Option<&UInt32Array> {
        self.nan_counts.as_ref()
    }

    /// Whether the bounds of a zone are values of it, not cut.
    pub fn is_exact(&self, zone: usize) -> bool {
        match &self.exact {
            Some(exact) => zone < exact.len() && exact.value(zone),
            // Strings may have been cut.
            None => !matches!(
                self.data_type(),
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary
            ),
        }
    }

    /// The whole column.
    pub fn statistics(&self) -> ColumnStatistics {
        self.statistics_of(|_| true)
    }

    /// Some of its zones.
    pub fn statistics_of(&self, mut wanted: impl FnMut(usize) -> bool) -> ColumnStatistics {
        let zones: Vec<usize> = (0..self.num_zones()).filter(|zone| wanted(*zone)).collect();
        let counted = |counts: &UInt32Array| {
            let counts = zones.iter().filter_map(|zone| counts.values().get(*zone));
            counts.map(|count| u64::from(*count)).sum()
        };
        let num_rows = zones.iter().map(|zone| self.facts(*zone).rows).sum();
        let with_values = |zone: &&usize| self.facts(**zone).nulls < self.facts(**zone).rows;
        let with_values: Vec<usize> = zones.iter().filter(with_values).copied().collect();
        let extreme = |bounds: &ArrayRef, least| extreme_of(bounds, &with_values, least);
        let (low, high) = (extreme(&self.min, true), extreme(&self.max, false));
        let no_nan = !self.data_type().is_floating();
        ColumnStatistics {
            num_rows,
            null_count: counted(&self.null_counts),
            nan_count: self.nan_counts.as_ref().map(counted).or(no_nan.then_some(0)),
            min: low.map(|zone| self.min.slice(zone, 1)),
            max: high.map(|zone| self.max.slice(zone, 1)),
            exact: with_values.iter().all(|zone| self.is_exact(*zone)),
        }
    }

    fn nans(&self, zone: usize) -> Option<u64> {
        let counts = self.nan_counts.as_ref()?;
        (zone < counts.len()).then(|| counts.value(zone).into())
    }

    /// What is known of a zone beside its bounds.
    pub(super) fn facts(&self, zone: usize) -> Facts {
        let rows = self.rows(zone);
        let nulls = self.null_counts.values().get(zone).copied().unwrap_or(0);
        let nan = self.data_type().is_floating()
            && match self.nans(zone) {
                Some(nans) => nans > 0,
                None => self.bound_is_nan(zone),
            };
        Facts {
            rows: rows.end.saturating_sub(rows.start),
            nulls: nulls.into(),
            nan,
            exact: self.is_exact(zone),
        }
    }

    /// Whether a bound of floats is NaN or unknown.
    fn bound_is_nan(&self, zone: usize) -> bool {
        let is_nan = |bounds: &ArrayRef| match keys(&bounds.slice(zone, 1)) {
            Some(Keys::Float(bound)) => bound.iter().all(|bound| bound.is_none_or(f64::is_nan)),
            _ => false,
        };
        is_nan(&self.min) || is_nan(&self.max)
    }

    /// Bytes it takes in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        let more = self.nan_counts.as_ref().map_or(0, |counts| counts.get_array_memory_size());
        let exact = self.exact.as_ref().map_or(0, |exact| exact.get_array_memory_size());
        [&self.min, &self.max]
            .map(|bounds| bounds.get_array_memory_size())
            .into_iter()
            .chain([self.null_counts.get_array_memory_size(), more, exact, size_of::<Self>()])
            .fold(0, usize::saturating_add)
    }
}

/// The first zone whose lower bound is above its upper one.
fn first_above<T: PartialOrd>(min: &[Option<T>], max: &[Option<T>]) -> Option<usize> {
    let mut bounds = min.iter().zip(max);
    bounds.position(|(min, max)| min.as_ref().zip(max.as_ref()).is_some_and(|(a, b)| a > b))
}

/// The zone with the least or the greatest bound, whatever their type; none if that of one of the zones is unknown.
fn extreme_of(bounds: &ArrayRef, zones: &[usize], least: bool) -> Option<usize> {
    let number = |key: Option<f64>| key.filter(|key| !key.is_nan());
    match keys(bounds)? {
        Keys::Whole(bounds) => extreme(&bounds, zones, least),
        Keys::Bytes(bounds) => extreme(&bounds, zones, least),
        Keys::Float(bounds) => {
            extreme(&bounds.into_iter().map(number).collect::<Vec<_>>(), zones, least)
        }
    }
}

/// The zone with the least or the greatest bound; none if that of one of the zones is unknown.
fn extreme<T: Copy + PartialOrd>(
    bounds: &[Option<T>],
    zones: &[usize],
    least: bool,
) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for zone in zones {
        let bound = bounds.get(*zone).copied().flatten()?;
        if best.is_none_or(|(_, best)| if least { bound < best } else { bound > best }) {
            best = Some((*zone, bound));
        }
    }
    best.map(|(zone, _)| zone)
}

/// The first zone whose bound does not hold for the true one, or is not it although it should be.
/// NaN compares with nothing; it is counted instead.
fn first_outside<T: PartialOrd>(
    bounds: &[Option<T>],
    truth: &[Option<T>],
    exact: impl Fn(usize) -> bool,
    lower: bool,
) -> Option<usize> {
    let mut zones = bounds.iter().zip(truth).enumerate();
    let is_outside = |(zone, (bound, truth)): (usize, (&Option<T>, &Option<T>))| {
        let Some((bound, truth)) = bound.as_ref().zip(truth.as_ref()) else { return false };
        match bound.partial_cmp(truth) {
            None | Some(std::cmp::Ordering::Equal) => false,
            Some(order) => exact(zone) || order.is_lt() != lower,
        }
    };
    zones.position(is_outside)
}
