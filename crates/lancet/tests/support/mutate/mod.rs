//! Damaged and forged files, made from intact ones.
//!
//! | maker | what |
//! |---|---|
//! | [`flips`], [`truncations`] | every single bit, every length |
//! | [`forged`] | one number of the footer, the tables, a message or a page buffer set to an extreme |
//! | [`random`] | a few changes at once, drawn from all of the above and from cuts and copies |
//!
//! The structure is kept: when a message grows, the sizes around it follow, so that the change is
//! not stopped by the first check but reaches the code that the number is for.

pub mod file;
pub mod wire;

use file::Parts;
use wire::{Kind, Value};

const EXTREMES: [u64; 22] = [
    0,
    1,
    2,
    3,
    8,
    63,
    64,
    65,
    255,
    256,
    1025,
    (1 << 15) + 1,
    (1 << 16) - 1,
    1 << 16,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Numbers worth writing over `current` in a field of `bits` bits.
fn extremes(current: u64, bits: u32) -> impl Iterator<Item = u64> {
    let mask = u64::MAX >> (64 - bits);
    let near = [current.wrapping_sub(1), current.wrapping_add(1), current.wrapping_mul(2)];
    let mut numbers: Vec<u64> = EXTREMES.iter().chain(&near).map(|number| number & mask).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().filter(move |number| *number != current)
}

/// The file with each bit flipped; `step` 1 takes all of them.
pub fn flips(file: &[u8], step: usize, mut each: impl FnMut(String, Vec<u8>)) {
    for bit in (0..file.len() * 8).step_by(step) {
        let mut mutant = file.to_vec();
        mutant[bit / 8] ^= 1 << (bit % 8);
        each(format!("bit {} of byte {} flipped", bit % 8, bit / 8), mutant);
    }
}

/// Every beginning of the file.
pub fn truncations(file: &[u8], mut each: impl FnMut(String, Vec<u8>)) {
    for len in 0..file.len() {
        each(format!("cut to {len} bytes"), file[..len].to_vec());
    }
}

/// The file with one number at a time set to extremes.
pub fn forged(file: &[u8], mut each: impl FnMut(String, Vec<u8>)) {
    let Some(parts) = Parts::split(file) else { return };
    // Footer and tables, as they stand.
    let footer = file.len() - 40;
    let tables = footer - 16 * (1 + parts.user_buffers.len() + parts.columns.len());
    let words = (tables..footer + 24).step_by(8).map(|at| (at, 64));
    let words = words.chain([(footer + 24, 32), (footer + 28, 32), (footer + 32, 16)]);
    for (at, bits) in words.chain([(footer + 34, 16)]) {
        forge_word(file, at, bits, "tables and footer", &mut each);
    }
    // Messages.
    for (i, message) in parts.messages().into_iter().enumerate() {
        let mut changed = |what: String, message: Option<Vec<u8>>| {
            let Some(message) = message else { return };
            let mut parts = parts.clone();
            parts.set_message(i, message);
            each(format!("message {i}: {what}"), parts.join());
        };
        for site in wire::sites(message) {
            let path = &site.path;
            match site.kind {
                Kind::Number(current) | Kind::Packed(current, _) => {
                    for number in extremes(current, 64) {
                        let edited = wire::set_number(message, &site, number);
                        changed(format!("{path:?} {:?} is {number}", site.kind), edited);
                    }
                }
                Kind::Bytes => {
                    for (name, change) in BYTES_CHANGES {
                        let edited = wire::edit(message, path, &mut |fields, i| change(fields, i));
                        changed(format!("{path:?} {name}"), edited);
                    }
                }
            }
        }
    }
    // The starts of page buffers: chunk words, headers, indexes, offsets.
    for (start, size) in parts.page_buffers() {
        for at in (start..start + size.min(48)).step_by(2) {
            for bits in [16, 32, 64] {
                let bytes = bits as usize / 8;
                if (at - start).is_multiple_of(bytes) && at + bytes <= start + size {
                    forge_word(file, at, bits, "page buffer", &mut each);
                }
            }
        }
    }
}

type BytesChange = (&'static str, fn(&mut Vec<wire::Field>, usize));

const BYTES_CHANGES: [BytesChange; 5] = [
    ("is empty", |fields, i| fields[i].value = Value::Bytes(Vec::new())),
    ("is gone", |fields, i| drop(fields.remove(i))),
    ("is there twice", |fields, i| fields.insert(i, fields[i].clone())),
    ("has another number", |fields, i| fields[i].number += 1),
    ("is repeated 1000 times", |fields, i| {
        if let Value::Bytes(bytes) = &fields[i].value
            && bytes.len() < 300
        {
            let copies = vec![fields[i].clone(); 999];
            fields.splice(i..i, copies);
        }
    }),
];

fn forge_word(
    file: &[u8],
    at: usize,
    bits: u32,
    what: &str,
    each: &mut impl FnMut(String, Vec<u8>),
) {
    let bytes = bits as usize / 8;
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&file[at..at + bytes]);
    for number in extremes(u64::from_le_bytes(word), bits) {
        let mut mutant = file.to_vec();
        mutant[at..at + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
        each(format!("{what}: the {bits} bits at byte {at} are {number}"), mutant);
    }
}

/// Draws numbers in `0..end`; 0 when that is empty.
pub type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

/// One to four changes at random places. `other` lends messages that mean something elsewhere.
pub fn random(file: &[u8], other: &[u8], draw: Draw<'_>) -> Vec<u8> {
    let Some(mut parts) = Parts::split(file) else { return file.to_vec() };
    for _ in 0..1 + draw(4) {
        match draw(8) {
            0 | 1 => random_data(&mut parts, draw),
            2 => random_splice(&mut parts, other, draw),
            _ => random_message(&mut parts, draw),
        }
    }
    let mut file = parts.join();
    // Now and then the structure itself is hurt as well.
    if draw(8) == 0 {
        let at = file.len() - 40 - draw(160.min(file.len() - 40));
        let bytes = [1, 2, 4, 8][draw(4)].min(file.len() - at);
        let number = extreme_or_any(draw).to_le_bytes();
        file[at..at + bytes].copy_from_slice(&number[..bytes]);
    }
    file
}

fn extreme_or_any(draw: Draw<'_>) -> u64 {
    match draw(4) {
        0 => draw(usize::MAX) as u64,
        1 => draw(300) as u64,
        2 => 1_u64 << draw(64),
        _ => EXTREMES[draw(EXTREMES.len())],
    }
}

fn random_message(parts: &mut Parts, draw: Draw<'_>) {
    let i = draw(1 + parts.columns.len());
    let message = parts.messages()[i].to_vec();
    let sites = wire::sites(&message);
    let Some(site) = sites.get(draw(sites.len())) else { return };
    let edited = match site.kind {
        Kind::Number(_) | Kind::Packed(..) => {
            wire::set_number(&message, site, extreme_or_any(draw))
        }
        Kind::Bytes if draw(3) == 0 => wire::edit(&message, &site.path, &mut |fields, i| {
            if let Value::Bytes(bytes) = &mut fields[i].value
                && !bytes.is_empty()
            {
                let at = draw(bytes.len());
                bytes[at] = draw(256) as u8;
            }
        }),
        Kind::Bytes => {
            let (_, change) = BYTES_CHANGES[draw(BYTES_CHANGES.len())];
            wire::edit(&message, &site.path, &mut |fields, i| change(fields, i))
        }
    };
    // A message that repeats repeated fields grows without end.
    if let Some(edited) = edited.filter(|edited| edited.len() < 1 << 18) {
        parts.set_message(i, edited);
    }
}

/// Puts a field of another file's message, or of this one's, over a field here.
fn random_splice(parts: &mut Parts, other: &[u8], draw: Draw<'_>) {
    let lender = Parts::split(other).unwrap_or_else(|| parts.clone());
    let from = lender.messages()[draw(1 + lender.columns.len())].to_vec();
    let i = draw(1 + parts.columns.len());
    let message = parts.messages()[i].to_vec();
    let (from_sites, to_sites) = (wire::sites(&from), wire::sites(&message));
    let Some(site) = from_sites.get(draw(from_sites.len())) else { return };
    let Some(target) = to_sites.get(draw(to_sites.len())) else { return };
    let mut lent = None;
    wire::edit(&from, &site.path, &mut |fields, i| lent = Some(fields[i].clone()));
    let edited = wire::edit(&message, &target.path, &mut |fields, i| {
        if let Some(lent) = lent.take() {
            fields[i] = lent;
        }
    });
    if let Some(edited) = edited {
        parts.set_message(i, edited);
    }
}

fn random_data(parts: &mut Parts, draw: Draw<'_>) {
    let buffers = parts.page_buffers();
    let Some((start, size)) = buffers.get(draw(buffers.len())).copied() else { return };
    // The beginnings of buffers decide more than what follows.
    let at = start + if draw(2) == 0 { draw(size.min(32)) } else { draw(size) };
    let bytes = [1, 2, 4, 8][draw(4)].min(start + size - at);
    let number = extreme_or_any(draw).to_le_bytes();
    parts.data[at..at + bytes].copy_from_slice(&number[..bytes]);
}
