//! SHA-256, by which the page names the script and the style that a browser may run: no others.

const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The fractional parts of the cube roots of the first 64 primes.
fn constants() -> [u32; 64] {
    let mut constants = [0; 64];
    let is_prime = |n: u32| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let primes = (2..).filter(|n| is_prime(*n));
    for (constant, prime) in constants.iter_mut().zip(primes) {
        *constant = cube_root_fraction(prime);
    }
    constants
}

/// 32 bits of the fraction of a cube root: the largest `r` with `r³ <= n · 2^96`, without its whole part.
fn cube_root_fraction(n: u32) -> u32 {
    let (mut low, mut high) = (0_u128, 8_u128 << 32);
    while high - low > 1 {
        let middle = low.midpoint(high);
        // Cubes of 36 bits have 108.
        if middle * middle * middle <= u128::from(n) << 96 { low = middle } else { high = middle }
    }
    (low & 0xffff_ffff) as u32
}

/// The hash of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let constants = constants();
    let mut state = START;
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.as_chunks::<64>().0 {
        compress(&mut state, block, &constants);
    }
    let mut hash = [0; 32];
    for (to, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *to = word.to_be_bytes();
    }
    hash
}

fn compress(state: &mut [u32; 8], block: &[u8; 64], constants: &[u32; 64]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (near, far) = (words[at - 15], words[at - 2]);
        let s0 = near.rotate_right(7) ^ near.rotate_right(18) ^ (near >> 3);
        let s1 = far.rotate_right(17) ^ far.rotate_right(19) ^ (far >> 10);
        words[at] = words[at - 16].wrapping_add(s0).wrapping_add(words[at - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let one =
            h.wrapping_add(s1).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn hashes_as_others_have_them() {
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(
            hex(long.as_bytes()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        let million = vec![b'a'; 1_000_000];
        assert_eq!(
            hex(&million),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }
}
