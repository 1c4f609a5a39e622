use super::*;

const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Packs by the definition: lane by lane, row by row, bit by bit.
fn packed_by_definition(values: &[u64], bits: usize, width: usize) -> Vec<u8> {
    let lanes = 1024 / bits;
    let mut out = vec![0; 128 * width];
    for lane in 0..lanes {
        for row in 0..bits {
            let index = 16 * ORDER[row / 8] + 128 * (row % 8) + lane;
            let value = values.get(index).copied().unwrap_or(0);
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                let p = row * width + bit;
                let word = p / bits * lanes + lane;
                let position = word * bits + p % bits;
                out[position / 8] |= 1 << (position % 8);
            }
        }
    }
    out
}

fn numbers(count: usize, width: usize) -> Vec<u64> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let mut values: Vec<u64> = (0..count).map(|_| next() & mask).collect();
    // The top bit is really used.
    if let Some(last) = values.last_mut() {
        *last = mask;
    }
    values
}

fn bytes(values: &[u64], bits: u64) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..bits as usize / 8].to_vec()).collect()
}

fn inline(buffer: &[u8], bits: u64, n: usize, ranges: &[Range<usize>]) -> Result<FixedValues> {
    let mut out = FixedValues::new(bits);
    decode_inline(buffer, bits, n, ranges, &mut out)?;
    Ok(out)
}

#[test]
fn inline_is_the_definition_for_every_width() {
    for bits in [8, 16, 32, 64] {
        for width in 0..=bits as usize {
            let values = numbers(1024, width);
            let mut packed = vec![];
            encode_inline(&bytes(&values, bits), bits, &mut packed).unwrap();
            let mut expected = bytes(&[width as u64], bits);
            expected.extend(packed_by_definition(&values, bits as usize, width));
            assert_eq!(packed, expected, "{bits} bits in {width}");
            let out = inline(&packed, bits, 1024, &[0..1024]).unwrap();
            assert_eq!(out.data(), bytes(&values, bits));
            let picked = [0..1, 77..80, 1023..1024];
            let out = inline(&packed, bits, 1024, &picked).unwrap();
            let values = [values[0], values[77], values[78], values[79], values[1023]];
            assert_eq!(out.data(), bytes(&values, bits));
        }
    }
}

#[test]
fn the_blocks_of_the_specification() {
    let mut packed = vec![];
    let values: Vec<u8> = (0..1024).map(|i| (i % 4) as u8).collect();
    encode_inline(&values, 8, &mut packed).unwrap();
    assert_eq!(packed[..9], [2, 0, 0x55, 0xaa, 0xff, 0, 0x55, 0xaa, 0xff]);

    let values: Vec<u8> = (0_u32..1024).flat_map(u32::to_le_bytes).collect();
    packed.clear();
    encode_inline(&values, 32, &mut packed).unwrap();
    assert_eq!(packed[..8], [10, 0, 0, 0, 0, 0, 2, 0x10]);
    assert_eq!(packed[4 + 32 * 4..][..4], [0x60, 0, 2, 0x0a]);

    let values: Vec<u8> = (0..1024).flat_map(|i| u16::from(i % 7 == 0).to_le_bytes()).collect();
    packed.clear();
    encode_inline(&values, 16, &mut packed).unwrap();
    assert_eq!(packed[..4], [1, 0, 0x81, 8]);
}

#[test]
fn short_chunks_and_any_ranges_behind_what_is_there() {
    for n in [0, 1, 2, 63, 64, 65, 1023, 1024] {
        let values = numbers(n, 13);
        let mut packed = vec![0xee];
        encode_inline(&bytes(&values, 32), 32, &mut packed).unwrap();
        // One byte off, so that the words are not aligned.
        let packed = &packed[1..];
        for step in [1, 2, 7, 100, 2000] {
            let ranges: Vec<_> = (0..n).step_by(step + 1).map(|i| i..(i + step).min(n)).collect();
            let mut out = FixedValues::new(32);
            out.append_flat(&[1, 2, 3, 4], 0..1).unwrap();
            decode_inline(packed, 32, n, &ranges, &mut out).unwrap();
            let mut expected = vec![0x0403_0201];
            ranges.iter().for_each(|r| expected.extend(&values[r.clone()]));
            assert_eq!(out.data(), bytes(&expected, 32));
            assert_eq!(out.len(), expected.len());
        }
    }
}

