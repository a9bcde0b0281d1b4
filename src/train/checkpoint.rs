//! A checkpoint as bytes: a safetensors file with the weights, Adam's moments, the progress, and a checksum over all
//! of it.

use std::collections::HashMap;
use std::fmt;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::Progress;
use crate::model::{BatchLoss, NamedArray, RestoreError, Seq2Seq};

const HEADER: &str = "ablate";
/// Where arrays live in the file.
const WEIGHT: &str = "weight/";
const MOMENTS: [&str; 2] = ["adam.first/", "adam.second/"];

/// All that a run needs to continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub progress: Progress,
    /// Of the experiment and seed that the run belongs to.
    pub identity: String,
    weights: Vec<NamedArray>,
    moments: [Vec<NamedArray>; 2],
}

impl Checkpoint {
    pub fn of(model: &mut dyn Seq2Seq, progress: &Progress, identity: &str) -> Self {
        Self {
            progress: *progress,
            identity: identity.to_owned(),
            weights: model.weights(),
            moments: model.moments(),
        }
    }

    /// In the order of the model.
    #[must_use]
    pub fn weights(&self) -> &[NamedArray] {
        &self.weights
    }

    /// Gives a model the weights and moments.
    ///
    /// # Errors
    /// If they are those of another model.
    pub fn restore(&self, model: &mut dyn Seq2Seq) -> Result<(), CheckpointError> {
        let [first, second] = &self.moments;
        model
            .restore_weights(&self.weights)
            .map_err(CheckpointError::OtherModel)?;
        model
            .restore_moments([first, second])
            .map_err(CheckpointError::OtherModel)
    }

    /// The first thing in which two states differ by as much as a bit; the time they took is not compared.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        let timeless = |progress: &Progress| Progress {
            elapsed_s: 0.0,
            ..*progress
        };
        if self.identity != other.identity {
            return Some("the experiments, seeds or corpora".to_owned());
        }
        if timeless(&self.progress) != timeless(&other.progress) {
            return Some(format!("progress at step {}", self.progress.step));
        }
        let (ours, theirs) = (self.arrays(), other.arrays());
        let mut pairs = ours.iter().zip(&theirs);
        let differing = pairs.find(|((name, _, bytes), (other_name, _, others))| (name, bytes) != (other_name, others));
        match differing {
            Some(((name, ..), _)) => Some(format!("array {name}")),
            None => (ours.len() != theirs.len()).then(|| format!("{} and {} arrays", ours.len(), theirs.len())),
        }
    }

    /// The file's content.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays();
        let mut header = Header::of(self);
        header.checksum = header.checksum_with(arrays.iter().map(|(name, _, bytes)| (name.as_str(), bytes.as_slice())));
        let views = arrays.iter().map(|(name, array, bytes)| {
            let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes).expect("a shape that fits its values");
            (name.as_str(), view)
        });
        let metadata = HashMap::from([(HEADER.to_owned(), header.to_toml())]);
        safetensors::serialize(views, Some(metadata)).expect("names are unique")
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are damaged in any way.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let header = metadata.metadata().as_ref().and_then(|entries| entries.get(HEADER));
        let header: Header = toml::from_str(header.ok_or_else(|| damaged("no header"))?).map_err(damaged)?;
        let tensors: Vec<_> = file.iter().collect();
        if header.checksum != header.checksum_with(tensors.iter().map(|(name, view)| (*name, view.data()))) {
            return Err(damaged("the checksum does not fit"));
        }
        let array = |prefix: &str, name: &String| {
            let view = file.tensor(&format!("{prefix}{name}")).map_err(damaged)?;
            let values = view
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect();
            Ok(NamedArray {
                name: name.clone(),
                shape: view.shape().to_vec(),
                values,
            })
        };
        let arrays = |prefix| {
            header
                .order
                .iter()
                .map(|name| array(prefix, name))
                .collect::<Result<_, _>>()
        };
        Ok(Self {
            progress: header.progress(),
            weights: arrays(WEIGHT)?,
            moments: [arrays(MOMENTS[0])?, arrays(MOMENTS[1])?],
            identity: header.identity,
        })
    }

    /// Every array with its name and bytes in the file.
    fn arrays(&self) -> Vec<(String, &NamedArray, Vec<u8>)> {
        let [first, second] = &self.moments;
        let lists = [(WEIGHT, &self.weights), (MOMENTS[0], first), (MOMENTS[1], second)];
        let bytes = |array: &NamedArray| array.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        lists
            .into_iter()
            .flat_map(|(prefix, arrays)| arrays.iter().map(move |array| (prefix, array)))
            .map(|(prefix, array)| (format!("{prefix}{}", array.name), array, bytes(array)))
            .collect()
    }
}

/// What the file says besides arrays. It is one text under one key: a map of entries would be written in any order.
#[derive(Serialize, Deserialize)]
struct Header {
    identity: String,
    step: usize,
    tokens: usize,
    window_smoothed_sum: f64,
    window_nll_sum: f64,
    window_tokens: usize,
    elapsed_s: f64,
    /// The names of the weights as the model orders them; the file sorts its arrays.
    order: Vec<String>,
    checksum: String,
}

impl Header {
    fn of(checkpoint: &Checkpoint) -> Self {
        let Progress {
            step,
            tokens,
            since_validation: window,
            elapsed_s,
        } = checkpoint.progress;
        Self {
            identity: checkpoint.identity.clone(),
            step,
            tokens,
            window_smoothed_sum: window.smoothed_sum,
            window_nll_sum: window.nll_sum,
            window_tokens: window.tokens,
            elapsed_s,
            order: checkpoint.weights.iter().map(|array| array.name.clone()).collect(),
            checksum: String::new(),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            step: self.step,
            tokens: self.tokens,
            since_validation: BatchLoss {
                smoothed_sum: self.window_smoothed_sum,
                nll_sum: self.window_nll_sum,
                tokens: self.window_tokens,
            },
            elapsed_s: self.elapsed_s,
        }
    }

    fn to_toml(&self) -> String {
        toml::to_string(self).expect("plain values")
    }

    /// Over everything in the file except the checksum.
    fn checksum_with<'a>(&self, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
        let mut tensors: Vec<_> = tensors.collect();
        tensors.sort_unstable_by_key(|(name, _)| *name);
        let unsigned = Self {
            checksum: String::new(),
            order: self.order.clone(),
            identity: self.identity.clone(),
            ..*self
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(unsigned.to_toml().as_bytes());
        for (name, bytes) in tensors {
            hasher
                .update(name.as_bytes())
                .update(&bytes.len().to_le_bytes())
                .update(bytes);
        }
        hasher.finalize().to_hex().to_string()
    }
}

fn damaged(what: impl fmt::Display) -> CheckpointError {
    CheckpointError::Damaged { what: what.to_string() }
}

/// Why a checkpoint cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointError {
    Damaged { what: String },
    OtherModel(RestoreError),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { what } => write!(f, "the checkpoint is damaged: {what}"),
            Self::OtherModel(error) => write!(f, "the checkpoint is of another model: {error}"),
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Damaged { .. } => None,
            Self::OtherModel(error) => Some(error),
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
                since_validation: window,
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
        assert_eq!(
            checkpoint().first_difference(&other),
            Some("array adam.second/z".to_owned())
        );
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
