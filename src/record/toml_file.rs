//! A value as a TOML file.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RecordError;
use crate::durable;

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let text = fs::read_to_string(path).map_err(RecordError::read(path))?;
    toml::from_str(&text).map_err(RecordError::toml(path))
}

/// Writes the file in one step.
pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let text = toml::to_string(value).expect("texts, and numbers below 2^63, have a TOML form");
    durable::write(path, text.as_bytes()).map_err(RecordError::write(path))
}