#[test]
fn corrupt_inline_chunks() {
    let mut good = vec![];
    encode_inline(&bytes(&numbers(1024, 5), 16), 16, &mut good).unwrap();
    let broken = |buffer: &[u8], n: usize, rule: &str| {
        let error = inline(buffer, 16, n, &[0..n]).unwrap_err().to_string();
        assert!(error.contains(rule), "{error}");
    };
    broken(&good, 1025, "more than 1024");
    broken(&good, 0, "without values has 642 bytes");
    broken(&good[..1], 10, "no room for its width");
    broken(&[], 10, "no room for its width");
    broken(&good[..641], 10, "has 639 bytes instead of 640");
    broken(&[&good[..], &[0]].concat(), 10, "has 641 bytes instead of 640");
    broken(&[17, 0], 10, "values of 16 bits are packed into 17 bits");
    broken(&[0, 1], 10, "packed into 256 bits");
    assert!(inline(&good, 16, 10, &[5..11]).is_err());
    assert!(decode_inline(&good, 16, 10, &[0..10], &mut FixedValues::new(32)).is_err());
    assert!(inline(&good, 24, 10, &[0..10]).is_err());
}

fn out_of_line(bytes: &[u8], bits: u64, width: u64, n: usize) -> Result<FixedValues> {
    let mut out = FixedValues::new(bits);
    decode_out_of_line(bytes, bits, width, n, &mut out, &mut Scratch::new(1 << 20))?;
    Ok(out)
}

#[test]
fn out_of_line_round_trips_with_either_tail() {
    for bits in [8, 16, 32, 64] {
        for width in 0..=bits {
            // From 16 to 128: where the two tails of one-bit values are equally long.
            for n in [0, 1, 2, 16, 32, 64, 128, 1023, 1024, 1025, 1127, 2047, 3000] {
                let values = numbers(n, width as usize);
                let mut packed = vec![];
                encode_out_of_line(&bytes(&values, bits), bits, width, &mut packed).unwrap();
                let block = 128 * width as usize;
                let tail = (n % 1024 * bits as usize / 8).min(block);
                assert_eq!(packed.len(), n / 1024 * block + tail);
                let out = out_of_line(&packed, bits, width, n).unwrap();
                assert_eq!(out.data(), bytes(&values, bits));
                assert_eq!(out.len(), n);
            }
        }
    }
}

#[test]
fn out_of_line_tails_of_the_specification() {
    for (width, len) in [(1, 256), (2, 462)] {
        let mut packed = vec![];
        encode_out_of_line(&[0; 2 * 1127], 16, width, &mut packed).unwrap();
        assert_eq!(packed.len(), len);
    }
    // The longer of two tails is legal too.
    let packed = packed_by_definition(&[3, 1, 2], 16, 2);
    assert_eq!(out_of_line(&packed, 16, 2, 3).unwrap().data(), [3, 0, 1, 0, 2, 0]);
}

#[test]
fn corrupt_out_of_line_blocks() {
    assert!(out_of_line(&[0; 255], 16, 1, 1127).is_err());
    assert!(out_of_line(&[0; 257], 16, 1, 1127).is_err());
    assert!(out_of_line(&[0; 17 * 128], 16, 17, 1024).is_err());
    assert!(out_of_line(&[0; 1], 16, 0, 1024).is_err());
    let bomb = out_of_line(&[], 64, 0, 1 << 40).unwrap_err();
    assert!(matches!(bomb, Error::Limit { .. }), "{bomb}");
    assert!(matches!(out_of_line(&[], 64, 0, usize::MAX), Err(Error::Corrupt(_))));
}
