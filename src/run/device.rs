//! Where a model runs.

use std::fmt;
use std::str::FromStr;

use dfdx::prelude::Cpu;

use super::RunError;
use crate::generated;
use crate::model::Seq2Seq;
use crate::plan::ShapeKey;
use crate::spec::Norm;

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
            Self::Cuda { ordinal } => {
                check_cuda(ordinal)?;
                build_on_cuda(ordinal, shape, norm, seed)
            }
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
}

#[cfg(feature = "cuda")]
fn check_cuda(ordinal: usize) -> Result<(), RunError> {
    let unusable = |what: String| RunError::Device { what };
    let count = cudarc::driver::CudaDevice::count()
        .map_err(|error| unusable(format!("the CUDA driver does not answer: {error:?}")))?;
    if ordinal >= usize::try_from(count).unwrap_or(0) {
        return Err(unusable(format!(
            "there is no device cuda:{ordinal}; CUDA sees {count}"
        )));
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn check_cuda(_: usize) -> Result<(), RunError> {
    let what = "this binary was built without CUDA; build it with `--features cuda`, or choose `--device cpu`";
    Err(RunError::Device { what: what.to_owned() })
}

#[cfg(feature = "cuda")]
fn build_on_cuda(
    ordinal: usize,
    shape: &ShapeKey,
    norm: Norm,
    seed: u64,
) -> Result<Option<Box<dyn Seq2Seq>>, RunError> {
    let device = dfdx::prelude::Cuda::try_build(ordinal, 0).map_err(|error| RunError::Device {
        what: format!("cuda:{ordinal} cannot be opened: {error:?}"),
    })?;
    Ok(generated::build(shape, &device, norm, seed))
}

#[cfg(not(feature = "cuda"))]
fn build_on_cuda(ordinal: usize, _: &ShapeKey, _: Norm, _: u64) -> Result<Option<Box<dyn Seq2Seq>>, RunError> {
    check_cuda(ordinal).map(|()| None)
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
            "cuda" => Some(0),
            _ => text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok()),
        };
        ordinal
            .map(|ordinal| Self::Cuda { ordinal })
            .ok_or_else(|| format!("`{text}` is no device: allowed are cpu, cuda and cuda:N"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_shown() {
        for device in [Device::Cpu, Device::Cuda { ordinal: 3 }] {
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda { ordinal: 0 }));
        assert!("gpu".parse::<Device>().is_err() && "cuda:x".parse::<Device>().is_err());
    }
}
