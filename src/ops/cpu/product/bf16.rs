//! Products of operands rounded to bf16 and summed in `f32`, with the instruction of AVX512-BF16 that adds two of them
//! to each of sixteen sums.
//!
//! Both operands are packed first: their numbers rounded, two neighbours along the inner size put into one word, rows
//! and columns filled up with zeros to whole tiles. Every number of the output is one sum in the order of the inner
//! size, wherever it lies and whatever lies beside it.

use std::arch::x86_64::{__m512, __m512bh, _mm512_dpbf16_ps, _mm512_setzero_ps};
use std::array;
use std::cell::RefCell;
use std::mem::transmute;

use crate::ops::cpu::lanes::{LANES, add};
use crate::ops::cpu::view::{Output, View};

/// Registers of a tile's row. With eight rows sixteen sums are under way, more than an addition takes cycles.
const REGISTERS: usize = 2;
const ROWS: usize = 8;
const COLUMNS: usize = REGISTERS * LANES;

/// Two neighbours along the inner size, the first in the lower half.
type Pair = u32;

/// Both operands.
struct Packed {
    rows: Vec<[Pair; ROWS]>,
    columns: Vec<[Pair; COLUMNS]>,
}

thread_local! {
    /// Memory that the next product uses again.
    static PACKED: RefCell<Packed> = const {
        RefCell::new(Packed {
            rows: Vec::new(),
            columns: Vec::new(),
        })
    };
}

pub fn is_supported() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")
}

/// As the product of `f32`, for sizes that fit and are not zero.
#[expect(
    unsafe_code,
    reason = "not every CPU may call what is compiled for AVX512-BF16; tested against sums of f64"
)]
pub fn product(a: View, b: View, out: &mut [f32], mode: Output) {
    assert!(is_supported(), "a product of bf16 on a CPU that has none");
    PACKED.with_borrow_mut(|Packed { rows, columns }| {
        pack(a.transposed(), rows);
        pack(b, columns);
        let pairs = a.columns.div_ceil(2);
        // SAFETY: the assert above makes sure that the CPU has the features that the function is compiled for.
        unsafe { tiles(rows, columns, pairs, out, b.columns, mode) }
    });
}

/// Panels of `W` columns, each pair by pair from the top of the matrix to its end.
fn pack<const W: usize>(matrix: View, packed: &mut Vec<[Pair; W]>) {
    let pairs = matrix.rows.div_ceil(2);
    packed.resize(matrix.columns.div_ceil(W) * pairs, [0; W]);
    for (panel, first) in packed.chunks_exact_mut(pairs).zip((0..matrix.columns).step_by(W)) {
        let columns = matrix.columns(first..(first + W).min(matrix.columns));
        if matrix.column_stride == 1 {
            pack_rows(columns, panel);
        } else {
            pack_columns(columns, panel);
        }
    }
}

/// For a matrix that lies in memory row after row.
fn pack_rows<const W: usize>(matrix: View, panel: &mut [[Pair; W]]) {
    let row = |i: usize| -> [f32; W] {
        let is_there = i < matrix.rows;
        filled(if is_there {
            &matrix.data[i * matrix.row_stride..][..matrix.columns]
        } else {
            &[]
        })
    };
    for (i, packed) in panel.iter_mut().enumerate() {
        let (first, second) = (row(2 * i), row(2 * i + 1));
        *packed = array::from_fn(|column| pair(first[column], second[column]));
    }
}

/// For one that lies there column after column: by squares, which the compiler turns around in registers.
fn pack_columns<const W: usize>(matrix: View, panel: &mut [[Pair; W]]) {
    assert_eq!(matrix.row_stride, 1, "rows or columns lie without gaps");
    for (block, first) in panel.chunks_mut(LANES).zip((0..).step_by(2 * LANES)) {
        let rows = first..(first + 2 * LANES).min(matrix.rows);
        let mut square = [[0; LANES]; W];
        for (column, line) in square.iter_mut().enumerate().take(matrix.columns) {
            let numbers: [f32; 2 * LANES] = filled(&matrix.data[column * matrix.column_stride..][rows.clone()]);
            *line = array::from_fn(|i| pair(numbers[2 * i], numbers[2 * i + 1]));
        }
        for (i, packed) in block.iter_mut().enumerate() {
            *packed = array::from_fn(|column| square[column][i]);
        }
    }
}

