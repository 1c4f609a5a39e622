//! Groups of 32 numbers of `W` bits, the least significant bit first.
//!
//! Number `i` has the bits `i * W .. i * W + W` of a group, bit `b` is bit `b % 8` of byte `b / 8`;
//! a group is `4 * W` bytes. Miniblocks are whole groups, so a group is the unit of all kernels.
//!
//! Each kernel exists once for each width. Then all places and shifts are constants, and a number
//! costs a load, a shift and a mask: no branch, no state.

use crate::integer::Integer;

/// Numbers of a group.
pub(crate) const GROUP: usize = 32;

/// Runs `$body` 32 times, with `$index` as a constant.
macro_rules! each_of_group {
    ($index:ident => $body:block) => {
        each_of_group!(@ $index $body
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
            16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $index:ident $body:block $($value:literal)*) => {
        $({ const $index: usize = $value; $body })*
    };
}

/// Calls `$kernel::<$type, W>($arguments)` with the constant `W` that equals `$width`, up to the `32` or
/// `64` bits of the type; gives `$none` where the width is 0.
macro_rules! with_width {
    (32, $width:expr, $kernel:ident::<$type:ident>($($argument:expr),*), $none:expr) => {
        with_width!(@ $width, $kernel, $type, ($($argument),*), $none,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    (64, $width:expr, $kernel:ident::<$type:ident>($($argument:expr),*), $none:expr) => {
        with_width!(@ $width, $kernel, $type, ($($argument),*), $none,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64)
    };
    (@ $width:expr, $kernel:ident, $type:ident, $arguments:tt, $none:expr, $($value:literal)*) => {
        match $width {
            $($value => $kernel::<$type, $value> $arguments,)*
            _ => $none,
        }
    };
}

/// The two packed integers. Their kernels are methods of theirs, not functions for any `T`: so they
/// are compiled once, in this crate, and not again in every crate that reads a page.
macro_rules! packed {
    ($type:ident, $bits:tt) => {
        impl Packed for $type {
            fn unpack(
                width: u8,
                packed: &[u8],
                min_delta: Self,
                last: Self,
                values: &mut [Self],
            ) -> Self {
                with_width!(
                    $bits,
                    width,
                    unpack_groups::<$type>(packed, min_delta, last, values),
                    progression(min_delta, last, values)
                )
            }

            fn pack(width: u8, values: &[Self], min_delta: Self, packed: &mut [u8]) {
                with_width!($bits, width, pack_groups::<$type>(values, min_delta, packed), ());
            }
        }
    };
}
packed!(i32, 32);
packed!(i64, 64);

/// Deltas as numbers of so many bits.
pub trait Packed: Sized {
    /// Rebuilds values from their packed deltas: `packed` holds groups, `values` gets 32 for each.
    /// `last` is the value before; the last one is returned.
    fn unpack(width: u8, packed: &[u8], min_delta: Self, last: Self, values: &mut [Self]) -> Self;

    /// Packs the deltas of `values`, of which the first is only the one to start from, less the
    /// minimum. `packed` has room for whole groups and is zero.
    fn pack(width: u8, values: &[Self], min_delta: Self, packed: &mut [u8]);
}

/// Values of equal steps. Each half of a group is the half before it and some steps: sums of many at once,
/// none of which waits for its neighbour.
fn progression<T: Integer>(step: T, mut last: T, values: &mut [T]) -> T {
    let (groups, _) = values.as_chunks_mut::<GROUP>();
    for group in groups {
        group[0] = last.add(step);
        further::<T, 1>(step, group);
        further::<T, 2>(step, group);
        further::<T, 4>(step, group);
        further::<T, 8>(step, group);
        further::<T, 16>(step, group);
        last = last.add(step.times(GROUP));
    }
    last
}

/// Makes `2 * N` values out of the first `N`.
#[inline(always)]
fn further<T: Integer, const N: usize>(step: T, group: &mut [T; GROUP]) {
    let (done, rest) = group.split_at_mut(N);
    for (value, before) in rest.iter_mut().zip(done) {
        *value = before.add(step.times(N));
    }
}

fn unpack_groups<T: Integer, const W: usize>(
    packed: &[u8],
    min_delta: T,
    mut last: T,
    values: &mut [T],
) -> T {
    let (groups, _) = values.as_chunks_mut::<GROUP>();
    for (packed, group) in packed.chunks_exact(const { 4 * W }).zip(groups) {
        each_of_group!(I => {
            last = last.add(T::from_bits(number::<W, I>(packed)).add(min_delta));
            group[I] = last;
        });
    }
    last
}

/// Where the eight bytes begin that hold the first bits of number `index`; they stay inside the group.
const fn word_start(width: usize, index: usize) -> usize {
    let (byte, last) = (index.saturating_mul(width) / 8, width.saturating_mul(4).saturating_sub(8));
    if byte < last { byte } else { last }
}

/// Number `I` of a group.
#[inline(always)]
fn number<const W: usize, const I: usize>(group: &[u8]) -> u64 {
    let mask = const { u64::MAX >> (64 - W) };
    if W == 1 {
        let word = group.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        return u64::from(word) >> I & mask;
    }
    let start = const { word_start(W, I) };
    let shift = const { I * W - 8 * word_start(W, I) };
    let low = word(group, start) >> shift;
    // Numbers of more than 57 bits can reach into a ninth byte.
    if shift.wrapping_add(W) > 64 {
        let ninth = group.get(start.wrapping_add(8)).map_or(0, |&byte| u64::from(byte));
        (low | ninth << 64_usize.wrapping_sub(shift)) & mask
    } else {
        low & mask
    }
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn pack_groups<T: Integer, const W: usize>(values: &[T], min_delta: T, packed: &mut [u8]) {
    let before = values.chunks(GROUP);
    let after = values.get(1..).unwrap_or_default().chunks(GROUP);
    for ((before, after), packed) in before.zip(after).zip(packed.chunks_exact_mut(const { 4 * W }))
    {
        let mut stored = [T::default(); GROUP];
        for ((stored, before), after) in stored.iter_mut().zip(before).zip(after) {
            *stored = after.sub(*before).sub(min_delta);
        }
        pack_group::<T, W>(&stored, packed);
    }
}

#[inline(always)]
fn pack_group<T: Integer, const W: usize>(numbers: &[T; GROUP], packed: &mut [u8]) {
    let mut word = 0;
    each_of_group!(I => {
        let number = numbers[I].to_bits();
        let shift = const { I * W % 64 };
        word |= number << shift;
        if shift.wrapping_add(W) >= 64 {
            if let Some(place) = packed.get_mut(const { I * W / 64 * 8 }..).and_then(<[u8]>::first_chunk_mut) {
                *place = word.to_le_bytes();
            }
            word = if shift == 0 { 0 } else { number >> 64_usize.wrapping_sub(shift) };
        }
    });
    if W % 2 == 1
        && let Some(place) = packed.last_chunk_mut::<4>()
    {
        let [a, b, c, d, ..] = word.to_le_bytes();
        *place = [a, b, c, d];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, as the format says it.
    fn slow_number(width: usize, group: &[u8], index: usize) -> u64 {
        (0..width).fold(0, |number, bit| {
            let at = index * width + bit;
            number | u64::from(group[at / 8] >> (at % 8) & 1) << bit
        })
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let step = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        std::iter::repeat_with(step).take(len).collect()
    }

    fn every_width<T: Integer + std::fmt::Debug>() {
        for width in 1..=T::BITS {
            let packed = noise(8 * usize::from(width));
            let mut want = T::from_bits(99);
            let wanted: Vec<T> = (0..2 * GROUP)
                .map(|index| {
                    let number = slow_number(usize::from(width), &packed, index);
                    want = want.add(T::from_bits(5)).add(T::from_bits(number));
                    want
                })
                .collect();
            let mut got = vec![T::default(); 2 * GROUP];
            let last = T::unpack(width, &packed, T::from_bits(5), T::from_bits(99), &mut got);
            assert_eq!(got, wanted, "width {width}");
            assert_eq!(last, wanted[2 * GROUP - 1]);

            let with_start: Vec<T> = std::iter::once(T::from_bits(99)).chain(got).collect();
            let mut again = vec![0; packed.len()];
            T::pack(width, &with_start, T::from_bits(5), &mut again);
            assert_eq!(again, packed, "width {width}");
        }
    }

    #[test]
    fn every_width_of_int32() {
        every_width::<i32>();
    }

    #[test]
    fn every_width_of_int64() {
        every_width::<i64>();
    }
}
