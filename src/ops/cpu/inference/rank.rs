//! Projection onto the classes, softmax and choice of the likeliest, by blocks of classes: the rest of the `[N, V]`
//! matrix is forgotten while it is still in cache, and every number of the table is read once.

use super::panels::{Panels, Target, WIDTH, pack_rows};
use crate::ops::cpu::lanes::{LANES, Lanes, exp_shifted, highest, largest};
use crate::ops::cpu::scratch::Scratch;
use crate::ops::inference::offer;
use crate::ops::{Activation, Ranked, RankedRow};

/// Panels of a block: 512 classes, so that the logits of 256 rows fit a core's own cache.
const BLOCK: usize = 16;

/// The `k` likeliest classes of every row of `x`, and the log-probability of class `asked`.
pub fn rank(x: &[f32], rows: usize, table: &Panels, k: usize, asked: u32) -> Vec<RankedRow> {
    let k = k.min(table.outputs());
    let mut leaders: Vec<Leaders> = (0..rows).map(|_| Leaders::new(k)).collect();
    let block = (BLOCK * WIDTH).min(table.outputs());
    let target = Target {
        stride: block,
        bias: &[],
        activation: Activation::Identity,
    };
    let x = pack_rows(x, table.inputs());
    let mut logits = Scratch::of(rows * block);
    for panel in (0..table.count()).step_by(BLOCK) {
        let first = panel * WIDTH;
        let classes = first..(first + block).min(table.outputs());
        // x [N, D] . table^T [D, block] -> logits [N, block]
        table.multiply(&x, panel..(panel + BLOCK).min(table.count()), &target, &mut logits);
        for (leaders, logits) in leaders.iter_mut().zip(logits.chunks_exact_mut(block)) {
            let logits = &mut logits[..classes.len()];
            if classes.contains(&(asked as usize)) {
                leaders.asked = logits[asked as usize - first];
            }
            leaders.read(first as u32, logits);
        }
    }
    leaders.into_iter().map(Leaders::ranked).collect()
}

/// What is known of a row after some of its classes.
struct Leaders {
    k: usize,
    /// Class and logit, the highest first.
    best: Vec<(u32, f32)>,
    asked: f32,
    largest: f32,
    /// `sum of e^(logit - largest)`.
    sum: f64,
}

impl Leaders {
    fn new(k: usize) -> Self {
        Self {
            k,
            best: Vec::with_capacity(k + 1),
            asked: f32::NAN,
            largest: f32::NEG_INFINITY,
            sum: 0.0,
        }
    }

    /// Reads logits, the first that of class `first`, and leaves their exponentials behind.
    fn read(&mut self, first: u32, logits: &mut [f32]) {
        let largest = largest(logits);
        if self.may_enter(largest) {
            self.choose(first, logits);
        }
        let largest = if largest > self.largest { largest } else { self.largest };
        // Before the first class the sum is 0, and the factor as well.
        self.sum *= (f64::from(self.largest) - f64::from(largest)).exp();
        self.sum += f64::from(exp_shifted(logits, largest));
        self.largest = largest;
    }

    /// Whether a logit so high would be among the best.
    fn may_enter(&self, logit: f32) -> bool {
        self.best.len() < self.k || self.best.last().is_some_and(|&(_, lowest)| logit > lowest)
    }

    fn choose(&mut self, first: u32, logits: &[f32]) {
        for (part, chunk) in (first..).step_by(LANES).zip(logits.chunks(LANES)) {
            let highest = match chunk.first_chunk() {
                // The second operand is the result where the first is no number.
                Some(whole) => highest(Lanes::new(*whole).fast_max(Lanes::splat(f32::NEG_INFINITY))),
                None => f32::INFINITY,
            };
            if self.may_enter(highest) {
                for (class, &logit) in (part..).zip(chunk) {
                    offer(&mut self.best, self.k, (class, logit));
                }
            }
        }
    }

    fn ranked(self) -> RankedRow {
        // In f64, so that logits which differ do not become equal.
        let normaliser = f64::from(self.largest) + self.sum.ln();
        let log_probability = |logit: f32| f64::from(logit) - normaliser;
        let ranked = |(class, logit): (u32, f32)| Ranked {
            class,
            log_probability: log_probability(logit),
        };
        RankedRow {
            best: self.best.into_iter().map(ranked).collect(),
            asked: log_probability(self.asked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(x: f32, table: &[f32], k: usize, asked: u32) -> RankedRow {
        rank(&[x], 1, &Panels::pack(table, 1), k, asked).remove(0)
    }

    #[test]
    fn of_equals_the_smaller_class_comes_first_wherever_the_blocks_end() {
        for classes in [3, 16, 40, 511, 512, 513, 1100] {
            let table: Vec<f32> = (0..classes).map(|class| ((class * 5) % 7 / 2) as f32 * 0.3).collect();
            let right = {
                let normaliser = table.iter().map(|&logit| f64::from(logit).exp()).sum::<f64>().ln();
                let row: Vec<f32> = table.iter().map(|&logit| logit - normaliser as f32).collect();
                RankedRow::of(&row, 6, 2)
            };
            let ours = ranked(1.0, &table, 6, 2);
            assert!((ours.asked - right.asked).abs() <= 1e-5);
            assert_eq!(ours.best.len(), right.best.len());
            for (ours, right) in ours.best.iter().zip(&right.best) {
                assert_eq!(ours.class, right.class);
                assert!((ours.log_probability - right.log_probability).abs() <= 1e-5);
            }
        }
    }

    #[test]
    fn rising_logits_do_not_spoil_the_sum() {
        let table: Vec<f32> = (0..2000).map(|class| class as f32 * 0.1).collect();
        let ours = ranked(1.0, &table, 2, 0);
        // The geometric sum of e^-0.1, from the last class down.
        let right = (1.0 - (-0.1f64).exp()).ln();
        assert!((ours.best[0].log_probability - right).abs() <= 1e-4 && ours.best[0].class == 1999);
        assert!((ours.asked - (right - 199.9)).abs() <= 1e-3);
    }

    #[test]
    fn what_is_no_number_still_fills_the_places() {
        let ours = ranked(f32::NAN, &[1.0; 600], 3, 5);
        assert_eq!(
            ours.best.iter().map(|ranked| ranked.class).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert!(ours.asked.is_nan());
    }
}
