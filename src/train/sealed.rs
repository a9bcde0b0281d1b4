//! Arrays in a safetensors file, with a text that says what they are and a checksum over all of it.

use std::fmt;

use safetensors::tensor::SafeTensors;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::tensors::{Tensors, open_tensors, values};
use crate::model::{NamedArray, RestoreError};

/// Last part of the text.
#[derive(Serialize, Deserialize)]
struct Seal {
    /// The names of the weights as the model orders them; the file sorts its arrays.
    order: Vec<String>,
    /// Checksum of everything else in the file.
    checksum: String,
}

impl Seal {
    fn to_toml(&self) -> String {
        toml::to_string(self).expect("plain values")
    }
}

/// The bytes of a file that holds each list of arrays under its prefix. `header` becomes TOML of plain values; all lists
/// have the names of the first.
pub fn seal<H: Serialize>(header: &H, lists: &[(&str, &[NamedArray])]) -> Vec<u8> {
    let prefixed = lists.iter().flat_map(|(prefix, arrays)| {
        arrays
            .iter()
            .map(move |array| (format!("{prefix}{}", array.name), array))
    });
    let tensors = Tensors::of(prefixed);
    let header = toml::to_string(header).expect("plain values");
    let order = lists[0].1.iter().map(|array| array.name.clone()).collect();
    let mut seal = Seal {
        order,
        checksum: String::new(),
    };
    seal.checksum = checksum(&format!("{header}{}", seal.to_toml()), tensors.named_bytes());
    tensors.to_file(format!("{header}{}", seal.to_toml()))
}

/// A file that [`seal`] wrote, found undamaged.
pub struct Sealed<'a, H> {
    pub header: H,
    order: Vec<String>,
    file: SafeTensors<'a>,
}

impl<'a, H: DeserializeOwned> Sealed<'a, H> {
    /// # Errors
    /// If the bytes are damaged in any way.
    pub fn open(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        let (file, text) = open_tensors(bytes).map_err(damaged)?;
        let text = &text.ok_or_else(|| damaged("no header"))?;
        let Seal { order, checksum: told } = toml::from_str(text).map_err(damaged)?;
        let tensors: Vec<_> = file.iter().collect();
        let named = tensors.iter().map(|(name, view)| (*name, view.data()));
        if told != checksum(&text.replacen(&told, "", 1), named) {
            return Err(damaged("the checksum does not fit"));
        }
        let header = toml::from_str(text).map_err(damaged)?;
        Ok(Self { header, order, file })
    }

    /// The arrays under a prefix, as the model orders them.
    ///
    /// # Errors
    /// If one is not there.
    pub fn arrays(&self, prefix: &str) -> Result<Vec<NamedArray>, CheckpointError> {
        let array = |name: &String| {
            let view = self.file.tensor(&format!("{prefix}{name}")).map_err(damaged)?;
            Ok(NamedArray {
                name: name.clone(),
                shape: view.shape().to_vec(),
                values: values(&view),
            })
        };
        self.order.iter().map(array).collect()
    }
}

/// Over a text whose own checksum is left out, and the arrays by name.
fn checksum<'a>(text: &str, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|(name, _)| *name);
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes());
    for (name, bytes) in tensors {
        hasher
            .update(name.as_bytes())
            .update(&bytes.len().to_le_bytes())
            .update(bytes);
    }
    hasher.finalize().to_hex().to_string()
}

fn damaged(what: impl fmt::Display) -> CheckpointError {
    CheckpointError::Damaged { what: what.to_string() }
}

/// Why a file of weights cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckpointError {
    #[error("the file is damaged: {what}")]
    Damaged { what: String },
    #[error("the weights are of another model: {0}")]
    OtherModel(#[from] RestoreError),
    /// It belongs to another experiment, seed, corpus or step.
    #[error("the weights are of another run or step")]
    OtherRun,
}
