use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch};

use super::*;
use crate::FileReader;
use crate::zones::evaluate::matching;
use crate::zones::prune::prune;
use crate::{ReadOptions, WriteOptions};

const MANY: usize = 100_000;

fn leaf(i: usize) -> Filter {
    let value = Int32Array::new_scalar(i32::try_from(i).unwrap());
    Filter::compare("n", Comparison::NotEq, &value)
}

/// Conditions that cannot be joined, each within the next.
fn deep(levels: usize) -> Filter {
    (0..levels).fold(leaf(0), |filter, i| match i % 3 {
        0 => Filter::And(vec![leaf(i), filter]),
        1 => Filter::Or(vec![filter, leaf(i)]),
        _ => Filter::Not(Box::new(filter)),
    })
}

fn reader() -> FileReader {
    let rows = Int32Array::from(vec![1, 2, 3]);
    let batch = RecordBatch::try_from_iter([("n", Arc::new(rows) as ArrayRef)]).unwrap();
    let options = WriteOptions::default();
    let mut writer = crate::FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.finish_into().unwrap().1;
    FileReader::from_bytes(file, ReadOptions::default()).unwrap()
}

fn rows(filter: &Filter) -> Result<Vec<bool>> {
    let rows: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    Ok(matching(filter, 3, &|_| Ok(rows.clone()))?.iter().collect())
}

#[test]
fn long_chains_do_not_nest() {
    let chain = |join: fn(Filter, Filter) -> Filter| {
        (1..MANY).fold(leaf(0), |filter, i| join(filter, leaf(i)))
    };
    let chains = [
        chain(Filter::and),
        chain(|filter, next| next.and(filter)),
        chain(Filter::or),
        chain(|filter, next| next.or(filter)),
    ];
    for filter in chains {
        assert_eq!(filter.parts().len(), MANY);
        filter.check_depth().unwrap();
        assert_eq!(filter.clone().parts().len(), MANY);
    }
    let both = chain(Filter::and).and(chain(Filter::and));
    assert_eq!(both.parts().len(), 2 * MANY);
    let negated = (0..MANY + 1).fold(leaf(2), |filter, _| !filter);
    assert_eq!(rows(&negated).unwrap(), [false, true, false]);
}

#[test]
fn joined_conditions_mean_what_they_meant() {
    let (a, b, c) = (leaf(1), leaf(2), Filter::is_null("n"));
    assert_eq!(rows(&a.clone().and(b.clone())).unwrap(), [false, false, true]);
    assert_eq!(rows(&a.clone().and(b.clone().and(!c.clone()))).unwrap(), [false, false, true]);
    assert_eq!(rows(&a.clone().or(b.clone().or(c.clone()))).unwrap(), [true; 3]);
    assert_eq!(rows(&c.clone().or(!a.clone()).or(!b)).unwrap(), [true, true, false]);
    // An `or` within an `and` stays one.
    let nested = a.and(c.clone().or(leaf(3)));
    assert_eq!(rows(&nested).unwrap(), [false, true, false]);
    assert_eq!(format!("{:?}", !c.clone()), "Not(IsNull { column: \"n\" })");
    assert_eq!(format!("{:?}", Filter::And(vec![c])), "And([IsNull { column: \"n\" }])");
}

#[test]
fn filters_that_nest_too_deep_are_refused() {
    let reader = reader();
    for levels in [MAX_DEPTH, MANY] {
        let filter = deep(levels);
        assert_eq!(filter.columns().len(), 1);
        assert!(format!("{filter:?}").len() < 100_000);
        let refused = |result: Result<()>| {
            let what = result.unwrap_err().to_string();
            assert!(what.contains("the filter nests more than 128 deep"), "{what}");
        };
        refused(reader.prune(&filter).map(drop));
        refused(rows(&filter).map(drop));
        refused(reader.scan().filter(filter.clone()).build().map(drop));
        // Engines that prune for themselves lose nothing but time.
        let maps = HashMap::<String, _>::new();
        assert_eq!(prune(&filter, 3, |name| maps.get(name).cloned()).count(), 3);
        drop(filter.clone());
        drop(filter);
    }
    let filter = deep(MAX_DEPTH - 1);
    assert_eq!(rows(&filter).unwrap(), rows(&filter.clone()).unwrap());
    assert_eq!(reader.prune(&filter).unwrap().count(), 3);
    assert!(reader.scan().filter(filter).build().unwrap().all(|batch| batch.is_ok()));
}
