//! How deep the schema of a Parquet file nests.
//!
//! The reader finds that out by calling itself for every level, until the stack is full and the process ends. So the
//! footer is looked at first. It is a struct of Thrift's compact protocol:
//!
//! | what | bytes |
//! |---|---|
//! | field of a struct | its number, as the distance to the one before in 4 bits, or 0 and a varint; its type in 4 bits |
//! | list | its length in 4 bits, or 15 and a varint; the type of its items in 4 bits |
//! | struct | fields, then a zero byte |
//!
//! The second field of the footer lists the fields of the schema, parents before their children; the fifth of each
//! says how many children follow.

/// Groups within groups, at most. A list takes two.
const MOST_LEVELS: usize = 256;
/// Structs and lists within each other in a footer; those of Parquet are a handful.
const MOST_NESTING: usize = 32;

const DAMAGED: &str = "the footer is damaged";

/// Fails if the schema nests too deep for its reader.
pub fn check(footer: &[u8]) -> Result<(), String> {
    let mut bytes = Bytes(footer);
    let mut number = 0;
    while let Some(kind) = bytes.field(&mut number)? {
        if (number, kind) != (2, Kind::LIST) {
            bytes.skip(kind, false, 0)?;
            continue;
        }
        let (num_fields, kind) = bytes.list()?;
        if kind != Kind::STRUCT {
            return Err(DAMAGED.into());
        }
        let mut levels = Levels::default();
        for _ in 0..num_fields {
            levels.push(bytes.num_children()?)?;
        }
    }
    Ok(())
}

/// Children still to come, of each group that is open.
#[derive(Default)]
struct Levels(Vec<u64>);

impl Levels {
    fn push(&mut self, num_children: u64) -> Result<(), String> {
        while self.0.pop_if(|left| *left == 0).is_some() {}
        if let Some(left) = self.0.last_mut() {
            *left -= 1;
        }
        if num_children > 0 {
            self.0.push(num_children);
        }
        match self.0.len() > MOST_LEVELS {
            true => Err(format!("the schema nests deeper than {MOST_LEVELS} levels")),
            false => Ok(()),
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const LIST: Self = Self(9);
    const STRUCT: Self = Self(12);
}

/// What is left of the footer.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Result<u8, String> {
        let (byte, rest) = self.0.split_first().ok_or(DAMAGED)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn skip_bytes(&mut self, count: u64) -> Result<(), String> {
        let count = usize::try_from(count).map_err(|_| DAMAGED)?;
        self.0 = self.0.get(count..).ok_or(DAMAGED)?;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DAMAGED.into())
    }

    /// The type of the next field, whose number follows on the one before; none at the end of the struct.
    fn field(&mut self, number: &mut u64) -> Result<Option<Kind>, String> {
        let byte = self.byte()?;
        match byte >> 4 {
            _ if byte == 0 => return Ok(None),
            0 => *number = self.varint()? >> 1,
            distance => *number = number.saturating_add(distance.into()),
        }
        Ok(Some(Kind(byte & 0x0F)))
    }

    /// The length of a list and the type of its items.
    fn list(&mut self) -> Result<(u64, Kind), String> {
        let byte = self.byte()?;
        let len = match byte >> 4 {
            15 => self.varint()?,
            len => len.into(),
        };
        Ok((len, Kind(byte & 0x0F)))
    }

    /// Goes through a field of the schema.
    fn num_children(&mut self) -> Result<u64, String> {
        let (mut number, mut children) = (0, 0);
        while let Some(kind) = self.field(&mut number)? {
            match (number, kind) {
                (5, Kind(4..=6)) => children = self.varint()? >> 1,
                _ => self.skip(kind, false, 1)?,
            }
        }
        Ok(children)
    }

    /// Goes behind a value. The booleans of structs are in their types.
    fn skip(&mut self, kind: Kind, in_list: bool, nesting: usize) -> Result<(), String> {
        if nesting > MOST_NESTING {
            return Err(DAMAGED.into());
        }
        match kind.0 {
            1 | 2 => self.skip_bytes(in_list.into()),
            3 => self.skip_bytes(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip_bytes(8),
            8 => self.varint().and_then(|len| self.skip_bytes(len)),
            9 | 10 => {
                let (len, kind) = self.list()?;
                (0..len).try_for_each(|_| self.skip(kind, true, nesting + 1))
            }
            11 => {
                let len = self.varint()?;
                let kinds = if len > 0 { self.byte()? } else { 0 };
                (0..len).try_for_each(|_| {
                    self.skip(Kind(kinds >> 4), true, nesting + 1)?;
                    self.skip(Kind(kinds & 0x0F), true, nesting + 1)
                })
            }
            12 => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, false, nesting + 1)?;
                }
                Ok(())
            }
            _ => Err(DAMAGED.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema is groups within groups, and fields of all types besides.
    fn footer(levels: usize) -> Vec<u8> {
        let field = [&[0x48, 1, b'a'][..], &[0x15, 2, 0]].concat(); // name, one child
        let mut footer = vec![0x15, 2]; // version
        footer.extend([0x11, 0x13, 7, 0x17, 0, 0, 0, 0, 0, 0, 0, 0]); // true, a byte, a double
        footer.extend([0x09, 4, 0xFC]); // field 2 by its number: a list of structs
        let mut len = levels + 1;
        while len >= 0x80 {
            footer.push(len as u8 | 0x80);
            len >>= 7;
        }
        footer.push(len as u8);
        (0..levels).for_each(|_| footer.extend(&field));
        footer.extend([0x48, 1, b'z', 0]); // a leaf
        footer.extend([0x3B, 1, 0x58, 9, 1, b'k', 0x1B, 0]); // a map, an empty one
        footer.extend([0x1A, 0x21, 1, 1, 0x1C, 0x15, 2, 0, 0]); // a set of booleans, a struct
        footer
    }

    #[test]
    fn nesting_is_counted() {
        assert_eq!(check(&footer(0)), Ok(()));
        assert_eq!(check(&footer(MOST_LEVELS)), Ok(()));
        let deep = check(&footer(MOST_LEVELS + 1)).unwrap_err();
        assert_eq!(deep, "the schema nests deeper than 256 levels");
        assert!(check(&footer(1_000_000)).is_err());
    }

    #[test]
    fn brothers_are_not_levels() {
        let mut levels = Levels::default();
        levels.push(100_000).unwrap();
        (0..50_000).for_each(|_| levels.push(1).and_then(|()| levels.push(0)).unwrap());
    }

    #[test]
    fn damaged_footers_are_told() {
        let sound = footer(3);
        for len in 0..sound.len() {
            assert!(check(&sound[..len]).is_err(), "{len} bytes");
        }
        for at in 0..sound.len() {
            for value in 0..=255 {
                let mut odd = sound.clone();
                odd[at] = value;
                let _ = check(&odd); // it ends, whatever it says
            }
        }
        assert!(check(&[0x19; 10_000]).is_err(), "lists within lists");
        assert!(check(&[0x1C; 10_000]).is_err(), "structs within structs");
    }
}
