//! All parameters at once: Adam's update, and the norm of the gradient.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, DeviceRepr, DeviceSlice};
use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use crate::ops::{Buffer, ParameterState};

/// As in `adam.cu`.
const CHUNK: usize = 4096;
const THREADS: u32 = 256;

/// A parameter, as the kernels know it.
#[repr(C)]
struct Parameter {
    values: CUdeviceptr,
    gradient: CUdeviceptr,
    first: CUdeviceptr,
    second: CUdeviceptr,
    length: u32,
    chunks_before: u32,
}

// SAFETY: numbers laid out as in `adam.cu`.
unsafe impl DeviceRepr for Parameter {}

/// What all parameters are updated with.
#[repr(C)]
struct Step {
    beta1: f32,
    beta2: f32,
    learning_rate: f32,
    epsilon: f32,
    correction1: f32,
    correction2: f32,
}

// SAFETY: numbers laid out as in `adam.cu`.
unsafe impl DeviceRepr for Step {}

/// One step of Adam, `t` counted from 1; clears the gradients.
pub fn update(t: i32, config: &AdamConfig, states: Vec<ParameterState<Cuda>>) {
    let context = context();
    let [beta1, beta2] = config.betas.map(|beta| beta as f32);
    let step = Step {
        beta1,
        beta2,
        learning_rate: config.lr as f32,
        epsilon: config.eps as f32,
        correction1: (1.0 - beta1.powi(t)).recip(),
        correction2: (1.0 - beta2.powi(t)).recip(),
    };
    let table = states.into_iter().map(|state| {
        let ParameterState {
            parameter,
            gradient,
            moments: [first, second],
        } = state;
        (
            [address(parameter), of(gradient), of(first), of(second)],
            gradient.len(),
        )
    });
    let Table {
        parameters,
        count,
        chunks,
    } = Table::of(&context, table);
    // SAFETY: of each parameter four buffers of its length; its weights are its own, since no pass goes on.
    unsafe { context.launch("adam", [chunks, 1], THREADS, (count, &parameters, step)) };
}

/// The sum of the squares of all gradients.
pub fn norm_squared(gradients: &[Buffer<Cuda>]) -> f64 {
    let context = context();
    let table = gradients
        .iter()
        .map(|gradient| ([0, of(gradient), 0, 0], gradient.len()));
    let Table {
        parameters,
        count,
        chunks,
    } = Table::of(&context, table);
    let sums = context.uninitialized::<f64>(chunks);
    // SAFETY: the kernel reads the gradients only.
    unsafe { context.launch("chunk_squares", [chunks, 1], THREADS, (count, &parameters, &sums)) };
    context.download(&sums).into_iter().sum()
}

/// All parameters on the device.
struct Table {
    parameters: CudaSlice<Parameter>,
    count: i32,
    /// Of all parameters together.
    chunks: usize,
}

impl Table {
    fn of(context: &Context, entries: impl Iterator<Item = ([CUdeviceptr; 4], usize)>) -> Self {
        let mut chunks = 0;
        let parameters: Vec<Parameter> = entries
            .map(|([values, gradient, first, second], length)| {
                let chunks_before = chunks as u32;
                chunks += length.div_ceil(CHUNK);
                Parameter {
                    values,
                    gradient,
                    first,
                    second,
                    length: length as u32,
                    chunks_before,
                }
            })
            .collect();
        Self {
            count: int(parameters.len()),
            parameters: context.upload(parameters),
            chunks,
        }
    }
}
