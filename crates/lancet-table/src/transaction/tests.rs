//! Transactions of the reference, and what is not known of them.

use super::*;
use crate::manifest::Limits;
use crate::version_file::VersionFile;

/// What a transaction says, field by field, whatever the order.
fn parse(bytes: &[u8]) -> Transaction {
    Transaction::parse("t.txn", bytes, &Limits::default()).unwrap()
}

#[test]
fn transactions_of_the_reference_come_out_as_they_came() {
    let mut seen = BTreeSet::new();
    for (name, bytes) in crate::golden::version_files() {
        let file = VersionFile::parse(&name, bytes.into(), &Limits::default()).unwrap();
        let Some(transaction) = file.transaction(&Limits::default()).unwrap() else { continue };
        seen.insert(transaction.operation.name());
        let again = transaction.encode();
        let section = crate::container::section(
            &file.bytes,
            file.manifest.transaction_section.or(file.manifest.old_transaction_section).unwrap(),
        );
        assert_eq!(again.len(), section.unwrap().len(), "{name}");
        assert_eq!(parse(&again), transaction, "{name}");
        assert!(transaction.unknown.is_empty(), "{name}: {transaction:?}");
    }
    let expected =
        ["Append", "Clone", "Delete", "Merge", "Overwrite", "Project", "Rewrite", "Update"];
    for name in expected {
        assert!(seen.contains(name), "{name} is not among {seen:?}");
    }
}

#[test]
fn unknown_operations_and_fields_are_kept() {
    let head = [0x08, 3, 0x12, 1, b'u'];
    let tagged = |number: u32, body: &[u8]| {
        let mut bytes = head.to_vec();
        prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut bytes);
        bytes.push(u8::try_from(body.len()).unwrap());
        [&bytes, body].concat()
    };
    for number in [112, 115, 150, 199] {
        let transaction = parse(&tagged(number, &[1, 2, 3]));
        assert_eq!((transaction.read_version, &*transaction.uuid), (3, "u"));
        assert_eq!(transaction.operation, Operation::Unknown, "{number}");
        assert_eq!(transaction.encode(), tagged(number, &[1, 2, 3]));
    }
    assert_eq!(parse(&head).operation, Operation::Unknown);
    // An unknown field beside a known operation, and one inside of it.
    let outside = [tagged(107, &[0x08, 5]), vec![0xa0, 0x0f, 7]].concat();
    let transaction = parse(&outside);
    assert!(matches!(&transaction.operation, Operation::ReserveFragments(op) if op.count == 5));
    assert_eq!(transaction.encode(), outside);
    let inside = tagged(106, &[0x08, 9, 0xa0, 0x0f, 7]);
    let transaction = parse(&inside);
    assert!(matches!(&transaction.operation, Operation::Restore(op) if op.version == 9));
    assert_eq!(transaction.encode(), inside);
}

#[test]
fn broken_ones_are_refused() {
    for broken in [&[0x08][..], &[0xa2, 0x06, 5, 1], &[0xa2, 0x06, 2, 0x0a, 9]] {
        let error = Transaction::parse("t.txn", broken, &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.txn: corrupt file: transaction: "), "{error}");
    }
    let many = [vec![0xa2, 0x06, 0x90, 0x4e], [0x0a, 0].repeat(5_000)].concat();
    let limits = Limits { max_metadata_bytes: 100_000 };
    let error = Transaction::parse("t.txn", &many, &limits).unwrap_err();
    assert!(matches!(error, crate::Error::Limit { .. }), "{error}");
}
