//! `model.safetensors`: weights under their exported names. Reading tells everything that is wrong at once.

use std::collections::HashMap;
use std::fmt;

use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::names::exported_name;
use crate::model::NamedArray;
use crate::train::{Tensors, open_tensors, values};

const FORMAT_VERSION: u32 = 1;

#[derive(Serialize)]
struct Origin<'a> {
    format_version: u32,
    ablate_version: &'static str,
    /// The updates after which the weights were taken; several are averaged.
    steps: &'a [usize],
}

/// Part of [`Origin`] that decides whether a file can be read; later versions may hold more.
#[derive(Deserialize)]
struct Format {
    format_version: u32,
}

/// The content of the file; `steps` are the updates after which the weights were taken.
pub fn to_bytes(weights: &[NamedArray], steps: &[usize]) -> Vec<u8> {
    let origin = Origin {
        format_version: FORMAT_VERSION,
        ablate_version: env!("CARGO_PKG_VERSION"),
        steps,
    };
    let origin = serde_json::to_string(&origin).expect("strings and numbers have a JSON form");
    let named = weights.iter().map(|array| (exported_name(&array.name), array));
    Tensors::of(named).to_file(origin)
}

/// Reads the weights of a model whose own arrays are `model`, and gives them its names and order.
///
/// # Errors
/// If the bytes are no safetensors file, or hold other tensors than those of the model: all of them are told.
pub fn from_bytes(bytes: &[u8], model: &[NamedArray]) -> Result<Vec<NamedArray>, WeightsError> {
    let (file, origin) = open_tensors(bytes).map_err(damaged)?;
    if let Some(origin) = origin {
        let Format { format_version: found } = serde_json::from_str(&origin).map_err(damaged)?;
        if found != FORMAT_VERSION {
            return Err(WeightsError::Format { found });
        }
    }
    let mut faults = Vec::new();
    let mut left: HashMap<&str, TensorView> = file.iter().collect();
    let mut weights = Vec::with_capacity(model.len());
    for array in model {
        let name = exported_name(&array.name);
        match read(left.remove(name.as_str()), &array.shape) {
            Ok(values) => weights.push(NamedArray {
                name: array.name.clone(),
                shape: array.shape.clone(),
                values,
            }),
            Err(what) => faults.push(TensorFault { name, what }),
        }
    }
    let mut superfluous: Vec<_> = left.into_iter().collect();
    superfluous.sort_unstable_by_key(|(name, _)| *name);
    faults.extend(superfluous.into_iter().map(|(name, view)| TensorFault {
        name: name.to_owned(),
        what: What::Superfluous { found: Kind::of(&view) },
    }));
    if faults.is_empty() {
        Ok(weights)
    } else {
        Err(WeightsError::Tensors(faults))
    }
}

fn read(view: Option<TensorView>, shape: &[usize]) -> Result<Vec<f32>, What> {
    let expected = Kind {
        dtype: Dtype::F32,
        shape: shape.to_vec(),
    };
    let Some(view) = view else {
        return Err(What::Missing { expected });
    };
    let found = Kind::of(&view);
    if found != expected {
        return Err(What::Other { found, expected });
    }
    let values = values(&view);
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values),
        Some(index) => Err(What::NotFinite {
            found: values[index],
            index,
        }),
    }
}

fn damaged(what: impl fmt::Display) -> WeightsError {
    WeightsError::Damaged { what: what.to_string() }
}

/// Why a file does not hold the weights of a model.
#[derive(Debug, Error)]
pub enum WeightsError {
    #[error("not a whole safetensors file: {what}")]
    Damaged { what: String },
    #[error(
        "written in version {found} of the format, but this program reads version {FORMAT_VERSION}; use the version of \
         ablate that wrote it"
    )]
    Format { found: u32 },
    #[error(
        "these are not the weights of the model that spec.toml beside it describes; the README.md of an export lists what \
         belongs in it:{}",
        list(.0)
    )]
    Tensors(Vec<TensorFault>),
}

fn list(faults: &[TensorFault]) -> String {
    let lines: Vec<_> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
    lines.concat()
}

#[derive(Debug, Error)]
#[error("{name}: {what}")]
pub struct TensorFault {
    name: String,
    what: What,
}

#[derive(Debug, Error)]
enum What {
    #[error("missing, expected {expected}")]
    Missing { expected: Kind },
    #[error("found {found}, but the model has no such tensor")]
    Superfluous { found: Kind },
    #[error("found {found}, expected {expected}")]
    Other { found: Kind, expected: Kind },
    #[error("value {index} is {found}, expected finite numbers")]
    NotFinite { found: f32, index: usize },
}