/// At most `N` numbers, with zeros behind them.
#[inline]
fn filled<const N: usize>(numbers: &[f32]) -> [f32; N] {
    if let Some(numbers) = numbers.first_chunk() {
        return *numbers;
    }
    let mut chunk = [0.0; N];
    chunk[..numbers.len()].copy_from_slice(numbers);
    chunk
}

#[inline]
fn pair(first: f32, second: f32) -> Pair {
    rounded(first) | rounded(second) << 16
}

/// The bits of the nearest bf16, of the even one where two are as near. A NaN stays one, and becomes quiet.
#[inline]
fn rounded(x: f32) -> u32 {
    let bits = x.to_bits();
    let is_odd = bits >> 16 & 1;
    let nearest = bits.wrapping_add(0x7fff + is_odd) >> 16;
    if x.is_nan() { bits >> 16 | 0x40 } else { nearest }
}

/// All tiles of the output; a panel of columns stays in cache while the rows go by.
#[target_feature(enable = "avx512f,avx512bf16")]
fn tiles(
    rows: &[[Pair; ROWS]],
    columns: &[[Pair; COLUMNS]],
    pairs: usize,
    out: &mut [f32],
    width: usize,
    mode: Output,
) {
    for (columns, first) in columns.chunks_exact(pairs).zip((0..).step_by(COLUMNS)) {
        let range = first..(first + COLUMNS).min(width);
        for (rows, out) in rows.chunks_exact(pairs).zip(out.chunks_mut(ROWS * width)) {
            let sums = tile(rows, columns);
            for (out, sums) in out.chunks_exact_mut(width).zip(&sums) {
                let (out, sums) = (&mut out[range.clone()], &sums[..range.len()]);
                match mode {
                    Output::Overwrite => out.copy_from_slice(sums),
                    Output::Add => add(out, sums),
                }
            }
        }
    }
}

/// Plain loops over indices, which the compiler keeps in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn tile(rows: &[[Pair; ROWS]], columns: &[[Pair; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
    let mut sums = [[_mm512_setzero_ps(); REGISTERS]; ROWS];
    for (a, b) in rows.iter().zip(columns) {
        let (b, _) = b.as_chunks();
        for i in 0..ROWS {
            let a = register([a[i]; LANES]);
            for j in 0..REGISTERS {
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], a, register(b[j]));
            }
        }
    }
    let mut tile = [[0.0; COLUMNS]; ROWS];
    for i in 0..ROWS {
        let (row, _) = tile[i].as_chunks_mut();
        for j in 0..REGISTERS {
            row[j] = numbers(sums[i][j]);
        }
    }
    tile
}

/// Pairs as the register that the instruction takes.
#[inline]
#[expect(unsafe_code, reason = "the standard library has no safe conversion")]
fn register(pairs: [Pair; LANES]) -> __m512bh {
    // SAFETY: both are 64 bytes, any of which make a value of either; the compiler checks the number.
    unsafe { transmute(pairs) }
}

