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

#[cfg(test)]
mod tests {
    use super::*;

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
