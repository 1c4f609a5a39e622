//! The two integers that are packed: INT32 and INT64.

use crate::bits::Packed;
use crate::delta_binary_packed::Layout;

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// `i32` for INT32, `i64` for INT64. All arithmetic wraps.
pub trait Integer: Copy + Default + Ord + Packed + sealed::Sealed {
    /// The most bits a delta needs.
    const BITS: u8;
    /// The layout that most writers use.
    const LAYOUT: Layout;
    /// The largest value.
    const MAX: Self;

    #[doc(hidden)]
    fn add(self, other: Self) -> Self;
    #[doc(hidden)]
    fn sub(self, other: Self) -> Self;
    #[doc(hidden)]
    fn or(self, other: Self) -> Self;
    /// `self * factor`.
    #[doc(hidden)]
    fn times(self, factor: usize) -> Self;
    /// The low bits of a number.
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
    /// The bits, zeros above them.
    #[doc(hidden)]
    fn to_bits(self) -> u64;
    #[doc(hidden)]
    fn narrow(value: i64) -> Option<Self>;
    #[doc(hidden)]
    fn widen(self) -> i64;
}

macro_rules! integer {
    ($signed:ty, $unsigned:ty, $bits:literal, $miniblock:literal) => {
        impl Integer for $signed {
            const BITS: u8 = $bits;
            const LAYOUT: Layout =
                Layout { block_size: 4 * $miniblock, miniblocks: 4, miniblock_size: $miniblock };
            const MAX: Self = Self::MAX;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn times(self, factor: usize) -> Self {
                self.wrapping_mul(Self::from_bits(factor as u64))
            }

            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "the cast narrows for one of the two")]
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the low bits are what is asked for"
            )]
            fn from_bits(bits: u64) -> Self {
                (bits as $unsigned).cast_signed()
            }

            #[inline(always)]
            fn to_bits(self) -> u64 {
                u64::from(self.cast_unsigned())
            }

            fn narrow(value: i64) -> Option<Self> {
                value.try_into().ok()
            }

            #[inline(always)]
            fn widen(self) -> i64 {
                i64::from(self)
            }
        }
    };
}
integer!(i32, u32, 32, 32);
integer!(i64, u64, 64, 64);
