//! Manifests and deletion files of tables: any bytes come to an error, or to a manifest that encodes to itself and to
//! deleted rows that agree with themselves.
#![no_main]

use lancet_table::{DeletionKind, Deletions, Limits, Manifest};

/// Files may claim more rows than there is time for.
const MOST: usize = 500;

fn manifest(bytes: &[u8]) {
    let mut limits = Limits::default();
    limits.max_metadata_bytes = 64 << 20;
    let Ok(manifest) = Manifest::parse("fuzz.bin", bytes, &limits) else { return };
    let message = manifest.encode();
    let len = u32::try_from(message.len()).unwrap().to_le_bytes();
    let file = [&len, message.as_slice(), &[0; 8], &[0, 0, 2, 0], b"LANC"].concat();
    let again = Manifest::parse("fuzz.bin", &file, &limits).unwrap();
    // Times out of range are set to the end of it.
    if manifest.timestamp_nanos == again.timestamp_nanos {
        assert_eq!(again, manifest);
    }
    drop((manifest.schema(), manifest.num_rows(), manifest.num_deleted_rows()));
    for fragment in &manifest.fragments {
        drop(manifest.row_ids(fragment));
    }
}

fn deletions(bytes: &[u8]) {
    for kind in [DeletionKind::Arrow, DeletionKind::Roaring] {
        for rows in [10, 10_000, u64::from(u32::MAX)] {
            let Ok(found) = Deletions::parse("fuzz.bin", kind, bytes, rows) else { continue };
            assert!(found.len() <= rows);
            for offset in found.iter().take(MOST) {
                assert!(found.contains(offset.into()) && u64::from(offset) < rows);
            }
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    manifest(bytes);
    deletions(bytes);
});
