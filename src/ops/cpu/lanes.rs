//! Loops over vector lanes. Sums keep one partial sum per lane, in a fixed order: the same input gives the same bits.

use wide::{f32x16, u32x16};

/// Sixteen numbers side by side: one AVX-512 register, or what the CPU has of it.
pub type Lanes = f32x16;
/// How many those are.
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

/// The slice's numbers sixteen at a time; behind its end stands `padding`.
#[inline]
fn chunks(x: &[f32], padding: f32) -> impl Iterator<Item = Lanes> {
    let (whole, rest) = x.as_chunks::<LANES>();
    let last = (!rest.is_empty()).then(|| padded(rest, padding));
    whole.iter().map(|chunk| Lanes::new(*chunk)).chain(last)
}

#[inline]
fn padded(rest: &[f32], padding: f32) -> Lanes {
    let mut chunk = [padding; LANES];
    chunk[..rest.len()].copy_from_slice(rest);
    Lanes::new(chunk)
}

/// `y += a * x`. Over registers, because the compiler makes less of a plain loop where there are few numbers.
#[inline]
pub fn axpy(y: &mut [f32], a: f32, x: &[f32]) {
    let factor = Lanes::splat(a);
    let (y, y_rest) = y.as_chunks_mut::<LANES>();
    let (x, x_rest) = x.as_chunks::<LANES>();
    for (y, x) in y.iter_mut().zip(x) {
        *y = factor.mul_add(Lanes::new(*x), Lanes::new(*y)).to_array();
    }
    for (y, x) in y_rest.iter_mut().zip(x_rest) {
        *y = fma(a, *x, *y);
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

/// `y = x` for the first `length` lanes of `x`.
#[inline]
pub fn copy_to(y: &mut [f32], x: Lanes, length: usize) {
    match y.first_chunk_mut::<LANES>() {
        Some(y) if length == LANES => *y = x.to_array(),
        _ => y[..length].copy_from_slice(&x.as_array()[..length]),
    }
}

/// `y += x` for the first `length` lanes of `x`.
#[inline]
pub fn add_to(y: &mut [f32], x: Lanes, length: usize) {
    match y.first_chunk_mut::<LANES>() {
        Some(y) if length == LANES => *y = (Lanes::new(*y) + x).to_array(),
        _ => add(&mut y[..length], x.as_array()),
    }
}

#[inline]
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    chunks(x, 0.0)
        .zip(chunks(y, 0.0))
        .fold(Lanes::ZERO, |sum, (x, y)| x.mul_add(y, sum))
        .reduce_add()
}

#[inline]
pub fn sum(x: &[f32]) -> f32 {
    chunks(x, 0.0).fold(Lanes::ZERO, |sum, x| sum + x).reduce_add()
}

/// In `f64`, by eight partial sums.
#[inline]
pub fn sum_of_squares(x: &[f32]) -> f64 {
    let (chunks, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    let rest: f64 = rest.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    sums.iter().sum::<f64>() + rest
}

/// The largest number, by four registers at once, so that one comparison need not wait for the one before it.
#[inline]
pub fn largest(x: &[f32]) -> f32 {
    let lowest = Lanes::splat(f32::NEG_INFINITY);
    let mut largest = [lowest; 4];
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (fours, others) = chunks.as_chunks::<4>();
    for four in fours {
        for i in 0..4 {
            // The second operand is the result where the first is no number.
            largest[i] = Lanes::new(four[i]).fast_max(largest[i]);
        }
    }
    for chunk in others {
        largest[0] = Lanes::new(*chunk).fast_max(largest[0]);
    }
    let [a, b, c, d] = largest;
    let largest = highest(a.fast_max(b).fast_max(c.fast_max(d)));
    rest.iter().fold(largest, |a, &b| if b > a { b } else { a })
}

/// The largest of the lanes.
#[inline]
pub fn highest(x: Lanes) -> f32 {
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let x = x.to_array();
    let x: [f32; 8] = std::array::from_fn(|i| higher(x[i], x[i + 8]));
    let x: [f32; 4] = std::array::from_fn(|i| higher(x[i], x[i + 4]));
    higher(higher(x[0], x[2]), higher(x[1], x[3]))
}

/// A mask of the lanes number `first` and above.
#[inline]
pub fn lanes_from(first: usize) -> Lanes {
    const INDEX: Lanes = Lanes::new([
        0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
    ]);
    INDEX.simd_ge(Lanes::splat(first.min(LANES) as f32))
}

/// `x = e^(x - shift)`; returns the sum of the results.
#[inline]
pub fn exp_shifted(x: &mut [f32], shift: f32) -> f32 {
    let shift = Lanes::splat(shift);
    let (whole, rest) = x.as_chunks_mut::<LANES>();
    let mut sum = Lanes::ZERO;
    for chunk in whole {
        let power = exp(Lanes::new(*chunk) - shift);
        *chunk = power.to_array();
        sum += power;
    }
    if !rest.is_empty() {
        let power = exp(padded(rest, f32::NEG_INFINITY) - shift);
        rest.copy_from_slice(&power.to_array()[..rest.len()]);
        sum += power;
    }
    sum.reduce_add()
}

/// `e^x` for `x <= 88`, to 3e-7 of its value; 0 stands for anything below `e^-87`.
///
/// `x = n ln 2 + r` with whole `n` and `|r| <= ln 2 / 2`; a Taylor polynomial gives `e^r` (the first term left out is
/// `r^7 / 7!`, at most 1.2e-7), and `n` is added to the exponent bits. A NaN stays one.
#[inline]
pub fn exp(x: Lanes) -> Lanes {
    /// Adding it rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first with so few bits that its product with `n` is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const LOWEST: f32 = -87.0;
    // On x86 the second operand is the result where one of them is no number; elsewhere a NaN may win at once, to the
    // same end.
    let clamped = Lanes::splat(88.0).fast_min(Lanes::splat(LOWEST).fast_max(x));
    let rounded = clamped.mul_add(Lanes::splat(std::f32::consts::LOG2_E), Lanes::splat(ROUND));
    let n = rounded - Lanes::splat(ROUND);
    let r = n.mul_neg_add(Lanes::splat(LN_2_LOW), n.mul_neg_add(Lanes::splat(LN_2_HIGH), clamped));
    let mut power = Lanes::splat(1.0 / 720.0);
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = power.mul_add(r, Lanes::splat(coefficient));
    }
    let exponent: u32x16 = rounded.to_bits() << 23;
    let scaled = Lanes::from_bits(power.to_bits() + exponent);
    x.simd_lt(Lanes::splat(LOWEST)).select(Lanes::ZERO, scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for i in (0..17_400_000).step_by(LANES) {
            let x: [f32; LANES] = std::array::from_fn(|lane| (i + lane) as f32 * 1e-5 - 87.0);
            for (x, ours) in x.into_iter().zip(exp(Lanes::new(x)).to_array()) {
                let right = f64::from(x).exp();
                assert!(
                    ((f64::from(ours) - right) / right).abs() <= 3e-7,
                    "exp({x}) = {ours}, not {right}"
                );
            }
        }
    }

    #[test]
    fn exp_of_what_cannot_be_seen_is_zero_and_of_nan_is_nan() {
        let of = |x: f32| exp(Lanes::splat(x)).to_array()[7];
        assert!(of(f32::NEG_INFINITY).to_bits() == 0 && of(-1e30).to_bits() == 0);
        assert!(of(f32::NAN).is_nan());
    }

    #[test]
    fn powers_of_any_length_are_those_of_their_lanes() {
        for length in 0..40 {
            let x: Vec<f32> = (0..length).map(|i| (i as f32 * 0.7).sin() * 9.0).collect();
            let mut powers = x.clone();
            let sum = exp_shifted(&mut powers, 1.5);
            let right: Vec<f64> = x.iter().map(|&x| (f64::from(x) - 1.5).exp()).collect();
            assert!((f64::from(sum) - right.iter().sum::<f64>()).abs() <= 1e-3);
            for (power, right) in powers.iter().zip(&right) {
                assert!((f64::from(*power) - right).abs() <= 1e-6 * right);
            }
        }
    }

    #[test]
    fn sums_of_any_length_agree_with_f64() {
        for length in 0..70 {
            let x: Vec<f32> = (0..length).map(|i| (i as f32 * 0.7).sin()).collect();
            let right: f64 = x.iter().map(|&x| f64::from(x)).sum();
            let square: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            assert!((f64::from(sum(&x)) - right).abs() <= 1e-5);
            assert!((f64::from(dot(&x, &x)) - square).abs() <= 1e-5);
            assert!((sum_of_squares(&x) - square).abs() <= 1e-12);
            assert!(largest(&x).to_bits() == x.iter().copied().fold(f32::NEG_INFINITY, f32::max).to_bits());
        }
    }
}
