//! Zone maps as pictures: the band between the least and the greatest value of every zone.

use lancet::ZoneMap;
use lancet_table::{FieldZones, FragmentZones};

use super::zone_numbers::{Numbers, numbers};

/// The heights of a band chart.
pub const HEIGHT: f64 = 1000.0;

/// What the zone maps of a column show.
#[derive(Debug, Clone, PartialEq)]
pub struct Zones {
    pub num_zones: usize,
    /// Fragments of a table that have no map of the column.
    pub unknown: usize,
    /// Zones, or several together, in the order of the rows.
    pub bands: Vec<Band>,
    /// How the zones lie.
    pub order: Order,
    /// The share of the zones that a filter for one value has to read, on average, between 0 and 1.
    pub read_share: f64,
}

/// One zone, or several; or a fragment whose zones nobody knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Lower and upper bound between 0 and [`HEIGHT`], if they are known.
    pub bounds: Option<(f64, f64)>,
    /// In per cent; none if nothing is known.
    pub null_share: Option<f64>,
}

/// Rows of which the same is known.
enum Stretch<'a> {
    /// What a map says of those of its zones that have rows which are not deleted.
    Map(&'a ZoneMap, Vec<usize>),
    /// They are all null.
    Null,
    /// Nothing.
    Unknown,
}

/// How the values of a column lie in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
    Constant,
    Clustered,
    Random,
    /// There is but one zone, or bounds are not known.
    Unknown,
}

impl Order {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascending => "sorted, ascending",
            Self::Descending => "sorted, descending",
            Self::Constant => "one value",
            Self::Clustered => "clustered",
            Self::Random => "in no order",
            Self::Unknown => "too few zones to tell",
        }
    }
}

impl Zones {
    /// The chart of a zone map, with at most `most` bands. None for types that have no place on a line.
    pub fn of_file(map: &ZoneMap, most: usize) -> Option<Self> {
        Self::new(&[Stretch::Map(map, (0..map.num_zones()).collect())], most)
    }

    /// The chart of all maps of a column of a table, one behind the other. None if there are none.
    pub fn of_table(fragments: &[FragmentZones], most: usize) -> Option<Self> {
        let stretches: Vec<Stretch<'_>> = fragments.iter().map(Stretch::of_fragment).collect();
        Self::new(&stretches, most)
    }

    fn new(stretches: &[Stretch<'_>], most: usize) -> Option<Self> {
        let maps: Vec<&ZoneMap> = stretches.iter().filter_map(Stretch::map).collect();
        let bounds: Vec<_> = maps.iter().map(|map| [map.min(), map.max()]).collect();
        let mut found = numbers(&bounds)?.into_iter();
        let next = |stretch: &Stretch<'_>| stretch.map().and_then(|_| found.next().flatten());
        let numbers: Vec<Option<Numbers>> = stretches.iter().map(next).collect();
        let bounds = || numbers.iter().flatten().flatten().flatten();
        let low = bounds().map(|(min, _)| *min).fold(f64::INFINITY, f64::min);
        let high = bounds().map(|(_, max)| *max).fold(f64::NEG_INFINITY, f64::max);
        let height = |value: f64| match high > low {
            true => ((value - low) / (high - low) * HEIGHT).clamp(0.0, HEIGHT),
            false => HEIGHT / 2.0,
        };
        let mut zones: Vec<Band> = Vec::new();
        for (stretch, numbers) in stretches.iter().zip(&numbers) {
            match (stretch, numbers) {
                (Stretch::Map(map, kept), Some(numbers)) => {
                    zones.extend(kept.iter().map(|zone| Band {
                        bounds: bounds_of(numbers, *zone).map(|b| (height(b.0), height(b.1))),
                        null_share: Some(null_share(map, *zone)),
                    }));
                }
                (Stretch::Null, _) => zones.push(Band { bounds: None, null_share: Some(100.0) }),
                _ => zones.push(Band { bounds: None, null_share: None }),
            }
        }
        Some(Self {
            num_zones: maps.iter().map(|map| map.num_zones()).sum(),
            unknown: zones.iter().filter(|zone| zone.null_share.is_none()).count(),
            order: order(&zones, high > low),
            read_share: read_share(&zones),
            bands: together(&zones, most),
        })
    }
}

impl<'a> Stretch<'a> {
    fn of_fragment(fragment: &'a FragmentZones) -> Self {
        match &fragment.zones {
            FieldZones::Map(map) => {
                let is_left = |zone: &usize| {
                    let rows = map.rows(*zone);
                    fragment.deletions.count_within(rows.clone()) < rows.end - rows.start
                };
                Self::Map(map, (0..map.num_zones()).filter(is_left).collect())
            }
            FieldZones::Missing => Self::Null,
            _ => Self::Unknown,
        }
    }

    fn map(&self) -> Option<&'a ZoneMap> {
        match self {
            Self::Map(map, _) => Some(map),
            Self::Null | Self::Unknown => None,
        }
    }
}

