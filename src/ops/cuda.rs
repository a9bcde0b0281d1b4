//! The operations on CUDA: plain dfdx so far, plus the two things that dfdx has no call for.

use dfdx::prelude::*;

use super::Ops;

impl Ops for Cuda {
    fn write(&self, buffer: &mut <Self as Storage<f32>>::Vec, values: &[f32]) {
        let device = buffer.device();
        device
            .htod_sync_copy_into(values, buffer)
            .expect("the buffer is as long as the values");
    }

    fn norm_squared<S: Shape>(x: Tensor<S, f32, Self>) -> f64 {
        f64::from(x.square().sum::<Rank0, _>().as_vec()[0])
    }
}
