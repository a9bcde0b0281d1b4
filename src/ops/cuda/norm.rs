//! Layer normalisation, alone and with the paper's residual connection before it: `LayerNorm(x + Dropout(sublayer))`.

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::elementwise::{Columns, Site, add_column_sums};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{Dropout, LAYER_NORM_EPSILON, LayerNorm, NormWeights, Recording, Rows, Size};

/// Threads of a block, and the rows that its warps have.
const THREADS: u32 = 128;
const ROWS: usize = 4;

impl LayerNorm for Cuda {
    fn layer_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self> {
        let NormWeights { weight, bias } = weights;
        let context = context();
        let (device, size) = (x.device().clone(), [x.shape().0, D::SIZE]);
        let y: Rows<D, Cuda> = rows(&device, size[0]);
        let parameters = [address(weight), address(bias)];
        let normalized = Normalized::of(&context, size, address(x), None, parameters, address(&y));
        if recording.is_on() {
            let (x, y, bias, weight_kept, weight) =
                (x.ghost(), y.ghost(), bias.ghost(), (*weight).clone(), weight.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, device, y);
                let d_parameters = [gradient_address!(gradients, weight), gradient_address!(gradients, bias)];
                let d_x = gradient_address!(gradients, x);
                normalized.backward(&context, of(&d_y), address(&weight_kept), d_parameters, d_x, None);
                Ok(())
            });
        }
        y
    }

    fn add_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        sublayer: &Rows<D, Self>,
        dropout: Dropout,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self> {
        let NormWeights { weight, bias } = weights;
        let context = context();
        assert_eq!(x.shape().0, sublayer.shape().0, "as many rows on both sides");
        let (device, size, site) = (x.device().clone(), [x.shape().0, D::SIZE], Site::from(dropout));
        let y: Rows<D, Cuda> = rows(&device, size[0]);
        let parameters = [address(weight), address(bias)];
        let masked = Some((site, address(sublayer)));
        let normalized = Normalized::of(&context, size, address(x), masked, parameters, address(&y));
        if recording.is_on() {
            let (x, sublayer, y) = (x.ghost(), sublayer.ghost(), y.ghost());
            let (bias, weight_kept, weight) = (bias.ghost(), (*weight).clone(), weight.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, device, y);
                let d_parameters = [gradient_address!(gradients, weight), gradient_address!(gradients, bias)];
                let d_x = gradient_address!(gradients, x);
                let d_sublayer = Some((site, gradient_address!(gradients, sublayer)));
                normalized.backward(&context, of(&d_y), address(&weight_kept), d_parameters, d_x, d_sublayer);
                Ok(())
            });
        }
        y
    }
}

/// What the backward pass needs.
pub struct Normalized {
    rows: usize,
    width: usize,
    /// `(x - mean) / deviation`, `[N, D]`.
    numbers: CudaSlice<f32>,
    /// One over the deviation of each row, `[N]`.
    inverse_deviations: CudaSlice<f32>,
}

impl Normalized {
    /// Normalises `x`, or its sum with a sublayer behind a mask, and writes the scaled and shifted rows to `y`.
    pub fn of(
        context: &Context,
        [rows, width]: [usize; 2],
        x: CUdeviceptr,
        sublayer: Option<(Site, CUdeviceptr)>,
        [weight, bias]: [CUdeviceptr; 2],
        y: CUdeviceptr,
    ) -> Self {
        let (site, sublayer) = or_none(sublayer);
        let normalized = Self {
            rows,
            width,
            numbers: context.uninitialized(rows * width),
            inverse_deviations: context.uninitialized(rows),
        };
        let (numbers, deviations) = (of(&normalized.numbers), of(&normalized.inverse_deviations));
        let arguments = (
            int(rows),
            int(width),
            site,
            x,
            sublayer,
            weight,
            bias,
            LAYER_NORM_EPSILON,
            numbers,
            deviations,
            y,
        );
        // SAFETY: rows of this size, a weight and a bias of the width.
        unsafe { context.launch("add_norm", [rows.div_ceil(ROWS), 1], THREADS, arguments) };
        normalized
    }

    /// Adds to the gradients of weight and bias, of `x`, and of the sublayer.
    fn backward(
        &self,
        context: &Context,
        d_y: CUdeviceptr,
        weight: CUdeviceptr,
        [d_weight, d_bias]: [CUdeviceptr; 2],
        d_x: CUdeviceptr,
        d_sublayer: Option<(Site, CUdeviceptr)>,
    ) {
        let size = [self.rows, self.width];
        add_column_sums(context, size, Columns::OfProduct(d_y, of(&self.numbers)), d_weight);
        add_column_sums(context, size, Columns::Of(d_y), d_bias);
        let (site, d_sublayer) = or_none(d_sublayer);
        let arguments = (
            int(self.rows),
            int(self.width),
            site,
            d_y,
            weight,
            of(&self.numbers),
            of(&self.inverse_deviations),
            d_x,
            d_sublayer,
        );
        // SAFETY: as in the forward pass.
        unsafe { context.launch("add_norm_backward", [self.rows.div_ceil(ROWS), 1], THREADS, arguments) };
    }
}

/// The kernels know a sublayer that is not there by its address.
fn or_none(sublayer: Option<(Site, CUdeviceptr)>) -> (Site, CUdeviceptr) {
    sublayer.unwrap_or((Dropout::OFF.into(), 0))
}
