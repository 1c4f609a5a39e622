//! Bounds of numbers and booleans.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts values of arrays in memory"
)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, BooleanArray, make_array};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer, ToByteSlice};
use arrow_data::ArrayData;
use arrow_schema::DataType;

use super::gather::{Bounds, FoundBounds, unexpected};
use crate::error::Result;

/// So many bounds are looked for at a time, so that the loop becomes one over vectors.
const LANES: usize = 16;

/// Bounds of numbers, decimals, dates and times: whatever is held as `N`. It knows the type of the
/// column as a value, not as a parameter: 13 kinds of numbers instead of 27 types to compile.
#[derive(Debug)]
pub(super) struct Numbers<N> {
    data_type: DataType,
    /// The NaN that is written, for floats.
    nan: Option<N>,
    min: Vec<Option<N>>,
    max: Vec<Option<N>>,
    nan_counts: Vec<u32>,
    open: Open<N>,
}

/// What is known of the zone that is open.
#[derive(Debug)]
struct Open<N> {
    /// The least and the greatest number.
    range: Option<(N, N)>,
    nans: usize,
    /// Whether one of the NaNs has its sign set.
    signed_nan: bool,
}

impl<N> Open<N> {
    const NOTHING: Self = Self { range: None, nans: 0, signed_nan: false };
}

impl<N: ArrowNativeTypeOp> Numbers<N> {
    pub(super) fn new(data_type: &DataType, nan: Option<N>) -> Self {
        let data_type = data_type.clone();
        let (min, max, nan_counts) = (Vec::new(), Vec::new(), Vec::new());
        Self { data_type, nan, min, max, nan_counts, open: Open::NOTHING }
    }

    fn add_run(&mut self, mut values: &[N]) {
        if self.nan.is_some() {
            let nans = values.iter().filter(|value| is_nan(**value)).count();
            if nans > 0 {
                self.open.nans += nans;
                self.open.signed_nan |= values.iter().any(|value| is_nan(*value) && signed(value));
            }
        }
        if self.open.range.is_none() {
            let Some(first) = values.iter().position(|value| !is_nan(*value)) else { return };
            values = &values[first..];
        }
        let Some(first) = values.first() else { return };
        let (low, high) = self.open.range.unwrap_or((*first, *first));
        self.open.range = Some(widen(values, low, high));
    }
}

impl<N: ArrowNativeTypeOp> Bounds for Numbers<N> {
    fn add(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()> {
        let data = values.to_data();
        let ([numbers], true) = (data.buffers(), *data.data_type() == self.data_type) else {
            return Err(unexpected(values.data_type()));
        };
        let numbers = ScalarBuffer::<N>::new(numbers.clone(), data.offset(), data.len());
        match valid {
            None => self.add_run(&numbers),
            Some(valid) => {
                valid.valid_slices().for_each(|(start, end)| self.add_run(&numbers[start..end]));
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        let Open { range, nans, signed_nan } = std::mem::replace(&mut self.open, Open::NOTHING);
        let (mut low, mut high) = range.unzip();
        if self.nan.is_some() {
            let zero = N::ZERO;
            low = low.map(|low| if low == zero { zero.neg_wrapping() } else { low });
            high = high.map(|high| if high == zero { zero } else { high });
            if nans > 0 {
                high = self.nan;
                low = low.filter(|_| !signed_nan).or(self.nan);
            }
        }
        self.min.push(low);
        self.max.push(high);
        self.nan_counts.push(u32::try_from(nans).unwrap_or(u32::MAX));
    }

    fn finish(self: Box<Self>) -> Result<FoundBounds> {
        let exact = vec![true; self.min.len()];
        let (min, max) = (array(&self.data_type, &self.min)?, array(&self.data_type, &self.max)?);
        Ok(FoundBounds { min, max, nan_counts: self.nan_counts, exact })
    }
}

fn array<N: ArrowNativeTypeOp>(data_type: &DataType, values: &[Option<N>]) -> Result<ArrayRef> {
    let numbers: Vec<N> = values.iter().map(|value| value.unwrap_or_default()).collect();
    let data = ArrayData::builder(data_type.clone())
        .len(values.len())
        .add_buffer(Buffer::from_vec(numbers))
        .nulls(Some(NullBuffer::from_iter(values.iter().map(Option::is_some))))
        .build()?;
    Ok(make_array(data))
}

#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<N: PartialEq + Copy>(value: N) -> bool {
    value != value
}

/// Whether the sign of a float is set.
fn signed<N: ToByteSlice>(value: &N) -> bool {
    value.to_byte_slice().last().is_some_and(|byte| byte & 0x80 != 0)
}

/// The least and the greatest of values and of what was known; NaN is neither.
fn widen<N: PartialOrd + Copy>(values: &[N], low: N, high: N) -> (N, N) {
    let (mut lows, mut highs) = ([low; LANES], [high; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((low, high), value) in lows.iter_mut().zip(&mut highs).zip(chunk) {
            *low = if *value < *low { *value } else { *low };
            *high = if *value > *high { *value } else { *high };
        }
    }
    let (mut low, mut high) = (low, high);
    for value in lows.iter().chain(&highs).chain(rest) {
        low = if *value < low { *value } else { low };
        high = if *value > high { *value } else { high };
    }
    (low, high)
}

/// Bounds of booleans: `false` is below `true`.
#[derive(Debug, Default)]
pub(super) struct Booleans {
    zones: Vec<[bool; 2]>,
    /// Whether there is a `false`, and a `true`.
    open: [bool; 2],
}

impl Bounds for Booleans {
    fn add(&mut self, values: &ArrayRef, valid: Option<&NullBuffer>) -> Result<()> {
        let Some(booleans) = values.as_boolean_opt() else {
            return Err(unexpected(values.data_type()));
        };
        let bits = booleans.values();
        let (yes, all) = match valid {
            Some(valid) => {
                let all = valid.len() - valid.null_count();
                ((bits & valid.inner()).count_set_bits(), all)
            }
            None => (bits.count_set_bits(), bits.len()),
        };
        self.open = [self.open[0] || yes < all, self.open[1] || yes > 0];
        Ok(())
    }

    fn close(&mut self) {
        self.zones.push(std::mem::take(&mut self.open));
    }

    fn finish(self: Box<Self>) -> Result<FoundBounds> {
        let bound = |of: fn(&[bool; 2]) -> bool| -> ArrayRef {
            let bounds = self.zones.iter().map(|found| found.contains(&true).then(|| of(found)));
            Arc::new(bounds.collect::<BooleanArray>())
        };
        Ok(FoundBounds {
            min: bound(|[no, _]| !no),
            max: bound(|[_, yes]| *yes),
            nan_counts: vec![0; self.zones.len()],
            exact: vec![true; self.zones.len()],
        })
    }
}
