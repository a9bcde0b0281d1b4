//! Matrix products by cuBLAS, in the precision that was asked for.

use std::ffi::c_void;

use cudarc::cublas::result::gemm_ex;
use cudarc::cublas::sys::{
    cublasComputeType_t as Compute, cublasGemmAlgo_t as Algorithm, cublasOperation_t as Operation, cudaDataType as Kind,
};
use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;

use super::context::{Context, int, of};
use crate::ops::precision;
use crate::spec::Precision;

/// A matrix as a product reads it: as it is, or rounded to bf16 beforehand.
pub struct Operand {
    address: CUdeviceptr,
    columns: usize,
    /// Holds the numbers, where they were rounded.
    rounded: Option<CudaSlice<u16>>,
}

impl Operand {
    /// `count` numbers at `address`, in rows of `columns`, ready for the products of this thread.
    pub fn of(context: &Context, address: CUdeviceptr, count: usize, columns: usize) -> Self {
        if precision::current() != Precision::Bf16 {
            return Self {
                address,
                columns,
                rounded: None,
            };
        }
        let rounded = context.uninitialized::<u16>(count);
        // SAFETY: `count` numbers on both sides.
        unsafe { context.launch_over("round_to_bf16", count, (count, address, &rounded)) };
        Self::rounded(rounded, columns)
    }

    /// Numbers that were rounded by another kernel.
    pub fn rounded(numbers: CudaSlice<u16>, columns: usize) -> Self {
        Self {
            address: of(&numbers),
            columns,
            rounded: Some(numbers),
        }
    }

    /// Whether it has numbers of its own.
    pub fn is_rounded(&self) -> bool {
        self.rounded.is_some()
    }

    pub fn view(&self) -> View {
        match &self.rounded {
            Some(numbers) => View::of_rounded(numbers, self.columns),
            None => View::at(self.address, self.columns, Kind::CUDA_R_32F),
        }
    }

    /// The rows from `first` on.
    pub fn rows_from(&self, first: usize) -> View {
        self.view().from(first * self.columns)
    }

    /// The columns from `first` on.
    pub fn columns_from(&self, first: usize) -> View {
        self.view().from(first)
    }
}

/// A part of a matrix.
#[derive(Clone, Copy)]
pub struct View {
    address: CUdeviceptr,
    /// Numbers from a row to the next.
    stride: usize,
    kind: Kind,
    transposed: bool,
}

impl View {
    /// A whole matrix of `columns`.
    pub fn of(numbers: &CudaSlice<f32>, columns: usize) -> Self {
        Self::at(of(numbers), columns, Kind::CUDA_R_32F)
    }

    /// One whose numbers were rounded by another kernel.
    pub fn of_rounded(numbers: &CudaSlice<u16>, columns: usize) -> Self {
        Self::at(of(numbers), columns, Kind::CUDA_R_16BF)
    }

    fn at(address: CUdeviceptr, columns: usize, kind: Kind) -> Self {
        Self {
            address,
            stride: columns,
            kind,
            transposed: false,
        }
    }

    /// The same from a number on.
    fn from(self, first: usize) -> Self {
        let bytes = if self.kind == Kind::CUDA_R_32F { 4 } else { 2 };
        Self {
            address: self.address + (first * bytes) as u64,
            ..self
        }
    }

    pub fn transposed(self) -> Self {
        Self {
            transposed: !self.transposed,
            ..self
        }
    }

    fn operation(self) -> Operation {
        if self.transposed {
            Operation::CUBLAS_OP_T
        } else {
            Operation::CUBLAS_OP_N
        }
    }
}

/// What a product does with what is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Overwrite,
    Add,
}

/// `out [m, n] (+)= left [m, k] . right [k, n]`; the rows of `out` are `stride` numbers apart.
///
/// # Safety
/// The matrices must be of these sizes.
pub unsafe fn product(
    context: &Context,
    [m, n, k]: [usize; 3],
    left: View,
    right: View,
    (out, stride): (CUdeviceptr, usize),
    output: Output,
) {
    if m == 0 || n == 0 {
        return;
    }
    let (alpha, beta) = (1.0f32, if output == Output::Add { 1.0f32 } else { 0.0 });
    let compute = match precision::current() {
        Precision::Tf32 => Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
        Precision::F32 | Precision::Bf16 => Compute::CUBLAS_COMPUTE_32F,
    };
    // cuBLAS counts columns first, and so sees every matrix transposed: right^T . left^T = out^T.
    // SAFETY: the caller's promise.
    unsafe {
        gemm_ex(
            *context.blas.handle(),
            right.operation(),
            left.operation(),
            int(n),
            int(m),
            int(k),
            (&raw const alpha).cast::<c_void>(),
            right.address as *const c_void,
            right.kind,
            int(right.stride),
            left.address as *const c_void,
            left.kind,
            int(left.stride),
            (&raw const beta).cast::<c_void>(),
            out as *mut c_void,
            Kind::CUDA_R_32F,
            int(stride),
            compute,
            Algorithm::CUBLAS_GEMM_DEFAULT,
        )
    }
    .expect("cuBLAS multiplies");
}
