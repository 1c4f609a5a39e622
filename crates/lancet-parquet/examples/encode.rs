//! Writes the page of values that are read from the standard input, one on a line.
//!
//! ```text
//! cargo run -p lancet-parquet --example encode -- ENCODING TYPE < VALUES > FILE
//! ```
//!
//! The values are spelled as the example `decode` prints them.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::str::FromStr;

use lancet_parquet::plain::Int96;
use lancet_parquet::{
    ByteArrays, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [encoding, physical_type] = arguments.as_slice() else {
        eprintln!("Usage: encode ENCODING TYPE < VALUES > FILE");
        return ExitCode::from(2);
    };
    match run(encoding, physical_type) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(encoding: &str, physical_type: &str) -> Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let page = encode(encoding, physical_type, &text)?;
    Ok(io::stdout().write_all(&page)?)
}

fn encode(encoding: &str, physical_type: &str, text: &str) -> Result<Vec<u8>> {
    let page = &mut Vec::new();
    let (name, length) = match physical_type.strip_suffix(')').and_then(|t| t.split_once('(')) {
        Some((name, length)) => (name, length.parse()?),
        None => (physical_type, 0),
    };
    match (encoding, name) {
        ("PLAIN", "BOOLEAN") => plain::encode_booleans(&parsed(text)?, page),
        ("PLAIN", "INT32") => plain::encode(&parsed::<i32>(text)?, page),
        ("PLAIN", "INT64") => plain::encode(&parsed::<i64>(text)?, page),
        ("PLAIN", "FLOAT") => plain::encode(&parsed::<f32>(text)?, page),
        ("PLAIN", "DOUBLE") => plain::encode(&parsed::<f64>(text)?, page),
        ("PLAIN", "INT96") => {
            let values: Vec<Int96> = text
                .lines()
                .map(|line| {
                    unhex(line)?.try_into().map(Int96).map_err(|_| "not twelve bytes".into())
                })
                .collect::<Result<_>>()?;
            plain::encode(&values, page);
        }
        ("DELTA_BINARY_PACKED", "INT32") => {
            delta_binary_packed::encode(&parsed::<i32>(text)?, page)
        }
        ("DELTA_BINARY_PACKED", "INT64") => {
            delta_binary_packed::encode(&parsed::<i64>(text)?, page)
        }
        ("PLAIN" | "DELTA_LENGTH_BYTE_ARRAY" | "DELTA_BYTE_ARRAY", "BYTE_ARRAY") => {
            let mut values = ByteArrays::new();
            text.lines().try_for_each(|line| Result::Ok(values.push(&unhex(line)?)?))?;
            match encoding {
                "PLAIN" => plain::encode_byte_arrays(values.view(), page),
                "DELTA_BYTE_ARRAY" => delta_byte_array::encode(values.view(), page),
                _ => delta_length_byte_array::encode(values.view(), page),
            }
        }
        ("PLAIN", "FIXED_LEN_BYTE_ARRAY") => plain::encode_fixed_len(&unhex_all(text)?, page),
        ("DELTA_BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") => {
            delta_byte_array::encode_fixed_len(&unhex_all(text)?, length, page)?;
        }
        _ => return Err(format!("no values of {physical_type} in {encoding}").into()),
    }
    Ok(std::mem::take(page))
}

fn parsed<T: FromStr<Err: std::error::Error + 'static>>(text: &str) -> Result<Vec<T>> {
    Ok(text.lines().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

fn unhex_all(text: &str) -> Result<Vec<u8>> {
    Ok(text.lines().map(unhex).collect::<Result<Vec<_>>>()?.concat())
}

fn unhex(line: &str) -> Result<Vec<u8>> {
    line.as_bytes()
        .chunks(2)
        .map(|digits| Ok(u8::from_str_radix(str::from_utf8(digits)?, 16)?))
        .collect()
}
