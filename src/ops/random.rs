//! Random streams with names: a new consumer of randomness never shifts what another one draws.

use rand::{SeedableRng, rngs::ChaCha8Rng};

/// The generator for one purpose of one seed, the same on every machine.
#[must_use]
pub fn stream(seed: u64, purpose: &str) -> ChaCha8Rng {
    let key = blake3::derive_key("ablate random stream", format!("{seed}/{purpose}").as_bytes());
    ChaCha8Rng::from_seed(key)
}
