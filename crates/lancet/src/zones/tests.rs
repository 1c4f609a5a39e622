//! Maps by hand: what they leave of sorted rows, their rules, lies.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray};
use arrow_schema::DataType;

use super::filter::{Comparison, Filter};
use super::gather::Gatherer;
use super::map::{ColumnStatistics, ZoneMap};
use super::prune::prune;

#[test]
fn sorted_rows_leave_one_zone() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let mut zones = Gatherer::new(ids.data_type(), 10, 64).unwrap();
    zones.push(&ids, None).unwrap();
    let map = Arc::new(ZoneMap::new(10, 1000, &zones.finish().unwrap()).unwrap());
    let rows = |filter: &Filter| prune(filter, 1000, |_| Some(map.clone())).ranges().to_vec();
    let compare = |op, n| Filter::compare("id", op, &Int64Array::new_scalar(n));
    assert_eq!(rows(&compare(Comparison::Eq, 123)), [120..130]);
    assert_eq!(rows(&compare(Comparison::Lt, 20)), [0..20]);
    let between = compare(Comparison::GtEq, 55).and(compare(Comparison::LtEq, 70));
    assert_eq!(rows(&between), [50..80]);
    assert_eq!(rows(&!between), [0..60, 70..1000]);
    let list = Filter::in_list("id", Arc::new(Int64Array::from(vec![5, 995, 2000])));
    assert_eq!(rows(&list), [0..10, 990..1000]);
    assert_eq!(rows(&Filter::is_null("id")), []);
    assert_eq!(rows(&Filter::Constant(false)), []);
    assert_eq!(rows(&Filter::Unknown), [0..1000]);
    assert_eq!(rows(&Filter::And(vec![])), [0..1000]);
    assert_eq!(rows(&Filter::Or(vec![])), []);
    // A literal that is no whole number keeps everything.
    let half = Filter::compare("id", Comparison::Eq, &Float64Array::new_scalar(0.5));
    assert_eq!(rows(&half), [0..1000]);
}

#[test]
fn long_lists_meet_many_zones() {
    const ZONES: i64 = 50_000;
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ZONES).map(|id| id * 1000)));
    let mut zones = Gatherer::new(ids.data_type(), 1, 64).unwrap();
    zones.push(&ids, None).unwrap();
    let map = ZoneMap::new(1, ZONES as u64, &zones.finish().unwrap()).unwrap();
    let map = Arc::new(map);
    // In no order, some twice, half of them far away.
    let ids = (0..400_000).map(|i| i * 7_919 % 200_000 * 500 - 50_000_000);
    let list = Filter::in_list("id", Arc::new(Int64Array::from_iter_values(ids)));
    let rows = |filter: &Filter| prune(filter, ZONES as u64, |_| Some(map.clone())).count();
    let start = Instant::now();
    assert_eq!(rows(&list), ZONES as u64);
    assert_eq!(rows(&!list), 0);
    let odd = (0..400_000).map(|i| i * 2 * 1000 + i % 2);
    let odd = Filter::in_list("id", Arc::new(Int64Array::from_iter_values(odd)));
    assert_eq!(rows(&odd), ZONES as u64 / 4);
    // Each of them against each zone would be minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// The columns of a sound map of three zones of floats, the last of one row.
fn sound() -> [ArrayRef; 5] {
    let floats: ArrayRef =
        Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), Some(f64::NAN), Some(0.0), None]));
    let mut zones = Gatherer::new(&DataType::Float64, 2, 64).unwrap();
    zones.push(&floats, floats.nulls()).unwrap();
    zones.finish().unwrap()
}

#[test]
fn bounds_of_floats() {
    let [min, max, nulls, nans, exact] = sound();
    let bits = |array: &ArrayRef| {
        let floats = array.as_primitive::<Float64Type>();
        floats.iter().map(|v| v.map(f64::to_bits)).collect::<Vec<_>>()
    };
    assert_eq!(bits(&min), [Some(1.0_f64.to_bits()), Some((-0.0_f64).to_bits()), None]);
    assert_eq!(bits(&max), [Some(2.0_f64.to_bits()), Some(0x7ff8_0000_0000_0000), None]);
    assert_eq!(nulls.as_ref(), &arrow_array::UInt32Array::from(vec![0, 0, 1]));
    assert_eq!(nans.as_ref(), &arrow_array::UInt32Array::from(vec![0, 1, 0]));
    assert_eq!(exact.as_ref(), &BooleanArray::from(vec![true; 3]));
}

