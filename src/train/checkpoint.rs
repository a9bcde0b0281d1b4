//! Checkpoints as bytes: weights, Adam's moments and progress, which is all that a training needs to continue.

use serde::{Deserialize, Serialize};

use super::ranking::{Measured, Ranking};
use super::sealed::{CheckpointError, Sealed, seal};
use super::snapshot::Snapshot;
use super::{Progress, WEIGHT};
use crate::model::{BatchLoss, NamedArray, Seq2Seq};
use crate::plan::Work;

/// Prefixes of Adam's moments in the file.
const MOMENTS: [&str; 2] = ["adam.first/", "adam.second/"];

/// All that a run needs to continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub progress: Progress,
    /// Identity of the experiment and seed that the run belongs to.
    pub identity: String,
    weights: Vec<NamedArray>,
    moments: [Vec<NamedArray>; 2],
}

impl Checkpoint {
    pub fn of(model: &mut dyn Seq2Seq, progress: &Progress, identity: &str) -> Self {
        Self {
            progress: progress.clone(),
            identity: identity.to_owned(),
            weights: model.weights(),
            moments: model.moments(),
        }
    }

    /// Returns its weights alone.
    #[must_use]
    pub fn into_snapshot(self) -> Snapshot {
        Snapshot {
            identity: self.identity,
            steps: vec![self.progress.step],
            weights: self.weights,
        }
    }

    /// Gives a model the weights and moments.
    ///
    /// # Errors
    /// If they are those of another model.
    pub fn restore(&self, model: &mut dyn Seq2Seq) -> Result<(), CheckpointError> {
        let [first, second] = &self.moments;
        model.restore_weights(&self.weights)?;
        Ok(model.restore_moments([first, second])?)
    }

    /// Returns the first difference between two states, bit for bit. Times are not compared.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        let timeless = |progress: &Progress| Progress {
            elapsed_s: 0.0,
            ..progress.clone()
        };
        if self.identity != other.identity {
            return Some("the experiments, seeds or corpora".to_owned());
        }
        if timeless(&self.progress) != timeless(&other.progress) {
            return Some(format!("progress at step {}", self.progress.step));
        }
        let pairs = self.lists().into_iter().zip(other.lists());
        pairs.into_iter().find_map(|((prefix, ours), (_, theirs))| {
            first_difference(ours, theirs).map(|what| format!("{prefix}{what}"))
        })
    }

    /// The file's content.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(&Header::of(self), &self.lists())
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are damaged in any way.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let file = Sealed::<Header>::open(bytes)?;
        Ok(Self {
            progress: file.header.progress(),
            weights: file.arrays(WEIGHT)?,
            moments: [file.arrays(MOMENTS[0])?, file.arrays(MOMENTS[1])?],
            identity: file.header.identity,
        })
    }

    /// Every list of arrays with its prefix in the file.
    fn lists(&self) -> [(&'static str, &[NamedArray]); 3] {
        let [first, second] = &self.moments;
        [(WEIGHT, &self.weights), (MOMENTS[0], first), (MOMENTS[1], second)]
    }
}

/// The name of the first array that is not the same bits.
fn first_difference(ours: &[NamedArray], theirs: &[NamedArray]) -> Option<String> {
    let bits = |array: &NamedArray| array.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let is_same = |(ours, theirs): &(&NamedArray, &NamedArray)| {
        (&ours.name, &ours.shape, bits(ours)) == (&theirs.name, &theirs.shape, bits(theirs))
    };
    match ours.iter().zip(theirs).find(|pair| !is_same(pair)) {
        Some((ours, _)) => Some(ours.name.clone()),
        None => (ours.len() != theirs.len()).then(|| format!(": {} and {} arrays", ours.len(), theirs.len())),
    }
}

/// Content of the file besides arrays.
#[derive(Serialize, Deserialize)]
struct Header {
    identity: String,
    step: usize,
    tokens: usize,
    window_smoothed_sum: f64,
    window_nll_sum: f64,
    window_tokens: usize,
    elapsed_s: f64,
    #[serde(flatten)]
    work: Work,
    #[serde(flatten)]
    ranking: RankingInFile,
}

