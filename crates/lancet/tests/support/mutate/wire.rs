//! Protobuf messages without their schema: fields by number, nested ones found by trying.
//!
//! A length-delimited field may be a message, packed numbers or a string; every reading that fits
//! the bytes is a place to change something.

/// A field: its number and its value.
#[derive(Debug, Clone)]
pub struct Field {
    pub number: u64,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
}

/// A place inside a message that can be changed.
#[derive(Debug, Clone)]
pub struct Site {
    /// Positions of the fields on the way down.
    pub path: Vec<usize>,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number of its own.
    Number(u64),
    /// A number in a packed list, and its position.
    Packed(u64, usize),
    /// A length-delimited field as a whole.
    Bytes,
}

pub fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The fields of a message, if the bytes are one.
pub fn parse(bytes: &[u8]) -> Option<Vec<Field>> {
    let mut at = 0;
    let mut fields = Vec::new();
    while at < bytes.len() {
        let key = varint(bytes, &mut at)?;
        let number = key >> 3;
        let value = match key & 7 {
            _ if number == 0 => return None,
            0 => Value::Varint(varint(bytes, &mut at)?),
            1 => Value::Fixed64(bytes.get(at..at + 8)?.try_into().ok()?),
            5 => Value::Fixed32(bytes.get(at..at + 4)?.try_into().ok()?),
            2 => {
                let len = usize::try_from(varint(bytes, &mut at)?).ok()?;
                Value::Bytes(bytes.get(at..at.checked_add(len)?)?.to_vec())
            }
            _ => return None,
        };
        at += match &value {
            Value::Varint(_) => 0,
            Value::Fixed64(_) => 8,
            Value::Fixed32(_) => 4,
            Value::Bytes(bytes) => bytes.len(),
        };
        fields.push(Field { number, value });
    }
    Some(fields)
}

pub fn encode(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for Field { number, value } in fields {
        let wire_type = match value {
            Value::Varint(_) => 0,
            Value::Fixed64(_) => 1,
            Value::Bytes(_) => 2,
            Value::Fixed32(_) => 5,
        };
        put_varint(number << 3 | wire_type, &mut out);
        match value {
            Value::Varint(value) => put_varint(*value, &mut out),
            Value::Fixed64(bytes) => out.extend_from_slice(bytes),
            Value::Fixed32(bytes) => out.extend_from_slice(bytes),
            Value::Bytes(bytes) => {
                put_varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(bytes);
            }
        }
    }
    out
}

/// Packed numbers, if the bytes are some.
pub fn packed(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut at = 0;
    let mut numbers = Vec::new();
    while at < bytes.len() {
        numbers.push(varint(bytes, &mut at)?);
    }
    (!numbers.is_empty()).then_some(numbers)
}

pub fn encode_packed(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|number| put_varint(*number, &mut out));
    out
}

/// All places of a message that can be changed.
pub fn sites(message: &[u8]) -> Vec<Site> {
    let mut out = Vec::new();
    collect(message, &mut Vec::new(), &mut out);
    out
}

fn collect(message: &[u8], path: &mut Vec<usize>, out: &mut Vec<Site>) {
    for (i, field) in parse(message).unwrap_or_default().iter().enumerate() {
        path.push(i);
        let mut site = |kind| out.push(Site { path: path.clone(), kind });
        match &field.value {
            Value::Varint(value) => site(Kind::Number(*value)),
            Value::Fixed64(_) | Value::Fixed32(_) => {}
            Value::Bytes(bytes) => {
                site(Kind::Bytes);
                // Long lists of numbers are tables of symbols or text; their start is enough.
                for (at, number) in packed(bytes).unwrap_or_default().iter().take(8).enumerate() {
                    site(Kind::Packed(*number, at));
                }
                if !bytes.is_empty() && bytes.len() < 2000 && path.len() < 24 {
                    collect(bytes, path, out);
                }
            }
        }
        path.pop();
    }
}

/// The message with the field at `path` changed; all lengths around it follow.
pub fn edit(
    message: &[u8],
    path: &[usize],
    change: &mut dyn FnMut(&mut Vec<Field>, usize),
) -> Option<Vec<u8>> {
    let mut fields = parse(message)?;
    match path {
        [] => return None,
        [last] => change(&mut fields, *last),
        [first, rest @ ..] => {
            let Value::Bytes(bytes) = &mut fields.get_mut(*first)?.value else { return None };
            *bytes = edit(bytes, rest, change)?;
        }
    }
    Some(encode(&fields))
}

/// Writes `to` where `site` has a number.
pub fn set_number(message: &[u8], site: &Site, to: u64) -> Option<Vec<u8>> {
    edit(message, &site.path, &mut |fields, i| match (&mut fields[i].value, site.kind) {
        (Value::Varint(value), Kind::Number(_)) => *value = to,
        (Value::Bytes(bytes), Kind::Packed(_, at)) => {
            let mut numbers = packed(bytes).unwrap_or_default();
            if let Some(number) = numbers.get_mut(at) {
                *number = to;
            }
            *bytes = encode_packed(&numbers);
        }
        _ => {}
    })
}
