//! The operations of [`Ops`] on CUDA. Each file holds one operation: a typed shell that talks to dfdx's tape, and
//! beneath it our kernels (`kernels/*.cu`, compiled by NVRTC when a device is opened) and cuBLAS. dfdx holds the memory;
//! none of its own kernels is used, so none has to be compiled.
//!
//! Work is queued on one stream, and in its order: memory may be freed as soon as what reads it is queued. Reductions run
//! in a fixed order: the same input gives the same bits.
#![allow(
    unsafe_code,
    reason = "kernels take addresses; each launch says why they are as large as the kernel expects"
)]

mod adam;
mod address;
mod attention;
mod compile;
mod context;
mod elementwise;
mod feed_forward;
mod gather;
mod inference;
mod libraries;
mod loss;
mod multi_head;
mod norm;
mod product;
mod rate;
mod sentences;
mod survey;
mod tape;

pub use compile::nvrtc_version;
pub use context::{device_count, open, poisoned};
pub use inference::CudaInference;
pub use libraries::{Missing, Part};
pub use rate::sustained_flops_per_s;
pub use survey::{DeviceFacts, facts, survey};

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use super::{Buffer, OnDevice, Ops, Optimizer, ParameterState};
use crate::spec::Precision;

impl OnDevice for Cuda {
    fn read(&self, buffer: &Buffer<Self>) -> Vec<f32> {
        context::context().download(buffer)
    }

    fn write(&self, buffer: &mut Buffer<Self>, values: &[f32]) {
        let device = buffer.device();
        device
            .htod_sync_copy_into(values, buffer)
            .expect("the buffer is as long as the values");
    }

    fn clear(&self, buffer: &mut Buffer<Self>) {
        let device = buffer.device();
        device
            .memset_zeros(buffer)
            .expect("a buffer of the device can be written");
    }

    fn accumulate(&self, sums: &mut Buffer<Self>, values: &Buffer<Self>) {
        let numbers = cudarc::driver::DeviceSlice::len(values);
        elementwise::add_to(&context::context(), numbers, context::of(values), context::of(sums));
    }
}

impl Optimizer for Cuda {
    fn norm_squared(gradients: &[Buffer<Self>]) -> f64 {
        adam::norm_squared(gradients)
    }

    fn update(t: i32, config: &AdamConfig, states: Vec<ParameterState<Self>>) {
        adam::update(t, config, states);
    }
}

impl Ops for Cuda {
    type Inference = CudaInference;

    fn inference(&self) -> CudaInference {
        CudaInference(context::context())
    }

    fn in_precision<R>(precision: Precision, work: impl FnOnce() -> R) -> R {
        super::precision::within(precision, work)
    }
}
