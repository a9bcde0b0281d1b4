//! The operations on CUDA: plain dfdx so far, plus the two things that dfdx has no call for.

use dfdx::prelude::*;

use super::{Buffer, Ops, PlainInference};

impl Ops for Cuda {
    type Inference = PlainInference<Self>;

    fn inference(&self) -> PlainInference<Self> {
        PlainInference(self.clone())
    }

    fn read(&self, buffer: &Buffer<Self>) -> Vec<f32> {
        let device = buffer.device();
        device
            .dtoh_sync_copy(buffer)
            .expect("a buffer of the device can be read")
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
}
