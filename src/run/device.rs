//! Devices that a model runs on.

use std::fmt;

use dfdx::prelude::Cpu;

use super::RunError;
use super::gpu::Gpu;
use crate::generated;
use crate::model::{Architecture, Seq2Seq};
use crate::ops::cpu::{has_bf16, sustained_flops_per_s};
#[cfg(feature = "cuda")]
use crate::ops::cuda;
use crate::plan::{Run, ShapeKey};
use crate::spec::{DeviceWish, Experiment, Parameters, Precision};

/// Rows and columns of the matrices that a GPU's speed is measured with: many enough to occupy it, few enough to fit in
/// what memory there is.
const MATRIX: usize = 2048;

/// Rows and columns of the matrices that show the highest speed of a GPU.
const LARGE_MATRIX: usize = 8192;

/// A parameter, its gradient and Adam's two moments, in `f32`.
const PARAMETER_BYTES: u64 = 4 * 4;

/// A device to train on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    #[default]
    Cpu,
    Cuda {
        /// Number of the device, as CUDA counts those that it sees.
        ordinal: usize,
    },
}

impl Device {
    /// A fresh model of a row of the suite, which has no name where the row comes from a run's folder or an export.
    ///
    /// # Errors
    /// If there is no such device, this binary cannot use it, or it was not built with the row's shape.
    pub fn build(self, suite: &str, row: &Experiment, seed: u64) -> Result<Box<dyn Seq2Seq>, RunError> {
        let shape = ShapeKey::of(row);
        let architecture = Architecture::of(row);
        let model = match self {
            Self::Cpu => generated::build(&shape, &Cpu::default(), architecture, seed),
            #[cfg(feature = "cuda")]
            Self::Cuda { ordinal } => generated::build(&shape, &Self::open_cuda(ordinal)?, architecture, seed),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda { ordinal } => Gpu::at(ordinal).map(|_| None)?,
        };
        let suite = suite.to_owned();
        model.ok_or(RunError::NotBuilt { suite, shape })
    }

    /// dfdx's handle of a CUDA device.
    ///
    /// # Errors
    /// If there is none.
    #[cfg(feature = "cuda")]
    pub fn open_cuda(ordinal: usize) -> Result<dfdx::prelude::Cuda, RunError> {
        cuda::open(ordinal).map_err(|what| RunError::Device { what })
    }

    /// The device that a wish means for one run: of several GPUs the first.
    #[must_use]
    pub fn of_wish(wish: DeviceWish) -> Self {
        match wish {
            DeviceWish::Cpu => Self::Cpu,
            DeviceWish::Cuda => Self::Cuda { ordinal: 0 },
            DeviceWish::CudaAt(ordinal) => Self::Cuda { ordinal },
            DeviceWish::Auto => Self::all_of_wish(wish)[0],
        }
    }

    /// The devices that a wish means for many runs; never none. Whether they can be used is another question.
    #[must_use]
    pub fn all_of_wish(wish: DeviceWish) -> Vec<Self> {
        let gpus = || {
            (0..Gpu::count())
                .map(|ordinal| Self::Cuda { ordinal })
                .collect::<Vec<_>>()
        };
        let or = |gpus: Vec<Self>, other| if gpus.is_empty() { vec![other] } else { gpus };
        match wish {
            DeviceWish::Cuda => or(gpus(), Self::of_wish(wish)),
            DeviceWish::Auto => or(gpus(), Self::Cpu),
            one => vec![Self::of_wish(one)],
        }
    }

    /// Multiplications and additions per second that the device sustains in `f32` products, where that is measured.
    #[must_use]
    pub fn sustained_flops_per_s(self) -> Option<f64> {
        self.flops_per_s(Precision::F32, MATRIX)
    }

    /// Multiplications and additions per second in large products of this precision, where that is measured.
    #[must_use]
    pub fn matrix_flops_per_s(self, precision: Precision) -> Option<f64> {
        self.flops_per_s(precision, LARGE_MATRIX)
    }