#[test]
fn each_broken_rule_makes_a_map_unsound() {
    let refused = |change: &dyn Fn(&mut Vec<ArrayRef>), rows_per_zone, rows, rule: &str| {
        let mut columns = sound().to_vec();
        change(&mut columns);
        let error = ZoneMap::new(rows_per_zone, rows, &columns).unwrap_err().to_string();
        assert!(error.contains(rule), "{rule}: {error}");
    };
    ZoneMap::new(2, 5, &sound()).unwrap();
    let floats = |list: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(list)) };
    let counts = |list: Vec<u32>| -> ArrayRef { Arc::new(arrow_array::UInt32Array::from(list)) };
    refused(&|c| c.truncate(2), 2, 5, "fewer than 3 columns");
    refused(&|_| {}, 0, 5, "zones of 0 rows");
    refused(&|_| {}, 2, 7, "3 zones of 2 rows for 7 rows");
    refused(&|_| {}, 3, 5, "3 zones of 3 rows for 5 rows");
    refused(&|c| c[1] = c[1].slice(0, 2), 2, 5, "2 zones");
    refused(&|c| c[4] = c[4].slice(0, 2), 2, 5, "2 zones");
    refused(&|c| c[2] = counts(vec![0, 0, 2]), 2, 5, "2 nulls in 1 rows");
    refused(&|c| c[2] = counts(vec![2, 0, 1]), 2, 5, "all of its 2 rows are null");
    refused(&|c| c[3] = counts(vec![0, 3, 0]), 2, 5, "3 NaNs and 0 nulls in 2 rows");
    refused(&|c| c[3] = counts(vec![0, 0, 0]), 2, 5, "do not fit its NaNs");
    refused(&|c| c[3] = counts(vec![1, 1, 0]), 2, 5, "do not fit its NaNs");
    refused(&|c| c[0] = floats(vec![Some(3.0), Some(0.0), None]), 2, 5, "`min` is above `max`");
    refused(&|c| c[2] = c[0].clone(), 2, 5, "not of 32 bits");
    let nulls: ArrayRef = Arc::new(arrow_array::UInt32Array::from(vec![Some(0), None, Some(1)]));
    refused(&|c| c[2] = nulls.clone(), 2, 5, "are null");
    let maybe: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, None]));
    refused(&|c| c[4] = maybe.clone(), 2, 5, "`exact` of a zone map is null");
    refused(
        &|c| {
            c[0] = Arc::new(NullArray::new(3));
            c[1] = Arc::new(NullArray::new(3));
            c[3] = counts(vec![0, 0, 0]);
        },
        2,
        5,
        "all of its 1 rows are null",
    );
}

#[test]
fn lies_are_found_by_the_values() {
    let truth = sound();
    let map = |change: &dyn Fn(&mut [ArrayRef; 5])| {
        let mut columns = sound();
        change(&mut columns);
        ZoneMap::new(2, 5, &columns).unwrap().check_values(0, &truth)
    };
    let floats = |list: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(list)) };
    let counts = |list: Vec<u32>| -> ArrayRef { Arc::new(arrow_array::UInt32Array::from(list)) };
    map(&|_| {}).unwrap();
    let inexact = |c: &mut [ArrayRef; 5]| c[4] = Arc::new(BooleanArray::from(vec![false; 3]));
    map(&|c| {
        inexact(c);
        c[0] = floats(vec![Some(0.5), None, None]);
    })
    .unwrap();
    assert!(map(&|c| c[0] = floats(vec![Some(0.5), Some(0.0), None])).is_err());
    assert!(
        map(&|c| {
            inexact(c);
            c[0] = floats(vec![Some(1.5), Some(0.0), None]);
        })
        .is_err()
    );
    assert!(
        map(&|c| {
            inexact(c);
            c[1] = floats(vec![Some(1.5), Some(f64::NAN), None]);
        })
        .is_err()
    );
    assert!(map(&|c| c[2] = counts(vec![1, 0, 1])).is_err());
    assert!(map(&|c| c[3] = counts(vec![0, 2, 0])).is_err());
}

fn map_of(values: Vec<Option<i64>>) -> ZoneMap {
    let num_rows = values.len() as u64;
    let values: ArrayRef = Arc::new(Int64Array::from(values));
    let mut zones = Gatherer::new(values.data_type(), 4, 64).unwrap();
    zones.push(&values, values.nulls()).unwrap();
    ZoneMap::new(4, num_rows, &zones.finish().unwrap()).unwrap()
}

fn bounds(statistics: &ColumnStatistics) -> (Option<i64>, Option<i64>) {
    let bound = |array: &Option<ArrayRef>| {
        array.as_ref().map(|array| array.as_primitive::<Int64Type>().value(0))
    };
    (bound(&statistics.min), bound(&statistics.max))
}

#[test]
fn some_zones_and_several_maps_have_statistics() {
    let map = map_of(vec![Some(9), Some(5), None, Some(7), Some(1), None, None, None]);
    assert_eq!(bounds(&map.statistics()), (Some(1), Some(9)));
    let first = map.statistics_of(|zone| zone == 0);
    assert_eq!((bounds(&first), first.num_rows, first.null_count), ((Some(5), Some(9)), 4, 1));
    let none = map.statistics_of(|_| false);
    assert_eq!((bounds(&none), none.num_rows), ((None, None), 0));

    let other = map_of(vec![Some(-3), Some(20)]).statistics();
    let nulls = map_of(vec![None, None]).statistics();
    let joined = ColumnStatistics::join(&[first.clone(), other, nulls.clone()]).unwrap();
    assert_eq!(bounds(&joined), (Some(-3), Some(20)));
    assert_eq!((joined.num_rows, joined.null_count, joined.exact), (8, 3, true));
    assert_eq!(bounds(&ColumnStatistics::join(&[nulls]).unwrap()), (None, None));
    assert_eq!(ColumnStatistics::join(&[]).unwrap().num_rows, 0);

    // What is not known of one is not known of all, and other types are no part of the column.
    let unknown = ColumnStatistics { min: None, ..first.clone() };
    let joined = ColumnStatistics::join(&[unknown, first.clone()]).unwrap();
    assert_eq!(bounds(&joined), (None, Some(9)));
    let float: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let float = ColumnStatistics { min: Some(float.clone()), max: Some(float), ..first.clone() };
    assert!(ColumnStatistics::join(&[first, float]).is_none());
}
