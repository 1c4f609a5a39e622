//! Numbers out of text.

use std::str::FromStr;

/// With a sign and spaces around it; only zero may have a minus where the type has none.
pub fn integer<N: FromStr + Default>(text: &str) -> Option<N> {
    let text = text.trim_ascii();
    let zero = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0');
    let negative_zero = || text.strip_prefix('-').is_some_and(zero).then(N::default);
    text.parse().ok().or_else(negative_zero)
}

/// A float, or its name, with spaces around it.
pub fn float<F: FromStr>(text: &str) -> Option<F> {
    text.trim_ascii().parse().ok()
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{
        Float32Type, Float64Type, Int8Type, Int64Type, UInt8Type, UInt64Type,
    };
    use arrow_cast::parse::Parser;

    use super::*;

    #[test]
    fn integers_are_those_of_arrow() {
        for text in [
            "0",
            "-0",
            "+0",
            "-00",
            "127",
            "128",
            "-128",
            "-129",
            "255",
            "256",
            "007",
            "+5",
            "-5",
            " 5",
            "5 ",
            "\t5\n",
            "5\u{b}",
            "\u{a0}5",
            "- 5",
            "--5",
            "+-5",
            "",
            "-",
            "+",
            "5x",
            "x5",
            "1_0",
            "1.0",
            "é",
            "18446744073709551615",
            "18446744073709551616",
            "9223372036854775808",
            "-9223372036854775808",
            "000000000000000000000000000000001",
        ] {
            assert_eq!(integer::<i8>(text), Int8Type::parse(text), "{text}");
            assert_eq!(integer::<u8>(text), UInt8Type::parse(text), "{text}");
            assert_eq!(integer::<i64>(text), Int64Type::parse(text), "{text}");
            assert_eq!(integer::<u64>(text), UInt64Type::parse(text), "{text}");
        }
    }

    #[test]
    fn floats_are_those_of_arrow() {
        let texts = [
            "0",
            "-0",
            "1",
            "+1.5",
            "1.",
            ".5",
            ".",
            "",
            "-",
            "1e5",
            "1E+5",
            "1e-5",
            "1e",
            "e5",
            ".e5",
            "1e999",
            "-1e999",
            "1e-999",
            "nan",
            "NaN",
            "-nan",
            "+NaN",
            "inf",
            "-INF",
            "Infinity",
            "+infinity",
            "infin",
            " 1 ",
            "\t2.5\n",
            "1 2",
            "1_0",
            "0x10",
            "1f",
            "é",
            "9007199254740993",
            "0.1",
            "123456789012345678901234567890",
            "5e-324",
            "2.2250738585072011e-308",
            "16777217",
            "3.4028236e38",
            "1.17549435e-38",
            "1e5 ",
            " -inf ",
            "--1",
            "1.5.5",
        ];
        for text in texts {
            let (wide, narrow) = (Float64Type::parse(text), Float32Type::parse(text));
            assert_eq!(float(text).map(f64::to_bits), wide.map(f64::to_bits), "{text}");
            assert_eq!(float(text).map(f32::to_bits), narrow.map(f32::to_bits), "{text}");
        }
    }
}
