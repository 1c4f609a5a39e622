use super::*;
use crate::page::sample_pages::blobs;
use crate::page::test_pages::{TestPage, assert_broken, hex, in_struct, int32, rule_of, shown};
use crate::span::span;
use crate::version::Version;

#[test]
fn a_hand_made_page() {
    let page = blobs();
    assert_eq!(page.read_all().unwrap(), "0..5 null 0..0 64..71");
    assert_eq!(page.read(&[0..1, 3..4]).unwrap(), "0..5 64..71");
    assert_eq!(page.layout().unwrap().to_message(), page.message);
}

#[test]
fn levels_come_from_positions() {
    // struct<b: blob>: the struct is null, then the blob.
    let mut page = blobs();
    page.leaf = in_struct(page.leaf);
    page.blob().layers = vec![3, 3];
    page.buffers[1][8 + 2] = 2;
    page.buffers[1][16] = 0;
    assert_eq!(page.read_all().unwrap(), "null {null} {0..0} {64..71}");
}

#[test]
fn descriptions_are_checked() {
    assert_broken(
        &blobs(),
        &[
            // A level that the layers do not have, one that is 0, and a repetition level.
            (|page| page.buffers[1][26] = 2, "a blob of 0 bytes at 0x20000"),
            (
                |page| page.buffers[1][24..27].copy_from_slice(&[1, 0, 0]),
                "a blob of 0 bytes at 0x1",
            ),
            (|page| page.buffers[1][24] = 1, "a blob of 0 bytes at 0x10001"),
            (|page| page.buffers[1][29] = 1, "a blob of 0 bytes at 0x10000010000"),
            (|page| page.buffers[1][8..16].fill(0xff), "a blob of 5 bytes at 18446744073709551615"),
            (|page| page.blob().layers = vec![1], "a blob of 0 bytes at 0x10000"),
            (
                |page| page.buffers[1][2] = 0x41,
                "buffer 1, byte 0: values of a chunk needs 65 bytes at byte 8, but only 64 are left",
            ),
        ],
    );
}

#[test]
fn descriptions_go_where_blobs_go() {
    let page = blobs();
    let mut sink = LeafSink::new(&int32()).unwrap();
    let rule = "a blob page in a column that is not one";
    assert_eq!(rule_of(page.read_into(&[0..4], &mut sink)), rule);
    let mut sink = LeafSink::new(&page.leaf).unwrap();
    page.read_into(&[3..4], &mut sink).unwrap();
    page.read_into(&[0..2], &mut sink).unwrap();
    assert_eq!(shown(sink), "64..71 0..5 null");
}

#[test]
fn payloads_fill_the_spans_that_have_bytes() {
    let descriptions = Descriptions { spans: vec![span(0..5), Span::default(), span(64..66)] };
    let payloads = [Bytes::from_static(b"hello"), Bytes::from_static(b"yo")];
    let Values::Variable(values) = descriptions.filled(&mut payloads.into_iter()).unwrap() else {
        panic!()
    };
    assert_eq!(values.bytes, b"helloyo");
    assert_eq!(values.value(1).unwrap(), b"");
    let few = descriptions.filled(&mut [Bytes::from_static(b"hello")].into_iter());
    assert_eq!(rule_of(few), "a blob was not read");
    let expected = [[0, 0, 64_u64], [5, 0, 2]].map(|c| Values::Fixed(FixedValues::from_words(c)));
    let children = expected.into_iter().collect();
    assert_eq!(descriptions.as_values(), Values::Struct { len: 3, children });
}

fn encode_nullable(rep: Option<&[u16]>, rules: Rules) -> Result<EncodedPage> {
    let def: Option<&[u16]> = Some(&[0, 1, 0, 0]);
    let layers = &[Layer::NullableItem];
    let levels = PageLevels { layers, rep, def, num_entries: 4, num_rows: 4 };
    encode(levels, &[0, 99, 0, 64], &[5, 0, 0, 7], rules)
}

#[test]
fn a_page_is_written_byte_for_byte() {
    let page = encode_nullable(None, Rules::of(Version::V2_1)).unwrap();
    let sample: TestPage = blobs();
    assert_eq!(page.buffers, sample.buffers);
    assert_eq!(page.layout.to_message(), sample.message);
    let page = encode_nullable(None, Rules::of(Version::V2_2)).unwrap();
    assert_eq!(page.buffers[0], hex("80000000"));
}

#[test]
fn blobs_in_lists_are_refused() {
    let refused = encode_nullable(Some(&[1; 4]), Rules::of(Version::V2_1)).unwrap_err();
    assert!(matches!(refused, Error::Unsupported(what) if what == "blobs inside a list"));
}
