//! Random streams, each named after its purpose: a new consumer of randomness never shifts what another one draws.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// The random stream of a purpose, the same on every machine: `ChaCha8` keyed by BLAKE3 of the length-prefixed names.
#[must_use]
pub fn stream(purpose: &[&str]) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    for name in purpose {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn names_that_join_to_the_same_text_are_different_streams() {
        assert_ne!(stream(&["ab", "c"]).next_u64(), stream(&["a", "bc"]).next_u64());
        assert_eq!(stream(&["ab", "c"]).next_u64(), stream(&["ab", "c"]).next_u64());
    }
}
