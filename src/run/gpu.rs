//! Facts about a GPU, before anything runs on it.

use super::RunError;
#[cfg(feature = "cuda")]
use crate::ops::cuda::{self, DeviceFacts};

/// A GPU that CUDA sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    pub total_bytes: usize,
}

impl Gpu {
    /// First capability with tensor cores for TF32 and bf16 (Ampere).
    const ROUNDS: (i32, i32) = (8, 0);

    pub fn has_rounded_products(&self) -> bool {
        self.capability >= Self::ROUNDS
    }

    /// # Errors
    /// If there is no such GPU, or this binary cannot use it.
    #[cfg(feature = "cuda")]
    pub fn at(ordinal: usize) -> Result<Self, RunError> {
        let DeviceFacts {
            name,
            capability,
            total_bytes,
        } = cuda::facts(ordinal).map_err(|what| RunError::Device { what })?;
        Ok(Self {
            name,
            capability,
            total_bytes,
        })
    }

    /// # Errors
    /// Always: this binary has nothing to look with.
    #[cfg(not(feature = "cuda"))]
    pub fn at(_: usize) -> Result<Self, RunError> {
        let what = "this binary was built without CUDA; build it with `--features cuda`, or choose `--device cpu`";
        Err(RunError::Device { what: what.to_owned() })
    }

    /// Number of GPUs that this binary can use.
    pub fn count() -> usize {
        #[cfg(feature = "cuda")]
        return cuda::device_count().unwrap_or(0);
        #[cfg(not(feature = "cuda"))]
        return 0;
    }
}
