//! Small sound pages, byte by byte, which tests read, cut into and break.

use super::test_pages::{TestPage, blob, in_list, int32, keyed, leaf, string};
use crate::codec::ValueType;

/// Mini-block: the numbers `1 null 3 null 5` in one chunk.
pub(crate) fn nullable_ints() -> TestPage {
    let layout = "0a13 12040a020810 1a040a020820 320103 3801 4805";
    let chunk = "0500 0a00 1400 fefe
                 0000 0100 0000 0100 0000 fefefefefefe
                 01000000 00000000 03000000 00000000 05000000 fefefefe";
    TestPage::new(layout, int32(), 5, &["5000", chunk])
}

/// Mini-block: the numbers 1 to 7 in a chunk of four and one of three.
pub(crate) fn chunked_ints() -> TestPage {
    let layout = "0a0d 1a040a020820 320101 3801 4807";
    let chunks = "0000 1000 fefefefe 01000000 02000000 03000000 04000000
                  0000 0c00 fefefefe 05000000 06000000 07000000 fefefefe";
    TestPage::new(layout, int32(), 7, &["2200 2000", chunks])
}

/// Mini-block: the lists `[1 2] null [] [3 null 4] [5]` in one chunk.
pub(crate) fn int_lists() -> TestPage {
    let layout = "0a1c 0a040a020810 12040a020810 1a040a020820 32020306 3801 4001 4806";
    let chunk = "0800 1000 1000 1800
                 0100 0000 0100 0100 0100 0000 0000 0100
                 0000 0000 0200 0300 0000 0100 0000 0000
                 01000000 02000000 03000000 00000000 04000000 05000000";
    let index = "0500000000000000 0000000000000000";
    TestPage::new(layout, in_list(int32()), 5, &["7000", chunk, index])
}

/// Mini-block: lists of bytes over four chunks; row 2 runs over three of them.
///
/// `[1 2] [3] [4 5 6 7 8 9 10 11 12] [] null [13] [14 15]`
pub(crate) fn chunked_lists() -> TestPage {
    let layout = "0a1c 0a040a020810 12040a020810 1a040a020808 32020106 3801 4001 480f";
    let chunks = "0400 0800 0800 0400 | 0100 0000 0100 0100 | 0000000000000000 | 01020304 fefefefe
                  0400 0800 0800 0400 | 0000 0000 0000 0000 | 0000000000000000 | 05060708 fefefefe
                  0400 0800 0800 0400 | 0000 0000 0000 0000 | 0000000000000000 | 090a0b0c fefefefe
                  0500 0a00 0a00 0300 | 0100 0100 0100 0100 0000 fefefefefefe
                                      | 0200 0100 0000 0000 0000 fefefefefefe | 0d0e0f fefefefefe";
    let index = "0200000000000000 0100000000000000
                 0000000000000000 0400000000000000
                 0100000000000000 0000000000000000
                 0400000000000000 0000000000000000";
    let bytes = in_list(leaf(ValueType::Fixed { bits: 8 }));
    TestPage::new(layout, bytes, 7, &["3200 3200 3200 5000", chunks, index])
}

/// Mini-block with a dictionary: the strings `red green null blue`, whose null has an index that no
/// entry has.
pub(crate) fn colours() -> TestPage {
    let layout = "0a1f 12040a020810 1a040a020820 220812060a040a020820 2803 320103 3801 4804";
    let chunk = "0400 0800 1000 fefe 0000 0000 0100 0000 00000000 01000000 ffffffff 02000000";
    let dictionary = "20000000 18000000 | 00000000 03000000 08000000 0c000000
                      | 726564 677265656e 626c7565";
    TestPage::new(layout, string(), 4, &["3000", chunk, dictionary])
}

/// The same as a dictionary column with keys of 8 bits.
pub(crate) fn keyed_colours() -> TestPage {
    let mut page = colours();
    page.leaf = keyed(8, true);
    page
}

/// Full-zip: the numbers `1 null 3`.
pub(crate) fn zipped_ints() -> TestPage {
    let layout = "1a11 1001 1820 2803 3003 3a040a020820 420103";
    TestPage::new(layout, int32(), 3, &["00 01000000 | 01 00000000 | 00 03000000"])
}

/// Full-zip: the strings `abc null '' hello`.
pub(crate) fn zipped_strings() -> TestPage {
    let layout = "1a15 1001 2020 2804 3004 3a0812060a040a020820 420103";
    let rows = "00 03000000 616263 | 01 | 00 00000000 | 00 05000000 68656c6c6f";
    TestPage::new(layout, string(), 4, &[rows, "00 08 09 0e 18"])
}

/// Full-zip: the lists of [`int_lists`].
pub(crate) fn zipped_lists() -> TestPage {
    let layout = "1a14 0801 1002 1820 2808 3006 3a040a020820 42020306";
    let rows = "04 01000000 | 00 02000000 | 06 | 07 | 04 03000000 | 01 00000000 | 00 04000000
                | 04 05000000";
    TestPage::new(layout, in_list(int32()), 5, &[rows, "00 0a 0b 0c 1b 20"])
}

/// Full-zip: lists of strings, `['a' null] null [] ['bc']`.
pub(crate) fn zipped_string_lists() -> TestPage {
    let layout = "1a18 0801 1002 2020 2805 3003 3a0812060a040a020820 42020306";
    let rows = "04 01000000 61 | 01 | 06 | 07 | 04 02000000 6263";
    TestPage::new(layout, in_list(string()), 4, &[rows, "00 07 08 09 10"])
}

/// Constant: three rows that are null.
pub(crate) fn all_null() -> TestPage {
    TestPage::new("1203 2a0103", int32(), 3, &[])
}

/// Constant: the lists `[] null [] []`.
pub(crate) fn empty_lists() -> TestPage {
    let levels = ["0100 0100 0100 0100", "0200 0100 0200 0200"];
    TestPage::new("1204 2a020106", in_list(int32()), 4, &levels)
}

/// Constant of 2.2: `7 null 7`, the value in the description.
pub(crate) fn sevens() -> TestPage {
    TestPage::new("1209 2a0103 320407000000", int32(), 3, &["", "0000 0100 0000"]).of_2_2()
}

/// Constant of 2.2: `abc abc`, the value in a buffer.
pub(crate) fn same_strings() -> TestPage {
    let value = "02000000 08000000 03000000 | 00000000 03000000 | 616263";
    TestPage::new("1203 2a0101", string(), 2, &[value]).of_2_2()
}

/// Blob: payloads of 5 bytes at 0 and of 7 bytes at 64, and between them null and empty.
pub(crate) fn blobs() -> TestPage {
    let layout = "221d 0a180a16 1a0d620b0a02404012050a03088001 320101 3801 4804 120103";
    let chunk = "0000 4000 fefefefe
                 0000000000000000 0500000000000000
                 0000010000000000 0000000000000000
                 0000000000000000 0000000000000000
                 4000000000000000 0700000000000000";
    TestPage::new(layout, blob(), 4, &["8000", chunk])
}
