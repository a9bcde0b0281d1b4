//! The weights of one moment of a training, or the mean of several, as bytes.

use serde::{Deserialize, Serialize};

use super::WEIGHT;
use super::sealed::{CheckpointError, Sealed, seal};
use crate::model::{NamedArray, Seq2Seq};

/// Weights, and where they come from. Training cannot go on from them: Adam's moments are not there.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Identity of the experiment and seed that the run belongs to.
    pub identity: String,
    /// The updates after which the weights were taken; several are averaged.
    pub steps: Vec<usize>,
    pub(super) weights: Vec<NamedArray>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    identity: String,
    steps: Vec<usize>,
}

impl Snapshot {
    pub fn of(model: &mut dyn Seq2Seq, step: usize, identity: &str) -> Self {
        Self {
            identity: identity.to_owned(),
            steps: vec![step],
            weights: model.weights(),
        }
    }

    /// Returns the weights in the order of the model.
    #[must_use]
    pub fn weights(&self) -> &[NamedArray] {
        &self.weights
    }

    /// Returns the snapshot if it belongs to the run with that identity.
    ///
    /// # Errors
    /// If it belongs to another.
    pub fn of_run(self, identity: &str) -> Result<Self, CheckpointError> {
        if self.identity == identity {
            Ok(self)
        } else {
            Err(CheckpointError::OtherRun)
        }
    }

    /// Gives a model the weights.
    ///
    /// # Errors
    /// If they are those of another model.
    pub fn restore(&self, model: &mut dyn Seq2Seq) -> Result<(), CheckpointError> {
        Ok(model.restore_weights(&self.weights)?)
    }

    /// The file's content.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            identity: self.identity.clone(),
            steps: self.steps.clone(),
        };
        seal(&header, &[(WEIGHT, &self.weights)])
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are damaged in any way.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let file = Sealed::<Header>::open(bytes)?;
        Ok(Self {
            weights: file.arrays(WEIGHT)?,
            identity: file.header.identity,
            steps: file.header.steps,
        })
    }
}

/// The mean of the weights of several moments of one training (section 6.1), taken in `f64` one snapshot at a time, so
/// that two lie in memory however many there are.
#[derive(Debug)]
pub struct Average {
    first: Snapshot,
    /// Sums in step with the arrays of `first`.
    sums: Vec<Vec<f64>>,
}

impl Average {
    #[must_use]
    pub fn starting_with(first: Snapshot) -> Self {
        let widened = |array: &NamedArray| array.values.iter().map(|&value| f64::from(value)).collect();
        let sums = first.weights.iter().map(widened).collect();
        Self { first, sums }
    }

    /// Takes in one more. All come from one training, so their arrays are in step.
    pub fn add(&mut self, snapshot: &Snapshot) {
        self.first.steps.extend(&snapshot.steps);
        for (sums, array) in self.sums.iter_mut().zip(&snapshot.weights) {
            for (sum, &value) in sums.iter_mut().zip(&array.values) {
                *sum += f64::from(value);
            }
        }
    }

    #[must_use]
    pub fn finish(mut self) -> Snapshot {
        let count = self.first.steps.len() as f64;
        for (array, sums) in self.first.weights.iter_mut().zip(&self.sums) {
            for (value, sum) in array.values.iter_mut().zip(sums) {
                *value = (sum / count) as f32;
            }
        }
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(step: usize, values: [f32; 3]) -> Snapshot {
        Snapshot {
            identity: "hash".to_owned(),
            steps: vec![step],
            weights: vec![NamedArray {
                name: "a".to_owned(),
                shape: vec![3],
                values: values.to_vec(),
            }],
        }
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit_and_damage_is_noticed() {
        let mut bytes = snapshot(7, [0.1, -3.0, f32::MIN_POSITIVE]).to_bytes();
        assert_eq!(
            Snapshot::from_bytes(&bytes),
            Ok(snapshot(7, [0.1, -3.0, f32::MIN_POSITIVE]))
        );
        *bytes.last_mut().expect("bytes") ^= 1;
        assert!(Snapshot::from_bytes(&bytes).is_err());
    }

    #[test]
    fn an_average_is_the_mean_and_knows_of_what() {
        let mut average = Average::starting_with(snapshot(10, [1.0, 0.0, 1e8]));
        average.add(&snapshot(20, [2.0, 0.0, 1.0]));
        average.add(&snapshot(30, [6.0, 0.3, -1e8]));
        let average = average.finish();
        assert_eq!(average.steps, [10, 20, 30]);
        // In f32 the third sum would lose its 1.
        assert_eq!(average.weights[0].values, [3.0, 0.1, 1.0 / 3.0]);
    }
}
