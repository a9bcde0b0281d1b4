//! Fresh random numbers, the same on both devices, and what is compared of the results.

use std::ops::Range;

use rand::RngExt;

use super::Check;
use crate::model::{Batch, EOS};
use crate::ops::cases::Results;
use crate::random::stream;

/// Source and target tokens of one sentence.
pub type Pair = [Vec<u32>; 2];

/// Sentence pairs of random tokens and lengths, with at least so many target tokens, their ends counted.
pub fn pairs(name: &[&str], vocabulary: usize, lengths: &Range<usize>, tokens: usize) -> Vec<Pair> {
    let mut rng = stream(&[&["selftest"], name].concat());
    let (mut pairs, mut sum): (Vec<Pair>, _) = (Vec::new(), 0);
    while sum < tokens {
        let pair: Pair = [(); 2].map(|()| {
            let length = rng.random_range(lengths.clone());
            (0..length)
                .map(|_| rng.random_range(EOS + 1..vocabulary as u32))
                .collect()
        });
        sum += pair[1].len() + 1;
        pairs.push(pair);
    }
    pairs
}

pub fn batch(pairs: &[Pair]) -> Batch {
    let pairs: Vec<(&[u32], &[u32])> = pairs
        .iter()
        .map(|[source, target]| (&source[..], &target[..]))
        .collect();
    Batch::from_pairs(&pairs)
}

/// What the device found against what is right: the worst of the lists, each measured by `difference`.
pub fn compared(
    name: String,
    found: &Results,
    right: &Results,
    difference: fn(&[f32], &[f32]) -> f64,
    allowed: f64,
) -> Check {
    assert_eq!(found.len(), right.len(), "as many results on both sides");
    let differences = found.iter().zip(right).map(|(found, right)| difference(found, right));
    Check {
        name,
        difference: differences.fold(0.0, f64::max),
        allowed,
    }
}
