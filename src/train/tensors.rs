//! Arrays as a safetensors file, with one text about them.

use std::collections::HashMap;

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::model::NamedArray;

/// The text is one entry of the file's metadata: a map of several would be written in any order.
const ENTRY: &str = "ablate";

/// Arrays in bytes, by their names in the file.
pub struct Tensors {
    /// Name, shape, and the numbers in little-endian order.
    arrays: Vec<(String, Vec<usize>, Vec<u8>)>,
}

impl Tensors {
    pub fn of<'a>(arrays: impl Iterator<Item = (String, &'a NamedArray)>) -> Self {
        let bytes = |array: &NamedArray| array.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let arrays = arrays.map(|(name, array)| (name, array.shape.clone(), bytes(array)));
        Self {
            arrays: arrays.collect(),
        }
    }

    pub(super) fn named_bytes(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.arrays.iter().map(|(name, _, bytes)| (name.as_str(), &bytes[..]))
    }

    /// The content of the file.
    ///
    /// # Panics
    /// If a name stands twice.
    #[must_use]
    pub fn to_file(&self, text: String) -> Vec<u8> {
        let views = self.arrays.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes).expect("a shape that fits its values");
            (name.as_str(), view)
        });
        safetensors::serialize(views, Some(HashMap::from([(ENTRY.to_owned(), text)]))).expect("names are unique")
    }
}

/// A file, and the text in it if there is one.
///
/// # Errors
/// If it is no safetensors file.
pub fn open_tensors(bytes: &[u8]) -> Result<(SafeTensors<'_>, Option<String>), SafeTensorError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes)?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
    Ok((SafeTensors::deserialize(bytes)?, text.cloned()))
}

/// The numbers of an array of `f32`.
#[must_use]
pub fn values(view: &TensorView) -> Vec<f32> {
    let values = view.data().as_chunks::<4>().0;
    values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
