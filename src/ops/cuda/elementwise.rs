//! Dropout and sums. Masks are made again in the backward pass rather than stored.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, DeviceRepr};
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{Dropout, Elementwise, Recording, Rows, Size};

/// [`Dropout`] as the kernels know it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Site {
    threshold: u32,
    kept: f32,
    key: [u32; 2],
    first: u32,
}

// SAFETY: numbers laid out as in `common.cu`.
unsafe impl DeviceRepr for Site {}

impl From<Dropout> for Site {
    fn from(dropout: Dropout) -> Self {
        Self {
            threshold: dropout.threshold(),
            kept: dropout.kept(),
            key: dropout.key(),
            first: dropout.first(),
        }
    }
}

impl Elementwise for Cuda {
    fn dropout<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, dropout: Dropout) -> Rows<D, Self> {
        if dropout.is_off() {
            return x.clone();
        }
        let context = context();
        let (device, numbers, site) = (x.device().clone(), x.shape().num_elements(), Site::from(dropout));
        let y: Rows<D, Cuda> = rows(&device, x.shape().0);
        // SAFETY: both have so many numbers.
        unsafe { context.launch_over("dropout", numbers, (numbers, site, address(x), address(&y))) };
        if recording.is_on() {
            let (x, y) = (x.ghost(), y.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, device, y);
                let d_x = gradient_address!(gradients, x);
                // SAFETY: as above.
                unsafe { context.launch_over("add_dropout", numbers, (numbers, site, of(&d_y), d_x)) };
                Ok(())
            });
        }
        y
    }

    fn add<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, y: &Rows<D, Self>) -> Rows<D, Self> {
        let context = context();
        assert_eq!(x.shape().0, y.shape().0, "as many rows on both sides");
        let (device, numbers) = (x.device().clone(), x.shape().num_elements());
        let sum: Rows<D, Cuda> = rows(&device, x.shape().0);
        // SAFETY: all three have so many numbers.
        unsafe {
            let arguments = (numbers, address(x), address(y), address(&sum));
            context.launch_over("add", numbers, arguments);
        }
        if recording.is_on() {
            let (x, y, sum) = (x.ghost(), y.ghost(), sum.ghost());
            recording.add(move |gradients| {
                let d_sum = take_gradient!(gradients, device, sum);
                for d in [gradient_address!(gradients, x), gradient_address!(gradients, y)] {
                    add_to(&context, numbers, of(&d_sum), d);
                }
                Ok(())
            });
        }
        sum
    }
}

/// `out += x`, of `numbers` numbers each.
pub fn add_to(context: &Context, numbers: usize, x: CUdeviceptr, out: CUdeviceptr) {
    // SAFETY: the callers name memory of so many numbers, each of which is read before it is written.
    unsafe { context.launch_over("add", numbers, (numbers, x, out, out)) };
}

/// What columns are summed of, `[rows, width]`.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    Of(CUdeviceptr),
    /// Of the product of two, element by element.
    OfProduct(CUdeviceptr, CUdeviceptr),
    OfRounded(&'a CudaSlice<u16>),
}

/// `out += ` the sums of the columns.
pub fn add_column_sums(context: &Context, [rows, width]: [usize; 2], columns: Columns, out: CUdeviceptr) {
    const CHUNK: usize = 128;
    const THREADS: u32 = 128;
    let chunks = rows.div_ceil(CHUNK);
    let partial = context.uninitialized::<f32>(chunks * width);
    let blocks = width.div_ceil(THREADS as usize);
    let size = (int(rows), int(width), int(CHUNK));
    // SAFETY: the callers name matrices of this size and a row; there is a partial sum for each chunk and column.
    unsafe {
        let grid = [blocks, chunks];
        let of_numbers = |x, y: CUdeviceptr| {
            let arguments = (size.0, size.1, size.2, x, y, &partial);
            context.launch("column_sums", grid, THREADS, arguments);
        };
        match columns {
            Columns::Of(x) => of_numbers(x, 0),
            Columns::OfProduct(x, y) => of_numbers(x, y),
            Columns::OfRounded(x) => {
                let arguments = (size.0, size.1, size.2, x, &partial);
                context.launch("column_sums_of_bf16", grid, THREADS, arguments);
            }
        }
        let arguments = (int(chunks), size.1, &partial, out);
        context.launch("add_column_sums", [blocks, 1], THREADS, arguments);
    }
}