fn bounds_of(numbers: &Numbers, zone: usize) -> Option<(f64, f64)> {
    numbers.get(zone).copied().flatten()
}

/// The nulls of a zone, in per cent.
fn null_share(map: &ZoneMap, zone: usize) -> f64 {
    let rows = map.rows(zone);
    let nulls = f64::from(map.null_counts().value(zone));
    100.0 * nulls / (rows.end - rows.start).max(1) as f64
}

/// How the zones lie.
fn order(zones: &[Band], differs: bool) -> Order {
    let bounds: Vec<(f64, f64)> = zones.iter().filter_map(|zone| zone.bounds).collect();
    if bounds.is_empty() {
        return Order::Unknown;
    }
    if !differs {
        return Order::Constant;
    }
    if bounds.len() < 2 {
        return Order::Unknown;
    }
    let pairs = || bounds.iter().zip(bounds.iter().skip(1));
    if pairs().all(|(a, b)| a.1 <= b.0) {
        return Order::Ascending;
    }
    if pairs().all(|(a, b)| a.0 >= b.1) {
        return Order::Descending;
    }
    // Of values in no order every zone has nearly all.
    match read_share(zones) {
        share if share < 0.5 => Order::Clustered,
        _ => Order::Random,
    }
}

/// The share of zones that hold the middle of a zone, on average. Those of which nothing is known are always read.
fn read_share(zones: &[Band]) -> f64 {
    let unknown = zones.iter().filter(|zone| zone.null_share.is_none()).count();
    let bounds: Vec<(f64, f64)> = zones.iter().filter_map(|zone| zone.bounds).collect();
    if bounds.is_empty() {
        return unknown as f64 / zones.len().max(1) as f64;
    }
    // At most some of the zones are asked for, so that very many do not take for ever.
    let step = bounds.len().div_ceil(500);
    let asked: Vec<f64> =
        bounds.iter().step_by(step).map(|(low, high)| low.midpoint(*high)).collect();
    let hits =
        |value: &f64| bounds.iter().filter(|(low, high)| low <= value && value <= high).count();
    let all: usize = asked.iter().map(hits).sum();
    (all as f64 / asked.len() as f64 + unknown as f64) / zones.len() as f64
}

/// Neighbours put together, so that there are at most `most`.
fn together(zones: &[Band], most: usize) -> Vec<Band> {
    let size = zones.len().div_ceil(most.max(1)).max(1);
    let join = |some: &[Band]| {
        let bounds = some.iter().filter_map(|band| band.bounds);
        let known = || some.iter().filter_map(|band| band.null_share);
        let shares = known().count();
        Band {
            bounds: bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            null_share: (shares > 0).then(|| known().sum::<f64>() / shares as f64),
        }
    };
    zones.chunks(size).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bands(bounds: &[(f64, f64)]) -> Vec<Band> {
        bounds.iter().map(|b| Band { bounds: Some(*b), null_share: Some(0.0) }).collect()
    }

    #[test]
    fn orders_are_told() {
        let ascending: Vec<_> = (0..10).map(|i| (f64::from(i), f64::from(i + 1))).collect();
        let descending: Vec<_> = ascending.iter().rev().copied().collect();
        let random = vec![(0.0, 10.0); 10];
        let clustered: Vec<_> =
            (0..10).map(|i| (f64::from(i % 5), f64::from(i % 5) + 0.5)).collect();
        assert_eq!(order(&bands(&ascending), true), Order::Ascending);
        assert_eq!(order(&bands(&descending), true), Order::Descending);
        assert_eq!(order(&bands(&random), true), Order::Random);
        assert_eq!(order(&bands(&clustered), true), Order::Clustered);
        assert_eq!(order(&bands(&random), false), Order::Constant);
        assert_eq!(order(&bands(&random[..1]), true), Order::Unknown);
        assert!((read_share(&bands(&random)) - 1.0).abs() < 1e-9);
        assert!(read_share(&bands(&ascending)) < 0.2);
    }

    #[test]
    fn bands_are_put_together() {
        let zones = bands(&[(0.0, 1.0), (4.0, 5.0), (2.0, 3.0)]);
        let two = together(&zones, 2);
        assert_eq!(two.len(), 2);
        assert_eq!(two[0].bounds, Some((0.0, 5.0)));
        assert_eq!(together(&zones, 9).len(), 3);
        assert!(together(&[], 5).is_empty());
    }

    #[test]
    fn what_nobody_knows_is_read() {
        let mut zones = bands(&[(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]);
        assert!((read_share(&zones) - 1.0 / 3.0).abs() < 1e-9);
        zones.push(Band { bounds: None, null_share: None });
        assert!((read_share(&zones) - 0.5).abs() < 1e-9);
        assert!((read_share(&zones[3..]) - 1.0).abs() < 1e-9);
        // All null: no filter for a value reads it.
        assert_eq!(read_share(&[Band { bounds: None, null_share: Some(100.0) }]), 0.0);
        assert_eq!(together(&zones[3..], 1)[0].null_share, None);
    }
}
