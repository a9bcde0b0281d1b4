//! Loops that the compiler turns into vector instructions. Sums keep one partial sum per lane, in a fixed order,
//! because the compiler must not reorder additions by itself.

/// Partial sums kept side by side: the `f32` lanes of one AVX-512 register.
pub const LANES: usize = 16;

/// `a * b + c`, in one rounding where the CPU can; elsewhere `mul_add` would be a slow library call.
#[inline]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// `y += a * x`.
#[inline]
pub fn axpy(y: &mut [f32], a: f32, x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = fma(a, *x, *y);
    }
}

/// Values at equal distances in a slice: `data[0], data[stride], ..`, or rows that begin there.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    pub data: &'a [f32],
    pub stride: usize,
}

impl<'a> Strided<'a> {
    /// One after another.
    pub fn dense(data: &'a [f32]) -> Self {
        Self { data, stride: 1 }
    }
}

/// `out += sum over j < count of weights[j] * rows[j]`, the sum held in registers.
#[inline]
pub fn weighted_sum(out: &mut [f32], count: usize, weights: Strided, rows: Strided) {
    let (wide, rest) = out.as_chunks_mut::<LANES>();
    let mut first = 0;
    for chunk in wide {
        weighted_sum_of_chunk(chunk, first, count, weights, rows);
        first += LANES;
    }
    let (half, rest) = rest.as_chunks_mut::<8>();
    for chunk in half {
        weighted_sum_of_chunk(chunk, first, count, weights, rows);
        first += 8;
    }
    let (quarter, rest) = rest.as_chunks_mut::<4>();
    for chunk in quarter {
        weighted_sum_of_chunk(chunk, first, count, weights, rows);
        first += 4;
    }
    for chunk in rest.as_chunks_mut::<1>().0 {
        weighted_sum_of_chunk(chunk, first, count, weights, rows);
        first += 1;
    }
}

/// The columns `first..first + L` of [`weighted_sum`]. Four sums take turns, so that an addition need not wait for the
/// one before it.
#[inline]
fn weighted_sum_of_chunk<const L: usize>(
    out: &mut [f32; L],
    first: usize,
    count: usize,
    weights: Strided,
    rows: Strided,
) {
    let mut sums = [[0.0; L]; 4];
    let add = |sum: &mut [f32; L], j: usize| {
        let weight = weights.data[j * weights.stride];
        let row = &rows.data[j * rows.stride + first..][..L];
        for lane in 0..L {
            sum[lane] = fma(weight, row[lane], sum[lane]);
        }
    };
    let mut j = 0;
    while j + 4 <= count {
        for (turn, sum) in sums.iter_mut().enumerate() {
            add(sum, j + turn);
        }
        j += 4;
    }
    for (turn, sum) in sums.iter_mut().enumerate().take(count - j) {
        add(sum, j + turn);
    }
    for lane in 0..L {
        out[lane] += (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
    }
}

/// `x *= a`.
#[inline]
pub fn scale(x: &mut [f32], a: f32) {
    for x in x {
        *x *= a;
    }
}

/// `x += a`.
#[inline]
pub fn shift(x: &mut [f32], a: f32) {
    for x in x {
        *x += a;
    }
}

/// `y += x`.
#[inline]
pub fn add(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

#[inline]
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..LANES {
            sums[lane] = fma(x[lane], y[lane], sums[lane]);
        }
    }
    total(sums) + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
}

#[inline]
pub fn sum(x: &[f32]) -> f32 {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        add(&mut sums, chunk);
    }
    total(sums) + rest.iter().sum::<f32>()
}

#[inline]
pub fn max(x: &[f32]) -> f32 {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut largest = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            largest[lane] = largest[lane].max(chunk[lane]);
        }
    }
    largest.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Halves the lanes until one is left.
#[inline]
fn total(mut sums: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// `e^x` for `x <= 88`, to 3e-7 of its value; 0 stands for anything below `e^-87`.
///
/// `x = n ln 2 + r` with whole `n` and `|r| <= ln 2 / 2`; a Taylor polynomial gives `e^r` (the first term left out is
/// `r^7 / 7!`, at most 1.2e-7), and `n` is added to the exponent bits. A NaN stays one.
#[inline]
pub fn exp(x: f32) -> f32 {
    /// Adding and subtracting it rounds to the nearest whole number.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first with so few bits that its product with `n` is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.0, 88.0);
    let n = fma(clamped, std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = fma(-n, LN_2_LOW, fma(-n, LN_2_HIGH, clamped));
    let mut power = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = fma(power, r, coefficient);
    }
    let scaled = f32::from_bits(power.to_bits().wrapping_add((n as i32 as u32) << 23));
    if x < -87.0 { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for i in -8_700_000..8_700_000 {
            let x = i as f32 * 1e-5;
            let (ours, right) = (f64::from(exp(x)), f64::from(x).exp());
            assert!(((ours - right) / right).abs() <= 3e-7, "exp({x}) = {ours}, not {right}");
        }
    }

    #[test]
    fn exp_of_what_cannot_be_seen_is_zero_and_of_nan_is_nan() {
        assert!(exp(f32::NEG_INFINITY).to_bits() == 0 && exp(-1e30).to_bits() == 0);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn sums_of_any_length_agree_with_f64() {
        for length in 0..70 {
            let x: Vec<f32> = (0..length).map(|i| (i as f32 * 0.7).sin()).collect();
            let right: f64 = x.iter().map(|&x| f64::from(x)).sum();
            let square: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            assert!((f64::from(sum(&x)) - right).abs() <= 1e-5);
            assert!((f64::from(dot(&x, &x)) - square).abs() <= 1e-5);
            assert!(max(&x).to_bits() == x.iter().copied().fold(f32::NEG_INFINITY, f32::max).to_bits());
        }
    }
}
