//! Text cut into JSON objects: one after the other, or the items of one array.
//!
//! Only brackets and strings are looked at; whether an object is sound JSON is found out when it is parsed.

use std::io::BufRead;

use crate::input::source::MAX_RECORD_BYTES;

/// The objects of a text.
pub struct Objects<R> {
    text: R,
    state: State,
    /// Line ends that were read.
    newlines: u64,
    /// Objects that were read.
    pub records: u64,
    /// Line on which the last object begins.
    pub line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// Nothing was read yet.
    Start,
    /// Objects follow each other.
    Sequence,
    /// In an array, and an object has to come; at its beginning the array may end instead.
    Item { first: bool },
    /// In an array, behind an object.
    BehindItem,
    /// The array was closed.
    Closed,
}

impl<R: BufRead> Objects<R> {
    pub fn new(text: R) -> Self {
        Self { text, state: State::Start, newlines: 0, records: 0, line: 1 }
    }

    /// Reads the next object into `object`; false at the end.
    pub fn read(&mut self, object: &mut Vec<u8>) -> Result<bool, String> {
        object.clear();
        if !self.find()? {
            return Ok(false);
        }
        self.records += 1;
        self.line = self.newlines + 1;
        self.copy(object)?;
        self.state = match self.state {
            State::Item { .. } => State::BehindItem,
            _ => State::Sequence,
        };
        Ok(true)
    }

    /// Goes to the `{` of the next object.
    fn find(&mut self) -> Result<bool, String> {
        loop {
            let input = self.text.fill_buf().map_err(|error| error.to_string())?;
            let Some(byte) = input.first().copied() else {
                return match self.state {
                    State::Item { .. } | State::BehindItem => {
                        Err("the file ends before the `]` of its array".into())
                    }
                    _ => Ok(false),
                };
            };
            self.state = match (byte, self.state) {
                (b' ' | b'\t' | b'\r' | b'\n', state) => state,
                (b'{', State::Start | State::Sequence | State::Item { .. }) => return Ok(true),
                (b'[', State::Start) => State::Item { first: true },
                (b',', State::BehindItem) => State::Item { first: false },
                (b']', State::BehindItem | State::Item { first: true }) => State::Closed,
                (_, State::Closed) => return Err(self.misplaced("something follows the array")),
                (_, State::BehindItem) => return Err(self.misplaced("a `,` or `]` is missing")),
                _ => {
                    let record = self.records + 1;
                    return Err(self.misplaced(&format!("record {record} is not a JSON object")));
                }
            };
            self.newlines += u64::from(byte == b'\n');
            self.text.consume(1);
        }
    }

    fn misplaced(&self, what: &str) -> String {
        format!("line {}: {what}", self.newlines + 1)
    }

    /// Copies up to the `}` that belongs to the first `{`.
    fn copy(&mut self, object: &mut Vec<u8>) -> Result<(), String> {
        let (mut depth, mut in_string, mut escaped) = (0_u64, false, false);
        loop {
            let input = self.text.fill_buf().map_err(|error| error.to_string())?;
            if input.is_empty() {
                let (record, line) = (self.records, self.line);
                return Err(format!(
                    "the file ends within record {record}, which begins at line {line}"
                ));
            }
            let mut end = None;
            for (at, byte) in input.iter().enumerate() {
                self.newlines += u64::from(*byte == b'\n');
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if in_string => escaped = true,
                    b'"' => in_string = !in_string,
                    b'{' | b'[' if !in_string => depth += 1,
                    b'}' | b']' if !in_string => {
                        depth -= 1; // the first byte was a `{`, and the loop ends at 0
                        if depth == 0 {
                            end = Some(at + 1);
                            break;
                        }
                    }
                    _ => {}
                }
            }
            let read = end.unwrap_or(input.len());
            object.extend_from_slice(input.get(..read).unwrap_or_default());
            self.text.consume(read);
            if end.is_some() {
                return Ok(());
            }
            if object.len() > MAX_RECORD_BYTES {
                return Err(format!(
                    "record {}, which begins at line {}, is longer than {} MiB",
                    self.records,
                    self.line,
                    MAX_RECORD_BYTES >> 20
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(text: &str) -> Result<Vec<(u64, String)>, String> {
        let mut objects = Objects::new(std::io::BufReader::with_capacity(3, text.as_bytes()));
        let (mut found, mut object) = (Vec::new(), Vec::new());
        while objects.read(&mut object)? {
            found.push((objects.line, String::from_utf8(object.clone()).unwrap()));
        }
        Ok(found)
    }

    #[test]
    fn lines_arrays_and_single_objects() {
        let two = [(1, "{\"a\":1}".to_owned()), (2, "{\"a\":\"}{\\\"\"}".to_owned())];
        assert_eq!(objects("{\"a\":1}\n{\"a\":\"}{\\\"\"}").unwrap(), two);
        assert_eq!(objects("[{\"a\":1},\n{\"a\":\"}{\\\"\"}]\n").unwrap(), two);
        assert_eq!(objects("{\n\"a\": [{}]\n}\n").unwrap(), [(1, "{\n\"a\": [{}]\n}".to_owned())]);
        assert_eq!(objects("").unwrap(), []);
        assert_eq!(objects("[]").unwrap(), []);
    }

    #[test]
    fn what_is_no_list_of_objects() {
        let message = |text: &str| objects(text).unwrap_err();
        assert_eq!(message("{}\n[1]"), "line 2: record 2 is not a JSON object");
        assert_eq!(message("[{}"), "the file ends before the `]` of its array");
        assert_eq!(message("[{},]"), "line 1: record 2 is not a JSON object");
        assert_eq!(message("[{} {}]"), "line 1: a `,` or `]` is missing");
        assert_eq!(message("[{}] {}"), "line 1: something follows the array");
        assert_eq!(message("{\"a\":"), "the file ends within record 1, which begins at line 1");
        assert_eq!(message("7"), "line 1: record 1 is not a JSON object");
    }
}