/// A register as the numbers in it.
#[inline]
#[expect(unsafe_code, reason = "the standard library has no safe conversion")]
fn numbers(sums: __m512) -> [f32; LANES] {
    // SAFETY: as in `register`.
    unsafe { transmute(sums) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::cpu::product::{in_precision, skip_without_bf16};
    use crate::spec::Precision;

    fn bf16(x: f32) -> f64 {
        f64::from(f32::from_bits(rounded(x) << 16))
    }

    fn product_of(a: View, b: View, out: &mut [f32], mode: Output) {
        in_precision(Precision::Bf16, || super::super::product(a, b, out, mode));
    }

    fn right(a: View, b: View) -> Vec<f64> {
        let at = |v: View, i: usize, j: usize| bf16(v.data[i * v.row_stride + j * v.column_stride]);
        let number = |n: usize| {
            let (i, j) = (n / b.columns, n % b.columns);
            (0..a.columns).map(|k| at(a, i, k) * at(b, k, j)).sum()
        };
        (0..a.rows * b.columns).map(number).collect()
    }

    fn random(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919) % 1013) as f32 / 1013.0 - 0.5).collect()
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_of_two_to_the_even_one() {
        // From 1 to 2 the steps are 1/128.
        for (x, right) in [
            (1.0, 1.0),
            (-0.0, -0.0),
            (1.003, 1.0),
            (1.0 + 0.5 / 128.0, 1.0),
            (1.004, 1.0 + 1.0 / 128.0),
            (-1.0 - 1.5 / 128.0, -1.0 - 2.0 / 128.0),
            (f32::MAX, f64::INFINITY),
            (f32::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(bf16(x).to_bits(), f64::to_bits(right), "{x}");
        }
        for bits in [0x7f80_0001, 0x7fff_ffff, 0xff80_0001, 0xffff_ffff] {
            assert!(bf16(f32::from_bits(bits)).is_nan(), "{bits:x}");
        }
    }

    #[test]
    fn products_of_odd_sizes_and_transposes_agree_with_sums_of_f64() {
        if skip_without_bf16() {
            return;
        }
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 7),
            (8, 1, 32),
            (16, 16, 16),
            (33, 17, 65),
            (5, 0, 4),
            (0, 3, 2),
            (9, 32, 31),
            (7, 33, 64),
            (130, 67, 48),
        ] {
            let (a, b) = (random(m * k), random(k * n));
            let plain = (View::new(&a, m, k), View::new(&b, k, n));
            let flipped = (View::new(&a, k, m).transposed(), View::new(&b, n, k).transposed());
            for (a, b) in [plain, flipped, (plain.0, flipped.1), (flipped.0, plain.1)] {
                for (mode, before) in [(Output::Overwrite, 0.0), (Output::Add, 0.25)] {
                    let mut ours = vec![0.25; m * n];
                    product_of(a, b, &mut ours, mode);
                    for (ours, right) in ours.iter().zip(right(a, b)) {
                        let right = right + before;
                        assert!(
                            (f64::from(*ours) - right).abs() <= 1e-5,
                            "{m} {k} {n} {mode:?}: {ours} {right}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn some_columns_of_a_matrix_are_multiplied_in_place() {
        if skip_without_bf16() {
            return;
        }
        let (left, wide) = (random(37 * 13), random(37 * 90));
        let wide = View::new(&wide, 37, 90);
        for (a, b) in [
            (View::new(&left, 37, 13).transposed(), wide.columns(3..73)),
            (wide.columns(40..90).transposed(), View::new(&left, 37, 13)),
            (wide.columns(5..18), View::new(&left, 37, 13).transposed()),
        ] {
            let mut ours = vec![0.0; a.rows * b.columns];
            product_of(a, b, &mut ours, Output::Overwrite);
            for (ours, right) in ours.iter().zip(right(a, b)) {
                assert!((f64::from(*ours) - right).abs() <= 1e-5, "{ours} {right}");
            }
        }
    }

    #[test]
    fn a_number_has_the_same_bits_wherever_it_lies() {
        if skip_without_bf16() {
            return;
        }
        let (m, k, n) = (21, 51, 45);
        let (a, b) = (random(m * k), random(k * n));
        let (rows, columns) = (View::new(&a, m, k), View::new(&b, k, n));
        let mut whole = vec![0.0; m * n];
        product_of(rows, columns, &mut whole, Output::Overwrite);
        for (i, j) in [(0, 0), (7, 44), (8, 31), (15, 32), (20, 44)] {
            let mut one = [0.0];
            let row = View::new(&a[i * k..][..k], 1, k);
            product_of(row, columns.columns(j..j + 1), &mut one, Output::Overwrite);
            assert_eq!(one[0].to_bits(), whole[i * n + j].to_bits(), "{i} {j}");
        }
    }

    #[test]
    fn what_is_no_number_spoils_its_row_and_no_other() {
        if skip_without_bf16() {
            return;
        }
        let mut a = random(10 * 6);
        a[2 * 6 + 5] = f32::NAN;
        let b = random(6 * 3);
        let mut out = vec![0.0; 10 * 3];
        product_of(View::new(&a, 10, 6), View::new(&b, 6, 3), &mut out, Output::Overwrite);
        for (i, row) in out.chunks(3).enumerate() {
            assert!(row.iter().all(|x| x.is_nan() == (i == 2)), "{i}: {row:?}");
        }
    }
}