/// A ranking as plain values, in lists that are in step.
#[derive(Serialize, Deserialize)]
struct RankingInFile {
    best_steps: Vec<usize>,
    best_badness: Vec<f64>,
    best_losses: Vec<f64>,
    latest_steps: Vec<usize>,
    since_best: usize,
}

impl From<&Ranking> for RankingInFile {
    fn from(ranking: &Ranking) -> Self {
        Self {
            best_steps: ranking.best.iter().map(|measured| measured.step).collect(),
            best_badness: ranking.best.iter().map(|measured| measured.badness).collect(),
            best_losses: ranking.best.iter().map(|measured| measured.loss_nats).collect(),
            latest_steps: ranking.latest.clone(),
            since_best: ranking.since_best,
        }
    }
}

impl From<&RankingInFile> for Ranking {
    fn from(file: &RankingInFile) -> Self {
        let measured = |((&step, &badness), &loss_nats)| Measured {
            step,
            badness,
            loss_nats,
        };
        let best = file.best_steps.iter().zip(&file.best_badness).zip(&file.best_losses);
        Self {
            best: best.map(measured).collect(),
            latest: file.latest_steps.clone(),
            since_best: file.since_best,
        }
    }
}

impl Header {
    fn of(checkpoint: &Checkpoint) -> Self {
        let progress = &checkpoint.progress;
        let window = &progress.since_validation;
        Self {
            identity: checkpoint.identity.clone(),
            step: progress.step,
            tokens: progress.tokens,
            window_smoothed_sum: window.smoothed_sum,
            window_nll_sum: window.nll_sum,
            window_tokens: window.tokens,
            elapsed_s: progress.elapsed_s,
            work: progress.work,
            ranking: (&progress.ranking).into(),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            step: self.step,
            tokens: self.tokens,
            work: self.work,
            since_validation: BatchLoss {
                smoothed_sum: self.window_smoothed_sum,
                nll_sum: self.window_nll_sum,
                tokens: self.window_tokens,
            },
            ranking: (&self.ranking).into(),
            elapsed_s: self.elapsed_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let array = |name: &str, first: f32| NamedArray {
            name: name.to_owned(),
            shape: vec![2, 3],
            values: (0..6).map(|i| first + i as f32).collect(),
        };
        let arrays = |first| vec![array("z", first), array("a", first + 0.1)];
        let window = BatchLoss {
            smoothed_sum: 0.1 + 0.2,
            nll_sum: 1e-300,
            tokens: 7,
        };
        Checkpoint {
            progress: Progress {
                step: 3,
                tokens: 99,
                work: Work::of_pair(7, 5, None),
                since_validation: window,
                ranking: Ranking {
                    best: vec![Measured {
                        step: 2,
                        badness: 1.0 / 3.0,
                        loss_nats: 1.0 / 7.0,
                    }],
                    latest: vec![1, 2],
                    since_best: 1,
                },
                elapsed_s: 1.0 / 3.0,
            },
            identity: "hash".to_owned(),
            weights: arrays(0.0),
            moments: [arrays(f32::MIN_POSITIVE), arrays(-3.0)],
        }
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit_and_in_order() {
        let bytes = checkpoint().to_bytes();
        assert_eq!(Checkpoint::from_bytes(&bytes).expect("undamaged"), checkpoint());
        assert_eq!(bytes, checkpoint().to_bytes());
    }

    #[test]
    fn the_least_bit_is_a_difference_and_time_is_none() {
        let mut other = checkpoint();
        other.progress.elapsed_s = 9.0;
        assert_eq!(checkpoint().first_difference(&other), None);
        other.moments[1][0].values[5] = other.moments[1][0].values[5].next_up();
        assert_eq!(checkpoint().first_difference(&other), Some("adam.second/z".to_owned()));
        other.progress.tokens += 1;
        assert_eq!(
            checkpoint().first_difference(&other),
            Some("progress at step 3".to_owned())
        );
    }

    #[test]
    fn no_flipped_bit_and_no_truncation_goes_unnoticed() {
        let bytes = checkpoint().to_bytes();
        for position in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1 << (position % 8);
            let read = Checkpoint::from_bytes(&flipped);
            assert!(
                read.is_err() || read == Ok(checkpoint()),
                "bit {} of byte {position}",
                position % 8
            );
            assert!(Checkpoint::from_bytes(&bytes[..position]).is_err(), "cut at {position}");
        }
    }
}
