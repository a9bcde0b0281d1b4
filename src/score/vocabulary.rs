use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::lines::words;

/// Numbers from 1 for the words of one sentence and its references.
pub(super) struct Vocabulary<'a>(HashMap<&'a str, u32, BuildHasherDefault<WordHasher>>);

impl<'a> Vocabulary<'a> {
    /// Most sentences and their references have fewer different words than the capacity.
    pub(super) fn new() -> Self {
        Self(HashMap::with_capacity_and_hasher(96, BuildHasherDefault::default()))
    }

    pub(super) fn ids(&mut self, line: &'a str) -> Vec<u32> {
        let id = |word| {
            let unseen = u32::try_from(self.0.len() + 1).expect("a sentence has fewer than 2^32 different words");
            *self.0.entry(word).or_insert(unseen)
        };
        words(line).map(id).collect()
    }
}

/// Eight bytes at a time, times an odd number. Words are few and short, and the standard library's hasher, which
/// withstands chosen collisions, took a quarter of the time of scoring.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, word: &[u8]) {
        for chunk in word.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// The mark after a string, which a key that is one string can do without.
    fn write_u8(&mut self, _end_of_string: u8) {}

    /// A product mixes its high bits best, but the table takes a slot by the low ones.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
