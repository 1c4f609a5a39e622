//! Prints the values of a page, one on a line.
//!
//! ```text
//! cargo run -p lancet-parquet --example decode -- ENCODING TYPE NUM_VALUES FILE
//! ```
//!
//! The file holds the value section of a data page: decompressed, without the levels. Encoding and type
//! are named as in the format; a length stands in brackets, `FIXED_LEN_BYTE_ARRAY(16)`. Byte arrays are
//! printed as hex, INT96 as well; floats so that they read back as the same value.

use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use lancet_parquet::plain::{Fixed, Int96};
use lancet_parquet::{
    ByteArrays, Integer, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What the values of a page may take in memory.
const MAX_BYTES: usize = 1 << 30;
/// Values that are decoded and printed at once.
const AT_ONCE: usize = 4096;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [encoding, physical_type, num_values, file] = arguments.as_slice() else {
        eprintln!("Usage: decode ENCODING TYPE NUM_VALUES FILE");
        return ExitCode::from(2);
    };
    match run(encoding, physical_type, num_values, file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(encoding: &str, physical_type: &str, num_values: &str, file: &str) -> Result<()> {
    let count: usize = num_values.parse()?;
    let page = std::fs::read(file)?;
    let out = &mut BufWriter::new(io::stdout().lock());
    let (name, length) = match physical_type.strip_suffix(')').and_then(|t| t.split_once('(')) {
        Some((name, length)) => (name, length.parse()?),
        None => (physical_type, 0),
    };
    match (encoding, name) {
        ("PLAIN", "BOOLEAN") => {
            for start in (0..count).step_by(AT_ONCE) {
                let mut values = vec![false; AT_ONCE.min(count.saturating_sub(start))];
                plain::decode_booleans_range(&page, start, &mut values)?;
                print(&values, bool::to_string, out)?;
            }
        }
        ("PLAIN", "INT32") => print_fixed(&page, count, i32::to_string, out)?,
        ("PLAIN", "INT64") => print_fixed(&page, count, i64::to_string, out)?,
        ("PLAIN", "INT96") => print_fixed(&page, count, |Int96(bytes)| hex(bytes), out)?,
        ("PLAIN", "FLOAT") => print_fixed(&page, count, |value: &f32| format!("{value:?}"), out)?,
        ("PLAIN", "DOUBLE") => print_fixed(&page, count, |value: &f64| format!("{value:?}"), out)?,
        ("DELTA_BINARY_PACKED", "INT32") => print_packed::<i32>(&page, count, out)?,
        ("DELTA_BINARY_PACKED", "INT64") => print_packed::<i64>(&page, count, out)?,
        ("PLAIN" | "DELTA_LENGTH_BYTE_ARRAY" | "DELTA_BYTE_ARRAY", "BYTE_ARRAY") => {
            let mut values = ByteArrays::new();
            match encoding {
                "PLAIN" => plain::decode_byte_arrays(&page, count, &mut values)?,
                "DELTA_BYTE_ARRAY" => {
                    delta_byte_array::decode(&page, count, MAX_BYTES, &mut values)?
                }
                _ => delta_length_byte_array::decode(&page, count, &mut values)?,
            };
            values.iter().try_for_each(|value| writeln!(out, "{}", hex(value)))?;
        }
        ("PLAIN" | "DELTA_BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") if length > 0 => {
            let mut values = Vec::new();
            if encoding == "PLAIN" {
                values.extend_from_slice(plain::decode_fixed_len(&page, length, count)?);
            } else {
                delta_byte_array::decode_fixed_len(&page, count, length, &mut values)?;
            }
            values.chunks(length).try_for_each(|value| writeln!(out, "{}", hex(value)))?;
        }
        _ => return Err(format!("no values of {physical_type} in {encoding}").into()),
    }
    Ok(out.flush()?)
}

fn print_fixed<T: Fixed>(
    page: &[u8],
    count: usize,
    text: impl Fn(&T) -> String,
    out: &mut impl Write,
) -> Result<()> {
    for start in (0..count).step_by(AT_ONCE) {
        let mut values = vec![T::default(); AT_ONCE.min(count.saturating_sub(start))];
        plain::decode_range(page, start, &mut values)?;
        print(&values, &text, out)?;
    }
    Ok(())
}

/// The decoder hands out as many values as are asked for, so a page of any size needs little memory.
fn print_packed<T: Integer + Display>(
    page: &[u8],
    count: usize,
    out: &mut impl Write,
) -> Result<()> {
    let mut decoder = delta_binary_packed::Decoder::<T>::new(page, count)?;
    for start in (0..count).step_by(AT_ONCE) {
        let mut values = vec![T::default(); AT_ONCE.min(count.saturating_sub(start))];
        decoder.read(&mut values)?;
        print(&values, T::to_string, out)?;
    }
    Ok(())
}

fn print<T>(values: &[T], text: impl Fn(&T) -> String, out: &mut impl Write) -> Result<()> {
    Ok(values.iter().try_for_each(|value| writeln!(out, "{}", text(value)))?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