/// Type of the numbers and shape.
#[derive(Debug, PartialEq)]
struct Kind {
    dtype: Dtype,
    shape: Vec<usize>,
}

impl Kind {
    fn of(view: &TensorView) -> Self {
        Self {
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.dtype, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, shape: &[usize], first: f32) -> NamedArray {
        let count = shape.iter().product::<usize>();
        NamedArray {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: (0..count).map(|i| first + i as f32).collect(),
        }
    }

    fn model() -> Vec<NamedArray> {
        vec![
            array("embedding.weight", &[3, 2], f32::MIN_POSITIVE),
            array("encoder.0.attention.query.weight", &[2, 2], -1.5),
            array("encoder_norm.weight", &[2], 1.0 / 3.0),
            array("decoder_norm.weight", &[2], 7.0),
        ]
    }

    fn complaint(bytes: &[u8]) -> String {
        from_bytes(bytes, &model()).expect_err("it must be refused").to_string()
    }

    /// A file of tensors that are not of this format's making.
    fn foreign(tensors: &[(&str, Dtype, &[usize])], metadata: Option<&str>) -> Vec<u8> {
        let zeros = [0; 64];
        let views = tensors.iter().map(|(name, dtype, shape)| {
            let bytes = shape.iter().product::<usize>() * dtype.bitsize() / 8;
            (
                *name,
                TensorView::new(*dtype, shape.to_vec(), &zeros[..bytes]).expect("few enough"),
            )
        });
        let metadata = metadata.map(|text| HashMap::from([("ablate".to_owned(), text.to_owned())]));
        safetensors::serialize(views, metadata).expect("unique names")
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit_and_in_the_models_order() {
        let bytes = to_bytes(&model(), &[30]);
        assert_eq!(from_bytes(&bytes, &model()).expect("its own"), model());
        assert_eq!(bytes, to_bytes(&model(), &[30]), "nothing in it is left to chance");
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let told = complaint(&foreign(
            &[
                ("encoder.layers.0.self_attn.q_proj.weight", Dtype::F32, &[4]),
                ("encoder.norm.weight", Dtype::F16, &[2]),
                ("lm_head.weight", Dtype::F32, &[3, 2]),
                ("a.bias", Dtype::F64, &[1]),
                ("decoder.norm.weight", Dtype::F32, &[2]),
            ],
            None,
        ));
        let right =
            "these are not the weights of the model that spec.toml beside it describes; the README.md of an export \
                     lists what belongs in it:
  embedding.weight: missing, expected F32 [3, 2]
  encoder.layers.0.self_attn.q_proj.weight: found F32 [4], expected F32 [2, 2]
  encoder.norm.weight: found F16 [2], expected F32 [2]
  a.bias: found F64 [1], but the model has no such tensor
  lm_head.weight: found F32 [3, 2], but the model has no such tensor";
        assert_eq!(told, right);
    }

    #[test]
    fn what_is_no_number_is_refused_by_its_place() {
        for (value, name) in [(f32::NAN, "NaN"), (f32::NEG_INFINITY, "-inf")] {
            let mut weights = model();
            weights[3].values[1] = value;
            let told = complaint(&to_bytes(&weights, &[1]));
            let right = format!("decoder.norm.weight: value 1 is {name}, expected finite numbers");
            assert!(told.ends_with(&right), "{told}");
        }
    }

    #[test]
    fn a_later_format_is_refused_and_a_file_that_names_none_is_read() {
        let weights = &[
            ("embedding.weight", Dtype::F32, &[3, 2][..]),
            ("encoder.layers.0.self_attn.q_proj.weight", Dtype::F32, &[2, 2]),
            ("encoder.norm.weight", Dtype::F32, &[2]),
            ("decoder.norm.weight", Dtype::F32, &[2]),
        ];
        assert!(from_bytes(&foreign(weights, None), &model()).is_ok());
        let told = complaint(&foreign(weights, Some("{\"format_version\":2}")));
        assert!(told.starts_with("written in version 2 of the format, but this program reads version 1"));
        assert!(complaint(&foreign(weights, Some("?"))).contains("safetensors"));
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        let bytes = to_bytes(&model(), &[30]);
        for end in 0..bytes.len() {
            assert!(from_bytes(&bytes[..end], &model()).is_err(), "cut at {end}");
        }
    }
}
