//! Any bytes are safe: damaged manifests give an error or a manifest, never a panic or a wild
//! allocation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../lancet/tests/support/allocations.rs"]
mod allocations;
mod support;

use allocations::allocated;
use lancet_table::{Error, Limits, Manifest, Transaction};

/// Two small ones: with stable row ids, versions and deletions, and with hidden columns.
const MANIFESTS: [&str; 2] = ["manifest_stable_ids_v4.bin", "manifest_spilled_row_ids_2.2.bin"];

/// All that can be asked of a manifest.
fn read(bytes: &[u8]) -> Result<(), Error> {
    let manifest = Manifest::parse("mutant.bin", bytes, &Limits::default())?;
    let _ = (manifest.num_rows(), manifest.num_deleted_rows());
    for fragment in &manifest.fragments {
        manifest.row_ids(fragment)?;
        let _ = fragment.deletion_file.as_ref().map(|file| file.file_name(fragment.id));
    }
    let at = manifest.transaction_section.and_then(|at| usize::try_from(at).ok());
    if let Some((len, rest)) = at.and_then(|at| bytes.get(at..)?.split_first_chunk()) {
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap();
        if let Some(section) = rest.get(..len) {
            let _ = Transaction::parse("mutant.bin", section, &Limits::default())?.encode();
        }
    }
    Ok(())
}

/// What the mutants came to, and the most that one of them allocated.
#[derive(Debug, Default)]
struct Seen {
    fine: usize,
    refused: usize,
    most_bytes: usize,
}

impl Seen {
    fn read(&mut self, mutant: &[u8]) {
        let (result, bytes) = allocated(|| read(mutant));
        self.most_bytes = self.most_bytes.max(bytes);
        match result {
            Ok(()) => self.fine += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("mutant.bin: ") && text.len() < 2_000, "{text}");
                self.refused += 1;
            }
        }
    }
}

#[test]
fn every_byte_changed() {
    for name in MANIFESTS {
        let sound = std::fs::read(support::kept(name)).unwrap();
        read(&sound).unwrap();
        let (_, needed) = allocated(|| read(&sound));
        let mut seen = Seen::default();
        for at in 0..sound.len() {
            let mut mutant = sound.clone();
            for byte in 0..=u8::MAX {
                mutant[at] = byte;
                seen.read(&mutant);
            }
        }
        println!("{name}: {needed} bytes needed, {seen:?}");
        assert!(seen.fine > sound.len() && seen.refused > sound.len(), "{seen:?}");
        // A changed byte may turn lists into others, but not into large ones.
        assert!(seen.most_bytes < 4 * needed, "{seen:?}, the sound one {needed}");
    }
}

#[test]
fn cut_and_doubled() {
    for name in MANIFESTS {
        let sound = std::fs::read(support::kept(name)).unwrap();
        let mut seen = Seen::default();
        for len in 0..sound.len() {
            seen.read(&sound[..len]);
            seen.read(&sound[sound.len() - len..]);
            let (start, end) = sound.split_at(len);
            seen.read(&[start, start, end].concat());
        }
        assert!(seen.refused > 2 * sound.len(), "{seen:?}");
    }
}

/// A manifest file around a message.
fn file(message: &[u8]) -> Vec<u8> {
    let len = u32::try_from(message.len()).unwrap().to_le_bytes();
    [&len, message, &[0; 8], &[0, 0, 2, 0], b"LANC"].concat()
}

#[test]
fn what_is_counted_is_not_exceeded() {
    let fragment = [0x12, 0];
    let field = [0x0a, 0];
    let base = [0x92, 0x01, 0];
    let metadata = [0x2a, 0];
    let data_files = [&[0x12, 0xe8, 0x07][..], &[0x12, 0].repeat(500)].concat(); // a fragment of 500 files
    let numbers = [&[0x12, 0xeb, 0x07, 0x12, 0xe8, 0x07][..], &[0x10, 1].repeat(500)].concat();
    for part in [&fragment[..], &field, &base, &metadata, &data_files, &numbers] {
        let bytes = file(&part.repeat(200_000 / part.len()));
        let mut limits = Limits::default();
        limits.max_metadata_bytes = 1 << 20;
        let parse = || Manifest::parse("forged.bin", &bytes, &limits);
        let (result, spent) = allocated(parse);
        let Err(Error::Limit { needed, .. }) = result else { panic!("{part:?}: {result:?}") };
        assert!(spent < 1_000, "{part:?}: {spent} bytes before the limit was seen");
        limits.max_metadata_bytes = needed;
        let (_, spent) = allocated(|| Manifest::parse("forged.bin", &bytes, &limits));
        assert!(spent as u64 <= needed, "{part:?}: {spent} bytes, {needed} were counted");
    }
}

/// A field of a message: its number, its length, its bytes.
fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let varint = |mut value: usize| {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        bytes.push(u8::try_from(value).unwrap());
        bytes
    };
    [&varint(usize::try_from(number << 3 | 2).unwrap())[..], &varint(bytes.len()), bytes].concat()
}

#[test]
fn what_is_counted_of_transactions_is_not_exceeded() {
    let many = |part: &[u8]| part.repeat(200_000 / part.len());
    let fragments = many(&field(1, &[]));
    let fields = many(&field(2, &[]));
    let files = many(&field(1, &field(2, &[]).repeat(300)));
    let numbers = many(&[0x10, 1]);
    let groups = many(&field(3, &field(1, &[]).repeat(300)));
    let entries = field(6, &many(&field(1, &[])));
    let maps: Vec<u8> = (0..20_000_u32)
        .flat_map(|id| {
            field(9, &[&[0x08][..], &[id as u8 | 0x80, (id >> 7) as u8 & 0x7f | 0x80, 1]].concat())
        })
        .collect();
    for (operation, body) in [
        (100, &fragments),
        (102, &fields),
        (105, &files),
        (101, &numbers),
        (104, &groups),
        (110, &entries),
        (110, &maps),
        (103, &fragments),
        (4, &fragments),
    ] {
        let bytes = if operation == 4 { many(&field(4, &[])) } else { field(operation, body) };
        let mut limits = Limits::default();
        limits.max_metadata_bytes = 1 << 20;
        let (result, spent) = allocated(|| Transaction::parse("forged.txn", &bytes, &limits));
        let Err(Error::Limit { needed, .. }) = result else { panic!("{operation}: {result:?}") };
        assert!(spent < 1_000, "{operation}: {spent} bytes before the limit was seen");
        limits.max_metadata_bytes = needed;
        let (_, spent) = allocated(|| Transaction::parse("forged.txn", &bytes, &limits));
        assert!(spent as u64 <= needed, "{operation}: {spent} bytes, {needed} were counted");
    }
}
