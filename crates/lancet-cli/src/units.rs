//! Numbers for people.

use std::time::Duration;

/// `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 row`, `2 rows`.
pub fn rows(n: u64) -> String {
    counted(n, "row")
}

/// `1 page`, `2 pages`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `999 B`, `1.5 kB`, `20.3 MB`: steps of a thousand.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

/// `12.3 %` of the whole; a dash when there is no whole.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".into(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

/// How much more or less the second is: `+4.2 %`; a dash when there is no first.
pub fn change(first: u64, second: u64) -> String {
    match (first, second) {
        (first, second) if first == second => "=".into(),
        (0, _) => "–".into(),
        (first, second) => {
            let change = 100.0 * (second as f64 / first as f64 - 1.0);
            // Less than what is told is neither more nor less.
            if change.abs() < 0.05 { "0.0 %".into() } else { format!("{change:+.1} %") }
        }
    }
}

/// What one row takes: bytes from two bytes on, bits below.
pub fn per_row(bytes: u64, rows: u64) -> String {
    if rows == 0 {
        return "–".into();
    }
    let per_row = bytes as f64 / rows as f64;
    if per_row < 2.0 { format!("{:.2} bit", per_row * 8.0) } else { format!("{per_row:.1} B") }
}

/// `812 ns`, `4.2 µs`, `51.0 ms`, `3.21 s`.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// `812.5 MB/s`.
pub fn speed(n: u64, duration: Duration) -> String {
    let per_second = n as f64 / duration.as_secs_f64().max(1e-9);
    format!("{}/s", bytes(per_second as u64))
}

/// The bytes that a text like `1500`, `64 KiB` or `1.5GB` means: kB, MB, GB and TB are powers of
/// a thousand, KiB, MiB, GiB and TiB of 1,024. Small and capital letters are the same.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let refused = || format!("`{text}` is no size; write it as 1500, 64KiB, 8MB or 1.5GB");
    let trimmed = text.trim();
    let digits_end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = trimmed.split_at(digits_end.unwrap_or(trimmed.len()));
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(refused()),
    };
    // Whole numbers, so that no digit is lost where a float has none left.
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u128 = whole.parse().map_err(|_| refused())?;
    let places = u32::try_from(decimals.len()).map_err(|_| refused())?;
    let decimals: u128 = decimals.parse().map_err(|_| refused())?;
    let too_large = || format!("`{text}` is more than {} bytes", count(u64::MAX));
    let parts = 10_u128.checked_pow(places).ok_or_else(refused)?;
    let fraction = decimals.checked_mul(unit.into()).ok_or_else(refused)? / parts;
    let bytes = whole.checked_mul(unit.into()).and_then(|bytes| bytes.checked_add(fraction));
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("1500", 1_500),
            ("1500 B", 1_500),
            ("1kB", 1_000),
            ("64 KiB", 65_536),
            (" 8mb ", 8_000_000),
            ("8MiB", 8 << 20),
            ("1.5GB", 1_500_000_000),
            ("0.5 gib", 1 << 29),
            ("2TB", 2_000_000_000_000),
            ("1.0001 kB", 1_000),
            ("18446744073709551615", u64::MAX),
            ("18446744073709551.615 kB", u64::MAX),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "MB", "-1", "1..5", "1.", ".5", "1.2.3", "1 M B", "5 bits", "1e3", "٣"] {
            let message = parse_bytes(text).unwrap_err();
            assert!(message.starts_with(&format!("`{text}` is no size; write it as")), "{message}");
        }
        for text in ["18446744073709551616", "18446744.1 TB", "99999999999999999999999 TiB"] {
            assert!(parse_bytes(text).unwrap_err().contains("is more than"), "{text}");
        }
        assert!(parse_bytes(&"9".repeat(60)).is_err());
        assert!(parse_bytes(&format!("0.{}", "9".repeat(60))).is_err());
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(rows(1), "1 row");
        assert_eq!(rows(2_000), "2,000 rows");
    }

    #[test]
    fn bytes_step_by_thousands() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_000), "1.0 kB");
        assert_eq!(bytes(999_960), "1.0 MB");
        assert_eq!(bytes(20_340_000), "20.3 MB");
    }

    #[test]
    fn changes_are_told_where_there_are_some() {
        assert_eq!([change(0, 0), change(7, 7)], ["=", "="]);
        assert_eq!([change(0, 7), change(100, 50), change(100, 104)], ["–", "-50.0 %", "+4.0 %"]);
        assert_eq!([change(10_000, 10_001), change(10_001, 10_000)], ["0.0 %", "0.0 %"]);
    }

    #[test]
    fn small_rows_are_told_in_bits() {
        assert_eq!(per_row(100, 800), "1.00 bit");
        assert_eq!(per_row(800, 100), "8.0 B");
        assert_eq!(per_row(5, 0), "–");
        assert_eq!(share(1, 8), "12.5 %");
        assert_eq!(share(0, 0), "–");
    }

    #[test]
    fn times_have_fitting_units() {
        assert_eq!(time(Duration::from_nanos(812)), "812 ns");
        assert_eq!(time(Duration::from_nanos(4_200)), "4.2 µs");
        assert_eq!(time(Duration::from_millis(51)), "51.0 ms");
        assert_eq!(time(Duration::from_millis(3_210)), "3.21 s");
        assert_eq!(speed(5_000_000, Duration::from_millis(500)), "10.0 MB/s");
    }
}
