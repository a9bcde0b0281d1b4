//! Where a model runs.

use std::fmt;
use std::str::FromStr;

use dfdx::prelude::Cpu;

use super::RunError;
use crate::generated;
use crate::model::Seq2Seq;
use crate::ops::cpu::{has_bf16, sustained_flops_per_s};
use crate::plan::{Run, ShapeKey};
use crate::spec::{Norm, Precision};

/// A device to train on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    #[default]
    Cpu,
    Cuda {
        /// As CUDA counts the devices it may see.
        ordinal: usize,
    },
}

impl Device {
    /// A fresh model of the shape, or `None` if this binary was not built with it.
    ///
    /// # Errors
    /// If there is no such device, or this binary cannot use it.
    pub fn build(self, shape: &ShapeKey, norm: Norm, seed: u64) -> Result<Option<Box<dyn Seq2Seq>>, RunError> {
        match self {
            Self::Cpu => Ok(generated::build(shape, &Cpu::default(), norm, seed)),
            #[cfg(feature = "cuda")]
            Self::Cuda { .. } => Ok(generated::build(shape, &self.open_cuda()?, norm, seed)),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda { ordinal } => check_cuda(ordinal).map(|()| None),
        }
    }

    /// dfdx's handle of a CUDA device.
    ///
    /// # Errors
    /// If there is none.
    #[cfg(feature = "cuda")]
    pub fn open_cuda(self) -> Result<dfdx::prelude::Cuda, RunError> {
        let ordinal = match self {
            Self::Cpu => 0,
            Self::Cuda { ordinal } => ordinal,
        };
        crate::ops::cuda::open(ordinal).map_err(|what| RunError::Device { what })
    }

    /// The first GPU, if there is one that this binary can use; else the CPU.
    #[must_use]
    pub fn best() -> Self {
        let cuda = Self::Cuda { ordinal: 0 };
        cuda.check().map_or(Self::Cpu, |()| cuda)
    }

    /// Multiplications and additions per second that the device sustains in `f32` products, where that is measured.
    #[must_use]
    pub fn sustained_flops_per_s(self) -> Option<f64> {
        match self {
            Self::Cpu => Some(sustained_flops_per_s()),
            Self::Cuda { .. } => None,
        }
    }

    /// Whether the device is there.
    ///
    /// # Errors
    /// If it is not, or this binary cannot use it.
    pub fn check(self) -> Result<(), RunError> {
        match self {
            Self::Cpu => Ok(()),
            Self::Cuda { ordinal } => check_cuda(ordinal),
        }
    }

    /// Whether the device can train the run in its precision.
    ///
    /// # Errors
    /// If it cannot; another precision in its place would make another experiment.
    pub fn check_precision(self, run: &Run) -> Result<(), RunError> {
        self.check_precision_given(run, has_bf16())
    }

    fn check_precision_given(self, run: &Run, cpu_has_bf16: bool) -> Result<(), RunError> {
        let what = match (run.experiment.training.precision, self) {
            (Precision::F32, _) => return Ok(()),
            (_, Self::Cuda { .. }) => return Ok(()),
            (Precision::Bf16, Self::Cpu) if cpu_has_bf16 => return Ok(()),
            (Precision::Bf16, Self::Cpu) => "this CPU has no AVX512-BF16",
            (Precision::Tf32, Self::Cpu) => "a CPU has no tensor cores, which `--device cuda` has",
        };
        let what = what.to_owned();
        Err(RunError::Precision {
            row: run.row.clone(),
            precision: run.experiment.training.precision,
            what,
        })
    }
}

#[cfg(feature = "cuda")]
fn check_cuda(ordinal: usize) -> Result<(), RunError> {
    let count = crate::ops::cuda::device_count().map_err(|what| RunError::Device { what })?;
    if ordinal >= count {
        let what = format!("there is no device cuda:{ordinal}; CUDA sees {count}");
        return Err(RunError::Device { what });
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn check_cuda(_: usize) -> Result<(), RunError> {
    let what = "this binary was built without CUDA; build it with `--features cuda`, or choose `--device cpu`";
    Err(RunError::Device { what: what.to_owned() })
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda { ordinal } => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ordinal = match text {
            "cpu" => return Ok(Self::Cpu),
            "auto" => return Ok(Self::best()),
            "cuda" => Some(0),
            _ => text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok()),
        };
        ordinal
            .map(|ordinal| Self::Cuda { ordinal })
            .ok_or_else(|| format!("`{text}` is no device: allowed are cpu, cuda, cuda:N and auto"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::Plan;
    use crate::spec::load_suite;

    #[test]
    fn devices_are_read_as_they_are_shown() {
        for device in [Device::Cpu, Device::Cuda { ordinal: 3 }] {
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda { ordinal: 0 }));
        assert!("gpu".parse::<Device>().is_err() && "cuda:x".parse::<Device>().is_err());
    }

    #[test]
    fn a_precision_that_the_device_lacks_is_refused_by_row_and_key() {
        const BASE: &str = "
            model = { layers = 1, d_model = 16, d_ff = 32, heads = 2 }
            regularization = { dropout = 0.1, label_smoothing = 0.1 }
            data = { corpus = 'grammar-en-de', train_pairs = 10, vocab_size = 12, max_length = 10 }
            training = { steps = 60, batch_tokens = 64, warmup_steps = 30 }";
        const SUITE: &str = "
            title = 't'
            base = 'base.toml'
            row = [
                { id = 'base' },
                { id = 'half', set = { training.precision = 'bf16' } },
                { id = 'tensor', set = { training.precision = 'tf32' } },
            ]";
        let read = |path: &Path| Ok(if path.ends_with("base.toml") { BASE } else { SUITE }.to_owned());
        let plan = Plan::of(&load_suite(Path::new("suite.toml"), &read).expect("a valid suite"));
        let [exact, half, tensor] = [&plan.runs[0], &plan.runs[1], &plan.runs[2]];
        let refusal = |device: Device, run, cpu_has_bf16| {
            let checked = device.check_precision_given(run, cpu_has_bf16);
            checked.err().map(|error| error.to_string())
        };
        for run in [exact, half, tensor] {
            assert_eq!(refusal(Device::Cuda { ordinal: 1 }, run, false), None);
        }
        for run in [exact, half] {
            assert_eq!(refusal(Device::Cpu, run, true), None);
        }
        for (run, right) in [
            (
                half,
                "row `half`: `training.precision = \"bf16\"`, but this CPU has no AVX512-BF16; allowed here is \"f32\"",
            ),
            (
                tensor,
                "row `tensor`: `training.precision = \"tf32\"`, but a CPU has no tensor cores, which `--device cuda` \
                 has; allowed here is \"f32\"",
            ),
        ] {
            assert_eq!(refusal(Device::Cpu, run, false), Some(right.to_owned()));
        }
    }
}