    /// On a GPU with matrices of `size` rows and columns; those of a CPU are small, and of `f32`.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(unused_variables, reason = "there is no GPU to measure")
    )]
    fn flops_per_s(self, precision: Precision, size: usize) -> Option<f64> {
        match self {
            Self::Cpu => (precision == Precision::F32).then(sustained_flops_per_s),
            #[cfg(feature = "cuda")]
            Self::Cuda { ordinal } => {
                Self::open_cuda(ordinal).ok()?;
                Some(cuda::sustained_flops_per_s(precision, size))
            }
            #[cfg(not(feature = "cuda"))]
            Self::Cuda { .. } => None,
        }
    }

    /// The name of the GPU, if it is one.
    #[must_use]
    pub fn gpu_name(self) -> Option<String> {
        match self {
            Self::Cpu => None,
            Self::Cuda { ordinal } => Gpu::at(ordinal).ok().map(|gpu| gpu.name),
        }
    }

    /// Whether it has products of this precision.
    #[must_use]
    pub fn has(self, precision: Precision) -> bool {
        self.lacks(precision, has_bf16()).is_none()
    }

    /// Why it has no products of this precision, if it has none.
    fn lacks(self, precision: Precision, cpu_has_bf16: bool) -> Option<String> {
        match (precision, self) {
            (Precision::F32, _) => None,
            (Precision::Bf16, Self::Cpu) if cpu_has_bf16 => None,
            (Precision::Bf16, Self::Cpu) => Some("this CPU has no AVX512-BF16".to_owned()),
            (Precision::Tf32, Self::Cpu) => Some("a CPU has no tensor cores, which `--device cuda` has".to_owned()),
            (_, Self::Cuda { ordinal }) => match Gpu::at(ordinal) {
                Ok(gpu) if gpu.has_rounded_products() => None,
                Ok(gpu) => Some(format!(
                    "{} is older than Ampere and has no tensor cores for it",
                    gpu.name
                )),
                Err(error) => Some(error.to_string()),
            },
        }
    }

    /// Whether the device exists and can be used.
    ///
    /// # Errors
    /// If it is not, or this binary cannot use it.
    pub fn check(self) -> Result<(), RunError> {
        match self {
            Self::Cpu => Ok(()),
            Self::Cuda { ordinal } => Gpu::at(ordinal).map(drop),
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
        let precision = run.experiment.training.precision;
        self.lacks(precision, cpu_has_bf16).map_or(Ok(()), |what| {
            Err(RunError::Precision {
                row: run.row.clone(),
                precision,
                what,
                allowed: Precision::ALL
                    .into_iter()
                    .filter(|&precision| self.lacks(precision, cpu_has_bf16).is_none())
                    .collect(),
            })
        })
    }

    /// Whether a GPU's memory holds what the run needs for its parameters alone, whatever the batch.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_memory(self, run: &Run) -> Result<(), RunError> {
        let Self::Cuda { ordinal } = self else { return Ok(()) };
        let total = Gpu::at(ordinal)?.total_bytes as f64;
        let needed = (PARAMETER_BYTES * Parameters::of(&run.experiment).total()) as f64;
        if needed <= total {
            return Ok(());
        }
        let mib = |bytes: f64| bytes / f64::from(1 << 20);
        let what = format!(
            "row `{}`: weights, gradients and Adam's moments alone take {:.1} MiB, and {self} has {:.1} MiB",
            run.row,
            mib(needed),
            mib(total),
        );
        Err(RunError::Device { what })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda { ordinal } => write!(f, "cuda:{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::Plan;
    use crate::spec::load_suite;

    #[test]
    fn a_wish_means_what_there_is() {
        assert_eq!(Device::all_of_wish(DeviceWish::Cpu), [Device::Cpu]);
        assert_eq!(Device::of_wish(DeviceWish::Cuda), Device::Cuda { ordinal: 0 });
        assert_eq!(
            Device::all_of_wish(DeviceWish::CudaAt(3)),
            [Device::Cuda { ordinal: 3 }]
        );
        let best = Device::of_wish(DeviceWish::Auto);
        assert!(best.check().is_ok(), "{best}");
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
        for run in [exact, half] {
            assert_eq!(refusal(Device::Cpu, run, true), None);
        }
        for (run, right) in [
            (
                half,
                "row `half`: `training.precision = \"bf16\"`, but this CPU has no AVX512-BF16; allowed here: \"f32\"",
            ),
            (
                tensor,
                "row `tensor`: `training.precision = \"tf32\"`, but a CPU has no tensor cores, which `--device cuda` \
                 has; allowed here: \"f32\"",
            ),
        ] {
            assert_eq!(refusal(Device::Cpu, run, false), Some(right.to_owned()));
        }
    }
}
