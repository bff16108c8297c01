//! Hash functions that fio compares with its checksums, and that no written data carries.

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// MurmurHash3 of 32 bits (Appleby).
pub(super) fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let mixed = |word: u32| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15);
        word.wrapping_mul(0x1b87_3593)
    };
    let (words, rest) = bytes.as_chunks::<4>();
    let body = words.iter().fold(seed, |hash, word| {
        let hash = (hash ^ mixed(u32::from_le_bytes(*word))).rotate_left(13);
        hash.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let mut hash = body ^ mixed(little(rest)) ^ bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Jenkins's lookup3, `hashlittle`.
pub(super) fn jenkins(bytes: &[u8], seed: u32) -> u32 {
    let start = 0xdead_beef_u32
        .wrapping_add(bytes.len() as u32)
        .wrapping_add(seed);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        let (block, behind) = rest.split_at(12);
        add(&mut state, block);
        stir(&mut state);
        rest = behind;
    }
    if rest.is_empty() {
        return state[2];
    }
    add(&mut state, rest);
    settle(state)
}

fn add(state: &mut [u32; 3], block: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(block.chunks(4)) {
        *word = word.wrapping_add(little(bytes));
    }
}

const fn turn(word: u32, by: u32) -> u32 {
    word.rotate_left(by)
}

/// Six rounds, each of which takes one word out of another.
fn stir(state: &mut [u32; 3]) {
    let [mut a, mut b, mut c] = *state;
    for [first, second, third] in [[4, 6, 8], [16, 19, 4]] {
        a = a.wrapping_sub(c) ^ turn(c, first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ turn(a, second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ turn(b, third);
        b = b.wrapping_add(a);
    }
    *state = [a, b, c];
}

fn settle([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    c = (c ^ b).wrapping_sub(turn(b, 14));
    a = (a ^ c).wrapping_sub(turn(c, 11));
    b = (b ^ a).wrapping_sub(turn(a, 25));
    c = (c ^ b).wrapping_sub(turn(b, 16));
    a = (a ^ c).wrapping_sub(turn(c, 4));
    b = (b ^ a).wrapping_sub(turn(a, 14));
    (c ^ b).wrapping_sub(turn(b, 24))
}

/// At most four bytes as a number, the lowest first.
fn little(bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that their authors published.
    #[test]
    fn hashes_are_those_of_their_authors() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"hello", 0), 0x248b_fa47);
        assert_eq!(jenkins(b"", 0), 0xdead_beef);
        assert_eq!(jenkins(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(jenkins(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
