//! Why a column is encoded as it is: what the other ways to write it cost.

use std::time::{Duration, Instant};

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;
use lancet::{Profile, Version};

use super::facts::{ColumnFacts, cut};
use super::file::MOST_FORM;
use super::sample::Sample;
use crate::analyze::{self, Trial};
use crate::progress;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Nothing.
    Nothing,
    /// Some seconds, for files that lancet wrote.
    Some,
    /// All columns, for a minute at most.
    All,
}

impl Effort {
    /// Rows that are looked at.
    pub fn rows(self) -> u64 {
        match self {
            Self::Nothing | Self::Some => 16_384,
            Self::All => 65_536,
        }
    }

    /// Bytes of one column that are tried: a trial cannot be stopped, and takes as long as it has bytes.
    fn bytes(self) -> u64 {
        match self {
            Self::Nothing | Self::Some => 4 << 20,
            Self::All => 32 << 20,
        }
    }

    fn time(self) -> Duration {
        match self {
            Self::Nothing => Duration::ZERO,
            Self::Some => Duration::from_secs(4),
            Self::All => Duration::from_mins(1),
        }
    }
}

/// Ways to write a column, tried with some of its rows.
pub struct Candidates {
    pub rows: u64,
    /// Bytes of these rows in Arrow's memory.
    pub arrow_bytes: u64,
    pub forms: Vec<Form>,
    /// Which of them the file has, as far as that can be told.
    pub chosen: Option<usize>,
    /// Which of them `lancet analyze` recommends.
    pub best: usize,
}

/// One way to write a column.
pub struct Form {
    pub name: String,
    pub bytes: u64,
    /// Bytes of Arrow data a second.
    pub scan_speed: u64,
    /// Nanoseconds.
    pub take: u64,
}

/// What the profiles of the writer would bring.
pub struct Profiles {
    /// Columns that were tried.
    pub columns: usize,
    /// Bytes of these in the file.
    pub current: u64,
    /// The names of the profiles, with what these columns would take.
    pub predicted: Vec<(&'static str, u64)>,
}

const PROFILES: [(&str, Profile); 3] =
    [("fast", Profile::Fast), ("balanced", Profile::Balanced), ("small", Profile::Small)];

/// Places of a column that are looked at, where not all of it is.
const RUNS: usize = 8;

/// Tries the columns, the largest first, as long as there is time.
pub fn explain(
    sample: &Sample,
    columns: &mut [ColumnFacts],
    effort: Effort,
    is_lancet: bool,
    quiet: bool,
) -> Option<Profiles> {
    if effort == Effort::Nothing || (effort == Effort::Some && !is_lancet) {
        return None;
    }
    let start = Instant::now();
    let mut arrays = sample.of_columns(columns);
    arrays.retain(|(_, array)| !array.is_empty());
    let bytes = |place: usize| columns.get(place).map_or(0, |column| column.bytes);
    arrays.sort_by_key(|(place, _)| std::cmp::Reverse(bytes(*place)));
    let bar = progress::share(quiet);
    bar.set_length(arrays.len() as u64);
    let mut profiles = Profiles {
        columns: 0,
        current: 0,
        predicted: PROFILES.map(|(name, _)| (name, 0)).to_vec(),
    };
    for (place, array) in arrays {
        if start.elapsed() > effort.time() {
            break;
        }
        let Some(column) = columns.get_mut(place) else { continue };
        let array = some_of(&array, effort.bytes());
        let Some((candidates, predicted)) = try_column(sample, column, &array) else { continue };
        column.candidates = Some(candidates);
        profiles.columns += 1;
        profiles.current += column.bytes;
        for ((_, sum), bytes) in profiles.predicted.iter_mut().zip(predicted) {
            *sum = sum.saturating_add(bytes);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Some(profiles).filter(|profiles| profiles.columns > 0)
}

/// Values of a column, from all of it, with at most about so many bytes.
fn some_of(array: &ArrayRef, most: u64) -> ArrayRef {
    let bytes = analyze::memory::value_bytes(array);
    if bytes <= most {
        return array.clone();
    }
    let rows = (array.len() as f64 * (most as f64 / bytes as f64)) as usize;
    let runs = rows.clamp(1, RUNS);
    let (len, step) = (rows.max(1) / runs, array.len() / runs);
    let parts: Vec<ArrayRef> =
        (0..runs).map(|run| array.slice(run.saturating_mul(step), len.min(step))).collect();
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    concat(&parts).unwrap_or_else(|_| array.slice(0, rows.clamp(1, array.len())))
}

fn try_column(
    sample: &Sample,
    column: &ColumnFacts,
    array: &ArrayRef,
) -> Option<(Candidates, Vec<u64>)> {
    let trial = Trial::new(&sample.field(array), array.clone(), Version::V2_2);
    let candidates = trial.candidates(Profile::Balanced).ok()?;
    let best = analyze::recommend(&candidates, Profile::Balanced);
    let arrow_bytes = analyze::memory::value_bytes(array);
    let speed = |time: Duration| (arrow_bytes as f64 / time.as_secs_f64().max(1e-9)) as u64;
    let forms: Vec<Form> = candidates
        .iter()
        .map(|candidate| Form {
            name: cut(&candidate.form, MOST_FORM),
            bytes: candidate.bytes,
            scan_speed: speed(candidate.decode),
            take: u64::try_from(candidate.row.as_nanos()).unwrap_or(u64::MAX),
        })
        .collect();
    let actual = column.forms.first().map(|(form, _)| shape(form));
    let chosen = forms.iter().position(|form| Some(shape(&form.name)) == actual);
    let predicted =
        PROFILES.iter().map(|(_, profile)| trial.predict(*profile, &[], sample.file_rows()).ok());
    let predicted = predicted.collect::<Option<Vec<u64>>>()?;
    let rows = array.len() as u64;
    Some((Candidates { rows, arrow_bytes, forms, chosen, best }, predicted))
}

/// A form without what depends on the rows: numbers, and how its layout is told. Tables have an `n` where files have a number.
fn shape(form: &str) -> String {
    let form = form.replace(" of n ", " of  ");
    form.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, ':' | ',')).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    #[test]
    fn long_columns_are_tried_in_part() {
        let array: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
        assert_eq!(some_of(&array, 1 << 20).len(), 100_000);
        let some = some_of(&array, 8_000);
        assert_eq!(some.len(), 1_000);
        let values = some.as_primitive::<Int64Type>().values();
        assert_eq!((values[0], values[125], values[999]), (0, 12_500, 87_624));
        assert_eq!(some_of(&array, 1).len(), 1);
    }

    #[test]
    fn the_same_form_of_other_rows() {
        let in_file =
            "mini-block: dictionary of 1200 (variable (32-bit offsets)), indices flat 16-bit";
        let tried = "mini-block, dictionary of 34 (variable (32-bit offsets)), indices flat 8-bit";
        assert_eq!(shape(in_file), shape(tried));
        assert_eq!(shape(&in_file.replace("1200", "n")), shape(tried));
        assert_ne!(shape("mini-block: flat 8-bit"), shape("full-zip: flat 8-bit"));
    }
}
