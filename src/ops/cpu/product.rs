//! Matrix products: of `f32` by the `gemm` family of crates, of operands rounded to bf16 by a kernel of our own.

#[cfg(target_arch = "x86_64")]
mod bf16;
/// No other kind of CPU has the instruction.
#[cfg(not(target_arch = "x86_64"))]
mod bf16 {
    use crate::ops::cpu::view::{Output, View};

    pub fn is_supported() -> bool {
        false
    }

    pub fn product(_: View, _: View, _: &mut [f32], _: Output) {
        unreachable!("nothing enters this precision on a CPU that does not have it")
    }
}

use gemm_common::Parallelism;

pub use super::view::{Output, View};
use crate::ops::precision;
use crate::spec::Precision;

/// Whether this CPU has products of bf16.
#[must_use]
pub fn has_bf16() -> bool {
    bf16::is_supported()
}

/// Runs `work` with the products of this thread in this precision.
///
/// # Panics
/// If the CPU does not have it.
pub fn in_precision<R>(precision: Precision, work: impl FnOnce() -> R) -> R {
    let has = match precision {
        Precision::F32 => true,
        Precision::Tf32 => false,
        Precision::Bf16 => has_bf16(),
    };
    assert!(has, "this CPU has no products of {}", precision.name());
    precision::within(precision, work)
}

/// `out = a . b` or `out += a . b`, `out` row after row, in the precision of [`in_precision`].
///
/// # Panics
/// If the sizes do not fit.
pub fn product(a: View, b: View, out: &mut [f32], mode: Output) {
    assert_eq!(a.columns, b.rows, "inner sizes");
    assert_eq!(out.len(), a.rows * b.columns, "output size");
    assert!(a.fits() && b.fits(), "operands reach beyond their slices");
    if a.columns == 0 || out.is_empty() {
        if mode == Output::Overwrite {
            out.fill(0.0);
        }
        return;
    }
    match precision::current() {
        Precision::F32 | Precision::Tf32 => product_of_f32(a, b, out, mode),
        Precision::Bf16 => bf16::product(a, b, out, mode),
    }
}

/// For sizes that [`product`] has checked.
#[expect(unsafe_code, reason = "the kernels take pointers; tested against three loops")]
fn product_of_f32(a: View, b: View, out: &mut [f32], mode: Output) {
    let (m, n, k) = (b.columns, a.rows, a.columns);
    let stride = usize::cast_signed;
    // SAFETY: the kernel reads element (i, j) of each operand at i * row_stride + j * column_stride and writes `m * n`
    // elements of `out`. The asserts of `product`, the only caller, make sure that these offsets lie inside the slices
    // and that the three sizes agree, and `&mut` that `out` overlaps neither operand.
    //
    // The kernels want the output by columns, so it is handed over as the transpose: out^T = b^T . a^T.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            m,
            n,
            k,
            out.as_mut_ptr(),
            stride(m),
            1,
            mode == Output::Add,
            b.data.as_ptr(),
            stride(b.row_stride),
            stride(b.column_stride),
            a.data.as_ptr(),
            stride(a.row_stride),
            stride(a.column_stride),
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// Whether a test of bf16 has to be left out, which it then says past the capture of its output.
#[cfg(test)]
#[must_use]
pub fn skip_without_bf16() -> bool {
    use std::io::Write as _;

    if !has_bf16() {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        writeln!(std::io::stderr(), "skipped {test}: this CPU has no AVX512-BF16").expect("standard error is open");
    }
    !has_bf16()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_holds_inside_its_scope_and_not_behind_it() {
        if skip_without_bf16() {
            return;
        }
        let seen = precision::current;
        let inside = || {
            assert_eq!(in_precision(Precision::F32, seen), Precision::F32);
            seen()
        };
        assert_eq!(in_precision(Precision::Bf16, inside), Precision::Bf16);
        assert_eq!(seen(), Precision::F32);
        let broken = std::panic::catch_unwind(|| in_precision(Precision::Bf16, || panic!("on purpose")));
        assert!(broken.is_err());
        assert_eq!(seen(), Precision::F32);
    }

    fn naive(a: View, b: View, out: &mut [f32]) {
        let at = |v: View, i: usize, j: usize| v.data[i * v.row_stride + j * v.column_stride];
        for i in 0..a.rows {
            for j in 0..b.columns {
                out[i * b.columns + j] += (0..a.columns).map(|k| at(a, i, k) * at(b, k, j)).sum::<f32>();
            }
        }
    }

    #[test]
    fn products_of_odd_sizes_and_transposes_agree_with_three_loops() {
        let numbers = |n: usize| {
            (0..n)
                .map(|i| ((i * 7919) % 101) as f32 / 101.0 - 0.5)
                .collect::<Vec<_>>()
        };
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 7),
            (16, 16, 16),
            (33, 17, 65),
            (5, 0, 4),
            (0, 3, 2),
            (130, 64, 48),
        ] {
            let (a, b) = (numbers(m * k), numbers(k * n));
            let plain = (View::new(&a, m, k), View::new(&b, k, n));
            let flipped = (View::new(&a, k, m).transposed(), View::new(&b, n, k).transposed());
            for (a, b) in [plain, flipped, (plain.0, flipped.1), (flipped.0, plain.1)] {
                for mode in [Output::Overwrite, Output::Add] {
                    let mut ours = vec![0.25; m * n];
                    let mut right = vec![if mode == Output::Add { 0.25 } else { 0.0 }; m * n];
                    product(a, b, &mut ours, mode);
                    naive(a, b, &mut right);
                    for (ours, right) in ours.iter().zip(&right) {
                        assert!((ours - right).abs() <= 1e-5, "{m} {k} {n} {mode:?}: {ours} {right}");
                    }
                }
            }
        }
    }
    #[test]
    fn some_columns_of_a_matrix_are_multiplied_in_place() {
        let wide: Vec<f32> = (0..5 * 9).map(|i| ((i * 31) % 17) as f32).collect();
        let narrow: Vec<f32> = wide.chunks(9).flat_map(|row| row[3..7].iter().copied()).collect();
        let right: Vec<f32> = (0..5 * 2).map(|i| i as f32).collect();
        let of = |a: View| {
            let mut out = vec![0.0; 4 * 2];
            product(a.transposed(), View::new(&right, 5, 2), &mut out, Output::Overwrite);
            out
        };
        let (ours, right) = (of(View::new(&wide, 5, 9).columns(3..7)), of(View::new(&narrow, 5, 4)));
        assert!(
            ours.iter().zip(&right).all(|(a, b)| (a - b).abs() <= 1e-4),
            "{ours:?} {right:?}"
        );
    }
}
